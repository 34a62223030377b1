//! What is asked of the index. Each is a plain function that may block.

use crate::app::App;
use crate::problem::Problem;
use crate::strict::RunsAsked;
use crate::wire;
use atlas::compare::operand::{self, Operand, OperandError, Source};
use atlas::compare::{Comparison, Options, compare};
use atlas::history::{self, History};
use atlas::index::{Index, KeptResult, KeptRun, Machine, MachineKey, MachineStanding, Quantile};
use atlas::store;
use model::run::Run;
use std::path::PathBuf;

pub(crate) fn machines(index: &Index) -> Result<Vec<wire::Machine>, Problem> {
    let machine = |m: atlas::index::Machine| wire::Machine {
        key: m.key.0,
        host: m.host,
        line: m.line,
        runs: m.runs,
        newest_unix_ms: m.newest_unix_ms,
    };
    Ok(index.machines()?.into_iter().map(machine).collect())
}

pub(crate) fn runs(index: &Index, asked: &RunsAsked) -> Result<wire::Runs, Problem> {
    let mut all = index.runs()?;
    if let Some(machine) = &asked.machine {
        all.retain(|run| run.machine.0 == *machine);
    }
    let page = all.iter().skip(asked.offset as usize);
    Ok(wire::Runs {
        total: all.len(),
        offset: asked.offset,
        limit: asked.limit,
        runs: page
            .take(asked.limit as usize)
            .map(wire::Run::from)
            .collect(),
    })
}

/// The document of a kept run. Only a whole UUID names one, and only among
/// those that the store itself lists: no path is made of a stranger's text.
pub(crate) fn path(index: &Index, id: &str) -> Result<PathBuf, Problem> {
    let no_such = || Problem::not_found("no run of this id is kept");
    let uuid = id.len() == 36 && id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    if !uuid {
        return Err(no_such());
    }
    index
        .document(&id.to_ascii_lowercase())
        .map_err(|error| match error {
            store::StoreError::NoSuchRun { .. } => no_such(),
            other => other.into(),
        })
}

/// A kept run whole.
pub(crate) fn run(index: &Index, id: &str) -> Result<(KeptRun, Run), Problem> {
    let path = path(index, id)?;
    let run = store::read(&path)?;
    // The index knows its tags; it may not have the run yet.
    let kept = index.run(&run.id)?;
    Ok((kept.unwrap_or_else(|| KeptRun::of(&run, path)), run))
}

pub(crate) fn rows(index: &Index) -> Result<Vec<wire::Row>, Problem> {
    let mut rows: Vec<wire::Row> = Vec::new();
    for (row, at) in index.rows(None)? {
        let point = u32::from(!at.is_empty());
        match rows.last_mut().filter(|last| last.row == row) {
            Some(last) => last.points += point,
            None => rows.push(wire::Row { row, points: point }),
        }
    }
    Ok(rows)
}

/// Points of a row, rising; none of a single figure.
pub(crate) fn points(index: &Index, row: &str) -> Result<Vec<Vec<u64>>, Problem> {
    let of_row = index
        .rows(None)?
        .into_iter()
        .filter(|(name, _)| name == row);
    Ok(of_row
        .map(|(_, at)| at)
        .filter(|at| !at.is_empty())
        .collect())
}

/// Rows of other programs and of commands have a document, and no place
/// among those of the machine itself.
pub(crate) fn no_such_row() -> Problem {
    Problem::not_found(
        "no kept run that latlas itself measured has this row, or this point of it: those of \
         imported runs stand on their own pages only",
    )
}

