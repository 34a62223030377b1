//! What happened to the measuring thread while it measured, and to the
//! machine around it.

use crate::clock::timespec_ns;
pub use crate::platform::evidence::{
    QuotaWatch, ThreadWatch, idle_entries_of, load_average, others_cpu_ns, pressure_cpu_some_avg10,
    run_delay_ns_of, scheduled_thread, scheduled_threads, steal_ns, steal_ns_of, thread_migrations,
    thread_switches, throttled_us,
};

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

/// What a thread had of the CPUs since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Its id.
    pub thread: u32,
    /// Its CPU time, ns.
    pub ran_ns: u64,
    /// Its run delay, ns.
    pub runnable_ns: u64,
}

/// Context switches of a thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// It gave up its CPU to wait.
    pub voluntary: u64,
    /// The CPU was taken from it.
    pub involuntary: u64,
}

/// CPU time of the calling thread, ns (CLOCK_THREAD_CPUTIME_ID): what
/// [`ThreadReading::cpu_ns`] has, without a watch.
pub fn thread_cpu_ns() -> Option<u64> {
    timespec_ns(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime))
}
