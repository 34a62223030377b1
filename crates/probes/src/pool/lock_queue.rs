//! A serial queue that is a lock and an object, without a thread: what a
//! synchronous task on a free queue comes down to.

use crate::engine::paired::{DIFFERENCE, Paired, Short, Unrolled};
use crate::engine::repeated::{PLAIN, calls};
use meter::probe::{Effort, Probe};
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

const EFFORT: Effort = Effort::visits(8);

pub(super) fn lock_queue_probes() -> [Probe; 2] {
    [
        Probe {
            title: "an empty task run on a free serial queue by its caller".into(),
            operation: "One empty task run synchronously on a serial queue that no other thread uses: the queue's lock is taken, the task called by the calling thread, the lock released.".into(),
            method: format!("{DIFFERENCE} The queue is Rust's standard Mutex in a reference-counted object; the task is called through a boxed closure, as dispatch_sync calls a block.").into(),
            source: "The portable counterpart of dispatch.sync, and the same operation: on a free serial queue dispatch_sync takes the queue's lock and runs the block on the calling thread. libdispatch also looks for tasks that wait, which this queue can't have.".into(),
            effort: EFFORT,
            make: Box::new(|_, _| {
                Ok(Box::new(Paired(Unrolled(Sync {
                    queue: SerialQueue::new("queues"),
                    task: Box::new(|| ()),
                }))))
            }),
            ..Probe::blank("pool.serial_sync")
        },
        Probe {
            title: "a serial queue without a thread, made and dropped".into(),
            operation: "One serial queue made and dropped: a reference-counted object with a lock and a copy of its label of six letters, two allocations; no thread belongs to it.".into(),
            method: PLAIN.into(),
            source: "The portable counterpart of dispatch.queue_create, and the same operation: a queue of libdispatch is an object with a label, and has no thread until there is something to run.".into(),
            effort: EFFORT,
            make: Box::new(|_, _| {
                calls("making a serial queue", || {
                    drop(black_box(SerialQueue::new(black_box("queues"))));
                    Ok(())
                }).boxed()
            }),
            ..Probe::blank("pool.serial_create")
        },
    ]
}

/// Runs one task at a time, on the thread that posts it.
struct SerialQueue {
    lock: Mutex<()>,
    /// For debuggers.
    _label: Box<str>,
}

impl SerialQueue {
    fn new(label: &str) -> Arc<SerialQueue> {
        Arc::new(SerialQueue { lock: Mutex::new(()), _label: label.into() })
    }

    /// Runs this when no other task runs.
    #[inline(always)]
    fn sync(&self, task: &dyn Fn()) {
        let _entered = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        task();
    }
}

struct Sync {
    queue: Arc<SerialQueue>,
    task: Box<dyn Fn()>,
}

impl Short for Sync {
    #[inline(always)]
    fn once(&self) {
        self.queue.sync(&*self.task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn a_task_runs_on_its_caller_while_the_queue_is_taken() {
        let seen = Rc::new(Cell::new(0));
        let queue = SerialQueue::new("queues");
        let (inner, count) = (Arc::clone(&queue), Rc::clone(&seen));
        let here = std::thread::current().id();
        let sync = Sync {
            queue,
            task: Box::new(move || {
                assert!(inner.lock.try_lock().is_err(), "one at a time");
                assert_eq!(std::thread::current().id(), here);
                count.set(count.get() + 1);
            }),
        };
        sync.once();
        sync.once();
        assert_eq!(seen.get(), 2);
        assert!(sync.queue.lock.try_lock().is_ok(), "it is left again");
    }

    #[test]
    fn both_rows_run() {
        for row in ["pool.serial_sync", "pool.serial_create"] {
            crate::engine::testing::run_row(&lock_queue_probes(), row).expect("it runs");
        }
    }
}
