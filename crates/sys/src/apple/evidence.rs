//! The evidence Apple systems give: CPU time of the thread, and the rest
//! only for the whole process.

use std::marker::PhantomData;

use crate::evidence::{Scheduled, Switches, ThreadReading, thread_cpu_ns};

#[derive(Debug)]
pub struct ThreadWatch {
    // A raw pointer is not `Send`.
    this_thread_only: PhantomData<*const ()>,
}

impl ThreadWatch {
    pub fn for_this_thread() -> ThreadWatch {
        ThreadWatch { this_thread_only: PhantomData }
    }

    /// Everything, which here is the CPU time of the thread.
    pub fn read(&mut self) -> ThreadReading {
        ThreadReading { cpu_ns: thread_cpu_ns(), ..self.read_cheap() }
    }

    /// Only the run delay and the CPU, of which Apple systems tell neither.
    pub fn read_cheap(&mut self) -> ThreadReading {
        ThreadReading { cpu: super::affinity::current_cpu(), ..ThreadReading::default() }
    }
}

/// The system has `RUSAGE_SELF` only.
pub fn thread_switches() -> Option<Switches> {
    None
}

#[derive(Debug)]
pub struct QuotaWatch(());

impl QuotaWatch {
    pub fn for_this_process() -> QuotaWatch {
        QuotaWatch(())
    }

    pub fn throttled_us(&self) -> Option<u64> {
        None
    }
}

pub fn thread_migrations() -> Option<u64> {
    None
}

pub fn throttled_us() -> Option<u64> {
    None
}

pub fn steal_ns() -> Option<u64> {
    None
}

pub fn others_cpu_ns() -> Option<u64> {
    None
}

pub fn steal_ns_of(_cpu: u32) -> Option<u64> {
    None
}

pub fn idle_entries_of(_cpu: u32) -> Option<u64> {
    None
}

pub fn run_delay_ns_of(_thread: u32) -> Option<u64> {
    None
}

pub fn scheduled_threads() -> Option<Vec<Scheduled>> {
    None
}

pub fn scheduled_thread(_thread: u32) -> Option<Scheduled> {
    None
}

pub fn load_average() -> Option<[f64; 3]> {
    let mut load = [0.0; 3];
    // SAFETY: the call writes at most the three numbers it is asked for.
    let written = unsafe { libc::getloadavg(load.as_mut_ptr(), 3) };
    (written == 3).then_some(load)
}

pub fn pressure_cpu_some_avg10() -> Option<f64> {
    None
}
