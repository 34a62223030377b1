//! What a publication concludes, judged by the figures of one run.

use super::{Here, here};
use crate::references::{Claim, ClaimRatio, Reference};
use model::estimate::{Estimate, Mode, Verdict};
use model::run::Run;
use model::size;
use model::stats::Interval;
use serde::Serialize;

model::words! {
    /// Whether a claim is true on a machine.
    #[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Judgement: word {
        /// The whole interval of each ratio lies between its limits.
        Holds = "holds",
        /// The whole interval of a ratio lies beyond a limit.
        DoesNotHold = "does not hold",
        /// A limit lies within an interval, or a figure is missing or uncertain.
        #[serde(rename = "inconclusive")]
        CannotTell = "inconclusive",
    }
}

/// A claim with its ratios here.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct JudgedClaim {
    /// The claim, a sentence without its full stop.
    pub says: String,
    pub judgement: Judgement,
    pub ratios: Vec<JudgedRatio>,
}

/// A ratio here, and those of the publication's own figures.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct JudgedRatio {
    /// What is divided by what, and the limits.
    #[serde(flatten)]
    pub rule: ClaimRatio,
    pub judgement: Judgement,
    /// The ratio with its 95 % interval in this run.
    pub here: Option<Interval>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<RatioObstacle>,
    /// Of the published figures: one entry a published column.
    pub published: Vec<Option<f64>>,
}

/// Why a ratio is not known here.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RatioObstacle {
    /// The run has no figure of the row.
    Missing { row: String, reason: String },
    /// No conclusion may be drawn from the row's figure.
    Uncertain { row: String, verdict: Verdict, reason: String },
    /// The figure is too near to the resolution, or its interval includes 0.
    TooSmall { row: String },
}

/// Judges claims by a run; without one there is nothing to tell.
pub(super) fn judged(
    claims: &[Claim],
    columns: &[&Reference],
    run: Option<&Run>,
) -> Vec<JudgedClaim> {
    let claim = |claim: &Claim| {
        let ratios: Vec<JudgedRatio> =
            claim.ratios.iter().map(|rule| judged_ratio(rule, columns, run)).collect();
        JudgedClaim {
            says: claim.says.clone(),
            judgement: together(ratios.iter().map(|ratio| ratio.judgement)),
            ratios,
        }
    };
    claims.iter().map(claim).collect()
}

/// One ratio that misses its limits refutes a claim; all must hold for it to hold.
fn together(all: impl Iterator<Item = Judgement>) -> Judgement {
    all.fold(Judgement::Holds, |so_far, next| match (so_far, next) {
        (Judgement::DoesNotHold, _) | (_, Judgement::DoesNotHold) => Judgement::DoesNotHold,
        (Judgement::CannotTell, _) | (_, Judgement::CannotTell) => Judgement::CannotTell,
        _ => Judgement::Holds,
    })
}

fn judged_ratio(rule: &ClaimRatio, columns: &[&Reference], run: Option<&Run>) -> JudgedRatio {
    let ratio = ratio_here(rule, run);
    JudgedRatio {
        rule: rule.clone(),
        judgement: ratio.as_ref().map_or(Judgement::CannotTell, |ratio| within(rule, ratio)),
        published: columns.iter().map(|column| published_ratio(rule, column)).collect(),
        here: ratio.as_ref().ok().copied(),
        obstacle: ratio.err(),
    }
}

/// Whether an interval lies between the limits as a whole.
fn within(rule: &ClaimRatio, ratio: &Interval) -> Judgement {
    let (least, most) = (rule.at_least.unwrap_or(0.0), rule.at_most.unwrap_or(f64::INFINITY));
    match () {
        () if ratio.low >= least && ratio.high <= most => Judgement::Holds,
        () if ratio.high < least || ratio.low > most => Judgement::DoesNotHold,
        () => Judgement::CannotTell,
    }
}

/// The ratio from end to end of both intervals: those of figures in two states lie unevenly, so that half
/// widths would say too little.
fn ratio_here(rule: &ClaimRatio, run: Option<&Run>) -> Result<Interval, RatioObstacle> {
    let of = figure_here(&rule.of, rule.of_less.as_deref(), rule.per_byte, run)?;
    let over = figure_here(&rule.over, rule.over_less.as_deref(), rule.per_byte, run)?;
    for (row, figure) in [(&rule.of, &of), (&rule.over, &over)] {
        if figure.low <= 0.0 {
            return Err(RatioObstacle::TooSmall { row: row.clone() });
        }
    }
    let whole = over_end_to_end(&of, &over);
    Ok(match by_state(rule, run) {
        Some(states) => Interval { value: whole.value, ..states },
        None => whole,
    })
}

