//! Why a store could not do what it was asked for.

use std::fmt;

/// What kind of failure it is: what latlas does next depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The URL or the environment is wrong.
    Settings,
    /// The store can't be reached.
    Unreachable,
    /// The connection was lost: it is not known whether the request was carried out.
    WentAway,
    /// The store is of a newer version.
    Newer,
    /// The store refused the request, for want of permission or room.
    Refused,
    /// The store holds something that latlas did not store.
    Damaged,
}

/// As they are sent.
const WORDS: [(FailureKind, &str); 6] = [
    (FailureKind::Settings, "settings"),
    (FailureKind::Unreachable, "unreachable"),
    (FailureKind::WentAway, "went-away"),
    (FailureKind::Newer, "newer"),
    (FailureKind::Refused, "refused"),
    (FailureKind::Damaged, "damaged"),
];

impl FailureKind {
    pub(crate) fn word(self) -> &'static str {
        WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    pub(crate) fn of_word(word: &str) -> Option<FailureKind> {
        WORDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }
}

/// Why a store could not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind it is.
    pub kind: FailureKind,
    /// One line, without a password and without the store's name, which latlas adds.
    pub message: String,
}

impl Failure {
    /// A failure with its message; line breaks become spaces.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        let message: String = message.into();
        Failure { kind, message: message.replace(char::is_control, " ") }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.word(), self.message)
    }
}

impl std::error::Error for Failure {}
