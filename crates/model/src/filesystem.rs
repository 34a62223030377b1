//! The file system that rows of files ran on.

use serde::{Deserialize, Serialize};

/// A file system, as one directory on it shows it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Filesystem {
    /// The directory that was looked at.
    pub directory: String,
    /// Type of the file system: `ext4`, `apfs`, `tmpfs`.
    pub kind: String,
    /// What it was mounted from, `/dev/vda2`; empty where that is not known.
    pub source: String,
    /// What stands behind it.
    pub device: DeviceKind,
    /// Mount options, separated by commas; empty where they are not known.
    pub mount_options: String,
}

crate::words! {
    /// What stands behind a file system.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum DeviceKind: text {
        /// A solid-state disk on NVMe.
        Nvme = "nvme",
        /// Another disk that does not rotate, as it says itself.
        SolidState = "ssd",
        /// A rotating disk, as it says itself.
        Rotational = "rotational",
        /// A virtual disk of the hypervisor's; what it stands on can't be seen.
        Virtio = "virtio",
        /// Another machine, or the host's own files.
        Network = "network",
        /// Memory: nothing is ever written to a disk.
        Memory = "memory",
        /// Layers, the upper of which can't be seen from here.
        Overlay = "overlay, its upper layer unseen",
        /// Not known.
        Unknown = "unknown device",
    }
}

impl DeviceKind {
    /// Whether it is known to be a disk of this machine's, whose every read
    /// its kernel counts.
    pub fn is_disk(self) -> bool {
        match self {
            DeviceKind::Nvme
            | DeviceKind::SolidState
            | DeviceKind::Rotational
            | DeviceKind::Virtio => true,
            DeviceKind::Network
            | DeviceKind::Memory
            | DeviceKind::Overlay
            | DeviceKind::Unknown => false,
        }
    }
}

impl Filesystem {
    /// Type, source, kind of device and mount options in a line:
    /// `ext4 on /dev/vda (virtio), rw,relatime`.
    pub fn one_line(&self) -> String {
        let mut text = self.kind.clone();
        if !self.source.is_empty() && self.source != self.kind {
            text.push_str(&format!(" on {}", self.source));
        }
        text.push_str(&format!(" ({})", self.device.text()));
        if !self.mount_options.is_empty() {
            text.push_str(&format!(", {}", self.mount_options));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_is_a_line() {
        let mut one = Filesystem {
            directory: "/home/x/.cache/latlas".into(),
            kind: "ext4".into(),
            source: "/dev/vda".into(),
            device: DeviceKind::Virtio,
            mount_options: "rw,relatime".into(),
        };
        assert_eq!(one.one_line(), "ext4 on /dev/vda (virtio), rw,relatime");
        one.kind = "tmpfs".into();
        one.source = "tmpfs".into();
        one.device = DeviceKind::Memory;
        one.mount_options = String::new();
        assert_eq!(one.one_line(), "tmpfs (memory)");
    }
}
