//! How the many small values of a trace stand in its document: as lists of
//! numbers, not as objects.

use super::memory::HeapTuple;
use super::state::SegmentTuple;
use super::{
    Access, Call, HeapCall, MemoryOperation, PageFault, Segment, ServedFault, Signpost, State,
    Switch, Wakeup,
};
use serde::{Deserialize, Serialize};

/// Begin, length, number, arguments, what it returned.
pub(super) type CallTuple = (u64, u64, u32, [u64; 3], Option<i64>);
/// A page fault.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum FaultList {
    /// Begin, address, code of the access, length, whether it was a major one.
    Served(u64, u64, u8, u64, bool),
    /// When, address, code of the access: all that is recorded.
    Moment(u64, u64, u8),
}
/// Begin, length (none: a moment), name.
pub(super) type SignpostTuple = (u64, Option<u64>, u32);
/// When, thread, by, CPU.
pub(super) type WakeupTuple = (u64, u32, Option<u32>, u32);
/// When, out, state, into.
pub(super) type SwitchTuple = (u64, u32, u32, u32);

/// A document holds an operation on memory that this version does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no operation on memory has the code {0}")]
pub struct UnknownMemoryOperation(u8);

impl From<HeapCall> for HeapTuple {
    fn from(call: HeapCall) -> HeapTuple {
        let code = MemoryOperation::OF_HEAP.iter().position(|&one| one == call.operation);
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
        let duration_ns = call.to_ns.map(|to_ns| to_ns.saturating_sub(call.from_ns));
        (call.from_ns, duration_ns, code, call.bytes)
    }
}

impl TryFrom<HeapTuple> for HeapCall {
    type Error = UnknownMemoryOperation;

    fn try_from(
        (from_ns, duration_ns, code, bytes): HeapTuple,
    ) -> Result<HeapCall, UnknownMemoryOperation> {
        let operation = MemoryOperation::OF_HEAP.get(usize::from(code)).copied();
        Ok(HeapCall {
            from_ns,
            to_ns: duration_ns.map(|ns| from_ns.saturating_add(ns)),
            operation: operation.ok_or(UnknownMemoryOperation(code))?,
            bytes,
        })
    }
}

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

impl From<PageFault> for FaultList {
    fn from(PageFault { at_ns, address, access, served }: PageFault) -> FaultList {
        let code = ACCESSES.iter().position(|&known| known == access).unwrap_or(0) as u8;
        match served {
            Some(ServedFault { to_ns, major }) => {
                FaultList::Served(at_ns, address, code, to_ns.saturating_sub(at_ns), major)
            }
            None => FaultList::Moment(at_ns, address, code),
        }
    }
}

impl From<FaultList> for PageFault {
    fn from(list: FaultList) -> PageFault {
        let access = |code: u8| ACCESSES.get(usize::from(code)).copied().unwrap_or(Access::Unknown);
        match list {
            FaultList::Moment(at_ns, address, code) => {
                PageFault { at_ns, address, access: access(code), served: None }
            }
            FaultList::Served(at_ns, address, code, duration_ns, major) => PageFault {
                at_ns,
                address,
                access: access(code),
                served: Some(ServedFault { to_ns: at_ns.saturating_add(duration_ns), major }),
            },
        }
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
            for served in [None, Some(ServedFault { to_ns: 9, major: true })] {
                let fault = PageFault { at_ns: 1, address: 4096, access, served };
                let json = serde_json::to_string(&fault).expect("JSON");
                assert_eq!(serde_json::from_str::<PageFault>(&json).expect("JSON"), fault);
            }
        }
        // As traces had them before they had ends.
        let older: PageFault = serde_json::from_str("[1,4096,1]").expect("JSON");
        assert_eq!((older.access, older.served), (Access::Write, None));
    }
}
