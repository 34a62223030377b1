//! Governor, turbo and frequencies as the kernel gives them.

use std::collections::BTreeMap;

use model::machine::{Fact, FrequencyFacts, Presence};

use super::cpu::field;
use super::cpu::{CPUS, cpu_numbers};
use crate::files::{Files, Tree};
use crate::machine::Live;

pub(super) struct Frequency {
    pub(super) governor: Fact<String>,
    pub(super) turbo: Fact<bool>,
    pub(super) frequency: FrequencyFacts,
}

pub(super) fn read_frequency(tree: &Tree, live: &Live, hypervisor: &Fact<Presence>) -> Frequency {
    let cpus: Vec<u32> = cpu_numbers(tree)
        .into_iter()
        .filter(|cpu| tree.exists(&format!("{CPUS}/cpu{cpu}/cpufreq")))
        .collect();
    let Some(&first) = cpus.first() else {
        return absent(tree, live, hypervisor);
    };
    let directory = format!("{CPUS}/cpu{first}/cpufreq");
    let extreme = |file: &str, pick: fn(u64, u64) -> u64| {
        let values =
            cpus.iter().filter_map(|cpu| hz(tree, &format!("{CPUS}/cpu{cpu}/cpufreq/{file}")));
        Fact::or_unknown(values.reduce(pick), format!("no CPU has a readable cpufreq/{file}"))
            .from_source(format!("{CPUS}/cpu*/cpufreq/{file}"))
    };
    Frequency {
        governor: governor(tree, &cpus),
        turbo: turbo(tree, &cpus),
        frequency: FrequencyFacts {
            driver: tree.fact(&format!("{directory}/scaling_driver"), |text| Some(text.to_owned())),
            min_hz: extreme("cpuinfo_min_freq", u64::min),
            max_hz: extreme("cpuinfo_max_freq", u64::max),
            current_hz: tree.fact(&format!("{directory}/scaling_cur_freq"), |text| {
                text.parse::<u64>().ok()?.checked_mul(1000)
            }),
        },
    }
}

/// cpufreq counts in kHz.
fn hz(tree: &Tree, path: &str) -> Option<u64> {
    tree.number(path)?.checked_mul(1000)
}

fn absent(tree: &Tree, live: &Live, hypervisor: &Fact<Presence>) -> Frequency {
    let why = match &hypervisor.value {
        Some(Presence::Present(_)) => {
            "no cpufreq directory in /sys: the hypervisor keeps frequency control to itself"
        }
        _ => {
            "no cpufreq directory in /sys: the kernel has no frequency driver for this CPU, or the firmware keeps control to itself"
        }
    };
    // The x86 kernel prints a figure all the same.
    let cpuinfo = tree.text("/proc/cpuinfo").unwrap_or_default();
    let mhz = field(&cpuinfo, "cpu MHz").and_then(|text| text.parse::<f64>().ok());
    let current_hz = match mhz {
        Some(mhz) if mhz > 0.0 && live.arch.starts_with("x86") => Fact::known(
            (mhz * 1e6).round() as u64
        )
        .from_source("/proc/cpuinfo, without cpufreq: the nominal frequency, not a measured one"),
        _ => Fact::unknown(why),
    };
    Frequency {
        governor: Fact::unknown(why),
        turbo: turbo(tree, &[]).or_why(why),
        frequency: FrequencyFacts {
            driver: Fact::unknown(why),
            min_hz: Fact::unknown(why),
            max_hz: Fact::unknown(why),
            current_hz,
        },
    }
}

trait OrWhy {
    fn or_why(self, why: &str) -> Self;
}

impl<T> OrWhy for Fact<T> {
    /// The value, or unknown for another reason.
    fn or_why(self, why: &str) -> Self {
        if self.value.is_some() { self } else { Fact::unknown(why) }
    }
}

/// One name where all CPUs have the same, else each with its CPUs.
fn governor(tree: &Tree, cpus: &[u32]) -> Fact<String> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cpu in cpus {
        if let Some(name) = tree.text(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor")) {
            names.entry(name).or_default().push(cpu.to_string());
        }
    }
    let text = match names.len() {
        0 => None,
        1 => names.into_keys().next(),
        _ => {
            let parts: Vec<String> = names
                .iter()
                .map(|(name, cpus)| format!("{name} (CPU {})", cpus.join(", ")))
                .collect();
            Some(parts.join("; "))
        }
    };
    Fact::or_unknown(text, "no CPU has a readable cpufreq/scaling_governor")
        .from_source(format!("{CPUS}/cpu*/cpufreq/scaling_governor"))
}

/// intel_pstate says "no turbo"; the others say "boost", for all CPUs or
/// (since Linux 6.10) for each.
fn turbo(tree: &Tree, cpus: &[u32]) -> Fact<bool> {
    let no_turbo = format!("{CPUS}/intel_pstate/no_turbo");
    if let Some(off) = tree.number(&no_turbo) {
        return Fact::known(off == 0).from_source(no_turbo);
    }
    let boost = format!("{CPUS}/cpufreq/boost");
    if let Some(on) = tree.number(&boost) {
        return Fact::known(on != 0).from_source(boost);
    }
    let each: Vec<u64> = cpus
        .iter()
        .filter_map(|cpu| tree.number(&format!("{CPUS}/cpu{cpu}/cpufreq/boost")))
        .collect();
    if each.is_empty() {
        Fact::unknown(
            "the kernel has no turbo switch here (neither intel_pstate/no_turbo nor cpufreq/boost)",
        )
    } else {
        Fact::known(each.iter().any(|&on| on != 0))
            .from_source(format!("{CPUS}/cpu*/cpufreq/boost"))
    }
}
