//! What the machine is, as far as it lets itself be read. Every fact either
//! has a value or says in words why it has none; nothing is guessed.

mod cpu;
mod fact;
mod memory;

pub use cpu::{CoreKind, CpuSignature, Smt};
pub use fact::{Fact, Limit, Presence};
pub use memory::{CacheFact, CacheKind, HugetlbPool, MemoryFacts, NumaNode, PageFacts};

use serde::{Deserialize, Serialize};

/// Frequencies as the OS gives them; latlas measures its own too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrequencyFacts {
    /// The kernel's frequency driver, for example `amd-pstate-epp`.
    pub driver: Fact<String>,
    /// Lowest of any CPU, in Hz.
    pub min_hz: Fact<u64>,
    /// Highest of any CPU, in Hz.
    pub max_hz: Fact<u64>,
    /// That of the first CPU at the time of reading, in Hz.
    pub current_hz: Fact<u64>,
}

/// What the kernel keeps its own time with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockSourceFacts {
    /// In use, for example `tsc`, `kvm-clock`, `arch_sys_counter`.
    pub current: Fact<String>,
    /// Those it could use.
    pub available: Fact<Vec<String>>,
}

/// The machine this was read on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Name of the host.
    pub hostname: Fact<String>,
    /// What its maker calls the device: `iPhone14,5`, `Google Pixel 8`, `Raspberry Pi 5 Model B`.
    #[serde(default = "not_recorded::<String>")]
    pub device: Fact<String>,
    /// Maker and name of the computer, as its firmware has them: `Dell Inc. PowerEdge R6525`.
    #[serde(default = "not_recorded::<String>")]
    pub product: Fact<String>,
    /// Maker and version of the firmware: `Dell Inc. 2.14.1`.
    #[serde(default = "not_recorded::<String>")]
    pub firmware: Fact<String>,
    /// Operating system or distribution with its version.
    pub os: Fact<String>,
    /// Kernel release.
    pub kernel: Fact<String>,
    /// Architecture this program was compiled for.
    pub arch: String,
    /// Whether another program translates our instructions (qemu-user,
    /// Rosetta) or the whole machine is emulated (QEMU without KVM). Where it
    /// is present, numbers describe the emulator.
    pub emulated: Fact<Presence>,
    /// What the CPU calls itself.
    pub cpu_model: Fact<String>,
    /// Vendor of the CPU, or designer of its cores.
    pub cpu_vendor: Fact<String>,
    /// Family, model and stepping, or the ARM main ID (of the first CPU).
    pub cpu_signature: Fact<CpuSignature>,
    /// Revision of the CPU's microcode: `0xa0011d5`.
    #[serde(default = "not_recorded::<String>")]
    pub microcode: Fact<String>,
    /// Name of the core's design, for example `Zen 3`.
    pub microarchitecture: Fact<String>,
    /// Physical packages.
    pub sockets: Fact<u32>,
    /// Physical cores online.
    pub cores: Fact<u32>,
    /// Logical CPUs online.
    pub online_cpus: Fact<Vec<u32>>,
    /// Logical CPUs this process may run on.
    pub allowed_cpus: Fact<Vec<u32>>,
    /// Hardware threads per core.
    pub smt: Fact<Smt>,
    /// Kinds of cores, the fastest first; exactly one where all are alike.
    pub core_kinds: Fact<Vec<CoreKind>>,
    /// NUMA nodes that are online.
    #[serde(default = "not_recorded::<Vec<NumaNode>>")]
    pub numa_nodes: Fact<Vec<NumaNode>>,
    /// Every cache once, ordered by level, kind and CPUs.
    pub caches: Fact<Vec<CacheFact>>,
    /// Page sizes.
    pub pages: PageFacts,
    /// Memory.
    pub memory: MemoryFacts,
    /// CPU time the control group grants, in CPUs (0.5 is half a CPU).
    pub cpu_quota: Fact<Limit<f64>>,
    /// The hypervisor below, or absent on bare metal.
    pub hypervisor: Fact<Presence>,
    /// The container around, as far as hints tell.
    pub container: Fact<Presence>,
    /// Frequency governor; several are listed with their CPUs.
    pub governor: Fact<String>,
    /// Whether the CPU may go above its nominal frequency.
    pub turbo: Fact<bool>,
    /// Frequencies as the OS gives them.
    pub frequency: FrequencyFacts,
    /// The kernel's clock.
    pub clock_source: ClockSourceFacts,
    /// Whether the TSC counts at a constant rate in all power states.
    pub tsc_invariant: Fact<bool>,
}

/// For documents that were written before a fact was read.
fn not_recorded<T>() -> Fact<T> {
    Fact::unknown("not recorded in this run")
}

