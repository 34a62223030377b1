//! When threads had no CPU quota left.

use crate::trace::Row;

/// What two readings of the kernel's sum say.
struct Throttle {
    /// The reading before.
    since_ns: u64,
    /// The one that tells of it.
    at_ns: u64,
    /// Time without quota that ended in between, of all CPUs together.
    ns: u64,
}

/// When threads had no quota left: the kernel's sum grows as such a stretch ends. Where another
/// thread is ready, the switch to it looks like one by preemption.
pub(super) struct Quota(Vec<Throttle>);

impl Quota {
    pub(super) fn of(row: &Row) -> Quota {
        let readings = row.watch.iter().flat_map(|watch| &watch.readings);
        let mut since_ns = 0;
        let all = readings.map(|reading| Throttle {
            since_ns: std::mem::replace(&mut since_ns, reading.at_ns),
            at_ns: reading.at_ns,
            ns: reading.throttled_ns,
        });
        Quota(all.filter(|throttle| throttle.ns > 0).collect())
    }

    /// Of a stretch in which a thread was ready without a CPU: until when it had no quota, at
    /// least. Its beginning where it had.
    pub(super) fn used_up_until(&self, from_ns: u64, to_ns: u64) -> u64 {
        /// A thread is switched out a little after its quota is used up, and in after it has
        /// more.
        const SLACK_NS: u64 = 100_000;
        let mut until_ns = from_ns;
        let first = self.0.partition_point(|throttle| throttle.at_ns <= from_ns);
        for throttle in self.0[first..].iter().take_while(|t| t.since_ns < to_ns) {
            let most_ns = throttle.at_ns.min(to_ns).saturating_sub(until_ns);
            let least_ns = throttle.since_ns.saturating_sub(until_ns).min(most_ns);
            until_ns += match throttle.ns {
                // Of another CPU.
                ns if ns.saturating_add(SLACK_NS) < least_ns => 0,
                ns if ns <= most_ns.saturating_add(SLACK_NS) => ns.min(most_ns),
                // Of several CPUs: until the reading before, there is no doubt.
                _ => least_ns,
            };
        }
        until_ns
    }
}
