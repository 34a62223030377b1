//! Pages of the kernel's ring buffer (`trace_pipe_raw` of tracefs, and what trace-cmd and Perfetto keep
//! of it): a time stamp, a count of bytes, and records with times relative to the one before.
//! <https://docs.kernel.org/trace/ring-buffer-design.html>, `events/header_page`, `events/header_event`.

use crate::endian::Endian;

/// Bits of the count of bytes: records were lost before this page, and their number stands behind the
/// records.
const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;
/// What is left for the count.
const COMMIT_MASK: u64 = (1 << 27) - 1;
/// Kinds of records; those below are data of so many words.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const TYPE_BITS: u32 = 5;
const DELTA_BITS: u32 = 27;
/// An absolute time stamp has the lower 59 bits.
const STAMP_BITS: u32 = 59;
const WORD: usize = 4;

/// Where the parts of a page lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    pub endian: Endian,
    commit_at: usize,
    /// 4 or 8 bytes: a `long` of that kernel.
    commit_bytes: usize,
    data_at: usize,
}

/// Records that found no room before a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostBefore {
    None,
    /// So many.
    Records(u64),
    /// The kernel does not say how many.
    Unknown,
}

/// A record that isn't time or padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingRecord<'b> {
    /// When, on the clock of the buffer.
    pub at: u64,
    /// The event by its `format`.
    pub bytes: &'b [u8],
}

/// Why a page can't be read, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    #[error("the description of a page lacks its fields")]
    NoLayout,
    #[error("a page of {0} bytes is shorter than its head")]
    Short(usize),
    #[error("a page has {have} bytes of records and says {says}")]
    Commit { says: u64, have: usize },
    #[error("a record at byte {at} of a page has a wrong length ({length})")]
    Length { at: usize, length: u32 },
    #[error("a record at byte {0} of a page is cut off")]
    CutOff(usize),
}

impl PageLayout {
    /// As a kernel with 64 bits has it, unless `events/header_page` says something else.
    pub const fn of_64_bits(endian: Endian) -> PageLayout {
        PageLayout { endian, commit_at: 8, commit_bytes: 8, data_at: 16 }
    }

    /// By the text of `events/header_page`.
    ///
    /// # Errors
    /// If the fields are not there, or lie where no kernel has them.
    pub fn parse(header_page: &str, endian: Endian) -> Result<PageLayout, PageError> {
        let field = |name: &str| {
            let mut lines = header_page.lines();
            let line = lines.find(|line| {
                let declared = line.split(';').next().unwrap_or("");
                declared.split_whitespace().next_back() == Some(name)
            })?;
            let number = |key: &str| {
                let mut parts = line.split(';').map(str::trim);
                parts.find_map(|part| part.strip_prefix(key)).and_then(|n| n.parse().ok())
            };
            Some((number("offset:")?, number("size:")?))
        };
        let (Some((0, 8)), Some((commit_at, commit_bytes @ (4 | 8))), Some((data_at, _))) =
            (field("timestamp"), field("commit"), field("data"))
        else {
            return Err(PageError::NoLayout);
        };
        let has_room = |at: usize, after: usize| (8..=64).contains(&at) && after <= 64;
        match has_room(commit_at, data_at) && commit_at + commit_bytes <= data_at {
            true => Ok(PageLayout { endian, commit_at, commit_bytes, data_at }),
            false => Err(PageError::NoLayout),
        }
    }

    /// Bytes before the records.
    pub fn head_bytes(&self) -> usize {
        self.data_at
    }

    /// Bytes of a page up to the end of its records, with the count of lost ones behind them; none if it is
    /// shorter than its head.
    pub fn used_bytes(&self, page: &[u8]) -> usize {
        let commit = match self.commit_bytes {
            4 => self.endian.u32_at(page, self.commit_at).map(u64::from),
            _ => self.endian.u64_at(page, self.commit_at),
        };
        let Some(commit) = commit else {
            return 0;
        };
        let stored = if commit & MISSED_STORED != 0 { self.commit_bytes as u64 } else { 0 };
        let used = self.data_at as u64 + (commit & COMMIT_MASK) + stored;
        usize::try_from(used).map_or(page.len(), |used| used.min(page.len()))
    }

