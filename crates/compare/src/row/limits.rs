//! What keeps a row from saying more.

use crate::obstacle::{Flaw, Obstacle};
use crate::shared::{Has, SHARE_OF_A_MODE};
use model::compare::measure::Measure;
use model::estimate::Estimate;
use std::collections::HashMap;

/// Why figures that nothing is wrong with have no ratio.
pub(crate) fn no_ratio_of(estimates: &[&Estimate], measure: Option<Measure>) -> Obstacle {
    let values = |m: Measure| estimates.iter().map(move |e| m.interval(e).map(|i| i.value));
    match measure {
        None => Obstacle::NoCommonFigure,
        Some(m) if values(m).any(|v| v.is_some_and(|v| v <= 0.0)) => Obstacle::NotAboveZero,
        Some(_) => Obstacle::NoSpread,
    }
}

/// Whether some run was in a mode much more often than another: by more than
/// the share that makes a mode a figure of its own.
pub(crate) fn modes_shifted<'e>(estimates: &[&'e Estimate]) -> Option<Obstacle> {
    // The first of a name counts.
    let shares_of = |e: &&'e Estimate| -> HashMap<&'e str, f64> {
        let modes = e.modes.iter().rev();
        modes.map(|mode| (&*mode.name, mode.share)).collect()
    };
    let by_name: Vec<HashMap<&str, f64>> = estimates.iter().map(shares_of).collect();
    let names = estimates.iter().flat_map(|e| &e.modes).map(|mode| &mode.name);
    names
        .map(|name| {
            let shares = by_name.iter().map(|own| own.get(&**name).copied().unwrap_or(0.0));
            let least = shares.clone().fold(f64::INFINITY, f64::min);
            let most = shares.fold(0.0, f64::max);
            (name, least, most)
        })
        .find(|(_, least, most)| most - least > SHARE_OF_A_MODE)
        .map(|(name, least, most)| Obstacle::ModesShifted { name: name.clone(), least, most })
}

/// Whether the middle 80 % of everything seen on one side lie beyond those of
/// the other.
pub(super) fn apart(a: &Has, b: &Has) -> bool {
    let range = |has: &Has| -> Option<(f64, f64)> {
        if let Has::Published(p) = has {
            return p.ns.map(|ns| (ns, ns));
        }
        let typical: Option<Vec<_>> = has.figures().map(|f| f.estimate.typical).collect();
        let typical = typical.filter(|all| !all.is_empty())?;
        let low = typical.iter().map(|t| t.p10_ns).fold(f64::INFINITY, f64::min);
        let high = typical.iter().map(|t| t.p90_ns).fold(f64::NEG_INFINITY, f64::max);
        Some((low, high))
    };
    match (range(a), range(b)) {
        (Some(a), Some(b)) => a.1 < b.0 || b.1 < a.0,
        _ => false,
    }
}

/// What the verdicts of a side's runs take from its figure.
pub(super) fn flaws(side: &'static str, has: &Has) -> Vec<Obstacle> {
    let mut flaws: Vec<Obstacle> = Vec::new();
    for flaw in has.figures().filter_map(|figure| Flaw::from_estimate(&figure.estimate)) {
        let flaw = Obstacle::Side(side, flaw);
        if !flaws.contains(&flaw) {
            flaws.push(flaw);
        }
    }
    flaws
}
