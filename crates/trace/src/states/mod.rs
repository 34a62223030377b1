//! From events to the states of each thread.
//!
//! `sched_switch` says when a thread got or left a CPU, why and for whom; without privileges, the kernel's records of
//! the traced threads themselves. The first has holes that no record of a loss announces. Therefore the chain is
//! tested: the thread switched in by one switch must be the one switched out by the next on that CPU. After a break,
//! the state is lost; it is never bridged.

mod chain;
mod stopped;
mod tasks;
mod thread;
mod waking;
mod window;

use crate::event::{Event, What, text_of};
use crate::ids::IdMap;
use crate::lost::Lost;
use chain::Processor;
use model::trace::{
    Call, Cpu, Interrupt, Losses, Mapped, PageFault, Signpost, State, Thread, Wakeup,
};
use std::collections::BTreeMap;
pub use stopped::stopped;
use thread::Building;
pub(crate) use thread::kernel_state;
use window::Window;

/// The idle task of each CPU.
const IDLE: u32 = 0;

/// What is known of a recording in addition to its events.
#[derive(Clone, Debug, Default)]
pub struct TimelineSettings {
    /// Threads that were there at the beginning: process and number.
    pub roots: Vec<(u32, u32)>,
    /// When recording began.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// Only the end from this time on is shown.
    pub shown_from_ns: Option<u64>,
    /// `sched_switch` and wake-ups of all threads are recorded.
    pub scheduler: bool,
    /// Beginnings, ends and names are recorded of all threads, not of the traced
    /// ones only.
    pub tasks_of_all: bool,
    /// System calls are recorded.
    pub calls: bool,
    /// The number of `sched_yield`.
    pub yield_call: Option<u32>,
    /// All threads of the machine are traced, also those of which only a switch is recorded.
    pub all_threads: bool,
}

/// What the events say.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// When the trace begins: times in it are since then.
    pub began_ns: u64,
    pub threads: Vec<Thread>,
    /// What ran on the CPUs.
    pub cpus: Vec<Cpu>,
    /// Wake-ups of the threads.
    pub wakeups: Vec<Wakeup>,
    /// What is missing.
    pub losses: Losses,
}

/// The states of all threads from events in the order of their time.
pub fn timeline(events: &[Event], settings: &TimelineSettings) -> Timeline {
    let mut builder = Builder::new(settings.clone());
    for event in events {
        builder.event(event);
    }
    builder.finish(settings.to_ns)
}

/// The states as far as events came, which need not be there all at once.
pub(crate) struct Builder {
    settings: TimelineSettings,
    threads: Vec<Building>,
    /// The thread that has a number now.
    by_id: IdMap<usize>,
    cpus: BTreeMap<u32, Processor>,
    /// Losses of any ring.
    lost: Lost,
    wakeups: Vec<Wakeup>,
    losses: Losses,
    /// When the root first executed a program.
    exec_ns: Option<u64>,
    kept_bytes: usize,
}

/// What is kept of an event at most: states that it ends, and itself.
fn most_kept_bytes(what: &What) -> usize {
    let segment = size_of::<model::trace::Segment>();
    match what {
        What::Switch { .. } => 2 * segment + size_of::<model::trace::Switch>(),
        What::Waking { .. } => segment + size_of::<Wakeup>(),
        What::Return { .. } => size_of::<Call>(),
        What::Fault { .. } => size_of::<PageFault>(),
        What::Interrupt(_) => size_of::<Interrupt>(),
        What::Fork { .. } => size_of::<Building>(),
        _ => 0,
    }
}

impl Builder {
    pub(crate) fn new(settings: TimelineSettings) -> Builder {
        let roots = settings.roots.clone();
        let mut builder = Builder {
            settings,
            threads: Vec::new(),
            by_id: IdMap::default(),
            cpus: BTreeMap::new(),
            lost: Lost::default(),
            wakeups: Vec::new(),
            losses: Losses::default(),
            exec_ns: None,
            kept_bytes: 0,
        };
        for (process, id) in roots {
            let from_ns = builder.settings.from_ns;
            builder.begin_thread(Building::new(process, id, from_ns, State::Unknown));
        }
        builder
    }

    /// A thread has this name from now on.
    pub(crate) fn set_name(&mut self, at_ns: u64, id: u32, name: String) {
        if id != IDLE {
            self.known(at_ns, id).thread.name = name;
        }
    }

