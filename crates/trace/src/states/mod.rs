//! From events to the states of each thread.
//!
//! Two sources say when a traced thread got or left a CPU: `sched_switch` of
//! all threads, which also says why and for whom, and the kernel's records of
//! the traced threads themselves. The first has holes that no record of a loss
//! announces. Therefore the chain is tested: the thread switched in by one
//! switch must be the one switched out by the next on that CPU. A break is
//! repaired by the second source, else the state is lost; it is never bridged.

mod chain;
mod stopped;
mod tasks;
mod thread;
mod waking;
mod window;

use crate::event::{Event, What, text_of};
use crate::lost::Lost;
use chain::Processor;
use model::trace::{Call, Cpu, Fault, Interrupt, Losses, Mapped, Signpost, State, Thread, Wakeup};
use std::collections::{BTreeMap, HashMap};
pub use stopped::stopped;
use thread::Building;
pub(crate) use thread::kernel_state;
use window::Window;

/// The idle task of each CPU.
const IDLE: u32 = 0;

/// What is known of a recording in addition to its events.
#[derive(Clone, Debug, Default)]
pub struct Settings {
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
pub fn timeline(events: &[Event], settings: &Settings) -> Timeline {
    let mut builder = Builder::new(settings);
    for event in events {
        builder.event(event);
    }
    builder.finish()
}

struct Builder<'a> {
    settings: &'a Settings,
    threads: Vec<Building>,
    /// The thread that has a number now.
    by_id: HashMap<u32, usize>,
    cpus: BTreeMap<u32, Processor>,
    /// Losses of any ring.
    lost: Lost,
    wakeups: Vec<Wakeup>,
    losses: Losses,
    /// When the root first executed a program.
    exec_ns: Option<u64>,
}

impl<'a> Builder<'a> {
    fn new(settings: &'a Settings) -> Builder<'a> {
        let mut builder = Builder {
            settings,
            threads: Vec::new(),
            by_id: HashMap::new(),
            cpus: BTreeMap::new(),
            lost: Lost::default(),
            wakeups: Vec::new(),
            losses: Losses::default(),
            exec_ns: None,
        };
        for &(process, id) in &settings.roots {
            builder.begin(Building::new(process, id, settings.from_ns, State::Unknown));
        }
        builder
    }

    fn begin(&mut self, thread: Building) {
        self.by_id.insert(thread.thread.id, self.threads.len());
        self.threads.push(thread);
    }

    fn event(&mut self, event: &Event) {
        let Event { at_ns, cpu, what } = *event;
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
        if let What::Fork { parent: id, .. } | What::Name { thread: id, .. } = what
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
                let thread = self.runs(at_ns, cpu, thread);
                thread.may_return = false;
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
                let thread = self.runs(at_ns, cpu, thread);
                let expected = std::mem::take(&mut thread.may_return);
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
            What::Fault { thread, address, access } => {
                self.runs(at_ns, cpu, thread).thread.faults.push(Fault { at_ns, address, access })
            }
            // Other programs may pass it, too.
            What::Probe { thread, .. } if !self.is_traced(thread) => {}
            What::Probe { thread, name } => {
                let passed = Signpost { from_ns: at_ns, to_ns: None, name };
                self.runs(at_ns, cpu, thread).thread.signposts.push(passed);
            }
            What::Map { thread, address, bytes } => {
                self.runs(at_ns, cpu, thread).thread.maps.push(Mapped { at_ns, address, bytes })
            }
            What::Fork { process, thread, parent } => self.fork(at_ns, process, thread, parent),
            What::Exit { thread } => self.exit(at_ns, thread),
            What::Name { process, thread, name, exec } => {
                // Another thread may write it, but for that of an exec.
                if exec {
                    self.runs(at_ns, cpu, thread);
                }
                let named = self.known(at_ns, thread);
                named.thread.process = process;
                named.thread.name = text_of(&name);
                if exec && self.settings.roots.contains(&(process, thread)) {
                    self.exec_ns.get_or_insert(at_ns);
                }
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

    /// Without an event before, it slept from the beginning on.
    fn asleep(&mut self, at_ns: u64, id: u32, blocked: State) {
        let thread = self.known(at_ns, id);
        if !thread.is_told {
            thread.state = blocked;
        }
    }

    /// A traced thread; one that no record announced begins here.
    fn known(&mut self, at_ns: u64, id: u32) -> &mut Building {
        let at = match self.by_id.get(&id) {
            Some(&at) => at,
            None => {
                self.begin(Building::new(0, id, at_ns, State::Unknown));
                self.threads.len() - 1
            }
        };
        &mut self.threads[at]
    }

    /// A traced thread of which an event says that it is running.
    fn runs(&mut self, at_ns: u64, cpu: u32, id: u32) -> &mut Building {
        let on = self.known(at_ns, id).state == State::Running(cpu);
        let lost = self.losses.records > 0 && self.lost_since(id).is_some();
        if !on || lost {
            self.switched_in(at_ns, cpu, id);
        }
        let thread = self.known(at_ns, id);
        // Since it was woken, it has gone on.
        thread.woken_ns = None;
        thread
    }

    /// When records were first lost that could have changed a thread's state.
    fn lost_since(&self, id: u32) -> Option<u64> {
        let thread = &self.threads[*self.by_id.get(&id)?];
        match thread.state {
            State::Running(cpu) => self.cpus.get(&cpu)?.lost.first_after(thread.since_ns),
            _ => self.lost.first_after(thread.since_ns),
        }
    }

    fn is_on(&self, id: u32, cpu: u32) -> bool {
        let thread = self.by_id.get(&id).map(|&at| &self.threads[at]);
        thread.is_some_and(|thread| thread.state == State::Running(cpu))
    }

    fn finish(mut self) -> Timeline {
        let to_ns = self.settings.to_ns;
        for at in 0..self.threads.len() {
            let id = self.threads[at].thread.id;
            if self.by_id.get(&id) != Some(&at) {
                continue;
            }
            let lost = self.lost_since(id);
            let thread = &mut self.threads[at];
            let ended = thread.exit_ns.map(|at_ns| at_ns.max(thread.since_ns));
            thread.end(ended.unwrap_or(to_ns).max(thread.since_ns), lost);
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
