//! Facts in which hosts of a fleet may differ, and what most of them have.

use model::summary::KeptRun;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

model::words! {
    /// A fact that hosts are grouped by.
    #[derive(
        Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum FactKind: text {
        /// CPU model.
        Cpu = "CPU",
        /// Revision of the microcode.
        Microcode = "microcode",
        /// Maker and version of the firmware.
        Firmware = "firmware",
        /// Maker and name of the computer.
        Computer = "computer",
        /// Kernel release.
        Kernel = "kernel",
        /// Operating system.
        Os = "system",
        /// Frequency governor.
        Governor = "governor",
        /// Whether the CPU may go above its nominal frequency.
        Turbo = "turbo",
        /// CPUs online.
        Cpus = "CPUs",
        /// Hardware threads per core.
        Threads = "threads per core",
        /// Memory.
        Memory = "memory",
        /// The hypervisor.
        Hypervisor = "hypervisor",
        /// Controls in force for the workers.
        Controls = "controls",
        /// Version, commit and profile of latlas.
        Program = "latlas",
    }
}

impl FactKind {
    /// What a run says of it; `None` where it is unknown.
    pub fn value_in(self, run: &KeptRun) -> Option<String> {
        let (facts, setup) = (&run.facts, &run.setup);
        match self {
            FactKind::Cpu => facts.cpu.clone(),
            FactKind::Microcode => facts.microcode.clone(),
            FactKind::Firmware => facts.firmware.clone(),
            FactKind::Computer => facts.product.clone(),
            FactKind::Kernel => setup.kernel.clone(),
            FactKind::Os => facts.os.clone(),
            FactKind::Governor => setup.governor.clone(),
            FactKind::Turbo => facts.turbo.map(|on| if on { "on" } else { "off" }.to_owned()),
            FactKind::Cpus => setup.cpus.map(|cpus| cpus.to_string()),
            FactKind::Threads => facts.threads_per_core.map(|n| n.to_string()),
            FactKind::Memory => facts.memory.clone(),
            FactKind::Hypervisor => facts.hypervisor.clone(),
            FactKind::Controls => match setup.controls.as_deref() {
                Some("") => Some("none".into()),
                controls => controls.map(str::to_owned),
            },
            FactKind::Program => {
                let commit = setup.commit.as_deref().unwrap_or("commit unknown");
                let short: String = commit.chars().take(14).collect();
                Some(format!("{} ({short}), {}", setup.version, setup.profile))
            }
        }
    }
}

/// Facts of one host: of each, what its runs say; several values where they differ.
pub(super) fn of_host(runs: &[&KeptRun]) -> BTreeMap<FactKind, String> {
    let mut facts = BTreeMap::new();
    for kind in FactKind::ALL {
        let mut values: Vec<String> = runs.iter().filter_map(|run| kind.value_in(run)).collect();
        values.sort();
        values.dedup();
        if !values.is_empty() {
            facts.insert(kind, values.join(" | "));
        }
    }
    facts
}

/// One value of a fact and the hosts that have it, by their places.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct FactValue {
    /// The value.
    pub value: String,
    /// Places of the hosts, rising.
    pub hosts: Vec<usize>,
}

/// A fact over the fleet.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct FleetFact {
    /// Which fact.
    pub fact: FactKind,
    /// Its values, that of most hosts first.
    pub values: Vec<FactValue>,
    /// Hosts of which it is unknown.
    pub unknown: usize,
}

impl FleetFact {
    /// What more than half of the hosts have.
    pub fn usual(&self) -> Option<&str> {
        let known: usize = self.values.iter().map(|value| value.hosts.len()).sum();
        let most = self.values.first()?;
        (2 * most.hosts.len() > known + self.unknown).then_some(&most.value)
    }
}

/// Every fact that is known of any host.
pub(super) fn of_fleet(hosts: &[BTreeMap<FactKind, String>]) -> Vec<FleetFact> {
    let of = |fact: FactKind| {
        let mut values: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, host) in hosts.iter().enumerate() {
            if let Some(value) = host.get(&fact) {
                values.entry(value).or_default().push(place);
            }
        }
        let known: usize = values.values().map(Vec::len).sum();
        let mut values: Vec<FactValue> = values
            .into_iter()
            .map(|(value, hosts)| FactValue { value: value.to_owned(), hosts })
            .collect();
        values.sort_by_key(|value| (std::cmp::Reverse(value.hosts.len()), value.hosts[0]));
        FleetFact { fact, values, unknown: hosts.len() - known }
    };
    let all = FactKind::ALL.into_iter().map(of);
    all.filter(|fact| !fact.values.is_empty()).collect()
}
