//! Values that the kernel changes along with a written one ([`Moves`]), so that
//! they are restored too.

use super::item::{Item, ItemTarget};
use crate::control::{Moves, ONLINE, moves};
use crate::cpus::parse_cpus;
use crate::pattern::expand;
use crate::shield::{Hierarchy, Version, hierarchy, tasks};
use sys::files::Files;

/// Files that change with a CPU that goes offline: interrupts move away (a mask
/// of that CPU alone becomes all others), cpufreq policies begin anew. The
/// governor comes before what depends on it.
const OF_A_CPU: &[&str] = &[
    "/proc/irq/default_smp_affinity",
    "/proc/irq/<n>/smp_affinity",
    "/sys/devices/system/cpu/cpufreq/policy<n>/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/policy<n>/energy_performance_preference",
    "/sys/devices/system/cpu/cpufreq/policy<n>/scaling_min_freq",
    "/sys/devices/system/cpu/cpufreq/policy<n>/scaling_max_freq",
];

/// The values that writing `path` may change, as they are now.
pub(crate) fn side_effects(files: &dyn Files, path: &str) -> Vec<Item> {
    let mut places = match moves(path) {
        Moves::Nothing => Vec::new(),
        Moves::SamePolicy(names) => {
            let policy = path.rsplit_once('/').map_or("", |(policy, _)| policy);
            let file = |name: &&str| ItemTarget::File(format!("{policy}/{name}"));
            names.iter().map(file).collect()
        }
        Moves::Files(patterns) => all_places(files, patterns),
        Moves::CpuGoes => {
            let mut places = hotplug(files);
            // Enabling SMT brings back all siblings, even one that was taken
            // offline separately. Last: a CPU that goes takes values along.
            if path.ends_with("/smt/control") {
                places.extend(all_places(files, &[ONLINE]));
            }
            places
        }
    };
    if let Some(group) = path.strip_suffix("/cpuset.cpus") {
        // Before Linux 6.2 tasks lost their own affinity when that of their
        // group changed.
        let tasks = tasks::members(files, &format!("{group}/tasks"));
        places.extend(tasks.into_iter().filter_map(|id| affinity(files, id)));
    }
    places.retain(|place| *place != ItemTarget::File(path.into()));
    items(files, places)
}

/// What a CPU that goes offline changes: files; version 1 cpusets lose it for
/// good, tasks leave those that are empty then, and tasks without another CPU
/// get all.
fn hotplug(files: &dyn Files) -> Vec<ItemTarget> {
    let mut places = all_places(files, OF_A_CPU);
    if let Ok(found) = hierarchy(files) {
        places.extend(cpusets(files, &found));
    }
    places.extend(narrow_tasks(files));
    places
}

/// The places with their values; what can't be read can't be restored.
pub(crate) fn items(files: &dyn Files, places: Vec<ItemTarget>) -> Vec<Item> {
    places
        .into_iter()
        .filter_map(|place| {
            Some(Item { old: place.current_value(files).ok()?, place, wanted: None })
        })
        .collect()
}

fn all_places(files: &dyn Files, patterns: &[&str]) -> Vec<ItemTarget> {
    let all = patterns.iter().flat_map(|pattern| expand(files, pattern));
    all.map(|(_, path)| ItemTarget::File(path)).collect()
}

/// The CPUs of all version 1 groups below the root, parents before children (a
/// child can't have more than its parent), then the groups of their tasks. In
/// version 2 only effective CPUs change.
fn cpusets(files: &dyn Files, found: &Hierarchy) -> Vec<ItemTarget> {
    if found.version == Version::Two {
        return Vec::new();
    }
    let groups = found.groups(files);
    let cpus = groups.iter().map(|group| ItemTarget::File(format!("{group}/cpuset.cpus")));
    let tasks = groups
        .iter()
        .flat_map(|group| tasks::members(files, &format!("{group}/tasks")))
        .filter_map(|id| {
            Some(ItemTarget::Cpuset {
                task: tasks::task_with_id(files, id).ok()?,
                mount: found.mount.clone(),
            })
        });
    cpus.chain(tasks).collect()
}

fn affinity(files: &dyn Files, id: u32) -> Option<ItemTarget> {
    Some(ItemTarget::Affinity(tasks::task_with_id(files, id).ok()?))
}

/// Tasks that may not run on every online CPU.
pub(crate) fn narrow_tasks(files: &dyn Files) -> Vec<ItemTarget> {
    let Ok(online) = files.read("/sys/devices/system/cpu/online") else {
        return Vec::new();
    };
    let online = parse_cpus(&online).unwrap_or_default();
    let is_narrow = |id: u32| {
        let list = tasks::affinity(files, id).ok();
        let cpus = list.and_then(|list| parse_cpus(&list));
        cpus.is_some_and(|cpus| online.iter().any(|cpu| !cpus.contains(cpu)))
    };
    tasks::all_threads(files)
        .into_iter()
        .filter(|&id| tasks::may_be_moved(files, id) && is_narrow(id))
        .filter_map(|id| affinity(files, id))
        .collect()
}
