//! A pool of threads behind one pair of semaphores, each with a buffer of its
//! own to sum.

mod room;
mod threads;

use crate::engine::clocks::counters;
use crate::engine::reason::Reason;

use crate::engine::switches::{Rate, sum};
use crate::engine::waits::waited_too_long;
use meter::probe::{
    CounterOrigin, Derive, Effort, Event, MachineShape, Probe, Shape, Work, WorkError, WorkingSet,
};
use model::run::{Axis, Bound, Regime, Scale};
use room::{BUFFER_BYTES, shortage, thread_share};
use threads::{PoolThreads, Round, STACK_BYTES, Story};

/// Share of its time alone that the main thread may wait for a CPU.
const WAITS_AT_MOST: f64 = 0.1;

/// Places of the variants.
const ROUND: usize = 0;
const SINGLE: usize = 1;
const IDEAL: usize = 2;

pub(crate) fn pool_probe() -> Probe {
    Probe {
        variants: vec!["".into(), "single".into(), "ideal".into()],
        title: "a pool of threads, each summing 10 MiB".into(),
        operation: "One sum over 10 MiB of 4-byte elements by a thread of a pool, each thread with its own buffer; all of them wait on one semaphore to start and signal another one when they are done.".into(),
        method: "The main thread signals start once for each of the N threads and waits for done as often: that is a round. The row is the time of a round divided by N. /single is one operation, from a thread's waking to its signal: a thread that is early may do two of a round. /ideal is the time that the main thread needs right before the round to sum the N buffers one after the other with the same loop, divided by N and by the CPUs that may be used (by N where that is less): what a round would cost per operation if they shared the work evenly and waking cost nothing. All threads, the main one too, may run on any CPU allowed. The main thread fills the buffers, on huge pages where the system gives them. The kernel's count of context switches is in the notes; a batch whose rounds passed without one of the main thread contradicts the method, as does one in which it waited for a CPU for more than a tenth of its time alone.".into(),
        source: "Dmitry Kurkin's pool of 16 threads (2017), read in his code: one pair of semaphores for all threads, where the article says one each. He divides by 4, whatever the number of cores; we by those that may be used.".into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        since: Scale::Default,
        shape: Shape::Curve(Axis::Threads, threads),
        effort: Effort {
            visits: 1,
            samples: 4,
            working_set: WorkingSet::Own(BUFFER_BYTES),
            // Filling once; then each sample sums twice, once on all CPUs.
            restore_ns_per_byte: 1.0,
            sample_ns: Some(100_000.0),
        },
        together: true,
        // Kurkin's.
        derive: Derive::Points(&[("16", 16)]),
        make: Box::new(|worker, site| {
            let threads = site.at[0];
            let usable = sys::memory::available_memory().usable_bytes();
            let bytes = thread_share(threads, &worker.machine, usable)?;
            let cpus = &worker.machine.cpus;
            let mut pool = Pool::new(threads as usize, bytes as usize, cpus);
            // Threads may move between two stamps.
            pool.counters = counters(cpus)?.note.clone();
            pool.shortage = shortage(threads, bytes, &worker.machine);
            Ok(Box::new(pool))
        }),
        ..Probe::blank("sched.pool")
    }
}

fn threads(_: &MachineShape, scale: Scale) -> Vec<u64> {
    let mut threads = vec![1, 2, 4, 8, 16];
    if scale == Scale::Full {
        threads.extend([32, 64]);
    }
    threads
}

struct Pool {
    threads: PoolThreads,
    shortage: Option<String>,
    /// How far stamps of different CPUs can be compared.
    counters: Option<String>,
    switches: Option<String>,
    contradiction: Option<String>,
}

impl Pool {
    fn new(threads: usize, bytes: usize, cpus: &[u32]) -> Pool {
        Pool {
            threads: PoolThreads {
                threads,
                bytes,
                cpus: cpus.to_vec(),
                stack_bytes: |_| STACK_BYTES,
            },
            shortage: None,
            counters: None,
            switches: None,
            contradiction: None,
        }
    }

