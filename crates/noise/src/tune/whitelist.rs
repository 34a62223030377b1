//! The only files that are ever written. A journal is read through the same
//! list: a forged one reaches nothing else.

use crate::shield::OURS;

/// One part of a path: a number is any row of decimal digits.
const NUMBER: &str = "<n>";

/// Patterns, part by part.
const PATTERNS: &[&str] = &[
    "/proc/irq/<n>/smp_affinity",
    "/proc/irq/<n>/smp_affinity_list",
    "/proc/irq/default_smp_affinity",
    "/proc/sys/kernel/perf_event_max_sample_rate",
    "/proc/sys/kernel/perf_cpu_time_max_percent",
    "/proc/sys/kernel/nmi_watchdog",
    "/proc/sys/kernel/watchdog",
    "/proc/sys/kernel/soft_watchdog",
    "/proc/sys/kernel/timer_migration",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/randomize_va_space",
    "/proc/sys/kernel/sched_rt_runtime_us",
    "/proc/sys/kernel/sched_autogroup_enabled",
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/stat_interval",
    "/proc/sys/vm/compaction_proactiveness",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
    "/sys/kernel/mm/ksm/run",
    "/sys/devices/virtual/workqueue/cpumask",
    "/sys/devices/virtual/workqueue/writeback/cpumask",
    "/sys/devices/system/cpu/cpu<n>/online",
    "/sys/devices/system/cpu/smt/control",
    "/sys/devices/system/cpu/cpu<n>/power/energy_perf_bias",
    "/sys/devices/system/cpu/cpu<n>/cpuidle/state<n>/disable",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/intel_pstate/status",
    "/sys/devices/system/cpu/intel_pstate/min_perf_pct",
    "/sys/devices/system/cpu/intel_pstate/max_perf_pct",
    "/sys/devices/system/cpu/amd_pstate/status",
];

/// Names of files of a cpufreq policy, which is reached in two ways.
const POLICY: &[&str] = &[
    "scaling_governor",
    "scaling_min_freq",
    "scaling_max_freq",
    "energy_performance_preference",
    "boost",
];

/// Whether the file is one that may be written. `cpuset` is where the cpuset
/// controller is mounted now, if it is: of its groups only `cpuset.cpus`, of
/// its root also which controllers it gives to its groups.
pub(crate) fn allows(path: &str, cpuset: Option<&str>) -> bool {
    if path.split('/').any(|part| part == ".." || part == ".") || path.contains("//") {
        return false;
    }
    PATTERNS.iter().any(|pattern| fits(pattern, path))
        || POLICY.iter().any(|file| {
            fits(
                &format!("/sys/devices/system/cpu/cpufreq/policy<n>/{file}"),
                path,
            ) || fits(
                &format!("/sys/devices/system/cpu/cpu<n>/cpufreq/{file}"),
                path,
            )
        })
        || cpuset
            .and_then(|mount| path.strip_prefix(mount))
            .is_some_and(|rest| {
                rest == "/cgroup.subtree_control"
                    || (rest.starts_with('/') && rest.ends_with("/cpuset.cpus"))
            })
}

/// Whether a control group is one that latlas makes and removes.
pub(crate) fn allows_group(path: &str, cpuset: Option<&str>) -> bool {
    cpuset.is_some_and(|mount| {
        OURS.iter()
            .any(|name| path.strip_prefix(mount) == Some(format!("/{name}").as_str()))
    })
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(pattern), Some(part)) if part_fits(pattern, part) => {}
            _ => return false,
        }
    }
}

fn part_fits(pattern: &str, part: &str) -> bool {
    let Some(before) = pattern.strip_suffix(NUMBER) else {
        return pattern == part;
    };
    part.strip_prefix(before).is_some_and(|digits| {
        !digits.is_empty() && digits.len() < 10 && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_else_is_reached() {
        for path in [
            "/proc/irq/24/smp_affinity",
            "/proc/irq/default_smp_affinity",
            "/sys/devices/system/cpu/cpu11/online",
            "/sys/devices/system/cpu/cpu3/cpuidle/state2/disable",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "/sys/devices/system/cpu/cpufreq/policy4/energy_performance_preference",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/cg/docker/abc/cpuset.cpus",
        ] {
            assert!(allows(path, Some("/cg")), "{path}");
        }
        for path in [
            "/etc/passwd",
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/../kernel/core_pattern",
            "/proc/irq/24/../../sys/kernel/core_pattern",
            "/proc/irq/x/smp_affinity",
            "/proc/irq//smp_affinity",
            "/proc/irq/24/smp_affinity/x",
            "/x/proc/irq/24/smp_affinity",
            "proc/irq/24/smp_affinity",
            "/sys/devices/system/cpu/cpu/online",
            "/sys/devices/system/cpu/cpu0x/online",
            "/cg/docker/tasks",
            "/cgx/cpuset.cpus",
            "/cg/../etc/cpuset.cpus",
            "/cg/docker/cgroup.subtree_control",
            "",
        ] {
            assert!(!allows(path, Some("/cg")), "{path}");
        }
        assert!(!allows("/cg/docker/cpuset.cpus", None));
        assert!(allows_group("/cg/latlas-shield", Some("/cg")));
        for path in [
            "/cg/docker",
            "/cg",
            "/cg/latlas-shield/x",
            "/etc/latlas-shield",
        ] {
            assert!(!allows_group(path, Some("/cg")), "{path}");
        }
    }
}
