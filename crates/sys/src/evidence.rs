//! What happened to the measuring thread while it measured, and to the
//! machine around it.

use crate::platform;
pub use crate::platform::evidence::ThreadWatch;

/// One reading of a [`ThreadWatch`]. All are totals that only grow (but
/// `cpu`), so two readings are subtracted; `None` where the system has no
/// such source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadReading {
    /// Time the thread was runnable but another one had the CPU, in ns
    /// (second number of `/proc/thread-self/schedstat`).
    pub run_delay_ns: Option<u64>,
    /// CPU time of the thread in ns (CLOCK_THREAD_CPUTIME_ID).
    pub cpu_ns: Option<u64>,
    /// Times the thread gave up the CPU to wait (getrusage, RUSAGE_THREAD).
    pub voluntary_switches: Option<u64>,
    /// Times the CPU was taken from the thread.
    pub involuntary_switches: Option<u64>,
    /// Page faults served without I/O.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for I/O.
    pub major_faults: Option<u64>,
    /// Time for which the CPU quota of the control groups stopped them, in µs
    /// (`cpu.stat`), summed over the group and its ancestors with a quota.
    pub throttled_us: Option<u64>,
    /// The CPU the thread was on.
    pub cpu: Option<u32>,
}

/// Context switches of a thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// It gave up its CPU to wait.
    pub voluntary: u64,
    /// The CPU was taken from it.
    pub involuntary: u64,
}

/// Context switches of the calling thread: what a [`ThreadWatch`] reads,
/// without opening one. `None` where the system counts for whole processes
/// only.
pub fn thread_switches() -> Option<Switches> {
    platform::evidence::thread_switches()
}

/// Time the hypervisor ran others while this machine wanted to run, since
/// boot, in ns over all CPUs, in steps of a scheduler tick (`/proc/stat`).
/// 0 also where the hypervisor does not report it.
pub fn steal_ns() -> Option<u64> {
    platform::evidence::steal_ns()
}

/// The same of one CPU.
pub fn steal_ns_of(cpu: u32) -> Option<u64> {
    platform::evidence::steal_ns_of(cpu)
}

/// CPU time of the calling thread, ns (CLOCK_THREAD_CPUTIME_ID): what
/// [`ThreadReading::cpu_ns`] has, without a watch.
pub fn thread_cpu_ns() -> Option<u64> {
    platform::evidence::thread_cpu_ns()
}

/// Time that a thread of this process was runnable but another one had the CPU,
/// ns: [`ThreadReading::run_delay_ns`] without a watch, of any of them by the
/// number that [`current_id`](crate::thread::current_id) gives.
pub fn run_delay_ns_of(thread: u32) -> Option<u64> {
    platform::evidence::run_delay_ns_of(thread)
}

/// Load averages over 1, 5 and 15 minutes.
pub fn load_average() -> Option<[f64; 3]> {
    platform::evidence::load_average()
}

/// Share of the last ten seconds in which some task waited for a CPU, in
/// percent (`/proc/pressure/cpu`).
pub fn pressure_cpu_some_avg10() -> Option<f64> {
    platform::evidence::pressure_cpu_some_avg10()
}

/// Time for which CPU quotas stopped this process's control groups, in µs:
/// [`ThreadReading::throttled_us`] without a watch.
pub fn throttled_us() -> Option<u64> {
    platform::evidence::throttled_us()
}
