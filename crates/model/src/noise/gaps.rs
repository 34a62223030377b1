//! Times in which a thread that wanted nothing but to run did not: how long,
//! and what had the CPU meanwhile.

use crate::run::Program;
use crate::stats::{Interval, t_interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stretches of equal length whose shares make an interval.
const STRETCHES_OF_INTERVAL: usize = 20;

/// What had the CPU in a gap, as far as the system tells.
#[derive(
    Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Other threads: the thread was ready and another one ran (run delay).
    Scheduler,
    /// The CPU's timer interrupt: the scheduler's tick and other timers.
    Tick,
    /// Other interrupts of this CPU.
    Interrupts,
    /// The timer and other interrupts, in proportions that nobody counts.
    TickAndInterrupts,
    /// Neither another thread nor an interrupt: below the operating system
    /// (the hypervisor, firmware, the core itself).
    Unexplained,
    /// Not known: a source is missing, or was read too seldom.
    NotTold,
}

impl Cause {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Cause; 6] = [
        Cause::Scheduler,
        Cause::Tick,
        Cause::Interrupts,
        Cause::TickAndInterrupts,
        Cause::Unexplained,
        Cause::NotTold,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Cause::Scheduler => "scheduler",
            Cause::Tick => "tick",
            Cause::Interrupts => "interrupts",
            Cause::TickAndInterrupts => "tick and interrupts",
            Cause::Unexplained => "unexplained",
            Cause::NotTold => "not told",
        }
    }
}

/// Time that one cause had.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which.
    pub cause: Cause,
    /// How long, ns.
    pub lost_ns: u64,
}

/// One gap.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Gap {
    /// When it began, ns from the beginning of the span.
    pub at_ns: u64,
    /// How long it was, ns: beyond what the block that it fell into takes.
    pub lost_ns: u64,
    /// What it consists of, the longest first. Two or more: mixed.
    pub parts: Vec<Part>,
}

/// All that one cause took.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Lost {
    /// Which.
    pub cause: Cause,
    /// Gaps of which it had the largest part.
    pub gaps: u64,
    /// Its parts of all gaps, ns; of the scheduler also the run delay in the
    /// readings.
    pub lost_ns: u64,
    /// The same as a share of the watched time, 0 to 1, with a 95 % interval
    /// from twenty stretches of the span (t; its ends are not cut at 0 or 1).
    /// Absent where the span was too short for stretches.
    pub share: Option<Interval>,
    /// Its longest part of one gap, or of one reading, ns.
    pub longest_ns: u64,
    /// Gaps of which it had the largest part, by the gap's length: the k-th
    /// number counts those from 2^k to 2^(k+1) ns.
    pub histogram: Vec<u64>,
}

/// One of the equal stretches that the span is divided into.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// Time watched in it, ns.
    pub watched_ns: u64,
    /// Time lost in it by cause, in the order of [`Cause::ALL`], ns. Empty
    /// where nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_ns: Vec<u64>,
    /// The clock in it, GHz, where enough of it was free of gaps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ghz: Option<f64>,
}

/// The core's clock while it spun: dependent adds, of which each takes one
/// cycle, over their time, in windows.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Frequency {
    /// 1 % of the windows were slower, GHz.
    pub p1_ghz: f64,
    /// The median window, GHz.
    pub p50_ghz: f64,
    /// 1 % of the windows were faster, GHz.
    pub p99_ghz: f64,
    /// Length of a window, ns.
    pub window_ns: u64,
    /// How many there were.
    pub windows: u64,
}

/// Interrupts of one kind on the CPU.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct InterruptCount {
    /// As `/proc/interrupts` names it: `LOC`, `36 virtio1-req.0`.
    pub name: String,
    /// Whether it is the CPU's timer.
    pub timer: bool,
    /// How many there were between the first reading and the last.
    pub count: u64,
}

