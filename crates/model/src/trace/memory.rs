//! What threads do with memory: page faults, the system calls that change what is mapped, and calls of the
//! allocator.

use super::{Access, Call, Thread, Trace};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

crate::words! {
    /// An operation on memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum MemoryOperation: name {
        /// A page fault, minor where that is known.
        Fault = "page fault",
        /// A page fault that waited for a device, or for another thread's fault of that page.
        MajorFault = "page fault, major",
        /// `mmap`, also that of 32 bits.
        Map = "mmap",
        /// `munmap`
        Unmap = "munmap",
        /// `mprotect`
        Protect = "mprotect",
        /// `madvise`
        Advise = "madvise",
        /// `mremap`
        Remap = "mremap",
        /// `brk`
        Break = "brk",
        /// A new mapping, where system calls are not recorded: those of `exec` are among them.
        Mapping = "new mapping",
        /// `malloc`
        Malloc = "malloc",
        /// `calloc`
        Calloc = "calloc",
        /// `realloc`
        Realloc = "realloc",
        /// `free`
        Free = "free",
        /// `aligned_alloc`, `posix_memalign` and `memalign`.
        AlignedAlloc = "aligned_alloc",
        /// `memset` with 0.
        Zeroing = "zeroing",
    }
}

/// Begin, length (none: not recorded), code of the operation, bytes.
pub(super) type HeapTuple = (u64, Option<u64>, u8, Option<u64>);

/// A call of the allocator, or one that zeroes memory, in a program that records them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "HeapTuple", into = "HeapTuple")]
pub struct HeapCall {
    /// When it began.
    pub from_ns: u64,
    /// When it ended; `None` where the trace or the thread did before.
    pub to_ns: Option<u64>,
    /// One of [`MemoryOperation::OF_HEAP`].
    pub operation: MemoryOperation,
    /// How much memory, of a call that succeeded; of `free` as the allocator says it.
    pub bytes: Option<u64>,
}

impl MemoryOperation {
    /// Those that a program records itself, by their codes in a document.
    pub const OF_HEAP: [MemoryOperation; 6] = [
        MemoryOperation::Malloc,
        MemoryOperation::Calloc,
        MemoryOperation::Realloc,
        MemoryOperation::Free,
        MemoryOperation::AlignedAlloc,
        MemoryOperation::Zeroing,
    ];

    /// The one that a system call of this name is.
    fn of_call(name: &str) -> Option<MemoryOperation> {
        match name {
            "mmap" | "mmap2" => Some(MemoryOperation::Map),
            "munmap" => Some(MemoryOperation::Unmap),
            "mprotect" | "pkey_mprotect" => Some(MemoryOperation::Protect),
            "madvise" => Some(MemoryOperation::Advise),
            "mremap" => Some(MemoryOperation::Remap),
            "brk" => Some(MemoryOperation::Break),
            _ => None,
        }
    }
}

/// An operation on memory in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySpan {
    /// Which.
    pub operation: MemoryOperation,
    /// When it began.
    pub from_ns: u64,
    /// When it ended; `None` where that is not recorded.
    pub to_ns: Option<u64>,
    /// How much memory, of a call that succeeded.
    pub bytes: Option<u64>,
    /// Where: of a call that failed what it asked for.
    pub address: u64,
    /// Of a page fault.
    pub access: Access,
}

impl Trace {
    /// The operations on memory of each of its threads, in the order of their begins.
    pub fn memory_spans(&self) -> impl Iterator<Item = (&Thread, Vec<MemorySpan>)> {
        let named = self.call_names.iter();
        let calls =
            named.filter_map(|(&number, name)| Some((number, MemoryOperation::of_call(name)?)));
        let calls: HashMap<u32, MemoryOperation> = calls.collect();
        self.threads.iter().map(move |thread| (thread, spans(thread, &calls)))
    }
}

fn spans(thread: &Thread, calls: &HashMap<u32, MemoryOperation>) -> Vec<MemorySpan> {
    let faults = thread.faults.iter().map(|fault| MemorySpan {
        operation: match fault.served {
            Some(served) if served.major => MemoryOperation::MajorFault,
            _ => MemoryOperation::Fault,
        },
        from_ns: fault.at_ns,
        to_ns: fault.served.map(|served| served.to_ns),
        bytes: None,
        address: fault.address,
        access: fault.access,
    });
    let of_calls = thread.calls.iter().filter_map(|call| {
        let operation = *calls.get(&call.number)?;
        let bytes = bytes_of(call, operation);
        let is_new = matches!(operation, MemoryOperation::Map | MemoryOperation::Remap);
        let address = call.returned.filter(|_| is_new && bytes.is_some());
        Some(MemorySpan {
            operation,
            from_ns: call.from_ns,
            to_ns: call.returned.map(|_| call.to_ns),
            bytes,
            address: address.map_or(call.arguments[0], i64::cast_unsigned),
            access: Access::Unknown,
        })
    });
    let mapped = thread.maps.iter().map(|map| MemorySpan {
        operation: MemoryOperation::Mapping,
        from_ns: map.at_ns,
        to_ns: None,
        bytes: Some(map.bytes),
        address: map.address,
        access: Access::Unknown,
    });
    let heap = thread.heap.iter().map(|call| MemorySpan {
        operation: call.operation,
        from_ns: call.from_ns,
        to_ns: call.to_ns,
        bytes: call.bytes,
        address: 0,
        access: Access::Unknown,
    });
    let mut spans: Vec<MemorySpan> = faults.chain(of_calls).chain(mapped).chain(heap).collect();
    spans.sort_by_key(|span| span.from_ns);
    spans
}