    /// The records of a page.
    ///
    /// # Errors
    /// If it has fewer bytes than its head says.
    pub fn records<'b>(&self, page: &'b [u8]) -> Result<RingRecords<'b>, PageError> {
        let long = |at: usize| match self.commit_bytes {
            4 => self.endian.u32_at(page, at).map(u64::from),
            _ => self.endian.u64_at(page, at),
        };
        let short = PageError::Short(page.len());
        let at = self.endian.u64_at(page, 0).ok_or(short)?;
        let commit = long(self.commit_at).ok_or(short)?;
        let data = page.get(self.data_at..).ok_or(short)?;
        let says = commit & COMMIT_MASK;
        let committed = usize::try_from(says).ok().and_then(|says| data.get(..says));
        let Some(committed) = committed else {
            return Err(PageError::Commit { says, have: data.len() });
        };
        let lost = match (commit & MISSED != 0, commit & MISSED_STORED != 0) {
            (false, _) => LostBefore::None,
            (true, false) => LostBefore::Unknown,
            (true, true) => match long(self.data_at + committed.len()) {
                Some(count) => LostBefore::Records(count),
                None => LostBefore::Unknown,
            },
        };
        Ok(RingRecords { endian: self.endian, data: committed, next: 0, at, lost })
    }
}

/// The records of a page one after the other. After an error there is no more.
#[derive(Clone, Debug)]
pub struct RingRecords<'b> {
    endian: Endian,
    data: &'b [u8],
    next: usize,
    at: u64,
    lost: LostBefore,
}

impl<'b> RingRecords<'b> {
    /// What was lost before the page.
    pub fn lost(&self) -> LostBefore {
        self.lost
    }

    /// The time of the record that was read last; of the page before the first.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Bytes of records that were not read, as after an error.
    pub fn unread_bytes(&self) -> usize {
        self.data.len() - self.next
    }

    fn record(&mut self) -> Result<Option<RingRecord<'b>>, PageError> {
        loop {
            let began = self.next;
            let Some(rest) = self.data.get(began..).filter(|rest| !rest.is_empty()) else {
                return Ok(None);
            };
            let cut_off = PageError::CutOff(began);
            let head = self.endian.u32(*rest.first_chunk().ok_or(cut_off)?);
            let (kind, delta) = match self.endian {
                Endian::Little => (head & ((1 << TYPE_BITS) - 1), head >> TYPE_BITS),
                Endian::Big => (head >> DELTA_BITS, head & ((1 << DELTA_BITS) - 1)),
            };
            // All but the small ones have another word.
            let word = || self.endian.u32_at(rest, WORD).ok_or(cut_off);
            let delta = u64::from(delta);
            let (from, to) = match kind {
                // The rest of the page is empty.
                PADDING if delta == 0 => {
                    self.next = self.data.len();
                    return Ok(None);
                }
                TIME_EXTEND => {
                    self.at = self.at.wrapping_add(delta | u64::from(word()?) << DELTA_BITS);
                    self.next = began + 2 * WORD;
                    continue;
                }
                TIME_STAMP => {
                    self.at = absolute(self.at, delta | u64::from(word()?) << DELTA_BITS);
                    self.next = began + 2 * WORD;
                    continue;
                }
                // With its own length, which counts the word that holds it.
                0 | PADDING => {
                    let length = word()?;
                    let wrong = PageError::Length { at: began, length };
                    let bytes = usize::try_from(length).map_err(|_| wrong)?;
                    let end = WORD.checked_add(bytes).filter(|&end| end <= rest.len());
                    let end = end.filter(|_| bytes >= WORD).ok_or(wrong)?;
                    (2 * WORD, end)
                }
                words => (WORD, WORD + words as usize * WORD),
            };
            // Of a discarded record, too: the next one is relative to it.
            self.at = self.at.wrapping_add(delta);
            let bytes = rest.get(from..to).ok_or(cut_off)?;
            self.next = began + to.next_multiple_of(WORD).min(rest.len());
            if kind != PADDING {
                return Ok(Some(RingRecord { at: self.at, bytes }));
            }
        }
    }
}

impl<'b> Iterator for RingRecords<'b> {
    type Item = Result<RingRecord<'b>, PageError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let record = self.record().transpose();
        if matches!(record, Some(Err(_))) {
            // It is not known where the next one begins.
            self.data = &self.data[..self.next];
        }
        record
    }
}

/// The whole time of a stamp that lacks the upper bits, which are those of the time before it.
fn absolute(before: u64, stamp: u64) -> u64 {
    let stamp = stamp & ((1 << STAMP_BITS) - 1);
    let upper = before >> STAMP_BITS << STAMP_BITS;
    match upper | stamp {
        whole if whole < before && before - whole > 1 << (STAMP_BITS - 1) => {
            whole.wrapping_add(1 << STAMP_BITS)
        }
        whole => whole,
    }
}

#[cfg(test)]
mod tests;
