//! The loop that hides the caches: the study's first try, printed beside what
//! a chase shows.

use kernels::checked::{xor_bytes, xor_bytes_vector};
use meter::probe::{Effort, Probe, Work, WorkingSet};

pub(crate) fn probes() -> Vec<Probe> {
    let small = ["50kB", "500kB"].map(variants).concat();
    vec![
        Probe {
            variants: small,
            effort: Effort {
                working_set: WorkingSet::Fixed(500_000),
                restore_ns_per_byte: 0.6,
                ..Effort::SCALAR
            },
            ..probe()
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
            ..probe()
        },
    ]
}

fn variants(size: &str) -> Vec<meter::probe::Text> {
    vec![size.to_string().into(), format!("{size}_vectorised").into()]
}

fn probe() -> Probe {
    Probe {
        title: "the naive loop: bytes XOR-ed one by one".into(),
        operation: "One repetition of XOR-ing an array of bytes, filled beforehand, element by element into one accumulator.".into(),
        method: "A plain loop of one element a step, not unrolled and not vectorised; _vectorised is what an optimising compiler makes of it. The array was gone through once before. The point: both stay far from the chase's levels, because loads that don't wait for each other hide the caches.".into(),
        source: "Dmitry Kurkin, Latency Numbers on iPhone (2018): his first try with XCTest's measureBlock.".into(),
        make: Box::new(|bench, site| {
            let (size, vectorised) = match site.variant.strip_suffix("_vectorised") {
                Some(size) => (size, true),
                None => (site.variant.as_str(), false),
            };
            let bytes = model::size::parse(size).ok_or("a size is a number of bytes")?;
            let (memory, _, rng) = bench.huge(bytes)?;
            rng.fill(memory);
            Ok(Box::new(Xor { memory, vectorised }))
        }),
        ..Probe::blank("memory.naive_xor")
    }
}

struct Xor<'a> {
    memory: &'a [u8],
    vectorised: bool,
}

impl Work for Xor<'_> {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn restore(&mut self) {
        self.run(1, false);
    }
    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            let xor = if self.vectorised {
                xor_bytes_vector(self.memory)
            } else {
                xor_bytes(self.memory)
            };
            std::hint::black_box(xor);
        }
    }
}
