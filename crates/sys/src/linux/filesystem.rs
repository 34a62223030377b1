//! What a directory is on: `statfs(2)`, /proc/self/mountinfo (proc(5)) and
//! /sys/dev/block.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::filesystem::{DeviceKind, Filesystem};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags, major, minor};

use crate::files::{Files, Tree};
use crate::mountinfo::Mount;

/// File systems by the number that `statfs(2)` gives (include/uapi/linux/magic.h),
/// for where there is no mountinfo.
const MAGIC: [(u64, &str); 12] = [
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0xf2f5_2010, "f2fs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x794c_7630, "overlay"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
];

/// File systems whose files are nowhere but in memory.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "rootfs"];

/// File systems whose files are another machine's, or the host's.
const ELSEWHERE: [&str; 16] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb2",
    "smb3",
    "smbfs",
    "9p",
    "virtiofs",
    "fuse",
    "ceph",
    "afs",
    "lustre",
    "gpfs",
    "glusterfs",
    "vboxsf",
    "vmhgfs",
];

/// Layers are followed this far down: a loop device on an overlay on a disk.
const DEEPEST: u32 = 4;

pub(crate) fn filesystem_facts(directory: &Path) -> io::Result<Filesystem> {
    let magic = rustix::fs::statfs(directory)?.f_type as u64;
    Ok(describe(&Tree::system(), directory, kind_of(magic), DEEPEST))
}

fn kind_of(magic: u64) -> String {
    // The type is signed on some machines.
    let magic = magic & 0xffff_ffff;
    match MAGIC.iter().find(|(known, _)| *known == magic) {
        Some((_, name)) => (*name).to_string(),
        None => format!("file system {magic:#x}"),
    }
}

/// The facts of a directory whose links are followed already; `kind` stands
/// where mountinfo has nothing to say.
fn describe(tree: &Tree, directory: &Path, kind: String, deeper: u32) -> Filesystem {
    let mut facts = Filesystem {
        directory: directory.display().to_string(),
        kind,
        source: String::new(),
        device: DeviceKind::Unknown,
        mount_options: String::new(),
    };
    let mounts = tree.read("/proc/self/mountinfo").unwrap_or_default();
    let Some(mount) = Mount::containing(&mounts, directory) else {
        facts.device = by_kind(&facts.kind).unwrap_or(DeviceKind::Unknown);
        return facts;
    };
    facts.device = device(tree, &mount, deeper);
    facts.kind = mount.kind.clone();
    facts.source = mount.source.clone();
    facts.mount_options = options_of(&mount);
    facts
}

/// Options of the mount, then those of the file system that it does not have.
/// An overlay's directories are not options.
fn options_of(mount: &Mount) -> String {
    let mut options: Vec<&str> = mount.options.split(',').collect();
    for option in mount.super_options.split(',') {
        let is_layer =
            ["lowerdir", "upperdir", "workdir"].iter().any(|layer| option.starts_with(layer));
        let is_known = options.contains(&option) || ["rw", "ro"].contains(&option);
        if !is_layer && !is_known {
            options.push(option);
        }
    }
    options.retain(|option| !option.is_empty());
    options.join(",")
}

/// What the type alone tells.
fn by_kind(kind: &str) -> Option<DeviceKind> {
    if IN_MEMORY.contains(&kind) {
        return Some(DeviceKind::Memory);
    }
    // A disk's own driver may be FUSE's: `fuseblk`.
    let elsewhere = ELSEWHERE.contains(&kind) || kind.starts_with("fuse.");
    elsewhere.then_some(DeviceKind::Network)
}

fn device(tree: &Tree, mount: &Mount, deeper: u32) -> DeviceKind {
    if let Some(kind) = by_kind(&mount.kind) {
        return kind;
    }
    if mount.kind == "overlay" {
        return upper_of(tree, mount, deeper).unwrap_or(DeviceKind::Overlay);
    }
    // Without a device number of its own (btrfs), by the device's name.
    let number = if mount.device.starts_with("0:") {
        number_of(tree, &mount.source)
    } else {
        Some(mount.device.clone())
    };
    number.map_or(DeviceKind::Unknown, |number| block(tree, &number, deeper))
}

