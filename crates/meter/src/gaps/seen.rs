//! What the loop is asked for, and what it saw, in ticks of the counter.

use super::learn::Quiet;
use super::machine::Counts;

/// How to watch.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Length, ticks.
    pub span_ticks: u64,
    /// Windows that the clock's frequency is taken over.
    pub windows: usize,
    /// Share of the time that readings of the interrupts may take.
    pub reading_share: f64,
    /// Gaps after which it ends: each is kept.
    pub most_gaps: usize,
}

/// A block that took too long. Times are from the beginning of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When the gap began, ticks.
    pub at: u64,
    /// How much longer than a quiet block it took, ticks.
    pub lost: u64,
    /// What the thread's run delay grew by, ns.
    pub run_delay_ns: Option<u64>,
    /// Which reading of the interrupts covers it: its place in
    /// [`Seen::groups`].
    pub group: usize,
}

/// Quiet blocks in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Their ticks.
    pub ticks: u64,
    /// How many.
    pub blocks: u64,
}

/// A stretch in which nothing was watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind {
    /// When it began, ticks.
    pub at: u64,
    /// How long it was, ticks.
    pub ticks: u64,
    /// Run delay between its first reading and its last, ns: another thread had
    /// the CPU while this one read.
    pub run_delay_ns: u64,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// What a quiet block was like at first.
    pub quiet: Option<Quiet>,
    /// The gaps.
    pub records: Vec<Record>,
    /// Interrupts between one reading and the next, `None` where they are not
    /// known.
    pub groups: Vec<Option<Counts>>,
    /// Time free of gaps.
    pub windows: Vec<Window>,
    /// Length of a window, ticks.
    pub window_ticks: u64,
    /// Stretches of reading.
    pub blind: Vec<Blind>,
    /// Where the counter stood when the span began.
    pub began: u64,
    /// Length of the span, ticks.
    pub ticks: u64,
    /// Run delay over the whole span, ns.
    pub run_delay_ns: Option<u64>,
    /// Readings of the interrupts.
    pub readings: u64,
    /// Usual time of one, ticks.
    pub reading_ticks: Option<u64>,
    /// Steps to a slower clock.
    pub slower: u64,
    /// Steps of the counter that did not advance.
    pub broken_steps: u64,
    /// It ended early: it was asked to, or it was full.
    pub ended_early: bool,
    /// There were as many gaps as may be kept.
    pub full: bool,
}
