//! From events to the states of each thread.
//!
//! Two sources say when a traced thread got or left a CPU: `sched_switch` of
//! all threads, which also says why and for whom, and the kernel's records of
//! the traced threads themselves. The first has holes that no record of a loss
//! announces. Therefore the chain is tested: the thread switched in by one
//! switch must be the one switched out by the next on that CPU. A break is
//! repaired by the second source, else the state is lost; it is never bridged.

use crate::event::{Event, What, text_of};
use crate::lost::{Lost, push};
use model::trace::{Call, Cpu, Fault, Losses, Mapped, State, Switch, Thread, Wakeup};
use std::collections::{BTreeMap, HashMap};

/// The idle task of each CPU.
const IDLE: u32 = 0;

/// What is known of a recording beside its events.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Threads that were there at the beginning: process and number.
    pub roots: Vec<(u32, u32)>,
    /// When recording began.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// `sched_switch` and wake-ups of all threads are recorded.
    pub scheduler: bool,
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
    /// The threads.
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

/// A CPU as far as its events say.
#[derive(Default)]
struct Processor {
    /// The thread that runs, if a switch said so.
    current: Option<u32>,
    last_switch_ns: u64,
    last_event_ns: u64,
    switches: Vec<Switch>,
    lost: Lost,
    /// Breaks of the chain.
    breaks: Vec<(u64, u64)>,
}

/// A thread as far as its events say.
struct Building {
    thread: Thread,
    state: State,
    since_ns: u64,
    /// Woken at this time, before it was switched out.
    woken_ns: Option<u64>,
    call: Option<Call>,
    /// The first return may be of a call that began before the recording.
    may_return: bool,
    exit_ns: Option<u64>,
    /// It has an event.
    is_told: bool,
}

impl Building {
    fn new(process: u32, id: u32, from_ns: u64, state: State) -> Building {
        Building {
            thread: Thread {
                id,
                process,
                from_ns,
                to_ns: from_ns,
                ..Thread::default()
            },
            state,
            since_ns: from_ns,
            woken_ns: None,
            call: None,
            may_return: true,
            exit_ns: None,
            is_told: false,
        }
    }

    /// Ends the state, as `was` turned out to have been, and begins another.
    /// From a loss on that could have hidden a change, it is lost.
    fn change(&mut self, at_ns: u64, was: State, becomes: State, lost: Option<u64>) {
        let known_to = lost.unwrap_or(at_ns).clamp(self.since_ns.min(at_ns), at_ns);
        let segments = &mut self.thread.segments;
        push(segments, self.since_ns, known_to, was);
        push(segments, known_to, at_ns, State::Lost);
        self.state = becomes;
        self.since_ns = self.since_ns.max(at_ns);
        self.woken_ns = None;
        self.is_told = true;
    }

