//! How many interrupts a CPU took, by kind.

pub use crate::platform::interrupts::InterruptCounts;

/// One kind of interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptLine {
    /// Label and device, as the system names them: `LOC`, `36 virtio1-req.0`.
    pub name: String,
    /// Whether it is the CPU's own timer, which makes the scheduler's tick.
    pub timer: bool,
}
