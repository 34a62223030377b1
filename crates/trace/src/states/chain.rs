//! The chain of switches on each CPU, and its test.

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

impl Builder {
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
        let places = [out, into].map(|id| match self.settings.all_threads && id != IDLE {
            true => Some(self.place(at_ns, id)),
            false => self.by_id.get(&id).copied(),
        });
        if let Some(place) = places[0] {
            self.switched_out(at_ns, cpu, place, state, into);
        }
        // Unless it has just ended.
        if let Some(place) = places[1].filter(|_| into != out || self.by_id.contains_key(&into)) {
            self.switched_in(at_ns, cpu, place);
        }
    }

    /// All of a thread's state so far is lost, and what comes is unknown.
    fn becomes_lost(&mut self, at_ns: u64, id: u32) {
        if let Some(&at) = self.by_id.get(&id) {
            self.threads[at].change(at_ns, State::Lost, State::Lost, None);
        }
    }

    fn switched_out(&mut self, at_ns: u64, cpu: u32, at: usize, state: u32, into: u32) {
        let lost = self.lost_since(at);
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
        let becomes = kernel_state(state, into, call, &self.settings);
        let woken_ns = thread.woken_ns;
        thread.change(at_ns, was, becomes.unwrap_or(State::Unknown), lost);
        thread.woken_ns = woken_ns;
        if becomes.is_none() {
            self.ended(at_ns, at);
        }
    }

    pub(super) fn switched_in(&mut self, at_ns: u64, cpu: u32, place: usize) {
        let lost = self.lost_since(place);
        let thread = &mut self.threads[place];
        let woken_ns = thread.woken_ns;
        let was_off = matches!(thread.state, State::Blocked { .. } | State::Stopped);
        self.losses.wakeups += u64::from(was_off && woken_ns.is_none() && lost.is_none());
        if let (State::Unknown, Some(woken_ns), None) = (thread.state, woken_ns, lost) {
            // No switch out was recorded since: it was off its CPU when it was woken.
            thread.change(woken_ns, State::Unknown, State::Runnable, None);
        }
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

    /// The kernel's record of the thread itself, where `sched_switch` is not recorded.
    pub(super) fn own_switch(&mut self, at_ns: u64, cpu: u32, id: u32, out: bool, ready: bool) {
        let place = self.place(at_ns, id);
        let state = self.threads[place].state;
        let on = state == State::Running(cpu);
        let unknown = matches!(state, State::Unknown | State::Lost);
        if out != on && !(out && unknown) {
            return;
        }
        if !out {
            return self.switched_in(at_ns, cpu, place);
        }
        let lost = self.lost_since(place);
        let thread = &mut self.threads[place];
        let becomes = match ready {
            true => State::PreemptedOrYielded,
            false => State::BlockedOrRunnable,
        };
        thread.change(at_ns, thread.state, becomes, lost);
    }

    pub(super) fn loss(&mut self, at_ns: u64, cpu: u32, records: u64) {
        self.losses.records = self.losses.records.saturating_add(records);
        let processor = self.cpus.entry(cpu).or_default();
        let from_ns = processor.last_event_ns;
        processor.current = None;
        processor.lost.add_loss(from_ns, at_ns);
        self.lost.add_loss(from_ns, at_ns);
    }
}
