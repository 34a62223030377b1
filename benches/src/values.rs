//! Values of this system that tools set and put back, read and written here
//! by other means than latlas'.

use anyhow::Context;
use std::collections::BTreeMap;

/// Files by their paths, with what is in them.
pub type Values = BTreeMap<String, String>;

/// Those that are single files.
const SINGLE: &[&str] = &[
    "/proc/irq/default_smp_affinity",
    "/proc/sys/kernel/perf_event_max_sample_rate",
    "/proc/sys/kernel/perf_cpu_time_max_percent",
    "/proc/sys/kernel/randomize_va_space",
    "/proc/sys/kernel/timer_migration",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/nmi_watchdog",
    "/proc/sys/kernel/sched_rt_runtime_us",
    "/proc/sys/vm/swappiness",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
    "/sys/devices/virtual/workqueue/cpumask",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
];

/// Those of a directory for each thing: directory, and the file in it.
const MANY: &[(&str, &str)] = &[
    ("/proc/irq", "smp_affinity"),
    ("/sys/devices/system/cpu/cpufreq", "scaling_governor"),
    ("/sys/devices/system/cpu/cpufreq", "scaling_min_freq"),
    ("/sys/devices/system/cpu/cpufreq", "scaling_max_freq"),
];

/// What is there now.
pub fn snapshot() -> Values {
    let mut paths: Vec<String> = SINGLE.iter().map(|path| (*path).to_owned()).collect();
    for (directory, file) in MANY {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        paths.extend(entries.map(|entry| format!("{}/{file}", entry.path().display())));
    }
    paths
        .into_iter()
        .filter_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?.trim().into())))
        .collect()
}

/// Paths whose values differ, with both.
pub fn differing<'v>(before: &'v Values, after: &'v Values) -> Vec<(&'v str, &'v str, &'v str)> {
    before
        .iter()
        .filter_map(|(path, old)| {
            let new = after.get(path).map_or("gone", String::as_str);
            (new != old).then_some((path.as_str(), old.as_str(), new))
        })
        .collect()
}

/// The chosen word of `always [madvise] never` is what is written.
fn writable(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

/// Writes what differs, so that it is as in `wanted` again.
///
/// # Errors
/// If something is not.
pub fn put_back(wanted: &Values) -> anyhow::Result<()> {
    for (path, old, _) in differing(wanted, &snapshot()) {
        std::fs::write(path, writable(old)).with_context(|| format!("{path} to {old}"))?;
    }
    let now = snapshot();
    let left = differing(wanted, &now);
    anyhow::ensure!(left.is_empty(), "not as before: {left:?}");
    Ok(())
}

/// Puts these values back when it goes, whatever happens.
pub struct Keeper(pub Values);

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Err(error) = put_back(&self.0) {
            eprintln!("the previous values could not be restored: {error:#}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_and_what_is_written() {
        let of = |rate: &str| Values::from([("a".to_owned(), rate.to_owned())]);
        assert!(differing(&of("1"), &of("1")).is_empty());
        assert_eq!(differing(&of("1"), &of("2")), [("a", "1", "2")]);
        assert_eq!(differing(&of("1"), &Values::new()), [("a", "1", "gone")]);
        assert_eq!(writable("always [madvise] never"), "madvise");
        assert_eq!(writable("100000"), "100000");
    }
}
