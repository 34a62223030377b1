//! Rows of memory, with levels, a curve and a map.

use super::estimates::{estimate, ok_outcome, row_of_times};
use crate::estimate::Verdict;
use crate::plateau::Plateau;
use crate::run::{Axis, Bound, CurvePoint, MapPoint, Outcome, Row};
use crate::unit::Unit;

/// Bytes in a KiB.
pub const KIB: u64 = 1 << 10;

/// Bytes in a MiB.
pub const MIB: u64 = 1 << 20;

/// The latency of a working set on the made-up machine.
pub fn latency(bytes: u64) -> f64 {
    match bytes {
        0..=32_768 => 1.32,
        32_769..=524_288 => 3.97,
        524_289..=33_554_432 => 14.3,
        _ => 97.4,
    }
}

fn sizes() -> Vec<u64> {
    (0..=72).map(|k| (1024.0 * 2_f64.powf(f64::from(k) / 4.0)).round() as u64).collect()
}

/// A curve over working sets.
pub fn curve(ns: impl Fn(u64) -> f64) -> Outcome {
    Outcome::Curve {
        axis: Axis::WorkingSetBytes,
        points: sizes()
            .into_iter()
            .map(|x| CurvePoint { x, bound: None, estimate: estimate(ns(x), ns(x) * 0.008) })
            .collect(),
    }
}

/// A level of `memory.latency`.
pub fn level(name: &str, from_bytes: u64, to_bytes: u64) -> Row {
    let ns = latency(to_bytes);
    row_of_times(
        &format!("memory.latency/{name}"),
        Outcome::Level {
            estimate: estimate(ns, ns * 0.005),
            plateau: Plateau {
                name: name.into(),
                from_bytes,
                to_bytes,
                ns,
                low_ns: ns * 0.99,
                high_ns: ns * 1.02,
                certain: true,
                reason: None,
            },
        },
    )
}

fn bandwidth(id: &str, gb_per_s: f64) -> Row {
    Row {
        unit: Unit::Bandwidth { bytes_per_op: 4.0 },
        bound: Bound::Memory,
        notes: vec!["On huge pages of 2 MiB.".into()],
        ..row_of_times(id, curve(move |x| 4.0 / gb_per_s * (1.0 + latency(x) / 20.0)))
    }
}

pub(super) fn memory_rows() -> Vec<Row> {
    let mut rows = vec![
        row_of_times("memory.latency", curve(latency)),
        level("L1", KIB, 32 * KIB),
        level("L2", 48 * KIB, 448 * KIB),
        level("L3", MIB, 24 * MIB),
        level("DRAM", 64 * MIB, 256 * MIB),
        row_of_times("memory.latency_tlb/4KiB", curve(|x| latency(x) * 1.4)),
        bandwidth("memory.read/sequential", 44.0),
        bandwidth("memory.read_write/every_4th", 11.0),
        row_of_times(
            "memory.parallelism/L3",
            Outcome::Curve {
                axis: Axis::Chases,
                points: [1, 2, 4, 8, 16, 32]
                    .map(|x| CurvePoint {
                        x,
                        bound: None,
                        estimate: estimate(14.3 / (x as f64).min(9.0), 0.02),
                    })
                    .into(),
            },
        ),
        map(),
        row_of_times("memory.latency_as_kurkin/64MiB", ok_outcome(131.2, 0.9)),
        row_of_times("memory.latency_as_debug/L1", ok_outcome(3.3, 0.02)),
        row_of_times("memory.read_sequential_1MB", ok_outcome(41_230.0, 410.0)),
    ];
    for (size, elements) in [("50kB", 5e4), ("500kB", 5e5), ("5000kB", 5e6)] {
        let id = format!("memory.naive_xor/{size}");
        rows.push(row_of_times(&id, ok_outcome(0.331 * elements, 0.001 * elements)));
        let id = format!("{id}_vectorised");
        rows.push(row_of_times(&id, ok_outcome(0.021 * elements, 2e-4 * elements)));
    }
    spoil_a_point(&mut rows);
    rows
}

/// Points of each doubtful verdict in one of the curves.
fn spoil_a_point(rows: &mut [Row]) {
    let reading = rows.iter_mut().find(|r| r.id == "memory.read/sequential");
    let Some(Outcome::Curve { points, .. }) = reading.map(|r| &mut r.outcome) else {
        panic!("the synthetic run reads");
    };
    let last = points.len() - 1;
    points[last].estimate.verdict = Verdict::Noisy;
    points[last].estimate.reason = "worker processes disagree by ±9 %".into();
    let level = points.iter().position(|p| p.x >= 5 * KIB).expect("a point in L1");
    for point in &mut points[level..level + 3] {
        point.estimate.verdict = Verdict::CannotTell;
        point.estimate.reason = "3 undisturbed samples, 12 needed".into();
    }
}

pub(super) fn map() -> Row {
    let mut points = Vec::new();
    for y in [16 * KIB, 256 * KIB, 16 * MIB] {
        for x in [8, 64, 512, 4096] {
            points.push(MapPoint {
                y,
                x,
                bound: None,
                estimate: estimate(latency(y) / 8.0 * (x as f64).log2() / 3.0, 0.01),
            });
        }
    }
    Row {
        unit: Unit::Bandwidth { bytes_per_op: 8.0 },
        ..row_of_times(
            "memory.mountain",
            Outcome::Map { y_axis: Axis::WorkingSetBytes, x_axis: Axis::StrideBytes, points },
        )
    }
}
