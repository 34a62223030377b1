//! A trace: what each thread of a program did, and when. The part of a run that
//! `latlas trace --out` writes and everything shown of a trace is drawn from.
//! All times are ns since [`Trace::began`].

pub mod compact;
mod cut;
mod fit;
pub mod memory;
pub mod row;
pub mod stacks;
pub mod state;
pub mod summary;
pub mod tails;
pub mod tier;
mod values;

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

pub use memory::{HeapCall, MemoryOperation, MemorySpan};
pub use row::TracedRow;
pub use stacks::Stacks;
pub use state::{Segment, State, StateKind};
pub use tier::{Gap, NotRecorded, Tier, Topic};

/// A trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// What was traced.
    pub target: Target,
    /// Why the trace ends.
    pub ended: Ended,
    /// How much could be recorded.
    pub tier: Tier,
    /// What could not be, each with its reason.
    pub gaps: Vec<Gap>,
    /// Architecture of the machine, as `uname -m` has it.
    pub architecture: String,
    /// Release of its kernel.
    pub kernel: String,
    /// Number of CPUs that were recorded.
    pub cpu_count: u32,
    /// Ring of memory for each CPU, in bytes; 0 without one.
    pub ring_bytes: u64,
    /// The beginning on three clocks.
    pub began: Clocks,
    /// Length of the trace.
    pub duration_ns: u64,
    /// The threads in the order in which they appear.
    pub threads: Vec<Thread>,
    /// What ran on each CPU; empty unless all of it was recorded.
    pub cpus: Vec<Cpu>,
    /// Who woke the traced threads.
    pub wakeups: Vec<Wakeup>,
    /// Names of the system calls that occur, by number.
    pub call_names: BTreeMap<u32, String>,
    /// Names of threads that are not traced but ran on the same CPUs.
    pub other_names: BTreeMap<u32, String>,
    /// Names of the signposts of all threads; each is given once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signpost_names: Vec<String>,
    /// Bytes from which on calls of the allocator are recorded, where a program loaded what records them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_least_bytes: Option<u64>,
    /// Stacks of the threads, where they were asked for.
    #[serde(default, skip_serializing_if = "Stacks::is_empty")]
    pub stacks: Stacks,
    /// The threads of latlas that recorded it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorder: Vec<u32>,
    /// What is missing.
    pub losses: Losses,
}

/// What was traced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A command with its arguments, and all that it starts.
    Command(Vec<String>),
    /// A process that ran already, and all that it starts from then on.
    Process(u32),
    /// A visit to a row of the atlas.
    Row(TracedRow),
    /// What a file of another recorder holds.
    File(TracedFile),
}

/// A file of another recorder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedFile {
    /// Its name.
    pub name: String,
    /// What wrote it.
    pub recorder: String,
}

/// Why a trace ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The command ended with this exit code.
    Exited(i32),
    /// The command was ended by this signal.
    Signalled(i32),
    /// The traced process is gone.
    Gone,
    /// The time that was set is over.
    Time,
    /// On request (Ctrl-C, SIGTERM).
    Requested,
    /// No more records could be kept.
    Full,
    /// The file of another recorder ends.
    File,
    /// The file of another recorder is cut off.
    CutOff,
}

/// One moment on three clocks, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// CLOCK_MONOTONIC_RAW, which the kernel stamped the records with.
    pub raw_ns: u64,
    /// CLOCK_BOOTTIME.
    pub boot_ns: u64,
    /// CLOCK_REALTIME.
    pub real_ns: u64,
}

/// A thread that was traced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its number.
    pub id: u32,
    /// Its process; 0 if no record says.
    pub process: u32,
    /// Its last name.
    pub name: String,
    /// The thread that created it, if that is recorded.
    pub created_by: Option<u32>,
    /// Its first moment in the trace.
    pub from_ns: u64,
    /// Its last one.
    pub to_ns: u64,
    /// It ended.
    pub ended: bool,
    /// What it did, without a gap between the two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Segment>,
    /// Its system calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Its page faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<PageFault>,
    /// Stretches and moments that the program itself marked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signposts: Vec<Signpost>,
    /// Stacks with which it left its CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<stacks::Left>,
    /// Memory that it mapped, where system calls are not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<Mapped>,
    /// Its calls of the allocator, where the program records them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heap: Vec<HeapCall>,
    /// What the kernel counted of it, where switches are not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}

/// A stretch or a moment that the program itself marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "compact::SignpostTuple", into = "compact::SignpostTuple")]
pub struct Signpost {
    /// When it begins.
    pub from_ns: u64,
    /// When it ends, or the thread or the trace did before; `None` for a
    /// moment.
    pub to_ns: Option<u64>,
    /// Its name: an index of [`Trace::signpost_names`].
    pub name: u32,
}

