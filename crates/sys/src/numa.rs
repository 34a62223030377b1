//! Memory on a chosen NUMA node, and on which node memory really is. Which
//! nodes there are is a fact of the machine
//! ([`numa_nodes`](model::machine::Machine::numa_nodes)).

use std::collections::BTreeMap;
use std::io;

use crate::pages::{Buffer, PageKind, base_page_bytes};
use crate::platform;

/// A touched buffer whose pages may only come from this node (`mbind(2)`,
/// MPOL_BIND), whatever CPU touches them. Where they are is for
/// [`pages_by_node`] to say.
///
/// # Errors
/// As [`Buffer::new`]; `InvalidInput` for a node that is not there, has no
/// memory or is not allowed by the cpuset; `PermissionDenied` where a
/// container forbids the call; `Unsupported` on Apple systems. A node that has
/// too little free gets the process killed: see [`free_bytes`].
pub fn buffer_on(node: u32, bytes: usize, kind: PageKind) -> io::Result<Buffer> {
    Buffer::prepared(bytes, kind, |start, len| {
        platform::numa::bind(start, len, node)
    })
}

/// How many base pages of a touched buffer are on which node (`move_pages(2)`
/// without a move). A huge page counts as the base pages it holds.
///
/// # Errors
/// `NotFound` if a page was never touched; what the call says;
/// `Unsupported` on Apple systems.
pub fn pages_by_node(buffer: &Buffer) -> io::Result<BTreeMap<u32, u64>> {
    let start = buffer.as_ptr().addr();
    platform::numa::pages_by_node(start, buffer.len(), base_page_bytes())
}

/// Memory that a node has free, page cache that it could drop included.
pub fn free_bytes(node: u32) -> Option<u64> {
    platform::numa::free_bytes(node)
}
