//! The memory mountain: reading speed over working set and stride.

use crate::points::octaves;
use kernels::checked::read_stride;
use meter::probe::{Effort, Probe, Shape, Terrain, Work, WorkingSet};
use model::run::{Axis, Scale};
use model::unit::Unit;

pub(crate) fn probe() -> Probe {
    Probe {
        title: "the memory mountain: reading speed by working set and stride".into(),
        operation: "One 8-byte load; loads stand a stride apart and don't wait for each other. GB/s counts the 8 bytes only.".into(),
        method: "Whole passes over the working set, after two to bring it back.".into(),
        source: "Bryant and O'Hallaron's memory mountain.".into(),
        unit: Unit::Bandwidth { bytes_per_op: 8.0 },
        since: Scale::Full,
        shape: Shape::Map {
            y: (Axis::WorkingSetBytes, |terrain: &Terrain, _: Scale| {
                octaves(16 << 10, (64 << 20).min(terrain.largest_bytes), 1, 4096)
            }),
            x: (Axis::StrideBytes, |_, _| vec![8, 16, 32, 64, 128, 256, 512]),
        },
        effort: Effort {
            visits: 1,
            samples: 3,
            working_set: WorkingSet::Line(1),
            restore_ns_per_byte: 0.2,
            sample_ns: None,
        },
        make: Box::new(|bench, site| {
            let stride = usize::try_from(site.at[1]).map_err(|_| "no such stride")?;
            let (memory, ..) = bench.huge(site.at[0])?;
            let loads = read_stride(memory, stride);
            Ok(Box::new(Slope {
                memory,
                stride,
                loads,
            }))
        }),
        ..Probe::blank("memory.mountain")
    }
}

struct Slope<'a> {
    memory: &'a [u8],
    stride: usize,
    loads: usize,
}

impl Work for Slope<'_> {
    fn ops_per_turn(&self) -> f64 {
        self.loads as f64
    }
    fn restore(&mut self) {
        self.run(2, false);
    }
    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            std::hint::black_box(read_stride(self.memory, self.stride));
        }
    }
}