/// A system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "compact::CallTuple", into = "compact::CallTuple")]
pub struct Call {
    /// When it was entered.
    pub from_ns: u64,
    /// When it returned, or the trace or the thread ended.
    pub to_ns: u64,
    /// Its number.
    pub number: u32,
    /// Its first three arguments.
    pub arguments: [u64; 3],
    /// What it returned; `None` if it did not return.
    pub returned: Option<i64>,
}

/// A page fault: of the thread itself, or of the kernel in one of its system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "compact::FaultList", into = "compact::FaultList")]
pub struct PageFault {
    /// When it began; its end if only that is recorded.
    pub at_ns: u64,
    /// The address.
    pub address: u64,
    /// By what access, where that is known.
    pub access: Access,
    /// How it ended; `None` where begin and end are not both recorded, or the memory was not there.
    pub served: Option<ServedFault>,
}

/// The end of a page fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedFault {
    /// When the page was there. The way back to the program, some 0.1 µs, follows.
    pub to_ns: u64,
    /// It waited for a device, or for another thread's fault of that page.
    pub major: bool,
}

/// The access that a page fault served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction.
    Execute,
    /// Not recorded.
    Unknown,
}

/// Memory that a thread mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapped {
    /// When.
    pub at_ns: u64,
    /// The address.
    pub address: u64,
    /// How much.
    pub bytes: u64,
}

/// What the kernel had counted of a thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When it was read.
    pub at_ns: u64,
    /// Time on a CPU since the thread began.
    pub running_ns: u64,
    /// Time it waited for a CPU, as the kernel counts it: not all of it.
    pub queued_ns: u64,
    /// Times it got a CPU.
    pub switched_in: u64,
    /// Page faults, both kinds.
    pub faults: u64,
}

/// A wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "compact::WakeupTuple", into = "compact::WakeupTuple")]
pub struct Wakeup {
    /// When.
    pub at_ns: u64,
    /// The thread that was woken.
    pub thread: u32,
    /// The thread that woke it; `None` for an interrupt.
    pub by: Option<u32>,
    /// The CPU on which that happened.
    pub cpu: u32,
}

/// What ran on a CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Its number.
    pub id: u32,
    /// All switches from one thread to another, traced or not. Where one out of
    /// the idle task is missing, it is that of the thread's own record.
    pub switches: Vec<Switch>,
    /// Stretches in which records are missing, see [`Losses`].
    pub lost: Vec<(u64, u64)>,
    /// Interrupts, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<Interrupt>,
}

/// An interrupt on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, InterruptKind)", into = "(u64, InterruptKind)")]
pub struct Interrupt {
    /// When it began.
    pub at_ns: u64,
    /// What it was for.
    pub kind: InterruptKind,
}

impl From<(u64, InterruptKind)> for Interrupt {
    fn from((at_ns, kind): (u64, InterruptKind)) -> Interrupt {
        Interrupt { at_ns, kind }
    }
}

impl From<Interrupt> for (u64, InterruptKind) {
    fn from(interrupt: Interrupt) -> (u64, InterruptKind) {
        (interrupt.at_ns, interrupt.kind)
    }
}

crate::words! {
    /// What an interrupt is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum InterruptKind: name {
        /// The timer of the CPU.
        Timer = "timer",
        /// Another CPU wants a function run here.
        CallFunction = "function call (IPI)",
        /// Another CPU wants the scheduler run here.
        Reschedule = "reschedule (IPI)",
        /// A device.
        Device = "device",
    }
}

/// A switch from one thread to another. Thread 0 is the idle task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "compact::SwitchTuple", into = "compact::SwitchTuple")]
pub struct Switch {
    /// When.
    pub at_ns: u64,
    /// The thread that was switched out.
    pub out: u32,
    /// Its state as the kernel wrote it (`prev_state` of sched_switch).
    pub state: u32,
    /// The thread that was switched in.
    pub into: u32,
}

/// What is missing. No loss is bridged: states that depend on it are
/// [`State::Lost`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Records that found no room in a ring, as the kernel counted them.
    pub records: u64,
    /// Switches whose thread switched out is not the one that was switched in
    /// before: a record is missing, although the kernel may not say so.
    pub breaks: u64,
    /// Of these, breaks that change no state of a traced thread, since none is
    /// affected, or records of its own switches say what happened.
    pub repaired: u64,
    /// System calls of which entry or return is missing.
    pub unpaired_calls: u64,
    /// Bytes that could not be read as records.
    pub unread_bytes: u64,
    /// Signposts that found no room.
    #[serde(default)]
    pub signposts: u64,
    /// Wake-ups without a record: a thread that was switched out blocked was switched in.
    #[serde(default)]
    pub wakeups: u64,
    /// Stacks that found no room.
    #[serde(default)]
    pub stacks: u64,
    /// How much of the end was asked for, if not all of it found room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ns: Option<u64>,
}

