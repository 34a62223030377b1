//! Sockets, cores, threads and kinds of cores.

use std::collections::{BTreeMap, BTreeSet};

use model::machine::{CoreKind, CpuSignature, Fact, Smt};

use super::cpu::{CPUS, Cpu, is_arm};
use crate::cpu_times::{self, CpuTimes};
use crate::files::{Files, Tree, cpu_list};
use crate::machine::is_as_fast;
use crate::microarchitecture::microarchitecture;

pub(super) struct Topology {
    pub(super) sockets: Fact<u32>,
    pub(super) cores: Fact<u32>,
    pub(super) smt: Fact<Smt>,
    pub(super) core_kinds: Fact<Vec<CoreKind>>,
}

/// The CPUs that are online; where /sys may not be read (Android), those
/// that /proc/stat counts.
pub(super) fn online(tree: &Tree) -> Fact<Vec<u32>> {
    let fact = tree.fact(&format!("{CPUS}/online"), cpu_list);
    if fact.value.is_some() {
        return fact;
    }
    let stat = tree.text(cpu_times::SOURCE).unwrap_or_default();
    let counted = CpuTimes::from_stat(&stat).cpus.into_iter();
    let counted: Vec<u32> = counted.map(|(cpu, _)| cpu).collect();
    if counted.is_empty() { fact } else { Fact::known(counted).from_source(cpu_times::SOURCE) }
}

/// `nodes`: how many NUMA nodes there are.
pub(super) fn read_topology(
    tree: &Tree,
    arch: &str,
    cpu: &Cpu,
    online: Option<&[u32]>,
    nodes: usize,
) -> Topology {
    let Some(online) = online else {
        let why = "which CPUs are online is unknown";
        return Topology {
            sockets: Fact::unknown(why),
            cores: Fact::unknown(why),
            smt: Fact::unknown(why),
            core_kinds: Fact::unknown(why),
        };
    };
    let siblings = siblings(tree, online);
    Topology {
        sockets: match is_arm(arch) && nodes < 2 {
            true => sockets_or_clusters(tree, cpu, online),
            false => sockets(tree, online),
        },
        cores: match &siblings {
            Ok(groups) => cpu_count(groups.len()).from_source(format!("{CPUS}/cpu*/topology")),
            Err(why) => Fact::unknown(why.to_string()),
        },
        smt: match &siblings {
            Ok(groups) => smt(groups),
            Err(why) => Fact::unknown(why.to_string()),
        },
        core_kinds: core_kinds(tree, arch, cpu, online),
    }
}

fn cpu_count(n: usize) -> Fact<u32> {
    Fact::or_unknown(u32::try_from(n).ok(), "more than a u32 can count")
}

/// A CPU's directory without the list of its core's threads.
#[derive(thiserror::Error, Debug)]
#[error("the kernel does not describe the cores in {directory}")]
struct NoThreadList {
    directory: String,
}

/// Each core as the set of its online threads.
fn siblings(tree: &Tree, online: &[u32]) -> Result<BTreeSet<Vec<u32>>, NoThreadList> {
    let mut groups = BTreeSet::new();
    for cpu in online {
        let directory = format!("{CPUS}/cpu{cpu}/topology");
        // The older name of the two means the same.
        let list = ["core_cpus_list", "thread_siblings_list"]
            .iter()
            .find_map(|name| cpu_list(&tree.text(&format!("{directory}/{name}"))?))
            .filter(|list| list.contains(cpu))
            .ok_or(NoThreadList { directory })?;
        groups.insert(list.into_iter().filter(|c| online.contains(c)).collect());
    }
    Ok(groups)
}

fn smt(groups: &BTreeSet<Vec<u32>>) -> Fact<Smt> {
    let most = groups.iter().map(Vec::len).max().unwrap_or(1);
    cpu_count(most)
        .map(|threads_per_core| Smt { threads_per_core, active: threads_per_core > 1 })
        .from_source(format!("{CPUS}/cpu*/topology"))
}

