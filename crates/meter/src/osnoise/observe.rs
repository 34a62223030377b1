//! What the detector records: observations in ticks of its counter.

use super::machine::InterruptsSinceBoot;
use super::quiet::Quiet;

/// How to observe.
#[derive(Clone, Copy, Debug)]
pub struct DetectorSettings {
    /// Length, ticks.
    pub span_ticks: u64,
    /// Windows of the clock frequency.
    pub windows: usize,
    /// Share of the time that readings of the interrupts may take.
    pub reading_share: f64,
    /// Detours to record at most; then the observation ends.
    pub most_detours: usize,
}

/// A block that took too long. Times are from the start of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowBlock {
    /// Start of the detour, ticks.
    pub at: u64,
    /// Time beyond a quiet block, ticks.
    pub lost: u64,
    /// Growth of the thread's run delay, ns.
    pub run_delay_ns: Option<u64>,
    /// Index in [`Observations::groups`] of the reading that covers it.
    pub group: usize,
}

impl SlowBlock {
    /// Whether another thread ran.
    pub fn is_switch(&self) -> bool {
        self.run_delay_ns.is_some_and(|ns| ns > 0)
    }
}

/// Quiet blocks in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Their ticks.
    pub ticks: u64,
    /// Their number.
    pub blocks: u64,
}

/// Time spent on readings, not watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind {
    /// Start, ticks.
    pub at: u64,
    /// Length, ticks.
    pub ticks: u64,
    /// Run delay between its first and its last reading, ns.
    pub run_delay_ns: u64,
}

/// What was observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// A quiet block, as learned at first.
    pub quiet: Option<Quiet>,
    /// Detours.
    pub records: Vec<SlowBlock>,
    /// Interrupts between consecutive readings; `None` if unknown.
    pub groups: Vec<Option<InterruptsSinceBoot>>,
    /// Quiet blocks by window.
    pub windows: Vec<Window>,
    /// Length of a window, ticks.
    pub window_ticks: u64,
    /// Readings.
    pub blind: Vec<Blind>,
    /// Counter at the start of the span.
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
    /// It ended early: on request, or [`full`](Observations::full).
    pub ended_early: bool,
    /// [`DetectorSettings::most_detours`] was reached.
    pub full: bool,
}
