//! Where the kernel keeps things: CPUs, frequency policies, masks.

use super::sight::field;
use crate::files::Files;
use sys::files::cpu_list;

/// The directory of all CPUs.
pub(super) const CPUS: &str = "/sys/devices/system/cpu";

/// A machine as the controls see it.
pub(super) struct Scene<'a> {
    /// Its files.
    pub(super) files: &'a dyn Files,
    /// CPUs to be kept free of interrupts and of the kernel's work.
    pub(super) quiet: Vec<u32>,
    /// CPUs that are online; empty if that is not known.
    pub(super) online: Vec<u32>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(files: &'a dyn Files, quiet_cpus: &[u32]) -> Scene<'a> {
        Scene {
            files,
            quiet: quiet_cpus.to_vec(),
            online: list(files, &format!("{CPUS}/online")).unwrap_or_default(),
        }
    }

    /// CPUs that are left for everything that is not wanted on the quiet ones;
    /// empty where nothing would be left, or nothing is to be quiet. CPUs that
    /// the kernel was told to leave alone are no place for it either, as long
    /// as there are others.
    pub(super) fn others(&self) -> Vec<u32> {
        if self.quiet.is_empty() {
            return Vec::new();
        }
        let others = without(&self.online, &self.quiet);
        let alone: Vec<u32> = ["isolated", "nohz_full"]
            .iter()
            .filter_map(|name| list(self.files, &format!("{CPUS}/{name}")))
            .flatten()
            .collect();
        match without(&others, &alone) {
            open if open.is_empty() => others,
            open => open,
        }
    }

    /// Frequency policies: each directory with the CPUs that it is for.
    pub(super) fn policies(&self) -> Vec<(String, Vec<u32>)> {
        let directory = format!("{CPUS}/cpufreq");
        let mut policies: Vec<(u32, String)> = self
            .files
            .names(&directory)
            .into_iter()
            .filter_map(|name| {
                let number = name.strip_prefix("policy")?.parse().ok()?;
                Some((number, format!("{directory}/{name}")))
            })
            .collect();
        policies.sort();
        policies
            .into_iter()
            .map(|(number, policy)| {
                let cpus = cpus_of_policy(self.files, &policy);
                // A policy whose CPUs can't be read is named after its first.
                (policy, cpus.unwrap_or_else(|| vec![number]))
            })
            .collect()
    }
}

/// `affected_cpus` of a policy is a list with blanks between.
fn cpus_of_policy(files: &dyn Files, policy: &str) -> Option<Vec<u32>> {
    let text = files.read(&format!("{policy}/affected_cpus")).ok()?;
    let cpus: Vec<u32> = text
        .split_whitespace()
        .map(|cpu| cpu.parse().ok())
        .collect::<Option<_>>()?;
    (!cpus.is_empty()).then_some(cpus)
}

/// The CPUs that are kept free where nobody names any: all threads of the last
/// core of the fastest kind that this process may use, as long as other CPUs
/// remain. Devices and the kernel's own work prefer the first.
pub fn quiet_by_default(files: &dyn Files) -> Vec<u32> {
    let online = list(files, &format!("{CPUS}/online")).unwrap_or_default();
    let status = files.read("/proc/self/status").unwrap_or_default();
    let allowed = field(&status, "Cpus_allowed_list").and_then(cpu_list);
    let usable: Vec<u32> = match allowed {
        Some(allowed) => online
            .iter()
            .copied()
            .filter(|cpu| allowed.contains(cpu))
            .collect(),
        None => online.clone(),
    };
    let Some(&last) = fastest(files, &usable).last() else {
        return Vec::new();
    };
    let core = siblings(files, last).unwrap_or_else(|| vec![last]);
    match without(&online, &core).is_empty() {
        true => Vec::new(),
        false => core,
    }
}