/// What the upper layer of an overlay is on, if it can be seen from here.
fn upper_of(tree: &Tree, mount: &Mount, deeper: u32) -> Option<DeviceKind> {
    let upper =
        mount.super_options.split(',').find_map(|option| option.strip_prefix("upperdir="))?;
    below(tree, upper, deeper)
}

/// What another path is on, a layer further down.
fn below(tree: &Tree, path: &str, deeper: u32) -> Option<DeviceKind> {
    let deeper = deeper.checked_sub(1)?;
    if !tree.exists(path) {
        return None;
    }
    let mounts = tree.read("/proc/self/mountinfo").ok()?;
    let mount = Mount::containing(&mounts, Path::new(path))?;
    Some(device(tree, &mount, deeper))
}

fn number_of(tree: &Tree, source: &str) -> Option<String> {
    if !source.starts_with("/dev/") {
        return None;
    }
    let number = std::fs::metadata(tree.full_path(source)).ok()?.rdev();
    Some(format!("{}:{}", major(number), minor(number)))
}

/// What a block device is, by its place in /sys/dev/block.
fn block(tree: &Tree, number: &str, deeper: u32) -> DeviceKind {
    let at = format!("/sys/dev/block/{number}");
    let Some(place) = tree.link(&at) else {
        return DeviceKind::Unknown;
    };
    let name = place.rsplit('/').next().unwrap_or_default();
    let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
    if begins(&["ram", "zram", "pmem"]) {
        return DeviceKind::Memory;
    }
    if begins(&["nbd", "rbd", "drbd"]) {
        return DeviceKind::Network;
    }
    if let Some(file) = tree.text(&format!("{at}/loop/backing_file")) {
        return below(tree, &file, deeper).unwrap_or(DeviceKind::Unknown);
    }
    // A volume or an array is what its parts are, if they are alike.
    let parts = tree.names(&format!("{at}/slaves"));
    if !parts.is_empty() {
        return of_parts(tree, &at, &parts, deeper);
    }
    // `../../devices/pci0000:00/0000:00:05.0/virtio3/block/vda/vda2`
    if place.contains("/virtio") {
        return DeviceKind::Virtio;
    }
    if name.starts_with("nvme") {
        return DeviceKind::Nvme;
    }
    // The queue is the whole disk's; a partition lies below it.
    let rotational = ["queue/rotational", "../queue/rotational"]
        .iter()
        .find_map(|place| tree.number(&format!("{at}/{place}")));
    match rotational {
        Some(0) => DeviceKind::SolidState,
        Some(_) => DeviceKind::Rotational,
        None => DeviceKind::Unknown,
    }
}

fn of_parts(tree: &Tree, at: &str, parts: &[String], deeper: u32) -> DeviceKind {
    let Some(deeper) = deeper.checked_sub(1) else {
        return DeviceKind::Unknown;
    };
    let kinds: Vec<DeviceKind> = parts
        .iter()
        .map(|part| {
            tree.text(&format!("{at}/slaves/{part}/dev"))
                .map_or(DeviceKind::Unknown, |number| block(tree, &number, deeper))
        })
        .collect();
    match kinds.split_first() {
        Some((first, rest)) if rest.iter().all(|kind| kind == first) => *first,
        _ => DeviceKind::Unknown,
    }
}

/// Asks the file system to place new directories in this one far apart on the
/// disk: ext2, ext3 and ext4 have a flag for it (`chattr +T`, "top of directory
/// hierarchies", set by `FS_IOC_SETFLAGS`).
///
/// # Errors
/// What the call says; other file systems refuse.
pub fn spread_directories(directory: &Path) -> io::Result<()> {
    let open = File::open(directory)?;
    let flags = ioctl_getflags(&open)?;
    if !flags.contains(IFlags::TOPDIR) {
        ioctl_setflags(&open, flags | IFlags::TOPDIR)?;
    }
    Ok(())
}

