//! Levels of quality of service, and the parts that a system makes of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How urgent work is, by the numbers of Apple's classes.
#[derive(
    Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
#[serde(from = "u32", into = "u32")]
pub struct Level(u32);

impl From<u32> for Level {
    fn from(number: u32) -> Level {
        Level(number)
    }
}

impl From<Level> for u32 {
    fn from(level: Level) -> u32 {
        level.0
    }
}

impl Level {
    /// Work that the user does not see.
    pub const BACKGROUND: Level = Level(9);
    /// Work with a progress bar.
    pub const UTILITY: Level = Level(17);
    /// What a thread has that nothing was set for. Not one of Oakley's four.
    pub const DEFAULT: Level = Level(21);
    /// Work that the user waits for.
    pub const USER_INITIATED: Level = Level(25);
    /// What the user sees at once.
    pub const USER_INTERACTIVE: Level = Level(33);

    /// All known ones, the lowest first.
    pub const ALL: [Level; 5] = [
        Level::BACKGROUND,
        Level::UTILITY,
        Level::DEFAULT,
        Level::USER_INITIATED,
        Level::USER_INTERACTIVE,
    ];

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Whether systems have a name for it.
    pub fn is_known(self) -> bool {
        Level::ALL.contains(&self)
    }

    /// Its name; its number where it has none.
    pub fn name(self) -> String {
        match self {
            Level::BACKGROUND => "background".into(),
            Level::UTILITY => "utility".into(),
            Level::DEFAULT => "default".into(),
            Level::USER_INITIATED => "user-initiated".into(),
            Level::USER_INTERACTIVE => "user-interactive".into(),
            Level(number) => format!("value {number}"),
        }
    }

    /// The level of a name or a number.
    pub fn parse(text: &str) -> Option<Level> {
        let named = Level::ALL.into_iter().find(|level| level.name() == text);
        named.or_else(|| text.parse().ok().map(Level))
    }
}

/// One part of a level, and what came of it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Part {
    /// What is asked for.
    pub setting: Setting,
    /// What the system made of it.
    pub outcome: Outcome,
}

/// What is set for a job.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// Nice value of each thread.
    Nice(i32),
    /// Nice value of the session's autogroup.
    Autogroup(i32),
    /// EEVDF slice of each thread, ns.
    SliceNs(u64),
    /// QoS class of each thread (Apple).
    QosClass(u32),
}

impl Setting {
    /// As in a table.
    pub fn text(self) -> String {
        match self {
            Setting::Batch => "SCHED_BATCH".into(),
            Setting::Idle => "SCHED_IDLE".into(),
            Setting::Nice(nice) => format!("nice {nice}"),
            Setting::Autogroup(nice) => format!("autogroup nice {nice}"),
            Setting::SliceNs(ns) => format!("slice {}", crate::figure::time(ns as f64)),
            Setting::QosClass(number) => format!("QoS class {number}"),
        }
    }
}

/// What the system made of a part.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Set, but there is no way to read it back.
    Applied,
    /// Set, and read back in the thread that has it. Whether it was seen to act is another matter:
    /// [`seen_to_act`](super::shares::seen_to_act).
    #[serde(alias = "effective")]
    ReadBack,
    /// Not set, with the reason.
    Refused(String),
    /// Set without an error, and something else was read back.
    Differs(String),
}

impl Part {
    /// Whether it holds for the job.
    pub fn holds(&self) -> bool {
        matches!(self.outcome, Outcome::Applied | Outcome::ReadBack)
    }
}
