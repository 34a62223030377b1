//! Pictures of threads.

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
