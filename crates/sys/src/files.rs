//! Small text files of the kernel (`/proc`, `/sys`, control groups): those of
//! this system, of a fixture below another root, or of a kernel that a test
//! simulates.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use model::machine::Fact;
use model::phrases::cut;
use rustix::fs::{Access, CWD};

use crate::input::{self, Input};
use crate::platform;

/// Why the nice value of an autogroup has no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum NoAutogroups {
    #[error("this kernel has no autogroups (CONFIG_SCHED_AUTOGROUP)")]
    NotInKernel,
    /// `/proc` is not mounted.
    #[error("there is no /proc here")]
    NoProc,
    /// The switch in `/proc/sys` is 0.
    #[error("autogroups are off; as root: sysctl kernel.sched_autogroup_enabled=1")]
    Off,
    #[error(
        "this process is in {0}, a control group of the CPU controller, which the kernel uses \
         instead of autogroups"
    )]
    CpuGroup(String),
    #[error("Apple systems have no autogroups")]
    Apple,
}

/// Whether this process may write a file, as its effective user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writing {
    /// It may.
    Allowed,
    /// Another user may.
    NoPrivilege,
    /// The file system is mounted for reading only.
    ReadOnlyMount,
    /// The file is read-only for everyone.
    Never,
    /// There is no such file.
    Missing,
    /// Anything else, as the system says it.
    Refused(String),
}

impl Writing {
    fn from_error(error: &io::Error) -> Writing {
        match error.kind() {
            io::ErrorKind::NotFound => Writing::Missing,
            io::ErrorKind::PermissionDenied => Writing::NoPrivilege,
            io::ErrorKind::ReadOnlyFilesystem => Writing::ReadOnlyMount,
            _ => Writing::Refused(error.to_string()),
        }
    }
}

/// Why a file gives no text.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum Unreadable {
    #[error("there is no {0}")]
    Missing(String),
    #[error("{0} may not be read without more privilege")]
    Denied(String),
    #[error("{0} can't be read: {1}")]
    Failed(String, #[source] io::Error),
}

#[cfg_attr(
    target_vendor = "apple",
    allow(dead_code, reason = "the kernel has no such files there")
)]
impl Unreadable {
    fn from_error(path: &str, error: io::Error) -> Unreadable {
        match error.kind() {
            io::ErrorKind::NotFound => Unreadable::Missing(path.to_owned()),
            io::ErrorKind::PermissionDenied => Unreadable::Denied(path.to_owned()),
            _ => Unreadable::Failed(path.to_owned(), error),
        }
    }
}

/// Files by the path that they have on a real system, `/sys/...`.
pub trait Files {
    /// Content without the white space and zero bytes around it: kernels around 5.15 end lists of
    /// CPUs with one, device trees end strings so.
    fn read(&self, path: &str) -> io::Result<String>;

    /// Writes an existing file in one `write(2)`, which the kernel takes for
    /// one value.
    fn write(&self, path: &str, text: &str) -> io::Result<()>;

    /// Whether there is such a file or directory.
    fn exists(&self, path: &str) -> bool;

    /// Whether there is one, where it matters that this may not be known.
    ///
    /// # Errors
    /// What `stat(2)` says, other than that there is none.
    fn try_exists(&self, path: &str) -> io::Result<bool> {
        Ok(self.exists(path))
    }

    /// Names in a directory, sorted; none if it can't be read.
    fn names(&self, path: &str) -> Vec<String>;

