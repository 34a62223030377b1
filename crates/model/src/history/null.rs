//! How large the largest step comes out where nothing changed: histories are
//! made up that vary as this one does, and go the same way.

use super::scan::largest;
use super::spread::{SLOW, Spread};
use super::{LEVEL, Past};
use crate::bits::Bits;

/// Histories that are made up. The real one counts as one more (Barnard's
/// Monte Carlo test, J. R. Statist. Soc. B 25, 1963, 294; Phipson and Smyth,
/// Stat. Appl. Genet. Mol. Biol. 9, 2010, 39).
const MADE_UP: usize = 199;
/// Of those, so many may have a step as large as the real one's.
const ALLOWED: usize = (LEVEL * (MADE_UP + 1) as f64) as usize - 1;

/// Whether a step of this size in the stretch `from..to` is larger than in all
/// but a share [`LEVEL`] of histories without a change.
pub(super) fn is_beyond(past: &Past, spread: &Spread, [from, to]: [usize; 2], size: f64) -> bool {
    let as_large = steps(past, spread, [from, to]).filter(|made_up| *made_up >= size);
    as_large.take(ALLOWED + 1).count() <= ALLOWED
}

/// The size from which on a step in this stretch is a change.
pub(super) fn limit(past: &Past, spread: &Spread, stretch: [usize; 2]) -> f64 {
    let mut all: Vec<f64> = steps(past, spread, stretch).collect();
    all.sort_by(f64::total_cmp);
    all[MADE_UP - 1 - ALLOWED]
}

/// The largest steps in this stretch of made-up histories, which are always
/// the same ones.
fn steps<'a>(
    past: &'a Past,
    spread: &'a Spread,
    [from, to]: [usize; 2],
) -> impl Iterator<Item = f64> + 'a {
    let mut bits = Bits(0x9e37_79b9_7f4a_7c15);
    (0..MADE_UP).map(move |_| {
        let made_up = without_change(past, spread, &mut bits);
        // How much runs vary is not known here either, and learned again.
        let factor = Spread::of(&made_up).factor;
        largest(&made_up, from, to, factor).map_or(0.0, |step| step.size)
    })
}

/// A history as long and as uncertain as this one at one level. What its runs
/// resemble each other by is a slow wander below values of their own: the worst
/// that the correlation of neighbours can mean for a mean of many.
fn without_change(past: &Past, spread: &Spread, bits: &mut Bits) -> Past {
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
        let limit = limit(&past, &spread, [0, 40]);
        // Of the largest of many normal steps, made wider by resemblance.
        assert!((3.0..9.0).contains(&limit), "{limit}");
        assert!(is_beyond(&past, &spread, [0, 40], limit * 1.0001));
        assert!(!is_beyond(&past, &spread, [0, 40], limit * 0.9999));
        assert_eq!(ALLOWED, 1, "2 of 200 are 1 %");
    }

    #[test]
    fn runs_that_resemble_each_other_need_a_larger_step() {
        let (past, spread) = flat(40);
        let alike = Spread { resemblance: 0.6, ..spread };
        assert!(limit(&past, &alike, [0, 40]) > 1.3 * limit(&past, &spread, [0, 40]));
    }
}
