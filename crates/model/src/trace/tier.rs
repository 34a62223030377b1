//! How much of a trace a machine lets us record, and why not more.

use serde::{Deserialize, Serialize};

crate::words! {
    /// How a trace was recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Tier: name {
        /// The scheduler's tracepoints of all CPUs, with system calls and page
        /// faults of the target: root.
        Full = "full",
        /// The target's own switches and page faults: `kernel.perf_event_paranoid`
        /// of 2 or less.
        OwnProcess = "own process",
        /// What the kernel counts of each thread, read every 10 ms from /proc.
        Minimal = "minimal",
    }
}

impl Tier {
    /// How well it answers a question.
    pub fn answer(self, topic: Topic) -> Answer {
        use Answer::{Exact, InPart, No, Sum};
        match (self, topic) {
            (Tier::Full, _) | (_, Topic::Signposts | Topic::Heap) => Exact,
            (Tier::OwnProcess, Topic::Running | Topic::Faults) => Exact,
            // Of a new thread until it runs first.
            (Tier::OwnProcess, Topic::Runnable | Topic::Preempted) => InPart,
            (Tier::Minimal, Topic::Running | Topic::Faults) => Sum,
            (Tier::OwnProcess | Tier::Minimal, _) => No,
        }
    }
}

crate::words! {
    /// A question about a thread.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Topic: name {
        /// When it ran, and on which CPU.
        Running = "running",
        /// When it was runnable, apart from blocked.
        Runnable = "runnable",
        /// When it was preempted.
        Preempted = "preempted",
        /// By whom it was preempted and woken.
        Causes = "by whom",
        /// Its system calls.
        Calls = "calls",
        /// Its page faults.
        Faults = "faults",
        /// Stretches and moments that the program itself marks.
        Signposts = "signposts",
        /// Stacks, if they are asked for.
        Stacks = "stacks",
        /// USDT probes, if they are asked for.
        Probes = "USDT probes",
        /// Calls of the allocator, if they are asked for.
        Heap = "malloc",
    }
}

impl Topic {
    /// All topics that need no request, in the order of the table of tiers.
    pub const WITHOUT_REQUEST: [Topic; 7] = [
        Topic::Running,
        Topic::Runnable,
        Topic::Preempted,
        Topic::Causes,
        Topic::Calls,
        Topic::Faults,
        Topic::Signposts,
    ];
}

crate::words! {
    /// How well a tier answers a question.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Answer: name {
        /// Each time, with its stamp.
        Exact = "exact",
        /// Not apart from something else: "preempted or yielded".
        InPart = "in part",
        /// As sums of 10 ms.
        Sum = "sums",
        /// Not at all.
        No = "no",
    }
}

/// Something that was not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// A whole tier, or a topic of the one that was used.
    pub of: Missing,
    /// Why.
    pub reason: NotRecorded,
}

/// What is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// A tier was not possible.
    Tier(Tier),
    /// A topic within the tier.
    Topic(Topic),
    /// When page faults ended.
    FaultEnds,
}

/// Why something was not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotRecorded {
    /// The descriptions of the tracepoints can't be read.
    NoTracefs(String),
    /// The kernel refuses the events, with what `kernel.perf_event_paranoid`
    /// is set to.
    Denied(Option<i32>),
    /// The process belongs to another user.
    OtherUser,
    /// The kernel has no room for a ring (RLIMIT_MEMLOCK).
    NoRing(String),
    /// An event that was provoked arrived wrong, or not at all.
    CheckFailed,
    /// It was left out on request.
    NotAsked,
    /// Only the last seconds were kept.
    LastOnly,
    /// The tier can't record it.
    NotInTier,
    /// The program was not started by latlas.
    NotStartedHere,
    /// The program is linked statically: nothing can be loaded into it.
    Static,
    /// The program runs with other rights than who starts it, and loads nothing that is not its own.
    OtherRights,
    /// No program loaded the library.
    NotLoaded,
    /// The file of another recorder has no such events.
    NotInFile(String),
    /// Another error of the system.
    Failed(String),
}

impl std::fmt::Display for NotRecorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotRecorded::NoTracefs(error) => {
                write!(f, "tracefs can't be read ({error}): needs root")
            }
            NotRecorded::Denied(Some(level)) => write!(
                f,
                "perf_event_open is refused: needs root or CAP_PERFMON \
                 (kernel.perf_event_paranoid is {level}; a container may forbid it too)"
            ),
            NotRecorded::Denied(None) => f.write_str(
                "perf_event_open is refused: needs root or CAP_PERFMON, and a sandbox that allows it",
            ),
            NotRecorded::OtherUser => f.write_str(
                "perf_event_open is refused: the process belongs to another user (needs root or \
                 CAP_PERFMON)",
            ),
            NotRecorded::NoRing(error) => write!(
                f,
                "no memory for the records ({error}): raise RLIMIT_MEMLOCK (ulimit -l)"
            ),
            NotRecorded::CheckFailed => {
                f.write_str("a provoked event was not recorded as it happened: not trusted here")
            }
            NotRecorded::NotAsked => f.write_str("left out (--scheduler-only)"),
            NotRecorded::LastOnly => f.write_str("left out (--last)"),
            NotRecorded::NotInTier => f.write_str("this tier can't record them"),
            NotRecorded::NotStartedHere => {
                f.write_str("a program finds out that it is traced when it starts: latlas trace -- CMD")
            }
            NotRecorded::Static => f.write_str(
                "the program is linked statically, so no library is loaded into it (its source can \
                 include latlas_malloc.h)",
            ),
            NotRecorded::OtherRights => f.write_str(
                "the program is set-user-ID, set-group-ID or has capabilities, so no library is \
                 loaded into it",
            ),
            NotRecorded::NotLoaded => f.write_str(
                "no program loaded liblatlas_malloc.so: linked statically, set-user-ID, or started \
                 without LD_PRELOAD",
            ),
            NotRecorded::NotInFile(events) => write!(f, "the file has no {events} events"),
            NotRecorded::Failed(error) => f.write_str(error),
        }
    }
}