    fn events(&self, story: &Story) -> Result<Vec<Event>, WorkError> {
        let operations = self.threads.threads as u64;
        let mut events = Vec::new();
        for round in &story.rounds {
            let whole = Event {
                series: ROUND,
                from_ticks: 0,
                to_ticks: round.to.wrapping_sub(round.from),
                ops: operations,
                mode: 0,
                place: Some(CounterOrigin { zero_ticks: round.from, thread: story.main }),
            };
            let ideal = Event {
                series: IDEAL,
                to_ticks: round.inline_ticks,
                ops: operations * operations.min(self.threads.cpus.len() as u64).max(1),
                place: None,
                ..whole
            };
            events.extend([whole, ideal]);
        }
        let spans = story.logs.iter();
        let spans = spans.flat_map(|log| log.spans.iter().map(|span| (span, log.thread)));
        for (span, thread) in spans {
            let begun = story.rounds.partition_point(|round| round.from <= span.from);
            // Its time since the round began is when it woke.
            let origin = story.rounds[begun.saturating_sub(1)].from.min(span.from);
            events.push(Event {
                series: SINGLE,
                from_ticks: span.from - origin,
                to_ticks: span.to.wrapping_sub(origin),
                ops: 1,
                mode: 0,
                place: Some(CounterOrigin { zero_ticks: origin, thread }),
            });
        }
        for (number, log) in story.logs.iter().enumerate() {
            let expected = (number as u32 + 1).wrapping_mul((self.threads.bytes / 4) as u32);
            if log.spans.iter().any(|span| span.sum != expected) {
                return Err(Reason::wrong(format!(
                    "thread {number} of the pool summed something else"
                ))
                .into());
            }
        }
        Ok(events)
    }

    fn judge_story(&mut self, story: &Story) {
        let threads = self.threads.threads;
        let rounds = story.rounds.len() as u64;
        let main = sum(story.rounds.iter().map(|round| round.switches));
        let logs = story.logs.iter().map(|log| log.switches);
        self.switches = sum(logs.chain([main])).map(|all| {
            Rate::per(all, rounds * threads as u64).note(&format!("operation, pool of {threads}"))
        });
        // A thread that it wakes may take its CPU before it comes to wait.
        let left = main.map(|main| Rate::per(main, rounds).both());
        let left = left.filter(|&left| left < 0.5).map(|left| {
            format!("context switches of the main thread per round, pool of {threads}: {left:.2} where the method assumes at least 1")
        });
        self.contradiction = left.or_else(|| waited(&story.rounds));
    }
}

/// What contradicts a visit whose main thread, which computes alone before each round, had to
/// wait for its CPU: so had the threads of the pool.
fn waited(rounds: &[Round]) -> Option<String> {
    let (mut waited_ns, mut wall_ns) = (0, 0);
    for round in rounds {
        let (waited, wall) = round.inline_wait_ns?;
        waited_ns += waited;
        wall_ns += wall;
    }
    waited_too_long("the main thread", (waited_ns, wall_ns), WAITS_AT_MOST)
}

