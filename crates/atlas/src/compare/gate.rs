//! A new run against a baseline, for machines that decide: what looks slower is
//! measured again, and only what is slower in two of three runs is across. The
//! statistics are `model::compare::gate`; docs/history.md tells them in words.

use super::operand::{self, Operand, OperandError, Source, USED};
use super::{
    CompareError, ComparedRow, Comparison, Difference, MEMORY_REFERENCE, Normalize, Options, alike,
    compare,
};
use crate::index::Index;
use crate::references::References;
use crate::store::{self, Store, StoreError};
use model::compare::gate::{LEVEL, RUNS, SURELY, Said, Watched, another_run, decided};
use model::compare::measure::Measure;
use model::estimate::Verdict;
use model::run::{Outcome, Row, Run};
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;

/// How far from 1 the interval of a row that is the same may reach.
const MARGIN: f64 = 0.05;

/// What came of it.
#[derive(Serialize, Clone, Debug)]
pub struct Gate {
    /// The baseline as it was named.
    pub baseline: String,
    /// Runs of it.
    pub baseline_runs: usize,
    /// By how much a row's time may grow, as a share.
    pub fail_above: f64,
    /// The chance of any wrong row across.
    pub level: f64,
    /// Runs that were made: 1, or up to 3 of the rows that looked slower.
    pub runs: usize,
    /// The rows that were judged.
    pub rows: Vec<GateRow>,
    /// Names of those that are across.
    pub crossed: Vec<String>,
    /// In what the first run differs from the baseline beside its figures.
    pub differences: Vec<Difference>,
}

/// A row against the gate.
#[derive(Serialize, Clone, Debug)]
pub struct GateRow {
    /// Row and mode in words.
    pub row: String,
    /// Which of its figures is compared; absent where no run could tell.
    pub measure: Option<Measure>,
    /// Whether its ratios have the reference workload taken out.
    pub normalized: bool,
    /// Its time over the baseline's in each run, none where the run could not
    /// tell; of a row that was not looked at again in one run.
    pub time_ratios: Vec<Option<f64>>,
    /// The same as measured, without a reference workload taken out.
    pub raw_time_ratios: Vec<Option<f64>>,
    /// The chance of each where the row grew by no more than half of what the
    /// gate allows; 1 where it did not come out beyond the gate.
    pub p_values: Vec<f64>,
    /// The chance of all together; 1 where it was not looked at again to the
    /// end.
    pub p_value: f64,
    /// Whether it is across.
    pub crossed: bool,
}

impl Gate {
    /// How many rows any run could tell.
    pub fn told(&self) -> usize {
        self.rows.iter().filter(|row| row.is_told()).count()
    }
}

impl GateRow {
    /// Whether any run could tell it.
    pub fn is_told(&self) -> bool {
        self.time_ratios.iter().any(Option::is_some)
    }
}

/// Why there is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Nothing of that name.
    #[error(transparent)]
    Operand(#[from] OperandError),
    /// The kept runs can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something that is not measured here.
    #[error("{name} can't be a baseline: {why}")]
    NoRuns {
        /// The name.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// Curves of what is to be measured, and nothing else of it.
    #[error(
        "the baseline {name} has no single figure or level of what would be measured ({rows}), and \
         points of curves and maps are not judged: `latlas compare` sets them against each other"
    )]
    OnlyPoints {
        /// The name.
        name: String,
        /// Which rows.
        rows: String,
    },
    /// None of the rows that are to be measured.
    #[error("the baseline {name} has no figure of the rows that would be measured ({rows})")]
    NothingShared {
        /// The name.
        name: String,
        /// Which rows.
        rows: String,
    },
}

/// Why a run can't be judged.
#[derive(Debug, thiserror::Error)]
pub enum GateError<E> {
    /// No row in common.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// Measuring again went wrong.
    #[error("can't measure again: {0}")]
    Again(E),
}

