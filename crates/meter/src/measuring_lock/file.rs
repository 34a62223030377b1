//! The file of the lock. Any user may have made it, and any user may write it.

use super::VARIABLE;
use super::holder::{HeldBy, Holder};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::ancestors::is_stopped;
use sys::filesystem::{
    Signer, is_ours, may_write, open_unless_link, sign, signer, try_lock, wait_for_lock,
};

/// Directories that may hold the file, the first choice first.
pub const DIRECTORIES: [&str; 2] = ["/run/lock", "/tmp"];
const NAME: &str = "latlas.lock";

/// Every user may lock it and describe itself in it.
const MODE: u32 = 0o666;
/// Bytes read of a file that any user may have written.
const LONGEST: u64 = 4096;

/// Between its making and its mode, and between a lock and the description of its holder, are
/// moments, for which these attempts wait.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Opens it, and makes it if there is none.
    ///
    /// # Errors
    /// Why it can't be used, with its name.
    pub(super) fn open() -> io::Result<LockFile> {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        if let Some(path) = named {
            return LockFile::open_at(Path::new(&path), false);
        }
        let mut directories = DIRECTORIES.iter().map(Path::new);
        match directories.find(|directory| is_for_all(directory)) {
            // And no other one if it can't be used: others may use it.
            Some(directory) => LockFile::open_at(&directory.join(NAME), true),
            None => Err(io::Error::new(
                ErrorKind::NotFound,
                format!("neither of {} is open to all users", DIRECTORIES.join(", ")),
            )),
        }
    }

    /// `for_all`: every user must be able to open it.
    fn open_at(path: &Path, for_all: bool) -> io::Result<LockFile> {
        let mut opened = open_and_check(path, for_all);
        for _ in 1..ATTEMPTS {
            if !matches!(&opened, Err(why) if why.kind() == ErrorKind::PermissionDenied) {
                break;
            }
            std::thread::sleep(PAUSE);
            opened = open_and_check(path, for_all);
        }
        let file = opened
            .map_err(|why| io::Error::new(why.kind(), format!("{}: {why}", path.display())))?;
        Ok(LockFile { file, path: path.to_owned() })
    }

    /// Takes the lock, or returns by whom it is held.
    pub(super) fn try_lock(&mut self) -> io::Result<Option<HeldBy>> {
        let (mut holder, mut signed) = (None, None);
        for _ in 0..ATTEMPTS {
            if try_lock(&self.file)? {
                // Without it those who wait don't know who it is.
                let _ = sign(&self.file);
                return Ok(None);
            }
            signed = signer(&self.file).unwrap_or(None);
            holder = self.holder().filter(|holder| match signed {
                Some(Signer::Process(pid)) => holder.pid == pid,
                Some(Signer::Elsewhere) => true,
                None => false,
            });
            if holder.is_some() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        Ok(Some(HeldBy {
            holder,
            signer: signed,
            stopped: matches!(signed, Some(Signer::Process(pid)) if is_stopped(pid)),
            now_unix_ms: sys::clock::realtime_unix_ms(),
        }))
    }

    pub(super) fn wait_for_holder(&self) -> io::Result<()> {
        wait_for_lock(&self.file)?;
        let _ = sign(&self.file);
        Ok(())
    }

    /// The description in the file, if it is complete.
    fn holder(&mut self) -> Option<Holder> {
        let mut text = String::new();
        self.file.rewind().ok()?;
        (&self.file).take(LONGEST).read_to_string(&mut text).ok()?;
        serde_json::from_slice(text.as_bytes()).ok()
    }

    /// Whether the file of this name is still this one.
    pub(super) fn has_its_name(&self) -> bool {
        let of = |found: std::fs::Metadata| (found.dev(), found.ino());
        let now = std::fs::symlink_metadata(&self.path).map(of);
        let own = self.file.metadata().map(of);
        matches!((now, own), (Ok(now), Ok(own)) if now == own)
    }

    /// Describes the holder. Without the right to write, those who wait know less.
    pub(super) fn write_holder(&mut self, holder: &Holder) {
        self.clear();
        let text = serde_json::to_string(&holder.starting_now()).unwrap_or_default();
        let _ = self.file.rewind();
        let _ = self.file.write_all(text.as_bytes());
    }

    /// Removes the description.
    pub(super) fn clear(&mut self) {
        let _ = self.file.set_len(0);
    }
}

