//! The history that is asked for, or why there is none.

use crate::StoreError;
use crate::index::{Index, results};
use compare::history::{FollowedFigure, History, history};
use model::nearest::suggestion;
use model::phrases::several;
use model::run::{Axis, Run};
use model::summary::{KeptResult, MachineKey, MachineSummary};

/// Runs that are looked through for what a row may be called.
const LOOKED_THROUGH: usize = 10;

/// Machines that a message names.
const NAMED: usize = 5;

/// Why there is no history. Each message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The kept runs can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no stored run of this machine: run `latlas run`{others}")]
    NoRuns {
        /// Which machines there are instead, in words.
        others: String,
    },
    #[error("no stored run of a machine named {name:?}{suggestion} (machines: {machines})")]
    NoMachine { name: String, suggestion: String, machines: String },
    #[error("{count} machines are named {name:?}: give the first digits of a key ({machines})")]
    SeveralMachines { name: String, count: usize, machines: String },
    #[error("{row} is a curve: choose a point with --at ({points})")]
    NoPoint {
        row: String,
        /// Its points in the newest run that has it.
        points: String,
    },
    #[error("no stored run of this machine has {row} at {at} (the newest has {points})")]
    NoSuchPoint {
        row: String,
        at: String,
        /// Its points in the newest run that has it.
        points: String,
    },
    #[error("no stored run of this machine has {row}: run `latlas run {row}`")]
    NotMeasured { row: String },
    #[error("no row {row:?}{suggestion} (latlas list shows all)")]
    Unknown { row: String, suggestion: String },
    #[error("{count} stored runs of this machine have {row}, none of them since then")]
    NoneSince { row: String, count: usize },
}

/// This machine, of this key, which needs no name.
pub fn this_machine_of(index: &Index, key: &MachineKey) -> Result<MachineSummary, HistoryError> {
    let machines = machines(index)?;
    let own = machines.iter().find(|machine| machine.key == *key);
    match (own, machines.is_empty()) {
        (Some(own), _) => Ok(own.clone()),
        (None, true) => Err(StoreError::Empty(index.store().location()).into()),
        (None, false) => Err(HistoryError::NoRuns {
            others: format!("; or name a stored machine ({})", machine_list(&machines)),
        }),
    }
}

/// The machine that is meant, by its host's name or at least four digits of its
/// key, as everywhere ([`MachineSummary::is_called`]).
pub fn machine_of(index: &Index, name: &str) -> Result<MachineSummary, HistoryError> {
    match &machines_of(index, name)?[..] {
        [one] => Ok(one.clone()),
        found => Err(HistoryError::SeveralMachines {
            name: name.to_owned(),
            count: found.len(),
            machines: {
                let words = found.iter().map(|m| format!("{} ({})", m.key.0, m.line));
                several(&words.collect::<Vec<_>>(), NAMED)
            },
        }),
    }
}

/// The machines that are meant, in the same way: at least one.
pub fn machines_of(index: &Index, name: &str) -> Result<Vec<MachineSummary>, HistoryError> {
    let all = machines(index)?;
    let (found, others): (Vec<MachineSummary>, Vec<MachineSummary>) =
        all.into_iter().partition(|machine| machine.is_called(name));
    match found.is_empty() {
        false => Ok(found),
        true => Err(HistoryError::NoMachine {
            name: name.to_owned(),
            suggestion: suggestion(name, others.iter().map(MachineSummary::display_name)),
            machines: machine_list(&others),
        }),
    }
}

/// All machines; that there is none is no answer where no document can be read.
fn machines(index: &Index) -> Result<Vec<MachineSummary>, StoreError> {
    let all = index.machines()?;
    if all.is_empty() {
        index.check_readable()?;
    }
    Ok(all)
}

