//! Lines of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use std::path::Path;

/// One mount: `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/sda rw`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mount {
    /// Device number, `major:minor`.
    pub(crate) device: String,
    /// What of the file system is mounted.
    pub(crate) root: String,
    pub(crate) point: String,
    pub(crate) options: String,
    pub(crate) kind: String,
    /// What it is on: `/dev/sda`.
    pub(crate) source: String,
    pub(crate) super_options: String,
}

impl Mount {
    pub(crate) fn from_line(line: &str) -> Option<Mount> {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mount: Vec<&str> = mount.split(' ').collect();
        let mut filesystem = filesystem.split(' ').map(unescape);
        Some(Mount {
            device: (*mount.get(2)?).to_owned(),
            root: unescape(mount.get(3)?),
            point: unescape(mount.get(4)?),
            options: (*mount.get(5)?).to_owned(),
            kind: filesystem.next()?,
            source: filesystem.next().unwrap_or_default(),
            super_options: filesystem.next().unwrap_or_default(),
        })
    }

    /// All mounts of a text, in its order.
    pub(crate) fn mounts(mounts: &str) -> impl DoubleEndedIterator<Item = Mount> {
        mounts.lines().filter_map(Mount::from_line)
    }

    /// The mount that a path is in: the one with the longest mount point above
    /// it; of several on one point the last, which hides the others. The device
    /// number can't tell: btrfs gives each subvolume its own.
    pub(crate) fn containing(mounts: &str, path: &Path) -> Option<Mount> {
        Mount::mounts(mounts)
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| Path::new(&mount.point).components().count())
    }

    pub(crate) fn is_read_only(&self) -> bool {
        [&self.options, &self.super_options]
            .iter()
            .any(|options| options.split(',').any(|option| option == "ro"))
    }
}

/// A space, a tab, a newline and a backslash are written in octal.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let line = "35 31 0:32 /docker/x /sys/fs/c\\040g rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct";
        let mount = Mount::from_line(line).expect("a mount");
        assert_eq!(
            mount,
            Mount {
                device: "0:32".into(),
                root: "/docker/x".into(),
                point: "/sys/fs/c g".into(),
                options: "rw,relatime".into(),
                kind: "cgroup".into(),
                source: "cgroup".into(),
                super_options: "rw,cpu,cpuacct".into(),
            }
        );
        assert!(!mount.is_read_only());
    }
}
