//! OS noise: time that a thread which never waits did not get its CPU, as
//! detours (Beckman et al., Cluster 2006) with their causes.

use crate::stats::{Interval, time_share};
use serde::{Deserialize, Serialize};

crate::words! {
    /// What had the CPU during a detour.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Cause: words {
        /// Another thread (run delay: ready, but not running).
        Scheduler = "scheduler",
        /// The CPU's timer interrupt: the scheduler tick and other timers.
        Tick = "tick",
        /// Other interrupts of this CPU.
        Interrupts = "interrupts",
        /// Timer and other interrupts, in unknown proportion.
        TickAndInterrupts = "tick and interrupts",
        /// Neither a thread nor an interrupt: hypervisor, firmware (SMI) or the
        /// core; the osnoise tracer's hardware noise.
        Unexplained = "unexplained",
        /// Not known: a source is missing, or was read too seldom.
        #[serde(rename = "not_told")]
        Unknown = "unknown",
    }
}

/// Time taken by one cause.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseTime {
    /// Which.
    pub cause: Cause,
    /// How long, ns.
    pub lost_ns: u64,
}

/// One detour.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detour {
    /// When it began, ns from the beginning of the span.
    pub at_ns: u64,
    /// Length beyond the time of a quiet block, ns.
    pub lost_ns: u64,
    /// Causes, the longest first.
    pub parts: Vec<CauseTime>,
}

/// Totals of one cause.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseTotal {
    /// Which.
    pub cause: Cause,
    /// Detours of which it is the main cause.
    #[serde(rename = "gaps")]
    pub detours: u64,
    /// Time in all detours, ns; of the scheduler also run delay during
    /// readings.
    pub lost_ns: u64,
    /// Share of the watched time, 0 to 1, with a 95 % t interval from twenty
    /// parts of the span (not clipped to 0..1). Absent if the span is too short.
    pub share: Option<Interval>,
    /// Longest time in one detour or one reading, ns.
    pub longest_ns: u64,
    /// Detours of which it is the main cause, by length: the k-th number
    /// counts those of 2^k to 2^(k+1) ns.
    pub histogram: Vec<u64>,
}

/// One of the equal parts of the span.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stretch {
    /// Time watched in it, ns.
    pub watched_ns: u64,
    /// Time lost by cause, in the order of [`Cause::ALL`], ns; empty if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_ns: Vec<u64>,
    /// Core clock, GHz, where enough quiet blocks ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ghz: Option<f64>,
}

/// Core clock during the span: dependent adds (one cycle each) over their
/// time, in windows.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frequency {
    /// First percentile of the windows, GHz.
    pub p1_ghz: f64,
    /// Median, GHz.
    pub p50_ghz: f64,
    /// 99th percentile, GHz.
    pub p99_ghz: f64,
    /// Length of a window, ns.
    pub window_ns: u64,
    /// Number of windows.
    pub windows: u64,
}

/// Interrupts from one source on the CPU.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterruptCount {
    /// As `/proc/interrupts` names it: `LOC`, `36 virtio1-req.0`.
    pub name: String,
    /// Whether it is the CPU's timer.
    pub timer: bool,
    /// Count between the first reading and the last.
    pub count: u64,
}

/// Parameters of the detector, learned before the span.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detector {
    /// Dependent adds in a block.
    pub adds: u64,
    /// Median time of a quiet block, ns.
    pub block_ns: f64,
    /// Of that the counter read and the loop, ns.
    pub overhead_ns: f64,
    /// A block this much longer than its neighbours is a detour, ns. Initial
    /// value: it follows the clock.
    pub threshold_ns: f64,
    /// Steps to a slower clock, first taken for detours.
    pub slower: u64,
    /// Steps of the counter that were backwards or zero.
    pub broken_steps: u64,
}

/// What one spinning thread measured.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Osnoise {
    /// The CPU it was pinned to.
    pub cpu: Option<u32>,
    /// Why it was not pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_pinned: Option<String>,
    /// Thread id, to find it in a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// Start of the span on CLOCK_MONOTONIC_RAW, ns.
    pub began_ns: u64,
    /// From the first counter read to the last, ns.
    pub span_ns: u64,
    /// Time not watched because the thread read counts, ns; without run delay
    /// during the readings, which is known.
    pub blind_ns: u64,
    /// Parameters of the detector.
    pub detector: Detector,
    /// Number of detours.
    #[serde(rename = "gaps")]
    pub detours: u64,
    /// Detours with several causes.
    pub mixed: u64,
    /// Time lost in detours and in readings, ns.
    pub lost_ns: u64,
    /// Of that run delay during readings, by the kernel's count, ns.
    #[serde(default)]
    pub in_readings_ns: u64,
    /// Share of the watched time, as in [`CauseTotal::share`].
    pub share: Option<Interval>,
    /// Totals by cause.
    pub causes: Vec<CauseTotal>,
    /// The longest detours, the longest first.
    pub longest: Vec<Detour>,
    /// The span in equal parts.
    pub stretches: Vec<Stretch>,
    /// Core clock.
    pub frequency: Option<Frequency>,
    /// Run delay of the thread over the span, by the kernel's count, ns.
    pub run_delay_ns: Option<u64>,
    /// Steal time of this CPU, ns in steps of 10 ms (`/proc/stat`).
    pub steal_ns: Option<u64>,
    /// Involuntary context switches.
    pub involuntary_switches: Option<u64>,
    /// It ended on another CPU than it began on.
    pub migrated: bool,
    /// Interrupts of this CPU, the most frequent first.
    pub interrupts: Vec<InterruptCount>,
    /// Readings of the interrupt counts; several detours may share one.
    pub readings: u64,
    /// Time of one reading, ns.
    pub reading_ns: Option<u64>,
    /// Missing sources and other caveats.
    pub remarks: Vec<String>,
}