fn sockets(tree: &Tree, online: &[u32]) -> Fact<u32> {
    let mut packages = BTreeSet::new();
    for cpu in online {
        match text_of(tree, *cpu, PACKAGE) {
            // What the kernel writes where firmware does not say.
            Some(id) if id == "-1" => {
                return Fact::unknown("the firmware does not say which package a CPU is in");
            }
            Some(id) => packages.insert(id),
            None => {
                let directory = format!("{CPUS}/cpu{cpu}/topology");
                return Fact::unknown(format!("there is no {directory}/{PACKAGE}"));
            }
        };
    }
    cpu_count(packages.len()).from_source(format!("{CPUS}/cpu*/topology/{PACKAGE}"))
}

/// Of an ARM system without ACPI, where Linux before 6.0 numbers clusters as packages.
fn sockets_or_clusters(tree: &Tree, cpu: &Cpu, online: &[u32]) -> Fact<u32> {
    let counted = sockets(tree, online);
    let known = |cpu: &u32| text_of(tree, *cpu, "cluster_id").is_some_and(|id| id != "-1");
    if counted.get().is_none_or(|&count| count < 2)
        || online.iter().all(known)
        || tree.exists("/sys/firmware/acpi")
    {
        return counted;
    }
    let mut kinds: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for &number in online {
        let kind = (part(cpu, number), capacity(tree, number), max_hz(tree, number));
        let package = text_of(tree, number, PACKAGE);
        kinds.entry(package).or_default().insert(kind);
    }
    let mut kinds = kinds.into_values();
    let first = kinds.next();
    match kinds.all(|kinds| Some(kinds) == first) {
        true => Fact::unknown("the kernel may number clusters as packages here (ARM, no ACPI)"),
        // Chips on one board are alike.
        false => Fact::known(1).from_source(format!(
            "{CPUS}/cpu*/topology: the packages differ, so they are clusters of one chip"
        )),
    }
}

const PACKAGE: &str = "physical_package_id";

fn text_of(tree: &Tree, cpu: u32, file: &str) -> Option<String> {
    tree.text(&format!("{CPUS}/cpu{cpu}/topology/{file}"))
}

/// Whether nothing tells the CPUs apart: clusters and frequencies.
pub(super) fn is_uniform(tree: &Tree, online: &[u32]) -> bool {
    let clusters = online.iter().map(|&cpu| {
        let file = |name| text_of(tree, cpu, name);
        (file(PACKAGE), file("cluster_id"))
    });
    let speeds = online.iter().map(|&cpu| (speed(tree, true, cpu), cpu));
    clusters.collect::<BTreeSet<_>>().len() < 2 && by_speed(speeds).len() < 2
}

fn core_kinds(tree: &Tree, arch: &str, cpu: &Cpu, online: &[u32]) -> Fact<Vec<CoreKind>> {
    let (mut kinds, source) = match intel_hybrid(tree, online) {
        Some(kinds) => (kinds, "/sys/devices/cpu_core, /sys/devices/cpu_atom".to_owned()),
        None => (
            by_design_and_speed(tree, arch, cpu, online),
            format!("{CPUS}/cpu*/cpu_capacity and the CPUs' identification"),
        ),
    };
    if kinds.is_empty() {
        return Fact::unknown("no CPU is online, as far as /sys says");
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse((kind.capacity, kind.max_hz)));
    if let [only] = kinds.as_mut_slice()
        && only.name.is_empty()
    {
        "only kind".clone_into(&mut only.name);
    }
    Fact::known(kinds).from_source(source)
}

/// Hybrid processors of Intel have one performance-counter unit per kind,
/// which lists its CPUs (Documentation/admin-guide/perf/hybrid).
fn intel_hybrid(tree: &Tree, online: &[u32]) -> Option<Vec<CoreKind>> {
    let kinds: Vec<CoreKind> =
        [("cpu_core", "P-core"), ("cpu_atom", "E-core"), ("cpu_lowpower", "low-power E-core")]
            .iter()
            .filter_map(|(unit, name)| {
                let cpus = cpu_list(&tree.text(&format!("/sys/devices/{unit}/cpus"))?)?;
                let cpus: Vec<u32> = cpus.into_iter().filter(|c| online.contains(c)).collect();
                (!cpus.is_empty()).then(|| CoreKind {
                    name: (*name).to_owned(),
                    capacity: cpus.iter().filter_map(|&c| capacity(tree, c)).max(),
                    max_hz: cpus.iter().filter_map(|&c| max_hz(tree, c)).max(),
                    cpus,
                })
            })
            .collect();
    (!kinds.is_empty()).then_some(kinds)
}

