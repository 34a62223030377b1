//! The tree that divan prints: a line a benchmark with the fastest, slowest, median and mean time of its samples, to
//! four digits (<https://docs.rs/divan>). It holds no samples.

use super::{FigureFound, ImportFault, ImportedFile, Measured, slug};

/// What the first line begins with.
const FIRST: &str = "Timer precision: ";
/// Characters of the tree before a name, a level.
const INDENT: usize = 3;

/// Whether a text without JSON is one.
pub(super) fn is_divan(text: &str) -> bool {
    text.contains(FIRST) && text.lines().any(|line| columns(line).is_some())
}

pub(super) fn read_divan(text: &str) -> Result<ImportedFile, ImportFault> {
    let mut found = ImportedFile::default();
    // Where the first column of times begins, in characters, below a head.
    let mut first_column = None;
    let mut path: Vec<String> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(precision) = line.strip_prefix(FIRST) {
            found.remarks.push(format!("the file says: timer precision {}", precision.trim()));
        } else if let Some(column) = columns(line) {
            first_column = Some(column);
            path = vec![split(line, column).0.trim().to_owned()];
        } else if let Some(column) = first_column {
            let (tree, cells) = split(line, column);
            let name = tree.trim_start_matches(['├', '╰', '│', '─', ' ']);
            let level = (tree.chars().count() - name.chars().count()) / INDENT;
            let name = name.trim();
            if line.trim().is_empty() {
                first_column = None;
            } else if !name.is_empty() && level > 0 {
                path.truncate(level);
                path.push(name.to_owned());
                found.rows.extend(read_entry(&path, cells, at + 1)?);
            }
            // Without a name: throughput and allocations of the benchmark above.
        }
    }
    Ok(found)
}

/// The column at which the times begin, of a head of the table.
fn columns(line: &str) -> Option<usize> {
    let at = line.find("fastest")?;
    let is_head =
        ["slowest", "median", "mean", "samples", "iters"].iter().all(|c| line.contains(c));
    is_head.then(|| line[..at].chars().count())
}

fn split(line: &str, column: usize) -> (&str, &str) {
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    line.split_at(at)
}

/// A benchmark; None for a group.
fn read_entry(path: &[String], cells: &str, line: usize) -> Result<Option<Measured>, ImportFault> {
    let name = path.join("/");
    let cells: Vec<&str> = cells.split('│').map(str::trim).collect();
    let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
    let time = |at: usize, field: &str| {
        time_ns(cell(at)).ok_or_else(|| {
            let reason = format!("divan, {name}, {field}: {:?} is not a time", cell(at));
            ImportFault::at((line, 1), reason)
        })
    };
    let figure = match cell(0) {
        "" => return Ok(None),
        "(ignored)" => FigureFound::Failed("divan: ignored".into()),
        _ => {
            let (fastest, slowest) = (time(0, "fastest")?, time(1, "slowest")?);
            let what = format!(
                "median of {} samples between {} and {}",
                cell(4),
                model::figure::time(fastest),
                model::figure::time(slowest)
            );
            let range_ns = Some([fastest, slowest]);
            FigureFound::Aggregate { ns: time(2, "median")?, what, range_ns }
        }
    };
    let notes = vec![format!("benchmark: {name}")];
    Ok(Some(Measured { slug: slug::slug_path(&name), name, number: None, figure, notes }))
}

/// `114.7 µs`.
fn time_ns(text: &str) -> Option<f64> {
    let (value, unit) = text.split_once(' ')?;
    let value: f64 = value.parse().ok().filter(|value| (0.0..=1e6).contains(value))?;
    let ns_per_unit = match unit.trim() {
        "ps" => 1e-3,
        "ns" => 1.0,
        "µs" | "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    };
    Some(value * ns_per_unit)
}
