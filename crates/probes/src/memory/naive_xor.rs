//! The loop that hides the caches: the study's first try, to compare with
//! what a chase shows.

use crate::engine::repeated::turns;
use kernels::checked::{xor_bytes, xor_bytes_vector};
use meter::probe::{Effort, Probe, WorkingSet};
use std::hint::black_box;

pub(crate) fn naive_xor_probes() -> Vec<Probe> {
    let small = ["50kB", "500kB"].map(variants).concat();
    vec![
        Probe {
            variants: small,
            effort: Effort {
                working_set: WorkingSet::Fixed(500_000),
                restore_ns_per_byte: 0.6,
                ..Effort::SCALAR
            },
            ..naive_xor_probe()
        },
        Probe {
            variants: variants("5000kB"),
            effort: Effort {
                visits: 4,
                samples: 2,
                working_set: WorkingSet::Fixed(5_000_000),
                restore_ns_per_byte: 0.6,
                sample_ns: Some(1_800_000.0),
            },
            ..naive_xor_probe()
        },
    ]
}

fn variants(size: &str) -> Vec<meter::probe::Text> {
    vec![size.to_string().into(), format!("{size}_vectorised").into()]
}

fn naive_xor_probe() -> Probe {
    Probe {
        title: "the naive loop: bytes XOR-ed one by one".into(),
        operation: "One repetition of XOR-ing an array of bytes, filled beforehand, element by element into one accumulator.".into(),
        method: "A plain loop of one element a step, not unrolled and not vectorised; _vectorised is what an optimising compiler makes of it. The array was gone through once before. The point: both stay far from the chase's levels, because loads that don't wait for each other hide the caches.".into(),
        source: "Dmitry Kurkin, Latency Numbers on iPhone (2018): his first try with XCTest's measureBlock.".into(),
        make: Box::new(|worker, site| {
            let (size, vectorised) = match site.variant.strip_suffix("_vectorised") {
                Some(size) => (size, true),
                None => (site.variant.as_str(), false),
            };
            let bytes = model::size::parse_size(size).ok_or("a size is a number of bytes")?;
            let (memory, _, rng) = worker.huge(bytes)?;
            rng.fill(memory);
            let xor = move |turns| {
                for _ in 0..turns {
                    black_box(match vectorised {
                        true => xor_bytes_vector(memory),
                        false => xor_bytes(memory),
                    });
                }
            };
            turns(1.0, xor).restored_by(1).boxed()
        }),
        ..Probe::blank("memory.naive_xor")
    }
}
