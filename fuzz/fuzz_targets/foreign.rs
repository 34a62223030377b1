//! Any bytes as a file of another recorder, in each format; as the head of one with the rest as its pages; and as
//! pages of the kernel's ring buffer: states that cover each thread's life.
#![no_main]

#[path = "../../crates/trace/tests/core/anything.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod anything;
#[path = "../../crates/trace/tests/core/ring.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod ring;

use std::sync::LazyLock;
use trace::decode::{Decoded, Layouts};
use trace::endian::Endian;
use trace::foreign::{FileFormat, Part, read_bytes};
use trace::ring_page::PageLayout;

static LAYOUTS: LazyLock<Layouts> = LazyLock::new(ring::layouts);
const FORMATS: [FileFormat; 3] = [FileFormat::TraceDat, FileFormat::Perfetto, FileFormat::Json];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else {
        return;
    };
    // A seed is a whole file.
    let file = if FileFormat::from_first_bytes(bytes).is_some() { bytes } else { rest };
    let known = FileFormat::from_first_bytes(file);
    let part = match first & 4 {
        0 => Part::default(),
        _ => Part { from_ns: Some(1_000), to_ns: Some(5_000_000), limit_bytes: Some(10_000) },
    };
    for format in FORMATS.into_iter().filter(|&format| known.is_none_or(|known| known == format)) {
        if let Ok(read) = read_bytes(file.to_vec(), format, "file", part) {
            anything::holds(&read.trace);
            let mut written = Vec::new();
            trace::perfetto::write_perfetto(&read.trace, &mut written).expect("to memory");
        }
    }
    let mut decoded = Decoded::default();
    anything::decode(&LAYOUTS, 0, rest, &mut decoded);
    anything::holds(&anything::trace_of(decoded, first & 1 == 0));
    for endian in [Endian::Little, Endian::Big] {
        if let Ok(records) = PageLayout::of_64_bits(endian).records(rest) {
            records.for_each(drop);
        }
    }
});