/// Measured just before and just after a run.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OsnoiseAround {
    /// Before the first sample.
    pub before: Osnoise,
    /// After the last; absent if the run was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Osnoise>,
}

/// What `latlas noise measure` records.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interruptions {
    /// Requested length, ms.
    pub asked_ms: u64,
    /// One per CPU, measured at the same time.
    pub cpus: Vec<Osnoise>,
}

impl Osnoise {
    /// Time in which a detour would have been detected, ns.
    pub fn watched_ns(&self) -> u64 {
        self.span_ns.saturating_sub(self.blind_ns)
    }

    /// Lost time as a share of the watched time, 0 to 1.
    pub fn lost_share(&self) -> Option<f64> {
        share_of(self.lost_ns, self.watched_ns())
    }

    /// Time of a cause as a share of the watched time, 0 to 1.
    pub fn share_of(&self, cause: Cause) -> Option<f64> {
        let lost_ns = self.cause_total(cause).map_or(0, |lost| lost.lost_ns);
        share_of(lost_ns, self.watched_ns())
    }

    /// Share of the span that was not watched, 0 to 1.
    pub fn blind_share(&self) -> Option<f64> {
        share_of(self.blind_ns, self.span_ns)
    }

    /// Whether the cause of any detour is known, if there were any.
    pub fn has_cause(&self) -> bool {
        self.causes.is_empty() || self.causes.iter().any(|lost| lost.cause != Cause::Unknown)
    }

    /// Totals of a cause, if it took anything.
    pub fn cause_total(&self, cause: Cause) -> Option<&CauseTotal> {
        self.causes.iter().find(|lost| lost.cause == cause)
    }
}

fn share_of(part_ns: u64, whole_ns: u64) -> Option<f64> {
    (whole_ns > 0).then(|| part_ns as f64 / whole_ns as f64)
}

/// Share of the watched time that was lost, with an interval from twenty parts
/// of the span. `lost` is what counts of a stretch, ns. `None` where there are
/// fewer stretches.
pub fn lost_share(stretches: &[Stretch], lost: impl Fn(&Stretch) -> u64) -> Option<Interval> {
    let parts: Vec<(u64, u64)> = stretches.iter().map(|s| (lost(s), s.watched_ns)).collect();
    time_share(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::t_interval;

    fn stretch(watched_ns: u64, lost_ns: u64) -> Stretch {
        Stretch { watched_ns, lost_ns: vec![lost_ns], ghz: None }
    }

    #[test]
    fn an_even_loss_has_no_width_and_an_uneven_one_has() {
        let even: Vec<Stretch> = (0..40).map(|_| stretch(1000, 10)).collect();
        let i = lost_share(&even, |s| s.lost_ns[0]).expect("twenty twos");
        assert!((i.value - 0.01).abs() < 1e-12 && i.half_width() < 1e-12);
        let mut uneven = even.clone();
        // One pause in one of forty: nineteen of the twenty lost 1 %, one
        // 40.5 %.
        uneven[7] = stretch(1000, 800);
        let i = lost_share(&uneven, |s| s.lost_ns[0]).expect("twenty twos");
        assert!((i.value - (39.0 * 10.0 + 800.0) / 40_000.0).abs() < 1e-12);
        let mut shares = vec![0.01; 19];
        shares.push(0.405);
        let half = t_interval(&shares).expect("twenty").half_width();
        assert!((i.half_width() - half).abs() < 1e-12, "{i:?}");
    }

    #[test]
    fn stretches_without_time_give_no_interval() {
        assert_eq!(lost_share(&[], |_| 0), None);
        assert_eq!(lost_share(&vec![stretch(10, 1); 19], |s| s.lost_ns[0]), None);
        let mut holes = vec![stretch(10, 1); 20];
        holes[3].watched_ns = 0;
        assert_eq!(lost_share(&holes, |s| s.lost_ns[0]), None);
    }

    #[test]
    fn shares_are_of_the_watched_time() {
        let osnoise = Osnoise { span_ns: 1_100, blind_ns: 100, lost_ns: 50, ..Osnoise::default() };
        assert_eq!(osnoise.lost_share(), Some(0.05));
        assert_eq!(osnoise.share_of(Cause::Tick), Some(0.0));
        assert_eq!(Osnoise::default().lost_share(), None);
    }
}
