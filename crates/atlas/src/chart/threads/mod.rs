//! Pictures of threads.

mod life;
mod pool;
mod wakeup;

use super::of_run::Maker;

/// All of them, in their order.
pub(super) const PICTURES: &[Maker] = &[
    ("thread.lifecycle", life::life),
    ("thread.lifecycle.parts", life::parts),
    ("sched.pool", pool::curve),
    ("sched.pool.single", pool::singles),
    ("sched.wakeup", wakeup::wakeup),
];
