//! Work beside whose figure stands how many page faults an operation took:
//! whether memory was fresh decides what it cost.

use meter::probe::Work;
use sys::evidence::ThreadWatch;

/// Work that takes page faults as part of its operation.
pub(crate) struct Faulting<W> {
    work: W,
    watch: ThreadWatch,
    faults_before: Option<u64>,
    turns: u64,
}

impl<W: Work> Faulting<W> {
    /// Counts from here on.
    pub(crate) fn new(work: W) -> Faulting<W> {
        let mut watch = ThreadWatch::open();
        Faulting {
            work,
            faults_before: faults(&mut watch),
            watch,
            turns: 0,
        }
    }

    /// Counts anew: what was so far only warmed up.
    fn forget(&mut self) {
        self.faults_before = faults(&mut self.watch);
        self.turns = 0;
    }
}

fn faults(watch: &mut ThreadWatch) -> Option<u64> {
    let reading = watch.read();
    Some(reading.minor_faults? + reading.major_faults.unwrap_or(0))
}

impl<W: Work> Work for Faulting<W> {
    fn ops_per_turn(&self) -> f64 {
        self.work.ops_per_turn()
    }
    fn paired(&self) -> bool {
        self.work.paired()
    }
    fn restore(&mut self) {
        self.work.restore();
        self.forget();
    }
    fn lasts_ns(&self) -> u64 {
        self.work.lasts_ns()
    }
    fn ready(&mut self) {
        self.work.ready();
    }
    fn run(&mut self, turns: u64, double: bool) {
        self.work.run(turns, double);
        // Work that fails at once is asked for ever more turns.
        self.turns = self.turns.saturating_add(turns);
    }
    fn turn_step(&self) -> u64 {
        self.work.turn_step()
    }
    fn turn_limits(&self) -> (u64, u64) {
        self.work.turn_limits()
    }
    fn faults_belong(&self) -> bool {
        true
    }
    fn contradiction(&self) -> Option<String> {
        self.work.contradiction()
    }
    fn verify(&self) -> Result<(), String> {
        self.work.verify()
    }
    fn notes(&self) -> Vec<String> {
        let mut notes = self.work.notes();
        // A watch of its own, since reading takes a mutable one: both speak of
        // this thread.
        let now = faults(&mut ThreadWatch::open());
        if let (Some(before), Some(now), 1..) = (self.faults_before, now, self.turns) {
            let each = (now - before) as f64 / self.turns as f64;
            notes.push(format!("page faults a turn of the loop: {each:.1}"));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repeated::Repeated;
    use std::cell::Cell;
    use std::io;

    #[test]
    fn work_that_fails_at_once_may_be_asked_for_any_number_of_turns() {
        let gone = Cell::new(false);
        let call = || match gone.get() {
            true => Err(io::ErrorKind::NotFound.into()),
            false => Ok(()),
        };
        let mut faulting = Faulting::new(Repeated::new("it", call).expect("works once"));
        gone.set(true);
        faulting.run(u64::MAX, false);
        faulting.run(u64::MAX, false);
        assert!(
            faulting
                .verify()
                .is_err_and(|why| why.contains("it failed"))
        );
    }
}
