//! The evidence Linux gives.

use std::fs::File;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;

use super::cgroup::{self, CpuStat};
use crate::child::usage_of;
use crate::cpu_times::{CpuTicks, CpuTimes, tick_ns};
use crate::evidence::{Scheduled, Switches, ThreadReading, thread_cpu_ns};
use crate::files::{Tree, kernel_text};

/// Reads what happened to the thread that opened it. The files stay open, so
/// that a reading is a `pread` and not a path lookup. Not `Send`: opened in
/// one thread and read in another it would tell of the wrong one.
///
/// Rough costs on a 2-core Zen 3 virtual machine: [`read_cheap`] 1.2 µs when
/// it is quiet and 4.5 µs when others compile; [`read`] three to four times that.
///
/// [`read_cheap`]: ThreadWatch::read_cheap
/// [`read`]: ThreadWatch::read
#[derive(Debug)]
pub struct ThreadWatch {
    schedstat: Option<File>,
    throttling: Vec<CpuStat>,
    // A raw pointer is not `Send`.
    this_thread_only: PhantomData<*const ()>,
}

impl ThreadWatch {
    /// Opens the sources for the calling thread. Never fails: a source that
    /// is missing gives `None` in each reading.
    pub fn for_this_thread() -> ThreadWatch {
        ThreadWatch {
            // `/proc/self` would be the main thread.
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            throttling: cgroup::cpu_stats(&Tree::system()),
            this_thread_only: PhantomData,
        }
    }

    /// Everything.
    pub fn read(&mut self) -> ThreadReading {
        let usage = usage_of(RUSAGE_THREAD);
        let count = |field: fn(&libc::rusage) -> libc::c_long| {
            usage.as_ref().and_then(|u| u64::try_from(field(u)).ok())
        };
        ThreadReading {
            cpu_ns: thread_cpu_ns(),
            voluntary_switches: count(|u| u.ru_nvcsw),
            involuntary_switches: count(|u| u.ru_nivcsw),
            minor_faults: count(|u| u.ru_minflt),
            major_faults: count(|u| u.ru_majflt),
            throttled_us: sum_throttled(&self.throttling),
            ..self.read_cheap()
        }
    }

    /// Only the run delay and the CPU, for use around each sample.
    pub fn read_cheap(&mut self) -> ThreadReading {
        ThreadReading {
            run_delay_ns: self.schedstat.as_ref().and_then(run_delay_ns),
            cpu: super::affinity::current_cpu(),
            ..ThreadReading::default()
        }
    }
}

fn run_delay_ns(schedstat: &File) -> Option<u64> {
    // Three decimal numbers of at most 20 digits.
    let mut buffer = [0; 80];
    let length = schedstat.read_at(&mut buffer, 0).ok()?;
    run_delay_of(std::str::from_utf8(&buffer[..length]).ok()?)
}

/// Run delay of a thread, ns: [`ThreadReading::run_delay_ns`] without a watch,
/// by the id that [`current_id`](crate::thread::current_id) gives. A process's
/// id is that of its first thread.
pub fn run_delay_ns_of(thread: u32) -> Option<u64> {
    Some(scheduled_thread(thread)?.runnable_ns)
}

/// What each thread of this process has had of the CPUs since it began. `None` where the kernel
/// doesn't count it.
pub fn scheduled_threads() -> Option<Vec<Scheduled>> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let ids = threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // One that ends meanwhile has none.
    let all: Vec<Scheduled> = ids.filter_map(scheduled_thread).collect();
    (!all.is_empty()).then_some(all)
}

/// The same of the thread of this id.
pub fn scheduled_thread(thread: u32) -> Option<Scheduled> {
    let schedstat = kernel_text(format!("/proc/{thread}/schedstat")).ok()?;
    let ran_ns = schedstat.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Scheduled { thread, ran_ns, runnable_ns: run_delay_of(&schedstat)? })
}

