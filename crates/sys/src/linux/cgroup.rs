//! The control groups this process is in, version 1, 2 and both at once
//! (Documentation/admin-guide/cgroup-v1/, cgroup-v2.rst; cgroups(7)).
//!
//! A limit may be set on the group itself or on any ancestor, so all levels
//! up to the mount point are read. In a container the ancestors outside the
//! namespace can't be seen; what is visible is what is reported.

use std::fs::File;
use std::os::unix::fs::FileExt;

use model::machine::Limit;

use crate::files::{Files, Tree};
use crate::groups::{self, Chain, NoGroup, Version};

/// Finds the hierarchy of `controller` (`memory`, `cpu`), or says why there is none.
pub(crate) fn chain(tree: &Tree, controller: &str) -> Result<Chain, NoGroup> {
    let groups = tree.require("/proc/self/cgroup")?;
    let mounts = tree.require("/proc/self/mountinfo")?;
    let mut chain = groups::chain(&groups, &mounts, controller)?;
    chain.levels.retain(|level| tree.exists(level));
    match chain.levels.is_empty() {
        true => Err(NoGroup::NotVisible(controller.to_owned())),
        false => Ok(chain),
    }
}

/// What the memory controller grants, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryGrant {
    /// The tightest limit of any level.
    pub(crate) limit: Limit<u64>,
    /// What the group with that limit uses, page cache it could drop not counted.
    pub(crate) used: Option<u64>,
    /// The least that any level with a limit has left.
    pub(crate) headroom: Option<u64>,
}

pub(crate) fn memory(tree: &Tree) -> Result<MemoryGrant, NoGroup> {
    let chain = chain(tree, "memory")?;
    let mut grant = MemoryGrant { limit: Limit::Unlimited, used: None, headroom: None };
    for level in &chain.levels {
        let Some(limit) = memory_limit(tree, chain.version, level) else {
            continue;
        };
        let used = memory_used(tree, chain.version, level);
        if grant.limit.as_option().is_none_or(|tightest| limit < tightest) {
            grant.limit = Limit::At(limit);
            grant.used = used;
        }
        let left = limit.saturating_sub(used.unwrap_or(0));
        grant.headroom = Some(grant.headroom.map_or(left, |least| least.min(left)));
    }
    Ok(grant)
}

fn memory_limit(tree: &Tree, version: Version, level: &str) -> Option<u64> {
    // Version 1 writes "no limit" as the largest multiple of a page below
    // 2^63; no machine has an exbibyte.
    let real = |bytes: &u64| *bytes < 1 << 60;
    match version {
        Version::One => [
            tree.number(&format!("{level}/memory.limit_in_bytes")),
            // Also knows of ancestors that a container does not show.
            tree.text(&format!("{level}/memory.stat"))
                .and_then(|stat| keyed(&stat, "hierarchical_memory_limit")),
        ],
        // `max` does not parse, and the root group has neither file. Above
        // `high` the kernel throttles instead of killing: no less a bound here.
        Version::Two => [
            tree.number(&format!("{level}/memory.max")),
            tree.number(&format!("{level}/memory.high")),
        ],
    }
    .into_iter()
    .flatten()
    .filter(real)
    .min()
}

fn memory_used(tree: &Tree, version: Version, level: &str) -> Option<u64> {
    let (usage, cache) = match version {
        Version::One => ("memory.usage_in_bytes", "total_inactive_file"),
        Version::Two => ("memory.current", "inactive_file"),
    };
    let used = tree.number(&format!("{level}/{usage}"))?;
    let droppable = tree
        .text(&format!("{level}/memory.stat"))
        .and_then(|stat| keyed(&stat, cache))
        .unwrap_or(0);
    Some(used.saturating_sub(droppable))
}

/// The number behind `key` in a file of `key number` lines.
fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?.trim().parse().ok()
}

/// The least CPU time that any level grants, in CPUs.
pub(crate) fn cpu_quota(tree: &Tree) -> Result<Limit<f64>, NoGroup> {
    let chain = chain(tree, "cpu")?;
    Ok(chain
        .levels
        .iter()
        .filter_map(|level| level_quota(tree, chain.version, level))
        .min_by(f64::total_cmp)
        .map_or(Limit::Unlimited, Limit::At))
}

