//! Events of a file into a trace.

use super::marks::{Marks, Owner};
use super::{ForeignError, ForeignTrace, Note, Part};
use crate::decode::{CLONE_THREAD, Sampled, name_of};
use crate::event::{Event, Name, What, text_of};
use crate::ids::IdMap;
use crate::signposts::{Mark, place_all};
use crate::states::{Builder, TimelineSettings};
use model::trace::tier::Missing;
use model::trace::{
    Clocks, Ended, Gap, NotRecorded, State, Target, Tier, Topic, Trace, TracedFile,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// More is not kept in memory, unless it is said.
const LIMIT_BYTES: usize = 256 << 20;
/// What lies before the part that is asked for is forgotten now and then.
const FORGET_BYTES: usize = 16 << 20;

/// What a file says of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    /// Its name,
    pub(super) name: String,
    /// and the program that wrote it.
    pub(super) recorder: String,
    pub(super) kernel: String,
    pub(super) architecture: String,
    pub(super) cpu_count: u32,
    /// The first event's time on clocks that are known.
    pub(super) began: Clocks,
    pub(super) unread_bytes: u64,
    /// The file ends before its data does.
    pub(super) is_cut_off: bool,
}

/// Kinds of events that occur in a file.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    switches: bool,
    /// Wake-ups, and begins of them.
    wakeups: bool,
    wakings: bool,
    calls: bool,
    faults: bool,
}

/// What takes the events of a file in the order of their time.
pub(super) struct Importer {
    builder: Builder,
    names: IdMap<Name>,
    /// Last names by a table of the file.
    table: IdMap<Name>,
    /// Process of each thread, as far as it is known.
    processes: IdMap<u32>,
    /// Names of threads that a program gave them, where numbers may be those of a namespace.
    named: HashMap<Owner, String>,
    pub(super) marks: Marks,
    seen: Seen,
    from_ns: Option<u64>,
    to_ns: Option<u64>,
    limit_bytes: usize,
    first_ns: u64,
    last_ns: u64,
    is_full: bool,
    /// Events lie beyond the part that is asked for.
    has_more: bool,
    events: u64,
}

impl Importer {
    /// Of a file whose first event has this time.
    pub(super) fn new(first_ns: u64, part: Part, yield_call: Option<u32>) -> Importer {
        let absolute = |ns: u64| first_ns.saturating_add(ns);
        let from_ns = part.from_ns.filter(|&ns| ns > 0).map(absolute);
        Importer {
            builder: Builder::new(TimelineSettings {
                from_ns: first_ns,
                shown_from_ns: from_ns,
                scheduler: true,
                all_threads: true,
                yield_call,
                ..TimelineSettings::default()
            }),
            names: IdMap::default(),
            table: IdMap::default(),
            processes: IdMap::default(),
            named: HashMap::new(),
            marks: Marks::default(),
            seen: Seen::default(),
            from_ns,
            to_ns: part.to_ns.map(absolute),
            limit_bytes: part.limit_bytes.unwrap_or(LIMIT_BYTES),
            first_ns,
            last_ns: first_ns,
            is_full: false,
            has_more: false,
            events: 0,
        }
    }

    /// A name of a thread that a table of the file has; events say better.
    pub(super) fn add_name(&mut self, thread: u32, name: &[u8]) {
        self.table.insert(thread, name_of(name));
    }

    /// The process of a thread.
    pub(super) fn set_process(&mut self, thread: u32, process: u32) {
        self.processes.insert(thread, process);
    }

    /// What a program says of a thread.
    pub(super) fn describe(&mut self, owner: Owner, name: String) {
        self.named.insert(owner, name);
    }

    /// What a process is called, for a first thread without a name.
    pub(super) fn describe_main(&mut self, owner: Owner, name: String) {
        self.named.entry(owner).or_insert(name);
    }

    /// The file has more than could be kept.
    pub(super) fn set_full(&mut self) {
        self.is_full = true;
    }

    /// Whether more is wanted.
    pub(super) fn wants(&mut self, at_ns: u64) -> bool {
        self.has_more |= self.to_ns.is_some_and(|to_ns| at_ns > to_ns);
        !self.is_full && !self.has_more
    }

