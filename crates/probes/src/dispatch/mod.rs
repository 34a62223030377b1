//! Rows of libdispatch: queues in this file, classes of quality of service in `classes.rs`, semaphores in
//! `semaphore.rs`. The library is loaded at run time by `crates/sys/src/dispatch.rs`; without it the rows are
//! not available. The same with Rust's crates is in `pool/`.

mod classes;
mod semaphore;

use crate::engine::paired::{DIFFERENCE, Paired, Short, Unrolled};
use crate::engine::reason::{Doing, Reason};
use crate::engine::repeated::{PLAIN, calls};
use crate::engine::tasks::{
    Executor, Flag, STAMPED, TaskCpu, Waiting, blank, executor_work, post_and_spin,
};
use crate::engine::threads::alone;
use meter::probe::{Effort, Probe};
use std::sync::Mutex;
use std::thread::ThreadId;
use sys::dispatch::{Dispatch, Queue};

/// What would bring it, where there is none.
const PROVIDERS: &str = "needs libswiftlang of Debian 13, another Swift toolchain with its usr/lib/swift/linux in LD_LIBRARY_PATH, or a build of swift-corelibs-libdispatch";

pub(crate) fn dispatch_probes() -> Vec<Probe> {
    let queues = queues().into_iter();
    queues.chain(classes::classes_probes()).chain(semaphore::semaphore_probes()).collect()
}

fn queues() -> [Probe; 3] {
    [
        Probe {
            title: "dispatch_sync on a free serial queue".into(),
            operation: "One dispatch_sync_f() of a function that does nothing, on a serial queue that no other thread uses.".into(),
            method: format!("{DIFFERENCE} libdispatch is loaded at run time and called through pointers; the function takes the path of a block, without the block. That the calling thread runs it is verified before.").into(),
            source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: 1e7 turns of ten calls of dispatch_sync with an empty block, on a serial queue.".into(),
            effort: Effort::visits(8),
            unavailable: |_| missing(),
            make: Box::new(|_, _| {
                let queue = queue()?;
                runs_here(&queue)?;
                Ok(Box::new(Paired(Unrolled(Sync(queue)))))
            }),
            ..Probe::blank("dispatch.sync")
        },
        Probe {
            title: "dispatch_async of an empty task, waited for spinning".into(),
            operation: "One dispatch_async_f() of an empty task to a serial queue, until it has run: libdispatch wakes or starts a thread for it, while the caller spins on a flag.".into(),
            method: format!("No block is copied, as dispatch_async would. {STAMPED} {}", Waiting::Spins.how_it_waits()).into(),
            source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: 1e5 turns of ten blocks that set a flag, each waited for by spinning; he takes the mean, this row the distribution of single operations.".into(),
            unavailable: |machine| missing().or_else(|| alone(machine)),
            make: Box::new(|worker, _| executor_work::<Posting>(worker, Waiting::Spins)),
            ..blank("dispatch.async_wait", 20_000.0)
        },
        Probe {
            title: "a queue of libdispatch, created and released".into(),
            operation: "One dispatch_queue_create() of a serial queue with a label of six letters, and its dispatch_release(); nothing is run on it, and no thread belongs to it.".into(),
            method: PLAIN.into(),
            source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: 1e6 turns of ten queues.".into(),
            effort: Effort::visits(8),
            unavailable: |_| missing(),
            make: Box::new(|_, _| {
                let dispatch = found()?;
                let create = || dispatch.queue().map(drop);
                calls("dispatch_queue_create()", create).tried()?.note(library_place()).boxed()
            }),
            ..Probe::blank("dispatch.queue_create")
        },
    ]
}

fn found() -> Result<&'static Dispatch, Reason> {
    Dispatch::of_this_system().map_err(|why| Reason::missing(format!("{why} ({PROVIDERS})")))
}

fn missing() -> Option<String> {
    found().err().map(|reason| reason.to_string())
}

fn library_place() -> String {
    let place = found().map_or("none", Dispatch::place);
    format!("libdispatch: {place}")
}

fn queue() -> Result<Queue, Reason> {
    found()?.queue().doing("dispatch_queue_create() failed")
}

/// Whether a synchronous task runs on the thread that calls.
fn runs_here(queue: &Queue) -> Result<(), Reason> {
    struct Thread(Mutex<Option<ThreadId>>);
    impl sys::dispatch::QueueTask for Thread {
        fn run(&self) {
            if let Ok(mut thread) = self.0.lock() {
                *thread = Some(std::thread::current().id());
            }
        }
    }
    let thread = Thread(Mutex::new(None));
    queue.sync(&thread);
    match thread.0.into_inner() {
        Ok(Some(id)) if id == std::thread::current().id() => Ok(()),
        Ok(Some(_)) => Err("dispatch_sync() ran its function on another thread"),
        _ => Err("dispatch_sync() came back before its function had run"),
    }
    .map_err(Reason::wrong)
}

struct Sync(Queue);

impl Short for Sync {
    #[inline(always)]
    fn once(&self) {
        self.0.sync_nothing();
    }
}

/// Posts to a serial queue, and spins.
struct Posting {
    queue: Queue,
    flag: &'static Flag,
}

impl Posting {
    fn to(queue: Queue) -> Posting {
        Posting { queue, flag: Flag::forever() }
    }
}

impl Executor for Posting {
    fn start_on(_: &[u32]) -> Result<Posting, Reason> {
        Ok(Posting::to(queue()?))
    }
    fn once(&self) -> Result<TaskCpu, Reason> {
        post_and_spin(self.flag, |flag| {
            self.queue.post(flag);
            Ok(())
        })
    }
    /// libdispatch keeps its threads for the next task, and ends those that
    /// were idle for some seconds.
    fn close(self) -> Result<(), Reason> {
        Ok(())
    }
    fn notes(&self) -> Vec<String> {
        vec![library_place()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole of it runs in real workers with a small library of our own:
    /// `tests/dispatch.rs` of the program.
    #[test]
    fn rows_run_where_libdispatch_is_and_name_it_where_it_is_not() {
        for row in ["dispatch.sync", "dispatch.queue_create"] {
            match (
                Dispatch::of_this_system(),
                crate::engine::testing::run_row(&dispatch_probes(), row),
            ) {
                (Ok(_), ran) => drop(ran.expect("it is there")),
                (Err(why), ran) => {
                    let reason = ran.expect_err("it is not there").to_string();
                    assert!(reason.to_string().starts_with(&why.to_string()), "{reason}");
                    assert!(reason.to_string().contains("(needs "), "{reason}");
                }
            }
        }
        if Dispatch::of_this_system().is_ok() && crate::engine::testing::cpus().len() > 1 {
            let posting = Posting::start_on(&[]).expect("a queue");
            for _ in 0..20 {
                posting.once().expect("it runs");
            }
        }
    }
}
