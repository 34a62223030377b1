//! A made-up document of `latlas qos`: two CPUs, eight rounds, the mapping of an
//! unprivileged user.

use super::{DeviceKind, Filesystem};
use crate::machine::{CoreKind, Fact};
use crate::qos::{
    Case, CaseRun, CaseRuns, Codec, How, JobRun, Level, LevelHere, Outcome, Part, Qos,
    QosConditions, Setting,
};
use crate::residency::{WorkBlock, residency};
use crate::run::Run;
use crate::run::recording::{About, Recording};

/// Time of a job alone, ns.
const ALONE_NS: f64 = 2e9;
const ROUNDS: u32 = 8;

/// The run that holds it.
pub fn qos_run(qos: Qos) -> Run {
    let of_rows = super::run();
    let about = About {
        id: "7a0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5c".into(),
        started_unix_ms: of_rows.started_unix_ms,
        wall_ms: 180_000,
        program: of_rows.program,
        machine: of_rows.machine,
    };
    Run::recorded(about, Recording::Qos(qos), None)
}

/// The recording.
pub fn qos_recording() -> Qos {
    let two = |high, low, share, low_time| {
        let case = Case::Pair { high, low };
        case_runs(case, [(1.0 / (1.0 - share), 1.0 - share), (low_time, share)])
    };
    let alone = |level| case_runs(Case::Alone { level }, [(1.0, 1.0)]);
    Qos {
        how: How {
            file_bytes: 256 << 20,
            file_sha256: "ab".repeat(32),
            block_bytes: 256 << 10,
            codec: Codec::Zstd(3),
            compressed_bytes: 118 << 20,
            passes: 3,
            operations: 2,
            rounds: ROUNDS,
            seed: 7,
            cpus: vec![0, 1],
        },
        conditions: QosConditions {
            power: Fact::known("mains".into()),
            autogroups: Fact::known(true),
            root: false,
            filesystem: Filesystem {
                directory: "/var/tmp".into(),
                kind: "ext4".into(),
                source: "/dev/vda1".into(),
                device: DeviceKind::Virtio,
                mount_options: "rw".into(),
            },
            load_before: Some(0.02),
        },
        levels: levels(),
        cases: vec![
            alone(Level::BACKGROUND),
            alone(Level::DEFAULT),
            alone(Level::USER_INTERACTIVE),
            two(Level::DEFAULT, Level::BACKGROUND, 0.012, 2.02),
            two(Level::USER_INTERACTIVE, Level::DEFAULT, 0.5, 1.99),
            case_runs(Case::Same { level: Level::BACKGROUND }, [(1.97, 0.5), (1.99, 0.5)]),
            case_runs(Case::Operations { level: Level::DEFAULT, operations: 1 }, [(1.01, 1.0)]),
        ],
    }
}

fn levels() -> Vec<LevelHere> {
    let part = |setting, outcome| Part { setting, outcome };
    let refused = || Outcome::Refused("needs root or CAP_SYS_NICE".into());
    let here = |level, parts| LevelHere { level, parts };
    vec![
        here(Level::DEFAULT, Vec::new()),
        here(
            Level::BACKGROUND,
            vec![
                part(Setting::Autogroup(19), Outcome::ReadBack),
                part(Setting::Nice(19), Outcome::ReadBack),
                part(Setting::BATCH, Outcome::Applied),
            ],
        ),
        here(
            Level::USER_INTERACTIVE,
            vec![
                part(Setting::Autogroup(-10), refused()),
                part(Setting::Nice(-10), refused()),
                part(Setting::SliceNs(100_000), Outcome::Differs("1400000 ns".into())),
            ],
        ),
    ]
}

/// Jobs by their time over [`ALONE_NS`] and their share; rounds differ a little.
fn case_runs<const N: usize>(case: Case, jobs: [(f64, f64); N]) -> CaseRuns {
    let runs = (0..ROUNDS).map(|round| {
        let noise = 1.0 + f64::from(round * 5 % 7) * 1e-3;
        let wall = |time: f64| (ALONE_NS * time * noise) as u64;
        let together_ns = jobs.iter().map(|job| wall(job.0)).min().unwrap_or(0);
        CaseRun {
            at_ms: u64::from(round) * 30_000,
            together_ns,
            jobs: jobs
                .iter()
                .map(|&(time, share)| job(wall(time), (2 * together_ns) as f64 * share))
                .collect(),
        }
    });
    CaseRuns { case, runs: runs.collect(), left_out: None, history: None }
}

fn job(wall_ns: u64, together_cpu_ns: f64) -> JobRun {
    JobRun {
        wall_ns,
        cpu_ns: 4_000_000_000,
        together_cpu_ns: together_cpu_ns as u64,
        bytes: 3 * (256 << 20),
        run_delay_ns: Some(2 * wall_ns - 4_000_000_000),
        voluntary: Some(4),
        involuntary: Some(900),
        migrations: Some(12),
        residency: residency(blocks(), &kinds(), Some(&[0, 1])),
        ..JobRun::default()
    }
}

/// Of one kind.
fn kinds() -> [CoreKind; 1] {
    [CoreKind { name: "only kind".into(), cpus: vec![0, 1, 2, 3], capacity: None, max_hz: None }]
}

/// 2 s on CPU 0, 1.9 s on CPU 1, which is faster, and 0.1 s on both.
fn blocks() -> Vec<WorkBlock> {
    let block = |cpus: [u32; 2], cpu_ns| WorkBlock {
        thread: cpus[0],
        begin_cpu: cpus[0],
        end_cpu: cpus[1],
        cpu_ns,
        most_moves: Some(u64::from(cpus[0] != cpus[1])),
        clock_hz: Some(4_000_000_000 + 123_000_000 * u64::from(cpus[0])),
    };
    let mut blocks = vec![block([0, 0], 2_000_000); 1000];
    blocks.extend(vec![block([1, 1], 1_900_000); 1000]);
    blocks.extend(vec![block([0, 1], 2_000_000); 50]);
    blocks
}