    /// Drops all that has ended; what is going on goes on.
    pub(crate) fn forget(&mut self) {
        for Building { thread, .. } in &mut self.threads {
            thread.segments.clear();
            thread.calls.clear();
            thread.faults.clear();
            thread.signposts.clear();
            thread.maps.clear();
        }
        for cpu in self.cpus.values_mut() {
            // The last one says what runs.
            let last = cpu.switches.pop();
            cpu.switches.clear();
            cpu.switches.extend(last);
            cpu.interrupts.clear();
            cpu.breaks.clear();
        }
        self.wakeups.clear();
        self.kept_bytes = 0;
    }

    /// Records that were kept, in bytes of memory.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }

    fn begin_thread(&mut self, thread: Building) {
        self.by_id.insert(thread.thread.id, self.threads.len());
        self.threads.push(thread);
    }

    pub(crate) fn event(&mut self, event: &Event) {
        let Event { at_ns, cpu, what } = *event;
        self.kept_bytes += most_kept_bytes(&what);
        if let What::Asleep { thread, call, uninterruptible } = what {
            let blocked = State::Blocked { call, uninterruptible };
            return self.asleep(at_ns, thread, blocked);
        }
        if let What::Stack { thread, stack } = what {
            if let Some(&at) = self.by_id.get(&thread) {
                self.threads[at].leaves_with(stack);
            }
            return;
        }
        // Who is traced has been announced by then, unless it has ended.
        if let What::Fork { parent: id, .. }
        | What::Name { thread: id, .. }
        | What::Exec { thread: id }
        | What::Enter { thread: id, .. }
        | What::Return { thread: id, .. }
        | What::Fault { thread: id, .. }
        | What::Served { thread: id, .. }
        | What::Major { thread: id } = what
            && self.settings.tasks_of_all
            && !self.is_traced(id)
        {
            return;
        }
        match what {
            What::Asleep { .. } | What::Stack { .. } => {}
            What::Switch { out, state, into } => self.switch(at_ns, cpu, out, state, into),
            What::Waking { thread, by } => self.waking(at_ns, cpu, thread, by),
            What::OwnSwitch { thread, out, ready } => {
                self.own_switch(at_ns, cpu, thread, out, ready);
            }
            What::Enter { thread, number, arguments } => {
                self.settings.calls |= self.settings.all_threads;
                let thread = self.running_thread(at_ns, cpu, thread);
                thread.may_return = false;
                thread.goes_on();
                let before = thread.call.replace(Call {
                    from_ns: at_ns,
                    to_ns: at_ns,
                    number,
                    arguments,
                    returned: None,
                });
                // Some events begin to record before others.
                let missing = before.is_some_and(|call| call.from_ns >= self.settings.from_ns);
                self.losses.unpaired_calls += u64::from(missing);
            }
            What::Return { thread, returned } => {
                let thread = self.running_thread(at_ns, cpu, thread);
                let expected = std::mem::take(&mut thread.may_return);
                thread.goes_on();
                match thread.call.take() {
                    Some(call) => thread.thread.calls.push(Call {
                        to_ns: at_ns,
                        returned: Some(returned),
                        ..call
                    }),
                    None => {
                        let missing = !expected && at_ns >= self.settings.from_ns;
                        self.losses.unpaired_calls += u64::from(missing);
                    }
                }
            }
            What::Fault { thread, address, access } => self
                .running_thread(at_ns, cpu, thread)
                .faults(PageFault { at_ns, address, access, served: None }),
            What::Served { thread, address, major } => {
                self.running_thread(at_ns, cpu, thread).served(at_ns, address, major);
            }
            What::Major { thread } => self.running_thread(at_ns, cpu, thread).is_major = true,
            // Other programs may pass it, too.
            What::Probe { thread, .. } if !self.is_traced(thread) => {}
            What::Probe { thread, name } => {
                let passed = Signpost { from_ns: at_ns, to_ns: None, name };
                self.running_thread(at_ns, cpu, thread).thread.signposts.push(passed);
            }
            What::Map { thread, address, bytes } => self
                .running_thread(at_ns, cpu, thread)
                .thread
                .maps
                .push(Mapped { at_ns, address, bytes }),
            What::Fork { process, thread, parent } => self.fork(at_ns, process, thread, parent),
            What::Exit { thread } => self.exit(at_ns, thread),
            What::Name { process, thread, name, exec } => {
                // Another thread may write it, but for that of an exec.
                if exec {
                    self.running_thread(at_ns, cpu, thread);
                }
                let named = self.known(at_ns, thread);
                named.thread.process = process.unwrap_or(named.thread.process);
                named.thread.name = text_of(&name);
                if exec {
                    self.executed(at_ns, thread);
                }
            }
            What::Exec { thread } => {
                self.running_thread(at_ns, cpu, thread);
                self.executed(at_ns, thread);
            }
            What::Interrupt(kind) => {
                let processor = self.cpus.entry(cpu).or_default();
                processor.interrupts.push(Interrupt { at_ns, kind });
            }
            What::Lost(records) => self.loss(at_ns, cpu, records),
        }
        let cpu = self.cpus.entry(cpu).or_default();
        cpu.last_event_ns = at_ns;
    }

