//! Rows of reads that bypass the page cache (O_DIRECT). `laid_out.rs` writes the file that they read, once a
//! run; `reads.rs` reads it and checks the kernel's counts. Reads from the page cache are in `file/`.

mod laid_out;
mod reads;

use crate::engine::single::{Singles, VISIT_AT_MOST};
use laid_out::LaidOut;
use meter::probe::{Effort, OnDisk, Probe, SharedPart};
use model::run::{Bound, Regime};
use reads::{ReadPattern, Reads};

/// A page of most machines, and a block of most disks.
const PAGE: usize = 4096;

/// The smallest multiple of a page that holds a million bytes: direct reads
/// come in whole blocks.
const MEGABYTE: usize = 1_000_000_usize.next_multiple_of(PAGE);

const METHOD: &str = "O_DIRECT (F_NOCACHE on Apple systems), one read at a time, each between two stamps after one that is not counted, of a file of 256 MiB that the run's first worker fills with random bytes, written past the page cache too and synced; a disk that takes longer than 10 s for that is too slow, and the row not available. After each batch the kernel's counts show how much this process read from storage and how much of the file is in the page cache (the note says what is not counted): a batch that memory served is marked. A file system that serves such reads from memory makes the row unavailable, as does one whose reads the kernel does not count though it counts others'. What is past this machine's page cache may still be in the cache of the device or of the hypervisor, which was written to shortly before: the row can't detect that. Where others use the device too (a guest's, a network's), the figure is ok only if six stored runs within an hour agree to 10 %. A batch ends after 0.1 s, so that a slow disk has fewer samples.";

pub(crate) fn disk_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "a random read of 4 KiB from disk".into(),
            operation: "One pread() of 4 KiB at a random multiple of 4 KiB of an open file, past the page cache.".into(),
            method: METHOD.into(),
            source: "The 2012 list's SSD random read; fio's randread with direct=1 and ioengine=psync does the same.".into(),
            tail: true,
            make: Box::new(|worker, _| {
                let laid_out = LaidOut::for_worker(worker)?;
                let reads = Reads::new(worker, laid_out, PAGE, ReadPattern::Random)?;
                Ok(Box::new(Singles::new(reads).at_most(VISIT_AT_MOST)))
            }),
            ..blank("disk.random_read_4K", 40, 150_000.0)
        },
        Probe {
            title: "1 MB read sequentially from disk".into(),
            operation: "One pread() of 1,003,520 bytes (245 pages: the first multiple of a page above the list's 1 MB) of an open file, past the page cache, each where the one before ended.".into(),
            method: format!("{METHOD} Each batch begins at a random place of the file and goes on from its beginning at its end. No read-ahead is at work: the kernel has one read at a time.").into(),
            source: "The 2012 list's 1 MB read sequentially from an SSD.".into(),
            make: Box::new(|worker, _| {
                let laid_out = LaidOut::for_worker(worker)?;
                let reads = Reads::new(worker, laid_out, MEGABYTE, ReadPattern::Sequential)?;
                Ok(Box::new(Singles::new(reads).at_most(VISIT_AT_MOST)))
            }),
            ..blank("disk.read_sequential_1MB", 32, 1_000_000.0)
        },
    ]
}

fn blank(id: &'static str, samples: u32, sample_ns: f64) -> Probe {
    Probe {
        bound: Bound::Memory,
        regime: Regime::Stamped,
        effort: Effort::stamped(4, samples, sample_ns),
        depends_on: Some(SharedPart::StorageDevice),
        on_disk: |_| {
            Some(OnDisk {
                shared: laid_out::NAME.into(),
                bytes: laid_out::BYTES,
                files: 1,
                once: crate::engine::files::writing(laid_out::BYTES),
                ..OnDisk::default()
            })
        },
        ..Probe::blank(id)
    }
}
