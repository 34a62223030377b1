//! Levels of quality of service.

use serde::{Deserialize, Serialize};

/// How urgent work is, by the numbers of Apple's classes.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub fn label(self) -> String {
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
        let named = Level::ALL.into_iter().find(|level| level.label() == text);
        named.or_else(|| text.parse().ok().map(Level))
    }
}
