//! The events of all CPUs in the order of their time.

use super::{ForeignError, Importer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A CPU's events one after the other.
pub(super) trait CpuEvents {
    /// The time of the event, in ns.
    fn at_ns(&self) -> u64;

    /// Tells of the event.
    fn tell(&mut self, importer: &mut Importer);

    /// Goes to the next event; whether there is one.
    ///
    /// # Errors
    /// If the file can't be read.
    fn advance(&mut self) -> Result<bool, ForeignError>;
}

/// The time of the first event of all.
pub(super) fn first_ns(cpus: &[impl CpuEvents]) -> Option<u64> {
    cpus.iter().map(CpuEvents::at_ns).min()
}

/// Tells of all events, as long as more are wanted.
pub(super) fn tell_in_order(
    cpus: &mut [impl CpuEvents],
    importer: &mut Importer,
) -> Result<(), ForeignError> {
    let order = cpus.iter().enumerate().map(|(place, cpu)| Reverse((cpu.at_ns(), place)));
    let mut order: BinaryHeap<Reverse<(u64, usize)>> = order.collect();
    while let Some(Reverse((_, place))) = order.pop() {
        let cpu = &mut cpus[place];
        // Most events of a CPU follow each other.
        let next_ns = order.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns);
        loop {
            if !importer.wants(cpu.at_ns()) {
                return Ok(());
            }
            cpu.tell(importer);
            if !cpu.advance()? {
                break;
            }
            if cpu.at_ns() > next_ns {
                order.push(Reverse((cpu.at_ns(), place)));
                break;
            }
        }
    }
    Ok(())
}
