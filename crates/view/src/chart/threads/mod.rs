//! Pictures of threads.

mod life;
mod pool;
mod wakeup;

use super::maker::Maker;

/// All of them, in their order.
pub(super) const PICTURES: &[Maker] = &[
    Maker::Own("thread.lifecycle", life::life),
    Maker::Own("thread.lifecycle.parts", life::parts),
    Maker::Curves(&pool::CURVE),
    Maker::Own("sched.pool.single", pool::singles),
    Maker::Own("sched.wakeup", wakeup::wakeup),
];
