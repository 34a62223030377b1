//! The only files that are ever written: those of the controls, and the cpusets
//! of a shield. A journal is read through the same list: a forged one reaches
//! nothing else.

use crate::control::is_writable;
use crate::shield::OURS;

/// Whether a file may be written. `cpuset` is where the cpuset controller is
/// mounted now: of its groups only `cpuset.cpus`, of its root also which
/// controllers it gives to its groups.
pub(crate) fn allows(path: &str, cpuset: Option<&str>) -> bool {
    if path.split('/').any(|name| name == ".." || name == ".") || path.contains("//") {
        return false;
    }
    let of_cpusets = |rest: &str| {
        rest == "/cgroup.subtree_control"
            || (rest.starts_with('/') && rest.ends_with("/cpuset.cpus"))
    };
    let below_mount = cpuset.and_then(|mount| path.strip_prefix(mount));
    is_writable(path) || below_mount.is_some_and(of_cpusets)
}

/// Whether a control group is one that latlas makes and removes.
pub(crate) fn allows_group(path: &str, cpuset: Option<&str>) -> bool {
    let name = cpuset.and_then(|mount| path.strip_prefix(mount)?.strip_prefix('/'));
    name.is_some_and(|name| OURS.contains(&name))
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
            "/sys/devices/system/cpu/cpufreq/policy4/energy_performance_preference",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/cg/docker/abc/cpuset.cpus",
            "/cg/cgroup.subtree_control",
        ] {
            assert!(allows(path, Some("/cg")), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "/proc/self/status",
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/perf_event_paranoid",
            "/proc/irq/x/smp_affinity",
            "/proc/irq//smp_affinity",
            "/proc/irq/24/smp_affinity/x",
            "/proc/irq/2/4/smp_affinity",
            "/x/proc/irq/24/smp_affinity",
            "proc/irq/24/smp_affinity",
            "/sys/devices/system/cpu/cpu/online",
            "/sys/devices/system/cpu/cpu0x/online",
            "/sys/devices/system/cpu/cpu1234567890/online",
            "/proc/sys/kernel/../kernel/core_pattern",
            "/proc/irq/24/../../sys/kernel/core_pattern",
            "/proc/irq//24/smp_affinity",
            "/cg/docker/tasks",
            "/cgx/cpuset.cpus",
            "/cg/../etc/cpuset.cpus",
            "/cg/docker/cgroup.subtree_control",
        ] {
            assert!(!allows(path, Some("/cg")), "{path}");
        }
        assert!(!allows("/cg/docker/cpuset.cpus", None));
        assert!(allows_group("/cg/latlas-shield", Some("/cg")));
        for path in
            ["/cg/docker", "/cg", "/cg/latlas-shield/x", "/cglatlas-shield", "/etc/latlas-shield"]
        {
            assert!(!allows_group(path, Some("/cg")), "{path}");
        }
    }
}