fn machine_list(machines: &[MachineSummary]) -> String {
    let names: Vec<&str> = machines.iter().map(MachineSummary::display_name).collect();
    if names.is_empty() { "none".into() } else { several(&names, NAMED) }
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct HistoryQuery<'a> {
    pub machine: &'a MachineKey,
    pub row: &'a str,
    /// The point; empty for a single figure.
    pub at: &'a [u64],
    pub figure: FollowedFigure,
    /// Only runs from then on, ms since 1970 UTC.
    pub since_unix_ms: Option<u64>,
    /// Only so many of the newest runs.
    pub last: Option<usize>,
}

/// The history of a row (or one point of it) on a machine. `known` are the rows
/// that can be measured, for what was probably meant.
pub fn find_history(
    index: &Index,
    query: &HistoryQuery,
    known: &[String],
) -> Result<History, HistoryError> {
    let HistoryQuery { machine, row, at, .. } = *query;
    let machines = machines(index)?;
    let Some(own) = machines.iter().find(|m| m.key == *machine) else {
        let others = match machines.is_empty() {
            true => String::new(),
            false => format!("; --machine shows another ({})", machine_list(&machines)),
        };
        return Err(HistoryError::NoRuns { others });
    };
    let mut found = index.history(machine, row, at)?;
    let count = found.len();
    if let Some(since) = query.since_unix_ms {
        found.retain(|(run, _)| run.started_unix_ms >= since);
    }
    if let Some(last) = query.last {
        found.drain(..found.len().saturating_sub(last));
    }
    match history(own.clone(), found, query.figure) {
        Some(history) => Ok(history),
        None if count > 0 => Err(HistoryError::NoneSince { row: row.to_owned(), count }),
        None => Err(why_none(index, machine, row, at, known)?),
    }
}

/// Why no run of the machine has it.
fn why_none(
    index: &Index,
    machine: &MachineKey,
    row: &str,
    at: &[u64],
    known: &[String],
) -> Result<HistoryError, HistoryError> {
    let mut rows: Vec<String> = known.to_vec();
    let runs = index.runs()?;
    let own = runs.iter().filter(|run| run.machine == *machine && !run.imported);
    for kept in own.take(LOOKED_THROUGH) {
        let Ok(run) = crate::read_run(&kept.path) else {
            continue;
        };
        if let Some(axes) = axes(&run, row) {
            let points = points(&run, row, &axes, at);
            let row = row.to_owned();
            return Ok(match at.is_empty() {
                true => HistoryError::NoPoint { row, points },
                false => HistoryError::NoSuchPoint { row, at: point(&axes, at), points },
            });
        }
        rows.extend(run.rows.into_iter().map(|row| row.id));
    }
    let row = row.to_owned();
    if rows.contains(&row) {
        return Ok(HistoryError::NotMeasured { row });
    }
    let suggestion = suggestion(&row, rows.iter().map(String::as_str));
    Ok(HistoryError::Unknown { row, suggestion })
}

/// What the points of a row are over; `None` for a single figure.
fn axes(run: &Run, id: &str) -> Option<Vec<Axis>> {
    Some(run.row(id)?.axes()).filter(|axes| !axes.is_empty())
}

/// A point as its axes are written: `16KiB`, or `16KiB,64B` of a map.
fn point(axes: &[Axis], at: &[u64]) -> String {
    let mut axes = axes.iter();
    let part = |&x: &u64| axes.next().map_or_else(|| x.to_string(), |axis| axis.value_text(x));
    at.iter().map(part).collect::<Vec<_>>().join(",")
}