    /// A thread's program begins; with that of a root, the trace.
    fn executed(&mut self, at_ns: u64, id: u32) {
        let process = self.known(at_ns, id).thread.process;
        if self.settings.roots.contains(&(process, id)) {
            self.exec_ns.get_or_insert(at_ns);
        }
    }

    /// Without an event before, it slept from the beginning on.
    fn asleep(&mut self, at_ns: u64, id: u32, blocked: State) {
        let thread = self.known(at_ns, id);
        if !thread.is_told {
            thread.state = blocked;
        }
    }

    /// A traced thread; one that no record announced begins here.
    fn known(&mut self, at_ns: u64, id: u32) -> &mut Building {
        let place = self.place(at_ns, id);
        &mut self.threads[place]
    }

    /// The place of such a thread.
    fn place(&mut self, at_ns: u64, id: u32) -> usize {
        if let Some(&place) = self.by_id.get(&id) {
            return place;
        }
        self.begin_thread(Building::new(0, id, at_ns, State::Unknown));
        self.threads.len() - 1
    }

    /// A traced thread of which an event says that it is running.
    fn running_thread(&mut self, at_ns: u64, cpu: u32, id: u32) -> &mut Building {
        let place = self.place(at_ns, id);
        let on = self.threads[place].state == State::Running(cpu);
        let lost = self.losses.records > 0 && self.lost_since(place).is_some();
        if !on || lost {
            self.switched_in(at_ns, cpu, place);
        }
        let thread = &mut self.threads[place];
        // Since it was woken, it has gone on.
        thread.woken_ns = None;
        thread
    }

    /// When records were first lost that could have changed a thread's state.
    fn lost_since(&self, place: usize) -> Option<u64> {
        if self.lost.stretches().is_empty() {
            return None;
        }
        let thread = &self.threads[place];
        match thread.state {
            State::Running(cpu) => self.cpus.get(&cpu)?.lost.first_after(thread.since_ns),
            _ => self.lost.first_after(thread.since_ns),
        }
    }

    fn is_on(&self, id: u32, cpu: u32) -> bool {
        let thread = self.by_id.get(&id).map(|&at| &self.threads[at]);
        thread.is_some_and(|thread| thread.state == State::Running(cpu))
    }

    pub(crate) fn finish(mut self, to_ns: u64) -> Timeline {
        for at in 0..self.threads.len() {
            let id = self.threads[at].thread.id;
            if self.by_id.get(&id) != Some(&at) {
                continue;
            }
            let lost = self.lost_since(at);
            let thread = &mut self.threads[at];
            let ended = thread.exit_ns.map(|at_ns| at_ns.max(thread.since_ns));
            thread.end_thread(ended.unwrap_or(to_ns).max(thread.since_ns), lost);
            thread.thread.ended = ended.is_some();
        }
        // With the first program, unless that is long ago.
        let shown_from_ns = self.settings.shown_from_ns;
        let from_ns = shown_from_ns.or(self.exec_ns);
        let began_ns = from_ns.unwrap_or(self.settings.from_ns).min(to_ns);
        let window = Window { began_ns, to_ns };
        let threads = self.threads.into_iter().map(|building| building.thread);
        // None that had ended by then.
        let is_shown = |t: &Thread| shown_from_ns.is_none_or(|from| !t.ended || t.to_ns > from);
        let threads = threads.filter(is_shown).map(|thread| window.thread(thread));
        let cpus = self.cpus.into_iter().map(|(id, cpu)| window.cpu(id, cpu));
        let (began, ended) = (began_ns, to_ns);
        let within = |at_ns: u64| (began..=ended).contains(&at_ns);
        let wakeups = self.wakeups.into_iter().filter(|w| within(w.at_ns));
        Timeline {
            began_ns,
            threads: threads.collect(),
            cpus: if self.settings.scheduler { cpus.collect() } else { Vec::new() },
            wakeups: wakeups
                .map(|wakeup| Wakeup { at_ns: wakeup.at_ns - began_ns, ..wakeup })
                .collect(),
            losses: self.losses,
        }
    }
}
