//! Apple systems do not export the interrupts of a CPU.

use crate::interrupts::{InterruptLine, NoInterrupts};

#[derive(Debug)]
pub struct InterruptCounts(());

impl InterruptCounts {
    pub fn for_cpu(_cpu: u32) -> Result<InterruptCounts, NoInterrupts> {
        Err(NoInterrupts::Apple)
    }

    pub fn lines(&self) -> &[InterruptLine] {
        &[]
    }

    pub fn read(&mut self) -> Option<&[u64]> {
        None
    }
}
