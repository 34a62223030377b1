//! Reads of the laid-out file, and what the kernel says of them.

use super::laid_out::LaidOut;
use crate::singles::Single;
use fastrand::Rng;
use meter::bench::Bench;
use meter::scratch::reason;
use std::os::unix::fs::FileExt;
use sys::filesystem::{cached_bytes, read_from_storage_bytes};
use sys::pages::{Buffer, PageKind};

/// Share of what was asked for that must have come from storage.
const FROM_STORAGE: f64 = 0.95;

/// Where the next read goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Anywhere.
    Random,
    /// Where the one before ended.
    Sequential,
}

/// Reads of one size.
pub(super) struct Reads {
    laid_out: LaidOut,
    buffer: Buffer,
    order: Order,
    rng: Rng,
    /// Pieces of this size that the file has.
    pieces: u64,
    next: u64,
    /// What the process had read from storage before the visit.
    before_bytes: Option<u64>,
    notes: Vec<String>,
}

impl Reads {
    /// Of this many bytes each, a multiple of the alignment. One of them is
    /// made, to see that it comes from storage.
    pub(super) fn new(
        bench: &mut Bench,
        laid_out: LaidOut,
        bytes: usize,
        order: Order,
    ) -> Result<Reads, String> {
        let mut rng = bench.rng.fork();
        let pieces = laid_out.bytes / bytes as u64;
        let buffer = Buffer::new(bytes, PageKind::Base).map_err(|e| {
            format!(
                "no memory to read {} into: {e}",
                model::size::text(bytes as u64)
            )
        })?;
        let mut reads = Reads {
            next: rng.u64(..pieces.max(1)),
            laid_out,
            buffer,
            order,
            rng,
            pieces,
            before_bytes: None,
            notes: crate::file::filesystem_notes(bench),
        };
        reads.before_bytes = read_from_storage_bytes();
        reads.perform()?;
        if let Some(how) = reads.served_by_memory(1) {
            return Err(format!(
                "{how}: this file system serves direct reads from memory; name a directory on a disk with --dir"
            ));
        }
        reads.notes.push(
            "past this machine's page cache; the device's or a hypervisor's may still serve it"
                .into(),
        );
        reads.before_bytes = read_from_storage_bytes();
        Ok(reads)
    }

    /// How the kernel contradicts that so many reads since `before_bytes` came
    /// from storage, if it does.
    fn served_by_memory(&self, reads: u64) -> Option<String> {
        let asked = reads * self.buffer.len() as u64;
        let read = read_from_storage_bytes()
            .zip(self.before_bytes)
            .map(|(after, before)| after.saturating_sub(before));
        if let Some(share) = read.map(|read| read as f64 / asked as f64)
            && share < FROM_STORAGE
        {
            return Some(format!(
                "share of the bytes that came from storage: {:.0} %",
                share * 100.0
            ));
        }
        match cached_bytes(&self.laid_out.file) {
            Ok((_, 0)) | Err(_) => None,
            Ok((all, cached)) => Some(format!(
                "share of the file in the page cache: {:.1} %",
                cached as f64 / all as f64 * 100.0
            )),
        }
    }
}

impl Single for Reads {
    fn ready(&mut self) -> Result<(), String> {
        self.next = match self.order {
            Order::Random => self.rng.u64(..self.pieces),
            Order::Sequential => (self.next + 1) % self.pieces,
        };
        Ok(())
    }

    fn perform(&mut self) -> Result<(), String> {
        let bytes = self.buffer.len();
        let offset = self.next * bytes as u64;
        self.laid_out
            .file
            .read_exact_at(self.buffer.as_mut_slice(), offset)
            .map_err(|e| {
                let doing = format!("reading {}", model::size::text(bytes as u64));
                let scratch = self.laid_out.path.parent().unwrap_or(&self.laid_out.path);
                reason(&e, &doing, scratch)
            })
    }

    fn contradiction(&mut self, operations: u64) -> Option<String> {
        let found = self.served_by_memory(operations);
        self.before_bytes = read_from_storage_bytes();
        found
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}
