//! The gate on simulated machines: how often it cries wolf where nothing is
//! slower, and what it finds. Everything is seeded.

mod dice;

use dice::Dice;
use model::compare::between::{Dispersion, Wander, dispersion};
use model::compare::gate::{Grown, RUNS, SURELY, Watched, another_run, decided};
use model::compare::multiplicity::Family;
use model::compare::ratio::{Ratio, Side};
use model::compare::reading::{Reading, Variance};
use model::compare::runs::{Support, Tested, p_grown};
use model::stats::trimmed_t_interval;

const ROWS: usize = 10;
const SHARE: f64 = 0.05;

/// Of variance 1: one in twenty is four times as far out, as when a neighbour
/// came by for all of a short run.
fn rough(dice: &mut Dice) -> f64 {
    let far = if dice.uniform() < 0.05 { 4.0 } else { 1.0 };
    far * dice.normal() / 1.75_f64.sqrt()
}

/// How the runs of a machine come out.
#[derive(Clone, Copy, Debug)]
struct SimulatedMachine {
    /// Deviation of a row's runs over what is assumed of its kind.
    wider: f64,
    /// Share of that variance which all runs of one hour have in common: a
    /// baseline of another day does not.
    of_the_hour: f64,
}

/// One row's figure in one run: eight workers about a figure that wanders.
fn reading(dice: &mut Dice, machine: &SimulatedMachine, hour: f64, slower: f64) -> Reading {
    let wander = machine.wider * Wander::Ns.least();
    let own = (1.0 - machine.of_the_hour).sqrt() * rough(dice);
    let shift = wander * (machine.of_the_hour.sqrt() * hour + own) + slower.ln_1p();
    let workers: Vec<f64> = (0..8).map(|_| 7.0 * (shift + 0.01 * dice.normal()).exp()).collect();
    let interval = trimmed_t_interval(&workers).expect("eight workers");
    Reading::from_interval(&interval, 8).expect("above 0")
}

/// A side of so many runs, each of its own hour.
fn readings(dice: &mut Dice, machine: &SimulatedMachine, count: usize) -> Vec<Reading> {
    (0..count)
        .map(|_| {
            let hour = dice.normal();
            reading(dice, machine, hour, 0.0)
        })
        .collect()
}

/// Which rows are named: as `latlas run --baseline` does it, one row slower by
/// so much.
fn rows_named(
    dice: &mut Dice,
    machine: &SimulatedMachine,
    baseline: usize,
    kept: usize,
    slower: f64,
) -> [bool; ROWS] {
    let unchanged = Ratio { ln: 0.0, error: Variance { value: 0.0, df: f64::INFINITY } };
    named_over(dice, machine, [baseline, kept], slower, &unchanged)
}

/// The same, in relation to a reference workload that came out so.
fn named_over(
    dice: &mut Dice,
    machine: &SimulatedMachine,
    [baseline, kept]: [usize; 2],
    slower: f64,
    reference: &Ratio,
) -> [bool; ROWS] {
    let rows: Vec<SimulatedRow> = (0..ROWS)
        .map(|row| {
            let slower = if row == 0 { slower } else { 0.0 };
            SimulatedRow::drawn(dice, machine, baseline, kept, slower)
        })
        .collect();
    let first = rows.iter().map(|row| row.said(dice, machine, reference));
    let mut watched: Vec<Watched> =
        first.map(|said| Watched::of_first(Some(&said), SHARE)).collect();
    let mut runs = 1;
    while runs < RUNS && another_run(watched.iter()) {
        for (row, watched) in rows.iter().zip(&mut watched) {
            if watched.is_looked_at_again() {
                watched.say(Some(&row.said(dice, machine, reference)));
            }
        }
        runs += 1;
    }
    let crossed = decided(&watched).into_iter().map(|row| row.is_different());
    crossed.collect::<Vec<_>>().try_into().expect("as many rows")
}

/// A row with its baseline.
struct SimulatedRow {
    a: Side,
    dispersion: Dispersion,
    slower: f64,
    /// What all its new runs have in common.
    hour: f64,
}

impl SimulatedRow {
    fn drawn(
        dice: &mut Dice,
        machine: &SimulatedMachine,
        baseline: usize,
        kept: usize,
        slower: f64,
    ) -> SimulatedRow {
        let a = Side { readings: readings(dice, machine, baseline), measured: true };
        let mut groups = vec![readings(dice, machine, kept)];
        if baseline >= 2 {
            groups.push(a.readings.clone());
        }
        SimulatedRow { a, dispersion: dispersion(Wander::Ns, &groups), slower, hour: dice.normal() }
    }

