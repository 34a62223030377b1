//! What the first touch of a page costs.

use crate::engine::reason::{Doing, Reason};
use crate::engine::repeated::PageFaults;
use kernels::checked::{read_pages, touch_pages};
use meter::probe::{Effort, Probe, Work, WorkError};
use std::io;
use sys::file_mapping::FileMapping;
use sys::pages::{Buffer, PageKind, base_page_bytes};

/// Pages touched in a sample.
const ANONYMOUS_PAGES: usize = 256;
/// Faults taken in a sample on file pages.
const FILE_FAULTS: usize = 128;
/// Linux maps the cached pages around a fault with it, up to 64 KiB: faults
/// are that far apart, so that each touch is one.
const FAULT_AROUND_BYTES: usize = 64 << 10;
const FILE_BYTES: usize = FILE_FAULTS * FAULT_AROUND_BYTES;
/// Faults of a touch, at least: with fewer it was not the first of its page, or a fault mapped
/// several that are touched.
const LEAST_FAULTS: f64 = 0.95;

pub(crate) fn page_fault_probe() -> Probe {
    Probe {
        variants: vec!["anonymous".into(), "file".into()],
        title: "first touch of a page".into(),
        operation: "One page fault: the first store to a fresh anonymous base page, or the first load from a mapped file whose pages are in the page cache.".into(),
        method: "The anonymous row touches 256 fresh pages a sample and gives them back outside the time; the file row maps a file anew outside the time and touches it every 64 KiB, since Linux maps up to 16 cached pages with one fault. That file is where all files of a run are, or where they can't be in the directory for temporary files, and has no name; the note says on what file system. The kernel counts the faults of each batch: where they are fewer than the touches, its samples are marked.".into(),
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
                return Ok(Box::new(FirstTouches {
                    refresh: |mapping: &mut FileMapping| mapping.remap(),
                    touch: |mapping| {
                        std::hint::black_box(read_pages(mapping.as_slice(), FAULT_AROUND_BYTES));
                    },
                    note: Some(note),
                    ..FirstTouches::over(mapping, FILE_FAULTS)
                }));
            }
            let bytes = ANONYMOUS_PAGES * base_page_bytes();
            let buffer = Buffer::untouched(bytes, PageKind::Base).doing("no memory")?;
            Ok(Box::new(FirstTouches {
                refresh: |buffer: &mut Buffer| buffer.release(),
                touch: |buffer| touch_pages(buffer.as_mut_slice(), base_page_bytes()),
                ..FirstTouches::over(buffer, ANONYMOUS_PAGES)
            }))
        }),
        ..Probe::blank("memory.page_fault")
    }
}

/// Memory of which each touch in a sample must be a page fault.
struct FirstTouches<M> {
    memory: M,
    /// Touches in a sample.
    touches: usize,
    refresh: fn(&mut M) -> io::Result<()>,
    touch: fn(&mut M),
    note: Option<String>,
    faults: PageFaults,
    failed: Option<Reason>,
}

impl<M> FirstTouches<M> {
    fn over(memory: M, touches: usize) -> FirstTouches<M> {
        FirstTouches {
            memory,
            touches,
            refresh: |_| Ok(()),
            touch: |_| {},
            note: None,
            faults: PageFaults::new(),
            failed: None,
        }
    }
}

impl<M> Work for FirstTouches<M> {
    fn ops_per_turn(&self) -> f64 {
        self.touches as f64
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn restore(&mut self) {
        self.faults = PageFaults::new();
    }
    fn ready(&mut self) {
        if let Err(e) = (self.refresh)(&mut self.memory) {
            self.failed = Some(Reason::wrong(format!("pages can't be made fresh: {e}")));
        }
    }
    fn run(&mut self, _turns: u64, _double: bool) {
        (self.touch)(&mut self.memory);
        self.faults.turns(1);
    }
    fn faults_belong(&self) -> bool {
        true
    }
    fn contradiction(&self) -> Option<String> {
        let each = self.faults.each()? / self.touches as f64;
        (each < LEAST_FAULTS).then(|| format!("page faults per touch: {each:.2}"))
    }
    fn verify(&self) -> Result<(), WorkError> {
        let failed = self.failed.clone();
        failed.map_or(Ok(()), |reason| Err(reason.into()))
    }
    fn notes(&self) -> Vec<String> {
        self.note.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a visit says of 256 touches, where pages are made fresh or not.
    fn visited(refresh: fn(&mut Buffer) -> io::Result<()>) -> Option<String> {
        let bytes = ANONYMOUS_PAGES * base_page_bytes();
        let buffer = Buffer::untouched(bytes, PageKind::Base).expect("memory");
        let mut work = FirstTouches {
            refresh,
            touch: |buffer| touch_pages(buffer.as_mut_slice(), base_page_bytes()),
            ..FirstTouches::over(buffer, ANONYMOUS_PAGES)
        };
        work.restore();
        for _ in 0..20 {
            work.ready();
            work.run(1, false);
        }
        work.contradiction()
    }

    #[test]
    fn touches_that_are_no_faults_contradict() {
        assert_eq!(visited(|buffer| buffer.release()), None);
        // The first of twenty samples alone finds fresh pages.
        let why = visited(|_| Ok(())).expect("pages that are there");
        let each: Option<f64> =
            why.strip_prefix("page faults per touch: ").and_then(|each| each.parse().ok());
        assert!(each.is_some_and(|each| each < 0.2), "{why}");
    }
}
