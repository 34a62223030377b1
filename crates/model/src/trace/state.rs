//! What a thread can be doing. What a recording can't tell apart is a state of
//! its own, never a guess.

use serde::{Deserialize, Serialize};

/// How a stretch stands in the document: begin, length, code of the state, its detail.
pub(super) type SegmentTuple = (u64, u64, u8, u32);

/// A stretch in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SegmentTuple", into = "SegmentTuple")]
pub struct Segment {
    /// Its beginning.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// The state.
    pub state: State,
}

impl Segment {
    /// A stretch in this state.
    pub fn new(from_ns: u64, to_ns: u64, state: State) -> Segment {
        Segment { from_ns, to_ns, state }
    }

    /// Its length.
    pub fn duration_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// On this CPU.
    Running(u32),
    /// Woken or created, it waits for a CPU.
    Runnable,
    /// Ready to run, it was switched out for this thread; for the idle task (0)
    /// when its CPU quota is used up.
    Preempted(u32),
    /// It gave its CPU up (`sched_yield`).
    Yielded,
    /// Ready to run, it was switched out: preempted, or it yielded.
    PreemptedOrYielded,
    /// It waits for something else than a CPU.
    Blocked {
        /// In this system call; `None` outside of one, or where calls are not
        /// recorded.
        call: Option<u32>,
        /// Signals can't wake it, as far as that is recorded: it waits for a disk,
        /// for example.
        uninterruptible: bool,
    },
    /// A signal or a debugger stopped it.
    Stopped,
    /// Blocked, and at the end perhaps runnable: its wake-up is not recorded.
    BlockedOrRunnable,
    /// Records are missing that would say.
    Lost,
    /// Before the first record of it.
    Unknown,
}

crate::words! {
    /// A state without its details.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum StateKind: name {
        /// [`State::Running`]
        Running = "running",
        /// [`State::Runnable`]
        Runnable = "runnable",
        /// [`State::Preempted`]
        Preempted = "preempted",
        /// [`State::Yielded`]
        Yielded = "yielded",
        /// [`State::PreemptedOrYielded`]
        PreemptedOrYielded = "preempted or yielded",
        /// [`State::Blocked`]
        Blocked = "blocked",
        /// [`State::Stopped`]
        Stopped = "stopped",
        /// [`State::BlockedOrRunnable`]
        BlockedOrRunnable = "blocked or runnable",
        /// [`State::Lost`]
        Lost = "lost",
        /// [`State::Unknown`]
        Unknown = "unknown",
    }
}

impl State {
    /// The state without its details.
    pub fn kind(self) -> StateKind {
        match self {
            State::Running(_) => StateKind::Running,
            State::Runnable => StateKind::Runnable,
            State::Preempted(_) => StateKind::Preempted,
            State::Yielded => StateKind::Yielded,
            State::PreemptedOrYielded => StateKind::PreemptedOrYielded,
            State::Blocked { .. } => StateKind::Blocked,
            State::Stopped => StateKind::Stopped,
            State::BlockedOrRunnable => StateKind::BlockedOrRunnable,
            State::Lost => StateKind::Lost,
            State::Unknown => StateKind::Unknown,
        }
    }
}
