//! What the detector reads: the sources of a real or scripted machine.

/// Interrupts of the watched CPU since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptsSinceBoot {
    /// Of its timer.
    pub timer: u64,
    /// All others.
    pub other: u64,
}

impl InterruptsSinceBoot {
    /// Counts since an earlier reading; `None` if one fell.
    pub fn since(self, earlier: InterruptsSinceBoot) -> Option<InterruptsSinceBoot> {
        Some(InterruptsSinceBoot {
            timer: self.timer.checked_sub(earlier.timer)?,
            other: self.other.checked_sub(earlier.other)?,
        })
    }
}

/// Where the detector spins, and what the system counts of it.
pub trait DetectorMachine {
    /// Reads the counter, in ticks.
    fn now(&mut self) -> u64;

    /// Runs `turns` turns of dependent adds, then reads the counter.
    fn spin(&mut self, turns: u64) -> u64;

    /// Run delay of the thread (ready, but not running), ns.
    fn run_delay_ns(&mut self) -> Option<u64>;

    /// Interrupts of the CPU; `None` always without a source, once if its
    /// lines changed.
    fn interrupts(&mut self) -> Option<InterruptsSinceBoot>;

    /// Whether there is a source of interrupts.
    fn has_interrupts(&self) -> bool;

    /// Whether to end early; called about every 20 us and after each detour.
    fn should_stop(&mut self) -> bool;
}