    /// Makes a directory; below a cgroup mount point, a control group.
    ///
    /// # Errors
    /// What `mkdir(2)` says; `Unsupported` in a simulation without it.
    fn make_directory(&self, _path: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes an empty directory, or a control group without tasks.
    ///
    /// # Errors
    /// What `rmdir(2)` says; `Unsupported` in a simulation without it.
    fn remove_directory(&self, _path: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sets the CPUs that a task may run on, which no file does.
    /// `/proc/TASK/status` shows them.
    ///
    /// # Errors
    /// What `sched_setaffinity(2)` says; `Unsupported` where the tasks are not
    /// real ones.
    fn set_affinity(&self, _task: u32, _cpus: &[u32]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether these are the files of the running system.
    fn is_the_systems(&self) -> bool {
        false
    }

    /// Whether the nice value of an autogroup has an effect for the process of
    /// `/proc/self`.
    fn autogroups(&self) -> Result<(), NoAutogroups> {
        Ok(())
    }

    /// Whether this process may write a file, without opening it: for some
    /// files opening alone has an effect.
    fn writing(&self, path: &str) -> Writing {
        if self.exists(path) { Writing::Allowed } else { Writing::Missing }
    }
}

/// The text of a file of `/proc`, by its path: without asking how long it is, which the kernel doesn't know before it
/// has made it, and in as few calls as possible, since the kernel generates some of them anew for each.
#[cfg_attr(target_vendor = "apple", allow(dead_code, reason = "there is no /proc"))]
pub(crate) fn kernel_text(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = String::with_capacity(KERNEL_TEXT_BYTES);
    File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Room for most files of the kernel.
const KERNEL_TEXT_BYTES: usize = 4 << 10;

/// Most that is read of a file: the kernel's are far smaller.
const MAX_BYTES: u64 = 64 << 20;

#[cfg(test)]
thread_local! {
    /// The paths that trees have read, in their order.
    pub(crate) static READ: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A file tree: `/`, or a fixture.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
    /// Texts that were read, by their path; `None` where each question reads anew.
    texts: Option<RefCell<BTreeMap<String, String>>>,
}

impl Files for Tree {
    fn read(&self, path: &str) -> io::Result<String> {
        let text = self.texts.as_ref().and_then(|texts| texts.borrow().get(path).cloned());
        if let Some(text) = text {
            return Ok(text);
        }
        let bytes =
            input::read_open(Input::File(input::open_file(&self.full_path(path))?), MAX_BYTES)?;
        #[cfg(test)]
        READ.with_borrow_mut(|read| read.push(path.to_owned()));
        let text = trimmed(&String::from_utf8_lossy(&bytes)).to_owned();
        if let Some(texts) = &self.texts {
            texts.borrow_mut().insert(path.to_owned(), text.clone());
        }
        Ok(text)
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        // A kernel's file truncates itself.
        let mut file = OpenOptions::new().write(true).truncate(true).open(self.full_path(path))?;
        match file.write(text.as_bytes())? {
            all if all == text.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.full_path(path).exists()
    }

    fn try_exists(&self, path: &str) -> io::Result<bool> {
        self.full_path(path).try_exists()
    }

    fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.full_path(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    fn make_directory(&self, path: &str) -> io::Result<()> {
        std::fs::create_dir(self.full_path(path))
    }

    fn remove_directory(&self, path: &str) -> io::Result<()> {
        std::fs::remove_dir(self.full_path(path))
    }

    fn set_affinity(&self, task: u32, cpus: &[u32]) -> io::Result<()> {
        match self.is_the_systems() {
            true => crate::affinity::set_of(task, cpus),
            false => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn is_the_systems(&self) -> bool {
        self.root == Path::new("/")
    }

    fn autogroups(&self) -> Result<(), NoAutogroups> {
        platform::controls::autogroups(self)
    }

    fn writing(&self, path: &str) -> Writing {
        let at = self.full_path(path);
        let mode = match std::fs::metadata(&at) {
            Ok(metadata) => metadata.permissions().mode(),
            Err(error) => return Writing::from_error(&error),
        };
        // Root passes access(2) here, and still can't write.
        if mode & 0o222 == 0 {
            return Writing::Never;
        }
        match rustix::fs::accessat(CWD, &at, Access::WRITE_OK, platform::AS_EFFECTIVE_USER) {
            Ok(()) => Writing::Allowed,
            Err(errno) => Writing::from_error(&errno.into()),
        }
    }
}

#[cfg_attr(
    target_vendor = "apple",
    allow(dead_code, reason = "the kernel has no such files there")
)]
impl Tree {
    /// Makes a file with this text, and the directories above it.
    #[cfg(test)]
    pub(crate) fn make(&self, path: &str, text: &str) -> PathBuf {
        let path = self.full_path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(&path, text).expect("written");
        path
    }

    /// The tree below `root`.
    pub fn new(root: &Path) -> Tree {
        Tree { root: root.to_path_buf(), texts: None }
    }

    /// The same for facts of one moment: each file is read once, whatever is asked of it.
    pub(crate) fn of_one_moment(root: &Path) -> Tree {
        Tree { texts: Some(RefCell::default()), ..Tree::new(root) }
    }

    /// The files of the running system.
    pub fn system() -> Tree {
        Tree::new(Path::new("/"))
    }

    /// Where `path` lies in this tree.
    pub fn full_path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// [`read`](Files::read) with an error that names the file.
    pub(crate) fn require(&self, path: &str) -> Result<String, Unreadable> {
        self.read(path).map_err(|e| Unreadable::from_error(path, e))
    }

    /// The first bytes of a file that may be large.
    pub(crate) fn bytes_at_most(&self, path: &str, most: u64) -> Result<Vec<u8>, Unreadable> {
        let mut bytes = Vec::new();
        crate::input::open_file(&self.full_path(path))
            .and_then(|file| file.take(most).read_to_end(&mut bytes))
            .map_err(|error| Unreadable::from_error(path, error))?;
        Ok(bytes)
    }

    /// [`read`](Files::read) where the error does not matter; `None` for an
    /// empty file too.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.read(path).ok().filter(|text| !text.is_empty())
    }

    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    pub(crate) fn link(&self, path: &str) -> Option<String> {
        let target = std::fs::read_link(self.full_path(path)).ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// The fact in a file, with its source, or why it is unknown.
    pub(crate) fn fact<T>(&self, path: &str, parse: impl FnOnce(&str) -> Option<T>) -> Fact<T> {
        match self.require(path) {
            Ok(text) => match parse(&text) {
                Some(value) => Fact::known(value).from_source(path),
                // Of a file with many lines, none is at fault.
                None if text.trim_end().contains('\n') => {
                    Fact::unknown(format!("{path} does not hold it"))
                }
                None => {
                    let text = cut(&text);
                    Fact::unknown(format!("{path} holds `{text}`, which latlas can't read"))
                }
            },
            Err(why) => Fact::unknown(why.to_string()),
        }
    }
}

/// Without the white space and zero bytes around it.
fn trimmed(text: &str) -> &str {
    text.trim_matches(is_blank)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\0'
}

/// A number of a CPU beyond this is damage: Linux is built for at most 8192.
const MOST_CPUS: u32 = 1 << 16;

/// A kernel list like `0-3,8,10-11` or, in cpufreq, `0 1 2 3`; the only parser of such lists. An
/// empty set is an empty text, a zero byte (CentOS 7) or `(null)`.
pub fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let number = |text: &str| text.parse().ok().filter(|&cpu: &u32| cpu < MOST_CPUS);
    let mut cpus = Vec::new();
    if trimmed(text) == "(null)" {
        return Some(cpus);
    }
    let parts = text.split(|c| c == ',' || is_blank(c));
    for part in parts.filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return None;
        }
        cpus.extend(first..=last);
        // A number again and again.
        if cpus.len() > MOST_CPUS as usize {
            return None;
        }
    }
    Some(cpus)
}

/// The chosen word of a list like `always [madvise] never`.
pub fn bracketed(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

/// The number of `key:   1234 kB` in /proc/meminfo or /proc/self/status, in bytes.
pub fn kib_field(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists() {
        assert_eq!(cpu_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(cpu_list(&"0-65535,".repeat(2)), None, "a number again and again");
        for empty in ["", "\n", "\n\n", "\0", "\0\n", "(null)", "   (null)\n"] {
            assert_eq!(cpu_list(empty), Some(vec![]), "{empty:?}");
        }
        assert_eq!(cpu_list("0-1\n\0"), Some(vec![0, 1]));
        assert_eq!(cpu_list("0 1 3 \n"), Some(vec![0, 1, 3]), "cpufreq");
        assert_eq!(cpu_list("8191"), Some(vec![8191]));
        // The last would take 16 GiB.
        for none in ["0-x", "3-1", "-1", "0--1", "1-2-3", "(null),1", "0-4294967295"] {
            assert_eq!(cpu_list(none), None, "{none:?}");
        }
    }

    #[test]
    fn zero_bytes_around_a_text_go() {
        let root = tempfile::tempdir().expect("a directory");
        let tree = Tree::new(root.path());
        std::fs::write(tree.full_path("/list"), b"0-3\n\0").expect("a file");
        std::fs::write(tree.full_path("/empty"), b"\0\n").expect("a file");
        assert_eq!(tree.read("/list").expect("a text"), "0-3");
        assert_eq!(tree.read("/empty").expect("a text"), "");
        assert_eq!(tree.text("/empty"), None);
    }

    #[test]
    fn a_tree_of_one_moment_does_not_change() {
        let root = tempfile::tempdir().expect("a directory");
        let [moment, later] = [Tree::of_one_moment(root.path()), Tree::new(root.path())];
        let both = || [&moment, &later].map(|tree| tree.text("/a"));
        assert_eq!(both(), [None, None]);
        moment.make("/a", "1");
        assert_eq!(both(), [Some("1".to_owned()), Some("1".to_owned())]);
        moment.make("/a", "2");
        assert_eq!(both(), [Some("1".to_owned()), Some("2".to_owned())]);
    }

    #[cfg(not(target_vendor = "apple"))]
    #[test]
    fn a_pipe_is_not_waited_for() {
        let root = tempfile::tempdir().expect("a directory");
        let tree = Tree::new(root.path());
        let pipe = tree.full_path("/pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("a pipe");
        let why = tree.bytes_at_most("/pipe", 20).expect_err("no file");
        assert!(why.to_string().contains("a pipe, not a file"), "{why}");
        let why = tree.read("/pipe").expect_err("no file");
        assert!(why.to_string().contains("a pipe, not a file"), "{why}");
    }

    #[test]
    fn small_formats() {
        assert_eq!(bracketed("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(bracketed("always"), None);
        assert_eq!(kib_field("MemTotal:  12 kB\nMemFree: 4 kB", "MemFree"), Some(4096));
        assert_eq!(kib_field("MemTotal:  12 kB", "Mem"), None, "only whole keys");
    }

    #[test]
    fn a_read_only_file_and_a_missing_one_differ() {
        let root = tempfile::tempdir().expect("a directory");
        let tree = Tree::new(root.path());
        std::fs::write(tree.full_path("/open"), "1").expect("a file");
        std::fs::write(tree.full_path("/fixed"), "1").expect("a file");
        std::fs::set_permissions(tree.full_path("/fixed"), std::fs::Permissions::from_mode(0o444))
            .expect("a mode");
        assert_eq!(tree.writing("/open"), Writing::Allowed);
        assert_eq!(tree.writing("/fixed"), Writing::Never, "for root too");
        assert_eq!(tree.writing("/none"), Writing::Missing);
    }

    #[test]
    fn a_missing_file_is_the_reason() {
        let tree = Tree::new(Path::new("/"));
        let fact = tree.fact("/proc/no-such-file", |text| Some(text.to_owned()));
        assert_eq!(fact, Fact::unknown("there is no /proc/no-such-file"));
    }
}
