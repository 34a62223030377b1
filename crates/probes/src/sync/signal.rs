//! Signals.

use super::EFFORT;
use crate::repeated::{PLAIN, Repeated};
use meter::probe::{Probe, Work};
use sys::signals::UserSignal;

pub(crate) fn probes() -> Vec<Probe> {
    vec![
        Probe {
            variants: vec!["install".into()],
            title: "installing a signal handler".into(),
            operation: "One sigaction() that installs a handler for SIGUSR1 and asks for the one before.".into(),
            method: PLAIN.into(),
            source: "LMbench's lat_sig install.".into(),
            make: Box::new(|_, _| {
                let signal = caught()?;
                Repeated::boxed("sigaction()", move || signal.install())
            }),
            ..probe()
        },
        Probe {
            variants: vec!["deliver".into()],
            title: "sending a signal to oneself and catching it".into(),
            operation: "One kill() of SIGUSR1 to this process, whose empty handler has run when it returns.".into(),
            method: format!("{PLAIN} The process has one thread; that signals arrive is tried beforehand with a handler that counts.").into(),
            source: "The loop of LMbench's lat_sig catch, before the time of sending is taken off: sync.signal/catch is its figure.".into(),
            make: Box::new(|_, _| {
                let signal = caught()?;
                Repeated::boxed("kill()", move || signal.send())
            }),
            ..probe()
        },
        Probe {
            variants: vec!["catch".into()],
            title: "catching a signal, without the sending".into(),
            operation: "What one signal to oneself costs more than a kill() that sends none: its delivery, the empty handler and the return from it.".into(),
            method: "A loop of kill() with signal 0, which only checks, and a loop of kill() with SIGUSR1, as many times, in one bracket and in alternating order; the difference divided by their number, never set to 0 where noise makes it negative.".into(),
            source: "LMbench's lat_sig catch, which takes the time of sending off too, from another run of its loop, and sets a negative rest to 0.".into(),
            make: Box::new(|_, _| {
                Ok(Box::new(Catching {
                    signal: caught()?,
                    failed: None,
                }))
            }),
            ..probe()
        },
    ]
}

fn probe() -> Probe {
    Probe {
        effort: EFFORT,
        ..Probe::blank("sync.signal")
    }
}

fn caught() -> Result<UserSignal, String> {
    UserSignal::catch().map_err(|e| format!("no signal can be caught here: {e}"))
}

/// `kill()` with nothing to catch, and with a signal.
struct Catching {
    signal: UserSignal,
    failed: Option<String>,
}

impl Work for Catching {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
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
            self.failed = Some(format!("kill() failed: {e}"));
        }
    }
    fn verify(&self) -> Result<(), String> {
        self.failed.clone().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn signals_are_installed_and_caught() {
        // That handlers run is tested where they are installed, in `sys`; an
        // uncaught SIGUSR1 would end this process.
        for row in ["install", "deliver", "catch"] {
            let row = format!("sync.signal/{row}");
            crate::smoke::run(&super::probes(), &row).expect("it runs");
        }
    }
}
