//! What is known of one quantity: its figures, their intervals, a verdict.

use crate::row_kind::Bound;
use crate::share::{half, percent};
use crate::stats::Interval;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};

/// An interval wider than this share of its figure, to either side, is noisy.
pub const NOISY_ABOVE: f64 = 0.05;
/// An interval wider than this says too little for any figure.
pub const CANNOT_TELL_ABOVE: f64 = 0.25;
/// A sample that lost its CPU for more than this share of its time was robbed.
pub const LOST_ABOVE: f64 = 0.02;
/// Quiet samples needed in all.
pub const SAMPLES_IN_ALL: usize = 12;
/// Workers with enough quiet samples needed for an interval.
pub const WORKERS: usize = 3;
/// Times between stamps that may come in either order are judged as shares of
/// this many ns where they are shorter, since a part of a whole may be near 0
/// and yet be known well. So ±200 ns or less are never noisy, and ±1 µs or
/// less always tell something: that is little compared to the tens of µs of a
/// thread's life, and not much more than two CPUs' stamps are good for.
pub const EITHER_ORDER_FROM_NS: f64 = 2_000.0;
/// Smallest share of the operations that is a mode or a state of its own.
pub(crate) const LEAST_SHARE: f64 = 1.0 / 6.0;

crate::words! {
    /// How far a figure can be trusted.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(rename = "EstimateVerdict"))]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict: text {
        /// Take it.
        Ok = "ok",
        /// The interval is wide, or the machine stole from it: the reason says.
        Noisy = "noisy",
        /// The method is off by some percent here, whatever the machine does: the reason says.
        Biased = "biased",
        /// There are two figures, not one: the reason gives both.
        TwoStates = "two states",
        /// Too little was seen of the quiet machine to say.
        #[serde(rename = "inconclusive", alias = "cannot_tell")]
        CannotTell = "inconclusive",
        /// The samples don't measure what the row says: there is no figure.
        Invalid = "invalid",
    }
}

impl Verdict {
    /// What stands for it where there is no room for the word; nothing for ok.
    pub fn mark(self) -> &'static str {
        match self {
            Verdict::Ok => "",
            Verdict::Noisy => "~",
            Verdict::Biased => "≈",
            Verdict::TwoStates => "‡",
            Verdict::CannotTell => "?",
            Verdict::Invalid => "!",
        }
    }

    /// Whether a conclusion may be drawn from the figure.
    pub fn is_usable(self) -> bool {
        !matches!(self, Verdict::CannotTell | Verdict::Invalid)
    }
}

/// The cost on the quiet machine.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quiet {
    /// ns per operation, with the 95 % interval. For a row bound by the core:
    /// cycles times the run's median cycle, the clock's own uncertainty
    /// included, and its movement between runs where `clock_movement` is set.
    pub ns: Interval,
    /// Clock cycles per operation, where the core's clock is known.
    pub cycles: Option<Interval>,
    /// Smallest quiet time, ns per operation: a check, not a figure. Of a
    /// difference of two loops: the smallest of the long one less the smallest
    /// of the short one.
    pub minimum_ns: f64,
    /// Quiet samples behind it.
    pub samples: u32,
    /// Workers behind the interval.
    pub workers: u32,
    /// Whether the interval in ns is that of the cycles at this run's clock:
    /// another run may have another clock, so compare cycles.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_run_clock: bool,
    /// By which factor (its logarithm) both ends of the interval in ns were moved
    /// outward, since the clock moves between runs; absent where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_movement: Option<f64>,
    /// Whether samples with undisturbed ends and the low end of each worker agree on it,
    /// where the undisturbed samples alone were too few, or lay too far apart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub low_end: bool,
}

/// Name of the mode in which a woken thread's CPU did not go idle, since other programs kept it busy: its length is
/// theirs.
pub const BUSY_CPU: &str = "busy CPU";

/// What the mark of [`Quiet::at_run_clock`] says, where a reader sees it.
pub const AT_RUN_CLOCK: &str = "at this run's clock";

/// The cost as it came, whatever the machine did.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Typical {
    /// Median, ns per operation, with a distribution-free 95 % interval where
    /// there are enough samples for one (else the range). It is at least as
    /// wide as those over the medians of workers and of stretches of time:
    /// samples of one process, and of the same seconds, resemble each other.
    pub ns: Interval,
    /// 10 % quantile, ns per operation.
    pub p10_ns: f64,
    /// 90 % quantile, ns per operation.
    pub p90_ns: f64,
    /// Samples behind it.
    pub samples: u32,
}