/// How the spinning thread told a gap from its own work.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct Detector {
    /// Dependent adds in a block.
    pub adds: u64,
    /// Time of a quiet block, ns: the median while it learnt.
    pub block_ns: f64,
    /// Of that the reading of the counter and the loop around it, ns.
    pub overhead_ns: f64,
    /// A block that took this much longer than its neighbours is a gap, ns.
    /// As learnt at first: it moves with the clock.
    pub threshold_ns: f64,
    /// Steps to a slower clock that were taken for gaps at first, and then
    /// not.
    pub slower: u64,
    /// Steps of the counter that were backwards or none at all.
    pub broken_steps: u64,
}

/// What a spinning thread saw.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct Gaps {
    /// The CPU it was kept on.
    pub cpu: Option<u32>,
    /// Why it was not kept on one, if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_pinned: Option<String>,
    /// The system's number of the thread, to find it in a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// When the span began on CLOCK_MONOTONIC_RAW, ns.
    pub began_ns: u64,
    /// From the first look at the counter to the last, ns.
    pub span_ns: u64,
    /// Of that not watched, since it read what had happened, ns. Run delay that
    /// fell into the readings is known, and not part of it.
    pub blind_ns: u64,
    /// How it told a gap.
    pub detector: Detector,
    /// How many gaps there were.
    pub gaps: u64,
    /// Of these, such with several causes.
    pub mixed: u64,
    /// Time lost in all of them and in the readings, ns.
    pub lost_ns: u64,
    /// Of that in the readings, ns: run delay, by the kernel's count.
    #[serde(default)]
    pub in_readings_ns: u64,
    /// The same as a share of the watched time, as in [`Lost::share`].
    pub share: Option<Interval>,
    /// By cause, those that took anything.
    pub causes: Vec<Lost>,
    /// The longest gaps, the longest first.
    pub longest: Vec<Gap>,
    /// The span in equal stretches.
    pub stretches: Vec<Stretch>,
    /// The clock.
    pub frequency: Option<Frequency>,
    /// Run delay of the thread over the whole span, as the kernel counts it,
    /// ns: all of it is the scheduler's part, in the gaps and in the readings.
    pub run_delay_ns: Option<u64>,
    /// Time that the hypervisor took from this CPU, ns in steps of 10 ms
    /// (`steal` of `/proc/stat`).
    pub steal_ns: Option<u64>,
    /// Times another thread was put in its place.
    pub involuntary_switches: Option<u64>,
    /// It was seen on another CPU than at first.
    pub migrated: bool,
    /// Interrupts of this CPU, those that occurred, the most frequent first.
    pub interrupts: Vec<InterruptCount>,
    /// Readings of the interrupts' counts; several gaps may lie between two.
    pub readings: u64,
    /// Time of one such reading, ns.
    pub reading_ns: Option<u64>,
    /// Sources that are missing, and what else a reader must know.
    pub remarks: Vec<String>,
}

/// Before and after a run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct GapsAround {
    /// Before the first sample.
    pub before: Gaps,
    /// After the last; absent in a run that was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Gaps>,
}

/// What `latlas noise measure` writes.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct GapsDocument {
    /// [`crate::run::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// When it began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// What measured.
    pub program: Program,
    /// The host's name, where it is known.
    pub hostname: Option<String>,
    /// The processor, where it is known.
    pub cpu_model: Option<String>,
    /// How long it was to spin, ms.
    pub asked_ms: u64,
    /// Why it ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// One entry for each CPU. Several were measured at the same time.
    pub cpus: Vec<Gaps>,
}

impl Gaps {
    /// Time in which a gap would have been seen, ns.
    pub fn watched_ns(&self) -> u64 {
        self.span_ns.saturating_sub(self.blind_ns)
    }

    /// Lost time as a share of the watched time, 0 to 1.
    pub fn lost_share(&self) -> Option<f64> {
        share_of(self.lost_ns, self.watched_ns())
    }

