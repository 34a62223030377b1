//! How the many small values of a trace stand in its document: as lists of
//! numbers, not as objects.

use super::state::SegmentTuple;
use super::{Access, Call, Fault, Segment, Signpost, State, Switch, Wakeup};

/// Begin, length, number, arguments, what it returned.
pub(super) type CallTuple = (u64, u64, u32, [u64; 3], Option<i64>);
/// When, address, code of the access.
pub(super) type FaultTuple = (u64, u64, u8);
/// Begin, length (none: a moment), name.
pub(super) type SignpostTuple = (u64, Option<u64>, u32);
/// When, thread, by, CPU.
pub(super) type WakeupTuple = (u64, u32, Option<u32>, u32);
/// When, out, state, into.
pub(super) type SwitchTuple = (u64, u32, u32, u32);

/// A document holds a state that this version does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no state of a thread has the code {0}")]
pub struct UnknownState(u8);

impl From<Segment> for SegmentTuple {
    fn from(segment: Segment) -> SegmentTuple {
        let (code, detail) = match segment.state {
            State::Running(cpu) => (0, cpu),
            State::Runnable => (1, 0),
            State::Preempted(by) => (2, by),
            State::Yielded => (3, 0),
            State::PreemptedOrYielded => (4, 0),
            State::Blocked { call, uninterruptible } => {
                (5 + u8::from(uninterruptible), call.map_or(0, |call| call.saturating_add(1)))
            }
            State::Stopped => (7, 0),
            State::BlockedOrRunnable => (8, 0),
            State::Lost => (9, 0),
            State::Unknown => (10, 0),
        };
        (segment.from_ns, segment.duration_ns(), code, detail)
    }
}

impl TryFrom<SegmentTuple> for Segment {
    type Error = UnknownState;

    fn try_from(
        (from_ns, duration_ns, code, detail): SegmentTuple,
    ) -> Result<Segment, UnknownState> {
        let state = match code {
            0 => State::Running(detail),
            1 => State::Runnable,
            2 => State::Preempted(detail),
            3 => State::Yielded,
            4 => State::PreemptedOrYielded,
            5 | 6 => State::Blocked { call: detail.checked_sub(1), uninterruptible: code == 6 },
            7 => State::Stopped,
            8 => State::BlockedOrRunnable,
            9 => State::Lost,
            10 => State::Unknown,
            code => return Err(UnknownState(code)),
        };
        Ok(Segment { from_ns, to_ns: from_ns.saturating_add(duration_ns), state })
    }
}

impl From<Call> for CallTuple {
    fn from(call: Call) -> CallTuple {
        let duration_ns = call.to_ns.saturating_sub(call.from_ns);
        (call.from_ns, duration_ns, call.number, call.arguments, call.returned)
    }
}

impl From<CallTuple> for Call {
    fn from((from_ns, duration_ns, number, arguments, returned): CallTuple) -> Call {
        Call { from_ns, to_ns: from_ns.saturating_add(duration_ns), number, arguments, returned }
    }
}

const ACCESSES: [Access; 4] = [Access::Read, Access::Write, Access::Execute, Access::Unknown];

impl From<Fault> for FaultTuple {
    fn from(fault: Fault) -> FaultTuple {
        let code = ACCESSES.iter().position(|&access| access == fault.access);
        (fault.at_ns, fault.address, code.unwrap_or(0) as u8)
    }
}

impl From<FaultTuple> for Fault {
    fn from((at_ns, address, code): FaultTuple) -> Fault {
        let access = ACCESSES.get(usize::from(code)).copied();
        Fault { at_ns, address, access: access.unwrap_or(Access::Unknown) }
    }
}

impl From<Signpost> for SignpostTuple {
    fn from(signpost: Signpost) -> SignpostTuple {
        let duration_ns = signpost.to_ns.map(|to_ns| to_ns.saturating_sub(signpost.from_ns));
        (signpost.from_ns, duration_ns, signpost.name)
    }
}

impl From<SignpostTuple> for Signpost {
    fn from((from_ns, duration_ns, name): SignpostTuple) -> Signpost {
        Signpost {
            from_ns,
            to_ns: duration_ns.map(|duration_ns| from_ns.saturating_add(duration_ns)),
            name,
        }
    }
}

impl From<Wakeup> for WakeupTuple {
    fn from(wakeup: Wakeup) -> WakeupTuple {
        (wakeup.at_ns, wakeup.thread, wakeup.by, wakeup.cpu)
    }
}

impl From<WakeupTuple> for Wakeup {
    fn from((at_ns, thread, by, cpu): WakeupTuple) -> Wakeup {
        Wakeup { at_ns, thread, by, cpu }
    }
}

impl From<Switch> for SwitchTuple {
    fn from(switch: Switch) -> SwitchTuple {
        (switch.at_ns, switch.out, switch.state, switch.into)
    }
}

impl From<SwitchTuple> for Switch {
    fn from((at_ns, out, state, into): SwitchTuple) -> Switch {
        Switch { at_ns, out, state, into }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_go_and_come() {
        let blocked = |call, uninterruptible| State::Blocked { call, uninterruptible };
        let states = [
            State::Running(7),
            State::Runnable,
            State::Preempted(42),
            State::Yielded,
            State::PreemptedOrYielded,
            blocked(None, false),
            blocked(Some(0), true),
            blocked(Some(202), false),
            State::Stopped,
            State::BlockedOrRunnable,
            State::Lost,
            State::Unknown,
        ];
        for state in states {
            let segment = Segment { from_ns: 5, to_ns: 12, state };
            let tuple = SegmentTuple::from(segment);
            assert_eq!(Segment::try_from(tuple), Ok(segment));
        }
        assert_eq!(Segment::try_from((0, 0, 11, 0)), Err(UnknownState(11)));
        // No time of a document from elsewhere overflows.
        let segment = Segment::try_from((u64::MAX, u64::MAX, 0, 0)).expect("known");
        assert_eq!(segment.duration_ns(), 0);
    }

    #[test]
    fn signposts_go_and_come() {
        for to_ns in [None, Some(7), Some(12)] {
            let signpost = Signpost { from_ns: 7, to_ns, name: 3 };
            assert_eq!(Signpost::from(SignpostTuple::from(signpost)), signpost);
        }
    }

    #[test]
    fn accesses_go_and_come() {
        for access in ACCESSES {
            let fault = Fault { at_ns: 1, address: 4096, access };
            assert_eq!(Fault::from(FaultTuple::from(fault)), fault);
        }
    }
}
