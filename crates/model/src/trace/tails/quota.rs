//! When threads had no CPU quota left.

use super::sums::Touching;
use crate::trace::TracedRow;
use std::cell::RefCell;
use std::collections::HashMap;

/// What two readings of the kernel's sum say.
struct Throttle {
    /// The reading before.
    since_ns: u64,
    /// The one that tells of it.
    at_ns: u64,
    /// Time without quota that ended in between, of all CPUs together.
    ns: u64,
}

/// A thread is switched out a little after its quota is used up, and in after it has more; the
/// sum may grow yet later.
const SLACK_NS: u64 = 100_000;
/// Readings that are looked at of one stretch: no thread waits for a CPU in more.
const MOST: usize = 1 << 10;

/// Until when a reading may report what ended before this.
fn near(to_ns: u64) -> u64 {
    to_ns.saturating_add(SLACK_NS)
}

/// When threads had no quota left: the kernel's sum grows as such a stretch ends. Where another
/// thread is ready, the switch to it looks like one by preemption.
pub(super) struct Quota {
    throttles: Vec<Throttle>,
    /// What they report, from the reading before to theirs.
    told: Touching,
    /// What [`Quota::used_up_until`] said of a stretch: many operations may lie in one.
    known: RefCell<HashMap<(u64, u64), u64>>,
    /// The machine has one other CPU than a thread's: that of the thread that reads the sum.
    has_two_cpus: bool,
}

impl Quota {
    pub(super) fn from_row(row: &TracedRow, cpus: usize) -> Quota {
        let readings = row.watch.iter().flat_map(|watch| &watch.readings);
        let mut since_ns = 0;
        let all = readings.map(|reading| Throttle {
            since_ns: std::mem::replace(&mut since_ns, reading.at_ns),
            at_ns: reading.at_ns,
            ns: reading.throttled_ns,
        });
        let throttles: Vec<Throttle> = all.filter(|throttle| throttle.ns > 0).collect();
        let told = throttles.iter().map(|t| ((t.since_ns, t.at_ns), t.ns));
        Quota {
            told: Touching::from_stretches(told),
            throttles,
            known: RefCell::default(),
            has_two_cpus: cpus == 2,
        }
    }

    /// Throttling that the readings in a stretch and just after it report.
    fn around(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = &Throttle> {
        let first = self.throttles.partition_point(|t| t.at_ns <= from_ns);
        let near_ns = near(to_ns);
        let after = self.throttles[first..].iter().take(MOST);
        after.take_while(move |throttle| throttle.since_ns < near_ns)
    }

    /// Whether a thread that was ready in a stretch may have lacked quota for more of it than
    /// [`Quota::used_up_until`] says.
    pub(super) fn is_open(&self, from_ns: u64, to_ns: u64) -> bool {
        let until_ns = self.used_up_until(from_ns, to_ns);
        let told_ns = self.told.sum(from_ns, near(to_ns));
        until_ns < to_ns && told_ns > u128::from((until_ns - from_ns).saturating_add(SLACK_NS))
    }

    /// Of a stretch in which a thread was ready without a CPU: until when it had no quota, at
    /// least. Its beginning where it had.
    pub(super) fn used_up_until(&self, from_ns: u64, to_ns: u64) -> u64 {
        let mut known = self.known.borrow_mut();
        let until_ns = || self.until(from_ns, to_ns);
        *known.entry((from_ns, to_ns)).or_insert_with(until_ns)
    }

    fn until(&self, from_ns: u64, to_ns: u64) -> u64 {
        let mut until_ns = from_ns;
        for throttle in self.around(from_ns, to_ns) {
            let most_ns = throttle.at_ns.min(to_ns).saturating_sub(until_ns);
            let least_ns = throttle.since_ns.saturating_sub(until_ns).min(most_ns);
            until_ns += match throttle.ns {
                // Of another CPU.
                ns if ns.saturating_add(SLACK_NS) < least_ns => 0,
                ns if ns <= most_ns.saturating_add(SLACK_NS) => ns.min(most_ns),
                // Of several CPUs: until the reading before, there is no doubt. If there are two, the
                // other one had quota at that time.
                ns => {
                    let between_ns = throttle.at_ns.saturating_sub(throttle.since_ns);
                    let own_ns = ns.saturating_sub(between_ns).min(most_ns);
                    least_ns.max(if self.has_two_cpus { own_ns } else { 0 })
                }
            };
        }
        until_ns
    }
}
