//! Which control groups a process is in, and where they are mounted, by the
//! texts that the kernel writes of them (cgroups(7), proc_pid_mountinfo(5)).

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

/// The group of `controller` (`memory`, `cpuset`) with its ancestors, by the
/// texts of /proc/self/cgroup and /proc/self/mountinfo. Whether the directories
/// are there is not looked at.
///
/// # Errors
/// Why there is none, in words.
pub fn chain(groups: &str, mounts: &str, controller: &str) -> Result<Chain, String> {
    let (version, group) = membership(groups, controller).ok_or_else(|| {
        format!("/proc/self/cgroup names no control group with the {controller} controller")
    })?;
    let mount = mounts
        .lines()
        .filter_map(Mount::parse)
        .filter(|mount| mount.has(version, controller))
        // A bind mount of some other subtree does not show our group.
        .max_by_key(|mount| inside(&mount.root, group).is_some())
        .ok_or_else(|| {
            format!("the control groups of the {controller} controller are not mounted here")
        })?;
    let below = inside(&mount.root, group).unwrap_or("");
    Ok(Chain {
        version,
        levels: ancestors(&mount.point, below),
    })
}

/// The mount that `path` lies in, if it is one for reading only: where it is
/// mounted. By the text of /proc/self/mountinfo.
pub fn read_only_mount(mounts: &str, path: &str) -> Option<String> {
    mounts
        .lines()
        .filter_map(Mount::parse)
        .filter(|mount| {
            let rest = path.strip_prefix(mount.point.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
        // Of two at one place the later lies above.
        .max_by_key(|mount| mount.point.len())
        .filter(|mount| mount.read_only)
        .map(|mount| mount.point)
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

/// One line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
struct Mount {
    root: String,
    point: String,
    kind: String,
    options: String,
    read_only: bool,
}

impl Mount {
    fn parse(line: &str) -> Option<Mount> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        let (root, point) = (before.next()?, before.next()?);
        let own = before.next().unwrap_or("");
        let (kind, options) = (after.next()?, after.nth(1).unwrap_or(""));
        let read_only = |options: &str| options.split(',').any(|option| option == "ro");
        Some(Mount {
            root: unescape(root),
            point: unescape(point),
            kind: kind.to_owned(),
            options: options.to_owned(),
            read_only: read_only(own) || read_only(options),
        })
    }

    fn has(&self, version: Version, controller: &str) -> bool {
        match version {
            Version::One => {
                self.kind == "cgroup" && self.options.split(',').any(|option| option == controller)
            }
            Version::Two => self.kind == "cgroup2",
        }
    }
}

/// Spaces and the like are written as octal escapes in mountinfo.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\134", "\\")
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
        assert_eq!(
            membership(HYBRID, "memory"),
            Some((Version::One, "/jobs/2"))
        );
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
    fn mountinfo_lines() {
        let line = "35 31 0:32 /docker/x /sys/fs/c\\040g rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct";
        let mount = Mount::parse(line).expect("a mount");
        assert_eq!(mount.root, "/docker/x");
        assert_eq!(mount.point, "/sys/fs/c g");
        assert!(mount.has(Version::One, "cpuacct"));
        assert!(!mount.has(Version::One, "memory"));
        assert!(!mount.has(Version::Two, "cpu"));
    }

    #[test]
    fn a_mount_for_reading_only_is_found_by_any_path_below_it() {
        let mounts = "22 1 0:21 / /proc rw - proc proc rw\n\
            24 22 0:21 /sys /proc/sys ro,nosuid - proc proc rw\n\
            23 1 0:22 / /sys rw - sysfs sysfs ro\n";
        let at = |path: &str| read_only_mount(mounts, path);
        assert_eq!(at("/proc/sys/kernel/x").as_deref(), Some("/proc/sys"));
        assert_eq!(
            at("/sys/devices").as_deref(),
            Some("/sys"),
            "of the whole file system"
        );
        assert_eq!(at("/proc/irq/1/smp_affinity"), None);
        assert_eq!(at("/system"), None, "another directory");
    }
}
