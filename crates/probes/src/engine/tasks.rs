//! Empty tasks that go to another thread's queue: the frame of every row that
//! posts one and waits for it.

use super::clocks::{Counters, counters};
use super::reason::Reason;
use super::switches::{Rate, since};
use super::threads::{NO_CPU, event, mode, modes, on_free_thread, some_cpu};
use super::waits::{ThreadsWait, process_watched};
use meter::probe::{Effort, Event, Probe, Text, Work, WorkError};
use meter::worker_memory::WorkerMemory;
use model::run::{Bound, Regime};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use sys::affinity::current_cpu;
use sys::clock::Counter;
use sys::evidence::{Switches, thread_switches};

/// Operations before the first stamp: threads are started, and the scheduler
/// finds a place for them.
const WARM_UP: u32 = 100;

/// Time after which fewer are enough. A caller that spins on the CPU of its
/// task's thread spins for a whole time slice, some milliseconds.
const WARM_UP_AT_MOST: Duration = Duration::from_millis(20);

/// How long a task may take before it is given up.
const PATIENCE: Duration = Duration::from_secs(10);

const PENDING: u32 = 0;
const DONE: u32 = 1;

/// What an empty task leaves behind: the CPU that it ran on, and that it has
/// run. On separate cache lines, and never freed, since a task may come when
/// the caller has given up.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Flag {
    cpu: AtomicU32,
    state: AtomicU32,
}

impl Flag {
    /// A new one for the rest of the process's life.
    pub(crate) fn forever() -> &'static Flag {
        Box::leak(Box::new(Flag { cpu: AtomicU32::new(NO_CPU), state: AtomicU32::new(PENDING) }))
    }

    /// The task: empty but for this.
    #[inline]
    pub(crate) fn raise(&self) {
        let cpu = current_cpu().unwrap_or(NO_CPU);
        self.cpu.store(cpu, Ordering::Relaxed);
        self.state.store(DONE, Ordering::Release);
    }

    /// Before a task is posted.
    #[inline]
    pub(crate) fn lower(&self) {
        self.state.store(PENDING, Ordering::Relaxed);
    }

    /// Whether the task has run, and where.
    pub(crate) fn raised(&self) -> Option<TaskCpu> {
        (self.state.load(Ordering::Acquire) == DONE)
            .then(|| TaskCpu(some_cpu(self.cpu.load(Ordering::Relaxed))))
    }

    /// Watches the flag without a pause until the task has run.
    #[inline]
    pub(crate) fn spin(&self, patience: Duration) -> Result<TaskCpu, Reason> {
        let mut began: Option<Instant> = None;
        loop {
            // A clock would be a part of what is measured: it is looked at
            // only after longer than any task takes.
            for _ in 0..1 << 20 {
                if let Some(ran) = self.raised() {
                    return Ok(ran);
                }
            }
            if began.get_or_insert_with(Instant::now).elapsed() > patience {
                return Err(Reason::TimedOut {
                    what: "a task that was posted has not run".into(),
                    patience,
                });
            }
        }
    }
}

impl sys::dispatch::QueueTask for Flag {
    fn run(&self) {
        self.raise();
    }
}

/// The CPU on which a task ran, where the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskCpu(pub(crate) Option<u32>);

/// Posts a task and spins until it has run.
#[inline]
pub(crate) fn post_and_spin(
    flag: &'static Flag,
    post: impl FnOnce(&'static Flag) -> Result<(), Reason>,
) -> Result<TaskCpu, Reason> {
    flag.lower();
    post(flag)?;
    flag.spin(PATIENCE)
}

/// What runs the tasks of a row: opened for a visit, and closed after it, so
/// that no thread of it is left.
pub(crate) trait Executor: Sized {
    /// Starts it, to run on these CPUs, all of which the calling thread and
    /// those that it starts may use.
    fn start_on(cpus: &[u32]) -> Result<Self, Reason>;

    /// One operation; where its task ran.
    fn once(&self) -> Result<TaskCpu, Reason>;

    /// Ends it, and its threads.
    fn close(self) -> Result<(), Reason>;

    /// What a reader must know of it.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Threads that an operation creates and ends.
    fn creates(&self) -> u64 {
        0
    }
}

/// How the caller waits for a task, which the kernel's count must bear out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// It spins, and so never sleeps.
    Spins,
    /// It sleeps, unless the task is done before it comes to it.
    Sleeps,
}

impl Waiting {
    /// What the caller and the threads of its tasks waited for a CPU.
    fn of_others_ns(self, waited: ThreadsWait) -> u64 {
        match self {
            // A task on the caller's CPU waits for its time slice, too.
            Waiting::Spins => waited.least_ns,
            Waiting::Sleeps => waited.in_turns_ns(),
        }
    }

