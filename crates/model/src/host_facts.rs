//! What hosts of a fleet may differ in besides what [`crate::summary::RunSetup`] holds, as the index keeps it of a
//! run.

use crate::machine::{Fact, Machine};
use crate::run::Run;
use crate::size;
use serde::{Deserialize, Serialize};

/// Facts of the machine and of the noise during a run; what is unknown is absent.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HostFacts {
    /// CPU model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Revision of the microcode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// Maker and version of the firmware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Maker and name of the computer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Memory, rounded: hosts of as many modules differ by what the kernel keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// The hypervisor, `none` on bare metal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// Operating system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// Whether the CPU may go above its nominal frequency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turbo: Option<bool>,
    /// Hardware threads per core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads_per_core: Option<u32>,
    /// Share of the readings of the canaries that were quiet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_share: Option<f64>,
    /// Time the hypervisor ran others during the run, in ns over all CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
}

impl HostFacts {
    /// From a document.
    pub fn from_run(run: &Run) -> HostFacts {
        let m: &Machine = &run.machine;
        let text = |fact: &Fact<String>| fact.get().cloned();
        let steal = |at: &crate::conditions::Moment| at.steal_ns;
        let [before, after] = [&run.conditions.before, &run.conditions.after].map(steal);
        HostFacts {
            cpu: text(&m.cpu_model),
            microcode: text(&m.microcode),
            firmware: text(&m.firmware),
            product: text(&m.product),
            memory: m.memory.physical_bytes.get().map(|&b| size::about(b)),
            hypervisor: m.hypervisor.get().map(ToString::to_string),
            os: text(&m.os),
            turbo: m.turbo.get().copied(),
            threads_per_core: m.smt.get().map(|smt| smt.threads_per_core),
            quiet_share: run.gate.quiet_share,
            steal_ns: before.zip(after).map(|(b, a)| a.saturating_sub(b)),
        }
    }
}
