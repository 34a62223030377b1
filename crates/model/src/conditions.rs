//! In what conditions a run was made: what the noise was before and after.

use crate::noise::applied::Applied;
use crate::noise::osnoise::OsnoiseAround;
use serde::{Deserialize, Serialize};

/// State of the machine at one moment, as far as it can be read; what can't
/// is absent.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moment {
    /// Load averages over 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// Share of the last ten seconds in which some task waited for a CPU, in
    /// percent (pressure stall information).
    pub cpu_pressure_percent: Option<f64>,
    /// Time the hypervisor ran others instead of this machine, since boot, in
    /// ns over all CPUs.
    pub steal_ns: Option<u64>,
    /// Time for which the control group's CPU quota stopped this group since
    /// its creation, in µs.
    pub throttled_us: Option<u64>,
    /// CPU time of everything but this process and its children since boot, in ns
    /// over all CPUs, in steps of a scheduler tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_ns: Option<u64>,
}

/// Conditions before and after a run, and what the run itself did about them.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Just before the first sample.
    pub before: Moment,
    /// Just after the last.
    pub after: Moment,
    /// The CPUs the workers were pinned to; empty where pinning was refused.
    pub pinned_cpus: Vec<u32>,
    /// Why they are not pinned, if they are not.
    pub not_pinned: Option<String>,
    /// What was set for the measuring processes; absent in documents before
    /// schema 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// OS noise just before and just after; absent in documents before schema
    /// 4, and where nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "gaps")]
    pub osnoise: Option<OsnoiseAround>,
    /// Anything else a reader of the figures should know, one sentence each.
    pub remarks: Vec<String>,
}

impl Conditions {
    /// CPU time of all other programs during the run, in ns.
    pub fn others_ns(&self) -> Option<u64> {
        Some(self.after.others_ns?.saturating_sub(self.before.others_ns?))
    }

    /// Time the CPU quota took during the run, in µs.
    pub fn throttled_us(&self) -> Option<u64> {
        Some(self.after.throttled_us?.saturating_sub(self.before.throttled_us?))
    }
}