    fn end(&mut self, at_ns: u64, lost: Option<u64>) {
        self.change(at_ns, self.state, State::Unknown, lost);
        if let Some(call) = self.call.take() {
            self.thread.calls.push(Call {
                to_ns: at_ns.max(call.from_ns),
                ..call
            });
        }
        self.thread.to_ns = at_ns.max(self.thread.from_ns);
    }
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
        if let What::Asleep {
            thread,
            call,
            uninterruptible,
        } = what
        {
            let blocked = State::Blocked {
                call,
                uninterruptible,
            };
            return self.asleep(at_ns, thread, blocked);
        }
        match what {
            What::Asleep { .. } => {}
            What::Switch { out, state, into } => self.switch(at_ns, cpu, out, state, into),
            What::Waking { thread, by } => self.waking(at_ns, cpu, thread, by),
            What::OwnSwitch { thread, out, ready } => {
                self.own_switch(at_ns, cpu, thread, out, ready);
            }
            What::Enter {
                thread,
                number,
                arguments,
            } => {
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
            What::Fault {
                thread,
                address,
                access,
            } => self.runs(at_ns, cpu, thread).thread.faults.push(Fault {
                at_ns,
                address,
                access,
            }),
            What::Map {
                thread,
                address,
                bytes,
            } => self.runs(at_ns, cpu, thread).thread.maps.push(Mapped {
                at_ns,
                address,
                bytes,
            }),
            What::Fork {
                process,
                thread,
                parent,
            } => self.fork(at_ns, process, thread, parent),
            What::Exit { thread } => self.exit(at_ns, thread),
            What::Name {
                process,
                thread,
                name,
                exec,
            } => {
                // Another thread may write it.
                let named = self.known(at_ns, thread);
                named.thread.process = process;
                named.thread.name = text_of(&name);
                if exec && self.settings.roots.contains(&(process, thread)) {
                    self.exec_ns.get_or_insert(at_ns);
                }
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

    fn switch(&mut self, at_ns: u64, cpu: u32, out: u32, state: u32, into: u32) {
        let processor = self.cpus.entry(cpu).or_default();
        processor.switches.push(Switch {
            at_ns,
            out,
            state,
            into,
        });
        let before = processor.current.replace(into);
        let since_ns = std::mem::replace(&mut processor.last_switch_ns, at_ns);
        if let Some(expected) = before.filter(|&expected| expected != out) {
            processor.breaks.push((since_ns, at_ns));
            self.losses.breaks += 1;
            // When it left is not known.
            let left = self.is_on(expected, cpu);
            if left {
                self.becomes_lost(at_ns, expected);
            }
            let came = self.by_id.contains_key(&out) && !self.is_on(out, cpu);
            self.losses.repaired += u64::from(!left && !came);
        }
        if let Some(&at) = self.by_id.get(&out) {
            self.switched_out(at_ns, cpu, at, state, into);
        }
        if self.by_id.contains_key(&into) {
            self.switched_in(at_ns, cpu, into);
        }
    }

    /// All of a thread's state so far is lost, and what comes is unknown.
    fn becomes_lost(&mut self, at_ns: u64, id: u32) {
        if let Some(&at) = self.by_id.get(&id) {
            self.threads[at].change(at_ns, State::Lost, State::Lost, None);
        }
    }

    fn switched_out(&mut self, at_ns: u64, cpu: u32, at: usize, state: u32, into: u32) {
        let lost = self.lost_since(self.threads[at].thread.id);
        let thread = &mut self.threads[at];
        // Where it was not seen to run, it came at an unknown time.
        let was = match thread.state {
            State::Running(on) if on == cpu => thread.state,
            State::Unknown => State::Unknown,
            _ => State::Lost,
        };
        let call = thread.call.map(|call| call.number);
        let becomes = kernel_state(state, into, call, self.settings);
        let woken_ns = thread.woken_ns;
        thread.change(at_ns, was, becomes.unwrap_or(State::Unknown), lost);
        thread.woken_ns = woken_ns;
        if becomes.is_none() {
            self.ended(at_ns, at);
        }
    }

    fn ended(&mut self, at_ns: u64, at: usize) {
        let thread = &mut self.threads[at];
        thread.end(at_ns, None);
        thread.thread.ended = true;
        self.by_id.remove(&thread.thread.id);
    }

    fn switched_in(&mut self, at_ns: u64, cpu: u32, id: u32) {
        let lost = self.lost_since(id);
        let woken_ns = self.known(at_ns, id).woken_ns;
        let thread = self.known(at_ns, id);
        let was = match thread.state {
            // It had left the other CPU before, at an unknown time.
            State::Running(on) if on != cpu => State::Lost,
            // Woken just before it left its CPU, it was never blocked.
            State::Blocked { .. } if woken_ns.is_some() => State::Runnable,
            State::Blocked { .. } | State::Stopped => State::BlockedOrRunnable,
            state => state,
        };
        thread.change(at_ns, was, State::Running(cpu), lost);
    }

    fn waking(&mut self, at_ns: u64, cpu: u32, id: u32, by: Option<u32>) {
        if !self.by_id.contains_key(&id) {
            return;
        }
        self.wakeups.push(Wakeup {
            at_ns,
            thread: id,
            by,
            cpu,
        });
        let lost = self.lost_since(id);
        let thread = self.known(at_ns, id);
        match thread.state {
            State::Blocked { .. } | State::Stopped => {
                thread.change(at_ns, thread.state, State::Runnable, lost);
            }
            // Its own record says that it left its CPU blocked.
            State::BlockedOrRunnable => {
                let blocked = State::Blocked {
                    call: thread.call.map(|call| call.number),
                    uninterruptible: false,
                };
                thread.change(at_ns, blocked, State::Runnable, lost);
            }
            // It may be about to leave its CPU.
            State::Running(_) => thread.woken_ns = Some(at_ns),
            _ => thread.is_told = true,
        }
    }

    /// The second source: confirms `sched_switch`, or stands in for it.
    fn own_switch(&mut self, at_ns: u64, cpu: u32, id: u32, out: bool, ready: bool) {
        let state = self.known(at_ns, id).state;
        let on = state == State::Running(cpu);
        let unknown = matches!(state, State::Unknown | State::Lost);
        if out != on && !(out && unknown) {
            return;
        }
        if self.settings.scheduler && out == on {
            self.missing_switch(at_ns, cpu, id, out);
        }
        if !out {
            return self.switched_in(at_ns, cpu, id);
        }
        let lost = self.lost_since(id);
        let thread = self.known(at_ns, id);
        let becomes = match ready {
            true => State::PreemptedOrYielded,
            false => State::BlockedOrRunnable,
        };
        thread.change(at_ns, thread.state, becomes, lost);
    }

    /// A switch that the thread's own record tells of, and the chain lacks.
    fn missing_switch(&mut self, at_ns: u64, cpu: u32, id: u32, out: bool) {
        let processor = self.cpus.entry(cpu).or_default();
        let since_ns = std::mem::replace(&mut processor.last_switch_ns, at_ns);
        let into = (!out).then_some(id);
        // After a switch out that is missing, the one in is of the same break.
        let Some(before) = std::mem::replace(&mut processor.current, into) else {
            return;
        };
        self.losses.breaks += 1;
        self.losses.repaired += 1;
        match into {
            // The idle task has no other state.
            Some(into) if before == IDLE => processor.switches.push(Switch {
                at_ns,
                out: IDLE,
                state: 0,
                into,
            }),
            _ => processor.breaks.push((since_ns, at_ns)),
        }
    }

    fn fork(&mut self, at_ns: u64, process: u32, id: u32, parent: u32) {
        if let Some(&at) = self.by_id.get(&id) {
            let known = &self.threads[at].thread;
            if known.segments.is_empty() && known.created_by.is_none() {
                // Its first event was recorded on another CPU.
                self.threads[at].thread.process = process;
                self.threads[at].thread.created_by = Some(parent);
                return;
            }
            // The number is used again.
            self.ended(at_ns, at);
        }
        // What is new is ready to run.
        let mut thread = Building::new(process, id, at_ns, State::Runnable);
        thread.thread.created_by = Some(parent);
        let name = self
            .by_id
            .get(&parent)
            .map(|&at| &self.threads[at].thread.name);
        thread.thread.name = name.cloned().unwrap_or_default();
        self.begin(thread);
    }

    fn exit(&mut self, at_ns: u64, id: u32) {
        let Some(&at) = self.by_id.get(&id) else {
            return;
        };
        match self.settings.scheduler {
            // The last switch is still to come.
            true => self.threads[at].exit_ns = Some(at_ns),
            false => self.ended(at_ns, at),
        }
    }

    fn loss(&mut self, at_ns: u64, cpu: u32, records: u64) {
        self.losses.records = self.losses.records.saturating_add(records);
        let processor = self.cpus.entry(cpu).or_default();
        let from_ns = processor.last_event_ns;
        processor.current = None;
        processor.lost.add(from_ns, at_ns);
        self.lost.add(from_ns, at_ns);
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
        let began_ns = self.exec_ns.unwrap_or(self.settings.from_ns).min(to_ns);
        let window = Window { began_ns, to_ns };
        let threads = self.threads.into_iter().map(|t| window.thread(t.thread));
        let cpus = self.cpus.into_iter().map(|(id, cpu)| window.cpu(id, cpu));
        let (began, ended) = (began_ns, to_ns);
        let within = |at_ns: u64| (began..=ended).contains(&at_ns);
        let wakeups = self.wakeups.into_iter().filter(|w| within(w.at_ns));
        Timeline {
            began_ns,
            threads: threads.collect(),
            cpus: match self.settings.scheduler {
                true => cpus.collect(),
                false => Vec::new(),
            },
            wakeups: wakeups
                .map(|wakeup| Wakeup {
                    at_ns: wakeup.at_ns - began_ns,
                    ..wakeup
                })
                .collect(),
            losses: self.losses,
        }
    }
}

/// The state in which the kernel says that a thread was switched out; `None` of
/// one that ended.
fn kernel_state(state: u32, into: u32, call: Option<u32>, settings: &Settings) -> Option<State> {
    const UNINTERRUPTIBLE: u32 = 0x02;
    const STOPPED_OR_TRACED: u32 = 0x04 | 0x08;
    const DEAD_OR_ZOMBIE: u32 = 0x10 | 0x20;
    const IN_KERNEL: u32 = 0x100;
    Some(match state & 0xff {
        0 if state & IN_KERNEL != 0 || into == IDLE => State::Preempted(into),
        0 if !settings.calls => State::PreemptedOrYielded,
        0 if call.is_some() && call == settings.yield_call => State::Yielded,
        0 => State::Preempted(into),
        bits if bits & DEAD_OR_ZOMBIE != 0 => return None,
        bits if bits & STOPPED_OR_TRACED != 0 => State::Stopped,
        bits => State::Blocked {
            call,
            uninterruptible: bits & UNINTERRUPTIBLE != 0,
        },
    })
}

/// The stretch that the trace covers. Times become those since its beginning.
#[derive(Clone, Copy)]
struct Window {
    began_ns: u64,
    to_ns: u64,
}

impl Window {
    fn clip(self, from_ns: u64, to_ns: u64) -> (u64, u64) {
        let [from, to] = [from_ns, to_ns].map(|at| at.clamp(self.began_ns, self.to_ns));
        (from - self.began_ns, to - self.began_ns)
    }

    fn thread(self, mut thread: Thread) -> Thread {
        (thread.from_ns, thread.to_ns) = self.clip(thread.from_ns, thread.to_ns);
        thread.segments.retain_mut(|segment| {
            (segment.from_ns, segment.to_ns) = self.clip(segment.from_ns, segment.to_ns);
            segment.from_ns < segment.to_ns
        });
        let within = |at_ns: u64| (self.began_ns..=self.to_ns).contains(&at_ns);
        thread.calls.retain_mut(|call| {
            let kept = within(call.from_ns);
            (call.from_ns, call.to_ns) = self.clip(call.from_ns, call.to_ns);
            kept
        });
        thread.faults.retain_mut(|fault| {
            let kept = within(fault.at_ns);
            (fault.at_ns, _) = self.clip(fault.at_ns, fault.at_ns);
            kept
        });
        thread.maps.retain_mut(|map| {
            let kept = within(map.at_ns);
            (map.at_ns, _) = self.clip(map.at_ns, map.at_ns);
            kept
        });
        thread
    }

    fn cpu(self, id: u32, cpu: Processor) -> Cpu {
        let within = |at_ns: u64| (self.began_ns..=self.to_ns).contains(&at_ns);
        let switches = cpu.switches.into_iter().filter(|s| within(s.at_ns));
        let mut lost: Vec<(u64, u64)> = [cpu.breaks.as_slice(), cpu.lost.stretches()].concat();
        lost.sort_unstable();
        let lost = lost.into_iter().map(|(from, to)| self.clip(from, to));
        Cpu {
            id,
            switches: switches
                .map(|switch| Switch {
                    at_ns: switch.at_ns - self.began_ns,
                    ..switch
                })
                .collect(),
            lost: lost.filter(|(from, to)| from < to).collect(),
        }
    }
}
