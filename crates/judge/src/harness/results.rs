//! What a run of a benchmark measured, by the importer of its tool's format.

use super::adapter::{Adapter, Results};
use super::fill::Filling;
use super::line::Line;
use crate::process::EndedChild;
use crate::slot::SlotError;
use std::path::Path;
use store::exchange::import::files::{Input, read_input};
use store::exchange::import::{FigureFound, InputFormat, measured};
use sys::command::End;

/// The benchmarks that a run measured, by name; none where it measured nothing.
pub(super) fn figures(
    results: &Results,
    filling: &Filling,
    ended: &EndedChild,
) -> Result<Vec<(String, FigureFound)>, SlotError> {
    if let Some(line) = &results.line {
        return line_figures(line, &ended.out_text());
    }
    let Some(format) = results.format.as_deref().and_then(InputFormat::named) else {
        return Ok(Vec::new());
    };
    let input = match &results.file {
        None => Input::File { name: "its output".into(), bytes: ended.out.clone() },
        Some(file) => {
            let file = filling.text(file);
            let path = Path::new(&file);
            let is_empty = match std::fs::read_dir(path) {
                Ok(mut entries) => entries.next().is_none(),
                Err(_) => std::fs::metadata(path).map_or(true, |found| found.len() == 0),
            };
            if is_empty {
                return Ok(Vec::new());
            }
            read_input(path).map_err(|error| SlotError::NotParsed { field: error.reason })?
        }
    };
    if matches!(&input, Input::File { bytes, .. } if bytes.trim_ascii().is_empty()) {
        return Ok(Vec::new());
    }
    let rows = measured(&input, format).map_err(|error| {
        let place = error.place.map_or(String::new(), |(line, _)| format!("line {line}, "));
        SlotError::NotParsed { field: format!("{place}{}", error.reason) }
    })?;
    Ok(rows.into_iter().map(|row| (row.name, row.figure)).collect())
}

/// Lines with a name and a time, of harnesses that users describe.
fn line_figures(line: &Line, text: &str) -> Result<Vec<(String, FigureFound)>, SlotError> {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let mut found: Vec<(String, FigureFound)> = Vec::new();
    for values in text.lines().filter_map(|text| line.values(text)) {
        let name = values.get("name").copied().unwrap_or_default().trim().to_owned();
        let number = |field: &str| {
            let value = values.get(field)?;
            let bad = || SlotError::NotParsed { field: format!("{field}: {value:?} is no number") };
            Some(
                value
                    .trim()
                    .parse::<f64>()
                    .ok()
                    .filter(|v| v.is_finite() && *v >= 0.0)
                    .ok_or_else(bad),
            )
        };
        let time = UNITS.iter().find_map(|(unit, ns)| Some(number(unit)?.map(|value| value * ns)));
        let Some(ns) = time.transpose()? else {
            return Err(SlotError::NotParsed {
                field: "the line has no {ns}, {us}, {ms} or {s}".into(),
            });
        };
        let turns = number("iterations").transpose()?.unwrap_or(1.0);
        found.push((name, FigureFound::Samples(vec![(turns as u64, ns * turns)])));
    }
    Ok(found)
}

/// The samples of the one benchmark that was asked for.
///
/// # Errors
/// Unless exactly one named value came back.
pub(super) fn only_figure(
    adapter: &Adapter,
    name: &str,
    filling: &Filling,
    ended: &EndedChild,
) -> Result<FigureFound, SlotError> {
    let failed = || {
        let code = match ended.end {
            End::Code(code) => Some(code),
            _ => None,
        };
        SlotError::Failed { code, stderr: adapter.failure_of(ended) }
    };
    match ended.end {
        End::Code(0) => {}
        End::TimedOut => return Err(SlotError::TimedOut),
        _ => return Err(failed()),
    }
    let Some(results) = &adapter.results else {
        let wall_ns = ended.usage.wall_ns as f64;
        return Ok(FigureFound::Samples(vec![(1, wall_ns)]));
    };
    let mut found = figures(results, filling, ended)?;
    match found.len() {
        0 => Err(SlotError::Nothing),
        1 if is_name(&found[0].0, name) => match found.remove(0).1 {
            // Some tools end with 0 even so.
            FigureFound::Failed(stderr) => Err(SlotError::Failed { code: Some(0), stderr }),
            figure => Ok(figure),
        },
        1 => Err(SlotError::NotParsed { field: format!("name: it measured {:?}", found[0].0) }),
        _ => Err(SlotError::SeveralValues),
    }
}

/// Whether a result's name is this. One name alone may end in a number that its list shows to be a part of it.
fn is_name(found: &str, name: &str) -> bool {
    let rest = name.strip_prefix(found).and_then(|rest| rest.strip_prefix('-'));
    found == name
        || found.is_empty()
        || rest.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_alone_may_lose_its_number() {
        assert!(is_name("BenchmarkA/n-16", "BenchmarkA/n-16"));
        assert!(is_name("BenchmarkA/n", "BenchmarkA/n-16"));
        assert!(!is_name("BenchmarkA", "BenchmarkA/n-16") && !is_name("BenchmarkB", "BenchmarkA"));
    }

    #[test]
    fn lines_of_a_harness_of_ones_own() {
        let line = Line::try_from("{name}: {us} us of {iterations}".to_owned()).expect("a line");
        let found = line_figures(&line, "begin\na b: 1.5 us of 4\n").expect("parsed");
        assert_eq!(found, [("a b".to_owned(), FigureFound::Samples(vec![(4, 6000.0)]))]);
        let bad = line_figures(&line, "a: x us of 4").expect_err("no number");
        assert_eq!(bad, SlotError::NotParsed { field: "us: \"x\" is no number".into() });
    }
}
