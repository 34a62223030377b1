//! Signals.

use super::EFFORT;
use crate::engine::reason::{Doing, Reason};
use crate::engine::repeated::{PLAIN, calls};
use meter::probe::{Probe, Work, WorkError};
use sys::signals::UserSignal;

pub(crate) fn signal_probes() -> Vec<Probe> {
    vec![
        Probe {
            variants: vec!["install".into()],
            title: "installing a signal handler".into(),
            operation: "One sigaction() that installs a handler for SIGUSR1 and returns the one before.".into(),
            method: PLAIN.into(),
            source: "LMbench's lat_sig install.".into(),
            make: Box::new(|_, _| {
                let signal = caught()?;
                calls("sigaction()", move || signal.install()).tried()?.boxed()
            }),
            ..signal_probe()
        },
        Probe {
            variants: vec!["deliver".into()],
            title: "sending a signal to oneself and catching it".into(),
            operation: "One kill() of SIGUSR1 to this process, whose empty handler has run when it returns.".into(),
            method: format!("{PLAIN} The process has one thread; that signals arrive is verified beforehand with a handler that counts.").into(),
            source: "The loop of LMbench's lat_sig catch, before the time of sending is subtracted: sync.signal/catch is its figure.".into(),
            make: Box::new(|_, _| {
                let signal = caught()?;
                calls("kill()", move || signal.send()).tried()?.boxed()
            }),
            ..signal_probe()
        },
        Probe {
            variants: vec!["catch".into()],
            title: "catching a signal, without the sending".into(),
            operation: "What one signal to oneself costs more than a kill() that sends none: its delivery, the empty handler and the return from it.".into(),
            method: "A loop of kill() with signal 0, which only checks, and a loop of kill() with SIGUSR1, as many times, in one bracket and in alternating order; the difference divided by their number, never set to 0 where noise makes it negative.".into(),
            source: "LMbench's lat_sig catch, which subtracts the time of sending too, from another run of its loop, and sets a negative rest to 0.".into(),
            make: Box::new(|_, _| {
                Ok(Box::new(Catching {
                    signal: caught()?,
                    failed: None,
                }))
            }),
            ..signal_probe()
        },
    ]
}

fn signal_probe() -> Probe {
    Probe { effort: EFFORT, ..Probe::blank("sync.signal") }
}

fn caught() -> Result<UserSignal, Reason> {
    UserSignal::catch().doing("signals can't be caught here")
}

/// `kill()` with nothing to catch, and with a signal.
struct Catching {
    signal: UserSignal,
    failed: Option<Reason>,
}

impl Work for Catching {
    fn paired(&self) -> bool {
        true
    }
    fn restore(&mut self) {
        self.run(8, false);
        self.run(8, true);
    }
    fn run(&mut self, turns: u64, double: bool) {
        let all = if double {
            (0..turns).try_for_each(|_| self.signal.send())
        } else {
            (0..turns).try_for_each(|_| self.signal.send_none())
        };
        if let Err(e) = all {
            self.failed = Some(Reason::call("kill() failed", &e));
        }
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.failed.clone().map_or(Ok(()), |reason| Err(reason.into()))
    }
}
