//! Empty tasks that go to another thread's queue: the frame of every row that
//! posts one and waits for it.

use crate::across::{Counters, counters, event, mode, modes, on_free_thread, watched};
use meter::bench::Bench;
use meter::probe::{Effort, Event, Probe, Text, Work};
use model::run::{Bound, Regime};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use sys::affinity::current_cpu;
use sys::clock::Counter;
use sys::evidence::{Switches, thread_switches};

/// Operations before the first stamp: threads are started, and the scheduler
/// finds a place for them.
const WARM_UP: u32 = 100;

/// Time after which fewer are enough. A caller that spins on the CPU of its own
/// task's thread spins for a whole time slice, some milliseconds.
const WARM_UP_AT_MOST: Duration = Duration::from_millis(20);

/// How long a task may take before it is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// No CPU.
const UNKNOWN: u32 = u32::MAX;
const PENDING: u32 = 0;
const DONE: u32 = 1;

/// What an empty task leaves behind: the CPU that it ran on, and that it has
/// run. On lines of its own, and never freed, since a task may come when
/// nobody waits for it any more.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Flag {
    cpu: AtomicU32,
    state: AtomicU32,
}

impl Flag {
    /// A new one for the rest of the process's life.
    pub(crate) fn forever() -> &'static Flag {
        Box::leak(Box::new(Flag {
            cpu: AtomicU32::new(UNKNOWN),
            state: AtomicU32::new(PENDING),
        }))
    }

    /// The task: empty but for this.
    #[inline]
    pub(crate) fn raise(&self) {
        let cpu = current_cpu().unwrap_or(UNKNOWN);
        self.cpu.store(cpu, Ordering::Relaxed);
        self.state.store(DONE, Ordering::Release);
    }

    /// Before a task is posted.
    #[inline]
    pub(crate) fn lower(&self) {
        self.state.store(PENDING, Ordering::Relaxed);
    }

    /// Whether the task has run, and where.
    pub(crate) fn raised(&self) -> Option<Ran> {
        (self.state.load(Ordering::Acquire) == DONE).then(|| {
            let cpu = self.cpu.load(Ordering::Relaxed);
            Ran((cpu != UNKNOWN).then_some(cpu))
        })
    }

    /// Watches the flag without a pause until the task has run.
    ///
    /// # Errors
    /// That it has not run for so long.
    #[inline]
    pub(crate) fn spin(&self, patience: Duration) -> Result<Ran, String> {
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
                return Err(format!(
                    "a task that was posted has not run within {} s",
                    patience.as_secs_f64()
                ));
            }
        }
    }
}

impl sys::dispatch::Task for Flag {
    fn run(&self) {
        self.raise();
    }
}

/// The CPU on which a task ran, where the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ran(pub(crate) Option<u32>);

/// Posts a task and spins until it has run.
///
/// # Errors
/// Why it can't be posted, or that it does not run.
#[inline]
pub(crate) fn post_and_spin(
    flag: &'static Flag,
    post: impl FnOnce(&'static Flag) -> Result<(), String>,
) -> Result<Ran, String> {
    flag.lower();
    post(flag)?;
    flag.spin(PATIENCE)
}

/// What runs the tasks of a row: opened for a visit, and closed after it, so
/// that no thread of it is left.
pub(crate) trait Executor: Sized {
    /// Starts it, to run on these CPUs, all of which the calling thread and
    /// those that it starts may use.
    ///
    /// # Errors
    /// Why it can't be had.
    fn open(cpus: &[u32]) -> Result<Self, String>;

    /// One operation; where its task ran.
    ///
    /// # Errors
    /// What went wrong.
    fn once(&self) -> Result<Ran, String>;

    /// Ends it, and its threads.
    ///
    /// # Errors
    /// What one of them has to tell.
    fn close(self) -> Result<(), String>;

    /// What a reader must know of it.
    fn note() -> Option<String> {
        None
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
    /// The sentence of a method.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Waiting::Spins => {
                "Where the system puts both on one CPU the caller spins until its time slice is over, which is some milliseconds: a mode of its own. The caller may not sleep: the kernel's count of its voluntary context switches must be below 0.2 an operation, or the visit is marked; a row most of whose visits are is invalid."
            }
            Waiting::Sleeps => {
                "The caller sleeps unless the task is done before it gets to: the kernel's count of its context switches is in the notes."
            }
        }
    }
}

