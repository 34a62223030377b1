//! What makes a shield, part by part.

use super::{Hierarchy, SHIELD, SYSTEM, Version, hierarchy, tasks};
use crate::files::Files;
use crate::tune::item::{Item, Place};
use crate::tune::journal::Action;
use crate::tune::{beside, meaning};

/// How its parts are called in reports.
const CONTROL: &str = "shield";

/// A part of the shield.
pub(crate) enum Part {
    /// Something that must succeed, or there is no shield.
    Needed(Action),
    /// A group, and what is written into it.
    Group(Action, Vec<(&'static str, String)>),
    /// Everybody who may be moved goes from the root group to this one.
    Clear(Hierarchy),
}

/// The parts in the order in which they are made; undone in reverse.
///
/// # Errors
/// Why there can be no such shield, in words.
pub(crate) fn parts(files: &dyn Files, cpus: &[u32]) -> Result<Vec<Part>, String> {
    let found = hierarchy(files)?;
    let all = match found.version {
        Version::One => text(files, &format!("{}/cpuset.cpus", found.mount))?,
        Version::Two => text(files, &format!("{}/cpuset.cpus.effective", found.mount))?,
    };
    let all = meaning::cpus(&all).ok_or_else(|| format!("{all:?} is no list of CPUs"))?;
    if cpus.is_empty() || cpus.iter().any(|cpu| !all.contains(cpu)) {
        return Err(format!("its CPUs must be some of {}", meaning::list(&all)));
    }
    let others: Vec<u32> = all
        .iter()
        .copied()
        .filter(|cpu| !cpus.contains(cpu))
        .collect();
    if others.is_empty() {
        return Err(format!(
            "no CPU would be left for everybody else: choose fewer than {}",
            meaning::list(&all)
        ));
    }
    for name in super::OURS {
        let path = format!("{}/{name}", found.mount);
        if files.exists(&path) {
            return Err(format!(
                "there is a group {path} already, of somebody else: remove it (rmdir)"
            ));
        }
    }
    match found.version {
        Version::One => version_one(files, &found, cpus, &others),
        Version::Two => version_two(files, &found, cpus),
    }
}

fn version_one(
    files: &dyn Files,
    found: &Hierarchy,
    cpus: &[u32],
    others: &[u32],
) -> Result<Vec<Part>, String> {
    let mount = &found.mount;
    let own = text(files, "/proc/self/cpuset")?;
    // A task's group is told by /proc/TASK/cpuset, and must lie where we see it.
    if tasks::group(mount, &own) != found.home || !files.exists(&format!("{}/tasks", found.home)) {
        return Err(format!(
            "the groups of cpusets seen at {mount} are not those that processes are in ({own}): a container"
        ));
    }
    let mems = text(files, &format!("{mount}/cpuset.mems"))?;
    let group = |name: &str, home: &str| Action::Group {
        path: format!("{mount}/{name}"),
        home: home.to_owned(),
        list: found.list().to_owned(),
        beside: Vec::new(),
    };
    let mut parts = shrunk(files, found, cpus);
    parts.push(Part::Group(
        group(SYSTEM, mount),
        vec![
            ("cpuset.cpus", meaning::list(others)),
            ("cpuset.mems", mems.clone()),
        ],
    ));
    parts.push(Part::Group(
        group(SHIELD, &found.home),
        vec![
            ("cpuset.cpus", meaning::list(cpus)),
            ("cpuset.mems", mems),
            ("cpuset.cpu_exclusive", "1".into()),
        ],
    ));
    parts.push(Part::Clear(found.clone()));
    Ok(parts)
}

/// Others' groups lose the shielded CPUs, children before parents. One that
/// has no others stays: then the exclusive group can't be made, and that says so.
fn shrunk(files: &dyn Files, found: &Hierarchy, cpus: &[u32]) -> Vec<Part> {
    let mut groups = found.groups(files);
    groups.reverse();
    groups
        .into_iter()
        .filter_map(|group| {
            let path = format!("{group}/cpuset.cpus");
            let old = files.read(&path).ok()?;
            let has = meaning::cpus(&old)?;
            let left: Vec<u32> = has.iter().copied().filter(|c| !cpus.contains(c)).collect();
            if left.is_empty() || left.len() == has.len() {
                return None;
            }
            let mut items = vec![Item {
                place: Place::File(path.clone()),
                old,
                wanted: Some(meaning::list(&left)),
            }];
            items.extend(beside::of(files, &path));
            Some(Part::Needed(Action::Change {
                control: CONTROL.into(),
                items,
            }))
        })
        .collect()
}

fn version_two(files: &dyn Files, found: &Hierarchy, cpus: &[u32]) -> Result<Vec<Part>, String> {
    let mount = &found.mount;
    // Before Linux 6.2 a task's own CPUs were forgotten when its group's changed.
    let affinities = beside::narrow_tasks(files)
        .into_iter()
        .filter_map(|place| {
            Some(Item {
                old: place.read(files).ok()?,
                place,
                wanted: None,
            })
        })
        .collect();
    Ok(vec![
        Part::Needed(Action::Enable {
            path: format!("{mount}/cgroup.subtree_control"),
            controller: "cpuset".into(),
        }),
        Part::Group(
            Action::Group {
                path: format!("{mount}/{SHIELD}"),
                home: found.home.clone(),
                list: found.list().to_owned(),
                beside: affinities,
            },
            vec![
                ("cpuset.cpus", meaning::list(cpus)),
                ("cpuset.cpus.partition", "root".into()),
            ],
        ),
    ])
}

/// The move of those who are in the root group now and may be moved, but for
/// those already tried.
pub(crate) fn movers(files: &dyn Files, found: &Hierarchy, tried: &mut Vec<u32>) -> Option<Action> {
    let list = format!("{}/{}", found.mount, found.list());
    let mut items = Vec::new();
    for id in tasks::members(files, &list) {
        if tried.contains(&id) || !tasks::may_be_moved(files, id) {
            continue;
        }
        tried.push(id);
        // Who ends meanwhile needs no moving.
        let Ok(task) = tasks::find(files, id) else {
            continue;
        };
        let places = [
            (
                Place::Cpuset {
                    task,
                    mount: found.mount.clone(),
                },
                Some(format!("/{SYSTEM}")),
            ),
            // Before Linux 6.2 moving made a task forget its own CPUs.
            (Place::Affinity(task), None),
        ];
        for (place, wanted) in places {
            if let Ok(old) = place.read(files) {
                items.push(Item { place, old, wanted });
            }
        }
    }
    (!items.is_empty()).then(|| Action::Change {
        control: CONTROL.into(),
        items,
    })
}

fn text(files: &dyn Files, path: &str) -> Result<String, String> {
    files.read(path).map_err(|e| format!("{path}: {e}"))
}