/// Bytes that this process caused to be read from storage so far, in all its
/// threads (`read_bytes` of /proc/self/io), without what the page cache served.
/// `None` where the system does not tell.
pub fn read_from_storage_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    /// A made-up /proc and /sys.
    struct Fixture(TempDir);

    impl Fixture {
        fn new(mounts: &str) -> Fixture {
            let fixture = Fixture(tempfile::tempdir().expect("a directory"));
            fixture.file("proc/self/mountinfo", mounts);
            fixture
        }

        fn file(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }

        /// A block device with this place below /sys/devices.
        fn block(&self, number: &str, place: &str, files: &[(&str, &str)]) {
            let device = format!("sys/devices/{place}");
            std::fs::create_dir_all(self.0.path().join(&device)).expect("made");
            for (name, text) in files {
                self.file(&format!("{device}/{name}"), text);
            }
            let links = self.0.path().join("sys/dev/block");
            std::fs::create_dir_all(&links).expect("made");
            symlink(format!("../../devices/{place}"), links.join(number)).expect("a link");
        }

        fn filesystem(&self, path: &str) -> Filesystem {
            let tree = Tree::new(self.0.path());
            describe(&tree, Path::new(path), "by magic".into(), DEEPEST)
        }
    }

    #[test]
    fn the_longest_mount_point_on_the_way_counts() {
        let fixture = Fixture::new(
            "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n\
             23 22 0:30 / /home rw,nosuid - tmpfs tmpfs rw,size=4k\n\
             24 22 8:3 / /home/with\\040space rw - xfs /dev/sda3 rw,attr2\n\
             25 22 0:31 / /var rw - tmpfs hidden rw\n\
             26 22 254:0 /x /var rw - ext4 /dev/vda rw",
        );
        fixture.block("254:0", "pci/virtio2/block/vda", &[("queue/rotational", "1")]);
        fixture.block("8:3", "pci/ata1/block/sda/sda3", &[]);
        fixture.file("sys/devices/pci/ata1/block/sda/queue/rotational", "0");
        let root = fixture.filesystem("/homes");
        assert_eq!(
            root.one_line(),
            "ext4 on /dev/vda (virtio), rw,relatime,discard",
            "what the host says of rotation is not asked"
        );
        assert_eq!(fixture.filesystem("/home/x").one_line(), "tmpfs (memory), rw,nosuid,size=4k");
        let spaced = fixture.filesystem("/home/with space/deep");
        assert_eq!(spaced.one_line(), "xfs on /dev/sda3 (ssd), rw,attr2");
        assert_eq!(fixture.filesystem("/var/tmp").kind, "ext4", "the last one hides");
    }

    #[test]
    fn kinds_of_devices() {
        for (place, files, kind) in [
            ("pci/nvme/nvme0/nvme0n1", vec![("queue/rotational", "0")], DeviceKind::Nvme),
            ("pci/ata1/block/sda", vec![("queue/rotational", "1")], DeviceKind::Rotational),
            ("pci/ata1/block/sda", vec![("queue/rotational", "0")], DeviceKind::SolidState),
            ("virtual/block/zram0", vec![("queue/rotational", "0")], DeviceKind::Memory),
            ("virtual/block/nbd3", vec![("queue/rotational", "0")], DeviceKind::Network),
            ("pci/odd", vec![], DeviceKind::Unknown),
        ] {
            let fixture = Fixture::new("22 1 9:9 / / rw - ext4 /dev/x rw");
            fixture.block("9:9", place, &files);
            assert_eq!(fixture.filesystem("/tmp").device, kind, "{place}");
        }
        let nothing = Fixture::new("22 1 9:9 / / rw - ext4 /dev/x rw");
        assert_eq!(nothing.filesystem("/tmp").device, DeviceKind::Unknown);
        for (name, kind) in [
            ("nfs4", DeviceKind::Network),
            ("fuse.sshfs", DeviceKind::Network),
            ("ramfs", DeviceKind::Memory),
            ("fuseblk", DeviceKind::Unknown),
        ] {
            let fixture = Fixture::new(&format!("22 1 0:9 / / rw - {name} x rw"));
            assert_eq!(fixture.filesystem("/tmp").device, kind, "{name}");
        }
    }

    #[test]
    fn an_overlay_is_what_its_upper_layer_is() {
        let mounts = |upper: &str| {
            format!(
                "22 1 0:40 / / rw - overlay overlay rw,lowerdir=/l,upperdir={upper},workdir=/w\n\
                 23 22 0:41 / /run rw - tmpfs tmpfs rw"
            )
        };
        let seen = Fixture::new(&mounts("/run/upper"));
        seen.file("run/upper/file", "");
        let facts = seen.filesystem("/root");
        assert_eq!((facts.kind.as_str(), facts.device), ("overlay", DeviceKind::Memory));
        assert_eq!(facts.mount_options, "rw");
        let unseen = Fixture::new(&mounts("/of/the/host"));
        assert_eq!(unseen.filesystem("/root").device, DeviceKind::Overlay);
        // An upper layer that is on the overlay itself has no end.
        let circle = Fixture::new(&mounts("/of/itself"));
        circle.file("of/itself/file", "");
        assert_eq!(circle.filesystem("/root").device, DeviceKind::Overlay);
    }

    #[test]
    fn a_volume_is_what_its_parts_are() {
        for (second, kind) in [("0", DeviceKind::SolidState), ("1", DeviceKind::Unknown)] {
            let fixture = Fixture::new("22 1 253:0 / / rw - xfs /dev/mapper/v rw");
            fixture.block(
                "253:0",
                "virtual/block/dm-0",
                &[("slaves/sda/dev", "8:0"), ("slaves/sdb/dev", "8:16")],
            );
            fixture.block("8:0", "a/block/sda", &[("queue/rotational", "0")]);
            fixture.block("8:16", "b/block/sdb", &[("queue/rotational", second)]);
            assert_eq!(fixture.filesystem("/tmp").device, kind);
        }
    }

    #[test]
    fn a_loop_device_is_what_its_file_is_on() {
        let fixture = Fixture::new(
            "22 1 7:0 / / rw - ext4 /dev/loop0 rw\n23 22 0:9 / /shm rw - tmpfs tmpfs rw",
        );
        fixture.block("7:0", "virtual/block/loop0", &[("loop/backing_file", "/shm/image")]);
        assert_eq!(fixture.filesystem("/tmp").device, DeviceKind::Unknown, "not seen");
        fixture.file("shm/image", "");
        assert_eq!(fixture.filesystem("/tmp").device, DeviceKind::Memory);
    }

    #[test]
    fn without_mountinfo_the_magic_number_speaks() {
        let fixture = Fixture::new("");
        assert_eq!(fixture.filesystem("/tmp").kind, "by magic");
        assert_eq!(kind_of(0x0102_1994), "tmpfs");
        assert_eq!(kind_of(0xffff_ffff_9123_683e), "btrfs");
        assert_eq!(kind_of(0x12), "file system 0x12");
        let tree = Tree::new(fixture.0.path());
        let facts = describe(&tree, Path::new("/x"), "tmpfs".into(), DEEPEST);
        assert_eq!(facts.device, DeviceKind::Memory);
    }

    #[test]
    fn directories_are_spread_where_the_file_system_can() {
        let dir = TempDir::new().expect("a directory");
        let own = dir.path().join("own");
        std::fs::create_dir(&own).expect("made");
        let kind = crate::filesystem::filesystem_facts(&own).expect("there").kind;
        let spread = spread_directories(&own);
        let marked = File::open(&own)
            .and_then(|open| Ok(ioctl_getflags(&open)?))
            .is_ok_and(|flags| flags.contains(IFlags::TOPDIR));
        assert_eq!(spread.is_ok(), marked, "{kind}: {spread:?}");
        if kind == "ext4" {
            spread.expect("ext4 knows the mark");
        }
        spread_directories(&dir.path().join("none")).expect_err("not there");
    }

    #[test]
    fn this_machine_answers() {
        let facts = filesystem_facts(Path::new("/proc")).expect("there");
        assert_eq!(facts.kind, "proc");
        assert!(read_from_storage_bytes().is_some());
    }
}
