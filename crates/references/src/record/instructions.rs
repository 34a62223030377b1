//! InstLatX64: instruction timings of one CPU signature and kind of core.

use super::vendor::x86_signature;
use super::{Implausible, PublishedRecord, X86Vendor, out_of_range};
use crate::source::Source;
use model::machine::CpuSignature;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What is timed; the row is `cpu.` and its word, but for the last two.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "named as their rows")]
pub enum TimedOperation {
    AddI32,
    AddI64,
    MulI32,
    MulI64,
    BitI32,
    BitI64,
    PopcntI64,
    AddF32,
    AddF64,
    MulF32,
    MulF64,
    DivF32,
    DivF64,
    SqrtF64,
    AtomicAdd,
    LoadL1,
}

/// Bits of dividend and divisor.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "bits over bits")]
pub enum Divisors {
    #[serde(rename = "126/63b")]
    Bits126By63,
    #[serde(rename = "63/63b")]
    Bits63By63,
    #[serde(rename = "64/32b")]
    Bits64By32,
    #[serde(rename = "62/31b")]
    Bits62By31,
    #[serde(rename = "31/31b")]
    Bits31By31,
    #[serde(rename = "32/16b")]
    Bits32By16,
    #[serde(rename = "1/1")]
    OneByOne,
}

/// A level of the memory hierarchy.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "levels")]
pub enum MemoryLevel {
    L1D,
    L2,
    L3,
    L4,
    Mem,
}

/// Which operands divisions had: the old ones are easier, and include the dependence.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "see the enum")]
pub enum OperandSet {
    New,
    Old,
}

/// Which cores of a hybrid processor.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HybridCore {
    /// Big cores.
    #[serde(rename = "BC")]
    Performance,
    /// Little cores.
    #[serde(rename = "LC")]
    Efficiency,
}

/// Timings of one signature.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct InstructionTimings {
    /// Vendor of the CPU.
    pub vendor: X86Vendor,
    /// EAX of CPUID leaf 1, hexadecimal.
    #[serde(rename = "signature")]
    pub leaf1_eax: String,
    /// Family, model, stepping, with the extended fields added in.
    pub fms: [u32; 3],
    /// Which cores, of a hybrid processor.
    pub core: Option<HybridCore>,
    /// What the publication calls it: `K19_Genoa_01`.
    pub name: String,
    /// What the CPU calls itself.
    pub brand: Option<String>,
    /// Files of this signature.
    pub files: u32,
    /// Of AIDA64.
    pub build: String,
    /// Operands of divisions.
    pub operands: OperandSet,
    /// Cycles from operands to result.
    pub latency: BTreeMap<TimedOperation, f64>,
    /// Cycles an operation, of many independent ones.
    pub throughput: BTreeMap<TimedOperation, f64>,
    /// Latency and throughput by operands, cycles.
    #[serde(default)]
    pub div_i64: BTreeMap<Divisors, [Option<f64>; 2]>,
    /// The same of 32 bits.
    #[serde(default)]
    pub div_i32: BTreeMap<Divisors, [Option<f64>; 2]>,
    /// Files behind the figures of memory.
    pub memory_files: Option<u32>,
    /// ns of a load, random within a page.
    #[serde(default)]
    pub memory_ns: BTreeMap<MemoryLevel, f64>,
    /// The same in cycles.
    #[serde(default)]
    pub memory_cycles: BTreeMap<MemoryLevel, f64>,
    /// Least and most of files that disagree.
    #[serde(default)]
    pub spread: BTreeMap<TimedOperation, [f64; 2]>,
}

impl InstructionTimings {
    /// Its family, model and stepping.
    pub fn cpu_signature(&self) -> CpuSignature {
        x86_signature(self.fms)
    }

    /// Family, model and stepping that `leaf1_eax` stands for.
    fn decoded_signature(&self) -> Option<[u32; 3]> {
        let eax = u32::from_str_radix(&self.leaf1_eax, 16).ok()?;
        let base = (eax >> 8) & 15;
        let family = if base == 15 { base + ((eax >> 20) & 255) } else { base };
        let extended = if matches!(base, 6 | 15) { ((eax >> 16) & 15) << 4 } else { 0 };
        Some([family, ((eax >> 4) & 15) + extended, eax & 15])
    }
}

impl PublishedRecord for InstructionTimings {
    const SOURCE: Source = Source::Instructions;

    fn unique_name(&self) -> String {
        format!("{:?} {} {:?}", self.vendor, self.leaf1_eax, self.core)
    }

    fn implausible(&self) -> Option<Implausible> {
        if self.decoded_signature() != Some(self.fms) {
            return Some(Implausible::Contradictory("signature and fms differ"));
        }
        let slower = |(operation, &latency): (&TimedOperation, &f64)| {
            let throughput = self.throughput.get(operation);
            throughput.is_some_and(|&throughput| throughput > latency * 1.5 + 1.6)
        };
        if self.latency.iter().any(slower) {
            return Some(Implausible::Contradictory("a throughput above its latency"));
        }
        let memory: Vec<f64> = self.memory_ns.values().copied().collect();
        if memory.windows(2).any(|pair| pair[1] < pair[0] * 0.95) {
            return Some(Implausible::NotRising("memory_ns"));
        }
        let clocks = self.memory_ns.iter().filter(|(_, ns)| **ns > 0.0);
        let clocks = clocks.filter_map(|(level, ns)| Some(self.memory_cycles.get(level)? / ns));
        let (low, high) =
            clocks.fold((f64::MAX, 0.0), |(low, high), ghz| (ghz.min(low), ghz.max(high)));
        if high > low * 1.12 {
            return Some(Implausible::Contradictory("memory_ns and memory_cycles differ"));
        }
        use TimedOperation::{AddI32, AddI64, BitI32, BitI64};
        let simple = [AddI32, AddI64, BitI32, BitI64].map(|operation| self.latency.get(&operation));
        out_of_range("latency", self.latency.values().copied(), 0.1, 300.0)
            .or_else(|| {
                out_of_range(
                    "latency of add and AND",
                    simple.into_iter().flatten().copied(),
                    0.4,
                    8.1,
                )
            })
            .or_else(|| {
                out_of_range("Mem", self.memory_ns.get(&MemoryLevel::Mem).copied(), 8.0, 400.0)
            })
    }
}
