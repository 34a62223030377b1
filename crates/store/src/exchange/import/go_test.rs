//! Benchmarks of `go test -bench`: a line each, with the iterations and then pairs of value and unit
//! (<https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md>); also as `go test -json` wraps it.

use super::json::JsonSource;
use super::{FigureFound, ImportFault, ImportedFile, MAX_ROWS, Measured, UnfitValue, slug};
use model::phrases::cut;
use std::collections::HashMap;

/// What each line of a benchmark begins with.
const PREFIX: &str = "Benchmark";

/// Whether a text without JSON is one.
pub(super) fn is_go_test(text: &str) -> bool {
    text.lines().any(|line| Line::from_text(line).is_some() || line.starts_with("goos: "))
}

/// What `go test -json` prints, as the text that it wraps: the output of each package by itself.
///
/// # Errors
/// With the first line that is no object.
pub(super) fn unwrapped(source: &JsonSource) -> Result<String, ImportFault> {
    let mut packages: Vec<(Option<String>, String)> = Vec::new();
    for event in source.objects() {
        let event = event?;
        let Some(output) = event.text_field("Output") else { continue };
        let package = event.text_field("Package");
        match packages.iter_mut().find(|(of, _)| *of == package) {
            Some((_, text)) => text.push_str(&output),
            None => packages.push((package, output)),
        }
    }
    Ok(packages.into_iter().map(|(_, text)| text).collect())
}

pub(super) fn read_go_test(text: &str) -> Result<ImportedFile, ImportFault> {
    let mut found = ImportedFile::default();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut facts: Vec<String> = Vec::new();
    let mut package = None;
    let threads = threads(text);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        if let Some((key @ ("goos" | "goarch" | "cpu"), value)) = line.split_once(": ") {
            let fact = format!("{key} {value}");
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        } else if let Some(value) = line.strip_prefix("pkg: ") {
            package = Some(value.trim().to_owned());
        } else if let Some(name) = line.strip_prefix("--- FAIL: ").filter(|n| n.starts_with(PREFIX))
        {
            let mut why = String::new();
            while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with("    ")) {
                why = format!("{why} {}", line.trim());
            }
            let name = full_name(package.as_deref(), name.trim(), threads);
            let reason =
                format!("go test: failed:{}", if why.is_empty() { " no message" } else { &why });
            found.rows.push(read_entry(name, FigureFound::Failed(reason), String::new()));
        } else if let Some(line) = Line::from_text(line) {
            let name = full_name(package.as_deref(), line.name, threads);
            let fault = |field: &str, reason: String| {
                ImportFault::at((at + 1, 1), format!("go test, {}, {field}: {reason}", cut(&name)))
            };
            let figure = line.figure().map_err(|(field, reason)| fault(field, reason))?;
            let row = places.get(&name).map(|&at| &mut found.rows[at].figure);
            match (row, figure) {
                // A run of -count more.
                (Some(FigureFound::Samples(all)), FigureFound::Samples(more)) => all.extend(more),
                (Some(_), _) => {}
                (None, figure) => {
                    places.insert(name.clone(), found.rows.len());
                    found.rows.push(read_entry(name, figure, line.more()));
                }
            }
        }
        if found.rows.len() > MAX_ROWS {
            break;
        }
    }
    facts.extend(threads.map(|n| format!("GOMAXPROCS {n}")));
    if !facts.is_empty() {
        found.remarks.push(format!("the file says: {}", facts.join(", ")));
    }
    Ok(found)
}

fn read_entry(name: String, figure: FigureFound, more: String) -> Measured {
    let mut notes = vec![format!("benchmark: {name}")];
    if !more.is_empty() {
        notes.push(format!("of the first run: {more}"));
    }
    Measured { slug: slug::slug_path(&name), name, number: None, figure, notes }
}

/// `PACKAGE.BenchmarkName/sub`, without the number of threads.
fn full_name(package: Option<&str>, name: &str, threads: Option<u32>) -> String {
    let suffix = threads.map(|n| format!("-{n}")).unwrap_or_default();
    let name = name.strip_suffix(&suffix).unwrap_or(name);
    package.map_or(name.to_owned(), |package| format!("{package}.{name}"))
}

/// GOMAXPROCS, which ends every name unless it is 1: a number with which only some names end is part of theirs.
fn threads(text: &str) -> Option<u32> {
    let mut names = text.lines().filter_map(Line::from_text).map(|line| line.name);
    let suffix = |name: &str| name.rsplit_once('-')?.1.parse::<u32>().ok();
    let first = suffix(names.next()?)?;
    names.all(|name| suffix(name) == Some(first)).then_some(first)
}

/// The line of a benchmark.
struct Line<'t> {
    name: &'t str,
    iterations: u64,
    /// Value and unit.
    values: Vec<(&'t str, &'t str)>,
}

impl<'t> Line<'t> {
    /// None for any other line: programs print what they like.
    fn from_text(line: &'t str) -> Option<Line<'t>> {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|_| line.starts_with(PREFIX))?;
        if name[PREFIX.len()..].starts_with(char::is_lowercase) {
            return None;
        }
        let iterations = words.next()?.parse().ok()?;
        let rest: Vec<&str> = words.collect();
        let values = rest.chunks(2).map(|pair| Some((*pair.first()?, *pair.get(1)?)));
        let values: Vec<_> = values.collect::<Option<_>>()?;
        (!values.is_empty()).then_some(Line { name, iterations, values })
    }

    fn figure(&self) -> Result<FigureFound, (&'static str, String)> {
        const FIELD: &str = "ns/op";
        let Some((value, _)) = self.values.iter().find(|(_, unit)| *unit == FIELD) else {
            let units: Vec<&str> = self.values.iter().map(|(_, unit)| *unit).collect();
            let units = units.join(", ");
            return Ok(FigureFound::Failed(format!("go test: it has no ns/op, only {units}")));
        };
        let number = || (FIELD, format!("{:?} is not a number", cut(value)));
        let ns: f64 = value.parse().map_err(|_| number())?;
        if !ns.is_finite() {
            return Ok(FigureFound::Failed(format!("go test: ns/op is {value}")));
        }
        let unfit = |why: UnfitValue| Err((FIELD, why.to_string()));
        let all_ns = ns * self.iterations as f64;
        match () {
            () if ns < 0.0 => unfit(UnfitValue::Negative((*value).to_owned())),
            () if all_ns > 1e16 => unfit(UnfitValue::LongTime((*value).to_owned(), "ns")),
            () if self.iterations == 0 => Err(("iterations", "a time of no iterations".into())),
            () => Ok(FigureFound::Samples(vec![(self.iterations, all_ns)])),
        }
    }

    /// What it has beside the time.
    fn more(&self) -> String {
        let more = self.values.iter().filter(|(_, unit)| *unit != "ns/op");
        more.map(|(value, unit)| format!("{value} {unit}")).collect::<Vec<_>>().join(", ")
    }
}
