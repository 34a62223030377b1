use super::*;

/// A page in either order of bytes.
struct Page {
    endian: Endian,
    bytes: Vec<u8>,
}

impl Page {
    fn new(endian: Endian, at: u64) -> Page {
        let mut page = Page { endian, bytes: Vec::new() };
        page.long(at);
        page.long(0);
        page
    }

    fn long(&mut self, value: u64) {
        self.bytes.extend(match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        });
    }

    fn word(&mut self, value: u32) -> &mut Page {
        self.bytes.extend(match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        });
        self
    }

    fn head(&mut self, kind: u32, delta: u32) -> &mut Page {
        let head = match self.endian {
            Endian::Little => delta << 5 | kind,
            Endian::Big => kind << 27 | delta,
        };
        self.word(head)
    }

    /// With the count of bytes and these flags; what follows is no record.
    fn finish(mut self, flags: u64, after: &[u64]) -> Vec<u8> {
        let commit = (self.bytes.len() - 16) as u64 | flags;
        let commit = match self.endian {
            Endian::Little => commit.to_le_bytes(),
            Endian::Big => commit.to_be_bytes(),
        };
        self.bytes[8..16].copy_from_slice(&commit);
        after.iter().for_each(|&value| self.long(value));
        self.bytes
    }
}

fn records_of(endian: Endian, page: &[u8]) -> Vec<Result<(u64, Vec<u8>), PageError>> {
    let records = PageLayout::of_64_bits(endian).records(page).expect("a page");
    records.map(|record| record.map(|one| (one.at, one.bytes.to_vec()))).collect()
}

#[test]
fn records_of_each_kind_have_their_times_and_bytes() {
    for endian in [Endian::Little, Endian::Big] {
        let mut page = Page::new(endian, 1_000);
        page.head(2, 10).word(0x0101_0101).word(0x0202_0202);
        // Longer than a word says; the length counts its own word.
        page.head(0, 5).word(4 + 6).word(0x0303_0303).word(0x0404_0404);
        page.head(TIME_EXTEND, 1).word(2);
        page.head(1, 3).word(0x0505_0505);
        // Discarded: the next one is relative to it.
        page.head(PADDING, 7).word(8).word(0);
        page.head(28, 1);
        (0..28).for_each(|_| _ = page.word(0x0606_0606));
        page.head(TIME_STAMP, 9).word(1 << 4);
        page.head(1, 0).word(0x0707_0707);
        page.head(PADDING, 0);
        page.word(0xffff_ffff);
        let page = page.finish(0, &[]);
        let extended = 1_015 + (2 << 27 | 1) + 3;
        let expected = [
            (1_010, vec![1, 1, 1, 1, 2, 2, 2, 2]),
            (1_015, vec![3, 3, 3, 3, 4, 4]),
            (extended, vec![5; 4]),
            (extended + 8, vec![6; 112]),
            (1 << 31 | 9, vec![7; 4]),
        ];
        assert_eq!(records_of(endian, &page), expected.map(Ok));
    }
}

#[test]
fn losses_stand_in_the_flags_and_behind_the_records() {
    let layout = PageLayout::of_64_bits(Endian::Little);
    let lost = |flags, after: &[u64]| {
        let mut page = Page::new(Endian::Little, 0);
        page.head(1, 0).word(0);
        let page = page.finish(flags, after);
        let mut records = layout.records(&page).expect("a page");
        let lost = records.lost();
        assert_eq!(records.by_ref().count(), 1);
        lost
    };
    assert_eq!(lost(0, &[99]), LostBefore::None);
    assert_eq!(lost(MISSED, &[99]), LostBefore::Unknown);
    assert_eq!(lost(MISSED | MISSED_STORED, &[99]), LostBefore::Records(99));
    assert_eq!(lost(MISSED | MISSED_STORED, &[]), LostBefore::Unknown, "cut off");
}

#[test]
fn a_stamp_has_the_upper_bits_of_the_time_before() {
    assert_eq!(absolute(5, 9), 9);
    assert_eq!(absolute(3 << 59 | 5, 9), 3 << 59 | 9);
    // A little earlier than the one before it, and after an overflow of its bits.
    assert_eq!(absolute(3 << 59 | 9, 5), 3 << 59 | 5);
    assert_eq!(absolute((4 << 59) - 1, 5), 4 << 59 | 5);
}

