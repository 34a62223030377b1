//! The virtual counter of AArch64.
//!
//! Arm Architecture Reference Manual (DDI 0487), CNTVCT_EL0: "reads of this
//! register can occur speculatively and out of order relative to other
//! instructions executed on the same PE"; an ISB before the read keeps it
//! behind what comes earlier, an ISB after it holds back what comes later.
//! CNTFRQ_EL0 holds its frequency in Hz, written by firmware.

use core::arch::asm;

pub(super) const NAME: &str = "CNTVCT_EL0";

/// One step in a thousand: 42 µs at the 24 MHz of many systems, 1 µs at 1 GHz.
pub(super) const MIN_SAMPLE_TICKS: u64 = 1000;

/// The counter is part of the architecture; Linux, Android and Apple systems
/// let user code read it.
pub(super) fn available() -> bool {
    true
}

/// CNTFRQ_EL0, if firmware has filled it in.
pub(super) fn declared_hz() -> Option<f64> {
    let hz: u64;
    // SAFETY: reads a register that user code may read on these systems.
    unsafe {
        asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags));
    }
    // The register is 32 bits wide; the others are reserved.
    let hz = hz & 0xffff_ffff;
    (hz > 0).then_some(hz as f64)
}

#[inline(always)]
pub(super) fn start_ticks() -> u64 {
    let ticks: u64;
    // SAFETY: reads a counter that user code may read on these systems. Not
    // `nomem`, so that the compiler moves no memory access across it.
    unsafe {
        asm!(
            "isb",
            "mrs {}, cntvct_el0",
            "isb",
            out(reg) ticks,
            options(nostack, preserves_flags),
        );
    }
    ticks
}

#[inline(always)]
pub(super) fn stop() -> u64 {
    let ticks: u64;
    // SAFETY: as in `start_ticks`. What comes after the bracket is not measured, so
    // nothing holds it back.
    unsafe {
        asm!(
            "isb",
            "mrs {}, cntvct_el0",
            out(reg) ticks,
            options(nostack, preserves_flags),
        );
    }
    ticks
}