    /// What another run says of it.
    fn said(&self, dice: &mut Dice, machine: &SimulatedMachine, reference: &Ratio) -> Grown {
        let b =
            Side { readings: vec![reading(dice, machine, self.hour, self.slower)], measured: true };
        let raw = Ratio::between(&self.a, &b, Wander::Ns, &self.dispersion).expect("both");
        let ratio = raw.over(reference);
        let tested = Tested { ratio: &ratio, support: Support::Interval, family: Family::Quiet };
        Grown {
            time_ratio: ratio.value(),
            raw_time_ratio: raw.value(),
            p_value: p_grown(&tested, 1.0 + SHARE * SURELY),
        }
    }
}

const STEADY: SimulatedMachine = SimulatedMachine { wider: 0.5, of_the_hour: 0.3 };
const AS_ASSUMED: SimulatedMachine = SimulatedMachine { wider: 1.0, of_the_hour: 0.5 };
const ROUGH: SimulatedMachine = SimulatedMachine { wider: 3.0, of_the_hour: 0.5 };
/// What runs differ by is of the hour alone: measuring again is no new evidence.
const OF_THE_HOUR: SimulatedMachine = SimulatedMachine { wider: 1.5, of_the_hour: 1.0 };

/// Share of comparisons in which any row is named that is as before.
fn alarms(machine: &SimulatedMachine, baseline: usize, kept: usize, times: usize) -> f64 {
    let mut dice = Dice(41);
    let wrong =
        (0..times).filter(|_| rows_named(&mut dice, machine, baseline, kept, 0.0).contains(&true));
    let share = wrong.count() as f64 / times as f64;
    println!("{machine:?}, baseline of {baseline}, {kept} kept: {:.2} % alarms", share * 100.0);
    share
}

fn found(machine: &SimulatedMachine, baseline: usize, kept: usize, slower: f64) -> f64 {
    let mut dice = Dice(42);
    let hits = (0..500).filter(|_| rows_named(&mut dice, machine, baseline, kept, slower)[0]);
    let share = hits.count() as f64 / 500.0;
    println!(
        "{machine:?}, baseline of {baseline}, {kept} kept: {:.0} % of +{slower} found",
        share * 100.0
    );
    share
}

#[test]
fn it_hardly_ever_cries_wolf() {
    for machine in [STEADY, AS_ASSUMED, OF_THE_HOUR] {
        for (baseline, kept) in [(1, 0), (1, 10), (10, 0)] {
            let share = alarms(&machine, baseline, kept, 2000);
            assert!(share <= 0.01, "{machine:?} {baseline} {kept}: {share}");
        }
    }
    // Runs that differ by nine times the assumed variance, half of it of the
    // hour: one baseline alone can't know it, nor can ten kept runs learn all of
    // it; a baseline of several does.
    assert!(alarms(&ROUGH, 1, 0, 2000) <= 0.05);
    assert!(alarms(&ROUGH, 1, 10, 2000) <= 0.03);
    assert!(alarms(&ROUGH, 10, 0, 2000) <= 0.01);
}

#[test]
fn a_row_that_is_just_at_the_gate_is_hardly_ever_named() {
    for (baseline, kept) in [(1, 0), (1, 10), (10, 0)] {
        let share = found(&AS_ASSUMED, baseline, kept, SHARE);
        assert!(share <= 0.04, "{baseline} {kept}: {share}");
    }
}

#[test]
fn a_tenth_is_found_once_runs_are_known() {
    assert!(found(&STEADY, 1, 10, 0.10) >= 0.95);
    assert!(found(&STEADY, 10, 0, 0.10) >= 0.95);
    // One baseline alone knows too little of what runs in ns differ by.
    let cold = found(&STEADY, 1, 0, 0.10);
    assert!(cold < 0.5, "{cold}");
    assert!(found(&STEADY, 1, 0, 0.25) >= 0.95);
}

#[test]
fn a_reference_that_became_faster_names_no_row() {
    let reference = |times: f64| Ratio { ln: times.ln(), error: Variance { value: 1e-5, df: 7.0 } };
    let mut dice = Dice(43);
    let mut wrong = |slower: f64, times: f64| {
        let of = |dice: &mut Dice| {
            let way = [10, 0];
            named_over(dice, &AS_ASSUMED, way, slower, &reference(times)).contains(&true)
        };
        (0..500).filter(|_| of(&mut dice)).count()
    };
    assert!(wrong(0.0, 0.8) <= 5, "in relation to it all grew by a quarter");
    assert!(wrong(0.0, 1.25) <= 5, "or shrank");
    assert!(wrong(0.25, 1.0) >= 475, "a row that grew is named");
    assert!(wrong(0.25, 0.9) >= 475, "and where the reference shrank");
}
