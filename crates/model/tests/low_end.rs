//! Figures of machines that disturb most samples: held by the low end where two witnesses agree, and by nothing
//! where they don't. Run with `--nocapture` for the shares.

#[path = "dice/mod.rs"]
mod dice;
#[path = "judged/mod.rs"]
mod judged;

use dice::Dice;
use judged::sample;
use model::estimate::{Estimate, Verdict};
use model::gate::{Gate, GateState};
use model::run::{Bound, Regime};
use model::sample::Sample;

/// What a host does to samples of an operation of 100 ns.
#[derive(Clone, Copy)]
struct Host {
    /// Share of the samples that it interrupts; each then takes up to three times as long.
    interrupted: f64,
    /// Share of the interrupted whose canaries show it.
    seen: f64,
    /// Spread of the operation's own, as a standard deviation.
    own: f64,
    /// What each worker's layout of memory adds, likewise.
    layout: f64,
}

/// The thread loses its CPU in every visit, and most canaries don't see where.
const BURSTS: Host = Host { interrupted: 0.6, seen: 0.3, own: 0.003, layout: 0.002 };
/// A neighbour on the core's other hardware thread: the canaries see it, nothing is lost.
const NEIGHBOUR: Host = Host { interrupted: 0.9, seen: 1.0, own: 0.003, layout: 0.002 };

/// Eight workers, eight visits of four samples each.
fn drawn_samples(dice: &mut Dice, host: Host, lost_ns: u64) -> Vec<Sample> {
    let mut samples = Vec::new();
    for worker in 0..8 {
        let layout = host.layout * dice.normal();
        for visit in 0..8 {
            for _ in 0..4 {
                let interrupted = dice.uniform() < host.interrupted;
                let added = if interrupted { 0.05 + 2.0 * dice.uniform() } else { 0.0 };
                let ns = 100.0 * (1.0 + layout + (host.own * dice.normal()).abs() + added);
                let mut one = sample(worker, 1_000 * visit + worker, ns, 0.4);
                one.evidence.lost_ns = lost_ns;
                if interrupted && dice.uniform() < host.seen {
                    one.evidence.canary_percent = Some(170);
                }
                samples.push(one);
            }
        }
    }
    samples
}

fn gate() -> Gate {
    Gate {
        quiet_ratio: Some(1.0),
        state: GateState::Usable,
        multiply_ratio: Some(2.998),
        ..Gate::default()
    }
}

fn judge(samples: &[Sample]) -> Estimate {
    judged::judge(samples, &gate(), Bound::Memory, Regime::Gated, &[])
}

/// Shares of the runs that have a figure by the low end, and of these whose interval holds the truth.
fn shares(seed: u64, host: Host, lost_ns: u64) -> (f64, f64) {
    const RUNS: usize = 400;
    let mut dice = Dice(seed);
    let (mut known, mut held) = (0, 0);
    for _ in 0..RUNS {
        let found = judge(&drawn_samples(&mut dice, host, lost_ns));
        let Some(quiet) = found.quiet.filter(|quiet| quiet.low_end) else { continue };
        assert!(found.verdict.is_usable(), "{found:?}");
        known += 1;
        held += usize::from((quiet.ns.low..=quiet.ns.high).contains(&100.2));
    }
    (known as f64 / RUNS as f64, held as f64 / f64::from(known as u32))
}

#[test]
fn most_disturbed_machines_have_a_figure_that_holds() {
    for (name, host, lost_ns) in [("bursts", BURSTS, 20_000), ("a neighbour", NEIGHBOUR, 0)] {
        let (known, held) = shares(3, host, lost_ns);
        println!("{name:<12} known {:.1} %, held {:.1} %", known * 100.0, held * 100.0);
        assert!(known > 0.9, "{name}: {known}");
        assert!(held > 0.9, "{name}: {held}");
    }
}

#[test]
fn the_reason_says_what_the_figure_is_from() {
    let found = judge(&drawn_samples(&mut Dice(1), BURSTS, 20_000));
    assert_eq!(found.verdict, Verdict::Ok, "{found:?}");
    let start = "the measuring thread lost its CPU in most samples: from the low end of ";
    assert!(found.reason.starts_with(start), "{}", found.reason);
    assert!((found.ns().expect("known").value - 100.0).abs() < 1.0, "{found:?}");
}

#[test]
fn a_spread_of_the_operations_own_is_not_hidden() {
    // Its median is a quarter above its low end: no figure to 5 % comes of it.
    let found = judge(&drawn_samples(&mut Dice(2), Host { own: 0.4, ..BURSTS }, 20_000));
    assert_ne!(found.verdict, Verdict::Ok, "{found:?}");
    // Undisturbed samples that lie apart are never set aside for their low end.
    let quiet = Host { interrupted: 0.0, own: 0.3, ..BURSTS };
    let apart = Host { layout: 0.1, ..quiet };
    let found = judge(&drawn_samples(&mut Dice(2), apart, 0));
    assert!(!found.quiet.expect("undisturbed samples").low_end, "{found:?}");
}

#[test]
fn a_worker_that_was_never_undisturbed_moves_nothing() {
    let mut samples = drawn_samples(&mut Dice(4), BURSTS, 20_000);
    for sample in samples.iter_mut().filter(|s| s.worker == 3) {
        sample.first_ticks *= 2;
    }
    let found = judge(&samples);
    assert!((found.ns().expect("known").value - 100.0).abs() < 2.0, "{found:?}");
}

#[test]
fn nothing_is_said_where_a_witness_is_missing() {
    let samples = drawn_samples(&mut Dice(5), BURSTS, 20_000);
    let changed = |change: &dyn Fn(&mut Sample)| {
        let mut samples = samples.clone();
        samples.iter_mut().for_each(change);
        judge(&samples)
    };
    // Beyond L2; longer than a millisecond; every canary disturbed; two workers.
    let none = [
        changed(&|s| s.evidence.last_level_ps = Some(12_000)),
        changed(&|s| {
            s.first_ticks *= 20;
            s.evidence.lost_ns *= 20;
        }),
        changed(&|s| s.evidence.canary_percent = Some(170)),
        changed(&|s| s.worker %= 2),
    ];
    for found in none {
        assert_eq!(found.quiet, None, "{found:?}");
        assert!(!found.verdict.is_usable(), "{found:?}");
    }
    let never = Gate { state: GateState::NeverQuiet, reason: "as the run has it".into(), ..gate() };
    let found = judged::judge(&samples, &never, Bound::Memory, Regime::Gated, &[]);
    assert_eq!(found.quiet, None, "{found:?}");
}
