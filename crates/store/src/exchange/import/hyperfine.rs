//! hyperfine's export: `results`, each with the wall time of every run in
//! seconds (<https://github.com/sharkdp/hyperfine#export-results>); since its second version with a
//! `summary` and `measurements`, each with units.

use super::json::{JsonSource, Object, Time};
use super::{FigureFound, ImportFault, ImportedFile, MAX_ROWS, MAX_SAMPLES, Measured, slug};
use model::phrases::cut;

/// ns of a second.
const NS: f64 = 1e9;
const MAX_PARAMETERS: usize = 100;

pub(super) fn read_hyperfine(source: &JsonSource) -> Result<ImportedFile, ImportFault> {
    let file = source.object()?;
    let mut found = ImportedFile::default();
    if let Some(metadata) = file.object("metadata") {
        found.version = metadata.text_field("hyperfine_version");
        found.measured_at = metadata.text_field("start_time");
    }
    for entry in file.objects("results", MAX_ROWS)? {
        found.rows.push(measured(&entry.called("command"))?);
    }
    Ok(found)
}

fn measured(entry: &Object) -> Result<Measured, ImportFault> {
    let command = entry.needed_text("command")?;
    // What our own export adds.
    let own = entry.object("latlas");
    let row = own.as_ref().and_then(|own| own.text_field("row"));
    let mut notes = vec![match row {
        None => format!("command: {command}"),
        Some(row) => format!("exported from latlas's row: {row}"),
    }];
    if let Some(verdict) = own.as_ref().and_then(|own| own.text_field("verdict")) {
        let reason = own.as_ref().and_then(|own| own.text_field("reason"));
        if verdict != "ok" {
            let reason = reason.unwrap_or_default();
            notes.push(format!("latlas's own verdict: {verdict} ({reason})"));
        }
    }
    let parameters = parameters(entry);
    if !parameters.is_empty() {
        notes.push(format!("parameters: {}", parameters.join(", ")));
    }
    let (figure, codes) = entry_figure(entry)?;
    let [user, system] = ["user", "system"].map(|key| mean(entry, key));
    if let (Some(Ok(user)), Some(Ok(system))) = (user?, system?) {
        notes.push(format!(
            "CPU time a run, mean: user {}, system {}",
            model::figure::time(user),
            model::figure::time(system)
        ));
    }
    notes.extend(failures(&codes));
    Ok(Measured {
        slug: slug::part(&command, slug::Underscore::Space),
        name: command,
        number: None,
        figure,
        notes,
    })
}

/// What hyperfine put into the command, by name (`--parameter-list`): texts, and in the second version
/// objects.
fn parameters(entry: &Object) -> Vec<String> {
    let Some(all) = entry.object("parameters") else {
        // In one version a single value without its name.
        let only = entry.text_field("parameter").filter(|only| !only.is_empty());
        return only.into_iter().collect();
    };
    let value = |name: &str| {
        let inner = || all.object(name)?.text_field("value");
        Some(format!("{name} = {}", all.text_field(name).or_else(inner)?))
    };
    all.names().take(MAX_PARAMETERS).filter_map(value).collect()
}

/// A mean CPU time, where it stands in each version.
fn mean(entry: &Object, key: &str) -> Result<Option<Time>, ImportFault> {
    match summary(entry, &format!("time_{key}")) {
        Some(summary) => time(&summary, "mean"),
        None => entry.time(key, NS),
    }
}

fn summary<'s>(entry: &Object<'s>, key: &str) -> Option<Object<'s>> {
    entry.object("summary")?.object(key)
}

fn time(value: &Object, key: &str) -> Result<Option<Time>, ImportFault> {
    let unit = value.text_field("unit");
    let ns_per_unit = match unit.as_deref() {
        None | Some("second") => NS,
        Some("millisecond") => 1e6,
        Some("microsecond") => 1e3,
        Some("nanosecond") => 1.0,
        Some(other) => {
            return Err(value.fault("unit", format!("{:?} is not a unit of time", cut(other))));
        }
    };
    value.time(key, ns_per_unit)
}

/// Exit codes of the runs; `None` after a signal.
type Codes = Vec<Option<i64>>;

fn entry_figure(entry: &Object) -> Result<(FigureFound, Codes), ImportFault> {
    let (times, codes) = match entry.has("measurements") {
        true => measurements(entry)?,
        false => {
            let times = entry.times_field("times", NS, MAX_SAMPLES)?.unwrap_or_default();
            (times, entry.codes("exit_codes", MAX_SAMPLES)?)
        }
    };
    if !times.is_empty() {
        let samples: Result<Vec<_>, _> = times.into_iter().map(|time| Ok((1, time?))).collect();
        return Ok((FigureFound::from_samples(samples, "hyperfine"), codes));
    }
    let wall = summary(entry, "time_wall_clock");
    let of = |key| match &wall {
        Some(wall) => time(wall, key),
        None => entry.time(key, NS),
    };
    let (median, mean) = (of("median")?, of("mean")?);
    let (value, what) = match (median, mean) {
        (Some(Ok(median)), _) => (Ok(median), "median"),
        (_, Some(mean)) => (mean, "mean"),
        (Some(median), None) => (median, "median"),
        (None, None) => {
            return Err(entry.fault_of_it("it has neither times nor median nor mean"));
        }
    };
    Ok((FigureFound::aggregate(value, what.into(), "hyperfine"), codes))
}

fn measurements(entry: &Object) -> Result<(Vec<Time>, Codes), ImportFault> {
    let (mut times, mut codes) = (Vec::new(), Vec::new());
    for run in entry.objects("measurements", MAX_SAMPLES)? {
        let wall = run.object("time_wall_clock");
        let wall = wall.ok_or_else(|| run.missing_field("time_wall_clock"))?;
        times.push(time(&wall, "value")?.ok_or_else(|| wall.missing_field("value"))?);
        codes.extend(run.has("exit_code").then(|| run.code("exit_code")));
    }
    Ok((times, codes))
}

/// Runs that failed and were counted all the same (`--ignore-failure`).
fn failures(codes: &Codes) -> Option<String> {
    let failed = codes.iter().filter(|code| **code != Some(0)).count();
    (failed > 0).then(|| {
        format!(
            "failures: {failed} of {} runs ended with a code other than 0 or by a signal, and \
             are counted",
            codes.len()
        )
    })
}