impl Losses {
    /// Whether something is missing that changes what the trace says.
    pub fn matter(&self) -> bool {
        let breaks = self.breaks > self.repaired;
        let lost = [self.records, self.unread_bytes, self.signposts, self.stacks];
        breaks || lost.iter().any(|&n| n > 0) || self.last_ns.is_some()
    }
}

/// The many small values are lists of numbers, which `docs/trace.md` describes.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Trace {
    fn schema_name() -> Cow<'static, str> {
        "Trace".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What each thread of a program did, and when (`latlas help trace`).",
            "type": "object",
            "required": ["target", "ended", "tier", "duration_ns", "threads"]
        })
    }
}

impl Trace {
    /// The CPUs by number; the first one if several have it.
    pub(crate) fn cpus_by_number(&self) -> HashMap<u32, &Cpu> {
        self.cpus.iter().rev().map(|cpu| (cpu.id, cpu)).collect()
    }

    /// A trace of one CPU in which nothing happened, to be completed.
    pub fn new(target: Target, ended: Ended, tier: Tier) -> Trace {
        Trace {
            target,
            ended,
            tier,
            gaps: Vec::new(),
            architecture: String::new(),
            kernel: String::new(),
            cpu_count: 1,
            ring_bytes: 0,
            began: Clocks::default(),
            duration_ns: 0,
            threads: Vec::new(),
            cpus: Vec::new(),
            wakeups: Vec::new(),
            call_names: BTreeMap::new(),
            other_names: BTreeMap::new(),
            signpost_names: Vec::new(),
            heap_least_bytes: None,
            stacks: Stacks::default(),
            recorder: Vec::new(),
            losses: Losses::default(),
        }
    }

    /// Its threads by number.
    pub fn by_id(&self) -> ThreadsById<'_> {
        ThreadsById {
            trace: self,
            threads: self.threads.iter().map(|thread| (thread.id, thread)).collect(),
        }
    }

    /// The name of a system call, else its number.
    pub fn call_name(&self, number: u32) -> String {
        let name = self.call_names.get(&number).cloned();
        name.unwrap_or_else(|| format!("call {number}"))
    }

    /// The name of a signpost; `None` only in a damaged document.
    pub fn signpost_name(&self, signpost: &Signpost) -> Option<&str> {
        let name = self.signpost_names.get(signpost.name as usize)?;
        Some(name)
    }
}

impl Thread {
    /// What has no number of the system, as in files of some other recorders, gets one from here on.
    pub const FIRST_WITHOUT_NUMBER: u32 = 1 << 31;

    /// From here on are lanes of what is of no thread: asynchronous spans.
    pub const FIRST_LANE: u32 = Thread::FIRST_WITHOUT_NUMBER + (1 << 30);

    /// Whether it is a thread, and no lane of what is of none.
    pub fn is_thread(&self) -> bool {
        self.id < Thread::FIRST_LANE
    }

    /// Whether its number is one of the system.
    pub fn has_number(&self) -> bool {
        self.id < Thread::FIRST_WITHOUT_NUMBER
    }
}

/// Threads by number. Each switch names two: a search for each would take the product of both numbers.
pub struct ThreadsById<'t> {
    trace: &'t Trace,
    threads: HashMap<u32, &'t Thread>,
}

impl<'t> ThreadsById<'t> {
    /// The thread of this number; the last one if several had it.
    pub fn thread(&self, id: u32) -> Option<&'t Thread> {
        self.threads.get(&id).copied()
    }

    /// The name of a thread, traced or not.
    pub fn name_of(&self, id: u32) -> Option<&'t str> {
        let traced = self.thread(id).map(|thread| thread.name.as_str());
        traced.or_else(|| self.trace.other_names.get(&id).map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_of_the_last_thread_that_had_it() {
        let thread = |id, name: &str| Thread { id, name: name.into(), ..Thread::default() };
        let trace = Trace {
            threads: vec![thread(1, "a"), thread(2, "b"), thread(1, "c")],
            other_names: [(1, "not traced".to_owned()), (3, "d".to_owned())].into(),
            ..Trace::new(Target::Command(Vec::new()), Ended::Exited(0), Tier::Full)
        };
        let threads = trace.by_id();
        let names = [1, 2, 3, 4].map(|id| threads.name_of(id));
        assert_eq!(names, [Some("c"), Some("b"), Some("d"), None]);
        let traced = [1, 2, 3].map(|id| threads.thread(id).map(|thread| &*thread.name));
        assert_eq!(traced, [Some("c"), Some("b"), None]);
    }
}