/// The baseline that a name means: a file of that name, all kept runs with that
/// tag that are like the newest of them (at most ten), or whatever `compare`
/// takes, but for published tables. `rows` are those that are to be measured. What the index had to do beside is
/// `told`, a line each.
///
/// # Errors
/// If it is none, or has none of the rows.
pub fn baseline(
    name: &str,
    store: &Result<Store, StoreError>,
    references: &References,
    rows: &[String],
    told: &mut Vec<String>,
) -> Result<Operand, BaselineError> {
    let tagged = match store {
        Ok(store) if !Path::new(name).is_file() => tagged(name, store, told)?,
        _ => Vec::new(),
    };
    let operand = match tagged.is_empty() {
        true => operand::find(name, store, references)?,
        false => Operand::of_runs(name, tagged),
    };
    let no = |why| BaselineError::NoRuns {
        name: name.to_owned(),
        why,
    };
    if matches!(operand.source, Source::Published(_)) {
        return Err(no(
            "it is a published table, and a gate needs runs of this machine",
        ));
    }
    if operand.runs().iter().any(|run| run.commands.is_some()) {
        return Err(no("it is a run of commands (`latlas exec` compares those)"));
    }
    if operand.runs().iter().any(|run| run.imported.is_some()) {
        return Err(no("another program measured it"));
    }
    let has = |id: &str, row: &Row| {
        let rest = row.id.strip_prefix(id);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let own = operand.runs().iter().flat_map(|run| &run.rows);
    let shared: Vec<&Row> = own
        .filter(|row| rows.iter().any(|id| has(id, row)))
        .collect();
    if !shared.iter().any(|row| row.estimate().is_some()) {
        const NAMED: usize = 5;
        let more = if rows.len() > NAMED { ", ..." } else { "" };
        let some: Vec<&str> = rows.iter().take(NAMED).map(String::as_str).collect();
        let (name, rows) = (name.to_owned(), some.join(", ") + more);
        let curve = |row: &&Row| matches!(row.outcome, Outcome::Curve { .. } | Outcome::Map { .. });
        return Err(match shared.iter().any(curve) {
            true => BaselineError::OnlyPoints { name, rows },
            false => BaselineError::NothingShared { name, rows },
        });
    }
    Ok(operand)
}

/// Kept runs with this tag, the newest first, as far as they are like it.
fn tagged(tag: &str, store: &Store, told: &mut Vec<String>) -> Result<Vec<Run>, StoreError> {
    if store.runs_tagged(tag)?.is_empty() {
        return Ok(Vec::new());
    }
    let index = Index::open(store.clone())?;
    let kept = index.runs();
    told.extend(index.told());
    let kept = kept?.into_iter();
    let paths = kept.filter(|run| run.tags.iter().any(|own| own == tag));
    let mut runs: Vec<Run> = Vec::new();
    for kept in paths {
        let run = operand::without_samples(store::read(&kept.path)?);
        if runs.first().is_none_or(|newest| alike(newest, &run)) {
            runs.push(run);
        }
        if runs.len() == USED {
            break;
        }
    }
    Ok(runs)
}

/// Judges a run. `recent` are kept runs (without this one), which say what runs
/// differ by; `again` measures rows once more, in fresh processes.
///
/// # Errors
/// If the two have no row in common, or `again` fails.
pub fn judge<E>(
    baseline: &Operand,
    first: Run,
    recent: &[Run],
    fail_above: f64,
    again: &mut dyn FnMut(&[String]) -> Result<Run, E>,
) -> Result<Gate, GateError<E>> {
    let baseline = &with_figures(baseline);
    let comparison = set_against(baseline, first, recent, fail_above, &|_| true)?;
    let mut judged: Vec<Judged> = Vec::new();
    for row in &comparison.rows {
        let untold = row.a.verdicts.iter().all(tells) && !row.b.verdicts.iter().all(tells);
        if row.grown.is_some() || untold {
            judged.push(Judged::of_first(row, fail_above));
        }
    }
    let ids = to_measure(&judged);
    let mut runs = 1;
    while runs < RUNS && another_run(&watched(&judged)) {
        let run = again(&ids).map_err(GateError::Again)?;
        let wanted = |id: &str| ids.iter().any(|own| own == id);
        let next = match set_against(baseline, run, recent, fail_above, &wanted) {
            Ok(next) => next.rows,
            // What is not there this time can't be told.
            Err(CompareError::NothingShared { .. }) => Vec::new(),
            Err(other) => return Err(other.into()),
        };
        for judged in &mut judged {
            if judged.watched.is_looked_at_again() {
                let name = &judged.row.row;
                judged.say(next.iter().find(|found| found.name() == *name));
            }
        }
        runs += 1;
    }
    let answers = decided(&watched(&judged));
    let rows: Vec<GateRow> = judged
        .into_iter()
        .zip(answers)
        .map(|(judged, answer)| GateRow {
            p_values: judged.watched.p_values().to_vec(),
            p_value: answer.p_value,
            crossed: answer.crossed,
            ..judged.row
        })
        .collect();
    let crossed = rows.iter().filter(|row| row.crossed);
    Ok(Gate {
        baseline: baseline.name.clone(),
        baseline_runs: baseline.runs().len(),
        fail_above,
        level: LEVEL,
        runs,
        crossed: crossed.map(|row| row.row.clone()).collect(),
        rows,
        differences: comparison.differences,
    })
}

/// A row on the way to its answer.
struct Judged {
    id: String,
    row: GateRow,
    watched: Watched,
}

impl Judged {
    fn of_first(row: &ComparedRow, fail_above: f64) -> Judged {
        let said = said(row);
        let mut judged = Judged {
            id: row.id.clone(),
            row: GateRow {
                row: row.name(),
                measure: None,
                normalized: false,
                time_ratios: Vec::new(),
                raw_time_ratios: Vec::new(),
                p_values: Vec::new(),
                p_value: 1.0,
                crossed: false,
            },
            watched: Watched::of_first(said.as_ref(), fail_above),
        };
        judged.remember(row, said);
        judged
    }

    /// A further run, of which the row may be missing.
    fn say(&mut self, found: Option<&ComparedRow>) {
        // A ratio of another kind than the first one's is no second witness of it.
        let alike = found.filter(|row| {
            !self.row.is_told()
                || (row.measure, is_normalized(row)) == (self.row.measure, self.row.normalized)
        });
        let said = alike.and_then(said);
        self.watched.say(said.as_ref());
        match alike {
            Some(row) => self.remember(row, said),
            None => self.push(None),
        }
    }

    fn remember(&mut self, row: &ComparedRow, said: Option<Said>) {
        if said.is_some() && !self.row.is_told() {
            self.row.measure = row.measure;
            self.row.normalized = is_normalized(row);
        }
        self.push(said);
    }

    fn push(&mut self, said: Option<Said>) {
        self.row.time_ratios.push(said.map(|said| said.time_ratio));
        let raw = said.map(|said| said.raw_ratio);
        self.row.raw_time_ratios.push(raw);
    }
}

/// What a comparison says of a row; nothing where it can't tell.
fn said(row: &ComparedRow) -> Option<Said> {
    row.grown.map(|grown| Said {
        time_ratio: grown.time_ratio,
        raw_ratio: grown.raw_time_ratio,
        p_surely: grown.p_value,
    })
}

fn is_normalized(row: &ComparedRow) -> bool {
    row.ratio.is_some_and(|ratio| ratio.normalized)
}

fn watched(rows: &[Judged]) -> Vec<Watched> {
    rows.iter().map(|row| row.watched.clone()).collect()
}

/// Whether a figure of this verdict can be set against another.
fn tells(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Ok | Verdict::Noisy)
}