/// ARM cores of one design at two speeds (a "prime" core) are two kinds; steppings of one part are
/// not, nor are cores that differ by binning.
fn by_design_and_speed(tree: &Tree, arch: &str, cpu: &Cpu, online: &[u32]) -> Vec<CoreKind> {
    let mut designs: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for &number in online {
        designs.entry(part(cpu, number)).or_default().push(number);
    }
    let mut kinds = Vec::new();
    for (part, cpus) in designs {
        let speed_of = |&cpu: &u32| (speed(tree, is_arm(arch), cpu), cpu);
        for mut cpus in by_speed(cpus.iter().map(speed_of)) {
            cpus.sort_unstable();
            kinds.push(CoreKind {
                name: part.map(part_name).unwrap_or_default(),
                capacity: cpus.iter().filter_map(|&c| capacity(tree, c)).max(),
                max_hz: cpus.iter().filter_map(|&c| max_hz(tree, c)).max(),
                cpus,
            });
        }
    }
    let several = kinds.len() > 1;
    for kind in kinds.iter_mut().filter(|kind| several && kind.name.is_empty()) {
        kind.name = match (kind.capacity, kind.max_hz) {
            (Some(capacity), _) => format!("capacity {capacity}"),
            (None, Some(hz)) => format!("{} MHz", hz / 1_000_000),
            (None, None) => "unknown speed".to_owned(),
        };
    }
    kinds
}

/// The capacity of a CPU, on ARM in its absence its highest frequency: elsewhere cores of one kind
/// may have several.
fn speed(tree: &Tree, arm: bool, cpu: u32) -> Option<u64> {
    let capacity = capacity(tree, cpu).map(u64::from);
    capacity.or_else(|| max_hz(tree, cpu).filter(|_| arm))
}

/// What is as fast as the fastest of its group, the fastest first.
fn by_speed(cpus: impl Iterator<Item = (Option<u64>, u32)>) -> Vec<Vec<u32>> {
    let mut cpus: Vec<_> = cpus.collect();
    cpus.sort_by(|a, b| b.cmp(a));
    let near = |a: &(Option<u64>, u32), b: &(Option<u64>, u32)| match (a.0, b.0) {
        (Some(a), Some(b)) => is_as_fast(a, b),
        (a, b) => a == b,
    };
    let mut groups: Vec<Vec<(Option<u64>, u32)>> = Vec::new();
    for cpu in cpus {
        match groups.last_mut().filter(|group| near(&cpu, &group[0])) {
            Some(group) => group.push(cpu),
            None => groups.push(vec![cpu]),
        }
    }
    let numbers = |group: Vec<(_, u32)>| group.into_iter().map(|(_, cpu)| cpu).collect();
    groups.into_iter().map(numbers).collect()
}

/// The design of a CPU.
fn part(cpu: &Cpu, number: u32) -> Option<(u32, u32)> {
    let signatures = &cpu.arm_signatures;
    let (_, signature) = signatures.iter().find(|(of, _)| *of == number)?;
    match *signature {
        CpuSignature::Arm { implementer, part, .. } => Some((implementer, part)),
        CpuSignature::X86 { .. } => None,
    }
}

fn part_name((implementer, part): (u32, u32)) -> String {
    let signature = CpuSignature::Arm { implementer, variant: 0, part, revision: 0 };
    match microarchitecture("", &signature) {
        Some(name) => name.to_owned(),
        None => format!("implementer {implementer:#x}, part {part:#x}"),
    }
}

fn capacity(tree: &Tree, cpu: u32) -> Option<u32> {
    let capacity = tree.number(&format!("{CPUS}/cpu{cpu}/cpu_capacity"))?;
    u32::try_from(capacity).ok()
}

fn max_hz(tree: &Tree, cpu: u32) -> Option<u64> {
    tree.number(&format!("{CPUS}/cpu{cpu}/cpufreq/cpuinfo_max_freq"))?.checked_mul(1000)
}
