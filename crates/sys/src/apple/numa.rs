//! Apple systems have one memory for all cores and no call that tells more.

use std::collections::BTreeMap;
use std::io;

fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems know no NUMA nodes",
    ))
}

pub(crate) fn bind(_start: *mut u8, _len: usize, _node: u32) -> io::Result<()> {
    unsupported()
}

pub(crate) fn pages_by_node(
    _start: usize,
    _len: usize,
    _page_bytes: usize,
) -> io::Result<BTreeMap<u32, u64>> {
    unsupported()
}

pub(crate) fn free_bytes(_node: u32) -> Option<u64> {
    None
}