impl Work for Pool {
    fn stamped(&mut self, rounds: u32) -> Result<Vec<Event>, WorkError> {
        let story = self.threads.conduct_all(rounds)?;
        self.judge_story(&story);
        self.events(&story)
    }
    fn contradiction(&self) -> Option<String> {
        self.contradiction.clone()
    }
    fn notes(&self) -> Vec<String> {
        self.shortage.iter().chain(&self.switches).chain(&self.counters).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::threads::Log;
    use super::*;
    use crate::engine::threads::run_on;
    use sys::evidence::Switches;

    fn allowed() -> Vec<u32> {
        sys::affinity::allowed_cpus().unwrap_or_else(|_| vec![0])
    }

    /// Threads of this process with the pool's names, once those that have
    /// been joined are gone from /proc too, or half a minute has passed: join
    /// returns a moment before.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn threads_left() -> usize {
        for _ in 0..3000 {
            match threads_of_a_pool() {
                0 => return 0,
                _ => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        }
        threads_of_a_pool()
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn threads_of_a_pool() -> usize {
        std::fs::read_dir("/proc/self/task")
            .expect("readable")
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
            .filter(|name| name.trim() == "pool")
            .count()
    }

    /// Pools of other tests would be counted.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

    fn alone() -> std::sync::MutexGuard<'static, ()> {
        ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    #[test]
    fn each_round_is_n_sums_of_their_own_buffers() {
        let _alone = alone();
        let mut pool = Pool::new(3, 256 << 10, &allowed());
        let story = pool.threads.conduct_all(5).expect("a pool");
        let sums: Vec<u32> =
            story.logs.iter().flat_map(|log| log.spans.iter().map(|span| span.sum)).collect();
        assert_eq!(sums.len(), 15);
        for (number, log) in story.logs.iter().enumerate() {
            let own = (number as u32 + 1) * (64 << 10);
            assert!(log.spans.iter().all(|span| span.sum == own));
        }
        pool.judge_story(&story);
        let events = pool.events(&story).expect("right sums");
        let of = |series| events.iter().filter(move |e| e.series == series);
        assert_eq!(of(ROUND).count(), 5);
        assert_eq!(of(SINGLE).count(), 15);
        assert_eq!(of(IDEAL).count(), 5);
        assert!(of(ROUND).all(|e| e.ops == 3 && e.from_ticks == 0));
        assert!(of(SINGLE).all(|e| e.ops == 1));
        let shared = allowed().len().min(3) as u64;
        assert!(of(IDEAL).all(|e| e.ops == 3 * shared));
        // Each operation lies within a round.
        let longest = of(ROUND).map(|e| e.to_ticks).max().expect("rounds");
        assert!(of(SINGLE).all(|e| e.from_ticks < e.to_ticks && e.to_ticks <= longest));
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            assert_eq!(threads_left(), 0);
            let note = &pool.notes()[0];
            assert!(note.starts_with("context switches per operation, pool of 3: "));
        }
    }

    #[test]
    fn a_sum_that_is_wrong_is_an_error() {
        let _alone = alone();
        let pool = Pool::new(2, 64 << 10, &allowed());
        let mut story = pool.threads.conduct_all(1).expect("a pool");
        pool.events(&story).expect("right");
        for span in story.logs.iter_mut().flat_map(|log| &mut log.spans) {
            span.sum += 1;
        }
        let error = pool.events(&story).expect_err("wrong");
        assert!(error.to_string().contains("summed something else"), "{error}");
    }

    #[test]
    fn threads_that_cant_be_started_are_a_reason_and_the_others_end() {
        let _alone = alone();
        let mut pool = Pool::new(4, 64 << 10, &allowed());
        pool.threads.stack_bytes = |number| {
            if number < 2 { STACK_BYTES } else { usize::MAX / 4 }
        };
        let error = pool.stamped(2).expect_err("no such stack");
        assert!(error.to_string().starts_with("can't start more than 2 of 4 threads"), "{error}");
        #[cfg(any(target_os = "linux", target_os = "android"))]
        assert_eq!(threads_left(), 0);
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn the_pool_is_free_where_the_caller_is_pinned() {
        let _alone = alone();
        let all = allowed();
        let pinned = all[..1].to_vec();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                sys::affinity::pin_to(&pinned).expect("pinned");
                let mut pool = Pool::new(2, 64 << 10, &all);
                pool.stamped(1).expect("a pool");
                let seen = std::thread::scope(|scope| {
                    scope.spawn(|| run_on(&all).map(|()| allowed())).join().expect("no panic")
                });
                assert_eq!(seen.expect("free"), all);
                assert_eq!(allowed(), pinned, "the caller's own is as it was");
            });
        });
        // A set that is not granted is no pool on all CPUs.
        let error = Pool::new(1, 4096, &[8191]).stamped(1).expect_err("no such CPU");
        assert!(error.to_string().contains("8191"), "{error}");
    }

    #[test]
    fn a_main_thread_that_never_leaves_its_cpu_contradicts() {
        let main = |voluntary, involuntary| Some(Switches { voluntary, involuntary });
        let round =
            |switches| Round { from: 0, to: 1, inline_ticks: 1, switches, inline_wait_ns: None };
        let mut pool = Pool::new(1, 4096, &[0]);
        let mut judged = |switches| {
            let story = Story {
                rounds: vec![round(switches), round(main(0, 0)), round(main(0, 0))],
                logs: vec![Log::default()],
                main: None,
            };
            pool.judge_story(&story);
            pool.contradiction()
        };
        let text = judged(main(1, 0)).expect("once in three rounds");
        assert!(text.contains("pool of 1: 0.33 where"), "{text}");
        assert_eq!(judged(main(2, 0)), None, "it slept");
        assert_eq!(judged(main(0, 2)), None, "the thread took its CPU");
        assert_eq!(judged(None), None, "nothing is known");
    }

    #[test]
    fn a_main_thread_that_waits_before_its_rounds_contradicts() {
        let round = |inline_wait_ns| Round {
            from: 0,
            to: 1,
            inline_ticks: 1,
            switches: None,
            inline_wait_ns,
        };
        let of = |waits: [Option<(u64, u64)>; 2]| waited(&waits.map(round));
        assert_eq!(of([Some((0, 20_000_000)), Some((4_000_000, 24_000_000))]), None);
        assert_eq!(
            of([Some((20_000_000, 40_000_000)), Some((0, 20_000_000))]).as_deref(),
            Some("other programs ran: the main thread waited for a CPU 33 % of the time")
        );
        assert_eq!(of([Some((20_000_000, 40_000_000)), None]), None, "not all is known");
    }
}
