//! What `latlas noise show` says: each control of noise with its value, what
//! would be better, who can set it and how, or why nobody can.

use crate::machine::Fact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All controls of a machine, and what to do about them.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Controls {
    /// Whether the asking process may do what only root may.
    pub root: bool,
    /// The hypervisor below, if there is one and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// The container around, if there is one and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// CPUs that `noise tune` would keep free where nobody names others; empty
    /// on a machine that has none to spare.
    pub quiet_cpus: Vec<u32>,
    /// The controls, group by group.
    pub controls: Vec<Control>,
    /// What to do, what helps most first.
    pub advice: Vec<Advice>,
    /// What a `noise tune` left to be put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// What the reader must know of the whole, such as that there is no /proc.
    pub notes: Vec<String>,
}

impl Controls {
    /// Whether any value is known: where none is, that there is no advice says
    /// nothing.
    pub fn sees(&self) -> bool {
        self.controls
            .iter()
            .any(|control| control.now.get().is_some())
    }
}

/// What a control is about.
#[derive(
    Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// How fast the CPU's clock is.
    Clock,
    /// Which cores, and who else runs on them.
    Cores,
    /// Who runs next.
    Scheduler,
    /// What takes a CPU away from everybody.
    Interrupts,
    /// Pages and files.
    Memory,
    /// What is there and can't be set.
    Around,
}

/// Whether a value is as one would want it for measuring.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is.
    Good,
    /// Another one would be better.
    Improvable,
    /// Nothing is wanted: the reader should know it.
    Information,
    /// The value is not known, or there is no such thing here.
    Unknown,
}

/// A control.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Control {
    /// Its name, as `--only` takes it.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Where it stands.
    pub group: Group,
    /// Its value in words, with the file it is from, or why it is unknown.
    pub now: Fact<String>,
    /// The values by themselves, where it is several files: one for each CPU,
    /// policy or interrupt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// How that is.
    pub state: State,
    /// What would be better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
    /// Who can set it, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<Setting>,
    /// What hinders this process from setting it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<Hindrance>,
    /// Whether `noise tune` sets it, and when.
    pub tuned: Tuned,
    /// Whether this was only ever tried on made-up file trees: never run on
    /// real hardware by us.
    #[serde(default)]
    pub fixtures_only: bool,
}

/// One of several files of a control.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its path.
    pub path: String,
    /// What it holds, as the kernel writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What `noise tune` would write, if that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
}

/// A better value.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The value, in words.
    pub value: String,
    /// Why it is better.
    pub why: String,
}

/// Whether `noise tune` sets a control.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Tuned {
    /// Unless others are named with `--only`.
    ByDefault,
    /// Only if it is named, for this reason.
    ByName(String),
    /// It does not.
    Never,
}

/// Who can set something.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// Anybody, for a process of their own.
    Anybody,
    /// Root on this system.
    Root,
    /// Whoever writes the kernel's command line, with a new start.
    Boot,
}

/// How a control is set.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Who can.
    pub who: Who,
    /// The command for a shell.
    pub command: String,
}

/// Why a control can't be set, in kinds.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The hypervisor keeps it to itself.
    AbsentInVm,
    /// This kernel was built or started without it.
    AbsentInKernel,
    /// Another user could.
    NoPrivilege,
    /// Not even root here: it lacks a capability, which whoever starts it can
    /// give.
    NoCapability,
    /// The kernel is locked down.
    Lockdown,
    /// The file system is mounted for reading only, or the file is.
    ReadOnly,
    /// The firmware (BIOS) decides.
    Firmware,
    /// The kernel alone places these interrupts.
    ManagedInterrupt,
    /// Another operating system has it, or this hardware does not.
    NotOnThisSystem,
}

impl Kind {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::AbsentInVm => "absent in this virtual machine",
            Kind::AbsentInKernel => "absent in this kernel",
            Kind::NoPrivilege => "no privilege",
            Kind::NoCapability => "no capability",
            Kind::Lockdown => "kernel lockdown",
            Kind::ReadOnly => "read-only",
            Kind::Firmware => "the firmware's",
            Kind::ManagedInterrupt => "managed interrupt",
            Kind::NotOnThisSystem => "not on this system",
        }
    }
}

/// What hinders.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct Hindrance {
    /// Its kind.
    pub kind: Kind,
    /// In words.
    pub why: String,
}

/// Something to do.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The controls that it is about, by name.
    pub controls: Vec<String>,
    /// What, in words.
    pub what: String,
    /// Who can.
    pub who: Who,
    /// The command.
    pub command: String,
    /// What is known of its worth, and from where.
    pub worth: String,
}
