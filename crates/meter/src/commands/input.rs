//! The commands' standard input: the same bytes for every run.

use super::error::CommandError;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::input;

/// Most bytes of a pipe, which are copied.
const MAX_COPIED_BYTES: u64 = 1 << 30;

/// What each run reads from its beginning.
#[derive(Clone, Debug, Default)]
pub struct Input(From);

#[derive(Clone, Debug, Default)]
enum From {
    /// `/dev/null`.
    #[default]
    Nothing,
    /// A file, opened for each run as long as it is what it was.
    File(PathBuf, Version),
    /// A device, opened for each run.
    Device(PathBuf),
    /// The bytes of what can be read once, in a file without a name.
    Copy(Arc<File>),
}

/// A file as it was when it was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    place: (u64, u64),
    bytes: u64,
    changed: (i64, i64),
}

impl Version {
    fn from_metadata(found: &Metadata) -> Version {
        Version {
            place: (found.dev(), found.ino()),
            bytes: found.len(),
            changed: (found.mtime(), found.mtime_nsec()),
        }
    }
}

impl Input {
    /// Opens what the user names; what can be read only once, such as the pipe of a shell's
    /// `<(command)`, is copied.
    ///
    /// # Errors
    /// What opening and reading say; that it is empty and not `/dev/null`.
    pub fn open_named(path: &Path) -> Result<Input, CommandError> {
        let read = |error| stream("read", path, error);
        let opened = input::open_input(path).map_err(read)?;
        let from = match &opened {
            input::Input::Device(_) => From::Device(path.to_owned()),
            input::Input::File(file) => {
                let found = file.metadata().map_err(read)?;
                match found.len() {
                    // Files of /proc say so, too, and may hold other bytes the next time.
                    0 => copied(opened, path)?,
                    _ => From::File(path.to_owned(), Version::from_metadata(&found)),
                }
            }
            input::Input::Pipe(_) => copied(opened, path)?,
        };
        Ok(Input(from))
    }

    /// Whether the user named one.
    pub(super) fn is_named(&self) -> bool {
        !matches!(self.0, From::Nothing)
    }

    pub(super) fn open(&self) -> Result<File, CommandError> {
        let path = match &self.0 {
            From::Nothing => Path::new("/dev/null"),
            From::File(path, _) | From::Device(path) => path,
            From::Copy(file) => {
                let rewound = || {
                    let mut file = file.try_clone()?;
                    file.seek(SeekFrom::Start(0)).map(|_| file)
                };
                return rewound().map_err(|error| stream("read", &std::env::temp_dir(), error));
            }
        };
        let opened = || {
            let (input::Input::File(file) | input::Input::Device(file) | input::Input::Pipe(file)) =
                input::open_input(path)?;
            input::wait_in_reads(&file)?;
            Ok((file.metadata()?, file))
        };
        let (found, file) = opened().map_err(|error| stream("read", path, error))?;
        self.check_metadata(Ok(found))?;
        Ok(file)
    }

    /// Checks after a run that its file is still what it was.
    pub(super) fn check_unchanged(&self) -> Result<(), CommandError> {
        match &self.0 {
            From::File(path, _) => self.check_metadata(std::fs::metadata(path)),
            _ => Ok(()),
        }
    }

    fn check_metadata(&self, found: io::Result<Metadata>) -> Result<(), CommandError> {
        match &self.0 {
            From::File(path, version)
                if !found.is_ok_and(|it| Version::from_metadata(&it) == *version) =>
            {
                Err(CommandError::InputChanged(path.display().to_string()))
            }
            _ => Ok(()),
        }
    }
}

/// A copy from which every run reads, in a file that goes with this process.
fn copied(from: input::Input, path: &Path) -> Result<From, CommandError> {
    let mut from = input::reader(from)
        .map_err(|error| stream("read", path, error))?
        .take(MAX_COPIED_BYTES + 1);
    let mut copy = || {
        let mut copy = tempfile::NamedTempFile::new()?;
        let bytes = io::copy(&mut from, &mut copy)?;
        // For reading alone: a run could write to it.
        Ok((bytes, File::open(copy.path())?))
    };
    match copy().map_err(|error| stream("copy", path, error))? {
        (0, _) => Err(CommandError::EmptyInput(path.display().to_string())),
        (1..=MAX_COPIED_BYTES, file) => Ok(From::Copy(Arc::new(file))),
        _ => Err(stream("copy", path, io::Error::other("more than 1 GiB: give it as a file"))),
    }
}

fn stream(action: &'static str, path: &Path, error: io::Error) -> CommandError {
    CommandError::Stream { action, path: path.display().to_string(), error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    fn input_text(input: &Input) -> String {
        let mut text = String::new();
        let mut file = input.open().expect("opened");
        file.read_to_string(&mut text).expect("read");
        text
    }

    #[test]
    fn every_run_gets_all_of_a_pipe() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"some lines").expect("written");
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let input = Input::open_named(Path::new(&path)).expect("copied");
        for _ in 0..3 {
            assert_eq!(input_text(&input), "some lines");
            input.check_unchanged().expect("a copy");
        }
        let mut file = input.open().expect("opened");
        file.write_all(b"x").expect_err("for reading alone");
    }

    #[test]
    fn what_is_empty_is_refused_but_for_the_null_device() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("empty");
        std::fs::write(&path, "").expect("written");
        let error = Input::open_named(&path).expect_err("empty").to_string();
        assert!(error.contains("/dev/null"), "{error}");
        let (reader, _) = io::pipe().expect("a pipe");
        let pipe = format!("/dev/fd/{}", reader.as_raw_fd());
        Input::open_named(Path::new(&pipe)).expect_err("empty");
        let null = Input::open_named(Path::new("/dev/null")).expect("a device");
        assert_eq!(input_text(&null), "");
        assert_eq!(input_text(&Input::default()), "");
        Input::open_named(dir.path()).expect_err("a directory");
        Input::open_named(&dir.path().join("absent")).expect_err("nothing there");
    }

    #[test]
    fn a_file_that_changes_or_goes_is_noticed() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("file");
        std::fs::write(&path, "text").expect("written");
        let input = Input::open_named(&path).expect("a file");
        assert_eq!(input_text(&input), "text");
        input.check_unchanged().expect("as it was");
        std::fs::write(&path, "longer text").expect("written");
        let changed =
            |done: Result<(), CommandError>| matches!(done, Err(CommandError::InputChanged(_)));
        assert!(changed(input.open().map(drop)) && changed(input.check_unchanged()));
        let input = Input::open_named(&path).expect("a file");
        std::fs::rename(&path, dir.path().join("other")).expect("moved");
        assert!(changed(input.check_unchanged()));
        std::fs::write(&path, "longer text").expect("written");
        assert!(changed(input.open().map(drop)), "another file");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_without_a_size_is_copied() {
        let input = Input::open_named(Path::new("/proc/uptime")).expect("a file of the kernel");
        let first = input_text(&input);
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(!first.is_empty() && first == input_text(&input));
    }
}
