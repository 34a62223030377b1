//! What rows share whose threads run on several CPUs and stamp there.

use meter::probe::{Event, Terrain};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use sys::affinity::{current_cpu, pin_to};
use sys::clock::{Counter, Skew, calibrate, measure_skew};
use sys::evidence::run_delay_ns_of;

/// Window of the calibration that notes and the kernel's own times are turned
/// by: good for some parts in a hundred thousand.
const CALIBRATION: Duration = Duration::from_millis(5);

/// Names of the modes of an operation between two threads.
const MODES: [&str; 2] = ["same CPU", "other CPU"];

/// Names of the modes, where the system says on which CPU a thread is.
pub(crate) fn modes() -> Vec<String> {
    match current_cpu() {
        Some(_) => MODES.map(String::from).to_vec(),
        None => Vec::new(),
    }
}

/// The mode of an operation between threads on these two CPUs.
pub(crate) fn mode(one: Option<u32>, other: Option<u32>) -> u8 {
    u8::from(one != other)
}

/// Two stamps as small numbers, the earlier of them 0.
pub(crate) fn apart(from: u64, to: u64) -> (u64, u64) {
    let ticks = to.wrapping_sub(from).cast_signed();
    match ticks {
        0.. => (0, ticks.cast_unsigned()),
        _ => (ticks.unsigned_abs(), 0),
    }
}

/// One operation, or several, between two stamps: a counter that ran
/// backwards gives a negative time, not a huge one.
pub(crate) fn event(from: u64, to: u64, ops: u64, mode: u8) -> Event {
    let (from_ticks, to_ticks) = apart(from, to);
    Event {
        series: 0,
        from_ticks,
        to_ticks,
        ops,
        mode,
    }
}

/// Why a thread could not be started, and what to do.
pub(crate) fn not_started(why: &io::Error) -> String {
    none_started("threads", why)
}

/// The same of whatever counts as a task.
pub(crate) fn none_started(what: &str, why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::WouldBlock => format!(
            "{what} can't be started: {why} (the limit of `ulimit -u` or of the control group's pids.max)"
        ),
        _ => format!("{what} can't be started: {why}"),
    }
}

/// Why rows on several CPUs can't run, if they can't.
pub(crate) fn alone(terrain: &Terrain) -> Option<String> {
    (terrain.cpus.len() < 2).then(|| ONE_CPU.to_string())
}

/// What is said where there is no other CPU.
pub(crate) const ONE_CPU: &str = "only one CPU may be used";

/// Lets the calling thread, and those that it will start, run on all of these
/// CPUs; or leaves it where the system has no such sets.
pub(crate) fn may_run_on(cpus: &[u32]) -> Result<(), String> {
    if cpus.is_empty() {
        return Ok(());
    }
    match pin_to(cpus) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(e) => {
            let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
            Err(format!("a thread can't use CPU {}: {e}", list.join(", ")))
        }
    }
}

/// How long a thread of this process waited for a CPU that others had, from a
/// moment on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    thread: u32,
    began: Instant,
    delay_ns: u64,
}

impl Waits {
    /// From now on, of the thread of this number; `None` where the system does
    /// not count.
    pub(crate) fn of(thread: Option<u32>) -> Option<Waits> {
        Some(Waits {
            thread: thread?,
            began: Instant::now(),
            delay_ns: run_delay_ns_of(thread?)?,
        })
    }

    /// Until now: how long it waited, and of how long, ns.
    pub(crate) fn until_now(&self) -> Option<(u64, u64)> {
        let delay_ns = run_delay_ns_of(self.thread)?.checked_sub(self.delay_ns)?;
        let wall_ns = u64::try_from(self.began.elapsed().as_nanos()).ok()?;
        Some((delay_ns, wall_ns))
    }
}

