//! hyperfine's export: `results`, each with the wall time of every run in
//! seconds (<https://github.com/sharkdp/hyperfine#export-results>).

use super::fields::{self, Amount, AtMost, Name, Samples};
use super::{Fault, FigureFound, Found, MAX_ROWS, Measured, UnfitValue, slug};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct File<'t> {
    #[serde(borrow)]
    results: AtMost<&'t RawValue, MAX_ROWS>,
}

/// Seconds. Older versions lack the exit codes, and a single run has no
/// deviation.
#[derive(Deserialize)]
struct Entry<'t> {
    command: Name,
    median: Option<Amount>,
    mean: Option<Amount>,
    user: Option<Amount>,
    system: Option<Amount>,
    times: Option<Samples<Amount>>,
    exit_codes: Option<Samples<Option<i64>>>,
    #[serde(borrow)]
    parameters: Option<&'t RawValue>,
    latlas: Option<LatlasFields>,
}

/// What our own export adds.
#[derive(Deserialize)]
struct LatlasFields {
    row: Name,
    verdict: Name,
    reason: Name,
}

/// ns of a second.
const NS: f64 = 1e9;
/// Bytes of one command's parameters.
const MAX_PARAMETERS: usize = 16 << 10;

/// Reads the file.
pub(super) fn read(text: &str) -> Result<Found, Fault> {
    let file: File = fields::parse(text)?;
    let mut found = Found::default();
    for raw in &file.results.0 {
        let entry: Entry = fields::part(text, raw)?;
        found
            .rows
            .push(measured(text, entry).map_err(|fault| Fault {
                place: fault.place.or(Some(fields::place_of(text, raw))),
                ..fault
            })?);
    }
    Ok(found)
}

fn measured(text: &str, entry: Entry) -> Result<Measured, Fault> {
    let figure = figure(&entry).map_err(Fault::of_file)?;
    let mut notes = vec![match &entry.latlas {
        None => format!("command: {}", entry.command.0),
        Some(own) => format!("exported from latlas's row: {}", own.row.0),
    }];
    if let Some(own) = entry.latlas.filter(|own| own.verdict.0 != "ok") {
        notes.push(format!(
            "latlas's own verdict: {} ({})",
            own.verdict.0, own.reason.0
        ));
    }
    let parameters = parameters(text, entry.parameters)?;
    if !parameters.is_empty() {
        let named: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("{} = {}", name.0, value.0))
            .collect();
        notes.push(format!("parameters: {}", named.join(", ")));
    }
    if let (Some(user), Some(system)) = (entry.user, entry.system) {
        let ns = |value| fields::ns(value, NS).map_err(Fault::of_file);
        let [user, system] = [ns(user)?, ns(system)?];
        notes.push(format!(
            "CPU time a run, mean: user {}, system {}",
            model::figure::time(user),
            model::figure::time(system)
        ));
    }
    notes.extend(failures(entry.exit_codes.as_ref()));
    Ok(Measured {
        slug: slug::part(&entry.command.0, slug::Underscore::Space),
        name: entry.command.0,
        figure,
        notes,
    })
}

/// What hyperfine put into the command, by name (`--parameter-list`).
fn parameters(text: &str, raw: Option<&RawValue>) -> Result<BTreeMap<Name, Name>, Fault> {
    match raw {
        None => Ok(BTreeMap::new()),
        Some(raw) if raw.get().len() > MAX_PARAMETERS => Err(Fault {
            place: Some(fields::place_of(text, raw)),
            reason: format!("parameters of more than {MAX_PARAMETERS} bytes"),
        }),
        Some(raw) => fields::part(text, raw),
    }
}

/// Why a result gives no figure.
#[derive(thiserror::Error, Debug, PartialEq)]
enum NoFigure {
    #[error("a result with neither times nor median nor mean")]
    NoTime,
    #[error(transparent)]
    Value(#[from] UnfitValue),
}

fn figure(entry: &Entry) -> Result<FigureFound, NoFigure> {
    if let Some(times) = entry.times.as_ref().filter(|times| !times.0.is_empty()) {
        let samples: Result<Vec<_>, UnfitValue> = times
            .0
            .iter()
            .map(|&seconds| Ok((1, fields::ns(seconds, NS)?)))
            .collect();
        return Ok(FigureFound::Samples(samples?));
    }
    let (value, what) = match (entry.median, entry.mean) {
        (Some(median), _) => (median, "median"),
        (None, Some(mean)) => (mean, "mean"),
        (None, None) => return Err(NoFigure::NoTime),
    };
    Ok(FigureFound::Aggregate {
        ns: fields::ns(value, NS)?,
        what: what.into(),
    })
}

/// Runs that failed and were counted all the same (`--ignore-failure`).
fn failures(codes: Option<&Samples<Option<i64>>>) -> Option<String> {
    let codes = &codes?.0;
    let failed = codes.iter().filter(|code| **code != Some(0)).count();
    (failed > 0).then(|| {
        format!(
            "failures: {failed} of {} runs ended with a code other than 0 or by a signal, and \
             are counted",
            codes.len()
        )
    })
}