impl Machine {
    /// A machine of which nothing is known, all for the same reason: where a
    /// platform can't tell, and as a start for tests.
    pub fn unknown(arch: impl Into<String>, why: &str) -> Machine {
        fn fact<T>(why: &str) -> Fact<T> {
            Fact::unknown(why)
        }
        Machine {
            hostname: fact(why),
            device: fact(why),
            product: fact(why),
            firmware: fact(why),
            os: fact(why),
            kernel: fact(why),
            arch: arch.into(),
            emulated: fact(why),
            cpu_model: fact(why),
            cpu_vendor: fact(why),
            cpu_signature: fact(why),
            microcode: fact(why),
            microarchitecture: fact(why),
            sockets: fact(why),
            cores: fact(why),
            online_cpus: fact(why),
            allowed_cpus: fact(why),
            smt: fact(why),
            core_kinds: fact(why),
            numa_nodes: fact(why),
            caches: fact(why),
            pages: PageFacts {
                base_bytes: fact(why),
                transparent_huge_bytes: fact(why),
                transparent_huge_policy: fact(why),
                hugetlb: fact(why),
            },
            memory: MemoryFacts {
                physical_bytes: fact(why),
                available_bytes: fact(why),
                cgroup_limit_bytes: fact(why),
            },
            cpu_quota: fact(why),
            hypervisor: fact(why),
            container: fact(why),
            governor: fact(why),
            turbo: fact(why),
            frequency: FrequencyFacts {
                driver: fact(why),
                min_hz: fact(why),
                max_hz: fact(why),
                current_hz: fact(why),
            },
            clock_source: ClockSourceFacts { current: fact(why), available: fact(why) },
            tsc_invariant: fact(why),
        }
    }
}

impl Machine {
    /// The CPU's model, with its microarchitecture where that is known; the device where the model
    /// is not.
    pub fn name(&self) -> String {
        let model = self.cpu_model.get().or(self.device.get()).cloned();
        let model = model.unwrap_or_else(|| format!("{} CPU of unknown model", self.arch));
        match self.microarchitecture.get() {
            Some(design) => format!("{model} ({design})"),
            None => model,
        }
    }

    /// The machine in a line: CPU, number of CPUs, quota, hypervisor,
    /// container, system and kernel.
    pub fn one_line(&self) -> String {
        let mut parts = vec![self.name()];
        parts.extend(self.configuration());
        parts.extend(self.kernel.get().map(|kernel| format!("kernel {kernel}")));
        parts.join(", ")
    }

    /// What [`Machine::one_line`] says between name and kernel, part by part.
    pub fn configuration(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let (Some(_), Some(device)) = (self.cpu_model.get(), self.device.get()) {
            parts.push(device.clone());
        }
        if let Some(allowed) = self.allowed_cpus.get().or(self.online_cpus.get()) {
            let online = self.online_cpus.get().map_or(allowed.len(), Vec::len);
            let s = if online == 1 { "" } else { "s" };
            parts.push(if online == allowed.len() {
                format!("{online} CPU{s}")
            } else {
                format!("{} of {online} CPU{s}", allowed.len())
            });
        }
        if let Some(quota) = self.cpu_quota.get().and_then(|q| q.as_option()) {
            parts.push(format!("quota of {quota} CPUs"));
        }
        parts.push(match self.hypervisor.get() {
            Some(Presence::Present(name)) => format!("{name} guest"),
            Some(Presence::Absent) => "no hypervisor".into(),
            None => "hypervisor unknown".into(),
        });
        if let Some(Presence::Present(name)) = self.container.get() {
            parts.push(format!("in {name}"));
        }
        parts.extend(self.os.get().cloned());
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_serialise_compactly() {
        let known = serde_json::to_string(&Fact::known(7)).expect("serialises");
        assert_eq!(known, r#"{"value":7}"#);
        let unknown = serde_json::to_string(&Fact::<u32>::unknown("no file")).expect("serialises");
        assert_eq!(unknown, r#"{"unknown":"no file"}"#);
        let sourced = Fact::known("tsc").from_source("/sys");
        assert_eq!(
            serde_json::to_string(&sourced).expect("serialises"),
            r#"{"value":"tsc","source":"/sys"}"#
        );
    }

    #[test]
    fn a_machine_survives_the_document() {
        let mut machine = Machine::unknown("x86_64", "fixture");
        machine.emulated = Fact::known(Presence::Absent);
        machine.hypervisor = Fact::known(Presence::Present("KVM".into()));
        machine.cpu_quota = Fact::known(Limit::At(0.5));
        machine.memory.cgroup_limit_bytes = Fact::known(Limit::Unlimited);
        machine.cpu_signature =
            Fact::known(CpuSignature::X86 { family: 25, model: 1, stepping: 1 });
        let text = serde_json::to_string(&machine).expect("serialises");
        let back: Machine = serde_json::from_str(&text).expect("parses");
        assert_eq!(back, machine);
        assert!(text.contains(r#""emulated":{"value":"absent"}"#), "{text}");
        assert!(text.contains(r#""cpu_quota":{"value":{"at":0.5}}"#), "{text}");
    }

    #[test]
    fn facts_print_their_reason() {
        assert_eq!(Fact::<u32>::unknown("no such file").to_string(), "unknown: no such file");
        assert_eq!(Fact::known(Presence::Absent).to_string(), "none");
        assert_eq!(Fact::known(Limit::At(3)).to_string(), "3");
    }

    #[test]
    fn map_keeps_reason_and_source() {
        let f = Fact::known(2).from_source("s").map(|x| x * 2);
        assert_eq!(f, Fact::known(4).from_source("s"));
        assert_eq!(Fact::<u32>::unknown("w").map(|x| x * 2), Fact::unknown("w"));
    }
}
