//! Rows of single operations that took their own stamps: modes, tails, times
//! below 0, and the rows that have blocks of their own.

use super::estimates::{interval, row_of_times};
use super::memory::KIB;
use crate::context::Context;
use crate::estimate::{Estimate, Mode, Tail, Typical, Verdict};
use crate::estimator::estimate;
use crate::machine_readings::MachineReadings;
use crate::run::{Axis, Bound, Cell, CurvePoint, MapPoint, Outcome, Regime, Row};
use crate::sample::{Evidence, Sample};
use crate::sample_columns::Columns;
use crate::unit::Unit;

/// Tick of the synthetic run's clock.
const NS_PER_TICK: f64 = 0.4082;
const WORKERS: u32 = 8;

/// A median with its interval, 10 % below to 15 % above.
pub fn stamped_figure(ns: f64, half: f64) -> Estimate {
    Estimate::bare(
        Some(Typical {
            ns: interval(ns, half),
            p10_ns: ns - 0.1 * ns.abs(),
            p90_ns: ns + 0.15 * ns.abs(),
            samples: 96,
        }),
        Verdict::Ok,
    )
}

fn with_tail(ns: f64, half: f64, operations: u32) -> Estimate {
    let often = operations >= 1_000;
    Estimate {
        tail: Some(Tail {
            verdict: None,
            longest: None,
            p99_ns: often.then(|| interval(ns * 3.1, ns * 0.2)),
            p999_ns: (operations >= 10_000).then(|| interval(ns * 9.4, ns)),
            longest_ns: ns * 41.0,
            shortest_ns: ns * 0.8,
            operations,
            over_ms: 29_600,
        }),
        ..stamped_figure(ns, half)
    }
}

/// The rows.
pub(super) fn stamped_rows() -> Vec<Row> {
    let figure = |id: &str, estimate| Row {
        bound: Bound::Memory,
        ..row_of_times(id, Outcome::Figure(estimate))
    };
    let mut rows = vec![
        figure("collections.push/worst", with_tail(61.0, 1.2, 40_000)),
        figure("thread.create_join", with_tail(48_300.0, 900.0, 96)),
        figure("thread.lifecycle/overhead", stamped_figure(55_100.0, 1_800.0)),
        figure("thread.lifecycle/create", stamped_figure(30_400.0, 700.0)),
        figure("thread.lifecycle/start", start_estimate()),
        figure("thread.lifecycle/procedure", stamped_figure(121_000.0, 900.0)),
        figure("thread.lifecycle/end", stamped_figure(21_300.0, 650.0)),
        figure("thread.lifecycle/join", stamped_figure(6_120.0, 90.0)),
        figure("thread.lifecycle/parts", stamped_figure(54_900.0, 1_300.0)),
        figure("sync.semaphore_switch/free", of_cell(&semaphore())),
        figure("sync.handoff/pipe", rare_mode()),
    ];
    rows.extend(drawn().iter().map(|cell| figure(&cell.row, of_cell(cell))));
    rows.extend(pool());
    rows.extend(files());
    rows.push(ring());
    rows
}

/// The thread ran before the create call returned.
fn start_estimate() -> Estimate {
    Estimate {
        verdict: Verdict::Noisy,
        reason: "samples disagree by ±380 ns".into(),
        ..stamped_figure(-3_100.0, 380.0)
    }
}

/// A figure that is the median of everything, with the modes that it is of.
pub fn in_modes(ns: f64, modes: &[(&str, f64, f64)]) -> Estimate {
    let mode = |&(name, share, ns): &(&str, f64, f64)| Mode {
        name: name.into(),
        share,
        typical: stamped_figure(ns, ns * 0.02).typical.expect("a figure"),
    };
    Estimate { modes: modes.iter().map(mode).collect(), ..stamped_figure(ns, 50.0) }
}

/// Two modes of which one is too rare for two states.
fn rare_mode() -> Estimate {
    in_modes(4_220.0, &[("same CPU", 0.996, 4_210.0), ("other CPU", 0.004, 39_400.0)])
}

