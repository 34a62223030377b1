//! How many interrupts a CPU took, by kind.

pub use crate::platform::interrupts::InterruptCounts;
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub use crate::platform::interrupts::anything;

/// One kind of interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptLine {
    /// Label and device, as the system names them: `LOC`, `36 virtio1-req.0`.
    pub name: String,
    /// Whether it is the CPU's own timer, which makes the scheduler's tick.
    pub timer: bool,
}

/// Why the interrupts of a CPU can't be counted.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum NoInterrupts {
    /// `/proc/interrupts` can't be read.
    #[error("/proc/interrupts can't be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("/proc/interrupts has no column CPU{0}")]
    NoColumn(u32),
    #[error("/proc/interrupts has no lines that latlas can read")]
    NoLines,
    #[error("the thread is not pinned to a CPU")]
    NotPinned,
    #[error("Apple systems do not export the interrupts of a CPU")]
    Apple,
}
