//! Queries of the index: plain functions that may block.

use crate::app::App;
use crate::params::RunsParams;
use crate::problem::Problem;
use crate::wire::Row;
use compare::history::{FollowedFigure, History, history as levels_of};
use compare::operand::{FigureSource, Operand, kept_like};
use compare::{Comparison, Options, compare};
use model::keyed::Keyed;
use model::run::Run;
use model::summary::{KeptResult, KeptRun, MachineKey, MachineSummary};
use model::tally::Tally;
use model::unit::Unit;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use store::index::{Index, Percentile, RowStanding};
use store::operand::{self, OperandError};
use view::render::probe_of;

/// A page of the runs, newest first, and how many there are in all.
pub(crate) fn runs(index: &Index, params: &RunsParams) -> Result<(usize, Vec<KeptRun>), Problem> {
    let mut all = index.runs()?;
    if let Some(machine) = &params.machine {
        all.retain(|run| run.machine.0 == *machine);
    }
    let total = all.len();
    let page = all.into_iter().skip(params.offset as usize);
    Ok((total, page.take(params.limit as usize).collect()))
}

/// What came of the single figures of these runs.
pub(crate) fn tallies(index: &Index, runs: &[KeptRun]) -> Result<Vec<Tally>, Problem> {
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let mut results: Vec<Vec<KeptResult>> = vec![Vec::new(); runs.len()];
    for (place, result) in index.figures_of(&ids)? {
        results[place].push(result);
    }
    Ok(results.iter().map(|results| Tally::of_kept(results)).collect())
}

/// The newest run of each machine, with its tally.
pub(crate) fn newest_runs(index: &Index) -> Result<Vec<(KeptRun, Tally)>, Problem> {
    let mut seen = HashSet::new();
    let newest = index.runs()?.into_iter().filter(|run| seen.insert(run.machine.clone()));
    let newest: Vec<KeptRun> = newest.collect();
    let tallies = tallies(index, &newest)?;
    Ok(newest.into_iter().zip(tallies).collect())
}

/// The document of a run. Only a whole UUID names one, and only among those
/// that the store itself lists: no path is made of a stranger's text.
pub(crate) fn document_path(index: &Index, id: &str) -> Result<PathBuf, Problem> {
    let uuid = id.len() == 36 && id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    if uuid { Ok(index.document_path(&id.to_ascii_lowercase())?) } else { Err(Problem::NoRun) }
}

pub(crate) fn run_by_id(index: &Index, id: &str) -> Result<(KeptRun, Run), Problem> {
    let path = document_path(index, id)?;
    let run = store::read_run(&path)?;
    // The index has its tags; it may not have the run yet.
    let kept = index.run(&run.id)?;
    Ok((kept.unwrap_or_else(|| KeptRun::from_run(&run, path)), run))
}

/// All rows, with what the catalogue and the machine with the newest run say of
/// them; and that machine.
pub(crate) fn rows(
    index: &Index,
    app: &App,
) -> Result<(Vec<Row>, Option<MachineSummary>), Problem> {
    let newest = index.machines()?.into_iter().next();
    let latest = match &newest {
        Some(machine) => index.percentiles(&machine.key)?,
        None => Vec::new(),
    };
    let figures = latest.iter().filter(|figure| figure.at.is_empty());
    let figures: HashMap<&str, &Percentile> = figures.map(|p| (p.row.as_str(), p)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for (row, at) in index.rows(None)? {
        let point = u32::from(!at.is_empty());
        match rows.last_mut().filter(|last| last.row == row) {
            Some(last) => last.points += point,
            None => {
                let probe = probe_of(&app.options().probes, &row);
                let latest = figures.get(row.as_str());
                rows.push(Row {
                    title: probe.map(|probe| probe.title.clone()),
                    unit: latest.map(|p| p.unit).or_else(|| probe.map(|probe| probe.unit)),
                    value_ns: latest.map(|p| p.value_ns),
                    row,
                    points: point,
                });
            }
        }
    }
    Ok((rows, newest))
}

/// Points of a row, rising; none of a single figure.
pub(crate) fn points(index: &Index, row: &str) -> Result<Vec<Vec<u64>>, Problem> {
    let rows = index.rows(None)?.into_iter();
    let points = rows.filter(|(name, at)| name == row && !at.is_empty());
    Ok(points.map(|(_, at)| at).collect())
}

pub(crate) struct RowOverMachines {
    pub(crate) standing: RowStanding,
    pub(crate) unit: Unit,
    pub(crate) machines: Keyed<MachineSummary>,
}

impl RowOverMachines {
    /// Host name and line of a machine.
    pub(crate) fn name_of<'m>(&'m self, key: &'m MachineKey) -> (Option<&'m str>, &'m str) {
        let machine = self.machines.at_point(&key.0, &[]).next();
        machine.map_or((None, &key.0), |m| (m.host.as_deref(), &m.line))
    }

    /// All machines, those with a figure that counts first.
    pub(crate) fn counted_first(&self) -> Vec<MachineSummary> {
        let counted = self.standing.machines.iter().map(|own| &own.machine);
        let counted: HashSet<&MachineKey> = counted.collect();
        let is_counted = |machine: &MachineSummary| counted.contains(&machine.key);
        let machines = self.machines.iter().cloned();
        let (mut first, others): (Vec<MachineSummary>, Vec<MachineSummary>) =
            machines.partition(is_counted);
        first.extend(others);
        first
    }
}

