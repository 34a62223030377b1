//! How large the largest step comes out where nothing changed: histories are
//! made up that vary as this one does, and go the same way.

use super::scan::{Step, largest};
use super::spread::{SLOW, Spread};
use super::{LEVEL, Past};
use crate::compare::finding::Samples;
use crate::repeatable_random::Xorshift;
use crate::stats;

/// Histories that are made up. The real one counts as one more (Barnard's
/// Monte Carlo test, J. R. Statist. Soc. B 25, 1963, 294; Phipson and Smyth,
/// Stat. Appl. Genet. Mol. Biol. 9, 2010, 39).
const MADE_UP: usize = 199;
/// Of those, so many may have a step as large as the real one's.
const ALLOWED: usize = (LEVEL * (MADE_UP + 1) as f64) as usize - 1;

/// A part of a history, which may have a step.
pub(super) struct HistoryStretch<'a> {
    pub(super) past: &'a Past,
    pub(super) spread: &'a Spread,
    pub(super) ends: [usize; 2],
}

impl Samples for HistoryStretch<'_> {
    fn p_value(&self) -> Option<f64> {
        Some(self.p_value_of(self.largest()?.size))
    }
}

impl HistoryStretch<'_> {
    /// The largest step in it.
    pub(super) fn largest(&self) -> Option<Step> {
        largest(self.past, self.ends[0], self.ends[1], self.spread.factor)
    }

    /// The share of histories without a change that have a step of this size. Once it is sure to be above [`LEVEL`],
    /// no further ones are made up (Besag and Clifford, Biometrika 78, 1991, 301-304).
    fn p_value_of(&self, size: f64) -> f64 {
        let as_large = self.made_up().enumerate().filter(|(_, made_up)| *made_up >= size);
        let as_large: Vec<usize> = as_large.map(|(at, _)| at + 1).take(ALLOWED + 1).collect();
        match as_large.get(ALLOWED) {
            Some(made_up) => as_large.len() as f64 / *made_up as f64,
            None => (as_large.len() + 1) as f64 / (MADE_UP + 1) as f64,
        }
    }

    /// The size from which on a step is a change.
    pub(super) fn limit(&self) -> f64 {
        stats::sorted(self.made_up())[MADE_UP - 1 - ALLOWED]
    }

    /// The largest steps in this stretch of made-up histories, which are always the same ones.
    fn made_up(&self) -> impl Iterator<Item = f64> {
        let mut bits = Xorshift(0x9e37_79b9_7f4a_7c15);
        (0..MADE_UP).map(move |_| {
            let made_up = without_change(self.past, self.spread, &mut bits);
            // How much runs vary is not known here either, and learned again.
            let factor = Spread::from_past(&made_up).factor;
            largest(&made_up, self.ends[0], self.ends[1], factor).map_or(0.0, |step| step.size)
        })
    }
}

/// A history as long and as uncertain as this one at one level. What its runs
/// resemble each other by is a slow wander below values of their own: the worst
/// that the correlation of neighbours can mean for a mean of many.
fn without_change(past: &Past, spread: &Spread, bits: &mut Xorshift) -> Past {
    let slow = spread.slow_share();
    let (own, common) = ((1.0 - slow).sqrt(), slow.sqrt());
    let fresh = (1.0 - SLOW * SLOW).sqrt();
    let mut wander = bits.normals()[0];
    let ln = past.assumed.iter().map(|assumed| {
        let [step, alone] = bits.normals();
        let value = common * wander + own * alone;
        wander = SLOW * wander + fresh * step;
        value * (spread.factor * assumed).sqrt()
    });
    Past { ln: ln.collect(), assumed: past.assumed.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(count: usize) -> (Past, Spread) {
        let past = Past { ln: vec![0.0; count], assumed: vec![1e-4; count] };
        let spread = Spread { factor: 1.0, df: 20.0, resemblance: 0.3 };
        (past, spread)
    }

    #[test]
    fn what_is_beyond_the_limit_is_beyond() {
        let (past, spread) = flat(40);
        let stretch = HistoryStretch { past: &past, spread: &spread, ends: [0, 40] };
        let limit = stretch.limit();
        // Of the largest of many normal steps, made wider by resemblance.
        assert!((3.0..9.0).contains(&limit), "{limit}");
        assert!(stretch.p_value_of(limit * 1.0001) <= LEVEL);
        assert!(stretch.p_value_of(limit * 0.9999) > LEVEL);
        assert_eq!(ALLOWED, 1, "2 of 200 are 1 %");
    }

    #[test]
    fn runs_that_resemble_each_other_need_a_larger_step() {
        let (past, spread) = flat(40);
        let alike = Spread { resemblance: 0.6, ..spread };
        let limit = |spread| HistoryStretch { past: &past, spread, ends: [0, 40] }.limit();
        assert!(limit(&alike) > 1.3 * limit(&spread));
    }
}
