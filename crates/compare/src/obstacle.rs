//! What keeps a comparison of a row from saying more.

use model::estimate::{Estimate, Verdict};
use model::share::range;
use serde::Serialize;

/// One obstacle. In JSON it is its sentence.
#[derive(Serialize, Clone, Debug, PartialEq, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub enum Obstacle {
    #[error("the published figure is doubtful: {0}")]
    Doubtful(String),
    #[error("published of other code that does the same job")]
    OtherCode,
    #[error("the two are counted in different units")]
    Units,
    /// A run's figure has a flaw: the side's name, and the flaw.
    #[error("{0} {1}")]
    Side(&'static str, Flaw),
    #[error("in {count} of {sets} sets {flaw}")]
    Sets { count: usize, sets: usize, flaw: Flaw },
    #[error("the runs are of different modes: {name} in {}", range(*least, *most))]
    ModesShifted { name: String, least: f64, most: f64 },
    #[error("no figure of the same kind on both sides")]
    NoCommonFigure,
    #[error("a figure that is not above 0 has no ratio")]
    NotAboveZero,
    #[error("too few samples or worker processes for a spread")]
    NoSpread,
}

/// What is wrong with a run's figure, and why if it is known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{kind}{}", if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) })]
pub struct Flaw {
    pub kind: FlawKind,
    /// The estimate's reason; empty if it has none.
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlawKind {
    #[error("no figure")]
    NoFigure,
    #[error("below resolution")]
    BelowResolution,
    #[error("{}", .0.text())]
    Verdict(Verdict),
}

impl Flaw {
    /// The flaw of an estimate, if it has one.
    pub fn from_estimate(estimate: &Estimate) -> Option<Flaw> {
        let kind = match (estimate.verdict, estimate.below_ns) {
            (_, Some(_)) => FlawKind::BelowResolution,
            (Verdict::Ok, None) => return None,
            (verdict, None) => FlawKind::Verdict(verdict),
        };
        Some(Flaw { kind, reason: estimate.reason.clone() })
    }
}

impl From<Obstacle> for String {
    fn from(obstacle: Obstacle) -> String {
        obstacle.to_string()
    }
}

impl Obstacle {
    /// Whether it is that a run's samples don't measure what the row says.
    pub fn is_of_invalid(&self) -> bool {
        matches!(self, Obstacle::Side(_, flaw) if flaw.kind == FlawKind::Verdict(Verdict::Invalid))
    }

    /// The obstacle in a word or two, behind its rank: of several the first is shown.
    fn ranked(&self) -> (u8, &'static str) {
        match self {
            Obstacle::Doubtful(_) => (0, "doubtful"),
            Obstacle::OtherCode => (1, "like"),
            Obstacle::Units => (2, "units"),
            Obstacle::NoCommonFigure => (4, "no figure"),
            Obstacle::ModesShifted { .. } => (7, "other modes"),
            Obstacle::NotAboveZero => (8, "no ratio"),
            Obstacle::NoSpread => (9, "no spread"),
            Obstacle::Side(_, flaw) | Obstacle::Sets { flaw, .. } => match flaw.kind {
                FlawKind::Verdict(Verdict::Invalid) => (3, "invalid"),
                FlawKind::BelowResolution | FlawKind::NoFigure => (4, "no figure"),
                FlawKind::Verdict(Verdict::CannotTell) => (5, "too noisy"),
                FlawKind::Verdict(Verdict::TwoStates) => (6, "states"),
                FlawKind::Verdict(Verdict::Biased) => (10, "biased"),
                FlawKind::Verdict(Verdict::Ok | Verdict::Noisy) => (11, "noisy"),
            },
        }
    }
}

/// The weightiest of these in a word or two; nothing of none.
pub fn brief<'o>(obstacles: impl IntoIterator<Item = &'o Obstacle>) -> Option<&'static str> {
    let ranked = obstacles.into_iter().map(Obstacle::ranked);
    ranked.min().map(|(_, brief)| brief)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weightiest_obstacle_is_shown() {
        let side = |verdict| {
            let reason = "two states".to_owned();
            let kind = FlawKind::Verdict(verdict);
            Obstacle::Side("A", Flaw { kind, reason })
        };
        assert_eq!(side(Verdict::Noisy).to_string(), "A noisy: two states");
        // What the reason says decides nothing.
        assert_eq!(brief(&[side(Verdict::Noisy)]), Some("noisy"));
        assert_eq!(brief(&[side(Verdict::Noisy), Obstacle::Units]), Some("units"));
        assert_eq!(brief(&[]), None);
    }
}