/// The baseline without the rows of single runs that are no figure to rely on,
/// where other runs of it have one: one run in ten that a neighbour spoilt would
/// leave the row without an answer.
fn with_figures(baseline: &Operand) -> Operand {
    let tells = |row: &Row| row.estimate().is_none_or(|e| tells(&e.verdict));
    let mut runs = baseline.runs().to_vec();
    let told: HashSet<String> = runs
        .iter()
        .flat_map(|run| &run.rows)
        .filter(|row| row.estimate().is_some() && tells(row))
        .map(|row| row.id.clone())
        .collect();
    for run in &mut runs {
        run.rows.retain(|row| tells(row) || !told.contains(&row.id));
    }
    Operand::of_runs(baseline.name.clone(), runs)
}

/// One run against the baseline: rows bound by the core in cycles, memory over
/// its reference where both have it.
fn set_against(
    baseline: &Operand,
    run: Run,
    recent: &[Run],
    fail_above: f64,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Comparison, CompareError> {
    let options = Options {
        margin: MARGIN,
        fail_above: Some(fail_above * SURELY),
        normalize: Some(Normalize::Usual),
    };
    let new = Operand::run("this run", run);
    let kept = operand::kept_beside(&[baseline, &new], recent);
    compare(baseline, &new, &kept, wanted, &options)
}

/// Ids to measure again, with what they are normalized by.
fn to_measure(judged: &[Judged]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let again = || judged.iter().filter(|row| row.watched.is_looked_at_again());
    // A row that could not be told may turn out to be one that is.
    let normalized = |row: &Judged| row.row.normalized || !row.row.is_told();
    let any = again().any(normalized) && judged.iter().any(|row| row.row.normalized);
    let reference = any.then_some(MEMORY_REFERENCE);
    for id in again().map(|row| row.id.as_str()).chain(reference) {
        if !ids.iter().any(|own| own == id) {
            ids.push(id.to_owned());
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{self, synthetic};
    use crate::store::Taken;
    use std::convert::Infallible;

    const ROW: &str = "cpu.add_i32";

    /// Several kept runs that differ by a little, the newest first.
    fn kept() -> Vec<Run> {
        let little = [0.0, 0.002, -0.002, 0.001, -0.001];
        let runs = little.iter().enumerate().map(|(number, wander)| {
            let mut run = synthetic::slower(&synthetic::run(), ROW, 1.0 + wander);
            run.id = format!("000{number}0000-0000-4000-8000-000000000001");
            run
        });
        runs.collect()
    }

    fn slower(factor: f64) -> Run {
        let mut run = synthetic::slower(&synthetic::run(), ROW, factor);
        run.id = "ffff0000-0000-4000-8000-000000000001".into();
        run
    }

    /// The gate's answer where the row comes out so in the runs that are made,
    /// and which rows were measured again, run by run.
    fn judged(baseline: &Operand, factors: &[f64], share: f64) -> (Gate, Vec<Vec<String>>) {
        let mut asked: Vec<Vec<String>> = Vec::new();
        let mut again = |rows: &[String]| -> Result<Run, Infallible> {
            asked.push(rows.to_vec());
            let mut run = slower(factors[asked.len()]);
            run.rows.retain(|row| rows.contains(&row.id));
            Ok(run)
        };
        let gate = judge(baseline, slower(factors[0]), &kept(), share, &mut again);
        (gate.expect("judged"), asked)
    }

    fn of_runs() -> Operand {
        Operand::of_runs("main", kept())
    }

    #[test]
    fn what_is_as_before_is_measured_once() {
        let (gate, asked) = judged(&of_runs(), &[1.02], 0.05);
        assert_eq!((gate.runs, asked.len()), (1, 0));
        assert!(gate.crossed.is_empty() && gate.rows.len() > 5);
        assert_eq!(gate.baseline_runs, 5);
        let page = render::gate(&gate, false);
        assert!(page.contains("Not crossed: of "), "{page}");
    }

    #[test]
    fn two_of_three_runs_decide() {
        let (gate, asked) = judged(&of_runs(), &[1.10, 1.11, 1.09], 0.05);
        assert_eq!(asked, [[ROW], [ROW]], "that row alone");
        assert_eq!(gate.crossed, [ROW]);
        let row = gate.rows.iter().find(|row| row.row == ROW).expect("judged");
        let ratios: Vec<f64> = [1.10, 1.11, 1.09].to_vec();
        for (ratio, true_ratio) in row.time_ratios.iter().flatten().zip(ratios) {
            assert!((ratio - true_ratio).abs() < 0.01, "{row:?}");
        }
        let page = render::gate(&gate, false);
        for part in ["SLOWER", "CROSSED: 1 of ", ROW, "main"] {
            assert!(page.contains(part), "{part:?} is missing in\n{page}");
        }
        assert!(render::keeps_to(&page, render::COLUMNS), "{page}");
        // One odd run is no witness, whichever it is.
        for odd in [[1.3, 1.0, 1.0], [1.10, 1.0, 1.0]] {
            assert!(judged(&of_runs(), &odd, 0.05).0.crossed.is_empty());
        }
        let (late, _) = judged(&of_runs(), &[1.10, 1.0, 1.10], 0.05);
        assert_eq!(late.crossed, [ROW], "two of the three");
        // Surely slower, and not by as much as the gate allows.
        let (within, _) = judged(&of_runs(), &[1.045, 1.045, 1.045], 0.05);
        assert!(within.crossed.is_empty());
        let (wide, asked) = judged(&of_runs(), &[1.10, 1.11, 1.09], 0.25);
        assert!(wide.crossed.is_empty() && asked.is_empty());
    }

    fn with_verdict(mut run: Run, verdict: Verdict) -> Run {
        let row = run
            .rows
            .iter_mut()
            .find(|row| row.id == ROW)
            .expect("the row");
        let model::run::Outcome::Figure(estimate) = &mut row.outcome else {
            panic!("a figure");
        };
        estimate.verdict = verdict;
        run
    }

    #[test]
    fn what_one_run_could_not_tell_is_no_end() {
        // One spoilt run among the baseline's.
        let mut runs = kept();
        runs[2] = with_verdict(runs[2].clone(), Verdict::CannotTell);
        let spoilt = Operand::of_runs("main", runs);
        let (gate, _) = judged(&spoilt, &[1.10, 1.11, 1.09], 0.05);
        assert_eq!(gate.crossed, [ROW]);
        // And the run itself: it is measured again, and both others must speak.
        let first = with_verdict(slower(1.10), Verdict::Invalid);
        let gate = |again: f64| {
            let mut again = |_: &[String]| -> Result<Run, Infallible> { Ok(slower(again)) };
            judge(&of_runs(), first.clone(), &kept(), 0.05, &mut again).expect("judged")
        };
        assert_eq!(gate(1.10).crossed, [ROW]);
        let calm = gate(1.0);
        assert!(calm.crossed.is_empty());
        assert_eq!(calm.runs, 2, "no need of a third");
    }

    #[test]
    fn what_is_not_there_again_is_no_witness() {
        let mut asked = 0;
        let mut again = |_: &[String]| -> Result<Run, Infallible> {
            asked += 1;
            let mut run = slower(1.10);
            // Its probe can't be made this time.
            run.rows.retain(|row| row.id != ROW || asked > 1);
            Ok(run)
        };
        let gate = judge(&of_runs(), slower(1.10), &kept(), 0.05, &mut again).expect("judged");
        let row = gate.rows.iter().find(|row| row.row == ROW).expect("judged");
        assert_eq!((gate.runs, row.p_values[1]), (3, 1.0));
        // What each run said stands in its place.
        let told: Vec<bool> = row.time_ratios.iter().map(Option::is_some).collect();
        assert_eq!(told, [true, false, true]);
        assert_eq!(gate.crossed, [ROW], "two of three");
        let line = render::gate(&gate, false);
        let line = line.lines().find(|line| line.starts_with(ROW));
        let line = line.unwrap_or_default();
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells[5], "-", "{line}");
    }

    const MEMORY: &str = "memory.latency/L3";

    /// A run in which the reference and a row of memory came out so.
    fn of_memory(reference: f64, row: f64) -> Run {
        let run = synthetic::slower(&slower(1.0), MEMORY_REFERENCE, reference);
        in_ns(synthetic::slower(&run, MEMORY, row))
    }

    /// The run with latencies that the memory's pace sets, and not the core's.
    fn in_ns(mut run: Run) -> Run {
        for row in &mut run.rows {
            if row.id.starts_with("memory.latency/") {
                row.bound = model::run::Bound::Memory;
            }
        }
        run
    }

    fn kept_in_ns() -> Vec<Run> {
        kept().into_iter().map(in_ns).collect()
    }

    fn judged_over(baseline: &Operand, runs: &[Run]) -> Gate {
        let mut made = 0;
        let mut again = |_: &[String]| -> Result<Run, Infallible> {
            made += 1;
            Ok(runs[made].clone())
        };
        let kept = kept_in_ns();
        judge(baseline, runs[0].clone(), &kept, 0.05, &mut again).expect("judged")
    }

    fn in_memory() -> Operand {
        Operand::of_runs("main", kept_in_ns())
    }

    #[test]
    fn a_reference_that_became_faster_makes_no_row_slower() {
        let faster = vec![of_memory(0.8, 1.0); 3];
        let gate = judged_over(&in_memory(), &faster);
        let row = gate.rows.iter().find(|row| row.row == MEMORY);
        let row = row.expect("judged");
        assert!(row.normalized, "{row:?}");
        assert!(row.time_ratios[0].is_some_and(|ratio| ratio > 1.2));
        assert!(row.raw_time_ratios[0].is_some_and(|ratio| ratio < 1.01));
        assert!(gate.crossed.is_empty(), "{:?}", gate.crossed);
        // The whole memory became slower, and one row by itself.
        let all = vec![of_memory(1.25, 1.25); 3];
        assert!(
            !judged_over(&in_memory(), &all)
                .crossed
                .contains(&MEMORY.to_owned())
        );
        let own = vec![of_memory(1.0, 1.3); 3];
        let gate = judged_over(&in_memory(), &own);
        assert_eq!(gate.crossed, [MEMORY]);
        let page = render::gate(&gate, false);
        assert!(page.contains(MEMORY_REFERENCE), "{page}");
    }

    #[test]
    fn a_ratio_of_another_kind_is_no_witness() {
        let first = of_memory(1.0, 1.3);
        let mut without = first.clone();
        without.rows.retain(|row| row.id != MEMORY_REFERENCE);
        let gate = judged_over(&in_memory(), &[first, without.clone(), without]);
        let row = gate.rows.iter().find(|row| row.row == MEMORY);
        assert_eq!(row.expect("judged").p_values[1..], [1.0, 1.0]);
        assert!(gate.crossed.is_empty());
    }

    #[test]
    fn a_tag_names_its_runs_that_are_alike() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Ok(Store::in_directory(dir.path()));
        let references = References::embedded().expect("references");
        let rows = [ROW.to_owned()];
        let of = |name: &str, rows: &[String]| {
            baseline(name, &store, &references, rows, &mut Vec::new())
        };
        let keep = |number: u64, mut run: Run| {
            let own = store.as_ref().expect("store");
            run.started_unix_ms += number * 1000;
            own.save(&run).expect("saved");
            own.tag("main", &run.id, Taken::Shared).expect("tagged");
            run.id
        };
        let mut ids = Vec::new();
        for (number, mut run) in kept().into_iter().enumerate() {
            if number == 2 {
                run.machine.kernel = model::machine::Fact::known("6.99".to_string());
                keep(2, run);
            } else {
                ids.insert(0, keep(number as u64, run));
            }
        }
        let tagged = of("main", &rows).expect("a tag");
        let found: Vec<&str> = tagged.runs().iter().map(|run| &run.id[..]).collect();
        assert_eq!(
            found, ids,
            "all of the newest one's kernel, the newest first"
        );
        assert_eq!(of("last", &rows).expect("a run").runs().len(), 1);
        let line = |name: &str, rows: &[String]| of(name, rows).expect_err(name).to_string();
        assert!(line("2012", &rows).contains("published table"));
        assert!(line("last", &["net.nothing".to_owned()]).contains("no figure of the rows"));
        assert!(line("nosuch", &rows).contains("nothing to compare is called"));
        // A level is a row that the curve's measuring makes.
        assert!(of("last", &["memory.latency".to_owned()]).is_ok());
        let curve = line("last", &["memory.read/sequential".to_owned()]);
        assert!(
            curve.contains("points of curves and maps are not judged"),
            "{curve}"
        );
    }

    #[test]
    fn where_nothing_can_be_told_nothing_is_said_to_be_well() {
        let mut first = slower(1.0);
        first.rows.retain(|row| row.id == ROW);
        let first = with_verdict(first, Verdict::Invalid);
        let gate = judged_over(&of_runs(), &[first.clone(), first.clone(), first]);
        assert_eq!((gate.rows.len(), gate.told()), (1, 0));
        let page = render::gate(&gate, false);
        assert!(page.contains("Nothing could be judged"), "{page}");
    }
}
