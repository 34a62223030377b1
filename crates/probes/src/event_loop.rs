//! What a turn of an event loop costs.

use crate::engine::repeated::{PLAIN, turns};
use crate::engine::threads::event;
use crate::objc;
use meter::pack::Origin;
use meter::probe::{Effort, Event, Probe, Work, WorkError};
use model::run::{Bound, Regime};
use std::time::Duration;
use sys::clock::Counter;
use tokio::runtime::{Builder, Runtime};

/// Timers before the first stamp.
const WARM_UP: u32 = 2;

pub(crate) fn event_loop_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "a timer without delay, on a run loop".into(),
            operation: "One timer of zero seconds, from its arming in its own callback to the next call of that callback by the run loop.".into(),
            method: "By the pack of packs/objc, which says how; event_loop.zero_delay_tokio is the portable row.".into(),
            source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: performSelector:withObject:afterDelay: of 0, re-armed from its own callback 1e5 times on the run loop.".into(),
            bound: Bound::Memory,
            origin: Origin::NoPack,
            unavailable: objc::no_runtime,
            ..Probe::blank("event_loop.zero_delay")
        },
        Probe {
            variants: vec!["".into()],
            title: "a timer without delay, on tokio".into(),
            operation: "One tokio::time::sleep of zero, from its arming to the next turn of the task that armed it, which then arms the next one.".into(),
            method: "One task on tokio's current-thread runtime with its timers and its I/O driver on, on the measuring thread; each timer is stamped before it is made and after it was awaited. tokio's timers have steps of 1 ms and round up (its documentation says so), so a timer of zero does not expire at once: this row is mostly the wait for the next step, during which the thread sleeps in the kernel, and is what a program waits that yields by such a timer. /yield_now is the cost of a turn of the loop without a timer.".into(),
            source: "The portable counterpart of event_loop.zero_delay and Mike Ash's zero-delay perform (2016), whose run loop has no such steps. tokio's issues 6390 and 6866 report that a sleep of zero takes a millisecond or more.".into(),
            bound: Bound::Memory,
            regime: Regime::Stamped,
            effort: Effort::stamped(2, 16, 1.2e6),
            make: Box::new(|_, _| Ok(Box::new(Timers { runtime: runtime()? }))),
            ..Probe::blank(TOKIO)
        },
        Probe {
            variants: vec!["yield_now".into()],
            title: "a turn of tokio's loop without a timer".into(),
            operation: "One tokio::task::yield_now: the only task yields, the loop checks for I/O and due timers, and runs the task again.".into(),
            method: format!("{PLAIN} One task on tokio's current-thread runtime with its timers and its I/O driver on, on the measuring thread.").into(),
            source: "Ours, to compare with the timer.".into(),
            effort: Effort::visits(8),
            make: Box::new(|_, _| {
                let runtime = runtime()?;
                let run = move |turns| runtime.block_on(give_way(turns));
                turns(1.0, run).restored_by(64).boxed()
            }),
            ..Probe::blank(TOKIO)
        },
    ]
}

const TOKIO: &str = "event_loop.zero_delay_tokio";

/// A runtime on the calling thread, as most programs have it.
fn runtime() -> Result<Runtime, WorkError> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|e| format!("tokio's runtime can't be started: {e}").into())
}

struct Timers {
    runtime: Runtime,
}

impl Work for Timers {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        let counter = Counter::best();
        Ok(self.runtime.block_on(async {
            let mut events = Vec::with_capacity(operations as usize);
            for _ in 0..WARM_UP {
                tokio::time::sleep(Duration::ZERO).await;
            }
            for _ in 0..operations {
                let from = counter.start();
                tokio::time::sleep(Duration::ZERO).await;
                let to = counter.stop();
                events.push(event(from, to, 1, 0));
            }
            events
        }))
    }
    fn run_delay_ns(&self, _series: usize, own_ns: u64) -> Option<u64> {
        Some(own_ns)
    }
}

/// Gives way so many times.
async fn give_way(times: u64) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, worker};
    use meter::probe::Site;

    #[test]
    fn each_timer_is_one_event() {
        let probe = &event_loop_probes()[1];
        let site = Site { variant: String::new(), at: Vec::new() };
        let mut worker = worker(cpus());
        let mut work = (probe.make)(&mut worker, &site).expect("a runtime");
        let events = work.stamped(3).expect("timers");
        assert_eq!(events.len(), 3);
        assert!(events.iter().all(|e| e.ops == 1 && e.to_ticks > 0));
    }

    #[test]
    fn the_task_gives_way_each_time() {
        let runtime = runtime().expect("a runtime");
        // Another task gets as many turns.
        let seen = std::rc::Rc::new(std::cell::Cell::new(0_u64));
        let local = tokio::task::LocalSet::new();
        let own = seen.clone();
        local.spawn_local(async move {
            loop {
                own.set(own.get() + 1);
                tokio::task::yield_now().await;
            }
        });
        local.block_on(&runtime, give_way(100));
        assert!(seen.get() >= 100, "{}", seen.get());
    }

    #[test]
    fn the_run_loop_says_what_it_lacks() {
        let reason = crate::engine::testing::run_row(&event_loop_probes(), "event_loop.zero_delay")
            .expect_err("none");
        assert!(reason.to_string().starts_with("needs the pack foundation.so"), "{reason}");
    }
}