/// The words that rows of tasks share.
pub(crate) const STAMPED: &str = "Each operation is stamped by a thread that may use all allowed CPUs, as may the threads that run the tasks; 100 (or what 20 ms have room for) come before the first stamp. The task notes its CPU's number and raises a flag, and is empty otherwise. Modes: whether it ran on the CPU from which it was posted.";

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
pub(crate) fn work<E: Executor + 'static>(
    bench: &Bench,
    waiting: Waiting,
) -> Result<Box<dyn Work>, String> {
    let cpus = bench.terrain.cpus.clone();
    Ok(Box::new(Tasks::<E> {
        counters: counters(&cpus)?,
        cpus,
        waiting,
        per_operation: None,
        run_delay_ns: None,
        executor: std::marker::PhantomData,
    }))
}

struct Tasks<E> {
    cpus: Vec<u32>,
    counters: &'static Counters,
    waiting: Waiting,
    /// Context switches of the caller per operation, voluntary and forced.
    per_operation: Option<(f64, f64)>,
    /// How long the caller waited for a CPU, ns.
    run_delay_ns: Option<u64>,
    executor: std::marker::PhantomData<E>,
}

impl<E: Executor> Work for Tasks<E> {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, _turns: u64, _double: bool) {}
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, String> {
        self.per_operation = None;
        let ((events, switches), run_delay_ns) = on_free_thread(&self.cpus, || {
            let executor = E::open(&self.cpus)?;
            let (done, run_delay_ns) = watched(|| operate(&executor, operations));
            // Also after an error: its threads must end.
            executor.close()?;
            Ok((done?, run_delay_ns))
        })?;
        self.run_delay_ns = run_delay_ns;
        self.per_operation = switches.map(|switches| {
            let each = |n: u64| n as f64 / f64::from(operations.max(1));
            (each(switches.voluntary), each(switches.involuntary))
        });
        Ok(events)
    }
    fn modes(&self) -> Vec<String> {
        modes()
    }
    fn contradiction(&self) -> Option<String> {
        contradiction(self.waiting, self.per_operation?)
    }
    fn run_delay_ns(&self, _series: usize, _own_ns: u64) -> Option<u64> {
        self.run_delay_ns
    }
    fn notes(&self) -> Vec<String> {
        let switches = self.per_operation.map(|counted| {
            format!(
                "context switches of the caller per operation: {}",
                text(counted)
            )
        });
        let notes = switches.into_iter().chain(E::note());
        notes.chain(self.counters.note.clone()).collect()
    }
}

/// The operations of a visit, and the caller's context switches during those
/// that were stamped.
fn operate<E: Executor>(
    executor: &E,
    operations: u32,
) -> Result<(Vec<Event>, Option<Switches>), String> {
    let counter = Counter::best();
    let began = Instant::now();
    for _ in 0..WARM_UP {
        executor.once()?;
        if began.elapsed() > WARM_UP_AT_MOST {
            break;
        }
    }
    let mut events = Vec::with_capacity(operations as usize);
    let before = thread_switches();
    for _ in 0..operations {
        let here = current_cpu();
        let from = counter.start();
        let ran = executor.once();
        let to = counter.stop();
        events.push(event(from, to, 1, mode(here, ran?.0)));
    }
    let switches = before.zip(thread_switches()).map(|(before, now)| Switches {
        voluntary: now.voluntary.saturating_sub(before.voluntary),
        involuntary: now.involuntary.saturating_sub(before.involuntary),
    });
    Ok((events, switches))
}

fn text((voluntary, forced): (f64, f64)) -> String {
    format!("{voluntary:.2} to sleep, {forced:.2} forced")
}