/// Whether every user may make a file there. By the mode of the directory, and not by whether this
/// user may: all users must come to the same file.
fn is_for_all(directory: &Path) -> bool {
    let read_only = |why: &io::Error| why.kind() == ErrorKind::ReadOnlyFilesystem;
    std::fs::metadata(directory).is_ok_and(|found| found.is_dir() && found.mode() & 0o002 != 0)
        && !may_write(directory).is_err_and(|why| read_only(&why))
}

/// Opens it, or makes it, unless it is something else than a lock of all users.
fn open_and_check(path: &Path, for_all: bool) -> io::Result<File> {
    let file = open_or_make(path)?;
    let found = file.metadata()?;
    // What is written to it must not end up in a file of another name.
    if !found.is_file() || found.nlink() > 1 {
        let why = "not a regular file with one name";
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    // The file of all users is latlas's, whatever another one wrote into it.
    if !for_all && !is_lock(&file)? {
        let why = "it holds something else than a lock: name another file, or remove it";
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    let mode = found.mode() & 0o777;
    if for_all && mode != MODE && is_ours(&found) {
        file.set_permissions(Permissions::from_mode(MODE))?;
    } else if for_all && mode & 0o444 != 0o444 {
        let why = format!(
            "user {} owns it and keeps others from it (mode {mode:04o}): remove it",
            found.uid()
        );
        return Err(io::Error::new(ErrorKind::PermissionDenied, why));
    }
    Ok(file)
}

/// Whether a file is empty or holds the description of a holder, whole or in part: it is emptied.
fn is_lock(file: &File) -> io::Result<bool> {
    const BEGINS: &[u8] = b"{\"pid\":";
    let mut bytes = vec![0; LONGEST as usize];
    let length = file.read_at(&mut bytes, 0)?;
    let bytes = &bytes[..length];
    let is_begun = BEGINS.starts_with(&bytes[..length.min(BEGINS.len())]);
    Ok(is_begun || serde_json::from_slice::<Holder>(bytes).is_ok())
}

/// Opens the file as it is, or makes it. Never both in one call: in a directory such as /tmp the
/// kernel refuses `O_CREAT` on another user's file (`fs.protected_regular`).
fn open_or_make(path: &Path) -> io::Result<File> {
    let open = |options: &mut OpenOptions| match open_unless_link(options, path) {
        Ok(None) => Err(io::Error::new(ErrorKind::InvalidInput, "a symbolic link")),
        Ok(Some(file)) => Ok(file),
        Err(why) => Err(why),
    };
    // It may be made or removed by others in between.
    for _ in 0..ATTEMPTS {
        match open(OpenOptions::new().read(true).write(true)) {
            Err(why) if why.kind() == ErrorKind::NotFound => {}
            // A lock needs no right to write.
            Err(why) if why.kind() == ErrorKind::PermissionDenied => {
                return open(OpenOptions::new().read(true));
            }
            opened => return opened,
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(MODE);
        match open(&mut options) {
            Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
            made => {
                let file = made?;
                // Whatever the umask.
                file.set_permissions(Permissions::from_mode(MODE))?;
                return Ok(file);
            }
        }
    }
    Err(ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> tempfile::TempDir {
        tempfile::tempdir().expect("a directory")
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("there").mode() & 0o777
    }

    #[test]
    fn it_is_made_for_all_users_and_describes_its_holder_until_it_is_left() {
        let dir = directory();
        let path = dir.path().join("lock");
        let mut first = LockFile::open_at(&path, true).expect("made");
        assert_eq!(mode(&path), MODE, "whatever the umask");
        assert_eq!(first.try_lock().expect("lockable"), None);
        let holder = Holder::this_process("latlas run cpu", None);
        first.write_holder(&holder);
        let text = std::fs::read_to_string(&path).expect("there");
        let written: Holder = serde_json::from_str(&text).expect("a holder");
        assert_eq!(written.pid, std::process::id());
        first.clear();
        assert_eq!(std::fs::read(&path).expect("there"), b"");
        let mut second = LockFile::open_at(&path, true).expect("opened");
        assert!(second.try_lock().expect("asked").is_some());
        drop(first);
        assert_eq!(second.try_lock().expect("lockable"), None);
    }

    /// Made so by a kill between its making and its mode, or by another user.
    #[test]
    fn every_user_can_lock_it_or_it_is_not_used() {
        let dir = directory();
        let path = dir.path().join("lock");
        let set = |mode| {
            let mode = Permissions::from_mode(mode);
            std::fs::set_permissions(&path, mode).expect("ours");
        };
        LockFile::open_at(&path, true).expect("made");
        set(0o600);
        LockFile::open_at(&path, false).expect("named by its user");
        assert_eq!(mode(&path), 0o600);
        LockFile::open_at(&path, true).expect("mended");
        assert_eq!(mode(&path), MODE);
        if sys::filesystem::user() == 0 {
            std::os::unix::fs::chown(&path, Some(4711), None).expect("root may");
            set(0o600);
            let why = LockFile::open_at(&path, true).expect_err("not for all").to_string();
            assert!(why.contains("user 4711 owns it") && why.contains("(mode 0600)"), "{why}");
            set(0o644);
            LockFile::open_at(&path, true).expect("all may lock it");
        }
    }

    #[test]
    fn directories_are_those_of_all_users() {
        let dir = directory();
        assert!(!is_for_all(dir.path()), "mode 0700");
        let mode = Permissions::from_mode(0o1777);
        std::fs::set_permissions(dir.path(), mode).expect("ours");
        assert!(is_for_all(dir.path()));
        assert!(!is_for_all(&dir.path().join("none")));
    }

    #[test]
    fn a_file_of_another_kind_is_not_used() {
        let dir = directory();
        let target = dir.path().join("target");
        std::fs::write(&target, "precious").expect("written");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        let hard = dir.path().join("hard");
        std::fs::hard_link(&target, &hard).expect("a link");
        let dangling = dir.path().join("dangling");
        std::os::unix::fs::symlink(dir.path().join("none"), &dangling).expect("a link");
        let fifo = dir.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.expect("it runs").success());
        for path in [&link, &hard, &dangling, &fifo, &dir.path().to_owned()] {
            let why = LockFile::open_at(path, true).expect_err("unusable").to_string();
            assert!(why.contains(&*path.to_string_lossy()), "{why}");
        }
        assert_eq!(std::fs::read(&target).expect("there"), b"precious");
        assert!(!dir.path().join("none").exists());
    }

    /// Any user may write into the file: the kernel must name the process.
    #[test]
    fn a_description_alone_is_not_believed() {
        let dir = directory();
        let path = dir.path().join("lock");
        let mut first = LockFile::open_at(&path, true).expect("made");
        assert_eq!(first.try_lock().expect("lockable"), None);
        let holder = serde_json::to_value(Holder::this_process("latlas run", None));
        let mut holder = holder.expect("a value");
        holder["pid"] = std::os::unix::process::parent_id().into();
        for content in [holder.to_string(), "{".into(), String::new()] {
            std::fs::write(&path, content).expect("written");
            let mut second = LockFile::open_at(&path, true).expect("opened");
            let held = second.try_lock().expect("asked").expect("held");
            assert!(!held.is_ancestor());
            assert_eq!(held.to_string(), "an unknown process");
        }
    }

    #[test]
    fn a_file_with_something_else_in_it_is_no_lock() {
        let dir = directory();
        let path = dir.path().join("notes");
        let holder = serde_json::to_string(&Holder::this_process("latlas run", None));
        let holder = holder.expect("JSON");
        for content in ["", &holder, &holder[..20], "{"] {
            std::fs::write(&path, content).expect("written");
            LockFile::open_at(&path, false).expect(content);
        }
        for content in ["precious", "{}", "{\"name\":1}"] {
            std::fs::write(&path, content).expect("written");
            let why = LockFile::open_at(&path, false).expect_err(content).to_string();
            assert!(why.contains("something else than a lock"), "{why}");
            assert_eq!(std::fs::read_to_string(&path).expect("read"), content);
        }
    }

    #[test]
    fn a_removed_file_has_lost_its_name() {
        let dir = directory();
        let path = dir.path().join("lock");
        let first = LockFile::open_at(&path, true).expect("made");
        assert!(first.has_its_name());
        std::fs::remove_file(&path).expect("removed");
        assert!(!first.has_its_name());
        let _second = LockFile::open_at(&path, true).expect("made again");
        assert!(!first.has_its_name(), "another file has it");
    }
}