    pub(super) fn lost(&mut self, at_ns: u64, cpu: u32, count: u64) {
        self.event(at_ns, cpu, What::Lost(count));
    }

    pub(super) fn sampled(&mut self, at_ns: u64, cpu: u32, sampled: Sampled<'_>) {
        match sampled {
            Sampled::Event(what) => match what {
                What::Waking { .. } => {
                    self.seen.wakings = true;
                    self.event(at_ns, cpu, what);
                }
                // The thread that is idle has no calls.
                What::Enter { thread: 0, .. } | What::Return { thread: 0, .. } => {}
                What::Fault { thread: 0, .. } => {}
                what => self.event(at_ns, cpu, what),
            },
            Sampled::Switch { out, state, into, names } => {
                for (id, name) in [out, into].into_iter().zip(names) {
                    self.name_from(at_ns, id, name);
                }
                self.event(at_ns, cpu, What::Switch { out, state, into });
            }
            Sampled::Wakeup { thread, by } => {
                if !self.seen.wakings {
                    self.event(at_ns, cpu, What::Waking { thread, by });
                }
            }
            Sampled::NewTask { parent, thread, name, flags } => {
                let process = match flags & CLONE_THREAD {
                    0 => thread,
                    _ => self.processes.get(&parent).copied().unwrap_or(0),
                };
                self.event(at_ns, cpu, What::Fork { process: Some(process), thread, parent });
                // The number may have been another's.
                self.names.remove(&thread);
                // It begins with that of its parent; the table has its last one.
                let last = self.table.get(&thread).copied();
                self.name_from(at_ns, thread, last.as_ref().map_or(name, |last| last));
                self.processes.remove(&thread);
                if process != 0 {
                    self.set_process(thread, process);
                }
            }
            Sampled::Rename { thread, name } => self.name_from(at_ns, thread, name),
            Sampled::Text { thread, text } => {
                self.passed(at_ns);
                if let Some(process) = self.marks.add_text(at_ns, thread, text) {
                    self.set_process(thread, process);
                }
            }
        }
    }

    /// Marks that were read before all events, with the time of the last one.
    pub(super) fn set_marks(&mut self, marks: Marks, last_ns: u64) {
        self.marks = marks;
        self.events += 1;
        self.last_ns = self.last_ns.max(last_ns);
    }

    /// Something happened at this time.
    pub(super) fn passed(&mut self, at_ns: u64) {
        self.last_ns = self.last_ns.max(at_ns);
        self.events += 1;
        let kept_bytes = self.builder.kept_bytes() + self.marks.kept_bytes();
        if self.from_ns.is_some_and(|from_ns| at_ns < from_ns) {
            if kept_bytes > FORGET_BYTES.min(self.limit_bytes / 4) {
                self.builder.forget();
                self.marks.forget();
            }
        } else if kept_bytes > self.limit_bytes {
            self.is_full = true;
        }
    }

    fn event(&mut self, at_ns: u64, cpu: u32, what: What) {
        match what {
            What::Switch { .. } => self.seen.switches = true,
            What::Waking { .. } => self.seen.wakeups = true,
            What::Enter { .. } => self.seen.calls = true,
            What::Fault { .. } => self.seen.faults = true,
            _ => {}
        }
        self.builder.event(&Event { at_ns, cpu, what });
        self.passed(at_ns);
    }

    /// Only one that is new is told.
    fn name_from(&mut self, at_ns: u64, id: u32, name: &[u8]) {
        if name.is_empty() {
            return;
        }
        let name = name_of(name);
        if self.names.insert(id, name) != Some(name) {
            self.builder.set_name(at_ns, id, text_of(&name));
        }
    }

