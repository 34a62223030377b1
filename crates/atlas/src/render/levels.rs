//! The levels found in the latency curve, beside what the OS says of the
//! caches, and the curve itself.

use super::chart::{Level, chart};
use super::figures::{Shown, shown};
use super::layout::{Grid, left, right};
use super::machine::{cache_name, cache_size, cpu_list};
use model::machine::{CacheFact, CacheKind};
use model::run::{Outcome, Row, Run};
use model::size;

/// The curve that the levels of the table come from.
const LATENCY: &str = "memory.latency";

/// A level row taken apart.
struct Found<'a> {
    curve: &'a str,
    name: &'a str,
    from_bytes: u64,
    to_bytes: u64,
    row: &'a Row,
}

fn found(run: &Run) -> impl Iterator<Item = Found<'_>> {
    run.rows.iter().filter_map(|row| {
        let Outcome::Level { plateau, .. } = &row.outcome else {
            return None;
        };
        let (curve, name) = row.id.rsplit_once('/')?;
        Some(Found {
            curve,
            name,
            from_bytes: plateau.from_bytes,
            to_bytes: plateau.to_bytes,
            row,
        })
    })
}

/// Working sets that stand for the levels, with their names: the middle of
/// each level, and the largest point for the last.
pub(super) fn typical_sizes(run: &Run) -> Vec<(String, u64)> {
    let mut sizes: Vec<(String, u64)> = found(run)
        .filter(|level| level.curve == LATENCY)
        .map(|level| {
            let middle = (level.from_bytes as f64 * level.to_bytes as f64).sqrt();
            (level.name.to_owned(), middle as u64)
        })
        .collect();
    if let Some((_, last)) = sizes.last_mut().filter(|(name, _)| name == "DRAM") {
        *last = u64::MAX;
    }
    sizes
}

/// The block; empty where no level was found and there is no curve to draw.
pub(super) fn levels(run: &Run) -> String {
    let mut text = list(run);
    if let Some(Outcome::Curve { points, .. }) = run.row(LATENCY).map(|row| &row.outcome) {
        let points: Vec<(u64, f64)> = points
            .iter()
            .filter_map(|p| Some((p.x, p.estimate.ns()?.value)))
            .collect();
        let levels: Vec<Level> = found(run)
            .filter(|level| level.curve == LATENCY)
            .map(|level| Level {
                name: level.name.to_owned(),
                from: level.from_bytes,
                to: level.to_bytes,
            })
            .collect();
        let drawn = chart(&points, &levels);
        if !drawn.is_empty() {
            text.push_str(&format!("{LATENCY}: ns a load over working set\n{drawn}"));
        }
    }
    text
}

fn list(run: &Run) -> String {
    let mut grid = Grid::default();
    let mut curve = "";
    for level in found(run) {
        if level.curve != curve {
            curve = level.curve;
            grid.free(format!("levels found in {curve}, and what the OS says"));
        }
        let figure = match level.row.estimate().map(|e| shown(e, &level.row.unit)) {
            Some(Shown::Figure(f)) => format!("{} {}", f.value, f.unit),
            Some(Shown::Below(text)) => text,
            _ => "-".into(),
        };
        grid.entries(vec![
            left(format!("  {}", level.name)),
            right(figure),
            right(size::text(level.from_bytes)),
            left("to"),
            right(size::text(level.to_bytes)),
            left(os_says(run, level.name)),
        ]);
    }
    grid.render(2)
}

/// The OS's caches of that level for the measuring CPU.
fn os_says(run: &Run, name: &str) -> String {
    let Some(level) = name.strip_prefix('L').and_then(|n| n.parse::<u32>().ok()) else {
        return String::new();
    };
    let Some(caches) = run.machine.caches.get() else {
        let why = run.machine.caches.unknown.as_deref();
        return format!("OS: unknown ({})", why.unwrap_or("no reason given"));
    };
    let cpu = run.conditions.pinned_cpus.first();
    let reaches = |cache: &&CacheFact| {
        cache.level == level
            && cache.kind != CacheKind::Instruction
            && cpu.is_none_or(|cpu| cache.shared_cpus.is_empty() || cache.shared_cpus.contains(cpu))
    };
    match caches.iter().find(reaches) {
        None => "OS: none".into(),
        Some(cache) => format!(
            "OS: {} {}, of CPUs {}",
            cache_name(cache),
            cache_size(cache),
            cpu_list(&cache.shared_cpus)
        ),
    }
}
