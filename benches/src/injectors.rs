//! Causes of slow operations that come from outside of the process that has them. Each injector
//! knows by its own clock when it acted.

use crate::injected::{SLEEP, SPIN, Stretches};
use anyhow::Context;
use model::setting::{Policy, Setting};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, Timespec, clock_gettime, clock_settime};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::monotonic_raw_ns;

/// What is injected.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injection {
    /// A thread of the same priority that never waits.
    Neighbour,
    /// A SCHED_FIFO thread that runs for 5 ms, then sleeps for 50.
    Fifo,
    /// 256 fresh pages in one of 500 operations.
    Faults,
    /// A CPU quota of 10 ms in 20 ms.
    Quota,
    /// 200 barriers in a row, every 50 ms, each an interrupt of the other CPU.
    Interrupts,
    /// SIGSTOP, SIGCONT after 10 ms, every 50 ms.
    Stop,
    /// CLOCK_REALTIME set back by 2 ms and ahead again 20 ms later, every 50 ms.
    Clock,
}

use Injection::{Clock, Faults, Fifo, Interrupts, Neighbour, Quota, Stop};

impl Injection {
    pub const ALL: [Injection; 7] = [Neighbour, Fifo, Faults, Quota, Interrupts, Stop, Clock];

    pub fn label(self) -> &'static str {
        match self {
            Neighbour => "busy neighbour",
            Fifo => "FIFO task",
            Faults => "page faults",
            Quota => "quota",
            Interrupts => "interrupt storm",
            Stop => "SIGSTOP",
            Clock => "clock step",
        }
    }

    /// The row, how long its operations last in µs and how many there are, unless asked for
    /// otherwise. A storm of interrupts at most doubles the time of what it hits: it is among
    /// the slowest only if an operation has room for all of it.
    pub fn operations(self) -> (&'static str, u32, u32) {
        match self {
            Interrupts => (SPIN, 2_000, 2_000),
            Clock => (SLEEP, 1_000, 2_000),
            _ => (SPIN, 50, 10_000),
        }
    }

    /// Acts until `stop` is set: when, and by which thread.
    ///
    /// # Errors
    /// If a right is missing.
    pub fn act(self, on: &InjectionSite<'_>, stop: &AtomicBool) -> anyhow::Result<Acted> {
        let stretches = match self {
            Faults | Interrupts => Vec::new(),
            Neighbour => {
                sys::pin_to(&[on.cpu])?;
                let forever = Duration::from_secs(3600);
                spin(stop, forever, Duration::ZERO)
            }
            Fifo => {
                sys::pin_to(&[on.cpu])?;
                sys::controls::apply(&[Setting::Policy(Policy::Fifo(10))])?;
                spin(stop, Duration::from_millis(5), Duration::from_millis(50))
            }
            Quota => throttled(on, stop)?,
            Stop => stopped(on, stop)?,
            Clock => stepped(on, stop)?,
        };
        Ok(Acted {
            thread: sys::thread::current_id().context("threads have no numbers")?,
            stretches,
        })
    }
}

/// Where an injector acts.
pub struct InjectionSite<'p> {
    /// The CPU of the operations.
    pub cpu: u32,
    /// Another one, if there is one.
    pub other: u32,
    /// The control group of the process.
    pub group: Option<&'p Path>,
    /// The thread that starts the process.
    pub parent: u32,
}

/// What an injector did.
#[derive(Clone, Debug, Default)]
pub struct Acted {
    pub thread: u32,
    /// When it acted.
    pub stretches: Stretches,
}

/// When this thread had a CPU, in turns of work and sleep.
fn spin(stop: &AtomicBool, work: Duration, pause: Duration) -> Stretches {
    /// Between two readings of the clock it was not on a CPU.
    const LEAST_NS: u64 = 5_000;
    let mut stretches = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let began_ns = monotonic_raw_ns();
        let (mut from_ns, mut now_ns) = (began_ns, began_ns);
        while now_ns - began_ns < work.as_nanos() as u64 && !stop.load(Ordering::Relaxed) {
            let before_ns = std::mem::replace(&mut now_ns, monotonic_raw_ns());
            if now_ns - before_ns > LEAST_NS {
                stretches.push((from_ns, before_ns));
                from_ns = now_ns;
            }
        }
        stretches.push((from_ns, now_ns));
        std::thread::sleep(pause);
    }
    stretches
}

