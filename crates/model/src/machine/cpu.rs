//! What is known of the CPUs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The numbers by which a vendor tells its cores apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        /// Designer of the core: 0x41 Arm, 0x61 Apple, 0x51 Qualcomm.
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
            CpuSignature::X86 { family, model, stepping } => {
                write!(f, "family {family:#x}, model {model:#x}, stepping {stepping}")
            }
            CpuSignature::Arm { implementer, variant, part, revision } => {
                write!(f, "implementer {implementer:#x}, part {part:#x}, r{variant}p{revision}")
            }
        }
    }
}

/// Simultaneous multithreading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Smt {
    /// Hardware threads of one core that are online (the most of any core).
    pub threads_per_core: u32,
    /// Whether any core has more than one thread online.
    pub active: bool,
}

/// Cores that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
