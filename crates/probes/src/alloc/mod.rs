//! Rows of allocation: malloc and free, mmap and munmap, and an atomic reference count. The first touch of a
//! page is in `memory/page_fault.rs`.

mod malloc;
mod mapping;
mod refcount;

use meter::probe::Probe;

pub(crate) fn alloc_probes() -> Vec<Probe> {
    let mut probes = malloc::malloc_probes();
    probes.extend(mapping::mapping_probes());
    probes.push(refcount::refcount_probe());
    probes
}
