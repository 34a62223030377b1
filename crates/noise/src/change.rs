//! One value of the whole system that is to be another for a while.

/// A file and the value it should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The control it belongs to, as `--only` names it: `governor`.
    pub control: String,
    /// The file, `/sys/...` or `/proc/...`.
    pub path: String,
    /// What is to be written, without a new line.
    pub wanted: String,
}
