//! Runs a row's work once, in this process: for tests of what it does, not of
//! how long it takes.

use meter::bench::Bench;
use meter::probe::{Probe, Site, Terrain};
use std::path::PathBuf;
use tempfile::TempDir;

/// A machine with two CPUs and little memory.
pub(crate) fn terrain() -> Terrain {
    Terrain {
        l2_bytes: 256 << 10,
        last_level_bytes: 1 << 20,
        largest_bytes: 16 << 20,
        cpus: sys::affinity::allowed_cpus().unwrap_or_else(|_| vec![0]),
        page_bytes: sys::pages::base_page_bytes() as u64,
        ..Terrain::default()
    }
}

/// The same with a directory for files.
pub(crate) fn with_files() -> (TempDir, Terrain) {
    let dir = tempfile::tempdir().expect("a directory");
    let terrain = Terrain {
        scratch: meter::scratch::named(dir.path()),
        ..terrain()
    };
    (dir, terrain)
}

/// The directory for files.
pub(crate) fn directory(bench: &Bench) -> PathBuf {
    bench.scratch().expect("one was made").directory.clone()
}

/// A CPU that the tests may use.
pub(crate) fn here() -> u32 {
    terrain().cpus[0]
}

/// Two samples of the row that `probes` must have. Its notes, or why it can't
/// run here.
pub(crate) fn run(probes: &[Probe], row: &str) -> Result<Vec<String>, String> {
    at(probes, row, &[], terrain())
}

/// Two samples of a row of files, at the point of a curve over `bytes`, in a
/// directory of its own.
pub(crate) fn on_file(probes: &[Probe], row: &str, bytes: u64) -> Result<Vec<String>, String> {
    let (_dir, terrain) = with_files();
    at(probes, row, &[bytes], terrain)
}

fn at(probes: &[Probe], row: &str, at: &[u64], terrain: Terrain) -> Result<Vec<String>, String> {
    let probe = probes
        .iter()
        .find(|probe| probe.row_ids().iter().any(|id| id == row))
        .unwrap_or_else(|| panic!("no row {row}"));
    if let Some(reason) = (probe.unavailable)(&terrain) {
        return Err(reason);
    }
    let mut bench = Bench::new(terrain.clone(), terrain.largest_bytes, 4 << 20, 1);
    let site = Site {
        variant: probe.variant_of(row).to_string(),
        at: at.to_vec(),
    };
    let mut work = (probe.make)(&mut bench, &site)?;
    assert!(work.ops_per_turn() > 0.0, "{row}");
    work.restore();
    let turns = work.turn_limits().0.next_multiple_of(work.turn_step());
    for double in [false, work.paired()] {
        work.ready();
        work.run(turns, double);
    }
    work.verify()?;
    Ok(work.notes())
}
