//! What the machine is, as far as it lets itself be read. Every fact either
//! has a value or says in words why it has none; nothing is guessed.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact<T> {
    /// The value, when it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<T>,
    /// Why there is no value, in words a person understands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Where the value was read: a file, an instruction, a system call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl<T> Fact<T> {
    /// A value that was read.
    pub fn known(value: T) -> Fact<T> {
        Fact {
            value: Some(value),
            unknown: None,
            source: None,
        }
    }

    /// No value, and why.
    pub fn unknown(why: impl Into<String>) -> Fact<T> {
        Fact {
            value: None,
            unknown: Some(why.into()),
            source: None,
        }
    }

    /// The same fact with the place it was read from.
    pub fn from_source(mut self, source: impl Into<String>) -> Fact<T> {
        self.source = Some(source.into());
        self
    }

    /// `value` if there is one, else unknown for the reason `why`.
    pub fn or_unknown(value: Option<T>, why: impl Into<String>) -> Fact<T> {
        match value {
            Some(value) => Fact::known(value),
            None => Fact::unknown(why),
        }
    }

    /// The value, when there is one.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// The fact about `f(value)`, from the same source.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        Fact {
            value: self.value.map(f),
            unknown: self.unknown,
            source: self.source,
        }
    }
}

/// The value as it prints, or `unknown: why`.
impl<T: fmt::Display> fmt::Display for Fact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.value, &self.unknown) {
            (Some(value), _) => value.fmt(f),
            (None, Some(why)) => write!(f, "unknown: {why}"),
            (None, None) => f.write_str("unknown"),
        }
    }
}

/// Whether something is there, and then by what name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It was looked for in a way that would have found it, and is not there.
    Absent,
    /// It is there: its name, for example `KVM` or `docker`.
    Present(String),
}

impl Presence {
    /// The name of what is present.
    pub fn name(&self) -> Option<&str> {
        match self {
            Presence::Absent => None,
            Presence::Present(name) => Some(name),
        }
    }
}

impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or("none"))
    }
}

/// An upper bound that may not be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit<T> {
    /// The place where a limit would be was read, and none is set.
    Unlimited,
    /// The limit.
    At(T),
}

impl<T: Copy> Limit<T> {
    /// The limit, when one is set.
    pub fn at(self) -> Option<T> {
        match self {
            Limit::Unlimited => None,
            Limit::At(limit) => Some(limit),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Limit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Unlimited => f.write_str("no limit"),
            Limit::At(limit) => limit.fmt(f),
        }
    }
}

/// The numbers by which a vendor tells its cores apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CpuSignature {
    /// CPUID leaf 1, with the extended fields already added in.
    X86 {
        /// Display family.
        family: u32,
        /// Display model.
        model: u32,
        /// Stepping.
        stepping: u32,
    },
    /// The main ID register (MIDR_EL1).
    Arm {
        /// Who designed the core: 0x41 Arm, 0x61 Apple, 0x51 Qualcomm.
        implementer: u32,
        /// Major revision, the `r` of r1p2.
        variant: u32,
        /// Which core of that implementer.
        part: u32,
        /// Minor revision, the `p` of r1p2.
        revision: u32,
    },
}

impl fmt::Display for CpuSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuSignature::X86 {
                family,
                model,
                stepping,
            } => write!(
                f,
                "family {family:#x}, model {model:#x}, stepping {stepping}"
            ),
            CpuSignature::Arm {
                implementer,
                variant,
                part,
                revision,
            } => write!(
                f,
                "implementer {implementer:#x}, part {part:#x}, r{variant}p{revision}"
            ),
        }
    }
}

/// Simultaneous multithreading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Smt {
    /// Hardware threads of one core that are online (the most of any core).
    pub threads_per_core: u32,
    /// Whether any core has more than one thread online.
    pub active: bool,
}

/// Cores that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreKind {
    /// What these cores are called, for example `P-core`, `Cortex-A76`, `only kind`.
    pub name: String,
    /// The logical CPUs of this kind.
    pub cpus: Vec<u32>,
    /// Relative capacity as the kernel gives it: 1024 is the fastest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u32>,
    /// The highest frequency the OS admits for these cores, in Hz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hz: Option<u64>,
}

