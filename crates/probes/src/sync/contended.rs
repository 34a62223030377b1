//! A mutex and a number that two CPUs want at once.

use super::atomic::Counter;
use crate::engine::reason::Reason;
use crate::engine::team::{Team, others};
use crate::engine::threads::alone;
use kernels::UNROLL;
use meter::probe::{Effort, Probe, SharedPart, Work, WorkError};
use model::run::{Bound, Regime};
use model::share::percent;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time within which the other thread must show that it runs.
const PATIENCE: Duration = Duration::from_millis(200);

const METHOD: &str = "Two threads, pinned to the measured CPU and to one other, whatever the number of CPUs; the other one repeats the same operation without a pause, before the sample, during it and after. The time is the measured thread's, for its own operations; the row's note has its share of all operations. One canary can't show that two CPUs are quiet, so the distribution is reported.";

pub(crate) fn contended_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "mutex contended by two CPUs".into(),
            operation: "One lock and unlock of a mutex, with nothing between, while a thread on another CPU does the same.".into(),
            source: "Ours, to compare with the 2012 list's uncontended mutex.".into(),
            make: Box::new(|worker, _| {
                let mutex = Arc::new(Padded(Mutex::new(())));
                let theirs = mutex.clone();
                contended(&others(&worker.machine), mutex, theirs)
            }),
            ..contended_probe("sync.mutex_contended")
        },
        Probe {
            title: "atomic addition contended by two CPUs".into(),
            operation: "One atomic addition to a number, while a thread on another CPU does the same.".into(),
            source: "Ours, to compare with the uncontended addition.".into(),
            make: Box::new(|worker, _| {
                let counter = Arc::new(Counter::default());
                let theirs = counter.clone();
                contended(&others(&worker.machine), counter, theirs)
            }),
            ..contended_probe("sync.atomic_add_contended")
        },
    ]
}

fn contended_probe(id: &'static str) -> Probe {
    Probe {
        method: METHOD.into(),
        bound: Bound::Memory,
        regime: Regime::Distribution,
        effort: Effort { visits: 2, samples: 8, ..Effort::SCALAR },
        unavailable: alone,
        depends_on: Some(SharedPart::CpuPlacement),
        ..Probe::blank(id)
    }
}

/// What both threads do.
trait Wanted: Send + Sync + 'static {
    /// [`UNROLL`] operations.
    fn operate(&self);
}

/// A mutex on separate cache lines.
#[repr(align(128))]
struct Padded(Mutex<()>);

impl Wanted for Padded {
    fn operate(&self) {
        for _ in 0..UNROLL {
            drop(self.0.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl Wanted for Counter {
    fn operate(&self) {
        kernels::atomic_add_single(&self.0, 1);
    }
}

fn contended<'w, W: Wanted>(
    cpus: &[u32],
    ours: Arc<W>,
    theirs: Arc<W>,
) -> Result<Box<dyn Work + 'w>, WorkError> {
    let other = cpus.get(..1).ok_or(Reason::OneCpu)?;
    let team = Team::until_dropped(
        other,
        |_| Ok(theirs.clone()),
        |wanted| {
            wanted.operate();
            u64::from(UNROLL)
        },
    )?;
    Ok(Box::new(Contended { team, wanted: ours, ours: 0, theirs: 0, stood_still: false }))
}

struct Contended<W> {
    team: Team,
    wanted: Arc<W>,
    /// Operations of this thread within samples.
    ours: u64,
    /// Those of the other thread in that time.
    theirs: u64,
    stood_still: bool,
}

impl<W: Wanted> Work for Contended<W> {
    fn ops_per_turn(&self) -> f64 {
        f64::from(UNROLL)
    }
    fn ready(&mut self) {
        let (before, began) = (self.team.done(), Instant::now());
        while self.team.done() == before {
            if began.elapsed() > PATIENCE {
                self.stood_still = true;
                return;
            }
            std::hint::spin_loop();
        }
    }
    fn run(&mut self, turns: u64, _double: bool) {
        let before = self.team.done();
        for _ in 0..turns {
            self.wanted.operate();
        }
        self.ours += turns * u64::from(UNROLL);
        self.theirs += self.team.done() - before;
    }
    fn contradiction(&self) -> Option<String> {
        self.team.contradiction()
    }
    fn verify(&self) -> Result<(), WorkError> {
        if self.stood_still || (self.ours > 100_000 && self.theirs == 0) {
            return Err(Reason::wrong("the thread on the other CPU did not run").into());
        }
        Ok(())
    }
    fn notes(&self) -> Vec<String> {
        let all = (self.ours + self.theirs).max(1);
        let share = percent(self.ours as f64 / all as f64);
        vec![format!("operations that were the measured thread's: {share}")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing;

    #[test]
    fn both_threads_operate_or_the_row_says_why_not() {
        let one_cpu = alone(&testing::small_machine()).map(WorkError::from);
        for row in ["sync.mutex_contended", "sync.atomic_add_contended"] {
            assert_eq!(testing::run_row(&contended_probes(), row).err(), one_cpu);
        }
        let counter = Arc::new(Counter::default());
        // The same CPU will do: the scheduler lets both have it.
        let mut work =
            contended(&[testing::here()], counter.clone(), counter.clone()).expect("a thread");
        work.ready();
        work.run(10, false);
        work.verify().expect("both ran");
        drop(work);
        let sum = counter.0.load(std::sync::atomic::Ordering::Relaxed);
        assert!(sum > 10 * u64::from(UNROLL), "the other one added too: {sum}");
        assert_eq!(Arc::strong_count(&counter), 1, "the thread is gone");
        let alone = contended(&[], counter.clone(), counter);
        assert!(alone.is_err());
    }
}
