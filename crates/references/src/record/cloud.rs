//! Cloud types. A type is one host of one day: the same type measured again differed by 4.4 % (median), 14 % (upper
//! quartile), and by more than 20 % in 11 of 56 pairs.

use super::vendor::vendor_and_signature;
use super::{Implausible, PublishedRecord, X86Vendor, out_of_range, uneven_curve};
use crate::source::Source;
use model::machine::CpuSignature;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

model::words! {
    /// A provider of hosts.
    #[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[serde(rename_all = "lowercase")]
    #[expect(missing_docs, reason = "names")]
    pub enum Provider: text {
        Aws = "AWS",
        Azure = "Azure",
        Gcp = "Google Cloud",
        Alicloud = "Alibaba Cloud",
        Ovh = "OVHcloud",
        Hcloud = "Hetzner Cloud",
        Upcloud = "UpCloud",
        Vultr = "Vultr",
        Hetzner = "Hetzner",
    }
}

/// Architectures of cloud types.
#[derive(Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "names")]
pub enum CloudArch {
    #[default]
    X86_64,
    Aarch64,
}

/// A type that a provider rents out.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CloudType {
    /// Whose.
    pub provider: Provider,
    /// What the provider calls it: `m7i.large`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// What the CPU calls itself, without marks and clock. Ambiguous: 102 types are an `Intel Xeon`.
    pub cpu: String,
    /// Vendor and signature of an x86 CPU.
    #[serde(default, rename = "sig", deserialize_with = "signature")]
    pub signature: Option<(X86Vendor, CpuSignature)>,
    /// Architecture.
    #[serde(default)]
    pub arch: CloudArch,
    /// Virtual CPUs.
    pub vcpus: u32,
    /// Hardware threads of a core.
    #[serde(rename = "tpc")]
    pub threads_per_core: u32,
    /// Packages.
    #[serde(default = "one")]
    pub sockets: u32,
    /// NUMA nodes.
    #[serde(default = "one", rename = "numa")]
    pub numa_nodes: u32,
    /// The hypervisor, where one was seen.
    #[serde(default, rename = "hv")]
    pub hypervisor: Option<String>,
    /// L1d, L2 and L3, KiB of one instance.
    #[serde(rename = "cache")]
    pub cache_kib: [Option<u32>; 3],
    /// Whether the DMI product name is the type's name.
    #[serde(default, rename = "dmi", deserialize_with = "flag")]
    pub dmi_is_type: bool,
    /// sc-membench.
    pub membench: Option<Membench>,
    /// LMbench's bw_mem, of earlier years.
    pub bw_mem: Option<AllCpuBandwidth>,
    /// stress-ng.
    pub stress: Option<Stress>,
}

/// Loads by working set, and the bandwidth of all CPUs.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Membench {
    /// Day.
    pub date: Option<String>,
    /// Kernel.
    pub kernel: Option<String>,
    /// Working sets, KiB, rising.
    pub kib: Vec<u64>,
    /// ns of a load in each.
    pub ns: Vec<f64>,
    /// Sets whose samples varied by more than 5 %.
    #[serde(default)]
    pub unsteady: Vec<u64>,
    /// ns of a load beyond every cache, extrapolated from the largest sets.
    pub dram: Option<f64>,
    /// KiB a thread; read, write, copy, GB/s of all CPUs.
    #[serde(default)]
    pub bw: Vec<[f64; 4]>,
    /// What is doubtful.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// bw_mem: MB a process; read, write, GB/s of all CPUs.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct AllCpuBandwidth {
    /// Day.
    pub date: Option<String>,
    /// MB a process, read, write.
    pub bw: Vec<[Option<f64>; 3]>,
}

/// stress-ng of one instance, ns a bogo operation.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Day.
    pub date: Option<String>,
    /// A process of a large parent.
    pub fork: Option<f64>,
    /// A 4 KiB write into a pipe of one page.
    pub switch: Option<f64>,
    /// Mean of four calls into the vDSO.
    pub vdso: Option<f64>,
    /// A round trip and a look into /proc.
    pub eventfd: Option<f64>,
}

