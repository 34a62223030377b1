//! malloc and free.

use crate::across::not_started;
use crate::faults::Faulting;
use crate::repeated::PLAIN;
use meter::probe::{Effort, Probe, Work, WorkingSet};
use model::run::{Bound, Regime};
use sys::evidence::ThreadWatch;
use sys::heap::{give_back, malloc_free, malloc_touch_free};
use sys::pages::{base_page_bytes, huge_page_bytes};

const MIB: usize = 1 << 20;
const LARGE: usize = 16 * MIB;

const SOURCE: &str = "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: ten pairs a turn, of a block that is never touched.";

const THREADED: &str = "The process has had a second thread before, as most programs have: glibc takes its locks from then on, which doubles the large block's cost.";

pub(crate) fn probes() -> Vec<Probe> {
    vec![
        Probe {
            variants: vec!["16B".into()],
            title: "malloc and free of 16 bytes".into(),
            operation: "One malloc of 16 bytes by the C library, and the free of the block; nobody touches it between.".into(),
            method: format!("{PLAIN} Both functions are hidden from the compiler, which would otherwise leave the pair out. {THREADED}").into(),
            source: SOURCE.into(),
            make: Box::new(|_, _| Ok(Box::new(Pairs::new(16)?))),
            ..probe()
        },
        Probe {
            variants: vec!["16MiB".into()],
            title: "malloc and free of 16 MiB, untouched".into(),
            operation: "One malloc of 16 MiB by the C library, and the free of the block; nobody touches it between, so that it costs address space and no memory.".into(),
            method: format!("{PLAIN} An allocator may map and unmap such a block each time (musl does), or keep its addresses: glibc does that after the first free, since its threshold for mapping follows the largest block freed. So the row is what a loop of the pair costs here, and its note has the page faults. {THREADED}").into(),
            source: SOURCE.into(),
            make: Box::new(|_, _| Ok(Box::new(Faulting::new(Pairs::new(LARGE)?)))),
            ..probe()
        },
        Probe {
            variants: vec!["16MiB_touched".into()],
            title: "malloc and free of 16 MiB, every page touched".into(),
            operation: "One malloc of 16 MiB by the C library, one byte stored in each of its base pages, and the free of the block: the pages are fresh.".into(),
            method: "One pair a sample; before each, outside the time, the allocator is told to give free memory back to the system (malloc_trim in glibc; other libraries map such a block anew by themselves). Whether huge pages came, the page faults in the row's note say. It takes milliseconds, so the distribution is reported.".into(),
            source: "Ours, beside Ash's untouched block.".into(),
            bound: Bound::Memory,
            regime: Regime::Distribution,
            effort: Effort {
                visits: 2,
                samples: 6,
                // Its memory is the allocator's, beside the worker's buffer.
                working_set: WorkingSet::None,
                restore_ns_per_byte: 0.0,
                // One pair more, when it is made, is spread over the six.
                sample_ns: Some(6_000_000.0),
            },
            make: Box::new(|_, _| Ok(Box::new(Faulting::new(Touched::new()?)))),
            ..probe()
        },
    ]
}

fn probe() -> Probe {
    Probe {
        effort: Effort {
            visits: 8,
            ..Effort::SCALAR
        },
        ..Probe::blank("alloc.malloc_free")
    }
}

/// Pairs of malloc and free.
struct Pairs {
    bytes: usize,
    failed: Option<String>,
}

impl Pairs {
    fn new(bytes: usize) -> Result<Pairs, String> {
        // Otherwise it would depend on the rows that this worker had before.
        std::thread::Builder::new()
            .spawn(|| ())
            .map_err(|e| {
                format!(
                    "the process needs to have had a second thread: {}",
                    not_started(&e)
                )
            })?
            .join()
            .map_err(|_| "the thread that does nothing ended badly")?;
        let mut pairs = Pairs {
            bytes,
            failed: None,
        };
        pairs.run(1, false);
        pairs.verify()?;
        Ok(pairs)
    }
}

impl Work for Pairs {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn restore(&mut self) {
        self.run(4, false);
    }
    fn run(&mut self, turns: u64, _double: bool) {
        if let Err(e) = malloc_free(self.bytes, turns) {
            self.failed = Some(format!("malloc of {} bytes failed: {e}", self.bytes));
        }
    }
    fn verify(&self) -> Result<(), String> {
        self.failed.clone().map_or(Ok(()), Err)
    }
}

/// A pair with fresh pages, and the evidence that they were.
struct Touched {
    watch: ThreadWatch,
    /// Faults before the sample that was made ready or run last.
    before: Option<u64>,
    ran: bool,
    failed: Option<String>,
}

impl Touched {
    fn new() -> Result<Touched, String> {
        let mut touched = Touched {
            watch: ThreadWatch::open(),
            before: None,
            ran: false,
            failed: None,
        };
        touched.ready();
        touched.run(1, false);
        touched.check();
        touched.verify()?;
        Ok(touched)
    }

    fn faults(&mut self) -> Option<u64> {
        self.watch.read().minor_faults
    }

    /// Whether the sample before took the faults that fresh pages take.
    fn check(&mut self) {
        let (Some(before), Some(now)) = (self.before, self.faults()) else {
            return;
        };
        if self.ran && now - before < least_faults() {
            self.failed = Some(
                "the allocator does not give free memory back, so that the pages of a block are not fresh".into(),
            );
        }
    }
}

/// Faults of a fresh block at least: one for each huge page.
fn least_faults() -> u64 {
    let huge = huge_page_bytes().filter(|&huge| huge <= LARGE);
    (LARGE / huge.unwrap_or_else(base_page_bytes)) as u64
}

impl Work for Touched {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn ready(&mut self) {
        self.check();
        give_back();
        self.before = self.faults();
        self.ran = false;
    }
    fn run(&mut self, turns: u64, _double: bool) {
        if let Err(e) = malloc_touch_free(LARGE, turns) {
            self.failed = Some(format!("malloc of 16 MiB failed: {e}"));
        }
        self.ran = true;
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn verify(&self) -> Result<(), String> {
        self.failed.clone().map_or(Ok(()), Err)
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
    use crate::smoke;

    #[test]
    fn small_blocks_come_and_go() {
        smoke::run(&probes(), "alloc.malloc_free/16B").expect("it runs");
        let mut impossible = Pairs {
            bytes: isize::MAX as usize,
            failed: None,
        };
        impossible.run(1, false);
        assert!(impossible.verify().is_err());
    }

    #[test]
    fn an_untouched_block_takes_no_pages() {
        let notes = smoke::run(&probes(), "alloc.malloc_free/16MiB").expect("it runs");
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
        work.check();
        assert_eq!(work.verify().is_ok(), fresh);
        work.failed = None;
        work.ready();
        work.ran = true;
        work.check();
        work.verify().expect_err("no page at all was touched");
    }
}
