//! Interrupts of one CPU: Apple systems count them for nobody to read.

use crate::interrupts::InterruptLine;

/// Never there.
#[derive(Debug)]
pub struct InterruptCounts {}

impl InterruptCounts {
    /// Says why there are none.
    ///
    /// # Errors
    /// Always.
    pub fn open(_cpu: u32) -> Result<InterruptCounts, String> {
        Err("Apple systems do not tell the interrupts of a CPU".into())
    }

    /// None.
    pub fn lines(&self) -> &[InterruptLine] {
        &[]
    }

    /// None.
    pub fn read(&mut self) -> Option<&[u64]> {
        None
    }
}
