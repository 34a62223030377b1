//! `mbind(2)`, `move_pages(2)` and what a node has free. libc has the calls'
//! numbers only; numaif.h has the constants.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::ptr;

use crate::files::Tree;

pub(crate) const NODES: &str = "/sys/devices/system/node";

/// Only from the nodes of the mask.
const MPOL_BIND: libc::c_ulong = 2;
/// Nodes a mask can hold: the most a kernel can be built for (NODES_SHIFT 10).
const MOST_NODES: usize = 1024;

pub(crate) fn bind(start: *mut u8, len: usize, node: u32) -> io::Result<()> {
    const WORD: usize = libc::c_ulong::BITS as usize;
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
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Pages asked about in one call.
const AT_ONCE: usize = 512;

pub(crate) fn pages_by_node(
    start: usize,
    len: usize,
    page_bytes: usize,
) -> io::Result<BTreeMap<u32, u64>> {
    let mut found = BTreeMap::new();
    let addresses: Vec<usize> = (start..start + len).step_by(page_bytes).collect();
    for part in addresses.chunks(AT_ONCE) {
        let mut status = [0 as libc::c_int; AT_ONCE];
        // SAFETY: with no list of nodes the call moves nothing; it reads
        // `part.len()` addresses and writes as many of the integers.
        let done = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0,
                part.len(),
                part.as_ptr(),
                ptr::null::<libc::c_int>(),
                status.as_mut_ptr(),
                0 as libc::c_long,
            )
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
        for &status in &status[..part.len()] {
            // A negative status is an errno: ENOENT where no page is.
            let node = u32::try_from(status).map_err(|_| io::Error::from_raw_os_error(-status))?;
            *found.entry(node).or_insert(0) += 1;
        }
    }
    Ok(found)
}

pub(crate) fn free_bytes(node: u32) -> Option<u64> {
    let meminfo = Tree::new(Path::new("/")).text(&format!("{NODES}/node{node}/meminfo"))?;
    // The page cache gives way, as in MemAvailable, which nodes don't have.
    let file = meminfo_bytes(&meminfo, "Inactive(file)").unwrap_or(0);
    Some(meminfo_bytes(&meminfo, "MemFree")? + file)
}

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

#[cfg(test)]
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
