//! A made-up run that holds every kind of outcome and verdict, for tests.

use crate::conditions::{Conditions, Moment};
use crate::estimate::{Estimate, Quiet, Typical, Verdict};
use crate::filesystem::{DeviceKind, Filesystem};
use crate::gate::{Gate, GateState, Learned};
use crate::imported::Imported;
use crate::machine::{
    CacheFact, CacheKind, CoreKind, CpuSignature, Fact, Limit, Machine, NumaNode, Presence, Smt,
};
use crate::noise::applied::{Applied, Policy, Settings};
use crate::plateau::Plateau;
use crate::run::{
    Axis, Bound, Cell, ClockRecord, CoreClock, CurvePoint, MapPoint, Outcome, PlanRecord, Program,
    Regime, Row, Run, SCHEMA_VERSION, Scale,
};
use crate::sample::{Canaries, Columns, Evidence, Sample};
use crate::stats::Interval;
use crate::unit::Unit;

mod commands;
pub mod osnoise;
mod stamped;
pub use commands::run_of_commands;
pub use stamped::{core_to_core_row, in_modes, stamped_figure};

/// Bytes in a KiB.
pub const KIB: u64 = 1 << 10;
/// Bytes in a MiB.
pub const MIB: u64 = 1 << 20;
const CYCLE_NS: f64 = 0.33;

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
        }),
        files_on: Some(Filesystem {
            directory: "/home/lab/.cache".into(),
            kind: "ext4".into(),
            source: "/dev/nvme0n1p2".into(),
            device: DeviceKind::Nvme,
            mount_options: "rw,relatime".into(),
        }),
        commands: None,
        partial: None,
        imported: None,
        rows: rows(),
        cells: [cell("cpu.add_i32"), cell("cpu.div_i32")]
            .into_iter()
            .chain(stamped::cells())
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
pub fn with(mut run: Run, id: &str, estimate: Estimate) -> Run {
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

/// An outcome of a single figure that is ok.
pub fn figure(ns: f64, half: f64) -> Outcome {
    Outcome::Figure(estimate(ns, half))
}

fn interval(value: f64, half: f64) -> Interval {
    Interval {
        value,
        low: value - half,
        high: value + half,
    }
}

fn estimate(ns: f64, half: f64) -> Estimate {
    Estimate {
        quiet: Some(Quiet {
            ns: interval(ns, half),
            cycles: Some(interval(ns / CYCLE_NS, half / CYCLE_NS)),
            minimum_ns: ns * 0.99,
            samples: 310,
            workers: 8,
            at_run_clock: false,
        }),
        typical: Some(Typical {
            ns: interval(ns * 1.02, half),
            p10_ns: ns,
            p90_ns: ns * 1.11,
            samples: 400,
        }),
        tail: None,
        modes: Vec::new(),
        quiet_share: Some(0.78),
        below_ns: None,
        verdict: Verdict::Ok,
        reason: String::new(),
    }
}

/// An estimate with this verdict.
pub fn judged(ns: f64, half: f64, verdict: Verdict, reason: &str) -> Estimate {
    Estimate {
        verdict,
        reason: reason.into(),
        ..estimate(ns, half)
    }
}

/// A row of times.
pub fn row(id: &str, outcome: Outcome) -> Row {
    Row {
        id: id.into(),
        unit: Unit::Time,
        bound: Bound::Core,
        outcome,
        notes: Vec::new(),
    }
}

fn rows() -> Vec<Row> {
    let mut rows = memory_rows();
    rows.push(core_to_core_row(4, |y, x| 41.0 + 9.0 * (y - x) as f64));
    rows.extend(cpu_rows());
    rows.extend(stamped::rows());
    for row in rows.iter_mut().filter(|row| row.bound == Bound::Core) {
        if let Outcome::Figure(e) | Outcome::Level { estimate: e, .. } = &mut row.outcome
            && let Some(quiet) = &mut e.quiet
        {
            quiet.at_run_clock = quiet.cycles.is_some();
        }
    }
    rows
}

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
    (0..=72)
        .map(|k| (1024.0 * 2_f64.powf(f64::from(k) / 4.0)).round() as u64)
        .collect()
}

