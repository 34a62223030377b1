//! What the first touch of a page costs.

use crate::engine::reason::{Doing, Reason};
use kernels::checked::{read_pages, touch_pages};
use meter::probe::{Effort, Probe, Work, WorkError};
use sys::file_mapping::FileMapping;
use sys::pages::{Buffer, PageKind, base_page_bytes};

/// Pages touched in a sample.
const ANONYMOUS_PAGES: usize = 256;
/// Faults taken in a sample on file pages.
const FILE_FAULTS: usize = 128;
/// Linux maps the cached pages around a fault with it, up to 64 KiB: faults
/// are that far apart, so that each touch is one.
const FAULT_AROUND_BYTES: usize = 64 << 10;
/// The mapped file.
const FILE_BYTES: usize = FILE_FAULTS * FAULT_AROUND_BYTES;

pub(crate) fn probe() -> Probe {
    Probe {
        variants: vec!["anonymous".into(), "file".into()],
        title: "first touch of a page".into(),
        operation: "One page fault: the first store to a fresh anonymous base page, or the first load from a mapped file whose pages are in the page cache.".into(),
        method: "The anonymous row touches 256 fresh pages a sample and gives them back outside the time; the file row maps a file anew outside the time and touches it every 64 KiB, since Linux maps up to 16 cached pages with one fault. That file is where all files of a run are, or where they can't be in the directory for temporary files, and has no name; the note says on what file system.".into(),
        source: "LMbench's lat_pagefault touches every page of a cached file and divides by the pages, so that a fault which maps 16 of them (30 and more with large folios) counts as so many; it takes mapping and unmapping off and leaves the tearing down of the touched pages in. Ours counts faults.".into(),
        effort: Effort {
            visits: 6,
            samples: 4,
            ..Effort::SCALAR
        },
        on_disk: |site| (site.variant == "file").then(|| crate::engine::files::for_nameless(FILE_BYTES)),
        make: Box::new(|worker, site| {
            if site.variant == "file" {
                let (mapping, note) = crate::engine::files::nameless(worker, FILE_BYTES)?;
                return Ok(Box::new(FilePages {
                    mapping,
                    note,
                    remapped: Ok(()),
                }));
            }
            let bytes = ANONYMOUS_PAGES * base_page_bytes();
            let buffer = Buffer::untouched(bytes, PageKind::Base)
                .doing("no memory")?;
            Ok(Box::new(AnonymousPages(buffer, Ok(()))))
        }),
        ..Probe::blank("memory.page_fault")
    }
}

struct AnonymousPages(Buffer, Result<(), WorkError>);

impl Work for AnonymousPages {
    fn ops_per_turn(&self) -> f64 {
        ANONYMOUS_PAGES as f64
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn ready(&mut self) {
        if let Err(e) = self.0.release() {
            self.1 = Err(Reason::wrong(format!("touched pages can't be given back: {e}")).into());
        }
    }
    fn faults_belong(&self) -> bool {
        true
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.1.clone()
    }
    fn run(&mut self, _turns: u64, _double: bool) {
        touch_pages(self.0.as_mut_slice(), base_page_bytes());
    }
}

struct FilePages {
    mapping: FileMapping,
    note: String,
    remapped: Result<(), WorkError>,
}

impl Work for FilePages {
    fn ops_per_turn(&self) -> f64 {
        FILE_FAULTS as f64
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn ready(&mut self) {
        if let Err(e) = self.mapping.remap() {
            self.remapped =
                Err(Reason::wrong(format!("the file can't be mapped again: {e}")).into());
        }
    }
    fn faults_belong(&self) -> bool {
        true
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.remapped.clone()
    }
    fn notes(&self) -> Vec<String> {
        vec![self.note.clone()]
    }
    fn run(&mut self, _turns: u64, _double: bool) {
        std::hint::black_box(read_pages(self.mapping.as_slice(), FAULT_AROUND_BYTES));
    }
}
