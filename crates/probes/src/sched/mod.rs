//! Rows of the scheduler: the latency of a wake-up (`wakeup.rs`) and of a timer (`timer.rs`), a pool with
//! more threads than CPUs (`pool/`), context switches in a ring of processes (`ring.rs`). Two threads that
//! wake each other in turn are in `handoff/`.

mod pool;
mod ring;
mod timer;
mod wakeup;

use meter::probe::Probe;

pub(crate) fn sched_probes() -> Vec<Probe> {
    let mut probes = wakeup::wakeup_probes();
    probes.extend([timer::timer_wakeup_probe(), pool::pool_probe(), ring::ring_probe()]);
    probes
}