pub(crate) fn over_machines(
    index: &Index,
    row: &str,
    at: &[u64],
) -> Result<RowOverMachines, Problem> {
    let standing = index.percentiles_of_row(row, at)?;
    let machines = Keyed::from(index.machines()?);
    // A machine of the standing has the row; else it is looked for on all.
    let first = standing.machines.first().map(|machine| &machine.machine);
    for key in first.into_iter().chain(machines.iter().map(|m| &m.key)) {
        if let Some((_, result)) = index.history(key, row, at)?.last() {
            return Ok(RowOverMachines { standing, unit: result.unit, machines });
        }
    }
    Err(Problem::NoRow)
}

pub(crate) fn machine_percentiles(index: &Index, key: &str) -> Result<Vec<Percentile>, Problem> {
    let machine = machine(index, key)?;
    Ok(index.percentiles(&machine.key)?)
}

fn machine(index: &Index, key: &str) -> Result<MachineSummary, Problem> {
    let mut machines = index.machines()?.into_iter();
    machines.find(|machine| machine.key.0 == key).ok_or(Problem::NoMachine)
}

/// Figures of a row on a machine, oldest first.
pub(crate) type RowFigures = Vec<(KeptRun, KeptResult)>;

/// A row on one machine, with its levels.
pub(crate) fn history(
    index: &Index,
    machine: MachineSummary,
    row: &str,
    at: &[u64],
) -> Result<Option<(RowFigures, History)>, Problem> {
    let figures = index.history(&machine.key, row, at)?;
    let history = levels_of(machine, figures.clone(), FollowedFigure::Best);
    Ok(history.map(|history| (figures, history)))
}

/// The same of the machine with this key.
pub(crate) fn history_of(
    index: &Index,
    key: &str,
    row: &str,
    at: &[u64],
) -> Result<(RowFigures, History), Problem> {
    let machine = machine(index, key).map_err(|problem| match problem {
        Problem::NoMachine => Problem::NoHistory,
        problem => problem,
    })?;
    history(index, machine, row, at)?.ok_or(Problem::NoHistory)
}

/// A side of a comparison. Unlike on the command line it can't be a file: the
/// names come from strangers.
fn side(
    name: &str,
    index: &Index,
    app: &App,
    messages: &mut Vec<String>,
) -> Result<Operand, Problem> {
    if let Some(table) = app.references().find(name) {
        return Ok(Operand {
            name: name.to_owned(),
            source: FigureSource::Published(table.clone()),
        });
    }
    if let Some(host) = name.strip_prefix('@') {
        let store = || Ok(index.store().clone());
        return operand::find_operand(name, &store(), app.references(), messages).map_err(
            |error| match error {
                OperandError::Store(error) => error.into(),
                _ => Problem::NoHost(host.to_owned()),
            },
        );
    }
    match document_path(index, name) {
        Ok(path) => Ok(Operand::from_run(name, store::read_run(&path)?)),
        Err(Problem::NoRun) => Err(Problem::NoSide {
            name: name.to_owned(),
            tables: app.references().keys().join(", "),
        }),
        Err(problem) => Err(problem),
    }
}

pub(crate) fn comparison(
    index: &Index,
    app: &App,
    a: &str,
    b: &str,
) -> Result<Comparison, Problem> {
    let mut messages = Vec::new();
    let a = side(a, index, app, &mut messages)?;
    let b = side(b, index, app, &mut messages)?;
    let recent = operand::recent_like(index.store(), &[&a, &b], &mut messages)?;
    messages.iter().for_each(|line| app.log(line));
    let kept = kept_like(&[&a, &b], &recent);
    let options = Options { margin: compare::USUAL_MARGIN, fail_above: None, normalize: None };
    compare(&a, &b, &kept, &|_| true, &options)
        .map_err(|error| Problem::NotComparable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::keyed::count;
    use store::index::MachineStanding;

    fn key(number: usize) -> MachineKey {
        MachineKey(format!("{number:012x}"))
    }

    /// So many machines, of which each third has a figure.
    fn over(count: usize) -> RowOverMachines {
        let standing = |number: usize| MachineStanding {
            machine: key(number),
            value_ns: 1.0,
            percentile: 50.0,
            results: 1,
        };
        let machine = |number: usize| MachineSummary {
            key: key(number),
            host: Some(format!("host-{number}")),
            line: "a CPU".into(),
            runs: 1,
            newest_unix_ms: 0,
        };
        RowOverMachines {
            standing: RowStanding {
                row: "cpu.add_i32".into(),
                at: Vec::new(),
                mode: None,
                results: 0,
                quantiles: Vec::new(),
                machines: (0..count).rev().step_by(3).map(standing).collect(),
            },
            unit: Unit::Time,
            machines: (0..count).map(machine).collect(),
        }
    }

    #[test]
    fn a_machine_is_named_without_a_search_among_all() {
        let all = over(1000);
        let named = || {
            let keys = all.standing.machines.iter().map(|own| &own.machine);
            let names = keys.map(|key| all.name_of(key).0.expect("a host").to_owned());
            names.collect::<Vec<String>>()
        };
        assert_eq!(named()[..2], ["host-999", "host-996"]);
        assert_eq!(count::during(named), 0);
        let unknown = MachineKey("x".into());
        assert_eq!(all.name_of(&unknown), (None, "x"));
    }

    #[test]
    fn machines_with_a_figure_come_first_of_very_many_too() {
        let names = |count: usize| -> Vec<String> {
            let machines = over(count).counted_first();
            let names = machines.iter().map(|machine| machine.display_name().to_owned());
            names.collect()
        };
        let [a, b, c, d, e] = [1, 4, 0, 2, 3].map(|number| format!("host-{number}"));
        assert_eq!(names(5), [a, b, c, d, e]);
        // With a search for each of them this would take an hour.
        let names = names(100_000);
        assert_eq!((names.len(), names[0].as_str()), (100_000, "host-0"));
        assert_eq!(names[33_334], "host-1");
    }
}