/// How much memory a call is about; `None` of one that failed, and of `brk`, which says no size.
fn bytes_of(call: &Call, operation: MemoryOperation) -> Option<u64> {
    /// The kernel's codes of errors are not below.
    const LEAST_ERROR: i64 = -4095;
    let succeeded = call.returned.is_some_and(|value| !(LEAST_ERROR..0).contains(&value));
    let at = match operation {
        MemoryOperation::Break => return None,
        // Its new size.
        MemoryOperation::Remap => 2,
        _ => 1,
    };
    succeeded.then(|| call.arguments[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Ended, Mapped, PageFault, ServedFault, Target, Tier};

    #[test]
    fn faults_calls_and_mappings_are_one_sequence() {
        let fault = |at_ns, served: Option<(u64, bool)>| PageFault {
            at_ns,
            address: 4096,
            access: Access::Write,
            served: served.map(|(to_ns, major)| ServedFault { to_ns, major }),
        };
        let call = |from_ns, number, bytes, returned| Call {
            from_ns,
            to_ns: from_ns + 5,
            number,
            arguments: [0, bytes, 0],
            returned,
        };
        let thread = Thread {
            faults: vec![
                fault(10, Some((12, false))),
                fault(40, None),
                fault(50, Some((90, true))),
            ],
            calls: vec![
                call(0, 9, 8192, Some(1 << 40)),
                call(20, 9, 4096, Some(-12)),
                call(30, 10, 4096, Some(0)),
                call(60, 12, 7, Some(1 << 40)),
                call(70, 0, 1, Some(1)),
                call(80, 11, 4096, None),
            ],
            maps: vec![Mapped { at_ns: 5, address: 0, bytes: 100 }],
            heap: vec![HeapCall {
                from_ns: 8,
                to_ns: Some(33),
                operation: MemoryOperation::Malloc,
                bytes: Some(70_000),
            }],
            ..Thread::default()
        };
        let names = [(0, "read"), (9, "mmap"), (10, "mprotect"), (11, "munmap"), (12, "brk")];
        let trace = Trace {
            threads: vec![thread],
            call_names: names.map(|(number, name)| (number, name.to_owned())).into(),
            ..Trace::new(Target::Process(1), Ended::Time, Tier::Full)
        };
        let spans: Vec<MemorySpan> = trace.memory_spans().flat_map(|(_, spans)| spans).collect();
        let span = |operation, from_ns, to_ns, bytes, address| MemorySpan {
            operation,
            from_ns,
            to_ns,
            bytes,
            address,
            access: match operation {
                MemoryOperation::Fault | MemoryOperation::MajorFault => Access::Write,
                _ => Access::Unknown,
            },
        };
        let wanted = [
            span(MemoryOperation::Map, 0, Some(5), Some(8192), 1 << 40),
            span(MemoryOperation::Mapping, 5, None, Some(100), 0),
            span(MemoryOperation::Malloc, 8, Some(33), Some(70_000), 0),
            span(MemoryOperation::Fault, 10, Some(12), None, 4096),
            span(MemoryOperation::Map, 20, Some(25), None, 0),
            span(MemoryOperation::Protect, 30, Some(35), Some(4096), 0),
            span(MemoryOperation::Fault, 40, None, None, 4096),
            span(MemoryOperation::MajorFault, 50, Some(90), None, 4096),
            span(MemoryOperation::Break, 60, Some(65), None, 0),
            span(MemoryOperation::Unmap, 80, None, None, 0),
        ];
        assert_eq!(spans, wanted);
    }

    #[test]
    fn calls_of_the_allocator_are_read_as_they_were_written() {
        for operation in MemoryOperation::OF_HEAP {
            for (to_ns, bytes) in [(Some(12), Some(1 << 39)), (None, None)] {
                let call = HeapCall { from_ns: 7, to_ns, operation, bytes };
                let json = serde_json::to_string(&call).expect("JSON");
                assert_eq!(serde_json::from_str::<HeapCall>(&json).expect("the same"), call);
            }
        }
        let unknown = serde_json::from_str::<HeapCall>("[7, 5, 6, null]").expect_err("no code");
        assert!(unknown.to_string().contains("no operation on memory has the code 6"));
    }
}
