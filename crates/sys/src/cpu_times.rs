//! CPU times since boot: the `cpu` lines of /proc/stat (proc_stat(5)).

use crate::files::kernel_text;
use std::io;

/// Where the times are read.
pub const SOURCE: &str = "/proc/stat";

/// What CPUs did since boot, in ticks of USER_HZ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// In programs and guests, at any priority (`user`, `nice`).
    pub user: u64,
    /// In the kernel (`system`, `irq`, `softirq`).
    pub system: u64,
    /// Without a task, also while one waited for a disk (`idle`, `iowait`).
    pub idle: u64,
    /// Taken by the hypervisor; `None` if it is not counted.
    pub steal: Option<u64>,
}

impl CpuTicks {
    /// The numbers behind the name of a line. `guest` and `guest_nice`, the last two,
    /// are part of `user` and `nice`.
    fn from_numbers(numbers: &str) -> Option<CpuTicks> {
        let numbers = numbers.split_ascii_whitespace();
        let numbers: Vec<u64> = numbers.map_while(|field| field.parse().ok()).collect();
        let [user, nice, system, idle, ref later @ ..] = numbers[..] else {
            return None;
        };
        let later = |at: usize| later.get(at).copied().unwrap_or(0);
        Some(CpuTicks {
            user: user.saturating_add(nice),
            system: system.saturating_add(later(1)).saturating_add(later(2)),
            idle: idle.saturating_add(later(0)),
            steal: numbers.get(7).copied(),
        })
    }

    /// All of them.
    pub fn total(self) -> u64 {
        let parts = [self.user, self.system, self.idle, self.steal.unwrap_or(0)];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// The times of all CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Of all together.
    pub all: Option<CpuTicks>,
    /// Of each CPU that is online, by number.
    pub cpus: Vec<(u32, CpuTicks)>,
}

impl CpuTimes {
    /// What a text like /proc/stat holds.
    pub fn from_stat(stat: &str) -> CpuTimes {
        let mut times = CpuTimes::default();
        for line in stat.lines() {
            let Some((name, numbers)) = line.strip_prefix("cpu").and_then(|l| l.split_once(' '))
            else {
                continue;
            };
            match (name.parse(), CpuTicks::from_numbers(numbers)) {
                (Ok(cpu), Some(ticks)) => times.cpus.push((cpu, ticks)),
                (Err(_), ticks) if name.is_empty() => times.all = ticks,
                _ => {}
            }
        }
        times
    }

    /// The times now.
    ///
    /// # Errors
    /// If /proc/stat can't be read, or has no CPU.
    pub fn now() -> io::Result<CpuTimes> {
        let times = CpuTimes::from_stat(&kernel_text(SOURCE)?);
        match times.cpus.is_empty() {
            true => Err(io::Error::other("no CPU is listed")),
            false => Ok(times),
        }
    }
}

/// Length of a tick, ns.
pub fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cpus_are_told_apart_from_their_sum() {
        let stat = "cpu  10 1 20 300 4 5 6 7 8 9\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu12 1 2 3 4\n\
                    cpu3 broken\ncpufreq 1 2 3 4\nintr 1 2 3 4\n";
        let times = CpuTimes::from_stat(stat);
        let ticks = |user, system, idle, steal| CpuTicks { user, system, idle, steal };
        assert_eq!(times.all, Some(ticks(11, 31, 304, Some(7))));
        assert_eq!(times.cpus, [(0, ticks(3, 16, 9, Some(8))), (12, ticks(3, 3, 4, None))]);
        assert_eq!(times.cpus[0].1.total(), 36, "guests are part of user time");
        assert_eq!(CpuTimes::from_stat("intr 0\n"), CpuTimes::default());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_times() {
        let before = CpuTimes::now().expect("/proc/stat");
        let after = CpuTimes::now().expect("/proc/stat");
        let total = |times: &CpuTimes| times.all.expect("a sum").total();
        assert!(total(&before) > 0 && total(&after) + 1000 >= total(&before));
        assert!((1..=1_000_000_000).contains(&tick_ns()));
    }
}
