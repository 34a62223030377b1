//! malloc and free.

use crate::engine::reason::Reason;
use crate::engine::repeated::{PLAIN, PageFaults, Repeated};
use meter::probe::{Effort, Probe, Work, WorkError, WorkingSet};
use model::run::{Bound, Regime};
use std::io;
use sys::evidence::ThreadWatch;
use sys::heap::{give_back, malloc_free, malloc_touch_free};
use sys::pages::{base_page_bytes, huge_page_bytes};

const MIB: usize = 1 << 20;
const LARGE: usize = 16 * MIB;

const SOURCE: &str = "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: ten pairs a turn, of a block that is never touched.";

const THREADED: &str = "The process has had a second thread before, as most programs have: from then on glibc takes its locks, which doubles the large block's cost.";

pub(crate) fn malloc_probes() -> Vec<Probe> {
    vec![
        Probe {
            variants: vec!["16B".into()],
            title: "malloc and free of 16 bytes".into(),
            operation: "One malloc of 16 bytes by the C library, and the free of the block; not touched in between.".into(),
            method: format!("{PLAIN} Both functions are hidden from the compiler, which would otherwise remove the pair. {THREADED}").into(),
            source: SOURCE.into(),
            make: Box::new(|_, _| pairs(16)?.boxed()),
            ..malloc_probe()
        },
        Probe {
            variants: vec!["16MiB".into()],
            title: "malloc and free of 16 MiB, untouched".into(),
            operation: "One malloc of 16 MiB by the C library, and the free of the block; not touched in between, so that it costs address space and no memory.".into(),
            method: format!("{PLAIN} An allocator may map and unmap such a block each time (musl does), or keep its addresses: glibc does that after the first free, since its threshold for mapping follows the largest block freed. So the row is the cost of the pair in a loop here, and its note has the page faults. {THREADED}").into(),
            source: SOURCE.into(),
            make: Box::new(|_, _| pairs(LARGE)?.faulting().boxed()),
            ..malloc_probe()
        },
        Probe {
            variants: vec!["16MiB_touched".into()],
            title: "malloc and free of 16 MiB, every page touched".into(),
            operation: "One malloc of 16 MiB by the C library, one byte stored in each of its base pages, and the free of the block: the pages are fresh.".into(),
            method: "One pair a sample; before each, outside the time, the allocator gives free memory back to the system (malloc_trim in glibc; other libraries map such a block anew anyway). The page faults in the row's note show whether the pages were huge. It takes milliseconds, so the distribution is reported.".into(),
            source: "Ours, to compare with Ash's untouched block.".into(),
            bound: Bound::Memory,
            regime: Regime::Distribution,
            effort: Effort {
                visits: 2,
                samples: 6,
                // Its memory is the allocator's, besides the worker's buffer.
                working_set: WorkingSet::None,
                restore_ns_per_byte: 0.0,
                // One pair more, when it is made, is spread over the six.
                sample_ns: Some(6_000_000.0),
            },
            make: Box::new(|_, _| Ok(Box::new(Touched::new()?))),
            ..malloc_probe()
        },
    ]
}

fn malloc_probe() -> Probe {
    Probe { effort: Effort::visits(8), ..Probe::blank("alloc.malloc_free") }
}

fn pairs(bytes: usize) -> Result<Repeated<impl FnMut(u64) -> io::Result<()>>, Reason> {
    // Otherwise it would depend on the rows that this worker had before.
    let second = sys::thread::spawn(std::thread::Builder::new(), || ());
    let second = second.map_err(|e| Reason::not_started("a second thread", &e))?;
    let ended = second.join();
    ended.map_err(|_| Reason::Panicked("the second thread"))?;
    let name = match bytes {
        LARGE => "malloc of 16 MiB",
        _ => "malloc of 16 bytes",
    };
    let pairs = Repeated::new(name, move |turns| malloc_free(bytes, turns));
    pairs.restored_by(4).tried()
}

/// A pair with fresh pages, and the evidence that they were.
struct Touched {
    watch: ThreadWatch,
    /// Faults before the sample that was made ready or run last.
    before: Option<u64>,
    ran: bool,
    /// Of the visit, for the note.
    page_faults: PageFaults,
    failed: Option<Reason>,
}

impl Touched {
    fn new() -> Result<Touched, WorkError> {
        let mut touched = Touched {
            watch: ThreadWatch::for_this_thread(),
            before: None,
            ran: false,
            page_faults: PageFaults::new(),
            failed: None,
        };
        touched.ready();
        touched.run(1, false);
        touched.took_faults();
        touched.verify()?;
        Ok(touched)
    }

    fn faults(&mut self) -> Option<u64> {
        self.watch.read().minor_faults
    }

    /// Whether the sample before took the faults that fresh pages take.
    fn took_faults(&mut self) {
        let (Some(before), Some(now)) = (self.before, self.faults()) else {
            return;
        };
        if self.ran && now - before < least_faults() {
            self.failed = Some(Reason::wrong(
                "the allocator does not give free memory back, so that the pages of a block are not fresh",
            ));
        }
    }
}

/// Faults of a fresh block at least: one for each huge page.
fn least_faults() -> u64 {
    let huge = huge_page_bytes().filter(|&huge| huge <= LARGE);
    (LARGE / huge.unwrap_or_else(base_page_bytes)) as u64
}

impl Work for Touched {
    fn ready(&mut self) {
        self.took_faults();
        give_back();
        self.before = self.faults();
        self.ran = false;
    }
    fn run(&mut self, turns: u64, _double: bool) {
        if let Err(e) = malloc_touch_free(LARGE, turns) {
            self.failed = Some(Reason::call("malloc of 16 MiB failed", &e));
        }
        self.ran = true;
        self.page_faults.turns(turns);
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn faults_belong(&self) -> bool {
        true
    }
    fn restore(&mut self) {
        self.page_faults = PageFaults::new();
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.failed.clone().map_or(Ok(()), |reason| Err(reason.into()))
    }
    fn notes(&self) -> Vec<String> {
        self.page_faults.faults_note().into_iter().collect()
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        // Other workers are planned without these 16 MiB.
        give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing;

    #[test]
    fn a_block_that_can_not_be_had_is_the_reason() {
        pairs(isize::MAX as usize).err().expect("no such memory");
    }

    #[test]
    fn an_untouched_block_takes_no_pages() {
        let notes = testing::run_row(&malloc_probes(), "alloc.malloc_free/16MiB").expect("it runs");
        let faults = notes[0].strip_prefix("page faults a turn of the loop: ");
        let faults: f64 = faults.expect("the faults").parse().expect("a number");
        assert!(faults < 40.0, "{notes:?}");
    }

    /// In a thread that is not the process's first, glibc keeps what is free:
    /// so both happen here. `latlas`'s own tests run the row in a worker.
    #[test]
    fn a_touched_block_is_fresh_or_the_row_says_that_it_is_not() {
        let mut work = Touched::new().expect("the first one is fresh");
        let mut fresh = true;
        for _ in 0..4 {
            work.ready();
            let before = work.faults();
            work.run(1, false);
            fresh &= work.faults() >= before.map(|n| n + least_faults());
        }
        work.took_faults();
        assert_eq!(work.verify().is_ok(), fresh);
        work.failed = None;
        work.ready();
        work.ran = true;
        work.took_faults();
        work.verify().expect_err("no page at all was touched");
    }
}
