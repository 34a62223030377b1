//! malloc and free.

use crate::faults::Faulting;
use crate::repeated::{PLAIN, Repeated};
use meter::probe::{Effort, Probe, Work, WorkingSet};
use model::run::{Bound, Regime};
use sys::heap::{give_back, malloc_free, malloc_touch_free};

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
            method: format!("{PLAIN} On Ash's systems a block of this size was mapped and unmapped each time. So it is by musl; glibc keeps it after the first free (its threshold for mapping follows the largest block freed), and hands the same addresses out again: the row is what a loop of the pair costs here, and its note has the page faults. {THREADED}").into(),
            source: SOURCE.into(),
            bound: Bound::Memory,
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
                working_set: WorkingSet::Fixed(LARGE as u64),
                restore_ns_per_byte: 0.4,
                sample_ns: Some(5_000_000.0),
            },
            make: Box::new(|_, _| Ok(Box::new(Faulting::new(Touched(Repeated::new(
                "malloc of 16 MiB",
                || malloc_touch_free(LARGE, 1),
            )?))))),
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
                    "the process needs to have had a second thread, and none can be started: {e}"
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

/// A pair with fresh pages.
struct Touched<F>(Repeated<F>);

impl<F: FnMut() -> std::io::Result<()>> Work for Touched<F> {
    fn ops_per_turn(&self) -> f64 {
        self.0.ops_per_turn()
    }
    fn ready(&mut self) {
        give_back();
    }
    fn run(&mut self, turns: u64, double: bool) {
        self.0.run(turns, double);
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn verify(&self) -> Result<(), String> {
        self.0.verify()
    }
}

impl<F> Drop for Touched<F> {
    fn drop(&mut self) {
        // Other workers are planned without these 16 MiB.
        give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoke;

    fn faults_a_turn(row: &str) -> f64 {
        let notes = smoke::run(&probes(), row).expect("it runs");
        let note = notes
            .iter()
            .find_map(|note| note.strip_prefix("page faults a turn of the loop: "));
        note.expect("the faults").parse().expect("a number")
    }

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
    fn only_the_touched_block_takes_its_pages() {
        let huge_pages = sys::pages::huge_page_bytes().map_or(1, |huge| LARGE / huge);
        assert!(faults_a_turn("alloc.malloc_free/16MiB_touched") >= huge_pages as f64);
        assert!(faults_a_turn("alloc.malloc_free/16MiB") < 40.0);
    }
}