    /// What a cause took as a share of the watched time, 0 to 1.
    pub fn share_of(&self, cause: Cause) -> Option<f64> {
        let lost_ns = self.of(cause).map_or(0, |lost| lost.lost_ns);
        share_of(lost_ns, self.watched_ns())
    }

    /// Share of the span in which a gap would not have been seen, 0 to 1.
    pub fn blind_share(&self) -> Option<f64> {
        share_of(self.blind_ns, self.span_ns)
    }

    /// What a cause took, if anything.
    pub fn of(&self, cause: Cause) -> Option<&Lost> {
        self.causes.iter().find(|lost| lost.cause == cause)
    }
}

/// A part of a whole; none of nothing.
fn share_of(part_ns: u64, whole_ns: u64) -> Option<f64> {
    (whole_ns > 0).then(|| part_ns as f64 / whole_ns as f64)
}

/// The share of the watched time that was lost, with the interval that twenty
/// stretches of the span give. `lost` tells what of a stretch counts, ns.
/// `None` where the stretches can't be divided into twenty.
pub fn share(stretches: &[Stretch], lost: impl Fn(&Stretch) -> u64) -> Option<Interval> {
    if stretches.is_empty() || !stretches.len().is_multiple_of(STRETCHES_OF_INTERVAL) {
        return None;
    }
    let sums = |part: &[Stretch]| -> (u64, u64) {
        (
            part.iter().map(&lost).sum(),
            part.iter().map(|s| s.watched_ns).sum(),
        )
    };
    let shares: Option<Vec<f64>> = stretches
        .chunks(stretches.len() / STRETCHES_OF_INTERVAL)
        .map(|part| {
            let (lost_ns, watched_ns) = sums(part);
            share_of(lost_ns, watched_ns)
        })
        .collect();
    let half = t_interval(&shares?)?.half_width();
    let (lost_ns, watched_ns) = sums(stretches);
    let value = share_of(lost_ns, watched_ns)?;
    Some(Interval {
        value,
        low: value - half,
        high: value + half,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(watched_ns: u64, lost_ns: u64) -> Stretch {
        Stretch {
            watched_ns,
            lost_ns: vec![lost_ns],
            ghz: None,
        }
    }

    #[test]
    fn an_even_loss_has_no_width_and_an_uneven_one_has() {
        let even: Vec<Stretch> = (0..40).map(|_| stretch(1000, 10)).collect();
        let i = share(&even, |s| s.lost_ns[0]).expect("twenty twos");
        assert!((i.value - 0.01).abs() < 1e-12 && i.half_width() < 1e-12);
        let mut uneven = even.clone();
        // One pause in one of forty: nineteen of the twenty lost 1 %, one
        // 40.5 %.
        uneven[7] = stretch(1000, 800);
        let i = share(&uneven, |s| s.lost_ns[0]).expect("twenty twos");
        assert!((i.value - (39.0 * 10.0 + 800.0) / 40_000.0).abs() < 1e-12);
        let mut shares = vec![0.01; 19];
        shares.push(0.405);
        let half = t_interval(&shares).expect("twenty").half_width();
        assert!((i.half_width() - half).abs() < 1e-12, "{i:?}");
    }

    #[test]
    fn stretches_without_time_give_no_interval() {
        assert_eq!(share(&[], |_| 0), None);
        assert_eq!(share(&vec![stretch(10, 1); 19], |s| s.lost_ns[0]), None);
        let mut holes = vec![stretch(10, 1); 20];
        holes[3].watched_ns = 0;
        assert_eq!(share(&holes, |s| s.lost_ns[0]), None);
    }

    #[test]
    fn shares_are_of_the_watched_time() {
        let gaps = Gaps {
            span_ns: 1_100,
            blind_ns: 100,
            lost_ns: 50,
            ..Gaps::default()
        };
        assert_eq!(gaps.lost_share(), Some(0.05));
        assert_eq!(gaps.share_of(Cause::Tick), Some(0.0));
        assert_eq!(Gaps::default().lost_share(), None);
    }
}