/// A curve over working sets.
pub fn curve(ns: impl Fn(u64) -> f64) -> Outcome {
    Outcome::Curve {
        axis: Axis::WorkingSetBytes,
        points: sizes()
            .into_iter()
            .map(|x| CurvePoint {
                x,
                bound: None,
                estimate: estimate(ns(x), ns(x) * 0.008),
            })
            .collect(),
    }
}

/// A level of `memory.latency`.
pub fn level(name: &str, from_bytes: u64, to_bytes: u64) -> Row {
    let ns = latency(to_bytes);
    row(
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
        ..row(
            id,
            curve(move |x| 4.0 / gb_per_s * (1.0 + latency(x) / 20.0)),
        )
    }
}

fn memory_rows() -> Vec<Row> {
    let mut rows = vec![
        row("memory.latency", curve(latency)),
        level("L1", KIB, 32 * KIB),
        level("L2", 48 * KIB, 448 * KIB),
        level("L3", MIB, 24 * MIB),
        level("DRAM", 64 * MIB, 256 * MIB),
        row("memory.latency_tlb/4KiB", curve(|x| latency(x) * 1.4)),
        bandwidth("memory.read/sequential", 44.0),
        bandwidth("memory.read_write/every_4th", 11.0),
        row(
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
        row("memory.latency_as_kurkin/64MiB", figure(131.2, 0.9)),
        row("memory.latency_as_debug/L1", figure(3.3, 0.02)),
        row("memory.read_sequential_1MB", figure(41_230.0, 410.0)),
    ];
    for (size, elements) in [("50kB", 5e4), ("500kB", 5e5), ("5000kB", 5e6)] {
        let id = format!("memory.naive_xor/{size}");
        rows.push(row(&id, figure(0.331 * elements, 0.001 * elements)));
        let id = format!("{id}_vectorised");
        rows.push(row(&id, figure(0.021 * elements, 2e-4 * elements)));
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
    let level = points
        .iter()
        .position(|p| p.x >= 5 * KIB)
        .expect("a point in L1");
    for point in &mut points[level..level + 3] {
        point.estimate.verdict = Verdict::CannotTell;
        point.estimate.reason = "only 3 of 80 samples were taken on a quiet machine".into();
    }
}

fn map() -> Row {
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
        ..row(
            "memory.mountain",
            Outcome::Map {
                y_axis: Axis::WorkingSetBytes,
                x_axis: Axis::StrideBytes,
                points,
            },
        )
    }
}

fn cpu_rows() -> Vec<Row> {
    let two = "3.30 ns in 62 % of the samples, 6.60 ns in 38 %";
    let few = "only 5 of 412 samples were taken on a quiet machine";
    let below = Estimate {
        below_ns: Some(0.0083),
        ..estimate(0.0003, 0.008)
    };
    let never_quiet = Estimate {
        quiet: None,
        tail: None,
        modes: Vec::new(),
        quiet_share: Some(0.01),
        ..judged(25_300.0, 900.0, Verdict::CannotTell, few)
    };
    let faulted = "page faults inside most samples: the working set does not stay in memory, and \
                   so the time is that of the kernel which brings the pages back again and again";
    let mut rows = vec![
        row("cpu.add_i32", figure(0.33, 0.001)),
        row("cpu.add_i32/throughput", figure(0.0831, 0.0004)),
        row(
            "cpu.div_i32",
            Outcome::Figure(judged(
                3.3,
                0.3,
                Verdict::Noisy,
                "worker processes disagree by ±9 %",
            )),
        ),
        row("cpu.div_f64_as_ash", figure(1.32, 0.01)),
        row(
            "cpu.div_f64_from_int_as_ash",
            Outcome::Figure(judged(4.0, 0.1, Verdict::TwoStates, two)),
        ),
        row("cpu.memcpy/16B", Outcome::Figure(below)),
        row("cpu.memcpy/1MiB", Outcome::Figure(never_quiet)),
        row(
            "cpu.branch_mispredict",
            Outcome::Figure(judged(5.2, 0.1, Verdict::Invalid, faulted)),
        ),
        Row {
            unit: Unit::Frequency,
            ..row("cpu.frequency", figure(CYCLE_NS, 0.002))
        },
        row(
            "cpu.timer/counter",
            Outcome::Unavailable {
                reason:
                    "the kernel keeps the counter from user programs (CNTKCTL_EL1), so that it \
                         can't be read without a trap"
                        .into(),
            },
        ),
    ];
    rows[3].notes = vec!["The divisor is loaded from memory each time.".into()];
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

fn conditions() -> Conditions {
    let moment = |load, steal_ns| Moment {
        load_average: Some([load, 0.2, 0.1]),
        cpu_pressure_percent: Some(0.4),
        steal_ns: Some(steal_ns),
        throttled_us: Some(0),
    };
    Conditions {
        before: moment(0.31, 1_000_000),
        after: moment(1.02, 43_000_000),
        pinned_cpus: vec![1],
        not_pinned: None,
        applied: Some(applied()),
        osnoise: Some(osnoise::around()),
        remarks: Vec::new(),
    }
}

fn applied() -> Applied {
    let asked = Settings {
        cpus: vec![1],
        own_session: Some(true),
        ..Settings::default()
    };
    let granted = Settings {
        autogroup: Some(0),
        nice: Some(0),
        policy: Some(Policy::Other),
        timer_slack_ns: Some(50_000),
        cpuset: Some("/".into()),
        ..asked.clone()
    };
    Applied::new(asked, granted)
}

fn plan() -> PlanRecord {
    PlanRecord {
        scale: Scale::Default,
        asked: Vec::new(),
        seed: 42,
        budget_ms: 35_000,
        workers: 8,
        large_workers: 3,
        largest_working_set_bytes: 256 * MIB,
        shrunk: None,
        core_kind: None,
        cpus: vec![0, 1, 2, 3],
    }
}

fn cache(level: u32, kind: CacheKind, size_bytes: u64) -> CacheFact {
    CacheFact {
        level,
        kind,
        size_bytes: Some(size_bytes),
        line_bytes: Some(64),
        ways: Some(8),
        shared_cpus: vec![0, 1],
    }
}

fn machine() -> Machine {
    let mut machine = Machine::unknown("x86_64", "hidden from the guest");
    machine.hostname = Fact::known("example".into());
    machine.os = Fact::known("Debian GNU/Linux 12".into());
    machine.kernel = Fact::known("6.1.0-28-amd64".into());
    machine.emulated = Fact::known(Presence::Absent);
    machine.cpu_model = Fact::known("AMD EPYC 7B13".into());
    machine.cpu_signature = Fact::known(CpuSignature::X86 {
        family: 0x19,
        model: 1,
        stepping: 0,
    });
    machine.microarchitecture = Fact::known("Zen 3".into());
    machine.online_cpus = Fact::known(vec![0, 1, 2, 3]);
    machine.allowed_cpus = Fact::known(vec![0, 1, 2, 3]);
    machine.smt = Fact::known(Smt {
        threads_per_core: 2,
        active: true,
    });
    machine.core_kinds = Fact::known(vec![CoreKind {
        name: "only kind".into(),
        cpus: vec![0, 1, 2, 3],
        capacity: None,
        max_hz: None,
    }]);
    machine.numa_nodes = Fact::known(vec![NumaNode {
        id: 0,
        cpus: vec![0, 1],
        memory_bytes: 8_203_173_888,
    }]);
    machine.caches = Fact::known(vec![
        cache(1, CacheKind::Data, 32 * KIB),
        cache(1, CacheKind::Instruction, 32 * KIB),
        cache(2, CacheKind::Unified, 512 * KIB),
        cache(3, CacheKind::Unified, 32 * MIB),
    ]);
    machine.memory.physical_bytes = Fact::known(8_203_173_888);
    machine.memory.cgroup_limit_bytes = Fact::known(Limit::Unlimited);
    machine.hypervisor = Fact::known(Presence::Present("KVM".into()));
    machine
}
