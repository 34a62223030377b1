//! A thread as far as its events say.

use super::{IDLE, TimelineSettings};
use crate::lost::push;
use model::trace::stacks::Left;
use model::trace::{Access, Call, PageFault, ServedFault, State, StateKind, Thread};

/// A thread as far as its events say.
pub(super) struct Building {
    pub(super) thread: Thread,
    pub(super) state: State,
    pub(super) since_ns: u64,
    /// Woken at this time, before it was switched out.
    pub(super) woken_ns: Option<u64>,
    pub(super) call: Option<Call>,
    /// A page fault that is being served.
    fault: Option<PageFault>,
    /// The kernel waits for a device to serve it.
    pub(super) is_major: bool,
    /// The first return may be of a call that began before the recording.
    pub(super) may_return: bool,
    pub(super) exit_ns: Option<u64>,
    /// When it left its CPU, unless its stack then is known or it runs.
    left_ns: Option<u64>,
    /// The stack with which it is about to leave.
    pub(super) leaving: Option<u32>,
    /// It has an event.
    pub(super) is_told: bool,
}

impl Building {
    pub(super) fn new(process: u32, id: u32, from_ns: u64, state: State) -> Building {
        Building {
            thread: Thread { id, process, from_ns, to_ns: from_ns, ..Thread::default() },
            state,
            since_ns: from_ns,
            woken_ns: None,
            call: None,
            fault: None,
            is_major: false,
            may_return: true,
            exit_ns: None,
            left_ns: None,
            leaving: None,
            is_told: false,
        }
    }

    /// Ends the state, as `was` turned out to have been, and begins another.
    /// From a loss on that could have hidden a change, it is lost.
    pub(super) fn change(&mut self, at_ns: u64, was: State, becomes: State, lost: Option<u64>) {
        let known_to = lost.unwrap_or(at_ns).clamp(self.since_ns.min(at_ns), at_ns);
        let segments = &mut self.thread.segments;
        push(segments, self.since_ns, known_to, was);
        push(segments, known_to, at_ns, State::Lost);
        let is_off = |state: State| {
            !matches!(state.kind(), StateKind::Running | StateKind::Lost | StateKind::Unknown)
        };
        let leaves = is_off(becomes) && !is_off(was);
        if leaves || !is_off(becomes) {
            self.left_ns = leaves.then_some(at_ns);
        }
        self.state = becomes;
        self.since_ns = self.since_ns.max(at_ns);
        if let Some(stack) = self.leaving.take().filter(|_| leaves) {
            self.leaves_with(stack);
        }
        self.woken_ns = None;
        self.is_told = true;
    }

    /// Its stack when it leaves its CPU: just now, or right after this.
    pub(super) fn leaves_with(&mut self, stack: u32) {
        match self.left_ns.take() {
            Some(at_ns) => self.thread.left.push(Left { at_ns, stack }),
            None => self.leaving = Some(stack),
        }
    }

    /// One begins. That before has no end: the memory was not there, or its record is lost.
    pub(super) fn faults(&mut self, fault: PageFault) {
        self.goes_on();
        self.fault = Some(fault);
    }

    /// It does something else: what fault there was has no end.
    pub(super) fn goes_on(&mut self) {
        self.thread.faults.extend(self.fault.take());
        self.is_major = false;
    }

    /// The kernel has served one; of which no begin is recorded, that is all that is known.
    pub(super) fn served(&mut self, at_ns: u64, address: Option<u64>, major: bool) {
        /// The least that processors have.
        const PAGE: u64 = 4096;
        let major = major || std::mem::take(&mut self.is_major);
        let Some(address) = address.or(self.fault.map(|fault| fault.address)) else {
            return;
        };
        let fault = match self.fault.take() {
            Some(fault) if fault.address / PAGE == address / PAGE => {
                PageFault { served: Some(ServedFault { to_ns: at_ns, major }), ..fault }
            }
            other => {
                self.thread.faults.extend(other);
                PageFault { at_ns, address, access: Access::Unknown, served: None }
            }
        };
        self.thread.faults.push(fault);
    }

    pub(super) fn end_thread(&mut self, at_ns: u64, lost: Option<u64>) {
        self.change(at_ns, self.state, State::Unknown, lost);
        if let Some(call) = self.call.take() {
            self.thread.calls.push(Call { to_ns: at_ns.max(call.from_ns), ..call });
        }
        self.goes_on();
        self.thread.to_ns = at_ns.max(self.thread.from_ns);
    }
}

/// The state in which the kernel says that a thread was switched out; `None` of
/// one that ended.
pub(crate) fn kernel_state(
    state: u32,
    into: u32,
    call: Option<u32>,
    settings: &TimelineSettings,
) -> Option<State> {
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
        bits => State::Blocked { call, uninterruptible: bits & UNINTERRUPTIBLE != 0 },
    })
}
