//! What the first touch of a page costs.

use kernels::checked::{read_pages, touch_pages};
use meter::probe::{Effort, Probe, Work};
use sys::file_mapping::FileMapping;
use sys::pages::{Buffer, PageKind, base_page_bytes};

/// Pages touched in a sample.
const ANONYMOUS_PAGES: usize = 256;
/// Faults taken in a sample on file pages.
const FILE_FAULTS: usize = 128;
/// Linux maps the cached pages around a fault with it, up to 64 KiB: faults
/// stand that far apart, so that each touch is one.
const FAULT_AROUND_BYTES: usize = 64 << 10;

pub(crate) fn probe() -> Probe {
    Probe {
        variants: vec!["anonymous".into(), "file".into()],
        title: "first touch of a page".into(),
        operation: "One page fault: the first store to a fresh anonymous base page, or the first load from a mapped file whose pages are in the page cache.".into(),
        method: "The anonymous row touches 256 fresh pages a sample and gives them back outside the time; the file row maps a file anew outside the time and touches it every 64 KiB, since Linux maps up to 16 cached pages with one fault.".into(),
        source: "LMbench's lat_pagefault touches every page of a cached file and divides by the pages, so that a fault which maps 16 of them (30 and more with large folios) counts as so many; it takes mapping and unmapping off and leaves the tearing down of the touched pages in. Ours counts faults.".into(),
        effort: Effort {
            visits: 6,
            samples: 4,
            ..Effort::SCALAR
        },
        make: Box::new(|_, site| {
            if site.variant == "file" {
                let directory = std::env::temp_dir();
                let mapping = FileMapping::create(&directory, FILE_FAULTS * FAULT_AROUND_BYTES)
                    .map_err(|e| {
                        format!("no file could be mapped in {}: {e}", directory.display())
                    })?;
                return Ok(Box::new(FilePages(mapping, Ok(()))));
            }
            let bytes = ANONYMOUS_PAGES * base_page_bytes();
            let buffer = Buffer::untouched(bytes, PageKind::Base)
                .map_err(|e| format!("no memory: {e}"))?;
            Ok(Box::new(AnonymousPages(buffer, Ok(()))))
        }),
        ..Probe::blank("memory.page_fault")
    }
}

struct AnonymousPages(Buffer, Result<(), String>);

impl Work for AnonymousPages {
    fn ops_per_turn(&self) -> f64 {
        ANONYMOUS_PAGES as f64
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn ready(&mut self) {
        if let Err(e) = self.0.release() {
            self.1 = Err(format!("touched pages can't be given back: {e}"));
        }
    }
    fn faults_belong(&self) -> bool {
        true
    }
    fn verify(&self) -> Result<(), String> {
        self.1.clone()
    }
    fn run(&mut self, _turns: u64, _double: bool) {
        touch_pages(self.0.as_mut_slice(), base_page_bytes());
    }
}

struct FilePages(FileMapping, Result<(), String>);

impl Work for FilePages {
    fn ops_per_turn(&self) -> f64 {
        FILE_FAULTS as f64
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn ready(&mut self) {
        if let Err(e) = self.0.remap() {
            self.1 = Err(format!("the file can't be mapped again: {e}"));
        }
    }
    fn faults_belong(&self) -> bool {
        true
    }
    fn verify(&self) -> Result<(), String> {
        self.1.clone()
    }
    fn run(&mut self, _turns: u64, _double: bool) {
        std::hint::black_box(read_pages(self.0.as_slice(), FAULT_AROUND_BYTES));
    }
}
