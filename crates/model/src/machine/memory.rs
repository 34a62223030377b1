//! What is known of memory, caches and pages.

use super::fact::{Fact, Limit};
use serde::{Deserialize, Serialize};

/// A NUMA node: memory, and the CPUs to which it is local.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HugetlbPool {
    /// Size of one page in bytes.
    pub page_bytes: u64,
    /// Pages reserved now; 0 for a size that the CPU has and of which no page is
    /// reserved.
    pub pages: u64,
    /// Pages of those that are unused.
    pub free: u64,
}

/// Page sizes and the policy for huge ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryFacts {
    /// All memory the kernel manages.
    pub physical_bytes: Fact<u64>,
    /// What the kernel thinks can be had without swapping, at the time of reading.
    pub available_bytes: Fact<u64>,
    /// The tightest memory limit of the control groups this process is in.
    pub cgroup_limit_bytes: Fact<Limit<u64>>,
}