/// Does this and says how long the calling thread waited for a CPU meanwhile,
/// ns; `None` where the system doesn't count.
pub(crate) fn watched<R>(work: impl FnOnce() -> R) -> (R, Option<u64>) {
    let waits = Waits::of(sys::thread::current_id());
    let done = work();
    let waited = waits.and_then(|waits| waits.until_now());
    (done, waited.map(|(delay_ns, _)| delay_ns))
}

/// What contradicts a row if this thread waited for more than this share of
/// its time.
pub(crate) fn waited_too_long(
    thread: &str,
    (delay_ns, wall_ns): (u64, u64),
    at_most: f64,
) -> Option<String> {
    let share = delay_ns as f64 / wall_ns.max(1) as f64;
    (share > at_most).then(|| {
        format!(
            "other programs ran: {thread} waited for a CPU {:.0} % of the time",
            share * 100.0
        )
    })
}

/// Does work on a thread of its own that may use all of these CPUs, as may the
/// threads that it starts: the measuring thread stays pinned, and waits.
pub(crate) fn on_free_thread<R: Send>(
    cpus: &[u32],
    work: impl FnOnce() -> Result<R, String> + Send,
) -> Result<R, String> {
    thread::scope(|scope| {
        let free = thread::Builder::new().spawn_scoped(scope, || {
            may_run_on(cpus)?;
            work()
        });
        free.map_err(|e| not_started(&e))?
            .join()
            .map_err(|_| "a measuring thread failed".to_string())?
    })
}

/// What is known of the CPUs' counters in this process.
#[derive(Debug)]
pub(crate) struct Counters {
    /// Length of a tick of the best counter, ns.
    pub(crate) ns_per_tick: f64,
    /// How far stamps of different CPUs can be compared, for the reader.
    pub(crate) note: Option<String>,
}

/// Compares the counters of these CPUs, once in this process for each set.
///
/// # Errors
/// The reason, if stamps of different CPUs can't be compared.
pub(crate) fn counters(cpus: &[u32]) -> Result<&'static Counters, String> {
    type Found = Result<&'static Counters, String>;
    static FOUND: Mutex<Vec<(Vec<u32>, Found)>> = Mutex::new(Vec::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = found.iter().find(|(set, _)| set == cpus) {
        return known.clone();
    }
    // Kept for the life of the process: a worker has one set.
    let new = compare(cpus).map(|counters| &*Box::leak(Box::new(counters)));
    found.push((cpus.to_vec(), new.clone()));
    new
}

fn compare(cpus: &[u32]) -> Result<Counters, String> {
    let counter = Counter::best();
    let calibration = calibrate(&counter, CALIBRATION);
    if !calibration.is_usable() {
        return Err(format!("no clock: the {} stands still", counter.name()));
    }
    let ns_per_tick = calibration.ns_per_tick;
    let mut skews = Vec::new();
    for &other in cpus.iter().skip(1) {
        match measure_skew(counter, cpus[0], other) {
            Ok(skew) => skews.push((other, skew)),
            Err(e) => {
                return Ok(Counters {
                    ns_per_tick,
                    note: Some(format!(
                        "the CPUs' counters: not compared, those of CPUs {} and {other} could not be: {e}",
                        cpus[0]
                    )),
                });
            }
        }
    }
    Ok(Counters {
        ns_per_tick,
        note: judge(cpus, &skews, ns_per_tick)?,
    })
}

