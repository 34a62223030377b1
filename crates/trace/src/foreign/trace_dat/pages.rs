//! The pages of a CPU, plain or compressed in chunks, and their records in the order of time.

use super::Scale;
use super::head::{Buffer, Compression, CpuData, FileHead};
use crate::decode::Layouts;
use crate::foreign::in_order::CpuEvents;
use crate::foreign::{ForeignError, Importer, TraceInput};
use crate::ring_page::{LostBefore, PageLayout};
use std::ops::Range;

/// Plain pages are read so many bytes at a time.
const READ_BYTES: usize = 256 << 10;
/// No chunk is larger, whatever it says.
const LARGEST_CHUNK: usize = 64 << 20;

/// The pages of a CPU one after the other.
pub(super) struct CpuPages<'f> {
    pub(super) cpu: u32,
    input: &'f TraceInput,
    layout: PageLayout,
    page_bytes: usize,
    compression: Option<Compression>,
    /// What of the file is not read yet,
    next: u64,
    end: u64,
    /// and how many chunks that is.
    chunks: Option<u32>,
    /// What was read, of which this page is next.
    read: Vec<u8>,
    next_page: usize,
    /// Records of a page: time, and place in `read`.
    records: Vec<(u64, Range<usize>)>,
    record: usize,
    /// Records that were lost before that one.
    lost: Option<u64>,
    layouts: &'f Layouts,
    scale: Scale,
    pub(super) unread_bytes: u64,
    pub(super) is_cut_off: bool,
}

impl<'f> CpuPages<'f> {
    pub(super) fn new(
        input: &'f TraceInput,
        head: &'f FileHead,
        buffer: &Buffer,
        data: &CpuData,
        scale: Scale,
    ) -> CpuPages<'f> {
        let end = data.at.saturating_add(data.bytes);
        let length = input.length();
        CpuPages {
            cpu: data.cpu,
            input,
            layout: head.page,
            page_bytes: buffer.page_bytes,
            compression: head.compression,
            next: data.at.min(length),
            end: end.min(length),
            chunks: None,
            read: Vec::new(),
            next_page: 0,
            records: Vec::new(),
            record: 0,
            lost: None,
            layouts: &head.layouts,
            scale,
            unread_bytes: 0,
            is_cut_off: end > length,
        }
    }

    /// Reads the records of the next page; whether there is one.
    fn next_page(&mut self) -> Result<bool, ForeignError> {
        self.records.clear();
        if self.next_page + self.layout.head_bytes() > self.read.len() && !self.fill()? {
            return Ok(false);
        }
        let from = self.next_page;
        let to = (from + self.page_bytes).min(self.read.len());
        self.next_page = to;
        let bytes = &self.read[from..to];
        let Ok(mut records) = self.layout.records(bytes) else {
            self.unread_bytes += bytes.len() as u64;
            // What it held is not known.
            self.lost = Some(self.lost.unwrap_or(0) + 1);
            return Ok(true);
        };
        match records.lost() {
            LostBefore::None => {}
            // One at least.
            LostBefore::Unknown => self.lost = Some(self.lost.unwrap_or(0) + 1),
            LostBefore::Records(count) => {
                self.lost = Some(self.lost.unwrap_or(0).saturating_add(count));
            }
        }
        let base = bytes.as_ptr() as usize;
        while let Some(record) = records.next() {
            let Ok(record) = record else {
                self.unread_bytes += records.unread_bytes() as u64;
                break;
            };
            let at = from + (record.bytes.as_ptr() as usize - base);
            self.records.push((record.at, at..at + record.bytes.len()));
        }
        Ok(true)
    }

    /// Reads on; whether there is more.
    fn fill(&mut self) -> Result<bool, ForeignError> {
        self.read.clear();
        self.next_page = 0;
        match self.compression {
            None => {
                let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
                let pages = (READ_BYTES / self.page_bytes).max(1) * self.page_bytes;
                self.read.resize(left.min(pages), 0);
                let read = self.input.read_at(self.next, &mut self.read)?;
                self.is_cut_off |= read < self.read.len();
                self.read.truncate(read);
                self.next += read as u64;
            }
            Some(compression) => self.chunk(compression)?,
        }
        Ok(self.read.len() >= self.layout.head_bytes())
    }

    /// Reads and unpacks a chunk. After one that is damaged there is no more.
    fn chunk(&mut self, compression: Compression) -> Result<(), ForeignError> {
        let mut cursor = self.input.cursor(self.next, self.layout.endian);
        let left = match self.chunks {
            Some(left) => left,
            None if self.end <= self.next => 0,
            None => cursor.u32()?,
        };
        if left == 0 {
            return Ok(());
        }
        let unpacked = cursor.u32().and_then(|packed| {
            let bytes = cursor.u32()? as usize;
            let packed = cursor.take_bytes(packed.into())?;
            match bytes <= LARGEST_CHUNK {
                true => compression.unpack(&packed, bytes),
                false => Err(ForeignError::Damaged("a chunk is too large")),
            }
        });
        match unpacked {
            Ok(bytes) => {
                self.read = bytes;
                self.next = cursor.at;
                self.chunks = Some(left - 1);
            }
            Err(ForeignError::Read(error)) => return Err(error.into()),
            Err(ForeignError::CutOff) => {
                self.is_cut_off = true;
                self.chunks = Some(0);
                self.unread_bytes += self.end.saturating_sub(self.next);
            }
            Err(_) => {
                self.chunks = Some(0);
                self.unread_bytes += self.end.saturating_sub(self.next);
            }
        }
        Ok(())
    }
}

impl CpuEvents for CpuPages<'_> {
    fn at_ns(&self) -> u64 {
        self.records.get(self.record).map_or(u64::MAX, |(at, _)| self.scale.ns(*at))
    }

    fn tell(&mut self, importer: &mut Importer) {
        let at_ns = self.at_ns();
        if let Some(count) = self.lost.take() {
            importer.lost(at_ns, self.cpu, count);
        }
        let place = self.records.get(self.record).map(|(_, place)| place.clone());
        let record = place.and_then(|place| self.read.get(place)).unwrap_or(&[]);
        match self.layouts.sampled(record) {
            Some(sampled) => importer.sampled(at_ns, self.cpu, sampled),
            // Also an event that is not used says how long the trace is.
            None => importer.passed(at_ns),
        }
    }

    /// What is damaged is counted and passed over.
    fn advance(&mut self) -> Result<bool, ForeignError> {
        self.record += 1;
        while self.record >= self.records.len() {
            if !self.next_page()? {
                self.records.clear();
                return Ok(false);
            }
            self.record = 0;
        }
        Ok(true)
    }
}
