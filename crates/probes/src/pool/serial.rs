//! A serial queue: a channel, and one thread behind it.

use crate::engine::reason::Reason;
use crate::engine::tasks::{Executor, Flag, TaskCpu, post_and_spin};
use crossbeam_channel::{Sender, unbounded};
use std::thread::{Builder, JoinHandle};

type BoxedTask = Box<dyn FnOnce() + Send>;

/// Runs one task at a time, in the order in which they were posted.
pub(super) struct SerialQueue {
    tasks: Sender<BoxedTask>,
    thread: JoinHandle<()>,
    flag: &'static Flag,
}

impl SerialQueue {
    /// A new one, whose thread first does this.
    fn new(
        flag: &'static Flag,
        first: impl FnOnce() + Send + 'static,
    ) -> Result<SerialQueue, Reason> {
        let (tasks, posted) = unbounded::<BoxedTask>();
        let thread = sys::thread::spawn(Builder::new(), move || {
            first();
            // Until the last sender is gone.
            for task in posted {
                task();
            }
        })
        .map_err(|e| Reason::not_started("threads", &e))?;
        Ok(SerialQueue { tasks, thread, flag })
    }
}

impl Executor for SerialQueue {
    fn start_on(_: &[u32]) -> Result<SerialQueue, Reason> {
        SerialQueue::new(Flag::forever(), || ())
    }
    fn once(&self) -> Result<TaskCpu, Reason> {
        post_and_spin(self.flag, |flag| {
            let task = Box::new(move || flag.raise());
            let posted = self.tasks.send(task);
            posted.map_err(|_| Reason::wrong("the queue's thread is gone"))
        })
    }
    fn close(self) -> Result<(), Reason> {
        drop(self.tasks);
        let ended = self.thread.join();
        ended.map_err(|_| Reason::Panicked("the queue's thread"))
    }
}

/// Makes queues and ends them.
pub(super) struct Created(&'static Flag);

impl Executor for Created {
    fn start_on(_: &[u32]) -> Result<Created, Reason> {
        Ok(Created(Flag::forever()))
    }
    fn once(&self) -> Result<TaskCpu, Reason> {
        let flag = self.0;
        flag.lower();
        SerialQueue::new(flag, || flag.raise())?.close()?;
        let raised = flag.raised();
        raised.ok_or(Reason::wrong("a queue's thread ended before it began"))
    }
    fn close(self) -> Result<(), Reason> {
        Ok(())
    }
    fn creates(&self) -> u64 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, mpsc};

    #[test]
    fn tasks_run_in_order_on_the_queues_thread_and_all_of_them() {
        let queue = SerialQueue::start_on(&[]).expect("a thread");
        let (send, sent) = mpsc::channel();
        for number in 0..100 {
            let send = send.clone();
            let task = Box::new(move || {
                let _ = send.send((number, std::thread::current().id()));
            });
            queue.tasks.send(task).expect("it lives");
        }
        let thread = queue.thread.thread().id();
        queue.close().expect("it ends");
        let seen: Vec<_> = sent.try_iter().collect();
        assert!(seen.iter().map(|seen| seen.0).eq(0..100));
        assert!(seen.iter().all(|seen| seen.1 == thread));
    }

    #[test]
    fn each_operation_is_one_task() {
        let queue = SerialQueue::start_on(&[]).expect("a thread");
        for _ in 0..50 {
            let ran = queue.once().expect("it runs");
            assert_eq!(ran.0.is_some(), sys::current_cpu().is_some());
            assert!(queue.tasks.is_empty(), "it has run");
        }
        queue.close().expect("it ends");
    }

    #[test]
    fn a_thread_that_is_gone_is_the_reason() {
        let mut queue = SerialQueue::start_on(&[]).expect("a thread");
        let (other, _) = unbounded();
        let tasks = std::mem::replace(&mut queue.tasks, other);
        drop(tasks);
        assert_eq!(queue.once(), Err(Reason::wrong("the queue's thread is gone")));
        let flag = Flag::forever();
        let broken = SerialQueue::new(flag, || panic!("on purpose")).expect("a thread");
        assert_eq!(broken.close(), Err(Reason::Panicked("the queue's thread")));
    }

    #[test]
    fn a_queue_that_is_made_has_a_thread_which_is_joined() {
        let made = Created::start_on(&[]).expect("a flag");
        let ran = made.once().expect("a thread");
        assert_eq!(ran.0.is_some(), sys::current_cpu().is_some());
        // What its thread holds is gone when the operation is over.
        let held = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&held);
        let queue = SerialQueue::new(made.0, move || {
            own.fetch_add(1, Ordering::SeqCst);
        });
        queue.and_then(Executor::close).expect("it ends");
        assert_eq!(Arc::strong_count(&held), 1);
        assert_eq!(held.load(Ordering::SeqCst), 1);
        made.close().expect("nothing to end");
    }
}
