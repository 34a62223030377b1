//! The levels found in curves of latency, and what the OS says of the caches.

use super::{Block, Table, left, right};
use crate::machine::{CacheFact, CacheKind};
use crate::phrases::ranges;
use crate::run::{Outcome, Row, Run};
use crate::shown::{Shown, shown_figure};
use crate::size;
use std::fmt::{self, Display};

/// The curve whose levels are those of the machine.
pub const LATENCY: &str = "memory.latency";
/// The level beyond all caches.
const DRAM: &str = "DRAM";

/// A level that was found in a curve.
#[derive(Clone, Copy, Debug)]
pub struct CurveLevel<'r> {
    /// The row that is the curve.
    pub curve: &'r str,
    /// Its name: `L2`, `DRAM`, or `to_64KiB` where the OS knows no such cache.
    pub name: &'r str,
    /// The smallest working set on it.
    pub from_bytes: u64,
    /// The largest.
    pub to_bytes: u64,
    row: &'r Row,
}

impl<'r> CurveLevel<'r> {
    /// The levels of a run.
    pub fn all(run: &'r Run) -> impl Iterator<Item = CurveLevel<'r>> {
        run.rows.iter().filter_map(|row| {
            let Outcome::Level { plateau, .. } = &row.outcome else {
                return None;
            };
            let (curve, name) = row.id.rsplit_once('/')?;
            Some(CurveLevel {
                curve,
                name,
                from_bytes: plateau.from_bytes,
                to_bytes: plateau.to_bytes,
                row,
            })
        })
    }

    /// The levels of the machine.
    pub fn of_latency(run: &'r Run) -> impl Iterator<Item = CurveLevel<'r>> {
        CurveLevel::all(run).filter(|level| level.curve == LATENCY)
    }

    /// Its figure as text, `-` where there is none.
    pub fn figure_text(&self) -> String {
        match self.row.estimate().map(|e| shown_figure(e, &self.row.unit)) {
            Some(Shown::Figure(f)) => f.text(),
            Some(Shown::Below(text)) => text,
            _ => "-".into(),
        }
    }

    /// The OS's cache of that level, among those of [`os_caches`].
    fn cache(&self, caches: &Result<Vec<&'r CacheFact>, &'r str>) -> OsCache<'r> {
        if self.name.starts_with("to_") {
            return OsCache::NotOfThisSize;
        }
        let level = self.name.strip_prefix('L').and_then(|n| n.parse::<u32>().ok());
        let Some(level) = level else {
            return OsCache::NotACache;
        };
        match caches {
            Ok(caches) => match caches.iter().find(|cache| cache.level == level) {
                Some(cache) => OsCache::Known(cache),
                None => OsCache::None,
            },
            Err(why) => OsCache::Unknown(why),
        }
    }
}

/// What the OS says of the cache that a level is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OsCache<'r> {
    /// The cache.
    Known(&'r CacheFact),
    /// It knows no cache of that number.
    None,
    /// The level lies where the OS has no cache.
    NotOfThisSize,
    /// Its caches are not known, and why.
    Unknown(&'r str),
    /// The level is memory.
    NotACache,
}

impl Display for OsCache<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            OsCache::Known(cache) => write!(
                f,
                "OS: {} {}, of CPUs {}",
                cache_name(cache),
                cache_size(cache),
                ranges(&cache.shared_cpus)
            ),
            OsCache::None => f.write_str("OS: none"),
            OsCache::NotOfThisSize => f.write_str("OS: no cache of this size"),
            OsCache::Unknown(why) => write!(f, "OS: unknown ({why})"),
            OsCache::NotACache => Ok(()),
        }
    }
}

/// The caches for data that the measuring CPU reaches, as the OS describes
/// them; or why they are not known.
///
/// # Errors
/// The reason that the machine gives.
pub fn os_caches(run: &Run) -> Result<Vec<&CacheFact>, &str> {
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

/// A cache's name as people write it: `L1d`, `L2`.
pub fn cache_name(cache: &CacheFact) -> String {
    let kind = match cache.kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    format!("L{}{kind}", cache.level)
}

/// A cache's size, or that the OS doesn't say.
pub fn cache_size(cache: &CacheFact) -> String {
    cache.size_bytes.map_or("size not given".into(), size::format_size)
}

/// Working sets that stand for the levels, with their names: the middle of
/// each level, and the largest point for the last.
pub fn typical_sizes(run: &Run) -> Vec<(String, u64)> {
    let middle = |level: CurveLevel| {
        let middle = (level.from_bytes as f64 * level.to_bytes as f64).sqrt();
        (level.name.to_owned(), middle as u64)
    };
    let mut sizes: Vec<(String, u64)> = CurveLevel::of_latency(run).map(middle).collect();
    if let Some((_, last)) = sizes.last_mut().filter(|(name, _)| name == DRAM) {
        *last = u64::MAX;
    }
    sizes
}

/// The levels by curve, with the OS's caches next to them; empty where none was
/// found.
pub fn story(run: &Run) -> Vec<Block> {
    let mut table = Table::new([left(""), right(""), right(""), left(""), right(""), left("")]);
    let caches = os_caches(run);
    let mut curve = "";
    for level in CurveLevel::all(run) {
        if level.curve != curve {
            curve = level.curve;
            table.note("", format!("levels found in {curve}, and caches as the OS reports them"));
        }
        table.row([
            format!("  {}", level.name).into(),
            level.figure_text().into(),
            size::format_size(level.from_bytes).into(),
            "to".into(),
            size::format_size(level.to_bytes).into(),
            level.cache(&caches).to_string().into(),
        ]);
    }
    if table.rows.is_empty() { Vec::new() } else { vec![Block::Table(table)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn a_level_has_the_cache_of_its_number() {
        let mut run = synthetic::run();
        let caches = |run: &Run| {
            let known = os_caches(run);
            let all = CurveLevel::of_latency(run).map(|level| level.cache(&known).to_string());
            all.collect::<Vec<_>>()
        };
        assert_eq!(
            caches(&run),
            [
                "OS: L1d 32KiB, of CPUs 0-1",
                "OS: L2 512KiB, of CPUs 0-1",
                "OS: L3 32MiB, of CPUs 0-1",
                ""
            ]
        );
        run.machine.caches.value.as_mut().expect("caches").clear();
        assert_eq!(caches(&run)[0], "OS: none");
        run.machine.caches.value = None;
        run.machine.caches.unknown = Some("no sysfs".into());
        assert_eq!(caches(&run)[0], "OS: unknown (no sysfs)");
        // Another CPU than those that share a cache does not reach it.
        let mut run = synthetic::run();
        run.conditions.pinned_cpus = vec![u32::MAX];
        assert_eq!(caches(&run)[0], "OS: none");
        run.rows.clear();
        assert_eq!(story(&run), []);
    }
}
