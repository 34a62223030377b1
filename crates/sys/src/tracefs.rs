//! The kernel's descriptions of its tracepoints: tracefs, where it is mounted,
//! else a mount of our own that no other process sees and that ends with us.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};

/// No description is longer.
const LONGEST_BYTES: u64 = 1 << 20;

/// An open tracefs.
#[derive(Debug)]
pub struct Tracefs(OwnedFd);

impl Tracefs {
    /// Opens it where it is mounted, else by a mount that is attached nowhere.
    ///
    /// # Errors
    /// What `open(2)` or `fsopen(2)` says: `PermissionDenied` without root.
    pub fn open() -> io::Result<Tracefs> {
        let mounted = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
        let mounted = mounted.iter().find_map(|path| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let tracefs = rustix::fs::open(*path, flags, Mode::empty()).ok()?;
            // The directory is there without a mount, too, and is empty then.
            let tracefs = Tracefs(tracefs);
            tracefs.read("events/header_page").is_ok().then_some(tracefs)
        });
        mounted.map_or_else(|| own_mount().map(Tracefs), Ok)
    }

    /// The text of a file, such as `events/sched/sched_switch/format`.
    pub fn read(&self, path: &str) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = File::from(openat(&self.0, path, flags, Mode::empty())?);
        let mut text = String::new();
        file.take(LONGEST_BYTES).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Writes a line to a file that takes commands, such as `uprobe_events`.
    pub fn append(&self, path: &str, line: &str) -> io::Result<()> {
        // Without O_APPEND the definitions of others are deleted.
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, path, flags, Mode::empty())?);
        file.write_all(format!("{line}\n").as_bytes())
    }
}

#[cfg(not(target_vendor = "apple"))]
fn own_mount() -> io::Result<OwnedFd> {
    use rustix::mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen,
    };
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

#[cfg(target_vendor = "apple")]
fn own_mount() -> io::Result<OwnedFd> {
    Err(crate::platform::unsupported("tracefs"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_tracepoint_is_described_where_that_is_allowed() {
        let tracefs = match Tracefs::open() {
            Ok(tracefs) => tracefs,
            Err(e) => return eprintln!("{e}"),
        };
        let path = "events/sched/sched_switch/format";
        let text = tracefs.read(path).expect("root reads it");
        assert!(text.contains("field:") && text.contains("next_pid"), "{text}");
        assert!(tracefs.read("events/no/such/format").is_err());
    }
}
