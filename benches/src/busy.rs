//! Busy loops in another session, to see what latlas makes of a machine that
//! others use.
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

/// One busy loop on each CPU, until dropped.
pub struct Busy(Vec<Child>);

impl Busy {
    /// Starts them, each under a session of its own (`setsid`), so that the
    /// scheduler does not take them for this session's work.
    ///
    /// # Errors
    /// When one can't be started.
    pub fn on(cpus: &[u32]) -> anyhow::Result<Busy> {
        let mut busy = Busy(Vec::new());
        for cpu in cpus {
            let child = Command::new("setsid")
                .arg(std::env::current_exe()?)
                .env(VARIABLE, cpu.to_string())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .context("can't start setsid")?;
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
