//! The machine that the controls are read from: CPUs, cpufreq policies,
//! interrupts.

use crate::cpus::{parse_cpus, without};
use crate::pattern::expand;
use sys::files::Files;
use sys::machine::is_as_fast;

/// The directory of all CPUs.
pub(super) const CPUS: &str = "/sys/devices/system/cpu";

/// A machine, and the CPUs to be kept quiet.
pub(super) struct System<'a> {
    pub(super) files: &'a dyn Files,
    /// CPUs to be kept free of interrupts and kernel work.
    pub(super) quiet: Vec<u32>,
    /// Empty if not known.
    pub(super) online: Vec<u32>,
}

impl<'a> System<'a> {
    pub(super) fn new(files: &'a dyn Files, quiet_cpus: &[u32]) -> System<'a> {
        System {
            files,
            quiet: quiet_cpus.to_vec(),
            online: cpus_in_file(files, &format!("{CPUS}/online")).unwrap_or_default(),
        }
    }

    /// CPUs for what must leave the quiet ones; empty if none are left, or none
    /// are to be quiet. Isolated CPUs count only if there are no others.
    pub(super) fn housekeeping(&self) -> Vec<u32> {
        if self.quiet.is_empty() {
            return Vec::new();
        }
        let others = without(&self.online, &self.quiet);
        let isolated: Vec<u32> = ["isolated", "nohz_full"]
            .iter()
            .filter_map(|name| cpus_in_file(self.files, &format!("{CPUS}/{name}")))
            .flatten()
            .collect();
        match without(&others, &isolated) {
            open if open.is_empty() => others,
            open => open,
        }
    }

    /// The files of a pattern that exist, each with its CPUs: `policy<n>` and
    /// `cpu<n>` have some, `/proc/irq/<n>` and single files none.
    pub(super) fn expand(&self, pattern: &str) -> Vec<(String, Vec<u32>)> {
        let kind = pattern.split_once("<n>");
        let kind = kind.and_then(|(before, _)| before.rsplit('/').next());
        let all = expand(self.files, pattern).into_iter();
        all.filter_map(|(number, path)| match (kind, number) {
            (Some("cpu"), Some(cpu)) => self.online.contains(&cpu).then(|| (path, vec![cpu])),
            (Some("policy"), Some(number)) => Some((path, self.cpus_of_policy(number))),
            _ => Some((path, Vec::new())),
        })
        .collect()
    }

    /// A policy is named after its first CPU.
    fn cpus_of_policy(&self, number: u32) -> Vec<u32> {
        let path = format!("{CPUS}/cpufreq/policy{number}/affected_cpus");
        cpus_in_file(self.files, &path)
            .filter(|cpus| !cpus.is_empty())
            .unwrap_or_else(|| vec![number])
    }
}

/// The default quiet CPUs: all threads of the last core of the fastest kind
/// that this process may use, if other CPUs remain. Devices and kernel work
/// prefer the first.
pub fn quiet_by_default(files: &dyn Files) -> Vec<u32> {
    let online = cpus_in_file(files, &format!("{CPUS}/online")).unwrap_or_default();
    let status = files.read("/proc/self/status").unwrap_or_default();
    let mut usable = online.clone();
    if let Some(allowed) = field(&status, "Cpus_allowed_list").and_then(parse_cpus) {
        usable.retain(|cpu| allowed.contains(cpu));
    }
    let Some(&last) = fastest(files, &usable).last() else {
        return Vec::new();
    };
    let core = siblings(files, last).unwrap_or_else(|| vec![last]);
    if without(&online, &core).is_empty() { Vec::new() } else { core }
}

/// Intel's P-cores, or those of the highest capacity (ARM), give or take binning;
/// all if there is one kind.
fn fastest(files: &dyn Files, online: &[u32]) -> Vec<u32> {
    let kept = |keep: &dyn Fn(u32) -> bool| -> Vec<u32> {
        online.iter().copied().filter(|&cpu| keep(cpu)).collect()
    };
    if let Some(performance) = cpus_in_file(files, "/sys/devices/cpu_core/cpus") {
        let kept = kept(&|cpu| performance.contains(&cpu));
        if !kept.is_empty() {
            return kept;
        }
    }
    let capacity = |cpu: u32| -> Option<u64> {
        let path = format!("{CPUS}/cpu{cpu}/cpu_capacity");
        files.read(&path).ok()?.parse().ok()
    };
    match online.iter().filter_map(|&cpu| capacity(cpu)).max() {
        Some(most) => kept(&|cpu| capacity(cpu).is_some_and(|own| is_as_fast(own, most))),
        None => online.to_vec(),
    }
}

/// The hardware threads of a CPU's core, itself included.
pub(super) fn siblings(files: &dyn Files, cpu: u32) -> Option<Vec<u32>> {
    let path = format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
    cpus_in_file(files, &path).filter(|cpus| cpus.contains(&cpu))
}

/// A file that holds a list of CPUs.
pub(super) fn cpus_in_file(files: &dyn Files, path: &str) -> Option<Vec<u32>> {
    parse_cpus(&files.read(path).ok()?)
}

/// The value of a line `key:\tvalue`.
pub(super) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim)
}
