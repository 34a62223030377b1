//! The time stamp counter of x86-64.
//!
//! Intel SDM volume 2B, RDTSC: "If software requires RDTSC to be executed
//! only after all previous instructions have executed and all previous loads
//! are globally visible, it can execute LFENCE immediately before RDTSC", and
//! "If software requires RDTSC to be executed prior to execution of any
//! subsequent instruction (including any memory accesses), it can execute the
//! sequence LFENCE immediately after RDTSC." RDTSCP: waits "until all
//! previous instructions have executed and all previous loads are globally
//! visible", but later ones may begin before it, hence the LFENCE after it.
//! AMD APM volume 3 says the same of LFENCE where it is dispatch serialising
//! (MSR C001_1029 bit 1), which Linux sets at boot.
//!
//! Invariance: Intel SDM volume 3, "Invariant TSC"; AMD APM volume 3,
//! CPUID Fn8000_0007 EDX bit 8.

use core::arch::asm;

pub(super) const NAME: &str = "invariant TSC";

/// Some CPUs advance the TSC in steps of their reference clock, up to 10 ns
/// or about 50 ticks; a thousand of those.
pub(super) const MIN_SAMPLE_TICKS: u64 = 50_000;

/// Whether the TSC is invariant and RDTSCP is there.
pub(super) fn available() -> bool {
    crate::cpuid::usable_tsc()
}

/// CPUID leaf 15h is often absent or rounded, so nothing is declared.
pub(super) fn declared_hz() -> Option<f64> {
    None
}

#[inline(always)]
pub(super) fn start_ticks() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter that user code may read (the kernel leaves
    // CR4.TSD clear); writes only the named registers. Not `nomem`, so that
    // the compiler moves no memory access across it.
    unsafe {
        asm!(
            "lfence",
            "rdtsc",
            "lfence",
            out("rax") low,
            out("rdx") high,
            options(nostack, preserves_flags),
        );
    }
    high << 32 | low
}

#[inline(always)]
pub(super) fn stop() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: as in `start_ticks`; RDTSCP also writes ecx, and `available` has
    // checked that it exists.
    unsafe {
        asm!(
            "rdtscp",
            "lfence",
            out("rax") low,
            out("rdx") high,
            out("rcx") _,
            options(nostack, preserves_flags),
        );
    }
    high << 32 | low
}
