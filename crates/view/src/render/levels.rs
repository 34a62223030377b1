//! The levels found in the latency curve, beside what the OS says of the
//! caches, and the curve itself.

use super::chart::{Level, chart};
use super::figures::{Shown, shown};
use super::machine::{cache_name, cache_size, cpu_list};
use model::machine::{CacheFact, CacheKind};
use model::run::{Outcome, Row, Run};
use model::size;
use model::story::{Block, Table, left, right};

/// The curve that the levels of the table come from.
pub(crate) const LATENCY: &str = "memory.latency";

/// A level row taken apart.
pub(crate) struct Found<'a> {
    pub(crate) curve: &'a str,
    pub(crate) name: &'a str,
    pub(crate) from_bytes: u64,
    pub(crate) to_bytes: u64,
    row: &'a Row,
}

impl Found<'_> {
    /// Its figure as text, `-` where there is none.
    pub(crate) fn figure(&self) -> String {
        match self.row.estimate().map(|e| shown(e, &self.row.unit)) {
            Some(Shown::Figure(f)) => format!("{} {}", f.value, f.unit),
            Some(Shown::Below(text)) => text,
            _ => "-".into(),
        }
    }
}

/// The levels that a run has found.
pub(crate) fn found(run: &Run) -> impl Iterator<Item = Found<'_>> {
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
pub(super) fn levels(run: &Run) -> Vec<Block> {
    let mut blocks = vec![Block::Table(list(run))];
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
            let heading = format!("{LATENCY}: ns a load over working set");
            blocks.extend([Block::Heading(heading), Block::Lines(drawn)]);
        }
    }
    blocks
}

fn list(run: &Run) -> Table {
    let mut table = Table::new([
        left(""),
        right(""),
        right(""),
        left(""),
        right(""),
        left(""),
    ]);
    let mut curve = "";
    for level in found(run) {
        if level.curve != curve {
            curve = level.curve;
            table.note(
                "",
                format!("levels found in {curve}, and caches as the OS reports them"),
            );
        }
        table.row([
            format!("  {}", level.name).into(),
            level.figure().into(),
            size::text(level.from_bytes).into(),
            "to".into(),
            size::text(level.to_bytes).into(),
            os_says(run, level.name).into(),
        ]);
    }
    table
}

/// The OS's cache of that level for the measuring CPU.
fn os_says(run: &Run, name: &str) -> String {
    if name.starts_with("to_") {
        return "OS: no cache of this size".into();
    }
    let Some(level) = name.strip_prefix('L').and_then(|n| n.parse::<u32>().ok()) else {
        return String::new();
    };
    let caches = match os_caches(run) {
        Ok(caches) => caches,
        Err(why) => return format!("OS: unknown ({why})"),
    };
    match caches.iter().find(|cache| cache.level == level) {
        None => "OS: none".into(),
        Some(cache) => format!(
            "OS: {} {}, of CPUs {}",
            cache_name(cache),
            cache_size(cache),
            cpu_list(&cache.shared_cpus)
        ),
    }
}

/// The caches for data that the measuring CPU reaches, as the OS describes
/// them; or why they are not known.
pub(crate) fn os_caches(run: &Run) -> Result<Vec<&CacheFact>, &str> {
    let Some(caches) = run.machine.caches.get() else {
        let why = run.machine.caches.unknown.as_deref();
        return Err(why.unwrap_or("no reason given"));
    };
    let cpu = run.conditions.pinned_cpus.first();
    let reaches = |cache: &&CacheFact| {
        cache.kind != CacheKind::Instruction
            && cpu.is_none_or(|cpu| cache.shared_cpus.is_empty() || cache.shared_cpus.contains(cpu))
    };
    Ok(caches.iter().filter(reaches).collect())
}
