//! The machine, fact by fact; what is unknown says why.

use model::filesystem::Filesystem;
use model::machine::{CacheFact, CoreKind, Fact, HugetlbPool, Limit, Machine, NumaNode, Presence};
use model::phrases::ranges;
use model::size;
use model::story::levels::{cache_name, cache_size};
use model::story::{Block, Note, Tone};

/// Every fact of a machine, one a line, and where rows of files would put
/// theirs.
pub fn machine_page(machine: &Machine, files_on: &Fact<Filesystem>) -> Vec<Block> {
    let mut blocks = machine_facts(machine);
    let mut files = Facts { blocks: Vec::new() };
    files.heading("files");
    files.fact("would be on", files_on, files_on_text);
    blocks.extend(files.blocks);
    blocks
}

/// Every fact of a machine, by topic.
pub(crate) fn machine_facts(machine: &Machine) -> Vec<Block> {
    let m = machine;
    let mut page = Facts { blocks: Vec::new() };
    page.fact("host", &m.hostname, String::clone);
    if m.device.get().is_some() {
        page.fact("device", &m.device, String::clone);
    }
    page.fact("computer", &m.product, String::clone);
    page.fact("firmware", &m.firmware, String::clone);
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
    page.fact("microcode", &m.microcode, String::clone);
    page.fact("microarchitecture", &m.microarchitecture, String::clone);
    page.fact("sockets", &m.sockets, u32::to_string);
    page.fact("cores", &m.cores, u32::to_string);
    page.fact("threads per core", &m.smt, |smt| {
        let state = if smt.active { "SMT on" } else { "SMT off or absent" };
        format!("{} ({state})", smt.threads_per_core)
    });
    page.fact("CPUs online", &m.online_cpus, |cpus| ranges(cpus));
    page.fact("CPUs allowed", &m.allowed_cpus, |cpus| ranges(cpus));
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
        limit.as_option().map_or("no limit".into(), size::about)
    });
    page.fact("page", &m.pages.base_bytes, |&b| size::format_size(b));
    page.fact("huge page", &m.pages.transparent_huge_bytes, |&b| size::format_size(b));
    page.fact("huge page policy", &m.pages.transparent_huge_policy, String::clone);
    page.many("reserved", &m.pages.hugetlb, pool);
    page.heading("clock");
    page.fact("source", &m.clock_source.current, String::clone);
    page.fact("could use", &m.clock_source.available, |names| names.join(", "));
    page.fact("TSC invariant", &m.tsc_invariant, |&on| yes(on));
    page.blocks
}
/// A file system, and the directory on it.
pub(super) fn files_on_text(filesystem: &Filesystem) -> String {
    format!("{}; in {}", filesystem.one_line(), filesystem.directory)
}

struct Facts {
    blocks: Vec<Block>,
}

impl Facts {
    fn heading(&mut self, heading: &str) {
        let heading = Block::Heading(heading.into());
        self.blocks.extend([Block::empty_line(), heading]);
    }

    fn line(&mut self, label: &str, text: String) {
        self.blocks.push(Block::labelled(format!("  {label:<20}"), text));
    }

    fn fact<T>(&mut self, label: &str, fact: &Fact<T>, text: impl Fn(&T) -> String) {
        let why = fact.unknown.as_deref();
        match &fact.value {
            Some(value) => self.line(label, text(value)),
            None => self.blocks.push(Block::Note(Note {
                tone: Tone::Dim,
                ..Note::new(
                    format!("  {label:<20}"),
                    format!("unknown: {}", why.unwrap_or("the reason is not recorded")),
                )
            })),
        }
    }

    /// A fact that is a list, one entry a line.
    fn many<T>(&mut self, label: &str, fact: &Fact<Vec<T>>, text: impl Fn(&T) -> String) {
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

fn core_kind(kind: &CoreKind) -> String {
    let mut text = format!("{}: CPUs {}", kind.name, ranges(&kind.cpus));
    if let Some(capacity) = kind.capacity {
        text.push_str(&format!(", capacity {capacity} of 1024"));
    }
    if let Some(hz) = kind.max_hz {
        text.push_str(&format!(", up to {}", gigahertz(hz)));
    }
    text
}

fn cache(cache: &CacheFact) -> String {
    let mut text = format!("{} {}", cache_name(cache), cache_size(cache));
    if let Some(ways) = cache.ways {
        text.push_str(&format!(", {ways} ways"));
    }
    if let Some(line) = cache.line_bytes {
        text.push_str(&format!(", lines of {line} bytes"));
    }
    text.push_str(&format!(", of CPUs {}", ranges(&cache.shared_cpus)));
    text
}

fn numa_node(node: &NumaNode) -> String {
    format!("{}: CPUs {}, {}", node.id, ranges(&node.cpus), size::about(node.memory_bytes))
}

fn pool(pool: &HugetlbPool) -> String {
    format!("{} of {} pages of {} free", pool.free, pool.pages, size::format_size(pool.page_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_unknown_says_why() {
        const WHY: &str = "this platform keeps it to itself";
        let blocks = machine_page(&Machine::unknown("riscv64", WHY), &Fact::unknown(WHY));
        let text = crate::terminal::plain(&blocks);
        let facts = text.lines().filter(|l| l.starts_with("  ")).count();
        let unknown = text.matches("unknown: this platform keeps it to itself").count();
        assert!(text.contains("riscv64"));
        assert_eq!(unknown, facts - 1, "all but the architecture:\n{text}");
    }
}
