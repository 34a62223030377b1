//! The kernel's descriptions of its tracepoints: tracefs, where it is mounted,
//! else a mount of our own that no other process sees and that ends with us.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};

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
            tracefs.read_text("events/header_page").is_ok().then_some(tracefs)
        });
        mounted.map_or_else(|| own_mount().map(Tracefs), Ok)
    }

    /// The text of a file, such as `events/sched/sched_switch/format`.
    pub fn read_text(&self, path: &str) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = File::from(openat(&self.0, path, flags, Mode::empty())?);
        // `events/header_page` is there for one read alone, however short.
        let mut text = String::with_capacity(8 << 10);
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

    /// The names of the instances that there are: buffers beside the kernel's own, each with events of its own.
    pub fn instances(&self) -> io::Result<Vec<String>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(&self.0, INSTANCES, flags, Mode::empty())?;
        let entries = rustix::fs::Dir::read_from(directory)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let names: io::Result<Vec<String>> = names.collect();
        Ok(names?.into_iter().filter(|name| !name.starts_with('.')).collect())
    }

    /// Removes an instance, which ends what it records.
    ///
    /// # Errors
    /// `ResourceBusy` while one of its buffers is open.
    pub fn remove_instance(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, format!("{INSTANCES}/{name}"), AtFlags::REMOVEDIR)?)
    }

    /// Makes an instance, in which nothing is recorded yet. It is removed when the value is dropped.
    ///
    /// # Errors
    /// `PermissionDenied` without root, `AlreadyExists`, and what the kernel says where it has no memory for it.
    pub fn make_instance(self, name: &str) -> io::Result<Instance> {
        mkdirat(&self.0, format!("{INSTANCES}/{name}"), Mode::from_raw_mode(0o700))?;
        Ok(Instance { tracefs: self, name: name.to_owned() })
    }
}

/// The directory of the instances.
const INSTANCES: &str = "instances";

/// A buffer of the kernel's for each CPU, with events that are recorded into it.
#[derive(Debug)]
pub struct Instance {
    tracefs: Tracefs,
    name: String,
}

impl Instance {
    /// Writes a value to one of its files, in place of what was there.
    pub fn set(&self, path: &str, value: &str) -> io::Result<()> {
        self.put(path, value, OFlags::TRUNC)
    }

    /// Adds a value to one of its files.
    pub fn add(&self, path: &str, value: &str) -> io::Result<()> {
        self.put(path, value, OFlags::APPEND)
    }

    fn put(&self, path: &str, value: &str, how: OFlags) -> io::Result<()> {
        self.open_file(path, OFlags::WRONLY | how)?.write_all(value.as_bytes())
    }

    /// The text of one of its files.
    pub fn read_text(&self, path: &str) -> io::Result<String> {
        self.tracefs.read_text(&format!("{INSTANCES}/{}/{path}", self.name))
    }

    /// One of its files, for reading or writing as `how` says.
    pub fn open_file(&self, path: &str, how: OFlags) -> io::Result<File> {
        let path = format!("{INSTANCES}/{}/{path}", self.name);
        Ok(openat(&self.tracefs.0, path, how | OFlags::CLOEXEC, Mode::empty())?.into())
    }

    /// The buffer of a CPU, for reading.
    pub fn buffer(&self, cpu: u32) -> io::Result<CpuBuffer> {
        let path = format!("per_cpu/cpu{cpu}/trace_pipe_raw");
        Ok(CpuBuffer(self.open_file(&path, OFlags::RDONLY | OFlags::NONBLOCK)?))
    }
}

impl Instance {
    /// Has a command begin to record itself, and all that it starts, just before it becomes its program: what
    /// is enabled here is recorded of no other thread then.
    ///
    /// # Errors
    /// What `open(2)` says of the files. The command does not start if they can't be written to.
    pub fn begin_with_command(&self, command: &mut Command) -> io::Result<()> {
        self.set("options/event-fork", "1")?;
        let threads = self.open_file(THREADS, OFlags::WRONLY | OFlags::APPEND)?;
        let on = self.open_file("tracing_on", OFlags::WRONLY)?;
        let begin = move || {
            let mut text = io::Cursor::new([0; 16]);
            write!(text, "{}", std::process::id())?;
            let length = text.position() as usize;
            (&threads).write_all(&text.get_ref()[..length])?;
            (&on).write_all(b"1")
        };
        // SAFETY: between fork and exec the closure makes system calls on memory that was laid out before, and
        // allocates nothing: the number is written into an array.
        unsafe { command.pre_exec(begin) };
        Ok(())
    }

    /// Begins to record threads that run, and all that they start from now on.
    pub fn begin_with_threads(&self, threads: &[u32]) -> io::Result<()> {
        self.set("options/event-fork", "1")?;
        for thread in threads {
            match self.add(THREADS, &format!("{thread}")) {
                // It has ended.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                other => other?,
            }
        }
        Ok(())
    }
}

/// Whose events are recorded. With nobody in it, everybody's are.
const THREADS: &str = "set_event_pid";

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.set("tracing_on", "0");
        let _ = self.tracefs.remove_instance(&self.name);
    }
}

/// The records of a CPU, read page by page; a page that was read is gone from the buffer.
#[derive(Debug)]
pub struct CpuBuffer(File);

impl CpuBuffer {
    /// Adds the next page to `pages`, which then has `page_bytes` more; `false` if there are no records.
    pub fn read_page(&self, pages: &mut Vec<u8>, page_bytes: usize) -> io::Result<bool> {
        let before = pages.len();
        pages.resize(before + page_bytes, 0);
        let read = (&self.0).read(&mut pages[before..]);
        pages.truncate(before + read.as_ref().map_or(0, |&read| read));
        match read {
            Ok(read) => Ok(read > 0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error),
        }
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
        let text = tracefs.read_text(path).expect("root reads it");
        assert!(text.contains("field:") && text.contains("next_pid"), "{text}");
        assert!(tracefs.read_text("events/no/such/format").is_err());
    }
}
