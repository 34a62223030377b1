//! Pictures of thread rows: life of a thread, hand-off, pool, wake-up. `PICTURES` is their order in a report.
//! The rows between CPUs and processes that come after them are drawn in `memory/map.rs`.

mod handoff;
mod life;
mod pool;
mod wakeup;

#[cfg(test)]
mod tests;

use super::maker::Maker;

pub(super) const PICTURES: &[Maker] = &[
    Maker::Own("thread.lifecycle", life::life),
    Maker::Own("thread.lifecycle.parts", life::parts),
    Maker::Own("sync.semaphore_switch", handoff::semaphore),
    Maker::Curves(&pool::CURVE),
    Maker::Own("sched.pool.single", pool::singles),
    Maker::Own("sched.wakeup", wakeup::wakeup),
];
