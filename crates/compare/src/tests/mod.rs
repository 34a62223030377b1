//! Comparisons of the synthetic run with changed copies of itself: this file has the helpers, the others a
//! topic each. How comparisons are printed is tested in `crates/view/src/tests`, the statistics in
//! `crates/model/tests`.

mod document;
mod findings;
mod kept_runs;
mod modes;
mod normalized;
mod paired;
mod published;

use super::operand::Operand;
use super::*;
use crate::references::References;
use model::compare::finding;
use model::compare::measure::Measure;
use model::estimate::{Estimate, Verdict};
use model::machine::Fact;
use model::run::{Bound, Outcome, Run};
use model::synthetic::{self, ok_outcome, slower};
use model::unit::Unit;

const USUAL: Options = Options { margin: 0.05, fail_above: None, normalize: None };

fn normalized(normalize: Normalize) -> Options {
    Options { normalize: Some(normalize), ..USUAL }
}

fn try_with_kept(
    a: &Run,
    b: &Run,
    kept: &[Vec<Run>],
    options: &Options,
) -> Result<Comparison, CompareError> {
    let [a, b] = [("a", a), ("b", b)].map(|(name, run)| Operand::from_run(name, run.clone()));
    compare(&a, &b, kept, &|_| true, options)
}

fn set(a: &Run, b: &Run, options: &Options) -> Comparison {
    try_with_kept(a, b, &[], options).expect("shared rows")
}

/// Compares with other kept runs.
fn compare_with_kept(a: &Run, b: &Run, kept: Vec<Run>, options: &Options) -> Comparison {
    try_with_kept(a, b, &[kept], options).expect("shared rows")
}

/// Why it is refused.
fn refused(a: &Run, b: &Run, kept: &[Vec<Run>], options: &Options) -> String {
    let refused = try_with_kept(a, b, kept, options).expect_err("refused");
    refused.to_string()
}

/// Its rows that are single figures.
fn singles(run: &Run) -> Vec<&str> {
    let single = run.rows.iter().filter(|row| row.estimate().is_some());
    single.map(|row| row.id.as_str()).collect()
}

/// Kept runs like this one in which these rows come and go together.
fn drifting(run: &Run, ids: &[&str]) -> Vec<Run> {
    let run_of = |factor: &f64| {
        let each = ids.iter().fold(run.clone(), |run, id| slower(&run, id, *factor));
        Run { id: format!("{factor}"), ..each }
    };
    [1.0, 1.2, 0.9, 1.1].iter().map(run_of).collect()
}

fn row<'a>(c: &'a Comparison, name: &str) -> &'a ComparedRow {
    let found = c.rows.iter().find(|row| row.name() == name);
    found.unwrap_or_else(|| panic!("{name} is not compared"))
}

/// Everything the comparison says about a row, under a line with what was compared.
fn described(what: &str, row: &ComparedRow) -> String {
    let number = |value: f64| format!("{value:.4}");
    let end = |value: Option<f64>| value.map_or("-".into(), number);
    let [a, b] = [&row.a, &row.b].map(|side| {
        let ends = [side.value, side.low, side.high].map(end).join(" ");
        format!("{ends} {:?}", side.verdicts)
    });
    let ratio = row.ratio.map_or("no ratio".into(), |r| {
        let normalized = if r.normalized { ", normalized" } else { "" };
        let ends = [Some(r.value), r.low, r.high, r.p_value].map(end).join(" ");
        format!("ratio {ends}, error {:.4}{normalized}", r.standard_error)
    });
    format!(
        "{what}\n  {}: {:?} by {:?}, {}: {a} | {b}\n  {ratio}, detectable {}: {:?} {:?} {:?}\n",
        row.name(),
        row.measure,
        row.by_mode,
        row.unit,
        end(row.detectable),
        row.finding,
        row.direction,
        row.why.iter().map(ToString::to_string).collect::<Vec<_>>()
    )
}

/// Changes the estimates of a row.
fn change(run: &mut Run, id: &str, change: impl Fn(&mut Estimate)) {
    for row in run.rows.iter_mut().filter(|row| row.id == id) {
        match &mut row.outcome {
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => change(estimate),
            Outcome::Curve { points, .. } => {
                points.iter_mut().for_each(|point| change(&mut point.estimate));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A row of the run with another figure, under another name.
fn add_row(run: &mut Run, id: &str, unit: Unit, ns: f64) {
    let mut row = run.row("cpu.add_i32").expect("there").clone();
    row.id = id.into();
    row.unit = unit;
    row.bound = Bound::Memory;
    row.outcome = ok_outcome(ns, ns * 0.01);
    run.rows.retain(|row| row.id != id);
    run.rows.push(row);
}

fn with_bandwidth(ns: f64) -> Run {
    let mut run = synthetic::run();
    let unit = Unit::Bandwidth { bytes_per_op: 8.0 };
    add_row(&mut run, "memory.made_up", unit, ns);
    run
}