#[test]
fn the_layout_is_what_the_kernel_says() {
    let text = include_str!("../../tests/formats/header_page.txt");
    let parsed = PageLayout::parse(text, Endian::Little);
    assert_eq!(parsed, Ok(PageLayout::of_64_bits(Endian::Little)));
    let narrow = text.replace("offset:8;\tsize:8;", "offset:8;\tsize:4;").replace(":16;", ":12;");
    let parsed = PageLayout::parse(&narrow, Endian::Big).expect("of 32 bits");
    assert_eq!((parsed.commit_bytes, parsed.data_at), (4, 12));
    let mut page = Page::new(Endian::Big, 40).bytes[..8].to_vec();
    page.extend(8_u32.to_be_bytes());
    page.extend((1_u32 << 27 | 2).to_be_bytes());
    page.extend([7; 4]);
    let records: Vec<_> = parsed.records(&page).expect("a page").collect();
    assert_eq!(records, [Ok(RingRecord { at: 42, bytes: &[7; 4] })]);
    for wrong in ["", "size:8", &text.replace("commit", "count"), &text.replace(":16;", ":9;")] {
        assert_eq!(PageLayout::parse(wrong, Endian::Little), Err(PageError::NoLayout), "{wrong}");
    }
}

#[test]
fn what_is_wrong_is_an_error_and_ends_the_page() {
    let layout = PageLayout::of_64_bits(Endian::Little);
    let error = |page: &[u8]| layout.records(page).map(|_| ()).expect_err("damaged");
    assert_eq!(error(&[]), PageError::Short(0));
    assert_eq!(error(&[0; 15]), PageError::Short(15));
    let mut page = Page::new(Endian::Little, 0).finish(0, &[]);
    page[8] = 4;
    assert_eq!(error(&page), PageError::Commit { says: 4, have: 0 });
    let last = |fill: &dyn Fn(&mut Page)| {
        let mut page = Page::new(Endian::Little, 0);
        page.head(1, 0).word(1);
        fill(&mut page);
        let read = records_of(Endian::Little, &page.finish(0, &[]));
        assert_eq!(read.len(), 2, "{read:?}");
        read[1].clone().expect_err("damaged")
    };
    assert_eq!(last(&|page| _ = page.head(0, 1).word(0)), PageError::Length { at: 8, length: 0 });
    assert_eq!(last(&|page| _ = page.head(0, 1).word(9)), PageError::Length { at: 8, length: 9 });
    let long = PageError::Length { at: 8, length: u32::MAX };
    assert_eq!(last(&|page| _ = page.head(PADDING, 1).word(u32::MAX)), long);
    assert_eq!(last(&|page| _ = page.head(3, 1).word(1)), PageError::CutOff(8));
    assert_eq!(last(&|page| _ = page.head(TIME_EXTEND, 1)), PageError::CutOff(8));
    assert_eq!(last(&|page| page.bytes.extend([1, 2])), PageError::CutOff(8));
}

#[test]
fn random_bytes_are_read_to_an_end() {
    let mut state = 7_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut whole, mut damaged) = (0, 0);
    for turn in 0..20_000 {
        let length = (random() % 600) as usize;
        let mut page: Vec<u8> = (0..length).map(|_| random() as u8).collect();
        if page.len() > 16 && turn % 4 > 0 {
            let commit = (random() % (length as u64 - 15)) | (turn & 3) << 30;
            page[8..16].copy_from_slice(&commit.to_le_bytes());
            // Small lengths, most of which fit.
            for at in (16..length).step_by(8) {
                page[at] = page[at] & 0xe0 | (random() % 6) as u8;
            }
        }
        for endian in [Endian::Little, Endian::Big] {
            let Ok(mut records) = PageLayout::of_64_bits(endian).records(&page) else {
                continue;
            };
            let read: Vec<_> = records.by_ref().collect();
            assert!(read.len() <= length / WORD, "{read:?}");
            let errors = read.iter().filter(|one| one.is_err()).count();
            assert_eq!(errors, usize::from(read.last().is_some_and(|last| last.is_err())));
            (whole, damaged) = (whole + 1 - errors, damaged + errors);
            assert_eq!(records.next(), None);
        }
    }
    assert!(whole > 1_000 && damaged > 1_000, "{whole} {damaged}");
}
