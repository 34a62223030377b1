//! Calls of the kernel: with and without entering it.

use super::EFFORT;
use crate::paired::{DIFFERENCE, Paired, Short, Unrolled};
use crate::repeated::{PLAIN, Repeated};
use meter::probe::Probe;

pub(crate) fn probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "system call".into(),
            operation: "One getppid(), the cheapest system call that does something.".into(),
            method: format!("{PLAIN} The call is made by its number, so that no C library answers from memory.").into(),
            source: "LMbench's lat_syscall null, which calls the C library's getppid().".into(),
            effort: EFFORT,
            make: Box::new(|_, _| {
                Repeated::boxed("getppid()", || sys::system_calls::parent_id().map(drop))
            }),
            ..Probe::blank("call.syscall")
        },
        Probe {
            title: "call into the vDSO".into(),
            operation: "One clock_gettime(CLOCK_MONOTONIC_COARSE) of the C library, which the kernel's code in this process answers from memory, without a system call and without reading a counter.".into(),
            method: format!("{DIFFERENCE} The time that it gives is that of the last scheduler tick.").into(),
            source: "Ours; cpu.timer/clock_gettime is the same way to a clock that reads the counter too.".into(),
            effort: EFFORT,
            unavailable: |_| sys::vdso::check().err().map(|e| e.to_string()),
            make: Box::new(|_, _| Ok(Box::new(Paired(Unrolled(CoarseClock))))),
            ..Probe::blank("call.vdso")
        },
    ]
}

struct CoarseClock;

impl Short for CoarseClock {
    #[inline(always)]
    fn once(&self) {
        sys::vdso::coarse_clock();
    }
}
