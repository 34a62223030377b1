//! What files cost.

mod cached;
mod mmap_read;
mod open_close;
mod prepared;
mod read;
mod system_calls;

use meter::probe::Probe;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = vec![
        read::open(),
        read::open_as_lmbench(),
        read::with_open(),
        read::with_open_as_lmbench(),
        open_close::probe(),
        mmap_read::probe(),
    ];
    probes.extend(system_calls::probes());
    probes
}
