//! The steps that make a shield.

use super::{Hierarchy, SHIELD, SYSTEM, ShieldError, Version, hierarchy, read_text, tasks};
use crate::cpus::{cpu_ranges, parse_cpus, without};
use crate::tune::item::{Item, ItemTarget};
use crate::tune::journal::Action;
use crate::tune::side_effects;
use sys::files::Files;

/// A step; all must succeed.
pub(crate) enum ShieldStep {
    /// Another group loses the CPUs.
    Shrink(Vec<Item>),
    /// A controller is given to the groups below.
    Enable { path: String, controller: String },
    /// A group is made, with these values.
    Group { action: Action, path: String, values: Vec<(&'static str, String)> },
    /// All tasks that can be moved leave the root group.
    Clear(Hierarchy),
}

/// The steps in the order in which they are made; undone in reverse.
pub(crate) fn steps(files: &dyn Files, cpus: &[u32]) -> Result<Vec<ShieldStep>, ShieldError> {
    let found = hierarchy(files)?;
    let all = match found.version {
        Version::One => read_text(files, &format!("{}/cpuset.cpus", found.mount))?,
        Version::Two => read_text(files, &format!("{}/cpuset.cpus.effective", found.mount))?,
    };
    let all = parse_cpus(&all).ok_or(ShieldError::NoList(all))?;
    if cpus.is_empty() || cpus.iter().any(|cpu| !all.contains(cpu)) {
        return Err(ShieldError::NoSuchCpus(cpu_ranges(&all)));
    }
    let others = without(&all, cpus);
    if others.is_empty() {
        return Err(ShieldError::NoCpuLeft(cpu_ranges(&all)));
    }
    for name in super::OURS {
        let path = format!("{}/{name}", found.mount);
        if files.exists(&path) {
            return Err(ShieldError::GroupExists(path));
        }
    }
    match found.version {
        Version::One => version_one(files, &found, cpus, &others),
        Version::Two => Ok(version_two(files, &found, cpus)),
    }
}

/// The step that makes a group below the root; its tasks go `home` when it goes.
fn group(
    found: &Hierarchy,
    name: &str,
    home: &str,
    accompanying: Vec<Item>,
    values: Vec<(&'static str, String)>,
) -> ShieldStep {
    let path = format!("{}/{name}", found.mount);
    ShieldStep::Group {
        action: Action::Group {
            path: path.clone(),
            home: home.to_owned(),
            list: found.members_file().to_owned(),
            accompanying,
        },
        path,
        values,
    }
}

fn version_one(
    files: &dyn Files,
    found: &Hierarchy,
    cpus: &[u32],
    others: &[u32],
) -> Result<Vec<ShieldStep>, ShieldError> {
    let mount = &found.mount;
    let own = read_text(files, "/proc/self/cpuset")?;
    // The group of /proc/TASK/cpuset must be visible below the mount.
    if tasks::group(mount, &own) != found.home || !files.exists(&format!("{}/tasks", found.home)) {
        return Err(ShieldError::Container { mount: mount.clone(), own });
    }
    let mems = read_text(files, &format!("{mount}/cpuset.mems"))?;
    let mut steps = shrink(files, found, cpus);
    let of_others = vec![("cpuset.cpus", cpu_ranges(others)), ("cpuset.mems", mems.clone())];
    let of_shield = vec![
        ("cpuset.cpus", cpu_ranges(cpus)),
        ("cpuset.mems", mems),
        ("cpuset.cpu_exclusive", "1".into()),
    ];
    steps.push(group(found, SYSTEM, mount, Vec::new(), of_others));
    steps.push(group(found, SHIELD, &found.home, Vec::new(), of_shield));
    steps.push(ShieldStep::Clear(found.clone()));
    Ok(steps)
}

/// Other groups lose the shielded CPUs, children before parents. One without
/// other CPUs stays: then the exclusive group can't be made, and says so.
fn shrink(files: &dyn Files, found: &Hierarchy, cpus: &[u32]) -> Vec<ShieldStep> {
    let groups = found.groups(files).into_iter().rev();
    groups
        .filter_map(|group| {
            let path = format!("{group}/cpuset.cpus");
            let old = files.read(&path).ok()?;
            let has = parse_cpus(&old)?;
            let left = without(&has, cpus);
            if left.is_empty() || left.len() == has.len() {
                return None;
            }
            let mut items = vec![Item {
                place: ItemTarget::File(path.clone()),
                old,
                wanted: Some(cpu_ranges(&left)),
            }];
            items.extend(side_effects::side_effects(files, &path));
            Some(ShieldStep::Shrink(items))
        })
        .collect()
}

fn version_two(files: &dyn Files, found: &Hierarchy, cpus: &[u32]) -> Vec<ShieldStep> {
    // Before Linux 6.2 tasks lost their own affinity when that of their group
    // changed.
    let affinities = side_effects::items(files, side_effects::narrow_tasks(files));
    let values = vec![("cpuset.cpus", cpu_ranges(cpus)), ("cpuset.cpus.partition", "root".into())];
    vec![
        ShieldStep::Enable {
            path: format!("{}/cgroup.subtree_control", found.mount),
            controller: "cpuset".into(),
        },
        group(found, SHIELD, &found.home, affinities, values),
    ]
}

/// The moves of tasks that are in the root group now and can be moved, without
/// those already tried.
pub(crate) fn movers(files: &dyn Files, found: &Hierarchy, tried: &mut Vec<u32>) -> Vec<Item> {
    let list = format!("{}/{}", found.mount, found.members_file());
    let mut items = Vec::new();
    for id in tasks::members(files, &list) {
        if tried.contains(&id) || !tasks::may_be_moved(files, id) {
            continue;
        }
        tried.push(id);
        // It may have ended.
        let Ok(task) = tasks::task_with_id(files, id) else {
            continue;
        };
        let mount = found.mount.clone();
        let places = [
            (ItemTarget::Cpuset { task, mount }, Some(format!("/{SYSTEM}"))),
            // Before Linux 6.2 a move lost the task's own affinity.
            (ItemTarget::Affinity(task), None),
        ];
        for (place, wanted) in places {
            if let Ok(old) = place.current_value(files) {
                items.push(Item { place, old, wanted });
            }
        }
    }
    items
}
