//! Work that is one closure: a plain loop over an operation.

use super::reason::Reason;
use meter::probe::{Work, WorkError};
use std::hint::black_box;
use std::io;
use sys::evidence::ThreadWatch;

/// The words for the plain loop.
pub(crate) const PLAIN: &str = "A plain loop. Its own turn costs less than a nanosecond; a difference of two loops could hide a part of a call's cost.";

/// A loop that may fail: it performs as many turns as it is given. The first
/// error ends it and is the row's reason.
pub(crate) struct Repeated<F> {
    name: &'static str,
    run: F,
    ops_per_turn: f64,
    /// Turns that bring the working set back.
    restored_by: u64,
    lasts_ns: u64,
    limits: (u64, u64),
    faults_belong: bool,
    faults: Option<PageFaults>,
    failed: Option<Reason>,
    notes: Vec<String>,
}

/// A loop over a call that may fail, of this name.
pub(crate) fn calls(
    name: &'static str,
    mut call: impl FnMut() -> io::Result<()>,
) -> Repeated<impl FnMut(u64) -> io::Result<()>> {
    Repeated::new(name, move |turns| {
        for _ in 0..turns {
            black_box(call())?;
        }
        Ok(())
    })
}

/// A loop that can't fail, of so many operations a turn.
pub(crate) fn turns(
    ops_per_turn: f64,
    mut run: impl FnMut(u64),
) -> Repeated<impl FnMut(u64) -> io::Result<()>> {
    let run = move |turns| {
        run(turns);
        Ok(())
    };
    Repeated { ops_per_turn, ..Repeated::new("", run) }
}

impl<F: FnMut(u64) -> io::Result<()>> Repeated<F> {
    /// Of the operation of this name.
    pub(crate) fn new(name: &'static str, run: F) -> Repeated<F> {
        Repeated {
            name,
            run,
            ops_per_turn: 1.0,
            restored_by: 0,
            lasts_ns: u64::MAX,
            limits: (1, u64::MAX),
            faults_belong: false,
            faults: None,
            failed: None,
            notes: Vec::new(),
        }
    }

    /// Tried once: a call that is refused is a reason now.
    pub(crate) fn tried(mut self) -> Result<Repeated<F>, Reason> {
        self.run(1, false);
        match &self.failed {
            Some(reason) => Err(reason.clone()),
            None => Ok(self),
        }
    }

    /// So many operations a turn.
    pub(crate) fn ops_per_turn(self, ops_per_turn: f64) -> Repeated<F> {
        Repeated { ops_per_turn, ..self }
    }

    /// Brought back by so many turns before a visit.
    pub(crate) fn restored_by(self, restored_by: u64) -> Repeated<F> {
        Repeated { restored_by, ..self }
    }

    /// As it was brought back for so long.
    pub(crate) fn lasting_ns(self, lasts_ns: u64) -> Repeated<F> {
        Repeated { lasts_ns, ..self }
    }

    /// Page faults are part of the operation.
    pub(crate) fn faults_belong(self, faults_belong: bool) -> Repeated<F> {
        Repeated { faults_belong, ..self }
    }

    /// Page faults are part of the operation, and the row says how many.
    pub(crate) fn faulting(self) -> Repeated<F> {
        Repeated { faults_belong: true, faults: Some(PageFaults::new()), ..self }
    }

    /// With a remark for the row.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Repeated<F> {
        self.notes.push(note.into());
        self
    }

    /// As a worker wants it.
    pub(crate) fn boxed<'w>(self) -> Result<Box<dyn Work + 'w>, WorkError>
    where
        F: 'w,
    {
        Ok(Box::new(self))
    }
}

impl<F: FnMut(u64) -> io::Result<()>> Work for Repeated<F> {
    fn ops_per_turn(&self) -> f64 {
        self.ops_per_turn
    }
    fn restore(&mut self) {
        if self.restored_by > 0 {
            self.run(self.restored_by, false);
        }
        // What was so far only warmed up.
        if let Some(faults) = &mut self.faults {
            *faults = PageFaults::new();
        }
    }
    fn lasts_ns(&self) -> u64 {
        self.lasts_ns
    }
    fn run(&mut self, turns: u64, _double: bool) {
        if let Err(e) = (self.run)(turns) {
            self.failed = Some(Reason::call(format!("{} failed", self.name), &e));
        }
        if let Some(faults) = &mut self.faults {
            faults.turns(turns);
        }
    }
    fn turn_limits(&self) -> (u64, u64) {
        self.limits
    }
    fn faults_belong(&self) -> bool {
        self.faults_belong
    }
    fn verify(&self) -> Result<(), WorkError> {
        match &self.failed {
            Some(reason) => Err(reason.clone().into()),
            None => Ok(()),
        }
    }
    fn notes(&self) -> Vec<String> {
        let faults = self.faults.as_ref().and_then(PageFaults::faults_note);
        self.notes.iter().cloned().chain(faults).collect()
    }
}

/// The page faults that this thread takes: whether memory was fresh decides
/// what an operation cost.
pub(crate) struct PageFaults {
    before: Option<u64>,
    turns: u64,
}

/// Page faults of this thread so far.
fn page_faults() -> Option<u64> {
    let reading = ThreadWatch::for_this_thread().read();
    Some(reading.minor_faults? + reading.major_faults.unwrap_or(0))
}

impl PageFaults {
    /// Counts from here on.
    pub(crate) fn new() -> PageFaults {
        PageFaults { before: page_faults(), turns: 0 }
    }

    /// So many turns were run.
    pub(crate) fn turns(&mut self, turns: u64) {
        // Work that fails at once is asked for ever more turns.
        self.turns = self.turns.saturating_add(turns);
    }

    /// How many a turn took.
    pub(crate) fn each(&self) -> Option<f64> {
        let faults = page_faults()?.checked_sub(self.before?)?;
        (self.turns > 0).then(|| faults as f64 / self.turns as f64)
    }

    /// The row's note.
    pub(crate) fn faults_note(&self) -> Option<String> {
        let each = self.each()?;
        Some(format!("page faults a turn of the loop: {each:.1}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_call_that_fails_later_ends_the_row() {
        let left = Cell::new(3);
        let call = || {
            left.set(left.get() - 1);
            match left.get() {
                1.. => Ok(()),
                _ => Err(io::ErrorKind::Other.into()),
            }
        };
        let mut repeated = calls("counting down", call).faulting().tried().expect("once");
        repeated.run(1, false);
        assert_eq!(repeated.verify(), Ok(()));
        repeated.run(100, false);
        let failed = Reason::call("counting down failed", &io::ErrorKind::Other.into());
        assert_eq!(repeated.verify(), Err(failed.into()));
        assert_eq!(left.get(), 0, "not once more");
        // Work that fails at once is asked for any number of turns.
        repeated.run(u64::MAX, false);
        repeated.run(u64::MAX, false);
        assert!(calls("it", || Err(io::ErrorKind::Other.into())).tried().is_err());
    }

    #[test]
    fn turns_are_as_many_as_asked_and_bring_back() {
        let count = Cell::new(0);
        let mut work = turns(10.0, |turns| count.set(count.get() + turns)).restored_by(2);
        work.restore();
        work.run(5, false);
        assert_eq!((count.get(), Work::ops_per_turn(&work)), (7, 10.0));
    }
}