/// The cells.
pub(super) fn stamped_cells() -> Vec<Cell> {
    let mut cells = drawn();
    cells.push(overhead());
    cells.extend(THREADS.map(single));
    cells.extend(FILE_SIZES.iter().flat_map(|&bytes| of_files(bytes)));
    cells
}

/// Numbers of threads of the pool.
const THREADS: [u64; 5] = [1, 2, 4, 8, 16];

/// Single operations of a pool on four CPUs: more threads share them, and some
/// wait for long.
fn single(threads: u64) -> Cell {
    let share = (threads as f64 / 4.0).max(1.0);
    let of = |u: f64| 1_650_000.0 * (1.0 + (share - 1.0) * (0.4 + 1.2 * u) + 0.002 / (1.0 - u));
    Cell {
        at: vec![threads],
        wall_ms: 0.0,
        ..ranked_cell("sched.pool/single", 64 * threads as u32, |u| (of(u), 0))
    }
}

/// A thread of 55.1 µs above 118 µs of its procedure, inline.
fn overhead() -> Cell {
    let ticks = |ns: f64| (ns / NS_PER_TICK).round() as u64;
    let inline = ticks(118_000.0);
    let mut cell =
        ranked_cell("thread.lifecycle/overhead", 96, |u| (55_100.0 * (0.9 + 0.2 * u), 0));
    for stamp in &mut cell.samples.second_ticks {
        *stamp += inline - cell.samples.first_ticks[0];
    }
    cell.samples.first_ticks.fill(inline);
    cell
}

/// The cells of wake-ups.
fn drawn() -> Vec<Cell> {
    // Most wake-ups are short, a few of them far from it.
    let idle = |u: f64| 2_500.0 * (1.0 + 0.3 * u + 0.02 / (1.0 - u));
    let loaded = |u: f64| 2_900.0 * (1.0 + 3.0 * u + 0.5 / (1.0 - u));
    let mut cells = vec![
        ranked_cell("sched.wakeup/idle", 1_280, |u| (idle(u), 0)),
        ranked_cell("sched.wakeup/loaded", 1_024, |u| (loaded(u), 0)),
    ];
    cells[1].wall_ms = 4_100.0;
    cells
}

/// A hand-over that stays on its CPU in 70 % of the operations.
pub fn semaphore() -> Cell {
    Cell {
        modes: vec!["same CPU".into(), "other CPU".into()],
        ..ranked_cell("sync.semaphore_switch/free", 160, |u| match u < 0.7 {
            true => (2_900.0 + 100.0 * u, 0),
            false => (36_000.0 + 2_000.0 * u, 1),
        })
    }
}

/// A cell of operations whose length and mode follow from their rank, 0 to 1.
fn ranked_cell(id: &str, operations: u32, of: impl Fn(f64) -> (f64, u8)) -> Cell {
    let samples: Vec<Sample> = (0..operations)
        .map(|k| {
            // A step that has no factor in common visits every rank once.
            let rank = (k * 619) % operations;
            let (ns, mode) = of((f64::from(rank) + 0.5) / f64::from(operations));
            Sample {
                worker: k % WORKERS,
                at_ms: 20 * k,
                turns: 1,
                first_ticks: 40,
                second_ticks: Some(40 + (ns / NS_PER_TICK).round() as u64),
                evidence: Evidence { mode, ..Evidence::default() },
            }
        })
        .collect();
    Cell {
        row: id.into(),
        at: Vec::new(),
        ops_per_turn: 1.0,
        regime: Regime::Stamped,
        modes: Vec::new(),
        wall_ms: 1_850.0,
        samples: Columns::from(samples.as_slice()),
    }
}

/// What the estimator makes of it: its words are those of a real run.
fn of_cell(cell: &Cell) -> Estimate {
    let samples = cell.samples.samples().expect("whole columns");
    let gate = MachineReadings::from_samples(&samples).gate(None);
    estimate(
        &samples,
        &Context {
            ops_per_turn: cell.ops_per_turn,
            workers: WORKERS,
            modes: &cell.modes,
            ..Context::plain(&gate, cell.regime, NS_PER_TICK)
        },
    )
}

