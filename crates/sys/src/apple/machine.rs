//! Machine facts from `sysctlbyname`; <sys/sysctl.h> names them.

use std::path::Path;

use model::machine::{CacheFact, CacheKind, CoreKind, Fact, Machine, Presence, Smt};

use super::sysctl;
use crate::machine::Live;

pub(crate) fn boot_id() -> Option<String> {
    sysctl::sysctl_text("kern.bootsessionuuid")
}

/// The root of a file tree does not matter here: nothing comes from files.
pub(crate) fn read_machine(_root: &Path, live: &Live) -> Machine {
    let mut machine =
        Machine::unknown(live.arch.clone(), "latlas knows no way to read this on an Apple system");
    machine.hostname = text_fact("kern.hostname");
    let (device, system) = match cfg!(target_os = "ios") {
        // `hw.model` is the board there, and `hw.machine` the architecture on a Mac.
        true => ("hw.machine", "iOS"),
        false => ("hw.model", "macOS"),
    };
    machine.device = text_fact(device);
    machine.os = text_fact("kern.osproductversion").map(|version| format!("{system} {version}"));
    machine.kernel = text_fact("kern.osrelease").map(|release| format!("Darwin {release}"));
    machine.cpu_model = text_fact("machdep.cpu.brand_string");
    machine.cpu_vendor = match &live.cpuid {
        Some(cpuid) => Fact::known(cpuid.vendor.clone()).from_source("CPUID"),
        None => Fact::known("Apple".to_owned()),
    };
    machine.emulated = match sysctl::sysctl_number("sysctl.proc_translated") {
        Some(1) => Fact::known(Presence::Present("Rosetta".to_owned())),
        // The name is missing on systems without Rosetta.
        _ => Fact::known(Presence::Absent),
    }
    .from_source("sysctl.proc_translated");
    machine.hypervisor = number_fact("kern.hv_vmm_present").map(|present| match present {
        0 => Presence::Absent,
        _ => Presence::Present("an unnamed hypervisor".to_owned()),
    });
    machine.sockets = cpu_count("hw.packages");
    machine.cores = cpu_count("hw.physicalcpu");
    machine.online_cpus = cpu_count("hw.logicalcpu").map(|cpus| (0..cpus).collect());
    if let (Some(cores), Some(cpus)) = (
        sysctl::sysctl_number("hw.physicalcpu").filter(|&cores| cores > 0),
        sysctl::sysctl_number("hw.logicalcpu"),
    ) {
        machine.smt = Fact::known(Smt {
            threads_per_core: u32::try_from(cpus / cores).unwrap_or(1),
            active: cpus > cores,
        })
        .from_source("hw.logicalcpu, hw.physicalcpu");
    }
    machine.core_kinds = core_kinds();
    machine.numa_nodes = Fact::unknown("Apple systems have one memory for all cores");
    machine.caches = caches();
    machine.pages.base_bytes = Fact::known(live.base_page_bytes);
    machine.memory.physical_bytes = number_fact("hw.memsize");
    if let Some(cpuid) = &live.cpuid {
        machine.tsc_invariant = Fact::known(cpuid.tsc_invariant).from_source("CPUID");
    }
    machine
}

fn text_fact(name: &str) -> Fact<String> {
    Fact::or_unknown(sysctl::sysctl_text(name), format!("there is no sysctl {name}"))
        .from_source(name)
}

fn number_fact(name: &str) -> Fact<u64> {
    Fact::or_unknown(sysctl::sysctl_number(name), format!("there is no sysctl {name}"))
        .from_source(name)
}

fn cpu_count(name: &str) -> Fact<u32> {
    Fact::or_unknown(
        sysctl::sysctl_number(name).and_then(|n| u32::try_from(n).ok()),
        format!("there is no sysctl {name}"),
    )
    .from_source(name)
}

/// Performance levels, 0 the fastest. Their CPUs are numbered with the
/// slowest level first.
fn core_kinds() -> Fact<Vec<CoreKind>> {
    let levels = sysctl::sysctl_number("hw.nperflevels").unwrap_or(0);
    let mut kinds = Vec::new();
    let mut next = 0;
    for level in (0..levels).rev() {
        let Some(cpus) = sysctl::sysctl_number(&format!("hw.perflevel{level}.logicalcpu"))
            .and_then(|n| u32::try_from(n).ok())
        else {
            return Fact::unknown(format!("there is no sysctl hw.perflevel{level}.logicalcpu"));
        };
        kinds.push(CoreKind {
            name: sysctl::sysctl_text(&format!("hw.perflevel{level}.name"))
                .unwrap_or_else(|| format!("performance level {level}")),
            cpus: (next..next + cpus).collect(),
            capacity: None,
            max_hz: None,
        });
        next += cpus;
    }
    kinds.reverse();
    if kinds.is_empty() {
        Fact::unknown("there is no sysctl hw.nperflevels")
    } else {
        Fact::known(kinds).from_source("hw.perflevelN")
    }
}

/// Sizes as of one core of each performance level, or of the machine.
fn caches() -> Fact<Vec<CacheFact>> {
    let line_bytes = sysctl::sysctl_number("hw.cachelinesize").and_then(|n| u32::try_from(n).ok());
    let levels = sysctl::sysctl_number("hw.nperflevels").unwrap_or(0);
    let mut prefixes: Vec<String> = (0..levels).map(|n| format!("hw.perflevel{n}")).collect();
    if prefixes.is_empty() {
        prefixes.push("hw".to_owned());
    }
    let names = [
        (1, CacheKind::Data, "l1dcachesize"),
        (1, CacheKind::Instruction, "l1icachesize"),
        (2, CacheKind::Unified, "l2cachesize"),
        (3, CacheKind::Unified, "l3cachesize"),
    ];
    let caches: Vec<CacheFact> = prefixes
        .iter()
        .flat_map(|prefix| {
            names.iter().filter_map(move |&(level, kind, name)| {
                Some(CacheFact {
                    level,
                    kind,
                    size_bytes: Some(sysctl::sysctl_number(&format!("{prefix}.{name}"))?),
                    line_bytes,
                    ways: None,
                    // Not given.
                    shared_cpus: Vec::new(),
                })
            })
        })
        .collect();
    if caches.is_empty() {
        Fact::unknown("no sysctl gives the size of a cache")
    } else {
        Fact::known(caches).from_source("hw.perflevelN.l*cachesize")
    }
}
