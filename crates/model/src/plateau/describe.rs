//! A level in figures and words.

use super::curve::{Curve, highest, lowest, median};
use super::level::Plateau;
use super::rules::{DOUBT, LEANS, POINTS};
use super::stretch::{LevelCandidate, StretchKind, too_many};
use crate::{figure, size};

impl Curve {
    /// The level in figures and, where it is in doubt, in words.
    pub(super) fn describe(&self, stretch: &LevelCandidate) -> Plateau {
        let dots = &self.dots[stretch.from..=stretch.to];
        let count = dots.len();
        let (from_bytes, to_bytes) = (dots[0].point.bytes, dots[count - 1].point.bytes);
        let all: Vec<f64> = dots.iter().map(|d| d.point.ns).collect();
        let unsteady = dots.iter().filter(|d| d.unsteady).count();

        let mut counted = all.clone();
        let mut range = (lowest(&all), highest(&all));
        let reason = match stretch.kind {
            StretchKind::Disputed => Some(format!(
                "the points disagree: from size to size they jump between {} and {}",
                figure::time(range.0),
                figure::time(range.1),
            )),
            StretchKind::Flat { slope, .. } => {
                let agreeing: Vec<f64> = dots
                    .iter()
                    .filter(|d| stretch.holds(d, dots[0].x))
                    .map(|d| d.point.ns)
                    .collect();
                let apart = count - agreeing.len();
                if too_many(apart, count) {
                    Some(format!(
                        "{apart} of {count} points lie apart from the others: {} to {} in all",
                        figure::time(range.0),
                        figure::time(range.1),
                    ))
                } else if unsteady as f64 >= DOUBT * count as f64 {
                    for d in dots {
                        range = (range.0.min(d.point.low), range.1.max(d.point.high));
                    }
                    Some(format!(
                        "repeats disagree at {unsteady} of {count} points: {} to {}",
                        figure::time(range.0),
                        figure::time(range.1),
                    ))
                } else if agreeing.len() < POINTS {
                    Some(format!(
                        "short: only {} points from {} to {} agree",
                        agreeing.len(),
                        size::format_size(from_bytes),
                        size::format_size(to_bytes),
                    ))
                } else if slope > LEANS {
                    Some(format!(
                        "not level: it rises from {} to {} over {count} points and may be a ramp",
                        figure::time(stretch.start.exp2()),
                        figure::time(stretch.end.exp2()),
                    ))
                } else {
                    range = (lowest(&agreeing), highest(&agreeing));
                    counted = agreeing;
                    None
                }
            }
        };
        Plateau {
            name: String::new(),
            from_bytes,
            to_bytes,
            ns: median(&mut counted),
            low_ns: range.0,
            high_ns: range.1,
            certain: reason.is_none(),
            reason,
        }
    }
}