/// `CPU-time run-delay timeslices`, times in ns
/// (Documentation/scheduler/sched-stats.rst).
fn run_delay_of(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// `include/uapi/linux/resource.h`; libc lacks it for Android.
const RUSAGE_THREAD: libc::c_int = 1;

/// Context switches of the calling thread: what a [`ThreadWatch`] reads,
/// without opening one. `None` where the system counts per process only.
pub fn thread_switches() -> Option<Switches> {
    let usage = usage_of(RUSAGE_THREAD)?;
    Some(Switches {
        voluntary: u64::try_from(usage.ru_nvcsw).ok()?,
        involuntary: u64::try_from(usage.ru_nivcsw).ok()?,
    })
}

/// Times the calling thread went on on another CPU, since it began. `None` where
/// the kernel does not show it (CONFIG_SCHED_DEBUG).
pub fn thread_migrations() -> Option<u64> {
    migrations_of(&kernel_text("/proc/thread-self/sched").ok()?)
}

/// `se.nr_migrations                             :                   17`.
fn migrations_of(sched: &str) -> Option<u64> {
    let line = sched.lines().find_map(|line| line.strip_prefix("se.nr_migrations"))?;
    line.trim().strip_prefix(':')?.trim().parse().ok()
}

fn sum_throttled(stats: &[CpuStat]) -> Option<u64> {
    // `sum` of an empty list would say 0 where nothing is known.
    stats.iter().map(CpuStat::throttled_us).reduce(|a, b| Some(a? + b?))?
}

/// Time for which CPU quotas stopped this process's control groups: [`throttled_us`] with
/// open files.
#[derive(Debug)]
pub struct QuotaWatch(Vec<CpuStat>);

impl QuotaWatch {
    /// Opens what there is; without anything there is no reading.
    pub fn for_this_process() -> QuotaWatch {
        QuotaWatch(cgroup::cpu_stats(&Tree::system()))
    }

    /// As [`throttled_us`].
    pub fn throttled_us(&self) -> Option<u64> {
        sum_throttled(&self.0)
    }
}

/// Time for which CPU quotas stopped this process's control groups, in µs:
/// [`ThreadReading::throttled_us`] without a watch.
pub fn throttled_us() -> Option<u64> {
    sum_throttled(&cgroup::cpu_stats(&Tree::system()))
}

/// Steal time since boot, in ns over all CPUs, in steps of a scheduler tick
/// (`/proc/stat`). 0 also where the hypervisor does not report it.
pub fn steal_ns() -> Option<u64> {
    steal_in(|times| times.all)
}

/// CPU time since boot of everything but this process and the children that it has waited for, in ns
/// over all CPUs, in steps of a scheduler tick (`/proc/stat`).
pub fn others_cpu_ns() -> Option<u64> {
    let all = CpuTimes::now().ok()?.all?;
    let busy_ns = all.user.saturating_add(all.system).checked_mul(tick_ns())?;
    Some(busy_ns.saturating_sub(crate::child::family_cpu_ns()?))
}

/// [`steal_ns`] of one CPU.
pub fn steal_ns_of(cpu: u32) -> Option<u64> {
    let of_cpu = |times: CpuTimes| times.cpus.into_iter().find(|(number, _)| *number == cpu);
    steal_in(|times| of_cpu(times).map(|(_, ticks)| ticks))
}

fn steal_in(of: impl FnOnce(CpuTimes) -> Option<CpuTicks>) -> Option<u64> {
    let ticks = of(CpuTimes::now().ok()?)?;
    ticks.steal?.checked_mul(tick_ns())
}

/// How often a CPU has gone idle since boot, whatever idle state it chose
/// (Documentation/admin-guide/pm/cpuidle.rst). `None` where the kernel doesn't count it.
pub fn idle_entries_of(cpu: u32) -> Option<u64> {
    idle_entries_in(&format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle"))
}

fn idle_entries_in(directory: &str) -> Option<u64> {
    let states = std::fs::read_dir(directory).ok()?.filter_map(Result::ok);
    let usage = states.filter_map(|state| kernel_text(state.path().join("usage")).ok());
    // With idle=poll the states are there and none is ever entered.
    let entries: u64 = usage.filter_map(|count| count.trim().parse::<u64>().ok()).sum();
    (entries > 0).then_some(entries)
}

/// Load averages over 1, 5 and 15 minutes.
pub fn load_average() -> Option<[f64; 3]> {
    load_of(&kernel_text("/proc/loadavg").ok()?)
}

fn load_of(loadavg: &str) -> Option<[f64; 3]> {
    let mut numbers = loadavg.split_ascii_whitespace().map_while(|word| word.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// CPU pressure: the share of the last ten seconds in which some task waited
/// for a CPU, in percent (`/proc/pressure/cpu`).
pub fn pressure_cpu_some_avg10() -> Option<f64> {
    pressure_of(&kernel_text("/proc/pressure/cpu").ok()?)
}

fn pressure_of(pressure: &str) -> Option<f64> {
    let some = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|pair| pair.strip_prefix("avg10="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_was_waited_for_is_none_of_the_others() {
        // A second of work, more than ticks are off.
        let before = others_cpu_ns().expect("/proc/stat");
        let own = crate::child::family_cpu_ns().expect("getrusage");
        while crate::child::family_cpu_ns().expect("getrusage") < own + 1_000_000_000 {}
        let all = |times: CpuTimes| times.all.map(|all| (all.user + all.system) * tick_ns());
        let busy = all(CpuTimes::now().expect("/proc/stat")).expect("a sum");
        let after = others_cpu_ns().expect("/proc/stat");
        assert!(after >= before && busy - after >= 1_000_000_000, "{before} {after} {busy}");
    }

    #[test]
    fn schedstat_gives_its_second_number() {
        assert_eq!(run_delay_of("119238472 8842 17\n"), Some(8842));
        assert_eq!(run_delay_of("119238472"), None);
    }

    #[test]
    fn migrations_are_a_line_of_many() {
        let sched = "x (7, #threads: 1)\n-----\nse.nr_migrations   :   17\nnr_switches : 3\n";
        assert_eq!(migrations_of(sched), Some(17));
        assert_eq!(migrations_of("nr_switches : 3\n"), None);
    }

    #[test]
    fn a_threads_run_delay_is_its_own() {
        let own = crate::thread::current_id().expect("Linux numbers its threads");
        let watched = || ThreadWatch::for_this_thread().read_cheap().run_delay_ns;
        let (before, Some(now), after) = (watched(), run_delay_ns_of(own), watched()) else {
            assert_eq!(watched(), None, "a kernel without schedstat");
            return;
        };
        assert!((before..=after).contains(&Some(now)));
        assert_eq!((run_delay_ns_of(u32::MAX), scheduled_thread(u32::MAX)), (None, None));
        // Its time on the CPU is added up when it leaves the CPU, or at a tick.
        std::thread::sleep(std::time::Duration::from_millis(1));
        let all = scheduled_threads().expect("it counts");
        let own = all.iter().find(|one| one.thread == own).expect("this thread");
        assert!(own.ran_ns > 0 && Some(own.runnable_ns) >= before, "{own:?}");
    }

    #[test]
    fn idle_entries_are_those_of_all_states() {
        let directory = tempfile::tempdir().expect("a directory");
        let state = |name: &str, usage: &str| {
            let state = directory.path().join(name);
            std::fs::create_dir_all(&state).expect("a directory");
            std::fs::write(state.join("usage"), usage).expect("written");
        };
        let entries = || idle_entries_in(directory.path().to_str().expect("UTF-8"));
        assert_eq!(entries(), None, "no states");
        state("state0", "0\n");
        assert_eq!(entries(), None, "none is ever entered");
        state("state1", "41\n");
        state("state2", "1\n");
        assert_eq!(entries(), Some(42));
    }

    #[test]
    fn load_and_pressure() {
        assert_eq!(load_of("0.50 1.25 2.00 1/95 4242\n"), Some([0.5, 1.25, 2.0]));
        assert_eq!(load_of("0.50 1.25"), None);
        let psi = "some avg10=3.25 avg60=0.45 avg300=0.27 total=5670429\nfull avg10=9.00 avg60=0 avg300=0 total=0\n";
        assert_eq!(pressure_of(psi), Some(3.25));
        assert_eq!(pressure_of("full avg10=9.00"), None);
    }

    #[test]
    fn an_empty_list_of_groups_is_not_zero() {
        assert_eq!(sum_throttled(&[]), None);
    }
}
