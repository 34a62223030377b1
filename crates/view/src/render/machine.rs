//! The machine, fact by fact; what is unknown says why.

use super::page;
use model::filesystem::Filesystem;
use model::machine::{
    CacheFact, CacheKind, CoreKind, Fact, HugetlbPool, Limit, Machine, NumaNode, Presence,
};
use model::size;
use model::story::Block;

/// Every fact of a machine, one a line, and where rows of files would put
/// theirs.
pub fn machine(machine: &Machine, files_on: &Fact<Filesystem>) -> String {
    let mut groups = groups(machine);
    let mut files = Facts::default();
    files.heading("files");
    files.fact("would be on", files_on, files_on_text);
    groups.extend(files.groups);
    let mut blocks = Vec::new();
    for group in groups {
        if !group.heading.is_empty() {
            blocks.extend([Block::empty_line(), Block::text(group.heading)]);
        }
        let facts = group.facts.into_iter();
        blocks.extend(facts.map(|(label, value)| Block::labelled(format!("  {label:<20}"), value)));
    }
    page(&blocks, false)
}

/// Facts of one kind.
#[derive(Debug)]
pub(crate) struct Group {
    /// Of which kind; empty for what comes first.
    pub(crate) heading: &'static str,
    /// Label and text; of what is unknown, why.
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// Every fact of a machine.
pub(crate) fn groups(machine: &Machine) -> Vec<Group> {
    let m = machine;
    let mut page = Facts::default();
    page.heading("");
    page.fact("host", &m.hostname, String::clone);
    page.fact("operating system", &m.os, String::clone);
    page.fact("kernel", &m.kernel, String::clone);
    page.line("architecture", m.arch.clone());
    page.fact("emulated", &m.emulated, Presence::to_string);
    page.fact("hypervisor", &m.hypervisor, Presence::to_string);
    page.fact("container", &m.container, Presence::to_string);
    page.heading("cpu");
    page.fact("model", &m.cpu_model, String::clone);
    page.fact("vendor", &m.cpu_vendor, String::clone);
    page.fact("signature", &m.cpu_signature, ToString::to_string);
    page.fact("microarchitecture", &m.microarchitecture, String::clone);
    page.fact("sockets", &m.sockets, u32::to_string);
    page.fact("cores", &m.cores, u32::to_string);
    page.fact("threads per core", &m.smt, |smt| {
        let state = if smt.active {
            "SMT on"
        } else {
            "SMT off or absent"
        };
        format!("{} ({state})", smt.threads_per_core)
    });
    page.fact("CPUs online", &m.online_cpus, |cpus| cpu_list(cpus));
    page.fact("CPUs allowed", &m.allowed_cpus, |cpus| cpu_list(cpus));
    page.fact("CPU quota", &m.cpu_quota, |quota| match quota {
        Limit::At(cpus) => format!("{cpus} CPUs"),
        Limit::Unlimited => "no limit".into(),
    });
    page.many("core kind", &m.core_kinds, core_kind);
    page.heading("frequency");
    page.fact("governor", &m.governor, String::clone);
    page.fact("turbo", &m.turbo, |&on| yes(on));
    page.fact("driver", &m.frequency.driver, String::clone);
    page.fact("lowest", &m.frequency.min_hz, |&hz| gigahertz(hz));
    page.fact("highest", &m.frequency.max_hz, |&hz| gigahertz(hz));
    page.fact("now", &m.frequency.current_hz, |&hz| gigahertz(hz));
    page.heading("memory");
    page.many("cache", &m.caches, cache);
    page.many("NUMA node", &m.numa_nodes, numa_node);
    page.fact("physical", &m.memory.physical_bytes, |&b| size::about(b));
    page.fact("available", &m.memory.available_bytes, |&b| size::about(b));
    page.fact("cgroup limit", &m.memory.cgroup_limit_bytes, |limit| {
        limit.at().map_or("no limit".into(), size::about)
    });
    page.fact("page", &m.pages.base_bytes, |&b| size::text(b));
    page.fact("huge page", &m.pages.transparent_huge_bytes, |&b| {
        size::text(b)
    });
    page.fact(
        "huge page policy",
        &m.pages.transparent_huge_policy,
        String::clone,
    );
    page.many("reserved", &m.pages.hugetlb, pool);
    page.heading("clock");
    page.fact("source", &m.clock_source.current, String::clone);
    page.fact("could use", &m.clock_source.available, |names| {
        names.join(", ")
    });
    page.fact("TSC invariant", &m.tsc_invariant, |&on| yes(on));
    page.groups
}

/// A file system, and the directory on it.
pub(super) fn files_on_text(filesystem: &Filesystem) -> String {
    format!("{}; in {}", filesystem.text(), filesystem.directory)
}

#[derive(Default)]
struct Facts {
    groups: Vec<Group>,
}

impl Facts {
    fn heading(&mut self, heading: &'static str) {
        self.groups.push(Group {
            heading,
            facts: Vec::new(),
        });
    }

