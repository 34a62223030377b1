//! On what kind of file system a directory is, how much room it has, whether
//! a file is in the page cache, and the lock of a file.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use model::filesystem::Filesystem;
use rustix::fs::{Access, FallocateFlags, FlockOperation, OFlags};
use rustix::process::{Flock, FlockType};

use crate::platform;
pub use crate::platform::filesystem::{read_from_storage_bytes, spread_directories};

/// The file system that an existing directory is on: on Linux by `statfs(2)`,
/// /proc/self/mountinfo and /sys/dev/block; on Apple systems by `statfs(2)`.
/// What the system does not tell is empty or
/// [`Unknown`](model::filesystem::DeviceKind::Unknown).
pub fn filesystem_facts(directory: &Path) -> io::Result<Filesystem> {
    platform::filesystem::filesystem_facts(&directory.canonicalize()?)
}

/// Room that this process has on a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes free for this process.
    pub bytes: u64,
    /// Files that can still be made; `None` where the file system has no such
    /// limit.
    pub files: Option<u64>,
    /// Bytes that a file of one byte takes.
    pub block_bytes: u64,
}

/// The room on the file system of an existing directory (`statvfs(3)`). A
/// quota may leave less, which only writing tells.
pub fn room(directory: &Path) -> io::Result<Room> {
    let found = rustix::fs::statvfs(directory)?;
    Ok(Room {
        bytes: found.f_bavail.saturating_mul(found.f_frsize),
        files: (found.f_files > 0).then_some(found.f_favail),
        block_bytes: found.f_frsize.max(1),
    })
}

/// Takes this much room for a file (`fallocate(2)`), whose length it becomes.
///
/// # Errors
/// That there is no room, by the file system, a quota or a limit of the process; `Unsupported` where this can't be
/// known so.
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    let reserve = || rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes);
    Ok(rustix::io::retry_on_intr(reserve)?)
}

/// Whether this process may make and remove names in an existing directory,
/// as far as can be known without trying (`faccessat(2)`).
///
/// # Errors
/// Why not: `ReadOnlyFilesystem`, `PermissionDenied`, `NotADirectory`.
pub fn may_write(directory: &Path) -> io::Result<()> {
    if !std::fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let wanted = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
    let user = platform::AS_EFFECTIVE_USER;
    rustix::fs::accessat(rustix::fs::CWD, directory, wanted, user)?;
    Ok(())
}

/// The number of the user this process acts as.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether what was found belongs to the user this process acts as.
pub fn is_ours(found: &Metadata) -> bool {
    found.uid() == user()
}

/// Opens a file with these options, unless its name is a symbolic link
/// (`O_NOFOLLOW`): none then. Links on the way to it are followed, and a program
/// that opens a pipe does not wait for its other end.
pub fn open_unless_link(options: &mut OpenOptions, path: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    match options.custom_flags(flags.cast_signed()).open(path) {
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Takes the file's exclusive lock (`flock(2)`) until it is closed, if no process
/// has it. It goes with the process, by whatever end.
///
/// # Errors
/// What the call says, other than that it is held.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Lets others ask the kernel which process has the lock of a file ([`signer`]), which `flock(2)`
/// keeps to itself: a shared record lock (`F_SETLK`), which belongs to this process and to none
/// that inherits the file, and needs no right to write. It goes with the process, and when this
/// process closes the file, however often it has it open.
pub fn sign(file: &File) -> io::Result<()> {
    rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockShared)?;
    Ok(())
}

/// Another process that [signed](sign) a file. Whatever is in the file, the kernel names the one
/// that did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signer {
    /// This one, by its id here.
    Process(u32),
    /// One in another PID namespace, which has no id here.
    Elsewhere,
}

/// Which process signed a file (`F_GETLK`); `None` if no other one did.
pub fn signer(file: &File) -> io::Result<Option<Signer>> {
    let found = rustix::process::fcntl_getlk(file, &Flock::from(FlockType::WriteLock))?;
    Ok(found.map(|lock| match lock.pid {
        Some(process) => Signer::Process(process.as_raw_nonzero().get().cast_unsigned()),
        None => Signer::Elsewhere,
    }))
}

/// Waits in the kernel for the file's exclusive lock, and takes it as [`try_lock`] does.
/// A signal without a handler ends the process as usual.
///
/// # Errors
/// What the call says, other than that a signal interrupted it.
pub fn wait_for_lock(file: &File) -> io::Result<()> {
    loop {
        match rustix::fs::flock(file, FlockOperation::LockExclusive) {
            Err(rustix::io::Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("lock");
        let first = File::create(&path).expect("a file");
        assert!(try_lock(&first).expect("lockable"));
        let second = File::open(&path).expect("there");
        assert!(!try_lock(&second).expect("asked"), "the first has it");
        drop(first);
        assert!(try_lock(&second).expect("lockable"));
    }

    /// Another process, which tells when it is to be looked at.
    #[test]
    fn the_kernel_names_the_process_that_signed() {
        const VARIABLE: &str = "LATLAS_TEST_OF_SIGN";
        if let Some(path) = std::env::var_os(VARIABLE) {
            let file = File::open(path).expect("there");
            sign(&file).expect("signed");
            println!("\nsigned");
            std::io::read_to_string(std::io::stdin()).expect("its end");
            return;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("lock");
        File::create(&path).expect("a file");
        let file = File::open(&path).expect("there");
        sign(&file).expect("signed");
        assert_eq!(signer(&file).expect("asked"), None, "not of itself");
        // flock alone names nobody.
        let script = "exec 9<\"$0\"; flock 9; echo locked; read -r line";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .arg(&path)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("sh runs");
        let mut said = [0; 7];
        let out = child.stdout.as_mut().expect("a pipe");
        std::io::Read::read_exact(out, &mut said).expect("said");
        assert!(!try_lock(&file).expect("asked"));
        assert_eq!(signer(&file).expect("asked"), None);
        drop(child.stdin.take());
        child.wait().expect("ended");
        // A process that signed is named until it ends.
        let program = std::env::current_exe().expect("it has a name");
        let test = "filesystem::tests::the_kernel_names_the_process_that_signed";
        let mut child = std::process::Command::new(program)
            .args(["--exact", "--nocapture", test])
            .env(VARIABLE, &path)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it runs");
        let out = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = std::io::BufRead::lines(out);
        assert!(lines.any(|line| line.expect("text") == "signed"));
        let named = Signer::Process(child.id());
        assert_eq!(signer(&file).expect("asked"), Some(named));
        drop(child.stdin.take());
        assert!(child.wait().expect("ended").success());
        assert_eq!(signer(&file).expect("asked"), None);
    }

    #[test]
    fn a_directory_has_room_and_a_file_system() {
        let dir = tempfile::tempdir().expect("a directory");
        let room = room(dir.path()).expect("asked");
        assert!(room.bytes > 0 && room.block_bytes > 0, "{room:?}");
        let found = filesystem_facts(dir.path()).expect("found");
        assert!(!found.kind.is_empty(), "{found:?}");
        assert!(is_ours(&std::fs::metadata(dir.path()).expect("there")));
        may_write(dir.path()).expect("ours");
        let missing = dir.path().join("missing");
        assert_eq!(may_write(&missing).expect_err("missing").kind(), io::ErrorKind::NotFound);
        let file = dir.path().join("file");
        File::create(&file).expect("a file");
        assert_eq!(may_write(&file).expect_err("a file").kind(), io::ErrorKind::NotADirectory);
    }
}