/// A NUMA node: memory, and the CPUs to which it is local.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumaNode {
    /// The kernel's number of it.
    pub id: u32,
    /// The logical CPUs to which its memory is local; none for a node that is
    /// only memory.
    pub cpus: Vec<u32>,
    /// Its memory in bytes; 0 for a node that is only CPUs.
    pub memory_bytes: u64,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache, as the OS describes it. In a virtual machine this is what the
/// hypervisor chose to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheFact {
    /// 1 is nearest to the core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Capacity in bytes; many ARM systems do not say.
    pub size_bytes: Option<u64>,
    /// Line in bytes.
    pub line_bytes: Option<u32>,
    /// Associativity.
    pub ways: Option<u32>,
    /// The logical CPUs that reach this cache.
    pub shared_cpus: Vec<u32>,
}

/// A pool of reserved huge pages (hugetlbfs).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HugetlbPool {
    /// Size of one page in bytes.
    pub page_bytes: u64,
    /// Pages reserved now; a size that the CPU has but nobody reserved shows 0.
    pub pages: u64,
    /// Pages of those that nobody uses.
    pub free: u64,
}

/// Page sizes and the policy for huge ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageFacts {
    /// The ordinary page in bytes.
    pub base_bytes: Fact<u64>,
    /// The transparent huge page in bytes.
    pub transparent_huge_bytes: Fact<u64>,
    /// `always`, `madvise` or `never`.
    pub transparent_huge_policy: Fact<String>,
    /// Reserved huge pages by size.
    pub hugetlb: Fact<Vec<HugetlbPool>>,
}

/// How much memory there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFacts {
    /// All memory the kernel manages.
    pub physical_bytes: Fact<u64>,
    /// What the kernel thinks can be had without swapping, at the time of reading.
    pub available_bytes: Fact<u64>,
    /// The tightest memory limit of the control groups this process is in.
    pub cgroup_limit_bytes: Fact<Limit<u64>>,
}

/// Frequencies as the OS gives them; latlas measures its own beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClockSourceFacts {
    /// In use, for example `tsc`, `kvm-clock`, `arch_sys_counter`.
    pub current: Fact<String>,
    /// Those it could use.
    pub available: Fact<Vec<String>>,
}

/// The machine this was read on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Name of the host.
    pub hostname: Fact<String>,
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
    /// Who made the CPU or designed its cores.
    pub cpu_vendor: Fact<String>,
    /// Family, model and stepping, or the ARM main ID (of the first CPU).
    pub cpu_signature: Fact<CpuSignature>,
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
    #[serde(default = "nodes_not_recorded")]
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

/// For documents that were written before nodes were read.
fn nodes_not_recorded() -> Fact<Vec<NumaNode>> {
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
            os: fact(why),
            kernel: fact(why),
            arch: arch.into(),
            emulated: fact(why),
            cpu_model: fact(why),
            cpu_vendor: fact(why),
            cpu_signature: fact(why),
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
            clock_source: ClockSourceFacts {
                current: fact(why),
                available: fact(why),
            },
            tsc_invariant: fact(why),
        }
    }
}

impl Machine {
    /// The CPU's model, with its microarchitecture where that is known.
    pub fn name(&self) -> String {
        let model = self.cpu_model.get().cloned();
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
        if let Some(allowed) = self.allowed_cpus.get() {
            let online = self.online_cpus.get().map_or(allowed.len(), Vec::len);
            let s = if online == 1 { "" } else { "s" };
            parts.push(if online == allowed.len() {
                format!("{online} CPU{s}")
            } else {
                format!("{} of {online} CPU{s}", allowed.len())
            });
        }
        if let Some(quota) = self.cpu_quota.get().and_then(|q| q.at()) {
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
        parts.extend(self.kernel.get().map(|kernel| format!("kernel {kernel}")));
        parts.join(", ")
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
        machine.cpu_signature = Fact::known(CpuSignature::X86 {
            family: 25,
            model: 1,
            stepping: 1,
        });
        let text = serde_json::to_string(&machine).expect("serialises");
        let back: Machine = serde_json::from_str(&text).expect("parses");
        assert_eq!(back, machine);
        assert!(text.contains(r#""emulated":{"value":"absent"}"#), "{text}");
        assert!(
            text.contains(r#""cpu_quota":{"value":{"at":0.5}}"#),
            "{text}"
        );
    }

    #[test]
    fn facts_print_their_reason() {
        assert_eq!(
            Fact::<u32>::unknown("no such file").to_string(),
            "unknown: no such file"
        );
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
