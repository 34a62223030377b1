//! Queues and pools of threads from crates that Rust programmers use: what
//! libdispatch does, everywhere.

mod lock_queue;
mod serial;
mod workers;

use crate::engine::tasks::{STAMPED, Waiting, blank, executor_work};
use crate::engine::threads::alone;
use meter::probe::Probe;
use serial::{Created, SerialQueue};
use workers::{OneWorker, Workers};

pub(crate) fn pool_probes() -> Vec<Probe> {
    let mut probes = vec![
        Probe {
            title: "an empty task run by a pool, waited for asleep".into(),
            operation: "One ThreadPool::install of an empty task on a pool of one thread, from outside the pool: the task is posted, the pool's thread is woken if it sleeps and runs it, and the caller sleeps until it is done.".into(),
            method: format!("The pool of rayon-core. {STAMPED} {} An idle thread of the pool looks for work for a while before it sleeps, so that it may still be awake from the task before.", Waiting::Sleeps.how_it_waits()).into(),
            source: "Ours: what a synchronous task costs where another thread runs it. dispatch_sync on a free queue runs it on the calling thread; pool.serial_sync is the portable counterpart of that.".into(),
            make: Box::new(|worker, _| executor_work::<OneWorker>(worker, Waiting::Sleeps)),
            ..blank("pool.sync", 30_000.0)
        },
        Probe {
            variants: vec!["".into()],
            title: "an empty task posted to a serial queue, waited for spinning".into(),
            operation: "One empty task posted to a serial queue, until it has run: the task is boxed, sent over a channel to the one thread behind it, which is woken if it sleeps, while the caller spins on a flag.".into(),
            method: format!("An unbounded channel of crossbeam-channel for boxed closures, and one thread that receives and calls them. The box's allocation, and its end in the thread, are inside the time. {STAMPED} {} A receiver that finds nothing spins and yields for a moment before it sleeps.", Waiting::Spins.how_it_waits()).into(),
            source: "The portable counterpart of dispatch.async_wait: Mike Ash (2016) posts an empty block to a queue and spins on a flag, 1e5 times ten, and takes the mean.".into(),
            unavailable: alone,
            make: Box::new(|worker, _| executor_work::<SerialQueue>(worker, Waiting::Spins)),
            ..blank("pool.async_wait", 20_000.0)
        },
        Probe {
            variants: vec!["rayon".into()],
            title: "an empty task posted to a worker pool, waited for spinning".into(),
            operation: "One empty task posted to a pool with a thread for each CPU that may be used (ThreadPool::spawn), until it has run, while the caller spins on a flag.".into(),
            method: format!("The pool of rayon-core, from outside; the task is boxed by it, inside the time. {STAMPED} {}", Waiting::Spins.how_it_waits()).into(),
            source: "Ours, to compare with the serial queue.".into(),
            unavailable: alone,
            make: Box::new(|worker, _| executor_work::<Workers>(worker, Waiting::Spins)),
            ..blank("pool.async_wait", 20_000.0)
        },
        Probe {
            title: "a serial queue with its thread, made and ended".into(),
            operation: "One serial queue made and ended: a channel, a thread that waits for tasks from it, and the end and the join of that thread.".into(),
            method: format!("The queue of pool.async_wait, without a task. {STAMPED} Here it is the queue's thread that notes its CPU, as its first act. {}", Waiting::Sleeps.how_it_waits()).into(),
            source: "Ours: the cost of a queue with its own thread. A queue of libdispatch has none until there is something to run; pool.serial_create is the portable counterpart of that.".into(),
            make: Box::new(|worker, _| executor_work::<Created>(worker, Waiting::Sleeps)),
            ..blank("pool.create", 80_000.0)
        },
    ];
    probes.extend(lock_queue::lock_queue_probes());
    probes
}

#[cfg(test)]
mod tests {
    use crate::engine::testing::{cpus, no_thread_is_left, row_work, visit, worker};

    #[test]
    fn every_row_runs_and_leaves_no_thread() {
        let mut rows = vec!["pool.sync", "pool.create"];
        if cpus().len() > 1 {
            rows.extend(["pool.async_wait", "pool.async_wait/rayon"]);
        }
        for row in rows {
            no_thread_is_left(&row[..row.len().min(15)], || {
                let mut worker = worker(cpus());
                let mut work =
                    row_work(&super::pool_probes(), row, &[], &mut worker).expect("work");
                visit(row, work.as_mut(), 20).expect("it runs");
                if sys::evidence::thread_switches().is_some() {
                    let note = &work.notes()[0];
                    assert!(note.starts_with("context switches per operation of the caller"));
                }
            });
        }
    }
}
