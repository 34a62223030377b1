//! Work that is one fallible call, repeated in a plain loop.

use meter::probe::Work;
use std::hint::black_box;
use std::io;

/// The words for the plain loop.
pub(crate) const PLAIN: &str = "A plain loop, whose own turn costs less than a nanosecond; the figure is not a difference of two loops, which could hide a part of a call's cost.";

/// A call that may fail, repeated. The first error ends the loop and is the
/// row's reason for not being there.
pub(crate) struct Repeated<F> {
    name: &'static str,
    call: F,
    failed: Option<String>,
    notes: Vec<String>,
}

impl<F: FnMut() -> io::Result<()>> Repeated<F> {
    /// Of the call of this name, after it worked once.
    pub(crate) fn new(name: &'static str, call: F) -> Result<Repeated<F>, String> {
        let mut repeated = Repeated {
            name,
            call,
            failed: None,
            notes: Vec::new(),
        };
        repeated.run(1, false);
        repeated.verify()?;
        Ok(repeated)
    }

    /// With a remark for the row.
    pub(crate) fn with_note(mut self, note: String) -> Repeated<F> {
        self.notes.push(note);
        self
    }

    /// [`Repeated::new`], as a worker wants it.
    pub(crate) fn boxed<'w>(name: &'static str, call: F) -> Result<Box<dyn Work + 'w>, String>
    where
        F: 'w,
    {
        Ok(Box::new(Repeated::new(name, call)?))
    }
}

impl<F: FnMut() -> io::Result<()>> Work for Repeated<F> {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            if let Err(e) = black_box((self.call)()) {
                self.failed = Some(format!("{} failed: {e}", self.name));
                return;
            }
        }
    }
    fn verify(&self) -> Result<(), String> {
        self.failed.clone().map_or(Ok(()), Err)
    }
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_fails_later_ends_the_row() {
        let mut left = 3;
        let mut repeated = Repeated::new("counting down", || {
            left -= 1;
            if left > 0 {
                Ok(())
            } else {
                Err(io::ErrorKind::Other.into())
            }
        })
        .expect("the first one works");
        repeated.run(1, false);
        assert_eq!(repeated.verify(), Ok(()));
        repeated.run(100, false);
        let reason = repeated.verify().expect_err("it failed");
        assert!(reason.starts_with("counting down failed"), "{reason}");
        assert!(Repeated::new("it", || Err(io::ErrorKind::Other.into())).is_err());
    }
}
