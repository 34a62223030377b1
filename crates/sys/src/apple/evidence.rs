//! The evidence Apple systems give: CPU time of the thread, and the rest
//! only for the whole process.

use std::marker::PhantomData;

use crate::evidence::{Switches, ThreadReading};

/// Reads what happened to the thread that opened it. Not `Send`: opened in
/// one thread and read in another it would tell of the wrong one.
#[derive(Debug)]
pub struct ThreadWatch {
    // A raw pointer is not `Send`.
    this_thread_only: PhantomData<*const ()>,
}

impl ThreadWatch {
    /// Opens the sources for the calling thread. Never fails: a source that
    /// is missing gives `None` in each reading.
    pub fn open() -> ThreadWatch {
        ThreadWatch {
            this_thread_only: PhantomData,
        }
    }

    /// Everything, which here is the CPU time of the thread.
    pub fn read(&mut self) -> ThreadReading {
        ThreadReading {
            cpu_ns: thread_cpu_ns(),
            ..self.read_cheap()
        }
    }

    /// Only the run delay and the CPU, of which Apple systems tell neither.
    pub fn read_cheap(&mut self) -> ThreadReading {
        ThreadReading {
            cpu: super::affinity::current_cpu(),
            ..ThreadReading::default()
        }
    }
}

pub(crate) fn thread_cpu_ns() -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one `timespec` to a valid pointer.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanos = u64::try_from(time.tv_nsec).ok()?;
    Some(seconds * 1_000_000_000 + nanos)
}

/// The system has `RUSAGE_SELF` only.
pub(crate) fn thread_switches() -> Option<Switches> {
    None
}

pub(crate) fn throttled_us() -> Option<u64> {
    None
}

pub(crate) fn steal_ns() -> Option<u64> {
    None
}

pub(crate) fn steal_ns_of(_cpu: u32) -> Option<u64> {
    None
}

pub(crate) fn run_delay_ns_of(_thread: u32) -> Option<u64> {
    None
}

pub(crate) fn load_average() -> Option<[f64; 3]> {
    let mut load = [0.0; 3];
    // SAFETY: the call writes at most the three numbers it is told of.
    let written = unsafe { libc::getloadavg(load.as_mut_ptr(), 3) };
    (written == 3).then_some(load)
}

pub(crate) fn pressure_cpu_some_avg10() -> Option<f64> {
    None
}
