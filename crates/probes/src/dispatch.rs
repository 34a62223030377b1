//! Queues of libdispatch, where it is.

use crate::across::alone;
use crate::paired::{DIFFERENCE, Paired, Short, Unrolled};
use crate::repeated::{PLAIN, Repeated};
use crate::tasks::{Executor, Flag, Ran, STAMPED, Waiting, blank, post_and_spin, work};
use meter::probe::{Effort, Probe};
use sys::dispatch::{Dispatch, Queue};

/// What would bring it, where there is none.
const PROVIDERS: &str = "what would provide it: a Swift toolchain, with its usr/lib/swift/linux in LD_LIBRARY_PATH, or a build of swift-corelibs-libdispatch";

pub(crate) fn probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "dispatch_sync on a free serial queue".into(),
            operation: "One dispatch_sync_f() of a function that does nothing, on a serial queue that nobody else uses.".into(),
            method: format!("{DIFFERENCE} libdispatch is looked for when the program runs and called through pointers; the function goes the way of a block, without the block. It is run by the calling thread, which is checked before.").into(),
            source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: 1e7 turns of ten calls of dispatch_sync with an empty block, on a serial queue.".into(),
            effort: Effort {
                visits: 8,
                ..Effort::SCALAR
            },
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
            operation: "One dispatch_async_f() of an empty task to a serial queue, until it has run: a thread of libdispatch's is woken or started for it, and the caller spins on a flag meanwhile.".into(),
            method: format!("No block is copied, as dispatch_async would. {STAMPED} {}", Waiting::Spins.text()).into(),
            source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: 1e5 turns of ten blocks that set a flag, each waited for by spinning; he takes the mean, this row the distribution of single operations.".into(),
            unavailable: |terrain| missing().or_else(|| alone(terrain)),
            make: Box::new(|bench, _| work::<Posting>(bench, Waiting::Spins)),
            ..blank("dispatch.async_wait", 20_000.0)
        },
        Probe {
            title: "a queue of libdispatch, created and released".into(),
            operation: "One dispatch_queue_create() of a serial queue with a label of six letters, and its dispatch_release(); nothing is run on it, and no thread belongs to it.".into(),
            method: PLAIN.into(),
            source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: 1e6 turns of ten queues.".into(),
            effort: Effort {
                visits: 8,
                ..Effort::SCALAR
            },
            unavailable: |_| missing(),
            make: Box::new(|_, _| {
                let dispatch = found()?;
                let work = Repeated::new("dispatch_queue_create()", || dispatch.queue().map(drop))?;
                Ok(Box::new(work.with_note(place())))
            }),
            ..Probe::blank("dispatch.queue_create")
        },
    ]
}

fn found() -> Result<&'static Dispatch, String> {
    Dispatch::of_this_system().map_err(|reason| format!("{reason} ({PROVIDERS})"))
}

fn missing() -> Option<String> {
    found().err()
}

fn place() -> String {
    let place = found().map_or("nowhere", Dispatch::place);
    format!("libdispatch: {place}")
}

fn queue() -> Result<Queue, String> {
    found()?
        .queue()
        .map_err(|e| format!("dispatch_queue_create() failed: {e}"))
}

/// Whether a synchronous task runs on the thread that calls.
fn runs_here(queue: &Queue) -> Result<(), String> {
    struct Asked(std::sync::Mutex<Option<std::thread::ThreadId>>);
    impl sys::dispatch::Task for Asked {
        fn run(&self) {
            let id = std::thread::current().id();
            if let Ok(mut place) = self.0.lock() {
                *place = Some(id);
            }
        }
    }
    let asked = Asked(std::sync::Mutex::new(None));
    queue.sync(&asked);
    match asked.0.into_inner() {
        Ok(Some(id)) if id == std::thread::current().id() => Ok(()),
        Ok(Some(_)) => Err("dispatch_sync() ran its function on another thread".into()),
        _ => Err("dispatch_sync() came back before its function had run".into()),
    }
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

impl Executor for Posting {
    fn open(_: &[u32]) -> Result<Posting, String> {
        Ok(Posting {
            queue: queue()?,
            flag: Flag::forever(),
        })
    }
    fn once(&self) -> Result<Ran, String> {
        post_and_spin(self.flag, |flag| {
            self.queue.post(flag);
            Ok(())
        })
    }
    /// libdispatch keeps its threads for the next task, and ends those that
    /// have had none for some seconds.
    fn close(self) -> Result<(), String> {
        Ok(())
    }
    fn note() -> Option<String> {
        Some(place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole of it runs in real workers beside a small library of our own:
    /// `tests/dispatch.rs` of the program.
    #[test]
    fn rows_run_where_libdispatch_is_and_name_it_where_it_is_not() {
        for row in ["dispatch.sync", "dispatch.queue_create"] {
            match (
                Dispatch::of_this_system(),
                crate::smoke::run(&probes(), row),
            ) {
                (Ok(_), ran) => drop(ran.expect("it is there")),
                (Err(why), ran) => {
                    let reason = ran.expect_err("it is not there");
                    assert!(reason.starts_with(&why), "{reason}");
                    assert!(reason.contains("(what would provide it: "), "{reason}");
                }
            }
        }
        if Dispatch::of_this_system().is_ok() && crate::across::testing::cpus().len() > 1 {
            let posting = Posting::open(&[]).expect("a queue");
            for _ in 0..20 {
                posting.once().expect("it runs");
            }
        }
    }
}
