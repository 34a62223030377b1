//! Sockets, cores, threads and kinds of cores.

use std::collections::{BTreeMap, BTreeSet};

use model::machine::{CoreKind, CpuSignature, Fact, Smt};

use super::cpu::{CPUS, Cpu};
use crate::cpu_times::{self, CpuTimes};
use crate::files::{Tree, cpu_list};
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
    let counted = CpuTimes::of(&stat).cpus.into_iter();
    let counted: Vec<u32> = counted.map(|(cpu, _)| cpu).collect();
    if counted.is_empty() {
        fact
    } else {
        Fact::known(counted).from_source(cpu_times::SOURCE)
    }
}

pub(super) fn read(tree: &Tree, cpu: &Cpu, online: Option<&[u32]>) -> Topology {
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
        sockets: sockets(tree, online),
        cores: match &siblings {
            Ok(groups) => count(groups.len()).from_source(format!("{CPUS}/cpu*/topology")),
            Err(why) => Fact::unknown(why.to_string()),
        },
        smt: match &siblings {
            Ok(groups) => smt(groups),
            Err(why) => Fact::unknown(why.to_string()),
        },
        core_kinds: core_kinds(tree, cpu, online),
    }
}

fn count(n: usize) -> Fact<u32> {
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
            .ok_or(NoThreadList { directory })?;
        groups.insert(list.into_iter().filter(|c| online.contains(c)).collect());
    }
    Ok(groups)
}

fn smt(groups: &BTreeSet<Vec<u32>>) -> Fact<Smt> {
    let most = groups.iter().map(Vec::len).max().unwrap_or(1);
    count(most)
        .map(|threads_per_core| Smt {
            threads_per_core,
            active: threads_per_core > 1,
        })
        .from_source(format!("{CPUS}/cpu*/topology"))
}

fn sockets(tree: &Tree, online: &[u32]) -> Fact<u32> {
    let mut packages = BTreeSet::new();
    for cpu in online {
        let path = format!("{CPUS}/cpu{cpu}/topology/physical_package_id");
        match tree.text(&path) {
            // What the kernel writes where firmware does not say.
            Some(id) if id == "-1" => {
                return Fact::unknown("the firmware does not say which package a CPU is in");
            }
            Some(id) => packages.insert(id),
            None => return Fact::unknown(format!("there is no {path}")),
        };
    }
    count(packages.len()).from_source(format!("{CPUS}/cpu*/topology/physical_package_id"))
}

fn core_kinds(tree: &Tree, cpu: &Cpu, online: &[u32]) -> Fact<Vec<CoreKind>> {
    let (mut kinds, source) = match intel_hybrid(tree, online) {
        Some(kinds) => (
            kinds,
            "/sys/devices/cpu_core, /sys/devices/cpu_atom".to_owned(),
        ),
        None => (
            by_signature_and_capacity(tree, cpu, online),
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
    let kinds: Vec<CoreKind> = [
        ("cpu_core", "P-core"),
        ("cpu_atom", "E-core"),
        ("cpu_lowpower", "low-power E-core"),
    ]
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

fn by_signature_and_capacity(tree: &Tree, cpu: &Cpu, online: &[u32]) -> Vec<CoreKind> {
    // ARM cores of one design at two speeds (a "prime" core) are two kinds;
    // steppings of one part are not.
    let part = |number: u32| {
        cpu.arm_signatures
            .iter()
            .find(|(of, _)| *of == number)
            .and_then(|(_, signature)| match *signature {
                CpuSignature::Arm {
                    implementer, part, ..
                } => Some((implementer, part)),
                CpuSignature::X86 { .. } => None,
            })
    };
    let mut groups: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for &number in online {
        groups
            .entry((part(number), capacity(tree, number)))
            .or_default()
            .push(number);
    }
    groups
        .into_iter()
        .map(|((part, capacity), cpus)| CoreKind {
            name: part.map(part_name).unwrap_or_default(),
            capacity,
            max_hz: cpus.iter().filter_map(|&c| max_hz(tree, c)).max(),
            cpus,
        })
        .map(|mut kind| {
            // Kinds of one design that only capacity tells apart.
            if kind.name.is_empty()
                && let Some(capacity) = kind.capacity
                && kind.cpus.len() < online.len()
            {
                kind.name = format!("capacity {capacity}");
            }
            kind
        })
        .collect()
}

fn part_name((implementer, part): (u32, u32)) -> String {
    let signature = CpuSignature::Arm {
        implementer,
        variant: 0,
        part,
        revision: 0,
    };
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
    tree.number(&format!("{CPUS}/cpu{cpu}/cpufreq/cpuinfo_max_freq"))?
        .checked_mul(1000)
}
