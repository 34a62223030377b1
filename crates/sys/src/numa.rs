//! Memory on a chosen NUMA node, and on which node memory really is
//! (`mbind(2)`, `move_pages(2)`). Which nodes there are is a fact of the
//! machine ([`numa_nodes`](model::machine::Machine::numa_nodes)).

use std::collections::BTreeMap;
use std::io;

use crate::pages::{Buffer, PageKind};

#[cfg(not(target_vendor = "apple"))]
pub(crate) const NODES: &str = "/sys/devices/system/node";

/// A touched buffer whose pages may only come from this node (`mbind(2)`,
/// MPOL_BIND), whatever CPU touches them. [`pages_by_node`] verifies it.
///
/// # Errors
/// As [`Buffer::new`]; `InvalidInput` for a node that does not exist, has no
/// memory or is not allowed by the cpuset; `PermissionDenied` where a
/// container forbids the call; `Unsupported` on Apple systems. A node with too
/// little free memory gets the process killed: see [`free_bytes`].
pub fn buffer_on(node: u32, bytes: usize, kind: PageKind) -> io::Result<Buffer> {
    Buffer::prepared(bytes, kind, |start, len| bind(start, len, node))
}

#[cfg(target_vendor = "apple")]
fn bind(_start: *mut u8, _len: usize, _node: u32) -> io::Result<()> {
    Err(crate::platform::unsupported("NUMA nodes"))
}

#[cfg(not(target_vendor = "apple"))]
fn bind(start: *mut u8, len: usize, node: u32) -> io::Result<()> {
    // libc has the calls' numbers only; numaif.h has the constants.
    const MPOL_BIND: libc::c_ulong = 2;
    const WORD: usize = libc::c_ulong::BITS as usize;
    /// The most a kernel can be built for (NODES_SHIFT 10).
    const MOST_NODES: usize = 1024;
    let mut mask = [0 as libc::c_ulong; MOST_NODES / WORD];
    let Some(word) = mask.get_mut(node as usize / WORD) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("node {node} is beyond the {MOST_NODES} that Linux can have"),
        ));
    };
    *word |= 1 << (node as usize % WORD);
    // SAFETY: sets the policy of a range that the caller owns, whose content
    // it does not change; the kernel reads `MOST_NODES` bits of the mask.
    // (The length is one more because the kernel takes one off.)
    let status = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            start,
            len,
            MPOL_BIND,
            mask.as_ptr(),
            MOST_NODES + 1,
            0 as libc::c_ulong,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// How many base pages of a touched buffer are on which node (`move_pages(2)`
/// without a move). A huge page counts as the base pages it holds.
///
/// # Errors
/// `NotFound` if a page was never touched; what the call says; `Unsupported`
/// on Apple systems.
#[cfg_attr(target_vendor = "apple", allow(unused_variables))]
pub fn pages_by_node(buffer: &Buffer) -> io::Result<BTreeMap<u32, u64>> {
    #[cfg(target_vendor = "apple")]
    return Err(crate::platform::unsupported("NUMA nodes"));
    #[cfg(not(target_vendor = "apple"))]
    {
        /// Pages asked about in one call.
        const AT_ONCE: usize = 512;
        let start = buffer.as_ptr().addr();
        let addresses: Vec<usize> =
            (start..start + buffer.len()).step_by(crate::pages::base_page_bytes()).collect();
        let mut pages = BTreeMap::new();
        for chunk in addresses.chunks(AT_ONCE) {
            let mut nodes = [0 as libc::c_int; AT_ONCE];
            // SAFETY: with no list of target nodes the call moves nothing; it
            // reads `chunk.len()` addresses and writes as many integers.
            let status = unsafe {
                libc::syscall(
                    libc::SYS_move_pages,
                    0,
                    chunk.len(),
                    chunk.as_ptr(),
                    std::ptr::null::<libc::c_int>(),
                    nodes.as_mut_ptr(),
                    0 as libc::c_long,
                )
            };
            if status != 0 {
                return Err(io::Error::last_os_error());
            }
            for &node in &nodes[..chunk.len()] {
                // Below 0 it is an errno: ENOENT where there is no page.
                let node = u32::try_from(node).map_err(|_| io::Error::from_raw_os_error(-node))?;
                *pages.entry(node).or_insert(0) += 1;
            }
        }
        Ok(pages)
    }
}

/// Memory that a node has free, with the page cache that it could drop. `None`
/// if there is no such node.
#[cfg_attr(target_vendor = "apple", allow(unused_variables))]
pub fn free_bytes(node: u32) -> Option<u64> {
    #[cfg(target_vendor = "apple")]
    return None;
    #[cfg(not(target_vendor = "apple"))]
    {
        let tree = crate::files::Tree::system();
        let meminfo = tree.text(&format!("{NODES}/node{node}/meminfo"))?;
        // Nodes have no MemAvailable.
        let file = meminfo_bytes(&meminfo, "Inactive(file)").unwrap_or(0);
        Some(meminfo_bytes(&meminfo, "MemFree")? + file)
    }
}

#[cfg(not(target_vendor = "apple"))]
/// The number of `Node 0 key:   1234 kB`, in bytes.
pub(crate) fn meminfo_bytes(meminfo: &str, key: &str) -> Option<u64> {
    meminfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        if name.split_whitespace().last() != Some(key) {
            return None;
        }
        let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    })
}

#[cfg(all(test, not(target_vendor = "apple")))]
mod tests {
    use super::*;

    #[test]
    fn a_nodes_meminfo() {
        let text =
            "Node 1 MemTotal:       16 kB\nNode 1 MemFree:  4 kB\nNode 1 Inactive(file):  2 kB\n";
        assert_eq!(meminfo_bytes(text, "MemTotal"), Some(16 << 10));
        assert_eq!(meminfo_bytes(text, "Inactive(file)"), Some(2 << 10));
        assert_eq!(meminfo_bytes(text, "Mem"), None);
    }
}
