//! CPU activity: two readings of /proc, a moment apart (proc_stat(5),
//! proc_pid_stat(5)).

use super::system::{CPUS, siblings};
use crate::pattern::expand;
use model::share::percent;
use std::collections::HashMap;
use std::fmt;
use sys::cpu_times::{CpuTicks, CpuTimes};
use sys::files::Files;
use sys::proc_stat::Stat;

/// One reading of /proc. Times are in ticks since boot; only ratios of their
/// differences are used, so the length of a tick does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Activity {
    processes: HashMap<u32, Process>,
    /// Of all CPUs, including idle time.
    total: Option<u64>,
    /// In tasks, interrupts and guests.
    busy: u64,
    steal: Option<u64>,
    /// CPUs in /proc/stat.
    cpus: u64,
    /// How often cores were throttled by heat; `None` if not counted.
    pub(super) throttles: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Process {
    name: String,
    parent: u32,
    session: u32,
    terminal: u64,
    ticks: u64,
    start: u64,
}

/// A process that ran between two readings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Busy {
    pub(super) pid: u32,
    pub(super) name: String,
    /// Share of one CPU.
    pub(super) share: f64,
    /// Whether it is a kernel thread.
    pub(super) kernel: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct BusyProcesses {
    /// Processes, the busiest first, without our own.
    pub(super) processes: Vec<Busy>,
    /// Share of one CPU that no process explains: of those that ended, and of those that can't be
    /// seen.
    pub(super) unexplained: f64,
    /// The same of all that was busy.
    pub(super) of_busy: f64,
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let kernel = if self.kernel { ", kernel" } else { "" };
        write!(f, "{} ({}{kernel}) {}", self.name, self.pid, percent(self.share))
    }
}

impl Activity {
    /// Reads /proc now. What can't be read is left out.
    pub(super) fn now(files: &dyn Files) -> Activity {
        let stat = files.read("/proc/stat").unwrap_or_default();
        let times = CpuTimes::from_stat(&stat);
        Activity {
            processes: processes(files),
            total: times.all.map(CpuTicks::total),
            busy: times.all.map_or(0, |all| all.user.saturating_add(all.system)),
            steal: times.all.and_then(|ticks| ticks.steal),
            cpus: times.cpus.len() as u64,
            throttles: throttles(files),
        }
    }

    /// CPU time since `before`; `None` if none passed, as in a copied tree.
    fn passed_since(&self, before: &Activity) -> Option<u64> {
        self.total?.checked_sub(before.total?).filter(|&ticks| ticks > 0)
    }

    /// Steal time since `before`, as a share.
    pub(super) fn steal_since(&self, before: &Activity) -> Option<f64> {
        let stolen = self.steal?.checked_sub(before.steal?)?;
        Some(stolen as f64 / self.passed_since(before)? as f64)
    }

    /// Steal time since boot, as a share.
    pub(super) fn steal_since_boot(&self) -> Option<f64> {
        let total = self.total.filter(|&ticks| ticks > 0)?;
        Some(self.steal? as f64 / total as f64)
    }

    /// Whether all processes of the machine can be seen: the kernel's own are, which are in no other
    /// namespace of process ids and hidden like those of other users.
    pub(super) fn sees_all(&self) -> bool {
        let kthreadd = self.processes.get(&2);
        kthreadd.is_some_and(|process| process.parent == 0 && process.name == "kthreadd")
    }

    /// What ran since `before` except `own`. `None` if no time passed.
    pub(super) fn ran_since(&self, before: &Activity, own: Option<u32>) -> Option<BusyProcesses> {
        let of_one_cpu = self.passed_since(before)? as f64 / self.cpus.max(1) as f64;
        let mut explained = 0;
        let mut processes: Vec<Busy> = Vec::new();
        for (&pid, process) in &self.processes {
            let earlier = before.processes.get(&pid);
            let earlier = earlier.filter(|p| p.start == process.start);
            // A new one has its whole time in the span.
            let ticks = process.ticks.saturating_sub(earlier.map_or(0, |p| p.ticks));
            explained += ticks;
            if ticks > 0 && Some(pid) != own {
                processes.push(Busy {
                    pid,
                    name: process.name.clone(),
                    share: ticks as f64 / of_one_cpu,
                    kernel: pid == 2 || process.parent == 2,
                });
            }
        }
        processes.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.pid.cmp(&b.pid)));
        let busy = self.busy.saturating_sub(before.busy);
        let unexplained = busy.saturating_sub(explained) as f64;
        Some(BusyProcesses {
            processes,
            unexplained: unexplained / of_one_cpu,
            of_busy: unexplained / busy.max(1) as f64,
        })
    }

    /// Whether `pid` may be stopped for a while without blocking `own`: not an
    /// ancestor, not its session leader, and started from a pseudo-terminal
    /// (major numbers 136 to 143), which desktops, terminal emulators and
    /// servers are not; our own output may depend on them.
    pub(super) fn may_stop(&self, pid: u32, own: u32) -> bool {
        let Some(us) = self.processes.get(&own) else {
            return false;
        };
        let mut above = Some(own);
        for _ in 0..=self.processes.len() {
            match above {
                Some(ancestor) if ancestor == pid => return false,
                Some(ancestor) => above = self.processes.get(&ancestor).map(|p| p.parent),
                None => break,
            }
        }
        let Some(process) = self.processes.get(&pid) else {
            return false;
        };
        let pty = (136..=143).contains(&(process.terminal >> 8 & 0xff));
        pid > 1 && pid != us.session && pty
    }
}

fn processes(files: &dyn Files) -> HashMap<u32, Process> {
    files
        .names("/proc")
        .iter()
        .filter_map(|name| {
            let pid = name.parse().ok()?;
            // It may have ended since.
            Some((pid, process(&files.read(&format!("/proc/{pid}/stat")).ok()?)?))
        })
        .collect()
}

fn process(text: &str) -> Option<Process> {
    let stat = Stat::from_line(text)?;
    Some(Process {
        name: stat.name.to_owned(),
        parent: stat.field_number(4)?,
        session: stat.field_number(6)?,
        terminal: stat.field_number(7)?,
        ticks: stat.field_number::<u64>(14)?.saturating_add(stat.field_number(15)?),
        start: stat.field_number(22)?,
    })
}

/// Sum of the throttle counts of all cores (Intel). The threads of a core share
/// its count.
fn throttles(files: &dyn Files) -> Option<u64> {
    let pattern = format!("{CPUS}/cpu<n>/thermal_throttle/core_throttle_count");
    expand(files, &pattern)
        .iter()
        .filter(|&&(cpu, _)| {
            let core = cpu.and_then(|cpu| siblings(files, cpu));
            core.is_none_or(|core| core.first().copied() == cpu)
        })
        .filter_map(|(_, path)| files.read(path).ok()?.parse::<u64>().ok())
        .reduce(|a, b| a + b)
}
