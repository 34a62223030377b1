//! Sums over a part of a trace, without a pass over all of it for each part.

/// Values by their times: what those before a time add up to.
struct Sums {
    at_ns: Vec<u64>,
    /// Up to each time, and 0 before all of them.
    sums: Vec<u128>,
}

impl Sums {
    fn from_values(mut values: Vec<(u64, u64)>) -> Sums {
        values.sort_unstable();
        let mut sum = 0;
        let sums = values.iter().map(|&(_, value)| {
            sum += u128::from(value);
            sum
        });
        Sums {
            sums: std::iter::once(0).chain(sums).collect(),
            at_ns: values.iter().map(|&(at_ns, _)| at_ns).collect(),
        }
    }

    fn before(&self, at_ns: u64) -> u128 {
        self.sums[self.at_ns.partition_point(|&at| at < at_ns)]
    }

    fn up_to(&self, at_ns: u64) -> u128 {
        self.sums[self.at_ns.partition_point(|&at| at <= at_ns)]
    }
}

/// Stretches with values: what the values of those that touch another one add up to.
pub(super) struct Touching {
    by_begin: Sums,
    by_end: Sums,
}

impl Touching {
    /// Of stretches with their values, in any order.
    pub(super) fn from_stretches(
        stretches: impl Iterator<Item = ((u64, u64), u64)> + Clone,
    ) -> Touching {
        let by_begin = stretches.clone().map(|((from_ns, _), value)| (from_ns, value));
        let by_end = stretches.map(|((_, to_ns), value)| (to_ns, value));
        Touching {
            by_begin: Sums::from_values(by_begin.collect()),
            by_end: Sums::from_values(by_end.collect()),
        }
    }

    /// Of those that begin before `to_ns` and end after `from_ns`, which is earlier.
    pub(super) fn sum(&self, from_ns: u64, to_ns: u64) -> u128 {
        let ended = self.by_end.up_to(from_ns);
        self.by_begin.before(to_ns).saturating_sub(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::random::Random;

    #[test]
    fn a_sum_is_that_of_the_stretches_that_touch() {
        let mut random = Random(11);
        let mut number = |below: u64| (random.share() * below as f64) as u64;
        for _ in 0..200 {
            let count = number(40);
            let stretches = (0..count).map(|_| {
                let from_ns = number(60);
                ((from_ns, from_ns + 1 + number(9)), number(1_000))
            });
            let stretches: Vec<((u64, u64), u64)> = stretches.collect();
            let touching = Touching::from_stretches(stretches.iter().copied());
            for from_ns in 0..70 {
                for to_ns in from_ns + 1..72 {
                    let plain = stretches.iter();
                    let plain = plain.filter(|((from, to), _)| *from < to_ns && *to > from_ns);
                    let plain: u64 = plain.map(|(_, value)| value).sum();
                    assert_eq!(touching.sum(from_ns, to_ns), u128::from(plain));
                }
            }
        }
    }

    #[test]
    fn no_value_is_too_large_and_no_time_too_late() {
        let stretches = [((0, u64::MAX), u64::MAX), ((5, u64::MAX), u64::MAX), ((9, 3), 1)];
        let touching = Touching::from_stretches(stretches.into_iter());
        assert_eq!(touching.sum(0, u64::MAX), 2 * u128::from(u64::MAX) + 1);
        // Of one that ends before it begins, as only a damaged document has it.
        assert_eq!(touching.sum(4, 5), u128::from(u64::MAX) - 1);
        assert_eq!(touching.sum(u64::MAX, u64::MAX), 0);
    }
}
