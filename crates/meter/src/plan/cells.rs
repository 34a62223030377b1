//! The cells of a probe: points, workers, visits, and what each should take.

use super::cell::{Cost, FAR_END, PlannedCell};
use super::room::{LARGE_WORKERS, Room};
use crate::disk_room::{DiskRoom, NoRoom};
use crate::probe::{MachineShape, Probe, Shape, Site, WorkingSet};
use crate::visit::{LONG_SAMPLE_NS, SAMPLE_NS};
use model::run::{Bound, Regime, Scale};
use std::time::Duration;

/// What visits take as a multiple of what their parts come to: those of a
/// default run took 72 s of 61 (Zen 3 guest, 32 MiB of last level).
const TAKEN: f64 = 1.18;

/// What a visit takes in addition to its samples and the bringing back: its request
/// and answer, and the evidence at its ends.
const VISIT_NS: f64 = 80_000.0;

/// Canaries and losses around a sample.
const EVIDENCE_NS: f64 = 10_000.0;

/// Last-level canaries at both ends of a visit.
const LAST_LEVEL_CANARY_NS: f64 = 300_000.0;

pub(super) fn cells_of(
    number: usize,
    probe: &Probe,
    row: &str,
    scale: Scale,
    machine_shape: &MachineShape,
    room: &Room,
    workers: u32,
) -> Vec<PlannedCell> {
    let points: Vec<Vec<u64>> = match &probe.shape {
        Shape::Figure => vec![vec![]],
        Shape::Curve(_, points) => {
            points(machine_shape, scale).into_iter().map(|x| vec![x]).collect()
        }
        Shape::Pairs(_, points) => {
            let points = points(machine_shape, scale);
            points
                .iter()
                .flat_map(|&y| points.iter().filter(move |&&x| x < y).map(move |&x| vec![y, x]))
                .collect()
        }
        Shape::Map { y, x } => {
            let columns = x.1(machine_shape, scale);
            y.1(machine_shape, scale)
                .into_iter()
                .flat_map(|y| columns.iter().map(move |&x| vec![y, x]).collect::<Vec<_>>())
                .collect()
        }
    };
    let variant = probe.variant_of(row);
    let effort = &probe.effort;
    points
        .into_iter()
        .filter_map(|at| {
            let bytes = effort.working_set.bytes(&at, machine_shape);
            let bytes = match effort.working_set {
                WorkingSet::Largest => room.large_bytes,
                _ => bytes,
            };
            let touched_bytes = bytes + effort.working_set.own_bytes(&at);
            let limit = if probe.second_buffer { room.base_bytes } else { room.large_bytes };
            if bytes > limit {
                return None;
            }
            let large = LARGE_WORKERS.min(workers);
            let (first_worker, count) = if probe.second_buffer && workers - large >= 3 {
                (large, workers - large)
            } else if bytes > room.small_bytes && !probe.second_buffer {
                (0, large)
            } else {
                (0, workers)
            };
            // Few visits with more samples where bringing back is dear.
            let (visits, samples) = if count < workers && !probe.second_buffer {
                (effort.visits.div_ceil(2), effort.samples * 2)
            } else {
                (effort.visits, effort.samples)
            };
            let visits = match scale {
                Scale::Quick => (visits / 3).max(2).min(visits),
                Scale::Default => visits,
                Scale::Full => visits * 2,
            };
            let samples = match scale {
                Scale::Full if probe.tail => samples.max(FAR_END.div_ceil((visits * count).max(1))),
                _ => samples,
            };
            let bound = if touched_bytes > paced_by_core(machine_shape) {
                Bound::Memory
            } else {
                probe.bound
            };
            let regime = probe.regime_at(&at);
            // Of whatever it touches: memory of its own is in the same caches.
            let last_level_canary =
                regime == Regime::Gated && touched_bytes > machine_shape.l2_bytes;
            let canary_ns = if last_level_canary { LAST_LEVEL_CANARY_NS } else { 0.0 };
            let sample_ns = effort.sample_ns.unwrap_or(match regime {
                Regime::Gated => SAMPLE_NS,
                Regime::Distribution | Regime::Stamped => LONG_SAMPLE_NS,
            });
            // Finding how many turns fill a sample takes about two of them.
            let first_ns = match regime {
                Regime::Gated | Regime::Distribution => 2.0 * sample_ns,
                Regime::Stamped => 0.0,
            };
            let cost = Cost {
                once_ns: first_ns * f64::from(count),
                visit_ns: TAKEN
                    * (effort.restore_ns_per_byte * touched_bytes as f64 + canary_ns + VISIT_NS),
                sample_ns: TAKEN * (sample_ns + EVIDENCE_NS),
            };
            Some(PlannedCell {
                probe: number,
                pack: probe.of_pack().map(|row| row.site.clone()),
                row: row.to_string(),
                variant: variant.to_string(),
                at,
                unit: probe.unit,
                bound,
                regime,
                first_worker,
                workers: count,
                visits,
                samples,
                follows: None,
                working_set_bytes: bytes,
                last_level_canary,
                depends_on: probe.depends_on,
                on_disk: false,
                refused: None,
                extra_visits: probe.extra_visits,
                cost,
                allotment: Duration::ZERO,
            })
        })
        .collect()
}

/// Refuses the cells whose files the disk has no room for, with this many times
/// their visits. Gives the reason if that is all of them.
pub(super) fn fit_disk(
    cells: &mut [PlannedCell],
    probe: &Probe,
    disk: &mut DiskRoom,
    most_factor: f64,
) -> Option<NoRoom> {
    for cell in cells.iter_mut() {
        let site = Site { variant: cell.variant.clone(), at: cell.at.clone() };
        let Some(mut wanted) = probe.wants_disk(&site, cell.workers) else {
            continue;
        };
        let visits = f64::from(cell.visits * cell.workers) * most_factor;
        wanted.kept *= visits as u64;
        match disk.admit(&wanted) {
            Ok(first) => {
                cell.on_disk = true;
                if first {
                    cell.cost.once_ns += wanted.once.as_nanos() as f64;
                }
            }
            Err(_) if wanted.optional => {}
            Err(why) => {
                cell.on_disk = true;
                cell.refuse(why);
            }
        }
    }
    match cells.iter().all(|cell| cell.refused.is_some()) {
        true => cells.first()?.refused.clone(),
        false => None,
    }
}

/// Takes the visits from cells whose probe is measured together and whose
/// operations another cell performs already.
pub(super) fn follow(cells: &mut [PlannedCell], planned: &[PlannedCell]) {
    for cell in cells {
        let leader = planned
            .iter()
            .position(|p| p.probe == cell.probe && p.at == cell.at && p.follows.is_none());
        if leader.is_some() {
            cell.follows = leader;
            cell.visits = 0;
        }
    }
}

/// Working sets up to this size answer at the pace of the core's clock: L2
/// always, half of the last level where that runs at the same clock.
pub fn paced_by_core(machine_shape: &MachineShape) -> u64 {
    if machine_shape.last_level_at_core_clock {
        (machine_shape.last_level_bytes / 2).max(machine_shape.l2_bytes)
    } else {
        machine_shape.l2_bytes
    }
}