fn one() -> u32 {
    1
}

pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    match u8::deserialize(from)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(D::Error::custom(format!("a flag is 0 or 1, not {other}"))),
    }
}

pub(crate) type SignatureOfVendor = Option<(X86Vendor, CpuSignature)>;

pub(crate) fn signature<'de, D: Deserializer<'de>>(from: D) -> Result<SignatureOfVendor, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(from)?;
    let known = vendor_and_signature(&text);
    known.map(Some).ok_or_else(|| D::Error::custom(format!("{text:?} is no x86 signature")))
}

impl PublishedRecord for CloudType {
    const SOURCE: Source = Source::Cloud;

    fn unique_name(&self) -> String {
        format!("{:?} {}", self.provider, self.type_name)
    }

    fn implausible(&self) -> Option<Implausible> {
        if self.membench.is_none() && self.bw_mem.is_none() && self.stress.is_none() {
            return Some(Implausible::Contradictory("a type without a figure"));
        }
        out_of_range("vcpus", [f64::from(self.vcpus)], 1.0, 2048.0)
            .or_else(|| self.membench.as_ref()?.implausible_curve())
            .or_else(|| {
                let bw = self.bw_mem.as_ref()?.bw.iter();
                out_of_range(
                    "bw_mem",
                    bw.flat_map(|at| at[1..].iter().flatten().copied()),
                    0.05,
                    5e5,
                )
            })
            .or_else(|| {
                let stress = self.stress.as_ref()?;
                out_of_range("fork", stress.fork, 2e4, 1e7)
                    .or_else(|| out_of_range("switch", stress.switch, 300.0, 5e5))
                    .or_else(|| out_of_range("vdso", stress.vdso, 1.0, 2e3))
                    .or_else(|| out_of_range("eventfd", stress.eventfd, 100.0, 1e6))
            })
    }
}

impl CloudType {
    /// ns of a load from the smallest set, if L1 holds it.
    pub fn ns_within_l1(&self) -> Option<f64> {
        let membench = self.membench.as_ref()?;
        ns_within_l1((*membench.kib.first()?, *membench.ns.first()?), self.cache_kib)
    }
}

/// ns of a load from a set of so many KiB, if L1 of such caches holds it.
pub(crate) fn ns_within_l1((kib, ns): (u64, f64), cache_kib: [Option<u32>; 3]) -> Option<f64> {
    (kib <= u64::from(cache_kib[0].unwrap_or(0))).then_some(ns)
}

impl Membench {
    fn implausible_curve(&self) -> Option<Implausible> {
        let uneven = uneven_curve(("kib", &self.kib), ("ns", self.ns.len()));
        if uneven.is_some() {
            return uneven;
        }
        if self.unsteady.iter().any(|kib| !self.kib.contains(kib)) {
            return Some(Implausible::Contradictory("unsteady at a size that was not measured"));
        }
        let (first, last) = (self.ns.first(), self.ns.last());
        if first.zip(last).is_some_and(|(first, last)| last < first) {
            return Some(Implausible::Contradictory("the largest set is faster than the smallest"));
        }
        let largest = self.kib.last().copied().unwrap_or_default();
        let beyond_caches = last.copied().filter(|_| largest >= 1 << 16);
        out_of_range("ns", self.ns.iter().copied(), 0.5, 2000.0)
            .or_else(|| out_of_range("ns of the smallest set", first.copied(), 0.5, 12.0))
            .or_else(|| out_of_range("ns of the largest set", beyond_caches, 10.0, 2000.0))
            .or_else(|| out_of_range("dram", self.dram, 60.0, 4000.0))
            .or_else(|| {
                let twice = last.copied()? * 2.01;
                out_of_range("dram", self.dram, last.copied()?, twice)
            })
            .or_else(|| {
                out_of_range("bw", self.bw.iter().flat_map(|at| at[1..].to_vec()), 0.05, 5e5)
            })
    }
}