/// Some points of a row, those nearest to the one that was asked for.
fn points(run: &Run, id: &str, axes: &[Axis], near: &[u64]) -> String {
    const SHOWN: usize = 12;
    let of_row = |result: KeptResult| (result.row == id).then_some(result.at);
    let all: Vec<Vec<u64>> = results(run).into_iter().filter_map(of_row).collect();
    let far = |at: &[u64]| -> f64 {
        let both = at.iter().zip(near);
        both.map(|(&x, &near)| ((x as f64 + 1.0) / (near as f64 + 1.0)).ln().abs()).sum()
    };
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by(|&a, &b| far(&all[a]).total_cmp(&far(&all[b])));
    places.truncate(SHOWN);
    places.sort_unstable();
    let shown: Vec<String> = places.into_iter().map(|at| point(axes, &all[at])).collect();
    let more = match all.len() > SHOWN {
        true => format!(", ... {} in all", all.len()),
        false => String::new(),
    };
    shown.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tests::numbered;
    use crate::suite::Home;

    #[test]
    fn a_history_is_one_machines_from_then_on_and_its_newest_runs() {
        let home = Home::in_directory();
        home.keep_three();
        let index = home.quiet();
        let began = |n| numbered(n, "any").started_unix_ms;
        let runs = |host: &str, since: Option<u64>, last: Option<usize>| {
            let machine = MachineKey::from_run(&numbered(0, host));
            let query = HistoryQuery {
                machine: &machine,
                row: "cpu.add_i32",
                at: &[],
                figure: FollowedFigure::Best,
                since_unix_ms: since,
                last,
            };
            let history = find_history(&index, &query, &[]).map_err(|error| error.to_string())?;
            assert_eq!(history.machine.key, machine);
            let runs = history.runs.iter().map(|entry| entry.run.id[..8].to_owned());
            Ok::<_, String>(runs.collect::<Vec<_>>())
        };
        let is = |ids: &[&str]| Ok(ids.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(runs("two", None, None), is(&["00000002"]));
        assert_eq!(runs("one", None, None), is(&["00000001", "00000003"]));
        assert_eq!(runs("one", Some(began(3)), Some(9)), is(&["00000003"]));
        assert_eq!(runs("one", Some(began(1)), Some(1)), is(&["00000003"]));
        let none = runs("one", Some(began(3) + 1), None).expect_err("none since");
        assert!(none.starts_with("2 stored runs of this machine"), "{none}");
        let none = runs("three", None, None).expect_err("no such machine");
        assert!(none.ends_with("another (one, two)"), "{none}");
    }

    #[test]
    fn this_machine_is_found_by_its_key_and_not_by_its_runs_time() {
        let home = Home::in_directory();
        let key = |host: &str| MachineKey::from_run(&numbered(0, host));
        let why = |index: &Index, host: &str| {
            let found = this_machine_of(index, &key(host)).map(|machine| machine.key);
            found.map_err(|error| error.to_string())
        };
        let none = why(&home.open_index(), "two").expect_err("nothing is stored");
        assert!(none.starts_with("no run in "), "{none}");
        home.keep_three();
        let index = home.quiet();
        for host in ["one", "two"] {
            assert_eq!(why(&index, host), Ok(key(host)));
        }
        assert_eq!(
            why(&index, "three"),
            Err("no stored run of this machine: run `latlas run`; or name a stored machine \
                 (one, two)"
                .into())
        );
    }

    #[test]
    fn why_there_is_no_history_is_said_of_the_machines_own_runs() {
        let home = Home::in_directory();
        home.keep_three();
        let index = home.quiet();
        let machine = machine_of(&index, "TWO").expect("its host's name").key;
        assert_eq!(machine_of(&index, &machine.0[..4]).expect("by key").key, machine);
        let why = |row: &str, at: &[u64]| {
            let known = ["net.rtt/tcp".to_owned()];
            let query = HistoryQuery {
                machine: &machine,
                row,
                at,
                figure: FollowedFigure::Best,
                since_unix_ms: None,
                last: None,
            };
            let error = find_history(&index, &query, &known).expect_err(row);
            error.to_string()
        };
        let errors = [
            why("memory.latency", &[]),
            why("memory.latency", &[1500]),
            why("memory.core_to_core", &[1, 9]),
            why("net.rtt/tcp", &[]),
            why("cpu.add_i23", &[]),
            machine_of(&index, "tw").expect_err("no such name").to_string(),
        ];
        insta::assert_snapshot!(errors.join("\n"));
    }
}
