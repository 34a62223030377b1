//! Compares two sides row by row.

use crate::bases::Bases;
use crate::comparison::{Comparison, Method, SideFacts};
use crate::core_unit::CoreUnit;
use crate::normalize::Reference;
use crate::operand::Operand;
use crate::options::{CompareError, Options};
use crate::row::{ComparedRow, RowPair, Rule};
use crate::shared::{keys, of_runs, of_side};
use crate::{alike, shared};
use model::compare::finding::{Correction, LEVEL, Verdict, judge};
use model::compare::gate::Grown;
use model::compare::runs::{Tested, detectable_changes, findings};
use model::run::Run;
use model::summary::Key;
use std::collections::HashSet;

/// Compares B with the baseline A. `kept` are groups of other runs, alike
/// within each group, that say what runs differ by; `wanted` picks rows by id.
pub fn compare(
    a: &Operand,
    b: &Operand,
    kept: &[Vec<Run>],
    wanted: &dyn Fn(&str) -> bool,
    options: &Options,
) -> Result<Comparison, CompareError> {
    let all_keys = keys(&[a, b]);
    let core_unit = CoreUnit::choose(a, b, options);
    let sides = [of_side(a, &all_keys), of_side(b, &all_keys)];
    let in_both = |at: usize| {
        let has = |side: &Vec<shared::Has>| !matches!(side[at], shared::Has::Nothing);
        wanted(&all_keys[at].id) && sides.iter().all(has)
    };
    let own = [a, b].map(Operand::runs);
    let mut groups_of_runs = groups(own.into_iter(), &all_keys, &in_both);
    let own = groups_of_runs.len();
    groups_of_runs.extend(groups(kept.iter().map(Vec::as_slice), &all_keys, &in_both));
    let rule = Rule { cores_alike: core_unit.is_cycles(), kept: groups_of_runs, own };
    let bases = Bases::from_sides(&all_keys, &sides, &rule);
    let reference = Reference::from_options(options, &all_keys, &sides, &rule, &bases)?;

    let (mut rows, mut points) = (Vec::new(), Vec::new());
    let (mut only_in_a, mut only_in_b) = (Vec::new(), Vec::new());
    let mut missing = HashSet::new();
    // A row's modes follow it, and are figures of their own where it has two
    // states: else they would be the same test twice.
    let mut in_modes = false;
    for (at, key) in all_keys.iter().enumerate().filter(|(_, k)| wanted(&k.id)) {
        let in_a = &sides[0][at];
        let row = bases.row_pair(key, at, &sides);
        if key.mode.is_none() {
            in_modes = row.as_ref().is_some_and(RowPair::is_in_modes);
        } else if !in_modes {
            continue;
        }
        match row {
            Some(row) if key.at.is_empty() => rows.push(reference.applied(row)),
            Some(row) => points.push(reference.applied(row)),
            // A side that was not measured is no row of the other's alone, and a mode or
            // a point no row of its own.
            None if key.mode.is_none() => {
                let in_b_alone = matches!(in_a, shared::Has::Nothing);
                if missing.insert((in_b_alone, &key.id)) {
                    match in_b_alone {
                        true => only_in_b.push(key.id.clone()),
                        false => only_in_a.push(key.id.clone()),
                    }
                }
            }
            None => {}
        }
    }
    if rows.is_empty() && points.is_empty() {
        let some = all_keys.iter().any(|key| !wanted(&key.id));
        return Err(CompareError::NothingShared {
            a: a.name.clone(),
            b: b.name.clone(),
            of: if some { " among those asked for" } else { "" },
        });
    }
    let rows = found(rows, options);
    Ok(Comparison {
        a: SideFacts::from_operand(a),
        b: SideFacts::from_operand(b),
        differences: of_latest(a, b, alike::differences),
        unknown_on_both: of_latest(a, b, alike::unknown_on_both),
        method: Method {
            margin: options.margin,
            level: LEVEL,
            cycles: core_unit.to_string(),
            kept_runs: rule.kept.iter().map(|(count, _)| *count).collect(),
            normalized: reference.words,
            fail_above: options.fail_above,
        },
        crossed: crossed(&rows),
        rows,
        points: found(points, options),
        only_in_a,
        only_in_b,
    })
}

/// What two sides of runs are in relation to each other, by their latest ones.
fn of_latest<T>(a: &Operand, b: &Operand, of: fn(&Run, &Run) -> Vec<T>) -> Vec<T> {
    match (a.runs().first(), b.runs().first()) {
        (Some(a), Some(b)) => of(a, b),
        _ => Vec::new(),
    }
}

/// The groups that say what runs differ by: those with several runs. A run
/// without any row that is compared is not counted.
fn groups<'r>(
    runs: impl Iterator<Item = &'r [Run]>,
    keys: &[Key],
    compared: &dyn Fn(usize) -> bool,
) -> Vec<(usize, Vec<Vec<shared::RunFigure>>)> {
    let group = |runs: &[Run]| {
        let all = of_runs(runs, keys);
        let figures = all.iter().enumerate().filter(|(at, _)| compared(*at));
        let with_any: HashSet<usize> =
            figures.flat_map(|(_, own)| own.iter().map(|figure| figure.run)).collect();
        (with_any.len(), all)
    };
    runs.map(group).filter(|&(count, _)| count >= 2).collect()
}

/// The rows with their findings. Those without a ratio were no test.
pub(super) fn found(rows: Vec<RowPair>, options: &Options) -> Vec<ComparedRow> {
    let tests: Vec<Tested> = rows.iter().filter_map(RowPair::tested).collect();
    let findings = findings(&tests, options.margin);
    let mut answers = findings.into_iter().zip(detectable_changes(&tests));
    let by_row: Vec<(Verdict, Option<f64>)> = rows
        .iter()
        .map(|row| {
            let own = row.tested().and_then(|_| answers.next());
            own.unwrap_or((Verdict::CannotTell, None))
        })
        .collect();
    rows.into_iter()
        .zip(by_row)
        .map(|(row, (finding, detectable))| row.answered(finding, detectable, options.fail_above))
        .collect()
}

/// The times that surely grew beyond the gate: the chance of any wrong one is at most [`LEVEL`].
fn crossed(rows: &[ComparedRow]) -> Vec<String> {
    let (times, grown): (Vec<&ComparedRow>, Vec<&Grown>) =
        rows.iter().filter_map(|row| Some((row, row.grown.as_ref()?))).unzip();
    let found = judge(grown, Correction::Holm(LEVEL), None);
    let crossed = times.iter().zip(found).filter(|(_, found)| found.is_different());
    crossed.map(|(row, _)| row.name()).collect()
}
