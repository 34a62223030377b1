//! What files cost.

mod cached;
mod create_delete;
mod mmap_read;
mod open_close;
mod prepared;
mod read;
mod read_whole;
mod system_calls;
mod write_whole;

use meter::bench::Bench;
use meter::probe::{OnDisk, Probe};
use std::path::Path;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = vec![
        read::open(),
        read::open_as_lmbench(),
        read::with_open(),
        read::with_open_as_lmbench(),
        open_close::probe(),
        mmap_read::probe(),
        create_delete::probe(),
    ];
    probes.extend(read_whole::probes());
    probes.extend(write_whole::probes());
    probes.extend(system_calls::probes());
    probes
}

/// The run's directory for files.
pub(crate) fn scratch(bench: &Bench) -> Result<&Path, String> {
    Ok(&bench.scratch()?.directory)
}

/// What files are on, for the notes of a row.
pub(crate) fn filesystem_notes(bench: &Bench) -> Vec<String> {
    let place = bench.scratch().ok();
    let note = place.map(|place| format!("file system: {}", place.filesystem.text()));
    note.into_iter().collect()
}

/// Room for files that go at the end of each visit: one visit's at a time.
pub(crate) fn for_a_visit(bytes: u64, files: u64) -> OnDisk {
    OnDisk {
        shared: "the files of a visit".into(),
        bytes,
        files,
    }
}
