//! The chain of switches on each CPU: its test, and its repair by the threads'
//! own records.

use super::thread::kernel_state;
use super::{Builder, IDLE};
use crate::lost::Lost;
use model::trace::{Interrupt, State, Switch};

/// A CPU as far as its events say.
#[derive(Default)]
pub(super) struct Processor {
    /// The thread that runs, if a switch said so.
    pub(super) current: Option<u32>,
    pub(super) last_switch_ns: u64,
    pub(super) last_event_ns: u64,
    pub(super) switches: Vec<Switch>,
    pub(super) interrupts: Vec<Interrupt>,
    pub(super) lost: Lost,
    /// Breaks of the chain.
    pub(super) breaks: Vec<(u64, u64)>,
}

impl Builder<'_> {
    pub(super) fn switch(&mut self, at_ns: u64, cpu: u32, out: u32, state: u32, into: u32) {
        let processor = self.cpus.entry(cpu).or_default();
        processor.switches.push(Switch { at_ns, out, state, into });
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
        // Its stack is recorded after this.
        thread.leaving = None;
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

    pub(super) fn switched_in(&mut self, at_ns: u64, cpu: u32, id: u32) {
        let lost = self.lost_since(id);
        let woken_ns = self.known(at_ns, id).woken_ns;
        let was_off = matches!(self.known(at_ns, id).state, State::Blocked { .. } | State::Stopped);
        self.losses.wakeups += u64::from(was_off && woken_ns.is_none() && lost.is_none());
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

    /// The second source: confirms `sched_switch`, or stands in for it.
    pub(super) fn own_switch(&mut self, at_ns: u64, cpu: u32, id: u32, out: bool, ready: bool) {
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
            Some(into) if before == IDLE => {
                processor.switches.push(Switch { at_ns, out: IDLE, state: 0, into })
            }
            _ => processor.breaks.push((since_ns, at_ns)),
        }
    }

    pub(super) fn loss(&mut self, at_ns: u64, cpu: u32, records: u64) {
        self.losses.records = self.losses.records.saturating_add(records);
        let processor = self.cpus.entry(cpu).or_default();
        let from_ns = processor.last_event_ns;
        processor.current = None;
        processor.lost.add(from_ns, at_ns);
        self.lost.add(from_ns, at_ns);
    }
}