/// A pool on four CPUs: two threads and more, and what they would ideally
/// take.
fn pool() -> Vec<Row> {
    let curve = |id: &str, of: &dyn Fn(u64) -> Estimate| Row {
        bound: Bound::Memory,
        ..row_of_times(
            id,
            Outcome::Curve {
                axis: Axis::Threads,
                points: THREADS.map(|x| CurvePoint { x, bound: None, estimate: of(x) }).into(),
            },
        )
    };
    let ideal = |x: u64| 1_640_000.0 / x.min(4) as f64;
    vec![
        curve("sched.pool", &|x| {
            let ns = ideal(x) * (1.02 + 0.001 * x as f64);
            stamped_figure(ns, ns * 0.011)
        }),
        curve("sched.pool/ideal", &|x| stamped_figure(ideal(x), ideal(x) * 0.006)),
        curve("sched.pool/single", &|x| of_cell(&single(x))),
    ]
}

/// Sizes of the files that are made and deleted.
const FILE_SIZES: [u64; 3] = [0, KIB, 1024 * KIB];

/// Deleting costs a third less than creating, and less the larger they are.
fn of_files(bytes: u64) -> [Cell; 2] {
    let create = 9_200.0 + bytes as f64 / 8.0;
    let delete = 6_100.0 + bytes as f64 / 60.0;
    [("file.create", create), ("file.delete", delete)].map(|(id, ns)| Cell {
        at: vec![bytes],
        ..ranked_cell(id, 160, |u| (ns * (0.97 + 0.06 * u), 0))
    })
}

/// Files made and deleted; of the largest, the samples of creating disagree.
fn files() -> Vec<Row> {
    let curve = |column: usize, id: &str| {
        let point = |&x: &u64| {
            let estimate = of_cell(&of_files(x)[column]);
            let untold = x == FILE_SIZES[2] && column == 0;
            CurvePoint {
                x,
                bound: None,
                estimate: match untold {
                    true => Estimate {
                        verdict: Verdict::CannotTell,
                        reason: "samples disagree by ±31 %".into(),
                        ..estimate
                    },
                    false => estimate,
                },
            }
        };
        Row {
            bound: Bound::Memory,
            ..row_of_times(
                id,
                Outcome::Curve {
                    axis: Axis::FileBytes,
                    points: FILE_SIZES.iter().map(point).collect(),
                },
            )
        }
    };
    vec![curve(0, "file.create"), curve(1, "file.delete")]
}

/// LMbench's ring: what is left of the switch itself may come out below 0.
fn ring() -> Row {
    let mut points = Vec::new();
    for y in [2, 8, 16, 96] {
        for x in [0, 16 * KIB, 64 * KIB] {
            let ns = 1_800.0 + 31.0 * y as f64 + x as f64 / 40.0;
            let estimate = match (y, x) {
                (2, 65_536) => Estimate {
                    verdict: Verdict::CannotTell,
                    reason: "samples disagree by ±310 %".into(),
                    ..stamped_figure(-212.0, 660.0)
                },
                _ => stamped_figure(ns, ns * 0.02),
            };
            points.push(MapPoint { y, x, bound: None, estimate });
        }
    }
    Row {
        bound: Bound::Memory,
        ..row_of_times(
            "sched.ring",
            Outcome::Map { y_axis: Axis::Processes, x_axis: Axis::WorkingSetBytes, points },
        )
    }
}

/// The line hand-over between all pairs of so many CPUs.
pub fn core_to_core_row(cpus: u64, ns: impl Fn(u64, u64) -> f64) -> Row {
    let mut points = Vec::new();
    for y in 0..cpus {
        for x in 0..y {
            let estimate = stamped_figure(ns(y, x), ns(y, x) * 0.01);
            points.push(MapPoint { y, x, bound: None, estimate });
        }
    }
    let outcome = Outcome::Map { y_axis: Axis::Cpu, x_axis: Axis::Cpu, points };
    Row::new("memory.core_to_core", Unit::Time, Bound::Memory, outcome)
}
