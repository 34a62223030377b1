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
use std::time::Duration;
use sys::file_mapping::FileMapping;

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

/// A mapped file without a name, and a note that says what it is on: the run's
/// directory, or where that can't be the one for temporary files.
pub(crate) fn nameless(bench: &Bench, bytes: usize) -> Result<(FileMapping, String), String> {
    let temporary = std::env::temp_dir();
    let mut refused = Vec::new();
    for directory in scratch(bench).into_iter().chain([temporary.as_path()]) {
        match FileMapping::create(directory, bytes) {
            Ok(mapping) => {
                let filesystem = match bench.scratch() {
                    Ok(place) if place.directory == directory => place.filesystem.text(),
                    _ => sys::filesystem::facts(directory)
                        .map_or_else(|_| "unknown".into(), |found| found.text()),
                };
                return Ok((mapping, format!("file system: {filesystem}")));
            }
            Err(e) => refused.push(format!("{}: {e}", directory.display())),
        }
    }
    Err(format!(
        "no file could be mapped in {}",
        refused.join(", nor in ")
    ))
}

/// Room for such a file; without it, it goes elsewhere.
pub(crate) fn for_nameless(bytes: usize) -> OnDisk {
    OnDisk {
        optional: true,
        ..for_a_visit(bytes as u64, 1)
    }
}

/// What files are on, for the notes of a row.
pub(crate) fn filesystem_notes(bench: &Bench) -> Vec<String> {
    let place = bench.scratch().ok();
    let note = place.map(|place| format!("file system: {}", place.filesystem.text()));
    note.into_iter().collect()
}

/// What writing so much to a disk, and syncing it, takes in a plan: 200 MB/s.
pub(crate) fn writing(bytes: u64) -> Duration {
    Duration::from_nanos(bytes.saturating_mul(5))
}

/// Room for files that go at the end of each visit: one visit's at a time.
pub(crate) fn for_a_visit(bytes: u64, files: u64) -> OnDisk {
    OnDisk {
        shared: "the files of a visit".into(),
        bytes,
        files,
        ..OnDisk::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoke;
    use meter::probe::Terrain;

    #[test]
    fn a_file_without_a_name_is_where_the_others_are_if_it_can_be() {
        // On another file system than temporary files, where there is one.
        let shared = tempfile::tempdir_in("/dev/shm");
        let dir = shared
            .or_else(|_| tempfile::tempdir())
            .expect("a directory");
        let terrain = Terrain {
            scratch: meter::scratch::named(dir.path()),
            ..smoke::terrain()
        };
        let bench = Bench::new(terrain, 0, 0, 1);
        let here = |bench: &Bench| {
            let (mapping, note) = nameless(bench, 100_000).expect("room");
            assert_eq!(mapping.len(), 100_000);
            note
        };
        assert_eq!(vec![here(&bench)], filesystem_notes(&bench));
        assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), 0);
        // A full disk, or a directory that is gone, is no reason.
        drop(dir);
        let temporary = sys::filesystem::facts(&std::env::temp_dir()).expect("there");
        let elsewhere = format!("file system: {}", temporary.text());
        assert_eq!(here(&bench), elsewhere);
        let bench = Bench::new(smoke::terrain(), 0, 0, 1);
        assert_eq!(here(&bench), elsewhere);
    }
}
