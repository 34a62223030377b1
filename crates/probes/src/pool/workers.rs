//! A pool of threads that share their work: rayon's.

use crate::engine::reason::Reason;
use crate::engine::tasks::{Executor, Flag, TaskCpu, post_and_spin};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::io;
use std::thread::{Builder, JoinHandle};

/// A pool, and its threads: those that rayon starts end some time after the
/// pool, these are joined.
struct Pool {
    pool: ThreadPool,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    fn new(count: usize) -> Result<Pool, Reason> {
        let mut threads = Vec::new();
        let pool = ThreadPoolBuilder::new()
            .num_threads(count)
            .spawn_handler(|worker| {
                threads.push(sys::thread::spawn(Builder::new(), || worker.run())?);
                Ok(())
            })
            .build();
        match pool {
            Ok(pool) => Ok(Pool { pool, threads }),
            Err(e) => {
                // Those that were started end by themselves.
                let _ = join(threads);
                let source = std::error::Error::source(&e);
                Err(match source.and_then(|why| why.downcast_ref::<io::Error>()) {
                    Some(why) => Reason::not_started("threads", why),
                    None => Reason::missing(format!("can't start a pool: {e}")),
                })
            }
        }
    }

    fn close(self) -> Result<(), Reason> {
        drop(self.pool);
        join(self.threads)
    }
}

fn join(threads: Vec<JoinHandle<()>>) -> Result<(), Reason> {
    let ended: Vec<_> = threads.into_iter().map(JoinHandle::join).collect();
    match ended.iter().all(Result::is_ok) {
        true => Ok(()),
        false => Err(Reason::Panicked("a thread of the pool")),
    }
}

/// A pool of one thread, whose caller sleeps.
pub(super) struct OneWorker {
    pool: Pool,
    flag: &'static Flag,
}

impl Executor for OneWorker {
    fn start_on(_: &[u32]) -> Result<OneWorker, Reason> {
        Ok(OneWorker { pool: Pool::new(1)?, flag: Flag::forever() })
    }
    fn once(&self) -> Result<TaskCpu, Reason> {
        self.flag.lower();
        self.pool.pool.install(|| self.flag.raise());
        let raised = self.flag.raised();
        raised.ok_or(Reason::wrong("install() returned before its task had run"))
    }
    fn close(self) -> Result<(), Reason> {
        self.pool.close()
    }
}

/// A pool with a thread for each CPU, whose caller spins.
pub(super) struct Workers {
    pool: Pool,
    flag: &'static Flag,
}

impl Executor for Workers {
    fn start_on(cpus: &[u32]) -> Result<Workers, Reason> {
        Ok(Workers { pool: Pool::new(cpus.len())?, flag: Flag::forever() })
    }
    fn once(&self) -> Result<TaskCpu, Reason> {
        post_and_spin(self.flag, |flag| {
            self.pool.pool.spawn(|| flag.raise());
            Ok(())
        })
    }
    fn close(self) -> Result<(), Reason> {
        self.pool.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_pool_has_as_many_threads_as_it_says() {
        let one = OneWorker::start_on(&[3, 4]).expect("a thread");
        assert_eq!(one.pool.threads.len(), 1);
        let elsewhere = one.pool.pool.install(|| std::thread::current().id());
        assert_eq!(elsewhere, one.pool.threads[0].thread().id());
        one.close().expect("it ends");
        let three = Workers::start_on(&[0, 1, 2]).expect("threads");
        assert_eq!(three.pool.threads.len(), 3);
        assert_eq!(three.pool.pool.current_num_threads(), 3);
        three.close().expect("they end");
    }

    #[test]
    fn each_operation_is_one_task() {
        let one = OneWorker::start_on(&[]).expect("a thread");
        let all = Workers::start_on(&[0, 1]).expect("threads");
        for _ in 0..50 {
            for ran in [one.once(), all.once()] {
                let ran = ran.expect("it runs");
                assert_eq!(ran.0.is_some(), sys::current_cpu().is_some());
            }
        }
        one.close().expect("it ends");
        all.close().expect("they end");
    }

    /// Takes its time to end with its thread.
    struct Ending(&'static AtomicBool);

    impl Drop for Ending {
        fn drop(&mut self) {
            std::thread::sleep(std::time::Duration::from_millis(50));
            self.0.store(true, Ordering::SeqCst);
        }
    }

    static ENDED: AtomicBool = AtomicBool::new(false);

    thread_local! {
        static ENDING: Ending = const { Ending(&ENDED) };
    }

    #[test]
    fn the_pool_is_closed_when_its_threads_have_ended() {
        let one = OneWorker::start_on(&[]).expect("a thread");
        let begun =
            one.pool.pool.install(|| ENDING.with(|ending| !ending.0.load(Ordering::SeqCst)));
        assert!(begun);
        one.close().expect("it ends");
        assert!(ENDED.load(Ordering::SeqCst), "its thread runs on");
    }

    #[test]
    fn a_thread_that_panics_is_known_when_the_pool_ends() {
        let broken = Builder::new().spawn(|| panic!("on purpose")).expect("one");
        let fine = Builder::new().spawn(|| ()).expect("one");
        assert!(join(vec![fine, broken]).is_err());
    }
}
