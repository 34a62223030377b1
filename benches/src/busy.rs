//! Loads in another session or in this one, to see what latlas makes of a
//! machine that others use.
//!
//! Each process of a load is this program again, so that it can look after its parent: it
//! ends by itself when the parent is gone, whatever ended that.

use anyhow::Context;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const VARIABLE: &str = "LATLAS_BENCH_BUSY";

/// What else a machine does.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// A busy loop on each CPU, at the ordinary priority.
    Loops,
    /// As many processes as CPUs that start a short one after the other.
    Forks,
    /// As many processes as CPUs that write through memory and into a file.
    Memory,
}

/// Becomes a process of a load, and never returns, if this process was started as one.
/// Called first in `main`.
pub fn enter_if_busy() {
    let Ok(what) = std::env::var(VARIABLE) else {
        return;
    };
    match what.as_str() {
        "forks" => until_orphaned(|| {
            let _ = Command::new("/bin/true").env_remove(VARIABLE).status();
        }),
        "memory" => {
            let mut memory = vec![1_u8; 128 << 20];
            let mut file = tempfile::tempfile().ok();
            until_orphaned(|| {
                for byte in memory.iter_mut().step_by(64) {
                    *byte = byte.wrapping_add(1);
                }
                if let Some(file) = &mut file {
                    let _ = file.write_all(&memory[..16 << 20]);
                    let _ = file.sync_data();
                    let _ = std::io::Seek::rewind(file);
                }
            });
        }
        cpu => {
            if let Ok(cpu) = cpu.parse() {
                let _ = sys::affinity::pin_to(&[cpu]);
            }
            let mut turns = 0_u64;
            until_orphaned(|| {
                let until = Instant::now() + Duration::from_millis(20);
                while Instant::now() < until {
                    for _ in 0..10_000 {
                        turns = std::hint::black_box(turns.wrapping_add(1));
                    }
                }
            });
        }
    }
    std::process::exit(0);
}

fn until_orphaned(mut step: impl FnMut()) {
    let parent = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == parent {
        step();
    }
}

/// Processes of a load, until dropped.
pub struct Busy(Vec<Child>);

/// Whose work the scheduler takes busy loops for, where it has autogroups.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerSession {
    /// This session's: they share its weight with whatever is measured in it.
    SameSession,
    /// Another's: each loop is under a session of its own (`setsid`).
    OtherSession,
}

impl Busy {
    /// This load on these CPUs, in other sessions.
    ///
    /// # Errors
    /// When a process of it can't be started.
    pub fn on(cpus: &[u32], load: Load) -> anyhow::Result<Busy> {
        let what = |cpu: &u32| match load {
            Load::Loops => cpu.to_string(),
            Load::Forks => "forks".into(),
            Load::Memory => "memory".into(),
        };
        Busy::start_all(cpus.iter().map(what), SchedulerSession::OtherSession)
    }

    /// So many on each CPU.
    ///
    /// # Errors
    /// When one can't be started.
    pub fn start_loops(cpus: &[u32], each: u32, session: SchedulerSession) -> anyhow::Result<Busy> {
        let loops = cpus.iter().flat_map(|cpu| (0..each).map(move |_| cpu.to_string()));
        Busy::start_all(loops, session)
    }

    fn start_all(
        all: impl Iterator<Item = String>,
        session: SchedulerSession,
    ) -> anyhow::Result<Busy> {
        let mut busy = Busy(Vec::new());
        let this = std::env::current_exe()?;
        for what in all {
            let mut command = match session {
                SchedulerSession::SameSession => Command::new(&this),
                SchedulerSession::OtherSession => {
                    let mut command = Command::new("setsid");
                    command.arg(&this);
                    command
                }
            };
            let child = command
                .env(VARIABLE, what)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .context("can't start a load")?;
            busy.0.push(child);
        }
        // Until all of them run.
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
