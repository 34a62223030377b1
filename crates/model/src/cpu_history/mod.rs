//! What each CPU did over time: programs, kernel, steal, idle. The part of a run
//! that everything shown of it is drawn from.

mod imbalance;
#[cfg(test)]
mod tests;

pub use imbalance::{BusySpread, Imbalance};

use crate::machine::{CoreKind, Fact};
use crate::trace::Ended;
use serde::{Deserialize, Serialize};

/// Why no counter of this kernel says it.
pub const NO_QUEUES: &str = "the kernel's counters don't tell when a CPU had a queue; \
     `latlas trace --tier full` (root) records it";

/// What CPUs did over time, in intervals. Times are counted for all programs, not for
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuHistory {
    /// The command that was recorded, with its arguments, if one was started for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Why the recording ends.
    pub ended: Ended,
    /// Length of a tick, ns: times are counted in whole ones.
    pub tick_ns: u64,
    /// Where times were read.
    pub source: String,
    /// Kinds of cores, the fastest first.
    pub core_kinds: Fact<Vec<CoreKind>>,
    /// End of each interval, ns since the beginning.
    pub ends_ns: Vec<u64>,
    /// The CPUs by number.
    pub cpus: Vec<CpuStrip>,
    /// Time in which a CPU had a queue while another was idle, ns.
    pub queued_while_idle_ns: Fact<u64>,
}

/// A CPU over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuStrip {
    /// Its number.
    pub cpu: u32,
    /// What it did in each interval; `None` where it was offline.
    pub ticks: Vec<Option<Ticks>>,
}

/// What a CPU did in a stretch of time, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "[u32; 4]", into = "[u32; 4]")]
pub struct Ticks {
    /// In programs.
    pub user: u32,
    /// In the kernel.
    pub system: u32,
    /// Taken by the hypervisor; 0 also where it does not report it.
    pub steal: u32,
    /// Without a task.
    pub idle: u32,
}

impl From<[u32; 4]> for Ticks {
    fn from([user, system, steal, idle]: [u32; 4]) -> Ticks {
        Ticks { user, system, steal, idle }
    }
}

impl From<Ticks> for [u32; 4] {
    fn from(ticks: Ticks) -> [u32; 4] {
        [ticks.user, ticks.system, ticks.steal, ticks.idle]
    }
}

impl Ticks {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Ticks) -> Ticks {
        let (a, b): ([u32; 4], [u32; 4]) = (self.into(), other.into());
        [0, 1, 2, 3].map(|at| a[at].saturating_add(b[at])).into()
    }

    /// Ticks in programs and the kernel.
    pub fn busy(self) -> u64 {
        u64::from(self.user) + u64::from(self.system)
    }

    /// All ticks.
    pub fn total(self) -> u64 {
        self.busy() + u64::from(self.steal) + u64::from(self.idle)
    }

    /// Shares of programs, kernel and steal; `None` of no ticks.
    pub fn shares(self) -> Option<[f64; 3]> {
        let total = self.total() as f64;
        let shares = [self.user, self.system, self.steal].map(|ticks| f64::from(ticks) / total);
        (total > 0.0).then_some(shares)
    }
}

impl CpuStrip {
    /// All that is known of it.
    pub fn sum(&self) -> Ticks {
        let known = self.ticks.iter().flatten();
        known.fold(Ticks::default(), |sum, ticks| sum.plus(*ticks))
    }

    /// Shares of programs, kernel and steal in each of so many columns of equal
    /// length; `None` where no interval with a figure touches the column.
    pub fn columns(&self, ends_ns: &[u64], columns: usize) -> Vec<Option<[f64; 3]>> {
        let length_ns = ends_ns.last().copied().unwrap_or(0).max(1) as f64;
        let column_ns = length_ns / columns.max(1) as f64;
        // Time with a figure, and the shares times it.
        let mut sums = vec![(0.0, [0.0; 3]); columns];
        let begins = std::iter::once(0).chain(ends_ns.iter().copied());
        for ((from_ns, &to_ns), ticks) in begins.zip(ends_ns).zip(&self.ticks) {
            let Some(shares) = ticks.and_then(Ticks::shares) else {
                continue;
            };
            let (from_ns, to_ns) = (from_ns as f64, to_ns as f64);
            let first = (from_ns / column_ns) as usize;
            let last = ((to_ns / column_ns).ceil() as usize).min(columns);
            let touched = sums.iter_mut().enumerate().take(last).skip(first);
            for (at, (known_ns, sums)) in touched {
                let (begin_ns, end_ns) = (at as f64 * column_ns, (at + 1) as f64 * column_ns);
                let time_ns = end_ns.min(to_ns) - begin_ns.max(from_ns);
                if time_ns > 0.0 {
                    *known_ns += time_ns;
                    for (sum, share) in sums.iter_mut().zip(shares) {
                        *sum += share * time_ns;
                    }
                }
            }
        }
        let shares = |(time, sums): (f64, [f64; 3])| (time > 0.0).then(|| sums.map(|s| s / time));
        sums.into_iter().map(shares).collect()
    }
}

impl CpuHistory {
    /// Whether no CPU's counters moved.
    pub fn is_empty(&self) -> bool {
        self.cpus.iter().all(|cpu| cpu.sum().total() == 0)
    }

    /// Length of the recording.
    pub fn duration_ns(&self) -> u64 {
        self.ends_ns.last().copied().unwrap_or(0)
    }

    /// The CPUs of each kind, the fastest first; those of which the kind is not known
    /// come last, without one.
    pub fn by_kind(&self) -> Vec<(Option<&CoreKind>, Vec<&CpuStrip>)> {
        let kinds = self.core_kinds.get().map_or(&[][..], Vec::as_slice);
        let of = |kind: &'_ CoreKind| {
            let cpus = self.cpus.iter();
            cpus.filter(|strip| kind.cpus.contains(&strip.cpu)).collect::<Vec<_>>()
        };
        let known = kinds.iter().map(|kind| (Some(kind), of(kind)));
        let is_known = |strip: &&CpuStrip| kinds.iter().any(|kind| kind.cpus.contains(&strip.cpu));
        let others = self.cpus.iter().filter(|strip| !is_known(strip)).collect();
        known.chain([(None, others)]).filter(|(_, cpus): &(_, Vec<_>)| !cpus.is_empty()).collect()
    }

    /// Joins intervals two by two, so that half as many remain.
    pub fn halve(&mut self) {
        self.ends_ns = self.ends_ns.chunks(2).filter_map(|ends| ends.last().copied()).collect();
        for strip in &mut self.cpus {
            let joined = strip.ticks.chunks(2).map(|pair| match *pair {
                [Some(a), Some(b)] => Some(a.plus(b)),
                [only] => only,
                _ => None,
            });
            strip.ticks = joined.collect();
        }
    }
}
