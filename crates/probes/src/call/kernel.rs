//! Calls of the kernel: with and without entering it.

use super::EFFORT;
use crate::engine::paired::{DIFFERENCE, Paired, Short, Unrolled};
use crate::engine::repeated::{PLAIN, calls};
use meter::probe::Probe;

pub(crate) fn kernel_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "system call".into(),
            operation: "One getppid(), the cheapest system call that does any work.".into(),
            method: format!("{PLAIN} The call is made by its number, so that the C library can't answer from memory.").into(),
            source: "LMbench's lat_syscall null, which calls the C library's getppid().".into(),
            effort: EFFORT,
            make: Box::new(|_, _| {
                calls("getppid()", || sys::system_calls::parent_id().map(drop)).tried()?.boxed()
            }),
            ..Probe::blank("call.syscall")
        },
        Probe {
            title: "call into the vDSO".into(),
            operation: "One clock_gettime(CLOCK_MONOTONIC_COARSE) of the C library, which the kernel's code in this process answers from memory, without a system call and without reading a counter.".into(),
            method: format!("{DIFFERENCE} Its time is that of the last scheduler tick.").into(),
            source: "Ours; cpu.timer/clock_gettime takes the same path and reads the counter too.".into(),
            effort: EFFORT,
            unavailable: |_| sys::vdso::check_coarse_clock().err().map(|e| e.to_string()),
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
