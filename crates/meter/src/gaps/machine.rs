//! What the detector asks of a machine: real in a run, scripted in tests.

/// Interrupts of the watched CPU since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of its timer.
    pub timer: u64,
    /// All others.
    pub other: u64,
}

impl Counts {
    /// How many came since an earlier reading; `None` if a count fell.
    pub fn since(self, earlier: Counts) -> Option<Counts> {
        Some(Counts {
            timer: self.timer.checked_sub(earlier.timer)?,
            other: self.other.checked_sub(earlier.other)?,
        })
    }
}

/// Spins, and tells what the system says of the spinning thread.
pub trait Machine {
    /// Reads the counter, in ticks.
    fn now(&mut self) -> u64;

    /// Runs `turns` turns of dependent adds, then reads the counter.
    fn spin(&mut self, turns: u64) -> u64;

    /// Time that the thread was ready and did not run, since it began, ns.
    fn run_delay_ns(&mut self) -> Option<u64>;

    /// The CPU's interrupts. `None` for good where there is no source, for
    /// once where it changed its shape.
    fn interrupts(&mut self) -> Option<Counts>;

    /// Whether there is a source of interrupts.
    fn tells_interrupts(&self) -> bool;

    /// Whether to end early; asked every 20 µs or so and after
    /// each gap.
    fn asked_to_end(&mut self) -> bool;
}
