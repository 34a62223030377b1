//! The kernel's files as this crate sees them: the real ones, a fixture below
//! another root, or a machine that a test simulates.

use std::io;

use sys::files::{Tree, Writing};

/// Small text files by the path they have on a real system, `/sys/...`.
pub trait Files {
    /// Content without the white space around it.
    ///
    /// # Errors
    /// What opening and reading say.
    fn read(&self, path: &str) -> io::Result<String>;

    /// Writes one value into a file that is there.
    ///
    /// # Errors
    /// What opening and writing say.
    fn write(&self, path: &str, text: &str) -> io::Result<()>;

    /// Whether there is such a file or directory.
    fn exists(&self, path: &str) -> bool;

    /// Names in a directory, sorted; none if it can't be read.
    fn names(&self, path: &str) -> Vec<String>;

    /// Makes a directory: in a control group's file system, a group.
    ///
    /// # Errors
    /// What `mkdir(2)` says; `Unsupported` where nothing can be made.
    fn make_directory(&self, _path: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes an empty directory; a control group is empty when no task is
    /// in it.
    ///
    /// # Errors
    /// What `rmdir(2)` says; `Unsupported` where nothing can be made.
    fn remove_directory(&self, _path: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sets the CPUs that a task may run on: the one thing of a task here that
    /// no file takes. `/proc/TASK/status` tells it.
    ///
    /// # Errors
    /// What `sched_setaffinity(2)` says; `Unsupported` where the tasks are no
    /// real ones.
    fn set_affinity(&self, _task: u32, _cpus: &[u32]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether these are the running system's own files, so that what this
    /// process may do with them is what it may do with the system.
    fn is_the_systems(&self) -> bool {
        false
    }

    /// Whether the nice value of an autogroup means anything for the process
    /// of `/proc/self`.
    ///
    /// # Errors
    /// Why not, in words.
    fn autogroups(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether this process may write a file, without opening it. A machine
    /// that only a test knows lets everything be written that is there.
    fn writing(&self, path: &str) -> Writing {
        match self.exists(path) {
            true => Writing::Allowed,
            false => Writing::Missing,
        }
    }
}

impl Files for Tree {
    fn read(&self, path: &str) -> io::Result<String> {
        self.contents(path)
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        Tree::write(self, path, text)
    }

    fn exists(&self, path: &str) -> bool {
        Tree::exists(self, path)
    }

    fn names(&self, path: &str) -> Vec<String> {
        Tree::names(self, path)
    }

    fn make_directory(&self, path: &str) -> io::Result<()> {
        std::fs::create_dir(self.at(path))
    }

    fn remove_directory(&self, path: &str) -> io::Result<()> {
        std::fs::remove_dir(self.at(path))
    }

    fn set_affinity(&self, task: u32, cpus: &[u32]) -> io::Result<()> {
        match self.is_the_systems() {
            true => sys::affinity::set_of(task, cpus),
            false => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn is_the_systems(&self) -> bool {
        Tree::is_the_systems(self)
    }

    fn autogroups(&self) -> Result<(), String> {
        sys::controls::autogroups_of(self)
    }

    fn writing(&self, path: &str) -> Writing {
        Tree::writing(self, path)
    }
}