/// What skews against the first CPU mean for stamps of any two.
fn judge(cpus: &[u32], skews: &[(u32, Skew)], ns_per_tick: f64) -> Result<Option<String>, String> {
    for &(cpu, skew) in skews {
        let width = skew.high_ticks - skew.low_ticks;
        if width < 0 {
            return Err(format!(
                "the counters of CPUs {} and {cpu} run at different rates, so times between stamps of both mean nothing",
                cpus[0]
            ));
        }
        if skew.low_ticks > width || skew.high_ticks < -width {
            let middle = (skew.low_ticks + skew.high_ticks) as f64 / 2.0;
            return Err(format!(
                "the counters of CPUs {} and {cpu} differ by {:.0} ns (to {:.0} ns), so times between stamps of both mean nothing",
                cpus[0],
                middle * ns_per_tick,
                width as f64 / 2.0 * ns_per_tick,
            ));
        }
    }
    // The first CPU against itself stands for nothing but its place.
    let bounds: Vec<(i64, i64)> = std::iter::once((0, 0))
        .chain(skews.iter().map(|(_, s)| (s.low_ticks, s.high_ticks)))
        .collect();
    let most = bounds
        .iter()
        .enumerate()
        .flat_map(|(n, a)| {
            let others = bounds.iter().enumerate().filter(move |(m, _)| *m != n);
            others.map(move |(_, b)| a.1 - b.0)
        })
        .max();
    Ok(most.map(|ticks| {
        format!(
            "the CPUs' counters agree within: ±{:.0} ns",
            upwards(ticks as f64 * ns_per_tick)
        )
    }))
}