/// One mode of an operation that has several, such as the same CPU and
/// another one; or one of two states that its samples fall into.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mode {
    /// In words.
    pub name: String,
    /// Share of the operations that ran in it.
    pub share: f64,
    /// What they cost.
    pub typical: Typical,
}

/// The far end of a distribution of single operations: there is none where a
/// sample is the mean of several.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tail {
    /// 99 % quantile, ns, with an interval by order statistics of as many
    /// operations as these count for, since those of one visit and of one
    /// stretch of time resemble each other; absent where fewer than ten
    /// operations lie above it.
    pub p99_ns: Option<Interval>,
    /// 99.9 % quantile, ns, likewise.
    pub p999_ns: Option<Interval>,
    /// The longest operation seen, ns: it means nothing without the number of
    /// operations and the time over which they were seen.
    pub longest_ns: f64,
    /// The shortest, ns.
    pub shortest_ns: f64,
    /// Operations.
    pub operations: u32,
    /// First to last, ms.
    pub over_ms: u32,
    /// How far to trust the 99 % quantile; absent where there is none, and in
    /// documents that don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whose the longest operations were; absent where no run delay was
    /// recorded, as where the thread that stamps was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<Longest>,
}

/// The longest operations (of twice the median and more), set against the time
/// that the thread that stamps waited for a CPU in the same visits.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Longest {
    /// How many were looked at.
    pub of: u32,
    /// How many of them run delay explains: at least half of what they took
    /// longer than the median.
    pub scheduler: u32,
}

impl Tail {
    /// What is to be said of the tail in addition to its figures; empty for
    /// nothing.
    pub fn reason(&self) -> String {
        let mut words = Vec::new();
        match (self.verdict, &self.p99_ns) {
            (Some(Verdict::CannotTell), _) => {
                words.push("p99 not known: its interval reaches the longest".into())
            }
            (Some(Verdict::Noisy), Some(p99)) => {
                words.push(format!("p99 noisy: {}", half(p99.relative_half_width())));
            }
            _ => {}
        }
        // Of an operation in which other threads take part, theirs may be the rest.
        if let Some(Longest { of, scheduler }) = self.longest.filter(|l| l.scheduler > 0) {
            words.push(format!("{scheduler} of the longest {of} were the scheduler's"));
        }
        words.join(", ")
    }
}

/// What is known of one quantity.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// On the quiet machine; absent for a distribution, or where the machine
    /// was never quiet. Of two states it is the faster one.
    pub quiet: Option<Quiet>,
    /// As it came.
    pub typical: Option<Typical>,
    /// The far end of a distribution of stamped operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// Modes that stamped operations ran in, in the row's own order, or the two
    /// states that samples fall into, the lower first; empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// Share of the ordinary samples that were quiet.
    pub quiet_share: Option<f64>,
    /// If set, the figure can't be distinguished from 0: it is below this many
    /// ns.
    pub below_ns: Option<f64>,
    /// How far to trust it.
    pub verdict: Verdict,
    /// Why, in words; empty when there is nothing to say.
    pub reason: String,
}

impl Estimate {
    /// A typical figure, or none, with its verdict and nothing else: no quiet
    /// figure, tail or modes, and no reason.
    pub fn bare(typical: Option<Typical>, verdict: Verdict) -> Estimate {
        Estimate {
            quiet: None,
            typical,
            tail: None,
            modes: Vec::new(),
            quiet_share: None,
            below_ns: None,
            verdict,
            reason: String::new(),
        }
    }

    /// Takes its figures away: what samples say that don't measure what the row says is no figure
    /// of it. The samples stay in the document.
    pub fn invalidate(&mut self, reason: String) {
        *self = Estimate {
            quiet_share: self.quiet_share,
            reason,
            ..Estimate::bare(None, Verdict::Invalid)
        };
    }

    /// Makes it noisy for a reason that its samples don't show, if it was ok.
    pub fn downgrade(&mut self, reason: String) {
        if self.verdict == Verdict::Ok {
            (self.verdict, self.reason) = (Verdict::Noisy, reason);
        }
    }