fn over_end_to_end(of: &Interval, over: &Interval) -> Interval {
    let Interval { value, low, high } = *of;
    Interval { value: value / over.value, low: low / over.high, high: high / over.low }
}

/// The ratios of two rows of one probe, each state over the same one: both are parts of the same operations. From
/// the least to the most; `None` where they don't have the same states.
fn by_state(rule: &ClaimRatio, run: Option<&Run>) -> Option<Interval> {
    let probe = |row: &str| row.rsplit_once('/').map(|(probe, _)| probe.to_owned());
    let alone = rule.of_less.is_none() && rule.over_less.is_none() && !rule.per_byte;
    if !alone || probe(&rule.of) != probe(&rule.over) {
        return None;
    }
    let states = |row: &str| match here(run, row) {
        Here::Measured(measured) if measured.verdict == Verdict::TwoStates => {
            Some(measured.estimate.modes)
        }
        _ => None,
    };
    let (of, over) = (states(&rule.of)?, states(&rule.over)?);
    if of.len() != over.len() {
        return None;
    }
    let ratio = |state: &Mode| {
        let same = over.iter().find(|other| other.name == state.name)?;
        let positive = same.typical.ns.low > 0.0;
        positive.then(|| over_end_to_end(&state.typical.ns, &same.typical.ns))
    };
    let ratios = of.iter().map(ratio).collect::<Option<Vec<Interval>>>()?;
    ratios.into_iter().reduce(hull)
}

/// From the least to the most of both; the figure of the first.
fn hull(one: Interval, other: Interval) -> Interval {
    Interval { value: one.value, low: one.low.min(other.low), high: one.high.max(other.high) }
}

/// A row's figure, less another's, ns.
fn figure_here(
    row: &str,
    less: Option<&str>,
    per_byte: bool,
    run: Option<&Run>,
) -> Result<Interval, RatioObstacle> {
    let figure = row_here(row, run)?;
    let figure = match less {
        Some(less) => less_end_to_end(&figure, &row_here(less, run)?),
        None => figure,
    };
    Ok(figure.scaled(1.0 / divisor(row, per_byte)))
}

fn less_end_to_end(figure: &Interval, less: &Interval) -> Interval {
    Interval {
        value: figure.value - less.value,
        low: figure.low - less.high,
        high: figure.high - less.low,
    }
}

/// The bytes that a name ends with, where a figure is divided by them.
fn divisor(row: &str, per_byte: bool) -> f64 {
    let bytes = row.rsplit_once('/').and_then(|(_, size)| size::parse_size(size));
    bytes.filter(|&bytes| per_byte && bytes > 0).map_or(1.0, |bytes| bytes as f64)
}

fn row_here(row: &str, run: Option<&Run>) -> Result<Interval, RatioObstacle> {
    let row = row.to_owned();
    match here(run, &row) {
        Here::Measured(measured) if measured.below_ns.is_some() => {
            Err(RatioObstacle::TooSmall { row })
        }
        Here::Measured(measured) => {
            let uncertain = || RatioObstacle::Uncertain {
                row,
                verdict: measured.verdict,
                reason: measured.reason.clone(),
            };
            certain(&measured.estimate).ok_or_else(uncertain)
        }
        Here::Invalid { reason } => {
            Err(RatioObstacle::Uncertain { row, verdict: Verdict::Invalid, reason })
        }
        Here::Unavailable { reason } | Here::NotMeasured { reason, .. } => {
            Err(RatioObstacle::Missing { row, reason })
        }
    }
}

/// The figure of this run. A wide interval is judged as it is; of two states it reaches from the one to the
/// other.
fn certain(estimate: &Estimate) -> Option<Interval> {
    match estimate.verdict {
        Verdict::Ok | Verdict::Noisy => estimate.ns_of_run(),
        Verdict::TwoStates => {
            let states = || estimate.modes.iter().map(|mode| mode.typical.ns);
            let first = estimate.ns_of_run().filter(|_| states().count() > 1)?;
            Some(states().fold(first, hull))
        }
        Verdict::Biased | Verdict::CannotTell | Verdict::Invalid => None,
    }
}

/// The same ratio of published figures, where a column has them all.
fn published_ratio(rule: &ClaimRatio, column: &Reference) -> Option<f64> {
    let one = |row: &str| column.row(row).filter(|row| row.comparable())?.ns;
    let figure = |row: &str, less: Option<&str>| {
        let less = less.map_or(Some(0.0), one)?;
        Some((one(row)? - less) / divisor(row, rule.per_byte))
    };
    let over = figure(&rule.over, rule.over_less.as_deref()).filter(|&over| over > 0.0)?;
    Some(figure(&rule.of, rule.of_less.as_deref())? / over)
}

#[cfg(test)]
mod tests;
