//! Threads on the other CPUs, for the rows on several CPUs: they carry out
//! orders, or a load.

use super::reason::Reason;
use super::waits::{Waits, waited_too_long};
use model::estimate::LOST_ABOVE;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

#[derive(Default)]
struct Board {
    /// Number of the order; each new one is a signal.
    order: AtomicU64,
    /// Passes of the order.
    passes: AtomicU64,
    /// Threads that have finished it.
    finished: AtomicU64,
    /// Threads that are ready.
    ready: AtomicU64,
    quit: AtomicBool,
    /// A thread could not be pinned.
    refused: AtomicBool,
    /// How much the threads of a load did.
    done: AtomicU64,
    /// Ids of the threads that are ready, where the system has them.
    ids: Mutex<Vec<u32>>,
}

/// Threads, one on each of the CPUs given, that live as long as this.
pub(crate) struct Team {
    board: Arc<Board>,
    threads: Vec<JoinHandle<()>>,
    /// What each waits for its CPU since all are ready.
    waits: Vec<Waits>,
}

impl Team {
    /// Threads that carry out passes on order. Each has its own state,
    /// made for its CPU.
    pub(crate) fn on_order<S: Send + 'static>(
        cpus: &[u32],
        state: impl Fn(u32) -> Result<S, Reason>,
        pass: impl Fn(&mut S) + Clone + Send + 'static,
    ) -> Result<Team, Reason> {
        Team::start_team(cpus, state, move |board, mut state| {
            let mut done = 0;
            loop {
                let order = board.order.load(Ordering::Acquire);
                if board.quit.load(Ordering::Relaxed) {
                    return;
                }
                if order == done {
                    std::hint::spin_loop();
                    continue;
                }
                done = order;
                for _ in 0..board.passes.load(Ordering::Relaxed) {
                    pass(&mut state);
                }
                board.finished.fetch_add(1, Ordering::Release);
            }
        })
    }

    /// Threads that repeat a step until the team is dropped. The step says how
    /// much it did; [`Team::done`] is the sum.
    pub(crate) fn until_dropped<S: Send + 'static>(
        cpus: &[u32],
        state: impl Fn(u32) -> Result<S, Reason>,
        step: impl Fn(&mut S) -> u64 + Clone + Send + 'static,
    ) -> Result<Team, Reason> {
        Team::start_team(cpus, state, move |board, mut state| {
            while !board.quit.load(Ordering::Relaxed) {
                let done = step(&mut state);
                board.done.fetch_add(done, Ordering::Relaxed);
            }
        })
    }

    fn start_team<S: Send + 'static>(
        cpus: &[u32],
        state: impl Fn(u32) -> Result<S, Reason>,
        work: impl Fn(&Board, S) + Clone + Send + 'static,
    ) -> Result<Team, Reason> {
        let mut team = Team { board: Arc::default(), threads: Vec::new(), waits: Vec::new() };
        for &cpu in cpus {
            let state = state(cpu)?;
            let (board, work) = (team.board.clone(), work.clone());
            let thread = sys::thread::spawn(Builder::new(), move || {
                sys::settings::take_turns();
                // Unpinned it would stay on the measuring thread's CPU.
                if sys::affinity::pin_to(&[cpu]).is_err() {
                    board.refused.store(true, Ordering::Relaxed);
                }
                let mut ids = board.ids.lock().unwrap_or_else(PoisonError::into_inner);
                ids.extend(sys::thread::current_id());
                drop(ids);
                board.ready.fetch_add(1, Ordering::Release);
                work(&board, state);
            });
            team.threads.push(thread.map_err(|e| Reason::not_started("threads", &e))?);
        }
        while team.board.ready.load(Ordering::Acquire) < team.threads.len() as u64 {
            std::thread::yield_now();
        }
        if team.board.refused.load(Ordering::Relaxed) {
            return Err(Reason::missing("threads can't be pinned to the other CPUs"));
        }
        let ids = team.board.ids.lock().unwrap_or_else(PoisonError::into_inner).clone();
        team.waits = ids.into_iter().filter_map(|id| Waits::of_thread(Some(id))).collect();
        Ok(team)
    }

    /// Orders passes; the threads begin at once.
    pub(crate) fn begin_passes(&self, passes: u64) {
        self.board.passes.store(passes, Ordering::Relaxed);
        self.board.finished.store(0, Ordering::Relaxed);
        self.board.order.fetch_add(1, Ordering::Release);
    }

    /// Waits until all threads have carried the order out.
    pub(crate) fn finish(&self) {
        while self.board.finished.load(Ordering::Acquire) < self.threads.len() as u64 {
            std::hint::spin_loop();
        }
    }

    /// What contradicts a row whose threads have their CPUs for themselves: others had one of
    /// them. The measuring thread's own waits are in its samples.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let waited = self.waits.iter().filter_map(Waits::until_now);
        let longest = waited.max_by_key(|&(delay_ns, _)| delay_ns)?;
        waited_too_long("a thread on another CPU", longest, LOST_ABOVE)
    }

    /// What a load has done so far.
    pub(crate) fn done(&self) -> u64 {
        self.board.done.load(Ordering::Relaxed)
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.board.quit.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The CPUs other than the measured one.
pub(crate) fn others(machine: &meter::probe::MachineShape) -> Vec<u32> {
    let here = sys::affinity::current_cpu().or(machine.pinned);
    machine.cpus.iter().copied().filter(|&cpu| Some(cpu) != here).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::here;

    #[test]
    fn a_team_carries_out_its_orders_and_ends() {
        let passed = Arc::new(AtomicU64::new(0));
        let counter = passed.clone();
        let team = Team::on_order(
            &[here(), here()],
            |_| Ok(()),
            move |()| {
                counter.fetch_add(1, Ordering::Relaxed);
            },
        )
        .expect("threads");
        for (passes, so_far) in [(1, 2), (3, 8)] {
            team.begin_passes(passes);
            team.finish();
            assert_eq!(passed.load(Ordering::Relaxed), so_far);
        }
        let board = team.board.clone();
        drop(team);
        assert_eq!(Arc::strong_count(&board), 1, "the threads are gone");
    }

    #[test]
    fn a_load_runs_until_it_is_dropped() {
        let team = Team::until_dropped(&[here()], |_| Ok(7), |seven| *seven).expect("a thread");
        while team.done() < 700 {
            std::thread::yield_now();
        }
        assert!(team.done().is_multiple_of(7));
        assert!(team.contradiction().is_none_or(|said| said.contains("a thread on another CPU")));
        let board = team.board.clone();
        drop(team);
        assert_eq!(Arc::strong_count(&board), 1, "the thread is gone");
    }

    #[test]
    fn a_team_that_shares_its_cpu_is_contradicted() {
        let here = here();
        let loads = [(); 2].map(|()| Team::until_dropped(&[here], |_| Ok(()), |()| 1));
        let [Ok(one), Ok(_other)] = loads else {
            panic!("no threads");
        };
        if one.waits.is_empty() {
            return;
        }
        let until = std::time::Instant::now() + std::time::Duration::from_secs(180);
        while one.contradiction().is_none() {
            assert!(std::time::Instant::now() < until, "two threads on one CPU never waited");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_state_that_can_not_be_made_is_the_reason() {
        let team = Team::on_order(&[7], |_| Err::<(), _>(Reason::OneCpu), |()| ());
        assert_eq!(team.err(), Some(Reason::OneCpu));
    }
}