    /// The figure to show first: quiet where there is one, else typical; of
    /// modes that lie apart, never of their mixture ([`Estimate::headline`]).
    pub fn ns(&self) -> Option<Interval> {
        self.quiet.map(|q| q.ns).or_else(|| self.headline().map(|(typical, _)| typical.ns))
    }

    /// The same without what the core clock moves between runs
    /// ([`Quiet::ns_of_run`]).
    pub fn ns_of_run(&self) -> Option<Interval> {
        match self.quiet {
            Some(quiet) => Some(quiet.ns_of_run()),
            None => self.ns(),
        }
    }

    /// The typical cost to show first, with the name of the mode it is of.
    /// Where modes lie apart it is that of the first one with a sixth of the
    /// operations, else that of everything.
    pub fn headline(&self) -> Option<(Typical, Option<&str>)> {
        match headline(&self.modes).map(|place| &self.modes[place]) {
            // The states of a gated row are of its quiet samples.
            Some(mode) if self.quiet.is_none() => Some((mode.typical, Some(&mode.name))),
            _ => self.typical.map(|typical| (typical, None)),
        }
    }

    /// The mode that the figure to show first is of: of modes that lie apart the
    /// one of [`Estimate::headline`], else the only one that occurred.
    pub fn mode(&self) -> Option<&str> {
        let only = match &self.modes[..] {
            [only] if self.quiet.is_none() => Some(only.name.as_str()),
            _ => None,
        };
        only.or(self.headline()?.1)
    }

    /// The same estimate of a row in another unit than time: the reason for
    /// two states names their figures.
    #[must_use]
    pub fn in_unit(mut self, unit: &Unit) -> Estimate {
        if self.verdict == Verdict::TwoStates && !self.modes.is_empty() {
            self.reason = modes_text(&self.modes, unit);
        }
        self
    }
}

impl Quiet {
    /// The interval in ns of this run alone, without what the clock moves
    /// between runs: for what is compared within the run, and for what accounts
    /// for differences between runs itself.
    pub fn ns_of_run(&self) -> Interval {
        self.ns.widened(-self.clock_movement.unwrap_or(0.0))
    }

    /// The interval that the row itself is answerable for: the core clock's
    /// wandering is the run's, not the row's.
    pub fn cycles_or_ns(&self, bound: Bound) -> Interval {
        match (bound, self.cycles) {
            (Bound::Core, Some(cycles)) => cycles,
            _ => self.ns,
        }
    }
}

/// Modes with a sixth of the operations or more.
pub(crate) fn large(modes: &[Mode]) -> impl Iterator<Item = &Mode> + Clone {
    modes.iter().filter(|m| is_large(m))
}

fn is_large(mode: &Mode) -> bool {
    mode.share >= LEAST_SHARE
}

/// Whether the largest and the smallest lie apart by a fifth.
pub(crate) fn apart(ns: impl Iterator<Item = f64> + Clone) -> bool {
    let least = ns.clone().fold(f64::INFINITY, f64::min);
    let most = ns.fold(f64::NEG_INFINITY, f64::max);
    most - least > 0.2 * least.abs().min(most.abs())
}

/// Which mode's figure stands for the row, where modes lie apart: the first one
/// of a sixth of the operations or more. A mixture's median moves with the
/// shares, and so would the choice of the most frequent mode.
pub(crate) fn headline(modes: &[Mode]) -> Option<usize> {
    let ns = modes.iter().map(|m| m.typical.ns.value);
    let several = modes.len() >= 2 && apart(ns);
    modes.iter().position(is_large).filter(|_| several)
}

/// The large modes in words: `same CPU 3000 ns in 75 %, other CPU 37.0 µs in
/// 25 %`.
pub(crate) fn modes_text(modes: &[Mode], unit: &Unit) -> String {
    let words: Vec<String> = large(modes)
        .map(|m| {
            let figure = crate::figure::value_text(unit, unit.of_ns(m.typical.ns.value));
            format!("{} {figure} in {}", m.name, percent(m.share))
        })
        .collect();
    words.join(", ")
}

/// An estimate that is a distribution and its verdict, nothing else.
pub(crate) fn of_distribution(
    typical: Option<Typical>,
    verdict: Verdict,
    reason: String,
) -> Estimate {
    Estimate { reason, ..Estimate::bare(typical, verdict) }
}
