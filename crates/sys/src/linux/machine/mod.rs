//! The facts of a machine from /sys and /proc, a file for each topic, each fact with its source or the reason
//! why it is unknown. All is read below a root directory, so that tests read file trees of other machines.
//! What does not come from files (CPUID, affinity) is passed in by `machine.rs` of the crate.

mod caches;
mod cpu;
mod device;
mod firmware;
mod frequency;
mod numa;
mod pages;
mod topology;
mod virtualization;

use std::path::Path;

use model::machine::{ClockSourceFacts, Fact, Machine, MemoryFacts};

use super::cgroup;
use crate::files::{Files, Tree, kib_field};
use crate::machine::Live;

pub(crate) fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    non_empty(text.trim())
}

pub(crate) fn read_machine(root: &Path, live: &Live) -> Machine {
    let tree = Tree::of_one_moment(root);
    let online = topology::online(&tree);
    let cpu = cpu::read_cpu(&tree, live, online.get().map_or(&[], Vec::as_slice));
    let numa_nodes = numa::read_numa(&tree, online.value.as_deref());
    let nodes = numa_nodes.get().map_or(1, Vec::len);
    let topology = topology::read_topology(&tree, &live.arch, &cpu, online.value.as_deref(), nodes);
    let emulated = virtualization::emulated(&tree, live);
    let hypervisor = virtualization::hypervisor(&tree, live);
    let frequency = frequency::read_frequency(&tree, live, &hypervisor);
    Machine {
        hostname: tree.fact("/proc/sys/kernel/hostname", non_empty),
        device: device::read_device(&tree),
        product: firmware::product(&tree),
        firmware: firmware::version(&tree),
        os: os(&tree),
        kernel: tree.fact("/proc/sys/kernel/osrelease", non_empty),
        arch: live.arch.clone(),
        emulated,
        cpu_model: cpu.model,
        cpu_vendor: cpu.vendor,
        cpu_signature: cpu.signature,
        microcode: firmware::microcode(&tree, &live.arch),
        microarchitecture: cpu.microarchitecture,
        sockets: topology.sockets,
        cores: topology.cores,
        online_cpus: online,
        allowed_cpus: match live.allowed_cpus.get() {
            Some(cpus) => Fact::known(cpus.clone()).from_source("sched_getaffinity(2)"),
            None => live.allowed_cpus.clone(),
        },
        smt: topology.smt,
        core_kinds: topology.core_kinds,
        numa_nodes,
        caches: caches::read_caches(&tree),
        pages: pages::read_page_facts(&tree, live),
        memory: memory(&tree),
        cpu_quota: fact_of(cgroup::cpu_quota(&tree), "control groups"),
        container: virtualization::container(&tree),
        governor: frequency.governor,
        turbo: frequency.turbo,
        frequency: frequency.frequency,
        clock_source: clock_source(&tree),
        tsc_invariant: tsc_invariant(live),
        hypervisor,
    }
}

/// The fact that a result is, from its source or unknown by its error.
fn fact_of<T>(result: Result<T, impl std::fmt::Display>, source: &str) -> Fact<T> {
    match result {
        Ok(value) => Fact::known(value).from_source(source),
        Err(why) => Fact::unknown(why.to_string()),
    }
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// PRETTY_NAME of os-release(5), else its name and version.
fn os(tree: &Tree) -> Fact<String> {
    let name = |text: &str| {
        let value = |key: &str| {
            let mut lines = text.lines();
            let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
            non_empty(value.trim().trim_matches(['"', '\'']))
        };
        let parts = || [value("NAME"), value("VERSION_ID")].into_iter().flatten();
        let parts = || non_empty(&parts().collect::<Vec<_>>().join(" "));
        value("PRETTY_NAME").or_else(parts)
    };
    for path in ["/etc/os-release", "/usr/lib/os-release"] {
        if tree.exists(path) {
            return tree.fact(path, name);
        }
    }
    if let Some(android) = device::android(tree) {
        return android;
    }
    Fact::unknown("there is no /etc/os-release and no /usr/lib/os-release")
}

fn memory(tree: &Tree) -> MemoryFacts {
    const MEMINFO: &str = "/proc/meminfo";
    let bytes = |key: &'static str| tree.fact(MEMINFO, |text| kib_field(text, key));
    MemoryFacts {
        physical_bytes: bytes("MemTotal"),
        available_bytes: bytes("MemAvailable"),
        cgroup_limit_bytes: fact_of(cgroup::memory(tree), "control groups")
            .map(|grant| grant.limit),
    }
}

fn clock_source(tree: &Tree) -> ClockSourceFacts {
    const DIRECTORY: &str = "/sys/devices/system/clocksource/clocksource0";
    ClockSourceFacts {
        current: tree.fact(&format!("{DIRECTORY}/current_clocksource"), non_empty),
        available: tree.fact(&format!("{DIRECTORY}/available_clocksource"), |text| {
            Some(text.split_whitespace().map(str::to_owned).collect())
        }),
    }
}

fn tsc_invariant(live: &Live) -> Fact<bool> {
    match &live.cpuid {
        Some(cpuid) => {
            Fact::known(cpuid.tsc_invariant).from_source("CPUID leaf 8000_0007h, EDX bit 8")
        }
        None if live.arch == "aarch64" => Fact::unknown(
            "an aarch64 CPU has no TSC; its counter CNTVCT_EL0 runs at a constant rate by definition",
        ),
        None => Fact::unknown(format!("there is no CPUID instruction to ask on {}", live.arch)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_read_twice() {
        crate::files::READ.take();
        read_machine(Path::new("/"), &Live::here());
        let mut read = crate::files::READ.take();
        assert!(read.len() > 5, "{read:?}");
        read.sort();
        let twice: Vec<_> = read.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn what_a_file_does_not_hold_is_not_its_text() {
        let root = tempfile::tempdir().expect("a directory");
        let tree = Tree::new(root.path());
        let write = |path: &str, text: &str| tree.make(path, text);
        write("/proc/meminfo", "MemTotal:  1000 kB\nMemFree:  500 kB\n");
        let memory = memory(&tree);
        assert_eq!(memory.physical_bytes.value, Some(1_024_000));
        let why = memory.available_bytes.unknown.expect("a reason");
        assert_eq!(why, "/proc/meminfo does not hold it");
        write("/etc/os-release", "NAME=\"Small Linux\"\nVERSION_ID=3\n");
        assert_eq!(os(&tree).value.as_deref(), Some("Small Linux 3"));
        write("/etc/os-release", &"y".repeat(1000));
        let why = os(&tree).unknown.expect("a reason");
        assert!(why.len() < 200, "{why}");
    }
}
