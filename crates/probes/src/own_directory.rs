//! A directory for the files of one work, in the run's scratch directory.

use meter::bench::Bench;
use meter::scratch::reason;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directory. It goes, with all in it, when its work does.
#[derive(Debug)]
pub(crate) struct OwnDirectory(PathBuf);

impl OwnDirectory {
    /// A new one. What a work of this name left, whose worker was killed, goes
    /// first: workers take turns, so nobody is in it.
    pub(crate) fn make(bench: &Bench, name: &str) -> Result<OwnDirectory, String> {
        let scratch = crate::file::scratch(bench)?;
        let path = scratch.join(name);
        let made = match std::fs::remove_dir_all(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => DirBuilder::new().mode(0o700).create(&path),
        };
        match made {
            Ok(()) => Ok(OwnDirectory(path)),
            Err(e) => Err(reason(&e, &format!("making {name}"), scratch)),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A name in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Why something failed in it, as a row's reason.
    pub(crate) fn failed(&self, doing: &str, error: &io::Error) -> String {
        reason(error, doing, &self.0)
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // The scratch directory goes at the end of the run whatever is in it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