/// What was counted that the method does not allow for. A neighbour forces
/// switches too: those prove nothing.
fn contradiction(waiting: Waiting, counted: (f64, f64)) -> Option<String> {
    (waiting == Waiting::Spins && counted.0 >= 0.2).then(|| {
        format!(
            "the method assumes a caller that spins, but the kernel counted: {}",
            text(counted)
        )
    })
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::across::testing::{bench, cpus, no_thread_is_left};
    use meter::probe::Site;

    /// Runs a row's work as a visit does, where it can run, and fails if a
    /// thread of it is left. Its notes.
    pub(crate) fn visit(probes: fn() -> Vec<Probe>, row: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let name = row.rsplit(['.', '/']).next().unwrap_or_default();
        no_thread_is_left(&name[..name.len().min(15)], || {
            let probes = probes();
            let probe = probes
                .iter()
                .find(|probe| probe.row_ids().iter().any(|id| id == row))
                .unwrap_or_else(|| panic!("no row {row}"));
            let mut bench = bench(cpus());
            let site = Site {
                variant: probe.variant_of(row).to_string(),
                at: Vec::new(),
            };
            let mut work = (probe.make)(&mut bench, &site).expect("work");
            let events = work.stamped(20).unwrap_or_else(|e| panic!("{row}: {e}"));
            assert_eq!(events.len(), 20, "{row}");
            let modes = work.modes();
            for event in events {
                assert_eq!((event.series, event.ops, event.from_ticks), (0, 1, 0));
                assert!(event.to_ticks > 0, "{row}");
                assert!(modes.is_empty() || usize::from(event.mode) < modes.len());
            }
            notes = work.notes();
        });
        if thread_switches().is_some() {
            assert!(notes[0].starts_with("context switches of the caller"));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::across::testing::{bench, cpus};
    use std::sync::atomic::AtomicU64;

    /// Runs its tasks at once, on the caller; counts; some fail.
    struct Counted;
    static OPENED: AtomicU64 = AtomicU64::new(0);
    static CLOSED: AtomicU64 = AtomicU64::new(0);
    static ONCE: AtomicU64 = AtomicU64::new(0);
    const FAILS_AT: u64 = 130 + 100 + 5;

    impl Executor for Counted {
        fn open(wanted: &[u32]) -> Result<Counted, String> {
            assert_eq!(sys::allowed_cpus().ok().as_deref(), Some(wanted));
            OPENED.fetch_add(1, Ordering::SeqCst);
            Ok(Counted)
        }
        fn once(&self) -> Result<Ran, String> {
            if ONCE.fetch_add(1, Ordering::SeqCst) + 1 == FAILS_AT {
                return Err("out of paper".into());
            }
            Ok(Ran(current_cpu()))
        }
        fn close(self) -> Result<(), String> {
            CLOSED.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    /// Takes longer than the warm-up may.
    struct Slow;
    static SLOW: AtomicU64 = AtomicU64::new(0);

    impl Executor for Slow {
        fn open(_: &[u32]) -> Result<Slow, String> {
            Ok(Slow)
        }
        fn once(&self) -> Result<Ran, String> {
            SLOW.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(WARM_UP_AT_MOST + Duration::from_millis(1));
            Ok(Ran(None))
        }
        fn close(self) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn each_visit_opens_and_closes_even_after_an_error() {
        let mut work = work::<Counted>(&bench(cpus()), Waiting::Spins).expect("CPUs agree");
        let events = work.stamped(30).expect("it runs");
        assert_eq!(events.len(), 30);
        assert_eq!(ONCE.load(Ordering::SeqCst), 130, "a hundred to warm up");
        // Those take no time to speak of; slow ones are cut short.
        let slow = operate(&Slow, 2).expect("it runs").0;
        assert_eq!(slow.len(), 2);
        assert_eq!(SLOW.load(Ordering::SeqCst), 1 + 2);
        let modes = work.modes();
        let same = |event: &Event| modes.is_empty() || modes[usize::from(event.mode)] == "same CPU";
        assert!(events.iter().filter(|event| same(event)).count() > 20);
        let reason = work.stamped(30).expect_err("it failed");
        assert_eq!(reason, "out of paper");
        assert!(work.notes().iter().all(|note| !note.contains("switches")));
        for count in [&OPENED, &CLOSED] {
            assert_eq!(count.load(Ordering::SeqCst), 2);
        }
    }

    #[test]
    fn a_spinning_caller_waits_for_its_task_and_no_longer_than_its_patience() {
        let flag = Flag::forever();
        assert_eq!(flag.raised(), None);
        let reason = flag
            .spin(Duration::from_millis(1))
            .expect_err("nobody posted");
        assert_eq!(reason, "a task that was posted has not run within 0.001 s");
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
        let lowered = post_and_spin(flag, |flag| {
            flag.raised().map_or(Err("it is down".into()), |_| Ok(()))
        });
        assert_eq!(lowered, Err("it is down".into()));
    }

    #[test]
    fn a_caller_that_slept_contradicts_spinning_only() {
        let said = contradiction(Waiting::Spins, (0.25, 0.0)).expect("it slept");
        assert!(
            said.ends_with("counted: 0.25 to sleep, 0.00 forced"),
            "{said}"
        );
        assert_eq!(contradiction(Waiting::Spins, (0.19, 3.0)), None);
        assert_eq!(contradiction(Waiting::Sleeps, (1.0, 0.0)), None);
    }
}