    pub(crate) fn how_it_waits(self) -> &'static str {
        match self {
            Waiting::Spins => {
                "Where the system puts both on one CPU the caller spins until its time slice is over, which takes milliseconds: a separate mode. The caller may not sleep: the kernel's count of its voluntary context switches must be below 0.2 per operation, or the batch is marked; a row with most batches marked is invalid."
            }
            Waiting::Sleeps => {
                "The caller sleeps unless the task is done before: the kernel's count of its context switches is in the notes."
            }
        }
    }
}

/// The words that rows of tasks share.
pub(crate) const STAMPED: &str = "Each operation is stamped by a thread that may use all allowed CPUs, as may the threads that run the tasks; 100 operations (fewer, where they take more than 20 ms) come before the first stamp. The task stores its CPU's number and sets a flag, and is empty otherwise. Modes: whether it ran on the CPU from which it was posted.";

/// A row of tasks without its texts.
pub(crate) fn blank(id: impl Into<Text>, sample_ns: f64) -> Probe {
    Probe {
        bound: Bound::Memory,
        regime: Regime::Stamped,
        effort: Effort {
            // Each may take a time slice; all visits' are enough for a p99.
            visits: 4,
            samples: 32,
            sample_ns: Some(sample_ns),
            ..Effort::SCALAR
        },
        ..Probe::blank(id)
    }
}

/// The work of a row whose operations an executor performs.
pub(crate) fn executor_work<E: Executor + 'static>(
    worker: &WorkerMemory,
    waiting: Waiting,
) -> Result<Box<dyn Work>, WorkError> {
    let cpus = worker.machine.cpus.clone();
    Ok(Box::new(Tasks::<E> {
        counters: counters(&cpus)?,
        cpus,
        waiting,
        switches: None,
        run_delay_ns: None,
        notes: Vec::new(),
        executor: std::marker::PhantomData,
    }))
}

struct Tasks<E> {
    cpus: Vec<u32>,
    counters: &'static Counters,
    waiting: Waiting,
    /// Context switches of the caller per operation.
    switches: Option<Rate>,
    /// How long the caller and the threads of the tasks waited for a CPU, ns.
    run_delay_ns: Option<u64>,
    /// Of the executor of the last visit.
    notes: Vec<String>,
    executor: std::marker::PhantomData<E>,
}

impl<E: Executor> Work for Tasks<E> {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        self.switches = None;
        let (((events, switches), waited), notes) = on_free_thread(&self.cpus, || {
            let executor = E::start_on(&self.cpus)?;
            let done = operate(&executor, operations);
            let notes = executor.notes();
            // Also after an error: its threads must end.
            executor.close()?;
            Ok((done?, notes))
        })?;
        self.notes = notes;
        self.run_delay_ns = waited.map(|waited| self.waiting.of_others_ns(waited));
        self.switches = switches.map(|all| Rate::per(all, u64::from(operations)));
        Ok(events)
    }
    fn modes(&self) -> Vec<String> {
        modes()
    }
    fn contradiction(&self) -> Option<String> {
        contradiction(self.waiting, self.switches?)
    }
    fn run_delay_ns(&self, _series: usize, _own_ns: u64) -> Option<u64> {
        self.run_delay_ns
    }
    fn notes(&self) -> Vec<String> {
        let switches = self.switches.map(|rate| rate.note("operation of the caller"));
        let notes = switches.into_iter().chain(self.notes.clone());
        notes.chain(self.counters.note.clone()).collect()
    }
}

/// The stamped operations of a visit and the caller's context switches during them.
type Stamped = (Vec<Event>, Option<Switches>);

/// The operations of a visit, and what all threads waited for a CPU during those that were
/// stamped.
fn operate<E: Executor>(
    executor: &E,
    operations: u32,
) -> Result<(Stamped, Option<ThreadsWait>), Reason> {
    let counter = Counter::best();
    let began = Instant::now();
    for _ in 1..WARM_UP {
        executor.once()?;
        if began.elapsed() > WARM_UP_AT_MOST {
            break;
        }
    }
    process_watched(executor.creates() * u64::from(operations), || {
        // The last of them: threads have rested while the kernel was asked.
        executor.once()?;
        let mut events = Vec::with_capacity(operations as usize);
        let before = thread_switches();
        for _ in 0..operations {
            let here = current_cpu();
            let from = counter.start();
            let ran = executor.once();
            let to = counter.stop();
            events.push(event(from, to, 1, mode(here, ran?.0)));
        }
        Ok((events, since(before)))
    })
}

