//! Files of random data, made once in a run and read by all of its workers.

use crate::engine::files::{open_or_make, writing};
use crate::engine::reason::Reason;
use fastrand::Rng;
use meter::probe::{Effort, MachineShape, OnDisk, Site, WorkError, WorkingSet};
use meter::scratch::{ScratchDir, ScratchError};
use meter::worker_memory::WorkerMemory;
use model::run::Scale;
use model::size;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Kurkin's sizes of files that are read.
const SIZES: [u64; 13] = [
    1,
    100,
    512,
    KIB,
    5 * KIB,
    10 * KIB,
    16 * KIB,
    64 * KIB,
    512 * KIB,
    MIB,
    3 * MIB,
    5 * MIB,
    10 * MIB,
];

/// Further ones: his speed is level from 10 MiB on, ours only beyond the last cache, which may hold more.
const BEYOND: [u64; 2] = [20 * MIB, 40 * MIB];

/// What a quick run reads: the published sizes, and the ends.
const QUICK: [u64; 5] = [1, KIB, 64 * KIB, MIB, 10 * MIB];

/// Points that were published as separate rows.
pub(super) const PUBLISHED: &[(&str, u64)] = &[("1KiB", KIB), ("1MiB", MIB)];

/// Files from here on take longer to read than a short sample should be.
pub(super) const LONG_FROM: u64 = 3 * MIB;

/// What the rows say of their files.
pub(super) const FILES: &str = "The files hold random data, are written and synced to the disk once in a run, and are in the page cache when they are read: each batch reads its file twice before its first sample, and checks afterwards whether anything came from storage (read_bytes of /proc/self/io), or on a file system whose reads the kernel does not count (FUSE, NFS, 9p) whether all of it is in memory (mincore). Samples of a batch that fails the check are marked.";

pub(super) fn sizes(_: &MachineShape, scale: Scale) -> Vec<u64> {
    match scale {
        Scale::Quick => QUICK.to_vec(),
        Scale::Default => SIZES.to_vec(),
        Scale::Full => [&SIZES[..], &BEYOND].concat(),
    }
}

/// How much measuring a point deserves; bytes of the file and of the buffer
/// besides it are touched, read through twice, and read by the samples.
pub(super) const EFFORT: Effort = Effort::of_memory(6, 3, WorkingSet::Own(2), 0.3);

/// The file that a point of a curve reads.
pub(super) fn on_disk(site: &Site) -> Option<OnDisk> {
    site.at.first().map(|&bytes| room(bytes))
}

/// A file of this size.
pub(super) fn room(bytes: u64) -> OnDisk {
    OnDisk { shared: file_name(bytes), bytes, files: 1, once: writing(bytes), ..OnDisk::default() }
}

fn file_name(bytes: u64) -> String {
    format!("read-{bytes}")
}

#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) file: File,
    pub(super) path: CString,
    pub(super) bytes: usize,
    pub(super) scratch: ScratchDir,
}

impl Prepared {
    /// The file of this size in the scratch directory; made, if no worker made
    /// it yet.
    pub(super) fn with_size(worker: &WorkerMemory, bytes: u64) -> Result<Prepared, WorkError> {
        let scratch = worker.scratch()?.clone();
        let path = scratch.directory.join(file_name(bytes));
        let failed = |e: &io::Error, doing: &str| {
            let doing = format!("{doing} a file of {}", size::format_size(bytes));
            ScratchError::file(e, &doing, &scratch.directory).to_string()
        };
        let file =
            open_or_make(&path, bytes, |path| File::open(path), |path| fill(path, bytes), failed)?;
        Ok(Prepared {
            file,
            path: CString::new(path.into_os_string().into_encoded_bytes())
                .map_err(|_| Reason::missing("the directory's name holds a zero byte"))?,
            bytes: usize::try_from(bytes)
                .map_err(|_| Reason::missing("the file does not fit in the address space"))?,
            scratch,
        })
    }
}

fn fill(path: &Path, bytes: u64) -> io::Result<()> {
    let mut file = File::create(path)?;
    let mut rng = Rng::with_seed(bytes);
    let mut block = vec![0; 64 << 10];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(block.len() as u64) as usize;
        rng.fill(&mut block[..now]);
        file.write_all(&block[..now])?;
        left -= now as u64;
    }
    // Or the kernel would write it back while something else is measured.
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::worker_with_files;

    #[test]
    fn a_file_is_made_once_and_holds_random_data() {
        let (dir, worker) = worker_with_files();
        let first = Prepared::with_size(&worker, 100_000).expect("made");
        assert_eq!(first.bytes, 100_000);
        let path = dir.path().join("read-100000");
        let bytes = std::fs::read(&path).expect("there");
        let made = path.metadata().expect("there").modified().expect("a time");
        let mut counts = [0_usize; 256];
        for &byte in &bytes {
            counts[usize::from(byte)] += 1;
        }
        assert!(counts.iter().all(|n| (250..550).contains(n)), "{counts:?}");
        assert_ne!(bytes[..1000], bytes[65536..66536]);
        Prepared::with_size(&worker, 100_000).expect("there");
        let again = path.metadata().expect("there").modified().expect("a time");
        assert_eq!(made, again);
        drop(dir);
        let why = Prepared::with_size(&worker, 10).expect_err("nowhere to make it");
        let why = why.to_string();
        assert!(why.starts_with("the scratch directory is gone"), "{why}");
    }
}