/// The figures of a row on all machines.
pub(crate) fn percentiles(
    index: &Index,
    row: &str,
    at: &[u64],
) -> Result<wire::Percentiles, Problem> {
    let standing = index.percentiles_of_row(row, at)?;
    let machines = index.machines()?;
    // Whoever stands there has it; else it is looked for on all.
    let first = standing.machines.first().map(|place| &place.machine);
    let any = first.into_iter().chain(machines.iter().map(|m| &m.key));
    let mut unit = None;
    for key in any {
        unit = index
            .history(key, row, at)?
            .last()
            .map(|(_, result)| result.unit);
        if unit.is_some() {
            break;
        }
    }
    let place = |place: MachineStanding| {
        let known = machines.iter().find(|machine| machine.key == place.machine);
        wire::Place {
            host: known.and_then(|machine| machine.host.clone()),
            line: known.map_or_else(|| place.machine.0.clone(), |machine| machine.line.clone()),
            machine: place.machine.0,
            value: place.value,
            percentile: place.percentile,
            results: place.results,
        }
    };
    let quantile = |quantile: Quantile| wire::Quantile {
        percent: quantile.percent,
        value: quantile.value,
    };
    Ok(wire::Percentiles {
        row: standing.row,
        at: standing.at,
        mode: standing.mode,
        unit: unit.ok_or_else(no_such_row)?,
        results: standing.results,
        quantiles: standing.quantiles.into_iter().map(quantile).collect(),
        machines: standing.machines.into_iter().map(place).collect(),
    })
}

/// Where a machine stands among all.
pub(crate) fn standings(index: &Index, machine: &str) -> Result<Vec<wire::Standing>, Problem> {
    let machine = MachineKey(machine.to_owned());
    if !index.machines()?.iter().any(|known| known.key == machine) {
        return Err(Problem::not_found("no run of such a machine is kept"));
    }
    let all = index.percentiles(&machine)?;
    Ok(all.into_iter().map(wire::Standing::from).collect())
}

/// A row on one machine, the oldest figure first.
pub(crate) fn history(
    index: &Index,
    machine: &str,
    row: &str,
    at: &[u64],
) -> Result<(Vec<(KeptRun, KeptResult)>, History), Problem> {
    let key = MachineKey(machine.to_owned());
    let found = index.history(&key, row, at)?;
    let machines = index.machines()?;
    let own = machines.into_iter().find(|machine| machine.key == key);
    let past = own.and_then(|own| past(own, &found));
    past.map(|past| (found, past)).ok_or_else(|| {
        Problem::not_found(
            "no kept run of this machine that latlas itself measured has this row, or this point \
             of it",
        )
    })
}

/// What the figures say of the row's past, as `latlas history` has it; nothing
/// without any.
pub(crate) fn past(machine: Machine, found: &[(KeptRun, KeptResult)]) -> Option<History> {
    history::history(machine, found.to_vec(), history::Figure::Best)
}

/// A side of a comparison. Unlike on the command line no file is one: the
/// names come from strangers.
fn side(name: &str, index: &Index, app: &App) -> Result<Operand, Problem> {
    let in_store = || Ok(index.store().clone());
    if let Some(table) = app.references().find(name) {
        return Ok(Operand {
            name: name.to_owned(),
            source: Source::Published(table.clone()),
        });
    }
    if name.starts_with('@') {
        return operand::find(name, &in_store(), app.references()).map_err(|error| match error {
            OperandError::Store(error) => error.into(),
            other => Problem::not_found(other.to_string()),
        });
    }
    match path(index, name) {
        Ok(path) => Ok(Operand::run(name, store::read(&path)?)),
        Err(problem) if problem.status == axum::http::StatusCode::NOT_FOUND => {
            Err(Problem::not_found(format!(
                "nothing to compare is called {name:?}: give a run's whole id, @ and the name of a \
                 host, or a published table ({})",
                app.references().keys().join(", ")
            )))
        }
        Err(problem) => Err(problem),
    }
}

/// B against A.
pub(crate) fn comparison(
    index: &Index,
    app: &App,
    a: &str,
    b: &str,
) -> Result<Comparison, Problem> {
    let [a, b] = [side(a, index, app)?, side(b, index, app)?];
    let recent = operand::recent_beside(index.store(), &[&a, &b])?;
    let kept = operand::kept_beside(&[&a, &b], &recent);
    let how = Options {
        margin: atlas::compare::USUAL_MARGIN,
        fail_above: None,
        normalize: None,
    };
    compare(&a, &b, &kept, &|_| true, &how).map_err(|error| {
        Problem::new(
            axum::http::StatusCode::UNPROCESSABLE_ENTITY,
            error.to_string(),
        )
    })
}
