//! A new run against a baseline, for machines that decide: what looks slower is
//! measured again, and only what is slower in two of three runs is across. The
//! statistics are `model::compare::gate`; docs/history.md tells them in words.

use super::operand::{self, Operand};
use super::{
    CompareError, ComparedRow, Comparison, Difference, MEMORY_REFERENCE, Normalize, Options,
    compare,
};
use model::compare::finding;
use model::compare::gate::{LEVEL, RUNS, SURELY, Watched, another_run, decided};
use model::compare::measure::Measure;
use model::estimate::Verdict;
use model::run::{Row, Run};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// How far from 1 the interval of a row that is the same may reach.
const MARGIN: f64 = 0.05;

#[derive(Serialize, Clone, Debug)]
pub struct Gate {
    /// The baseline as it was named.
    pub baseline: String,
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
    /// In what the first run differs from the baseline apart from its figures.
    pub differences: Vec<Difference>,
}

/// A row against the gate.
#[derive(Serialize, Clone, Debug, Default)]
pub struct GateRow {
    /// Row and mode in words.
    pub row: String,
    /// The row's id.
    #[serde(skip)]
    pub row_id: String,
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
    pub fn judged(&self) -> usize {
        self.rows.iter().filter(|row| row.is_judged()).count()
    }
}

impl GateRow {
    /// Whether any run could tell it.
    pub fn is_judged(&self) -> bool {
        self.time_ratios.iter().any(Option::is_some)
    }

    /// The answer as printed.
    pub fn answer_text(&self) -> &'static str {
        match (self.crossed, self.is_judged()) {
            (true, _) => "SLOWER",
            (_, true) => "not shown",
            (_, false) => finding::Verdict::CannotTell.printed(),
        }
    }
}

/// Why a run can't be judged.
#[derive(Debug, thiserror::Error)]
pub enum GateError<E> {
    /// No row in common.
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error("can't measure again: {0}")]
    Again(E),
}

/// Judges a run. `recent` are kept runs (without this one), which say what runs
/// differ by; `again` measures rows once more, in fresh processes.
///
/// # Errors
/// If the two have no row in common, or `again` fails.
pub fn judge_run<E>(
    baseline: &Operand,
    first: Run,
    recent: &[Run],
    fail_above: f64,
    again: &mut dyn FnMut(&[String]) -> Result<Run, E>,
) -> Result<Gate, GateError<E>> {
    let baseline = &with_figures(baseline);
    let comparison = set_against(baseline, first, recent, fail_above, &|_| true)?;
    let mut judged: Vec<JudgedRow> = Vec::new();
    for row in &comparison.rows {
        let became_unreliable =
            row.a.verdicts.iter().all(is_reliable) && !row.b.verdicts.iter().all(is_reliable);
        if row.grown.is_some() || became_unreliable {
            judged.push(JudgedRow::of_first(row, fail_above));
        }
    }
    let ids = to_measure(&judged);
    let mut runs = 1;
    while runs < RUNS && another_run(judged.iter().map(|row| &row.watched)) {
        let run = again(&ids).map_err(GateError::Again)?;
        let own: HashSet<&str> = ids.iter().map(String::as_str).collect();
        let wanted = |id: &str| own.contains(id);
        let next = match set_against(baseline, run, recent, fail_above, &wanted) {
            Ok(next) => next.rows,
            // What is missing this time can't be judged.
            Err(CompareError::NothingShared { .. }) => Vec::new(),
            Err(other) => return Err(other.into()),
        };
        let next: HashMap<String, &ComparedRow> = next.iter().map(|r| (r.name(), r)).collect();
        for judged in &mut judged {
            if judged.watched.is_looked_at_again() {
                judged.say(next.get(&judged.row.row).copied());
            }
        }
        runs += 1;
    }
    let answers = decided(judged.iter().map(|row| &row.watched));
    let rows: Vec<GateRow> = judged
        .into_iter()
        .zip(answers)
        .map(|(judged, answer)| GateRow {
            p_values: judged.watched.p_values().to_vec(),
            p_value: answer.p_value.unwrap_or(1.0),
            crossed: answer.is_different(),
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
struct JudgedRow {
    row: GateRow,
    watched: Watched,
}

impl JudgedRow {
    fn of_first(row: &ComparedRow, fail_above: f64) -> JudgedRow {
        let mut judged = JudgedRow {
            row: GateRow {
                row: row.name(),
                row_id: row.id.clone(),
                p_value: 1.0,
                ..GateRow::default()
            },
            watched: Watched::of_first(row.grown.as_ref(), fail_above),
        };
        judged.push(Some(row));
        judged
    }

    /// A further run, of which the row may be missing.
    fn say(&mut self, found: Option<&ComparedRow>) {
        // A ratio of another kind than the first one's is no second witness of it.
        let alike = found.filter(|row| {
            !self.row.is_judged()
                || (row.measure, is_normalized(row)) == (self.row.measure, self.row.normalized)
        });
        self.watched.say(alike.and_then(|row| row.grown.as_ref()));
        self.push(alike);
    }

    fn push(&mut self, found: Option<&ComparedRow>) {
        let grown = found.and_then(|row| row.grown);
        if let (Some(row), Some(_), false) = (found, grown, self.row.is_judged()) {
            self.row.measure = row.measure;
            self.row.normalized = is_normalized(row);
        }
        self.row.time_ratios.push(grown.map(|grown| grown.time_ratio));
        self.row.raw_time_ratios.push(grown.map(|grown| grown.raw_time_ratio));
    }
}

fn is_normalized(row: &ComparedRow) -> bool {
    row.ratio.is_some_and(|ratio| ratio.normalized)
}

/// Whether a figure of this verdict can be set against another.
fn is_reliable(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Ok | Verdict::Noisy | Verdict::Biased)
}

/// The baseline without the rows of single runs that are no figure to rely on,
/// where other runs of it have one: one run in ten that a neighbour spoilt would
/// leave the row without an answer.
fn with_figures(baseline: &Operand) -> Operand {
    let is_reliable = |row: &Row| row.estimate().is_none_or(|e| is_reliable(&e.verdict));
    let mut runs = baseline.runs().to_vec();
    let reliable: HashSet<String> = runs
        .iter()
        .flat_map(|run| &run.rows)
        .filter(|row| row.estimate().is_some() && is_reliable(row))
        .map(|row| row.id.clone())
        .collect();
    for run in &mut runs {
        run.rows.retain(|row| is_reliable(row) || !reliable.contains(&row.id));
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
    let new = Operand::from_run("this run", run);
    let kept = operand::kept_like(&[baseline, &new], recent);
    compare(baseline, &new, &kept, wanted, &options)
}

/// Ids to measure again, with what they are normalized by.
fn to_measure(judged: &[JudgedRow]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    let again = || judged.iter().filter(|row| row.watched.is_looked_at_again());
    // A row that could not be judged may turn out to be one that is.
    let normalized = |row: &JudgedRow| row.row.normalized || !row.row.is_judged();
    let any = again().any(normalized) && judged.iter().any(|row| row.row.normalized);
    let reference = any.then_some(MEMORY_REFERENCE);
    for id in again().map(|row| row.row.row_id.as_str()).chain(reference) {
        if known.insert(id) {
            ids.push(id.to_owned());
        }
    }
    ids
}
