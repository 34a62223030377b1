//! What else a change may alter: the kernel's side effects, so that they can
//! be put back too.

use super::item::{Item, Place};
use crate::files::Files;
use crate::shield::{Hierarchy, Version, hierarchy, tasks};

const CPU: &str = "/sys/devices/system/cpu";

/// The values that writing into `path` may alter, as they are now.
pub(crate) fn of(files: &dyn Files, path: &str) -> Vec<Item> {
    let mut places = Vec::new();
    match path.strip_prefix(CPU) {
        // The kernel moves interrupts off a CPU that goes (a mask of that CPU
        // alone becomes all others), takes it out of version 1 cpusets for
        // ever, moves the tasks out of those that are left empty, and widens
        // the CPUs of tasks that had no other. A policy of cpufreq begins anew.
        Some(rest) if rest == "/smt/control" || rest.ends_with("/online") => {
            places.extend(interrupts(files));
            places.extend(policies(files, POLICY));
            if let Ok(found) = hierarchy(files) {
                places.extend(cpusets(files, &found));
                places.extend(members(files, &found));
            }
            places.extend(narrow_tasks(files));
            // Siblings that are let in again all come, also one that was
            // offline by itself. Last: who goes takes others' values along.
            if rest == "/smt/control" {
                places.extend(cpus_online(files));
            }
        }
        // The performance governor fixes the preference of energy
        // (Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst).
        Some(rest) if rest.ends_with("/scaling_governor") => {
            let policy = path.trim_end_matches("scaling_governor");
            places.extend(
                [
                    "energy_performance_preference",
                    "scaling_min_freq",
                    "scaling_max_freq",
                ]
                .map(|file| Place::File(format!("{policy}{file}"))),
            );
        }
        // The bounds follow the fastest clock there is.
        Some(rest) if rest.ends_with("/boost") || rest.ends_with("/no_turbo") => {
            places.extend(policies(
                files,
                // A global boost sets that of each policy.
                &["boost", "scaling_min_freq", "scaling_max_freq"],
            ));
        }
        // Another driver, or the same one anew.
        Some(rest) if rest.ends_with("pstate/status") => {
            places.extend(
                ["no_turbo", "min_perf_pct", "max_perf_pct"]
                    .map(|file| Place::File(format!("{CPU}/intel_pstate/{file}"))),
            );
            places.extend(policies(files, POLICY));
        }
        // Before Linux 6.2 a task's own CPUs were forgotten when its group's
        // changed.
        None if path.ends_with("/cpuset.cpus") => {
            let directory = path.trim_end_matches("/cpuset.cpus");
            places.extend(
                tasks::members(files, &format!("{directory}/tasks"))
                    .into_iter()
                    .filter_map(|id| Some(Place::Affinity(tasks::find(files, id).ok()?))),
            );
        }
        _ => {}
    }
    items(
        files,
        places
            .into_iter()
            .filter(|p| *p != Place::File(path.into())),
    )
}

/// The places with what is there; those that can't be read can't be put back.
fn items(files: &dyn Files, places: impl Iterator<Item = Place>) -> Vec<Item> {
    places
        .filter_map(|place| {
            Some(Item {
                old: place.read(files).ok()?,
                place,
                wanted: None,
            })
        })
        .collect()
}

/// A governor comes before what depends on it.
const POLICY: &[&str] = &[
    "scaling_governor",
    "energy_performance_preference",
    "scaling_min_freq",
    "scaling_max_freq",
];

fn policies(files: &dyn Files, names: &[&str]) -> Vec<Place> {
    files
        .names(&format!("{CPU}/cpufreq"))
        .into_iter()
        .filter(|name| name.starts_with("policy"))
        .flat_map(|policy| {
            names
                .iter()
                .map(move |name| Place::File(format!("{CPU}/cpufreq/{policy}/{name}")))
        })
        .collect()
}

/// Which CPUs are online, of those that can be taken offline.
fn cpus_online(files: &dyn Files) -> Vec<Place> {
    files
        .names(CPU)
        .into_iter()
        .filter(|name| {
            name.strip_prefix("cpu")
                .is_some_and(|digits| digits.parse::<u32>().is_ok())
        })
        .map(|name| Place::File(format!("{CPU}/{name}/online")))
        .collect()
}

fn interrupts(files: &dyn Files) -> Vec<Place> {
    std::iter::once("/proc/irq/default_smp_affinity".to_owned())
        .chain(
            files
                .names("/proc/irq")
                .into_iter()
                .filter(|name| name.parse::<u32>().is_ok())
                .map(|irq| format!("/proc/irq/{irq}/smp_affinity")),
        )
        .map(Place::File)
        .collect()
}

/// The CPUs of all groups below the root, parents before children: a child
/// can't have what its parent has not.
fn cpusets(files: &dyn Files, found: &Hierarchy) -> Vec<Place> {
    match found.version {
        // Their lists stay; only what is effective changes.
        Version::Two => Vec::new(),
        Version::One => found
            .groups(files)
            .into_iter()
            .map(|group| Place::File(format!("{group}/cpuset.cpus")))
            .collect(),
    }
}

fn members(files: &dyn Files, found: &Hierarchy) -> Vec<Place> {
    match found.version {
        Version::Two => Vec::new(),
        Version::One => found
            .groups(files)
            .into_iter()
            .flat_map(|group| tasks::members(files, &format!("{group}/tasks")))
            .filter_map(|id| {
                Some(Place::Cpuset {
                    task: tasks::find(files, id).ok()?,
                    mount: found.mount.clone(),
                })
            })
            .collect(),
    }
}

/// Tasks that may not run on every CPU that is there.
pub(crate) fn narrow_tasks(files: &dyn Files) -> Vec<Place> {
    let Ok(online) = files.read(&format!("{CPU}/online")) else {
        return Vec::new();
    };
    let online = super::meaning::cpus(&online).unwrap_or_default();
    tasks::all(files)
        .into_iter()
        .filter(|&id| tasks::may_be_moved(files, id))
        .filter(|&id| {
            tasks::affinity(files, id)
                .ok()
                .and_then(|list| super::meaning::cpus(&list))
                .is_some_and(|cpus| online.iter().any(|cpu| !cpus.contains(cpu)))
        })
        .filter_map(|id| Some(Place::Affinity(tasks::find(files, id).ok()?)))
        .collect()
}
