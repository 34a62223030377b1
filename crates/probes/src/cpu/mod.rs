//! Rows of single instructions: arithmetic, a mispredicted branch, memcpy, reading a clock; and the core's
//! clock frequency. `as_ash.rs` and `copying.rs` repeat rows of Ash's list. The loops are in
//! `crates/kernels`.

mod arithmetic;
mod as_ash;
mod branch;
mod copying;
mod frequency;
mod timer;

use meter::probe::Probe;

pub(crate) fn cpu_probes() -> Vec<Probe> {
    let mut probes = arithmetic::arithmetic_probes();
    probes.extend(as_ash::as_ash_probes());
    probes.push(copying::small());
    probes.push(copying::large());
    probes.push(branch::branch_probe());
    probes.push(frequency::frequency_probe());
    probes.push(timer::timer_probe());
    probes
}
