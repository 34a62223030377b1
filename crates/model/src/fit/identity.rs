//! What a machine says it is.

use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// What hosts of one kind have in common; what is not known is absent.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// CPU model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Family, model and stepping, or the main ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_signature: Option<String>,
    /// Revision of the microcode; of a fleet only where it is the same on all hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// CPUs online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<usize>,
    /// CPU quota of the control group, in CPUs; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
}

/// A fact that differs.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Differs {
    /// Which: `CPU model`.
    pub what: &'static str,
    /// Here.
    pub here: String,
    /// In the fleet.
    pub expected: String,
    /// What follows.
    pub means: Means,
}

/// What follows from a fact that differs.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// Another machine.
    Machine,
    /// Another setting, which takes from what the machine can do.
    Setting,
    /// Nothing; but it may be why a figure differs.
    Note,
}

impl Identity {
    /// That of a machine.
    pub fn from_machine(machine: &Machine) -> Identity {
        Identity {
            cpu_model: machine.cpu_model.get().cloned(),
            cpu_signature: machine.cpu_signature.get().map(ToString::to_string),
            microcode: machine.microcode.get().cloned(),
            cpus: machine.online_cpus.get().map(Vec::len),
            cpu_quota: machine.cpu_quota.get().and_then(|quota| quota.as_option()),
        }
    }

    /// What differs. A fact unknown on either side does not; no quota is known to be none.
    pub fn differs(&self, expected: &Identity) -> Vec<Differs> {
        let mut all = Vec::new();
        let mut set = |what, here: Option<String>, expected: Option<String>, means| {
            if let (Some(here), Some(expected)) = (here, expected)
                && here != expected
            {
                all.push(Differs { what, here, expected, means });
            }
        };
        let (a, b) = (self.clone(), expected.clone());
        set("CPU model", a.cpu_model, b.cpu_model, Means::Machine);
        set("CPU signature", a.cpu_signature, b.cpu_signature, Means::Machine);
        set("microcode", a.microcode, b.microcode, Means::Note);
        let text = |cpus: Option<usize>| cpus.map(|cpus| cpus.to_string());
        set("CPUs", text(a.cpus), text(b.cpus), Means::Machine);
        let quota = |quota: Option<f64>| match quota {
            Some(cpus) => Some(format!("{cpus} CPUs")),
            None => Some("none".into()),
        };
        set("CPU quota", quota(a.cpu_quota), quota(b.cpu_quota), Means::Setting);
        all
    }
}
