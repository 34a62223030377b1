//! What was done, as data for its printer.

use serde::Serialize;

/// What became of one step.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The control, as `--only` names it.
    pub control: String,
    /// The file, or what else was set.
    pub what: String,
    /// Its value before; nothing where that is not one value.
    pub old: Option<String>,
    /// The value that was asked for.
    pub wanted: String,
    /// What became of it.
    pub outcome: SetOutcome,
}

/// How setting went.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case", tag = "state", content = "why")]
pub enum SetOutcome {
    /// Set, and read back.
    Set,
    /// It was so already.
    Already,
    /// Not set, and as it was before: the reason.
    Failed(String),
}

/// What became of one value that was to be put back.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct PutBack {
    pub control: String,
    /// The file, or what else was set.
    pub what: String,
    /// The value it had before all; nothing where that is not one value.
    pub old: Option<String>,
    /// What became of it.
    pub outcome: BackOutcome,
}

/// How putting back went.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case", tag = "state", content = "why")]
pub enum BackOutcome {
    /// It is as before: written and read back, or so already.
    Restored,
    /// Another program has changed it to this since: left unchanged.
    ChangedByOthers(String),
    /// It is not there any more.
    Gone,
    /// It could not be put back, and stays in the journal: the reason.
    Failed(String),
}

/// What became of a journal.
#[derive(Serialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Whether there was one.
    pub found: bool,
    /// Where the journal of another boot was put, if it was one: the kernel
    /// has its own values again since.
    pub of_another_boot: Option<String>,
    /// Whether its last record was half-written and cut off: its step is put
    /// back as one that was broken off.
    pub torn: bool,
    /// Whether an earlier latlas wrote the journal, without checksums: damage
    /// to it would not have been noticed.
    pub unchecked: bool,
    /// The values, last set first.
    pub values: Vec<PutBack>,
    /// Whether something could not be put back and is in the journal still.
    pub pending: bool,
    /// What else went wrong, such as that the journal can't be removed.
    pub remarks: Vec<String>,
}

impl Restored {
    /// Whether all is as before, but for what others changed.
    pub fn complete(&self) -> bool {
        !self.pending && self.remarks.is_empty()
    }

    /// Whether all is as before, also what others could have changed.
    pub fn as_before(&self) -> bool {
        self.complete() && self.foreign().next().is_none()
    }

    /// Values that another program has changed since.
    pub fn foreign(&self) -> impl Iterator<Item = &PutBack> {
        self.values.iter().filter(|value| matches!(value.outcome, BackOutcome::ChangedByOthers(_)))
    }
}