/// What was counted that the method does not allow for. A neighbour forces
/// switches too: those prove nothing.
fn contradiction(waiting: Waiting, rate: Rate) -> Option<String> {
    let slept = waiting == Waiting::Spins && rate.voluntary >= 0.2;
    slept.then(|| rate.contradiction("a caller that spins"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, worker};
    use std::sync::atomic::AtomicU64;

    /// Runs its tasks at once, on the caller; counts; some fail.
    struct CountingExecutor;
    static OPENED: AtomicU64 = AtomicU64::new(0);
    static CLOSED: AtomicU64 = AtomicU64::new(0);
    static ONCE: AtomicU64 = AtomicU64::new(0);
    static FAILS_AT: AtomicU64 = AtomicU64::new(u64::MAX);

    impl Executor for CountingExecutor {
        fn start_on(wanted: &[u32]) -> Result<CountingExecutor, Reason> {
            assert_eq!(sys::allowed_cpus().ok().as_deref(), Some(wanted));
            OPENED.fetch_add(1, Ordering::SeqCst);
            Ok(CountingExecutor)
        }
        fn once(&self) -> Result<TaskCpu, Reason> {
            if ONCE.fetch_add(1, Ordering::SeqCst) == FAILS_AT.load(Ordering::SeqCst) {
                return Err(Reason::OneCpu);
            }
            Ok(TaskCpu(current_cpu()))
        }
        fn close(self) -> Result<(), Reason> {
            CLOSED.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    /// Takes longer than the warm-up may.
    struct Slow;
    static SLOW: AtomicU64 = AtomicU64::new(0);

    impl Executor for Slow {
        fn start_on(_: &[u32]) -> Result<Slow, Reason> {
            Ok(Slow)
        }
        fn once(&self) -> Result<TaskCpu, Reason> {
            SLOW.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(WARM_UP_AT_MOST + Duration::from_millis(1));
            Ok(TaskCpu(None))
        }
        fn close(self) -> Result<(), Reason> {
            Ok(())
        }
    }

    #[test]
    fn each_visit_opens_and_closes_even_after_an_error() {
        let mut work =
            executor_work::<CountingExecutor>(&worker(cpus()), Waiting::Spins).expect("CPUs agree");
        let mut events = Vec::new();
        // Those take no time to speak of; a busy machine may cut some short all the same.
        let warmed_up = (0..100).any(|_| {
            let before = ONCE.load(Ordering::SeqCst);
            events = work.stamped(30).expect("it runs");
            assert_eq!(events.len(), 30);
            ONCE.load(Ordering::SeqCst) - before == 130
        });
        assert!(warmed_up, "a hundred to warm up");
        // Slow ones are always.
        let ((slow, _), _) = operate(&Slow, 2).expect("it runs");
        assert_eq!(slow.len(), 2);
        assert_eq!(SLOW.load(Ordering::SeqCst), 2 + 2);
        let modes = work.modes();
        let same = |event: &Event| modes.is_empty() || modes[usize::from(event.mode)] == "same CPU";
        assert!(events.iter().filter(|event| same(event)).count() > 20);
        FAILS_AT.store(ONCE.load(Ordering::SeqCst) + 20, Ordering::SeqCst);
        let opened = OPENED.load(Ordering::SeqCst);
        let reason = work.stamped(30).expect_err("it failed");
        assert_eq!(reason, Reason::OneCpu.into());
        assert!(work.notes().iter().all(|note| !note.contains("switches")));
        for count in [&OPENED, &CLOSED] {
            assert_eq!(count.load(Ordering::SeqCst), opened + 1);
        }
    }

    #[test]
    fn a_spinning_caller_waits_for_its_task_and_no_longer_than_its_patience() {
        let flag = Flag::forever();
        assert_eq!(flag.raised(), None);
        let reason = flag.spin(Duration::from_millis(1)).expect_err("nothing was posted");
        assert!(matches!(reason, Reason::TimedOut { .. }), "{reason}");
        let ran = post_and_spin(flag, |flag| {
            std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                flag.raise();
            });
            assert_eq!(flag.raised(), None);
            Ok(())
        });
        assert_eq!(ran.expect("it ran").0.is_some(), current_cpu().is_some());
        // An earlier task's flag is no answer.
        let lowered =
            post_and_spin(flag, |flag| flag.raised().map_or(Err(Reason::OneCpu), |_| Ok(())));
        assert_eq!(lowered, Err(Reason::OneCpu));
    }

    #[test]
    fn a_caller_that_slept_contradicts_spinning_only() {
        let rate = |voluntary, involuntary| Rate { voluntary, involuntary };
        assert!(contradiction(Waiting::Spins, rate(0.25, 0.0)).is_some());
        assert_eq!(contradiction(Waiting::Spins, rate(0.19, 3.0)), None);
        assert_eq!(contradiction(Waiting::Sleeps, rate(1.0, 0.0)), None);
    }
}
