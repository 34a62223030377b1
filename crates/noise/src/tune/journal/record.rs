//! What stands in a journal, and what it says of the steps.

use super::super::item::Item;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A step, with all that is needed to undo it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// Values: those with a wish are written in their order.
    Change {
        /// The control, as `--only` names it.
        control: String,
        /// The values.
        items: Vec<Item>,
    },
    /// A controller given to the groups below (`cgroup.subtree_control`).
    Enable { path: String, controller: String },
    /// A control group made. The processes in it return to their own groups when
    /// it is removed.
    Group {
        /// Its directory.
        path: String,
        /// The directory of the group that its tasks go to.
        home: String,
        /// Name of the file that lists and takes its members.
        list: String,
        /// What else its making and its going may alter.
        #[serde(rename = "beside")]
        accompanying: Vec<Item>,
    },
}

impl Action {
    /// The values that it changes, or may change by the way.
    pub(crate) fn items(&self) -> &[Item] {
        match self {
            Action::Change { items, .. } | Action::Group { accompanying: items, .. } => items,
            Action::Enable { .. } => &[],
        }
    }
}

#[derive(thiserror::Error, Debug)]
pub(crate) enum Damage {
    #[error("it is empty")]
    Empty,
    #[error("its checksum is wrong: a damaged file")]
    Checksum,
    #[error("it names this boot except for a letter or two: a damaged file")]
    NearlyThisBoot,
    #[error("{0}")]
    NotJson(#[from] serde_json::Error),
    #[error("it has no beginning")]
    NoBeginning,
    #[error("its form is {}, not {wanted}", .found.map_or("unknown".into(), |form| form.to_string()))]
    Form { found: Option<u64>, wanted: u32 },
    #[error("a second beginning")]
    SecondBeginning,
    #[error("an entry out of order")]
    OutOfOrder,
    #[error("there is no entry {0}")]
    NoEntry(usize),
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub(super) enum JournalRecord {
    Began(Header),
    /// What is going to be done.
    Intent {
        entry: usize,
        action: Action,
    },
    /// It is done, and these values were read back (those of `items`, in
    /// their order; nothing where one can't be read).
    Made {
        entry: usize,
        left: Vec<Option<String>>,
    },
    /// It is going to be undone, but for these items, which another program
    /// changed.
    Undoing {
        entry: usize,
        foreign: Vec<usize>,
    },
    /// Undoing it was tried, and these values of its items were left: what is
    /// another later another program has set.
    Tried {
        entry: usize,
        foreign: Vec<usize>,
        left: Vec<Option<String>>,
    },
    /// Nothing of it is left to be undone.
    Done {
        entry: usize,
    },
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: u32,
    /// /proc/sys/kernel/random/boot_id.
    pub(crate) boot_id: String,
    /// Below which the files are: `/`, or where a fixture lies.
    pub(crate) root: PathBuf,
    /// The process that tunes.
    pub(crate) process: u32,
    /// When, by the kernel's clock that is never set: no two tunes of a boot have the same.
    #[serde(default)]
    pub(crate) began_ns: u64,
    /// The directories with a copy; empty of one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) copies: Vec<PathBuf>,
}

/// What the journal knows of a step.
#[derive(Clone, Debug)]
pub(crate) struct JournalEntry {
    pub(crate) action: Action,
    pub(crate) left: Option<Vec<Option<String>>>,
    /// While it is being undone: what was found to be set by another program before
    /// that began.
    pub(crate) undoing: Option<Vec<usize>>,
    /// Of an earlier try: what another program had set then, and stays so.
    pub(crate) foreign: Vec<usize>,
    pub(crate) done: bool,
    /// How many entries there were when it was done.
    pub(crate) done_of: usize,
}

impl JournalRecord {
    /// What it says of the entries. Records must make sense one after the other.
    pub(super) fn learn(self, entries: &mut Vec<JournalEntry>) -> Result<(), Damage> {
        let count = entries.len();
        match self {
            JournalRecord::Began(_) => return Err(Damage::SecondBeginning),
            JournalRecord::Intent { entry, action } if entry == count => {
                entries.push(JournalEntry::new(action))
            }
            JournalRecord::Intent { .. } => return Err(Damage::OutOfOrder),
            JournalRecord::Made { entry, left } => known(entries, entry)?.left = Some(left),
            JournalRecord::Undoing { entry, foreign } => {
                known(entries, entry)?.undoing = Some(foreign)
            }
            JournalRecord::Tried { entry, foreign, left } => {
                let entry = known(entries, entry)?;
                entry.undoing = None;
                entry.foreign = foreign;
                entry.left = Some(left);
            }
            JournalRecord::Done { entry } => {
                let entry = known(entries, entry)?;
                entry.done = true;
                entry.done_of = count;
            }
        }
        Ok(())
    }
}

fn known(entries: &mut [JournalEntry], entry: usize) -> Result<&mut JournalEntry, Damage> {
    entries.get_mut(entry).ok_or(Damage::NoEntry(entry))
}

impl JournalEntry {
    fn new(action: Action) -> JournalEntry {
        JournalEntry {
            action,
            left: None,
            undoing: None,
            foreign: Vec::new(),
            done: false,
            done_of: 0,
        }
    }
}