    fn line(&mut self, label: &'static str, value: String) {
        if let Some(group) = self.groups.last_mut() {
            group.facts.push((label, value));
        }
    }

    fn fact<T>(&mut self, label: &'static str, fact: &Fact<T>, text: impl Fn(&T) -> String) {
        let value = match (&fact.value, &fact.unknown) {
            (Some(value), _) => text(value),
            (None, Some(why)) => format!("unknown: {why}"),
            (None, None) => "unknown: the reason is not recorded".into(),
        };
        self.line(label, value);
    }

    /// A fact that is a list, one entry a line.
    fn many<T>(&mut self, label: &'static str, fact: &Fact<Vec<T>>, text: impl Fn(&T) -> String) {
        match fact.get() {
            Some(list) if !list.is_empty() => {
                for entry in list {
                    self.line(label, text(entry));
                }
            }
            _ => self.fact(label, fact, |_| "none".into()),
        }
    }
}

fn yes(on: bool) -> String {
    if on { "yes" } else { "no" }.into()
}

fn gigahertz(hz: u64) -> String {
    format!("{:.2} GHz", hz as f64 / 1e9)
}

/// CPUs as ranges: `0-3, 6`.
pub(super) fn cpu_list(cpus: &[u32]) -> String {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(cpu) => *end = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(|(from, to)| match from == to {
            true => from.to_string(),
            false => format!("{from}-{to}"),
        })
        .collect();
    match texts.is_empty() {
        true => "none".into(),
        false => texts.join(", "),
    }
}

fn core_kind(kind: &CoreKind) -> String {
    let mut text = format!("{}: CPUs {}", kind.name, cpu_list(&kind.cpus));
    if let Some(capacity) = kind.capacity {
        text.push_str(&format!(", capacity {capacity} of 1024"));
    }
    if let Some(hz) = kind.max_hz {
        text.push_str(&format!(", up to {}", gigahertz(hz)));
    }
    text
}

/// A cache's name as people write it: `L1d`, `L2`.
pub(crate) fn cache_name(cache: &CacheFact) -> String {
    let kind = match cache.kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    format!("L{}{kind}", cache.level)
}

/// A cache's size, or that the OS doesn't say.
pub(crate) fn cache_size(cache: &CacheFact) -> String {
    cache.size_bytes.map_or("size not given".into(), size::text)
}

fn cache(cache: &CacheFact) -> String {
    let mut text = format!("{} {}", cache_name(cache), cache_size(cache));
    if let Some(ways) = cache.ways {
        text.push_str(&format!(", {ways} ways"));
    }
    if let Some(line) = cache.line_bytes {
        text.push_str(&format!(", lines of {line} bytes"));
    }
    text.push_str(&format!(", of CPUs {}", cpu_list(&cache.shared_cpus)));
    text
}

fn numa_node(node: &NumaNode) -> String {
    format!(
        "{}: CPUs {}, {}",
        node.id,
        cpu_list(&node.cpus),
        size::about(node.memory_bytes)
    )
}

fn pool(pool: &HugetlbPool) -> String {
    format!(
        "{} of {} pages of {} free",
        pool.free,
        pool.pages,
        size::text(pool.page_bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_ranges() {
        assert_eq!(cpu_list(&[3, 0, 1, 2, 6]), "0-3, 6");
        assert_eq!(cpu_list(&[]), "none");
        assert_eq!(cpu_list(&[u32::MAX]), u32::MAX.to_string());
    }

    #[test]
    fn whatever_is_unknown_says_why() {
        const WHY: &str = "this platform keeps it to itself";
        let text = machine(&Machine::unknown("riscv64", WHY), &Fact::unknown(WHY));
        let facts = text.lines().filter(|l| l.starts_with("  ")).count();
        let unknown = text
            .matches("unknown: this platform keeps it to itself")
            .count();
        assert!(text.contains("riscv64"));
        assert_eq!(unknown, facts - 1, "all but the architecture:\n{text}");
    }
}
