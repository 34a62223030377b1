//! Made-up osnoise: each cause once, all sums right.

use crate::machine::Fact;
use crate::noise::osnoise::{
    Cause, CauseTime, CauseTotal, Detector, Detour, Frequency, InterruptCount, Interruptions,
    Osnoise, OsnoiseAround, Stretch, lost_share,
};
use crate::run::Run;
use crate::run::recording::{About, Recording};

/// Detours of so many equal ones in the bin of 2^bin ns.
fn lost(cause: Cause, detours: u64, each_ns: u64) -> CauseTotal {
    let mut histogram = vec![0; each_ns.ilog2() as usize + 1];
    if let Some(last) = histogram.last_mut() {
        *last = detours;
    }
    CauseTotal {
        cause,
        detours,
        lost_ns: detours * each_ns,
        share: None,
        longest_ns: each_ns,
        histogram,
    }
}

fn part(cause: Cause, lost_ns: u64) -> CauseTime {
    CauseTime { cause, lost_ns }
}

/// Five seconds on CPU 1, in so many stretches (a divisor of 80).
pub fn osnoise(stretches: u64) -> Osnoise {
    const SPAN_NS: u64 = 5_000_000_000;
    let causes = [
        lost(Cause::Scheduler, 20, 4_000_000),
        lost(Cause::Tick, 1_200, 6_000),
        lost(Cause::Interrupts, 80, 12_000),
        lost(Cause::TickAndInterrupts, 16, 20_000),
        lost(Cause::Unexplained, 2, 500_000),
        lost(Cause::Unknown, 40, 900),
    ];
    let stretches: Vec<Stretch> = (0..stretches)
        .map(|k| Stretch {
            watched_ns: (SPAN_NS - 75_000_000) / stretches,
            // The scheduler's all in one place, the others even.
            lost_ns: causes
                .iter()
                .map(|c| match (c.cause, k * 80 / stretches / 20) {
                    (Cause::Scheduler, 1) => c.lost_ns * 4 / stretches,
                    (Cause::Scheduler, _) => 0,
                    _ => c.lost_ns / stretches,
                })
                .collect(),
            ghz: (k != 3).then(|| 2.9 + (k * 7 % 10) as f64 * 0.06),
        })
        .collect();
    let causes: Vec<CauseTotal> = causes
        .into_iter()
        .enumerate()
        .map(|(place, lost)| CauseTotal {
            share: lost_share(&stretches, |s| s.lost_ns[place]),
            ..lost
        })
        .collect();
    let interrupt =
        |name: &str, count| InterruptCount { name: name.into(), timer: name == "LOC", count };
    Osnoise {
        cpu: Some(1),
        thread: Some(4242),
        began_ns: 77_000_000_000,
        span_ns: SPAN_NS,
        blind_ns: 75_000_000,
        detector: Detector {
            adds: 1024,
            block_ns: 351.5,
            overhead_ns: 28.2,
            threshold_ns: 368.0,
            slower: 0,
            broken_steps: 0,
        },
        detours: causes.iter().map(|c| c.detours).sum(),
        mixed: 20,
        lost_ns: causes.iter().map(|c| c.lost_ns).sum(),
        share: lost_share(&stretches, |s| s.lost_ns.iter().sum()),
        longest: vec![
            Detour {
                at_ns: 1_300_000_000,
                lost_ns: 4_009_100,
                parts: vec![part(Cause::Scheduler, 4_000_000), part(Cause::Tick, 9_100)],
            },
            Detour {
                at_ns: 2_700_000_000,
                lost_ns: 500_000,
                parts: vec![part(Cause::Unexplained, 500_000)],
            },
        ],
        causes,
        stretches,
        frequency: Some(Frequency {
            p1_ghz: 2.91,
            p50_ghz: 3.2,
            p99_ghz: 3.44,
            window_ns: 250_000,
            windows: 19_950,
        }),
        run_delay_ns: Some(80_020_000),
        in_readings_ns: 20_000,
        steal_ns: Some(10_000_000),
        involuntary_switches: Some(20),
        interrupts: vec![
            interrupt("LOC", 1_236),
            interrupt("36 virtio1-req.0", 70),
            interrupt("RES", 26),
        ],
        readings: 1_310,
        reading_ns: Some(57_000),
        ..Osnoise::default()
    }
}

/// The run of `latlas noise measure`.
pub fn osnoise_run() -> Run {
    let Run { program, mut machine, .. } = super::run();
    machine.hostname = Fact::known("example".into());
    let about = About {
        id: "0c1d2e3f-3c4d-4e5f-8a9b-5e0c1a2b4a5b".into(),
        started_unix_ms: 1_795_000_000_000,
        wall_ms: 5_003,
        program,
        machine,
    };
    let cpus = vec![osnoise(80)];
    let recording = Recording::Interruptions(Interruptions { asked_ms: 5_000, cpus });
    Run::recorded(about, recording, None)
}

/// Around a run.
pub fn around() -> OsnoiseAround {
    OsnoiseAround {
        before: osnoise(20),
        after: Some(Osnoise { lost_ns: 40_000_000, ..osnoise(20) }),
    }
}
