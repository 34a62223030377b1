//! What a job is to do, and what it says of it.

use model::noise::effect::Wakeups;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a process is to do.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum NoiseJob {
    /// So many steps of a chain in registers.
    Cpu { steps: u64 },
    /// So many steps of a chase through so much memory, which is written
    /// before.
    Memory {
        steps: u64,
        /// Bytes, a power of two.
        bytes: u64,
    },
    /// So many short sleeps.
    Wakeup { sleeps: u64 },
    /// Looks at and reads all files two directories deep.
    Files { directory: PathBuf },
    /// Keeps a CPU busy until its parent ends.
    Busy {
        /// The CPUs it may use; empty for all.
        cpus: Vec<u32>,
        /// How many more like it it starts, in its session.
        more: u32,
    },
}

/// What a job says when it is done.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct JobReport {
    /// How much of its work it did.
    pub done: u64,
    /// What came out of the work: the same for the same work.
    pub check: u64,
    /// How long the work took, ns.
    pub took_ns: u64,
    /// How late it woke up, if it slept.
    pub wakeups: Option<Wakeups>,
}
