//! The document of `latlas noise show`: each control with its value, a better
//! value, the privilege needed to set it and the command, or what prevents it.

use crate::machine::Fact;
use serde::{Deserialize, Serialize};

/// All controls of a machine, and what to do about them.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Controls {
    /// Whether the process is root of the machine.
    pub root: bool,
    /// The hypervisor, if there is one and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// The container, if there is one and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// CPUs that `noise tune` keeps quiet by default; empty if the machine has
    /// none to spare.
    pub quiet_cpus: Vec<u32>,
    /// The controls, group by group.
    pub controls: Vec<Control>,
    /// What to do, the largest effect first.
    pub advice: Vec<Advice>,
    /// Values of a `noise tune` that are not restored yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// Caveats of the whole, such as a missing /proc.
    pub notes: Vec<String>,
}

impl Controls {
    /// Whether any value is known; without one, missing advice means nothing.
    pub fn sees(&self) -> bool {
        self.controls.iter().any(|control| control.now.get().is_some())
    }
}

/// What a control is about.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "Group"))]
pub enum ControlArea {
    /// CPU frequency.
    Clock,
    /// SMT, affinity, CPU isolation.
    Cores,
    /// Scheduling.
    Scheduler,
    /// Interrupts and kernel work.
    Interrupts,
    /// Pages and files.
    Memory,
    /// Read-only facts.
    #[serde(rename = "around")]
    Environment,
}

/// Whether a value is good for measuring.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "State"))]
pub enum ValueState {
    /// It is.
    Good,
    /// Another one would be better.
    Improvable,
    /// No better value is known.
    Information,
    /// The value is unknown, or the control does not exist here.
    Unknown,
}

/// A control.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Control {
    /// Its name, as `--only` takes it.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Its group.
    pub group: ControlArea,
    /// Its value as printed with its source, or why it is unknown.
    pub now: Fact<String>,
    /// The single values of several files: one per CPU, policy or interrupt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<FileValue>,
    /// Whether it is good.
    pub state: ValueState,
    /// A better value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
    /// The privilege needed to set it, and the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<SetBy>,
    /// What prevents this process from setting it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<Hindrance>,
    /// Whether `noise tune` sets it, and when.
    pub tuned: Tuned,
    /// Whether it was only tested on made-up file trees, never on hardware.
    #[serde(default)]
    pub fixtures_only: bool,
}

/// The value of one file of a control.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileValue {
    /// Its path.
    pub path: String,
    /// Its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What `noise tune` would write, if that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
}

/// A better value.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wanted {
    /// The value, in words.
    pub value: String,
    /// Why it is better.
    pub why: String,
}

/// Whether `noise tune` sets a control.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tuned {
    /// Unless others are named with `--only`.
    ByDefault,
    /// Only if it is named, for this reason.
    ByName(String),
    /// It does not.
    Never,
}

/// The privilege needed to set a control.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Privilege {
    /// Any user, for a process of their own.
    #[serde(rename = "anybody")]
    AnyUser,
    /// Root.
    Root,
    /// The kernel command line.
    Boot,
}

/// How a control is set.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetBy {
    /// The privilege needed.
    pub who: Privilege,
    /// The command for a shell.
    pub command: String,
}

crate::words! {
    /// Kinds of reasons why a control can't be set.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    #[cfg_attr(feature = "schema", schemars(rename = "Kind"))]
    pub enum HindranceKind: words {
        /// Not exposed by the hypervisor.
        AbsentInVm = "not in this virtual machine",
        /// Not in this kernel, or disabled at boot.
        AbsentInKernel = "not in this kernel",
        /// Needs root.
        NoPrivilege = "no privilege",
        /// Root of this container lacks a capability.
        NoCapability = "no capability",
        /// kernel_lockdown(7).
        Lockdown = "kernel lockdown",
        /// The mount or the file is read-only.
        ReadOnly = "read-only",
        /// Set by the firmware (BIOS).
        Firmware = "set by the firmware",
        /// The kernel manages these interrupts.
        ManagedInterrupt = "managed interrupt",
        /// Another operating system or other hardware has it.
        NotOnThisSystem = "not on this system",
    }
}

/// What prevents setting a control.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hindrance {
    /// Its kind.
    pub kind: HindranceKind,
    /// In words.
    pub why: String,
}

/// Something to do.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// The controls that it is about, by name.
    pub controls: Vec<String>,
    /// What, in words.
    pub what: String,
    /// The privilege needed.
    pub who: Privilege,
    /// The command.
    pub command: String,
    /// Its measured effect, with the conditions.
    pub worth: String,
}