fn level_quota(tree: &Tree, version: Version, level: &str) -> Option<f64> {
    let (quota, period) = match version {
        // -1 is no quota, and does not parse as u64.
        Version::One => (
            tree.number(&format!("{level}/cpu.cfs_quota_us"))?,
            tree.number(&format!("{level}/cpu.cfs_period_us"))?,
        ),
        Version::Two => {
            let text = tree.text(&format!("{level}/cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            (quota.parse().ok()?, period.parse().ok()?)
        }
    };
    (period > 0).then(|| quota as f64 / period as f64)
}

/// The nearest group of this process that the CPU controller divides time by,
/// if that is not the root.
pub(crate) fn cpu_group(tree: &Tree) -> Option<String> {
    let chain = chain(tree, "cpu").ok()?;
    let (_root, below) = chain.levels.split_last()?;
    let file = match chain.version {
        Version::One => "cpu.shares",
        Version::Two => "cpu.weight",
    };
    let divides = |level: &&String| tree.exists(&format!("{level}/{file}"));
    below.iter().find(divides).cloned()
}

/// The tightest `pids.max` of any level; `None` without a limit. Both versions
/// have the same file, and `max` does not parse.
pub(crate) fn most_processes(tree: &Tree) -> Option<u64> {
    let chain = chain(tree, "pids").ok()?;
    let limits = chain.levels.iter();
    limits.filter_map(|level| tree.number(&format!("{level}/pids.max"))).min()
}

#[derive(Debug)]
pub(crate) struct CpuStat {
    file: File,
}

impl CpuStat {
    /// Time this group was stopped by its quota, in µs.
    pub(crate) fn throttled_us(&self) -> Option<u64> {
        // cpu.stat has a dozen short lines.
        let mut buffer = [0; 1024];
        let length = self.file.read_at(&mut buffer, 0).ok()?;
        throttled_of(std::str::from_utf8(&buffer[..length]).ok()?)
    }
}

/// Version 2 counts µs, version 1 ns under another name.
fn throttled_of(stat: &str) -> Option<u64> {
    keyed(stat, "throttled_usec").or_else(|| Some(keyed(stat, "throttled_time")? / 1000))
}

/// The `cpu.stat` files that can show throttling: those of the levels with a
/// quota, or the group's own, which then says 0. Empty if there is none.
pub(crate) fn cpu_stats(tree: &Tree) -> Vec<CpuStat> {
    let Ok(chain) = chain(tree, "cpu") else {
        return Vec::new();
    };
    let open = |level: &String| {
        let stat = CpuStat { file: File::open(tree.full_path(&format!("{level}/cpu.stat"))).ok()? };
        // The root group of version 2 has a cpu.stat without these lines.
        stat.throttled_us().is_some().then_some(stat)
    };
    let limited: Vec<CpuStat> = chain
        .levels
        .iter()
        .filter(|level| level_quota(tree, chain.version, level).is_some())
        .filter_map(open)
        .collect();
    if limited.is_empty() {
        chain.levels.iter().find_map(open).into_iter().collect()
    } else {
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_of_processes() {
        let root = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        };
        write("proc/self/cgroup", "8:pids:/a/b\n0::/\n");
        write("proc/self/mountinfo", "35 31 0:32 / /cg/pids rw - cgroup cgroup rw,pids\n");
        write("cg/pids/a/b/pids.max", "max\n");
        let tree = Tree::new(root.path());
        assert_eq!(most_processes(&tree), None);
        write("cg/pids/a/pids.max", "40\n");
        assert_eq!(most_processes(&tree), Some(40), "an ancestor's");
        write("cg/pids/a/b/pids.max", "12\n");
        assert_eq!(most_processes(&tree), Some(12));
    }

    #[test]
    fn throttling_in_both_units() {
        assert_eq!(throttled_of("nr_throttled 3\nthrottled_usec 1500\n"), Some(1500));
        assert_eq!(throttled_of("nr_throttled 3\nthrottled_time 1500999\n"), Some(1500));
        assert_eq!(throttled_of("usage_usec 3\n"), None);
    }
}
