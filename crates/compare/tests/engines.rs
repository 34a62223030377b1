//! What is said of changes in seeded samples, to the last bit: a change of structure leaves it as it is.

#[path = "../../model/tests/dice/mod.rs"]
mod dice;

use compare::operand::Operand;
use compare::{Options, gate, selftest::selftest};
use dice::Dice;
use model::compare::between::Wander;
use model::compare::exchange::Exchange;
use model::compare::finding::{Correction, Finding, Samples, SummarizedSamples, judge};
use model::compare::reading::{Reading, Variance};
use model::history::{Past, change::changes};
use model::interleaved::{Rounds, finding};
use model::run::{Outcome, Run};
use model::synthetic::{self, slower};
use serde_json::{Value, json};

const LONGER: &str = "cpu.add_i32";

fn said(found: &Finding) -> Value {
    json!([found.verdict, found.ratio, found.p_value])
}

fn of_rounds(dice: &mut Dice, rounds: usize, factor: f64) -> Value {
    let mut costs = |factor: f64| -> Vec<f64> {
        let mut once = || (1.0 - 0.05 * (1.0 - dice.uniform()).ln()) * (0.02 * dice.normal()).exp();
        (0..rounds).map(|_| 1e6 * factor * once().powf(factor)).collect()
    };
    let (a, b) = (costs(1.0), costs(factor));
    let counts = |costs: &[f64]| -> Vec<Option<u64>> {
        costs.iter().map(|cost| Some((cost / 5e4) as u64)).collect()
    };
    let counts = Exchange::of_counts(counts(&a).into_iter(), counts(&b).into_iter());
    let spreads = Exchange::of_spreads(&a, &b);
    let [spreads, counts] = [&spreads, &counts]
        .map(|own| own.as_ref().map_or(&SummarizedSamples(None, None) as &dyn Samples, |own| own));
    let together = judge([&Rounds(&a, &b), spreads, counts], Correction::FalseCoverage, None);
    json!([said(&finding(&a, &b, 4, 0.05)), together.iter().map(said).collect::<Vec<_>>()])
}

/// The synthetic run in which each row with one figure comes out a little else, and one longer.
fn rerun(dice: &mut Dice, factor: f64) -> Run {
    let mut run = synthetic::run();
    for row in synthetic::run().rows.iter() {
        if matches!(row.outcome, Outcome::Figure(_) | Outcome::Level { .. }) {
            let own = if row.id == LONGER { factor } else { 1.0 };
            run = slower(&run, &row.id, own * (0.01 * dice.normal()).exp());
        }
    }
    run.id = format!("{:08x}{}", dice.next() as u32, &run.id[8..]);
    run
}

fn of_runs(dice: &mut Dice, factor: f64) -> Value {
    let kept: Vec<Run> = (0..4).map(|_| rerun(dice, 1.0)).collect();
    let [a, b] = [1.0, factor].map(|factor| Operand::from_run("side", rerun(dice, factor)));
    let options = Options { margin: 0.05, fail_above: Some(0.05), normalize: None };
    let found =
        compare::compare(&a, &b, std::slice::from_ref(&kept), &|_| true, &options).expect("rows");
    let of = |id: &str| found.rows.iter().find(|row| row.id == id).map(|row| json!(row));
    let mut again = |_: &[String]| Ok::<_, std::fmt::Error>(rerun(dice, factor));
    let first = b.runs()[0].clone();
    let gate = gate::judge_run(&a, first, &kept, 0.05, &mut again).expect("rows");
    let longer = gate.rows.iter().find(|row| row.row == LONGER);
    json!([of(LONGER), of("memory.latency/L2"), found.crossed, longer, gate.crossed])
}

fn of_sets(dice: &mut Dice) -> Value {
    let sets: Vec<(char, Run)> = "ABBA".chars().map(|set| (set, rerun(dice, 1.0))).collect();
    let test = selftest(&sets, 0.05).expect("rows");
    json!([test.among, test.false_alarms, test.rows[..4]])
}

fn of_past(dice: &mut Dice, runs: usize, factor: f64) -> Value {
    let level = |at: usize| if at > runs / 2 { factor.ln() } else { 0.0 };
    let reading = |at| Reading {
        ln: level(at) + 0.01 * dice.normal(),
        within: Variance { value: 1e-5, df: 7.0 },
    };
    let readings: Vec<Reading> = (0..runs).map(reading).collect();
    json!(changes(&Past::from_readings(&readings, Wander::Cycles)))
}

#[test]
fn what_is_said_of_changes_stays() {
    let mut dice = Dice(1);
    let mut text = String::new();
    for factor in [1.0, 1.03, 1.4] {
        for size in [5, 9, 30] {
            text += &format!("{size} rounds {}\n", of_rounds(&mut dice, size, factor));
            text += &format!("{size} pasts {}\n", of_past(&mut dice, size, factor));
        }
        text += &format!("runs {}\n", of_runs(&mut dice, factor));
    }
    text += &format!("sets {}\n", of_sets(&mut dice));
    insta::assert_snapshot!(text);
}
