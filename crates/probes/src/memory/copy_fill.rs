//! memcpy and memset of the platform's C library.

use super::stream::{Pieces, STREAM_EFFORT};
use crate::engine::points::{coarse, levels, octaves};
use kernels::checked::{copy, fill};
use meter::probe::{Effort, MachineShape, Probe, Shape, WorkingSet};
use model::run::{Axis, Scale};
use model::unit::Unit;

/// Pieces of a block that the caches can hold: a sample stays short.
const CHUNK_BYTES: usize = 64 << 10;
const SOURCE: &str = "LMbench's bw_mem bcopy and bzero.";

pub(crate) fn copy_fill_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "speed of memcpy, by bytes copied".into(),
            operation: "One byte copied by the platform's memcpy; GB/s counts each byte once, not once for reading and once for writing.".into(),
            method: "Blocks of the given size copied in calls of at most 64 KiB, beyond twice the last level in calls as large as that (the C library stores such large blocks past the caches), carried on from sample to sample; source and destination together are the working set, brought back as in memory.latency.".into(),
            source: SOURCE.into(),
            unit: Unit::Bandwidth { bytes_per_op: 1.0 },
            shape: Shape::Curve(Axis::WorkingSetBytes, |machine, scale| points(machine, scale, 2)),
            effort: Effort {
                working_set: WorkingSet::Point(2),
                ..STREAM_EFFORT
            },
            make: Box::new(|worker, site| {
                let machine = worker.machine.clone();
                let (memory, _, rng) = worker.huge(2 * site.at[0])?;
                let (from, to) = memory.split_at_mut(site.at[0] as usize);
                let chunk = chunk(2 * site.at[0], to.len(), &machine);
                Pieces::of_visit(2 * site.at[0], &machine, to.len(), chunk, rng)
                    .repeat(chunk as f64, |piece| copy(&mut to[piece.clone()], &from[piece]))
                    .boxed()
            }),
            ..Probe::blank("memory.copy")
        },
        Probe {
            title: "speed of memset, by bytes set".into(),
            operation: "One byte set to 0 by the platform's memset.".into(),
            method: "A block of the given size set in calls as in memory.copy, carried on from sample to sample, brought back as in memory.latency. The byte is 0, the usual one and LMbench's: beyond the caches some processors store zeros twice as fast as other bytes.".into(),
            source: SOURCE.into(),
            unit: Unit::Bandwidth { bytes_per_op: 1.0 },
            shape: Shape::Curve(Axis::WorkingSetBytes, |machine, scale| points(machine, scale, 1)),
            effort: STREAM_EFFORT,
            make: Box::new(|worker, site| {
                let machine = worker.machine.clone();
                let (memory, _, rng) = worker.huge(site.at[0])?;
                let chunk = chunk(site.at[0], memory.len(), &machine);
                Pieces::of_visit(site.at[0], &machine, memory.len(), chunk, rng)
                    .repeat(chunk as f64, |piece| fill(&mut memory[piece], 0))
                    .boxed()
            }),
            ..Probe::blank("memory.fill")
        },
    ]
}

fn points(machine: &MachineShape, scale: Scale, blocks: u64) -> Vec<u64> {
    let largest = machine.largest_bytes / blocks;
    if scale == Scale::Quick {
        let mut points = levels(machine);
        points.retain(|&bytes| bytes < largest);
        points.push(largest);
        return points;
    }
    octaves(4096, largest, coarse(scale), 4096)
}

/// Bytes of one call. glibc stores past the caches from three quarters of the
/// last level on, so beyond the caches a call must be a large one.
fn chunk(working_set: u64, block: usize, machine: &MachineShape) -> usize {
    if working_set > 2 * machine.last_level_bytes {
        block.min(machine.last_level_bytes as usize)
    } else {
        block.min(CHUNK_BYTES)
    }
}
