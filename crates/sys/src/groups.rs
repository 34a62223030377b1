//! Which control groups a process is in, and where they are mounted, by the
//! texts that the kernel writes of them (cgroups(7), proc_pid_mountinfo(5)).

use std::path::Path;

use crate::files::Unreadable;
use crate::mountinfo::Mount;

/// Version of the hierarchy that has a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// One hierarchy for each controller or a few.
    One,
    /// One hierarchy for all.
    Two,
}

/// The group and its ancestors in the hierarchy of one controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Of the hierarchy.
    pub version: Version,
    /// Directories, the group itself first, its mount point last.
    pub levels: Vec<String>,
}

/// Why a controller's control group is not known.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum NoGroup {
    #[error("/proc/self/cgroup names no control group with the {0} controller")]
    NoController(String),
    #[error("the control groups of the {0} controller are not mounted here")]
    NotMounted(String),
    #[error("the control group of this process with the {0} controller is not visible here")]
    NotVisible(String),
    /// One of the two files can't be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// The group of `controller` (`memory`, `cpuset`) with its ancestors, by the
/// texts of /proc/self/cgroup and /proc/self/mountinfo. Does not check that
/// the directories exist.
pub fn chain(groups: &str, mounts: &str, controller: &str) -> Result<Chain, NoGroup> {
    let (version, group) = membership(groups, controller)
        .ok_or_else(|| NoGroup::NoController(controller.to_owned()))?;
    let mount = Mount::mounts(mounts)
        .filter(|mount| has(mount, version, controller))
        // A bind mount of some other subtree does not show our group.
        .max_by_key(|mount| inside(&mount.root, group).is_some())
        .ok_or_else(|| NoGroup::NotMounted(controller.to_owned()))?;
    let below = inside(&mount.root, group).unwrap_or("");
    Ok(Chain { version, levels: ancestors(&mount.point, below) })
}

/// The mount point above `path`, if it is mounted read-only. By the text of
/// /proc/self/mountinfo.
pub fn read_only_mount(mounts: &str, path: &str) -> Option<String> {
    let mount = Mount::containing(mounts, Path::new(path))?;
    mount.is_read_only().then_some(mount.point)
}

fn has(mount: &Mount, version: Version, controller: &str) -> bool {
    match version {
        Version::One => {
            mount.kind == "cgroup" && mount.super_options.split(',').any(|o| o == controller)
        }
        Version::Two => mount.kind == "cgroup2",
    }
}

/// The line of /proc/self/cgroup that speaks for `controller`: a version 1
/// hierarchy that has it, else the version 2 one.
fn membership<'a>(groups: &'a str, controller: &str) -> Option<(Version, &'a str)> {
    let mut two = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (id, names, path) = (fields.next()?, fields.next()?, fields.next()?);
        if names.split(',').any(|name| name == controller) {
            return Some((Version::One, path));
        }
        if id == "0" && names.is_empty() {
            two = Some((Version::Two, path));
        }
    }
    two
}

/// `group` as seen from a mount whose root is `root`; `None` if it lies elsewhere.
fn inside<'a>(root: &str, group: &'a str) -> Option<&'a str> {
    // A process outside its cgroup namespace shows as `/../..`.
    if group.split('/').any(|part| part == "..") {
        return None;
    }
    let rest = group.strip_prefix(root.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_matches('/'))
}

/// `point/a/b`, `point/a`, `point`.
fn ancestors(point: &str, below: &str) -> Vec<String> {
    let mut levels = vec![point.to_owned()];
    let mut path = point.trim_end_matches('/').to_owned();
    for part in below.split('/').filter(|part| !part.is_empty()) {
        path = format!("{path}/{part}");
        levels.push(path.clone());
    }
    levels.reverse();
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "5:cpu,cpuacct:/jobs/1\n4:memory:/jobs/2\n1:name=systemd:/s\n0::/two\n";

    #[test]
    fn version_one_wins_where_it_has_the_controller() {
        assert_eq!(membership(HYBRID, "memory"), Some((Version::One, "/jobs/2")));
        assert_eq!(membership(HYBRID, "cpu"), Some((Version::One, "/jobs/1")));
        assert_eq!(membership(HYBRID, "io"), Some((Version::Two, "/two")));
        assert_eq!(membership("4:memory:/x\n", "cpu"), None);
    }

    #[test]
    fn groups_seen_from_a_mount() {
        assert_eq!(inside("/", "/a/b"), Some("a/b"));
        assert_eq!(inside("/docker/x", "/docker/x/sub"), Some("sub"));
        assert_eq!(inside("/docker/x", "/docker/x"), Some(""));
        assert_eq!(inside("/docker/x", "/docker/xy"), None);
        assert_eq!(inside("/", "/../outside"), None);
        assert_eq!(ancestors("/m", "a/b"), ["/m/a/b", "/m/a", "/m"]);
        assert_eq!(ancestors("/m", ""), ["/m"]);
    }

    #[test]
    fn a_hierarchy_has_its_controllers() {
        let line = "35 31 0:32 /docker/x /sys/fs/cg rw - cgroup cgroup rw,cpu,cpuacct";
        let mount = Mount::from_line(line).expect("a mount");
        assert!(has(&mount, Version::One, "cpuacct"));
        assert!(!has(&mount, Version::One, "memory"));
        assert!(!has(&mount, Version::Two, "cpu"));
    }

    #[test]
    fn a_read_only_mount_covers_the_paths_below_it() {
        let mounts = "22 1 0:21 / /proc rw - proc proc rw\n\
            24 22 0:21 /sys /proc/sys ro,nosuid - proc proc rw\n\
            23 1 0:22 / /sys rw - sysfs sysfs ro\n";
        let at = |path: &str| read_only_mount(mounts, path);
        assert_eq!(at("/proc/sys/kernel/x").as_deref(), Some("/proc/sys"));
        assert_eq!(at("/sys/devices").as_deref(), Some("/sys"), "of the whole file system");
        assert_eq!(at("/proc/irq/1/smp_affinity"), None);
        assert_eq!(at("/system"), None, "another directory");
    }
}
