//! Any bytes as the rings of two CPUs, or as lists of records in any order:
//! states that cover each thread's life. The same bytes as rings of stacks.
#![no_main]

#[path = "../../crates/trace/tests/core/anything.rs"]
mod anything;
#[path = "../../crates/trace/tests/core/ring.rs"]
mod ring;

use std::sync::LazyLock;
use trace::decode::Layouts;

static LAYOUTS: LazyLock<Layouts> = LazyLock::new(ring::layouts);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let at = bytes.len() * usize::from(first >> 2) / 64;
    let (one, other) = bytes.split_at(at);
    let rings = [one, other].map(|bytes| match first & 2 {
        0 => bytes.to_vec(),
        _ => anything::ring(bytes.as_chunks().0),
    });
    let chunks: Vec<(u32, Vec<u8>)> = (0..).zip(rings.clone()).collect();
    anything::stacks(&chunks, first & 1 == 0);
    let trace = anything::trace(&LAYOUTS, &rings, first & 1 == 0);
    anything::holds(&trace);
    let mut written = Vec::new();
    trace::perfetto::write(&trace, &mut written).expect("to memory");
});