/// When the group had no quota left, by its own sum: it grows as a stretch ends.
fn throttled(on: &InjectionSite<'_>, stop: &AtomicBool) -> anyhow::Result<Stretches> {
    const INTERVAL: Duration = Duration::from_micros(200);
    sys::pin_to(&[on.other])?;
    let file = on.group.context("no control group")?.join("cpu.stat");
    let sum_ns = || -> anyhow::Result<u64> {
        let text = std::fs::read_to_string(&file)?;
        let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let ns = of("throttled_time ").map(|ns| (ns, 1));
        let sum = ns.or(of("throttled_usec ").map(|us| (us, 1000)));
        let (sum, unit_ns) = sum.context("no throttled time in cpu.stat")?;
        Ok(sum.trim().parse::<u64>()? * unit_ns)
    };
    let mut stretches = Vec::new();
    let mut before_ns = sum_ns()?;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(INTERVAL);
        let now_ns = sum_ns()?;
        if now_ns > before_ns {
            let to_ns = monotonic_raw_ns();
            stretches.push((to_ns - (now_ns - before_ns), to_ns));
        }
        before_ns = now_ns;
    }
    Ok(stretches)
}

fn stopped(on: &InjectionSite<'_>, stop: &AtomicBool) -> anyhow::Result<Stretches> {
    sys::pin_to(&[on.other])?;
    let me = std::process::id();
    let children = format!("/proc/{me}/task/{}/children", on.parent);
    let child = || -> Option<Pid> {
        let text = std::fs::read_to_string(&children).ok()?;
        Pid::from_raw(text.split_whitespace().next()?.parse().ok()?)
    };
    let mut stretches = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(40));
        let Some(child) = child() else { continue };
        let from_ns = monotonic_raw_ns();
        // It may have ended.
        if kill_process(child, Signal::STOP).is_err() {
            continue;
        }
        std::thread::sleep(Duration::from_millis(10));
        if kill_process(child, Signal::CONT).is_err() {
            continue;
        }
        stretches.push((from_ns, monotonic_raw_ns()));
    }
    Ok(stretches)
}

fn stepped(on: &InjectionSite<'_>, stop: &AtomicBool) -> anyhow::Result<Stretches> {
    const STEP_NS: i64 = 2_000_000;
    sys::pin_to(&[on.other])?;
    let step = |by_ns: i64| -> anyhow::Result<u64> {
        let now = clock_gettime(ClockId::Realtime);
        let ns = now.tv_nsec + by_ns;
        clock_settime(
            ClockId::Realtime,
            Timespec {
                tv_sec: now.tv_sec + ns.div_euclid(1_000_000_000),
                tv_nsec: ns.rem_euclid(1_000_000_000),
            },
        )?;
        Ok(monotonic_raw_ns())
    };
    let mut stretches = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let at_ns = step(-STEP_NS)?;
        // What waits for a time of that clock waits longer by as much.
        stretches.push((at_ns, at_ns + STEP_NS as u64));
        std::thread::sleep(Duration::from_millis(20));
        step(STEP_NS)?;
        std::thread::sleep(Duration::from_millis(30));
    }
    Ok(stretches)
}

/// A control group with half a CPU, removed when dropped.
pub struct ControlGroup(PathBuf);

impl ControlGroup {
    /// Makes it.
    ///
    /// # Errors
    /// If the CPU controller is not there, or a right is missing.
    pub fn new() -> anyhow::Result<ControlGroup> {
        let name = format!("latlas-bench-{}", std::process::id());
        let v1 = Path::new("/sys/fs/cgroup/cpu");
        let (root, limits): (_, &[(&str, &str)]) = match v1.join("cpu.cfs_quota_us").exists() {
            true => (v1, &[("cpu.cfs_period_us", "20000"), ("cpu.cfs_quota_us", "10000")]),
            false => (Path::new("/sys/fs/cgroup"), &[("cpu.max", "10000 20000")]),
        };
        let group = ControlGroup(root.join(name));
        std::fs::create_dir(&group.0).context("can't make a control group")?;
        for (file, value) in limits {
            let path = group.0.join(file);
            std::fs::write(&path, value)
                .with_context(|| format!("can't write {}", path.display()))?;
        }
        Ok(group)
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
