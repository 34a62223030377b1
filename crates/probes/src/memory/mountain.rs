//! The memory mountain: reading speed over working set and stride.

use crate::engine::points::octaves;
use crate::engine::repeated::turns;
use kernels::checked::read_stride;
use meter::probe::{Effort, MachineShape, Probe, Shape, WorkingSet};
use model::run::{Axis, Scale};
use model::unit::Unit;
use std::hint::black_box;

pub(crate) fn mountain_probe() -> Probe {
    Probe {
        title: "the memory mountain: reading speed by working set and stride".into(),
        operation: "One 8-byte load; loads are a stride apart and don't wait for each other. GB/s counts the 8 bytes only.".into(),
        method: "Whole passes over the working set, after two to bring it back.".into(),
        source: "Bryant and O'Hallaron's memory mountain.".into(),
        unit: Unit::Bandwidth { bytes_per_op: 8.0 },
        since: Scale::Full,
        shape: Shape::Map {
            y: (Axis::WorkingSetBytes, |machine: &MachineShape, _: Scale| {
                octaves(16 << 10, (64 << 20).min(machine.largest_bytes), 1, 4096)
            }),
            x: (Axis::StrideBytes, |_, _| vec![8, 16, 32, 64, 128, 256, 512]),
        },
        effort: Effort::of_memory(1, 3, WorkingSet::Line(1), 0.2),
        make: Box::new(|worker, site| {
            let stride = usize::try_from(site.at[1]).map_err(|_| "no such stride")?;
            let (memory, ..) = worker.huge(site.at[0])?;
            let loads = read_stride(memory, stride);
            let read = move |turns| {
                for _ in 0..turns {
                    black_box(read_stride(memory, stride));
                }
            };
            turns(loads as f64, read).restored_by(2).boxed()
        }),
        ..Probe::blank("memory.mountain")
    }
}