/// Those of the highest capacity (ARM), or of Intel's P-cores; all where there
/// is one kind.
fn fastest(files: &dyn Files, online: &[u32]) -> Vec<u32> {
    if let Some(performance) = list(files, "/sys/devices/cpu_core/cpus") {
        let kept: Vec<u32> = online
            .iter()
            .copied()
            .filter(|c| performance.contains(c))
            .collect();
        if !kept.is_empty() {
            return kept;
        }
    }
    let capacity = |cpu: u32| -> Option<u32> {
        let path = format!("{CPUS}/cpu{cpu}/cpu_capacity");
        files.read(&path).ok()?.parse().ok()
    };
    let most = online.iter().filter_map(|&cpu| capacity(cpu)).max();
    match most {
        Some(most) => online
            .iter()
            .copied()
            .filter(|&c| capacity(c) == Some(most))
            .collect(),
        None => online.to_vec(),
    }
}

/// The hardware threads of a CPU's core, itself among them.
pub(super) fn siblings(files: &dyn Files, cpu: u32) -> Option<Vec<u32>> {
    let path = format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
    list(files, &path).filter(|cpus| !cpus.is_empty())
}

/// A file that is a list like `0-3,8`.
pub(super) fn list(files: &dyn Files, path: &str) -> Option<Vec<u32>> {
    cpu_list(&files.read(path).ok()?)
}

/// `cpus` but for those in `taken`.
pub(super) fn without(cpus: &[u32], taken: &[u32]) -> Vec<u32> {
    cpus.iter()
        .copied()
        .filter(|cpu| !taken.contains(cpu))
        .collect()
}

/// A mask as the kernel writes it, `ff,ffffffff`: groups of 32 bits, the
/// highest first.
pub(super) fn mask_of(cpus: &[u32]) -> String {
    let groups = cpus.iter().max().map_or(1, |&most| most as usize / 32 + 1);
    let mut words = vec![0_u32; groups];
    for &cpu in cpus {
        words[cpu as usize / 32] |= 1 << (cpu % 32);
    }
    let mut words = words.iter().rev();
    let first = words
        .next()
        .map_or(String::new(), |word| format!("{word:x}"));
    words.fold(first, |text, word| format!("{text},{word:08x}"))
}

/// The CPUs of such a mask.
pub(super) fn cpus_of(mask: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for (group, word) in mask.trim().rsplit(',').enumerate() {
        let word = u32::from_str_radix(word, 16).ok()?;
        let base = u32::try_from(group).ok()?.checked_mul(32)?;
        cpus.extend(
            (0..32)
                .filter(|bit| word >> bit & 1 == 1)
                .map(|bit| base + bit),
        );
    }
    Some(cpus)
}

/// CPUs as people write them, `0-3, 8`.
pub(super) fn ranges(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(cpu) => *end = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts: Vec<String> = ranges
        .iter()
        .map(|(from, to)| match from == to {
            true => from.to_string(),
            false => format!("{from}-{to}"),
        })
        .collect();
    texts.join(", ")
}

/// `CPU 1`, `CPUs 0-3, 8`, `no CPU`.
pub(super) fn in_words(cpus: &[u32]) -> String {
    match cpus {
        [] => "no CPU".to_owned(),
        [one] => format!("CPU {one}"),
        many => format!("CPUs {}", ranges(many)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_those_of_the_kernel() {
        assert_eq!(mask_of(&[0, 1]), "3");
        assert_eq!(mask_of(&[0, 32, 33]), "3,00000001");
        assert_eq!(mask_of(&[]), "0");
        for cpus in [vec![], vec![5], vec![0, 31, 32, 95]] {
            assert_eq!(cpus_of(&mask_of(&cpus)), Some(cpus));
        }
        assert_eq!(cpus_of("00000003"), Some(vec![0, 1]));
        assert_eq!(cpus_of("x"), None);
    }

    #[test]
    fn lists_for_people() {
        assert_eq!(ranges(&[0, 1, 2, 8, 10, 11]), "0-2, 8, 10-11");
        assert_eq!(ranges(&[]), "");
    }
}
