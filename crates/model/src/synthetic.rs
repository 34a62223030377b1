//! A synthetic run that holds every kind of outcome and verdict. The tests of all crates use it; other crates
//! get it by the feature `synthetic`, which the program is built without. A file for each part of the run.
//! `crates/latlas/tests/fixtures/synthetic.json` is the run as a file.

mod cpu;
mod estimates;
mod machine;
mod memory;

pub use estimates::{judged, ok_outcome, row_of_times};
pub use memory::{KIB, MIB, curve, latency, level};

use crate::estimate::Estimate;
use crate::filesystem::{DeviceKind, Filesystem};
use crate::gate::{Gate, GateState, Learned};
use crate::imported::Imported;
use crate::run::{
    Bound, Cell, ClockRecord, CoreClock, Outcome, Program, Regime, Row, Run, SCHEMA_VERSION,
};
use crate::sample::{Canaries, Evidence, Sample};
use crate::sample_columns::Columns;
use cpu::cpu_rows;
use estimates::{CYCLE_NS, interval};
use machine::{conditions, machine, plan};
use memory::memory_rows;

mod commands;
pub mod osnoise;
pub mod qos;
pub mod random;
pub mod slots;
mod stamped;
pub use commands::run_of_commands;
pub use stamped::{core_to_core_row, in_modes, semaphore, stamped_figure};

/// The run.
pub fn run() -> Run {
    Run {
        schema: SCHEMA_VERSION,
        id: "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b".into(),
        started_unix_ms: 1_795_225_964_000,
        wall_ms: 31_200,
        program: Program {
            name: "latlas".into(),
            version: "0.1.0".into(),
            commit: Some("2d717b3aa0c94b7f".into()),
            target: "x86_64-unknown-linux-gnu".into(),
            profile: "release".into(),
            emulated: None,
        },
        machine: machine(),
        conditions: conditions(),
        plan: plan(),
        clock: ClockRecord {
            name: "tsc".into(),
            ns_per_tick: 0.4082,
            source: "CPUID leaf 0x15".into(),
            cost_ns: Some(11.8),
            resolution_ns: Some(0.4082),
        },
        gate: Gate {
            quiet_ratio: Some(1.0),
            learned: Learned::FromRun,
            state: GateState::Usable,
            readings: 8_420,
            peak_share: Some(0.93),
            branch_quiet_share: Some(0.84),
            capacity_quiet_share: Some(0.81),
            quiet_share: Some(0.79),
            multiply_ratio: Some(2.998),
            branch_ratio: Some(1.004),
            reason: String::new(),
            fastest_cycle_ns: Some(0.325),
            quiet_last_level_ns: Some(15.2),
        },
        core_clock: Some(CoreClock {
            cycle_ns: interval(CYCLE_NS, 0.002),
            p10_ns: 0.33,
            p90_ns: 0.36,
            shortest_ns: 0.325,
            longest_ns: 0.341,
            readings: 4_210,
            between_runs: None,
        }),
        files_on: Some(Filesystem {
            directory: "/home/lab/.cache".into(),
            kind: "ext4".into(),
            source: "/dev/nvme0n1p2".into(),
            device: DeviceKind::Nvme,
            mount_options: "rw,relatime".into(),
        }),
        commands: None,
        experiment: None,
        recordings: Vec::new(),
        partial: None,
        imported: None,
        job: None,
        rows: synthetic_rows().into(),
        cells: [cell("cpu.add_i32"), cell("cpu.div_i32")]
            .into_iter()
            .chain(stamped::stamped_cells())
            .collect(),
    }
}

/// The same run where one row takes so many times as long, in all its figures.
pub fn slower(run: &Run, id: &str, factor: f64) -> Run {
    let mut run = run.clone();
    let rows = run.rows.iter_mut().filter(|row| row.id == id);
    for outcome in rows.map(|row| &mut row.outcome) {
        let (Outcome::Figure(e) | Outcome::Level { estimate: e, .. }) = outcome else {
            panic!("{id} is no single figure");
        };
        if let Some(q) = &mut e.quiet {
            q.ns = q.ns.scaled(factor);
            q.cycles = q.cycles.map(|c| c.scaled(factor));
        }
        if let Some(t) = &mut e.typical {
            t.ns = t.ns.scaled(factor);
            t.p10_ns *= factor;
            t.p90_ns *= factor;
        }
    }
    run
}

/// The same run where one row has another figure.
pub fn with_figure(mut run: Run, id: &str, estimate: Estimate) -> Run {
    let row = run.rows.iter_mut().find(|row| row.id == id);
    row.expect("the row").outcome = Outcome::Figure(estimate);
    run
}

/// Where an imported run came from.
pub fn imported() -> Imported {
    Imported {
        format: "hyperfine".into(),
        from: vec!["a.json".into()],
        measured_at: None,
        by: "latlas 0.1.0".into(),
    }
}

fn synthetic_rows() -> Vec<Row> {
    let mut rows = memory_rows();
    rows.push(core_to_core_row(4, |y, x| 41.0 + 9.0 * (y - x) as f64));
    rows.extend(cpu_rows());
    rows.extend(stamped::stamped_rows());
    for row in rows.iter_mut().filter(|row| row.bound == Bound::Core) {
        if let Outcome::Figure(e) | Outcome::Level { estimate: e, .. } = &mut row.outcome
            && let Some(quiet) = &mut e.quiet
        {
            quiet.at_run_clock = quiet.cycles.is_some();
        }
    }
    rows
}

/// The samples of a row.
pub fn cell(id: &str) -> Cell {
    let samples: Vec<Sample> = (0..40)
        .map(|k| Sample {
            worker: k / 5,
            at_ms: 100 * k,
            turns: 10_000,
            first_ticks: 80_000 + u64::from(k % 7),
            second_ticks: Some(160_000 + u64::from(k % 5)),
            evidence: Evidence {
                canaries: Some(Canaries {
                    branch_permille: [1002, 1005],
                    capacity_permille: Some([1004, 1006]),
                    multiply_permille: 2998,
                    l1_load_ps: 1320,
                }),
                cycle_fs: Some(330_000),
                lost_ns: if k == 3 { 4_000 } else { 0 },
                ..Evidence::default()
            },
        })
        .collect();
    Cell {
        row: id.into(),
        at: Vec::new(),
        ops_per_turn: 10.0,
        regime: Regime::Gated,
        modes: Vec::new(),
        wall_ms: 12.5,
        samples: Columns::from(samples.as_slice()),
    }
}
