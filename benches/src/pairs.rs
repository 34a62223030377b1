//! Alternated pairs: the same quantity by us and by a peer, interleaved, so that
//! what drifts meets both.

use model::stats::{self, Interval};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ratios(Vec<f64>);

impl Ratios {
    /// The ratios ours / the peer's.
    pub fn new(ratios: impl IntoIterator<Item = f64>) -> Ratios {
        Ratios(stats::sorted(ratios))
    }

    /// The median with its distribution-free 95 % interval; `None` below six
    /// pairs.
    pub fn interval(&self) -> Option<Interval> {
        stats::quantile_interval_sorted(&self.0, 0.5)
    }

    /// Whether the whole interval lies between the two.
    pub fn inside(&self, low: f64, high: f64) -> bool {
        self.interval().is_some_and(|i| i.low >= low && i.high <= high)
    }

    /// As printed: `1.012 [0.984, 1.037]`, the median alone where there are
    /// too few pairs for an interval.
    pub fn ratio_text(&self) -> String {
        match (self.interval(), stats::quantile_sorted(&self.0, 0.5)) {
            (Some(i), _) => format!("{:.3} [{:.3}, {:.3}]", i.value, i.low, i.high),
            (None, Some(value)) => format!("{value:.3}"),
            (None, None) => "-".into(),
        }
    }
}

/// Runs two measurements interleaved, the first first in every other pair.
///
/// # Errors
/// The first failure of either.
pub fn alternate<A, B>(
    pairs: u32,
    mut ours: impl FnMut(u32) -> anyhow::Result<A>,
    mut theirs: impl FnMut(u32) -> anyhow::Result<B>,
) -> anyhow::Result<Vec<(A, B)>> {
    (0..pairs)
        .map(|pair| {
            if pair.is_multiple_of(2) {
                let first = ours(pair)?;
                Ok((first, theirs(pair)?))
            } else {
                let first = theirs(pair)?;
                Ok((ours(pair)?, first))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_needs_six_pairs_and_must_lie_inside() {
        let few = Ratios::new([1.0, 1.02, 0.98]);
        assert_eq!((few.interval(), few.ratio_text().as_str()), (None, "1.000"));
        assert!(!few.inside(0.9, 1.1));
        let eleven = Ratios::new((0..11).map(|k| 0.95 + f64::from(k) * 0.01));
        assert!(eleven.inside(0.9, 1.1));
        assert!(!eleven.inside(0.97, 1.1));
    }

    #[test]
    fn pairs_alternate() {
        let order = std::cell::RefCell::new(String::new());
        let pairs = alternate(
            3,
            |k| {
                order.borrow_mut().push('o');
                Ok(k)
            },
            |k| {
                order.borrow_mut().push('t');
                Ok(k * 10)
            },
        )
        .expect("no failure");
        assert_eq!(pairs, [(0, 0), (1, 10), (2, 20)]);
        assert_eq!(order.into_inner(), "ottoot");
    }
}