/// The next of 1, 2, 5, 10, 20 and so on: workers find the same.
fn upwards(ns: f64) -> f64 {
    let tens = 10_f64.powf(ns.max(1.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|step| step * tens)
        .into_iter()
        .find(|&step| step >= ns)
        .unwrap_or(ns)
}

#[cfg(test)]
pub(crate) mod testing {
    use meter::bench::Bench;
    use meter::probe::Terrain;

    /// Whether this runs under an emulator, whose kernel counts are not the
    /// program's alone.
    pub(crate) fn emulated() -> bool {
        let machine = sys::machine(std::path::Path::new("/"));
        machine.emulated.get().is_some_and(|by| by.name().is_some())
    }

    /// CPUs that the test itself may use.
    pub(crate) fn cpus() -> Vec<u32> {
        sys::allowed_cpus().unwrap_or_default()
    }

    /// A bench with 8 MiB of memory on these CPUs.
    pub(crate) fn bench(cpus: Vec<u32>) -> Bench {
        let terrain = Terrain {
            largest_bytes: 8 << 20,
            cpus,
            ..Terrain::default()
        };
        Bench::new(terrain, 8 << 20, 8 << 20, 1)
    }

    /// Runs this in a thread of that name, which those that it starts inherit,
    /// and fails if one of them is left.
    pub(crate) fn no_thread_is_left(name: &str, work: impl FnOnce() + Send) {
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .name(name.into())
                .spawn_scoped(scope, || {
                    work();
                    // A joined thread may be on its way out for a moment.
                    let begin = std::time::Instant::now();
                    while named(name).is_some_and(|threads| threads > 1) {
                        assert!(begin.elapsed().as_secs() < 10, "{name}: a thread is left");
                        std::thread::yield_now();
                    }
                })
                .expect("a thread")
                .join()
                .expect("no panic");
        });
    }

    /// Threads of this process with this name, where the system tells.
    fn named(name: &str) -> Option<usize> {
        let tasks = std::fs::read_dir("/proc/self/task").ok()?;
        let names =
            tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        Some(names.filter(|comm| comm.trim() == name).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skew(low_ticks: i64, high_ticks: i64) -> Skew {
        Skew {
            low_ticks,
            high_ticks,
            exchanges: 1000,
        }
    }

    #[test]
    fn agreement_is_told_for_the_worst_pair() {
        let of = |skews: &[(u32, Skew)]| judge(&[0, 1, 2], skews, 0.5).expect("they agree");
        assert_eq!(of(&[]), None, "one CPU agrees with itself");
        assert_eq!(
            of(&[(1, skew(-100, 90))]).as_deref(),
            Some("the CPUs' counters agree within: ±50 ns")
        );
        // CPU 1 may be 100 behind while CPU 2 is 150 ahead.
        assert_eq!(
            of(&[(1, skew(-100, 90)), (2, skew(-80, 150))]).as_deref(),
            Some("the CPUs' counters agree within: ±200 ns")
        );
        // Not around 0, but not by more than it is wide.
        assert_eq!(
            of(&[(1, skew(20, 100))]).as_deref(),
            Some("the CPUs' counters agree within: ±50 ns")
        );
    }

    #[test]
    fn counters_apart_or_drifting_are_a_reason() {
        for (ahead, wanted) in [
            (skew(1900, 2100), "differ by 1000 ns (to 50 ns)"),
            (skew(-2100, -1900), "differ by -1000 ns"),
            (skew(30, -30), "run at different rates"),
        ] {
            let reason = judge(&[4, 7], &[(7, ahead)], 0.5).expect_err("no agreement");
            assert!(reason.contains(wanted), "{reason}");
            assert!(reason.contains("CPUs 4 and 7"), "{reason}");
        }
    }

    #[test]
    fn stamps_keep_their_sign() {
        assert_eq!(apart(100, 107), (0, 7));
        assert_eq!(apart(107, 100), (7, 0));
        assert_eq!(apart(u64::MAX, 4), (0, 5), "a counter may wrap");
        assert_eq!(apart(9, 9), (0, 0));
        let backward = event(140, 100, 2, 1);
        assert_eq!((backward.from_ticks, backward.to_ticks), (40, 0));
        assert_eq!((backward.ops, backward.mode), (2, 1));
    }

    #[test]
    fn a_free_thread_may_use_all_and_its_starter_stays() {
        let cpus = testing::cpus();
        if cpus.is_empty() {
            return;
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                pin_to(&cpus[..1]).expect("one of ours");
                let seen = on_free_thread(&cpus, || {
                    let inherited = thread::spawn(sys::allowed_cpus).join();
                    Ok((sys::allowed_cpus(), inherited))
                });
                let (own, inherited) = seen.expect("a thread");
                assert_eq!(own.expect("a set"), cpus);
                assert_eq!(inherited.expect("a thread").expect("a set"), cpus);
                assert_eq!(sys::allowed_cpus().expect("a set"), cpus[..1]);
            });
        });
        let reason = on_free_thread(&[8191], || Ok(())).expect_err("no such CPU");
        assert!(reason.contains("8191"), "{reason}");
    }

    #[test]
    fn a_refused_thread_names_the_limits() {
        let reason = not_started(&io::ErrorKind::WouldBlock.into());
        assert!(reason.contains("ulimit -u"), "{reason}");
        assert!(!not_started(&io::ErrorKind::OutOfMemory.into()).contains("ulimit"));
    }

    #[test]
    fn each_set_of_cpus_is_compared_once() {
        let all = testing::cpus();
        let Some(one) = all.get(..1) else {
            return;
        };
        let of_one = counters(one).expect("it agrees with itself");
        assert_eq!(of_one.note, None);
        assert!(std::ptr::eq(of_one, counters(one).expect("known")));
        if all.len() > 1 {
            let of_all = counters(&all).expect("they agree");
            assert!(of_all.note.is_some(), "not those of one CPU");
        }
    }

    #[test]
    fn a_thread_that_waits_for_its_cpu_is_told_from_one_that_has_it() {
        let of = |delay_ns| waited_too_long("the partner", (delay_ns, 1_000_000), 0.02);
        assert_eq!(of(0), None);
        assert_eq!(of(20_000), None);
        assert_eq!(
            of(430_000).as_deref(),
            Some("other programs ran: the partner waited for a CPU 43 % of the time")
        );
        let id = sys::thread::current_id();
        if let Some(waits) = Waits::of(id) {
            let (delay_ns, wall_ns) = waits.until_now().expect("counted before");
            assert!(delay_ns <= wall_ns, "{delay_ns} of {wall_ns}");
        }
        assert!(Waits::of(None).is_none());
    }

    #[test]
    fn figures_are_rounded_upwards() {
        for (ns, up) in [
            (0.0, 1.0),
            (1.0, 1.0),
            (43.0, 50.0),
            (51.0, 100.0),
            (101.0, 200.0),
        ] {
            assert_eq!(upwards(ns), up);
        }
    }
}
