//! Busy loops in another session or in this one, to see what latlas makes of a
//! machine that others use.
//!
//! Each loop is this program again, so that it can look after its parent: it
//! ends by itself when the parent is gone, whatever ended that.

use anyhow::Context;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const VARIABLE: &str = "LATLAS_BENCH_BUSY";

/// Becomes a busy loop, and never returns, if this process was started as one.
/// Called first in `main`.
pub fn enter_if_busy() {
    let Ok(cpu) = std::env::var(VARIABLE) else {
        return;
    };
    if let Ok(cpu) = cpu.parse() {
        let _ = sys::affinity::pin_to(&[cpu]);
    }
    let parent = std::os::unix::process::parent_id();
    let mut turns = 0_u64;
    while std::os::unix::process::parent_id() == parent {
        let until = Instant::now() + Duration::from_millis(20);
        while Instant::now() < until {
            for _ in 0..10_000 {
                turns = std::hint::black_box(turns.wrapping_add(1));
            }
        }
    }
    std::process::exit(0);
}

/// Busy loops, until dropped.
pub struct Busy(Vec<Child>);

/// Whose work the scheduler takes busy loops for, where it has autogroups.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session {
    /// This session's: they share its weight with whatever is measured in it.
    SameSession,
    /// Another's: each loop is under a session of its own (`setsid`).
    OtherSession,
}

impl Busy {
    /// One on each CPU, in other sessions.
    ///
    /// # Errors
    /// When one can't be started.
    pub fn on(cpus: &[u32]) -> anyhow::Result<Busy> {
        Busy::start(cpus, 1, Session::OtherSession)
    }

    /// So many on each CPU.
    ///
    /// # Errors
    /// When one can't be started.
    pub fn start(cpus: &[u32], each: u32, session: Session) -> anyhow::Result<Busy> {
        let mut busy = Busy(Vec::new());
        let this = std::env::current_exe()?;
        for cpu in cpus.iter().flat_map(|cpu| (0..each).map(move |_| cpu)) {
            let mut command = match session {
                Session::SameSession => Command::new(&this),
                Session::OtherSession => {
                    let mut command = Command::new("setsid");
                    command.arg(&this);
                    command
                }
            };
            let child = command
                .env(VARIABLE, cpu.to_string())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .context("can't start a busy loop")?;
            busy.0.push(child);
        }
        // Until all of them spin.
        std::thread::sleep(Duration::from_millis(200));
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
