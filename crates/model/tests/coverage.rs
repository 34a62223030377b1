//! Whether a nominal 95 % interval holds the truth in 95 of 100 simulated
//! runs, where the machine's state lasts for seconds and one worker is a stray.
//! Run with `--nocapture` for the shares.

#[path = "dice/mod.rs"]
mod dice;
#[path = "judged/mod.rs"]
mod judged;

use dice::Dice;
use judged::sample;
use model::estimate::Estimate;
use model::machine_readings::MachineReadings;
use model::run::{Bound, Regime};
use model::sample::Sample;
use model::stats::Interval;

const RUNS: usize = 600;
const SPAN_MS: u32 = 60_000;

/// What a run adds to a figure of 100 ns.
#[derive(Clone, Copy, Default)]
struct Noise {
    /// Of each sample.
    sample: f64,
    /// Of each worker process.
    worker: f64,
    /// Of a state of the machine that lasts for so many ms at a time.
    state: f64,
    state_ms: f64,
    /// A worker that is so much off.
    stray: f64,
}

/// Eight workers, three visits of eight samples each, spread over a minute.
fn drawn_samples(dice: &mut Dice, noise: Noise) -> Vec<Sample> {
    // The state: normal, with a memory of `state_ms` (an AR(1) on 100 ms).
    let keep = if noise.state_ms > 0.0 { (-100.0 / noise.state_ms).exp() } else { 0.0 };
    let mut state = dice.normal();
    let states: Vec<f64> = (0..=SPAN_MS / 100)
        .map(|_| {
            state = keep * state + (1.0 - keep * keep).sqrt() * dice.normal();
            state
        })
        .collect();
    let stray = dice.below(8) as u32;
    let mut samples = Vec::new();
    for worker in 0..8 {
        let own = noise.worker * dice.normal() + if worker == stray { noise.stray } else { 0.0 };
        for visit in 0..3 {
            // A round of visits, shuffled.
            let at_ms = visit * SPAN_MS / 3 + dice.below(SPAN_MS as usize / 3) as u32;
            let now = noise.state * states[(at_ms / 100) as usize];
            for _ in 0..8 {
                let ns = 100.0 * (1.0 + own + now + noise.sample * dice.normal());
                samples.push(sample(worker, at_ms, ns, 0.4));
            }
        }
    }
    samples
}

fn judge(samples: &[Sample], regime: Regime) -> Estimate {
    let gate = MachineReadings::from_samples(samples).gate(Some(1.0));
    judged::judge(samples, &gate, Bound::Memory, regime, &[])
}

/// Share of runs whose interval holds 100 ns, and the median half width.
fn coverage(seed: u64, regime: Regime, noise: Noise) -> (f64, f64) {
    let mut dice = Dice(seed);
    let (mut held, mut widths) = (0, Vec::new());
    for _ in 0..RUNS {
        let found = judge(&drawn_samples(&mut dice, noise), regime);
        let Interval { low, high, .. } = found.ns().expect("a figure");
        held += usize::from((low..=high).contains(&100.0));
        widths.push((high - low) / 2.0);
    }
    widths.sort_by(f64::total_cmp);
    (held as f64 / RUNS as f64, widths[RUNS / 2])
}

const CASES: [(&str, Noise); 5] = [
    ("samples alone", Noise { sample: 0.02, worker: 0.0, state: 0.0, state_ms: 0.0, stray: 0.0 }),
    ("workers", Noise { sample: 0.01, worker: 0.02, state: 0.0, state_ms: 0.0, stray: 0.0 }),
    (
        "states of 1 s",
        Noise { sample: 0.01, worker: 0.0, state: 0.03, state_ms: 1_000.0, stray: 0.0 },
    ),
    (
        "states of 2 s",
        Noise { sample: 0.01, worker: 0.0, state: 0.03, state_ms: 2_000.0, stray: 0.0 },
    ),
    (
        "one stray of eight",
        Noise { sample: 0.02, worker: 0.005, state: 0.0, state_ms: 0.0, stray: 0.5 },
    ),
];

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    for regime in [Regime::Gated, Regime::Distribution] {
        for (name, noise) in CASES {
            let (held, half) = coverage(7, regime, noise);
            println!("{regime:?}, {name:<18} held {:.1} %, half width {half:.2} %", held * 100.0);
            assert!((0.90..=0.999).contains(&held), "{regime:?}, {name}: {held}");
        }
    }
}

#[test]
fn a_stray_worker_does_not_blow_the_interval_up() {
    let with = |stray: f64| {
        let noise = Noise { sample: 0.02, worker: 0.005, stray, ..Noise::default() };
        coverage(8, Regime::Gated, noise).1
    };
    let (without, stray) = (with(0.0), with(0.5));
    assert!(stray < 2.0 * without, "{stray} against {without}");
}