    /// The trace, and what was left out.
    ///
    /// # Errors
    /// If nothing of any thread was there.
    pub(super) fn finish(
        mut self,
        about: About,
        mut notes: Vec<Note>,
    ) -> Result<ForeignTrace, ForeignError> {
        if self.events == 0 {
            return Err(ForeignError::Empty);
        }
        // What ends with a trace is taken for unfinished: here the last mark is all that says when.
        let last_ns = self.last_ns.saturating_add(u64::from(!self.seen.switches));
        let to_ns = match self.is_full {
            true => last_ns,
            false => {
                // To the end of the part where events lie beyond it, else to the last one.
                let end_ns = self.to_ns.filter(|_| self.has_more).unwrap_or(last_ns);
                self.to_ns.map_or(end_ns, |to_ns| to_ns.min(end_ns))
            }
        };
        let timeline = self.builder.finish(to_ns);
        let later_ns = timeline.began_ns - self.first_ns;
        let later = |ns: u64| if ns == 0 { 0 } else { ns + later_ns };
        let file = TracedFile { name: about.name, recorder: about.recorder };
        let ended = match (self.is_full, about.is_cut_off) {
            (true, _) => Ended::Full,
            (false, true) => Ended::CutOff,
            (false, false) => Ended::File,
        };
        let mut trace = Trace {
            gaps: gaps(self.seen),
            architecture: about.architecture,
            kernel: about.kernel,
            cpu_count: about.cpu_count,
            // Times of the file are those of its own clock, whichever that is.
            began: Clocks {
                raw_ns: timeline.began_ns,
                boot_ns: later(about.began.boot_ns),
                real_ns: later(about.began.real_ns),
            },
            duration_ns: to_ns.saturating_sub(timeline.began_ns),
            threads: timeline.threads,
            cpus: if self.seen.switches { timeline.cpus } else { Vec::new() },
            wakeups: timeline.wakeups,
            losses: timeline.losses,
            ..Trace::new(Target::File(file), ended, Tier::Full)
        };
        trace.losses.unread_bytes = about.unread_bytes;
        if !self.seen.wakeups {
            // None was recorded.
            trace.losses.wakeups = 0;
        }
        self.named.extend(self.marks.take_lanes());
        let (names, marks, left_out) = self.marks.into_marks();
        notes.extend(left_out);
        trace.signpost_names = names;
        // Of threads without any other record, in the order of their numbers.
        let mut by_owner: BTreeMap<Owner, Vec<Mark>> = BTreeMap::new();
        for ((process, thread), mut marks) in marks {
            let process = match process {
                0 => self.processes.get(&thread).copied().unwrap_or(0),
                process => process,
            };
            by_owner.entry((process, thread)).or_default().append(&mut marks);
        }
        place_all(&mut trace, by_owner);
        for thread in &mut trace.threads {
            if let Some(name) = self.named.get(&(thread.process, thread.id)) {
                thread.name.clone_from(name);
            }
            if thread.name.is_empty()
                && let Some(name) = self.names.get(&thread.id).or(self.table.get(&thread.id))
            {
                thread.name = text_of(name);
            }
            if thread.process == 0 {
                thread.process = self.processes.get(&thread.id).copied().unwrap_or(0);
            }
        }
        if trace.threads.is_empty() {
            return Err(ForeignError::Empty);
        }
        name_calls(&mut trace);
        if self.is_full {
            notes.push(Note::More);
        }
        Ok(ForeignTrace { trace, notes })
    }
}

/// What the file does not hold, each once.
fn gaps(seen: Seen) -> Vec<Gap> {
    let lacks = |is_there: bool, topic: Topic, events: &str| {
        let reason = NotRecorded::NotInFile(events.to_owned());
        (!is_there).then_some(Gap { of: Missing::Topic(topic), reason })
    };
    let scheduler = match seen.switches {
        false => lacks(false, Topic::Running, "sched_switch"),
        true => lacks(seen.wakeups, Topic::Runnable, "sched_waking"),
    };
    let calls = lacks(seen.calls, Topic::Calls, "sys_enter and sys_exit");
    let faults = lacks(seen.faults, Topic::Faults, "page_fault_user");
    [scheduler, calls, faults].into_iter().flatten().collect()
}

/// Names of the system calls that occur, by the architecture of the file.
fn name_calls(trace: &mut Trace) {
    let calls = trace.threads.iter().flat_map(|thread| &thread.calls);
    let segments = trace.threads.iter().flat_map(|thread| &thread.segments);
    let blocked = segments.filter_map(|segment| match segment.state {
        State::Blocked { call, .. } => call,
        _ => None,
    });
    let numbers: BTreeSet<u32> = calls.map(|call| call.number).chain(blocked).collect();
    let named = numbers.into_iter().filter_map(|number| {
        Some((number, sys::system_calls::call_name_of(&trace.architecture, number)?.to_owned()))
    });
    trace.call_names = named.collect();
}
