//! Any bytes as the rings and buffers of two CPUs, or as lists of records in any order:
//! states that cover each thread's life. The same bytes as rings of stacks.
#![no_main]

#[path = "../../crates/trace/tests/core/anything.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod anything;
#[path = "../../crates/trace/tests/core/ring.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod ring;

use std::sync::LazyLock;
use trace::decode::{Decoded, Layouts};

static LAYOUTS: LazyLock<Layouts> = LazyLock::new(ring::layouts);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let at = bytes.len() * usize::from(first >> 2) / 64;
    let (one, other) = bytes.split_at(at);
    let cpus = [one, other];
    let chunks: Vec<(u32, Vec<u8>)> = (0..).zip(cpus.map(<[u8]>::to_vec)).collect();
    anything::stacks(&chunks, first & 1 == 0);
    let mut decoded = Decoded::default();
    for (cpu, bytes) in (0..).zip(cpus) {
        match first & 2 {
            0 => anything::decode(&LAYOUTS, cpu, bytes, &mut decoded),
            _ => anything::ring(bytes.as_chunks().0).decode(&LAYOUTS, cpu, &mut decoded),
        }
    }
    let trace = anything::trace_of(decoded, first & 1 == 0);
    anything::holds(&trace);
    let mut written = Vec::new();
    trace::perfetto::write_perfetto(&trace, &mut written).expect("to memory");
});
