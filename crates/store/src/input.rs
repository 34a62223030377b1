//! Files that the user names: read whole, within bounds, and without ever
//! waiting for what does not come.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

/// How long a pipe may be silent.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a file, or the pipe of a shell's `<(command)`. No more than `limit`
/// bytes and one, so that too much shows.
///
/// # Errors
/// What opening and reading say; a directory, a device or a socket; a pipe
/// that nothing comes through for 10 s.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_within(path, limit, Some(PATIENCE))
}

/// The same of an ordinary file only: no pipe is waited for.
///
/// # Errors
/// As [`read`]; a pipe.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_within(path, limit, None)
}

/// [`read`] of a short text.
///
/// # Errors
/// As [`read`]; more than `limit` bytes; no UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read(path, limit)?;
    if bytes.len() as u64 > limit {
        let text = format!("it is larger than {} KiB", limit >> 10);
        return Err(io::Error::other(text));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

fn read_within(path: &Path, limit: u64, patience: Option<Duration>) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    let kind = file.metadata()?.file_type();
    let mut bytes = Vec::new();
    if kind.is_file() {
        file.take(limit + 1).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let refused = |what: &str| Err(io::Error::other(format!("it is {what}, not a file")));
    match patience {
        Some(patience) if kind.is_fifo() => {
            let pipe = Pipe { file, patience };
            pipe.take(limit + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        }
        _ if kind.is_dir() => refused("a directory"),
        _ if kind.is_fifo() => refused("a pipe"),
        // `/dev/null` stands for an empty file.
        _ if (&file).read(&mut [0]).is_ok_and(|read| read == 0) => Ok(bytes),
        _ => refused("a device"),
    }
}

/// A pipe that is opened not to block.
struct Pipe {
    file: File,
    patience: Duration,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let patience = Timespec::try_from(self.patience).map_err(io::Error::other)?;
            let mut wanted = [PollFd::new(&self.file, PollFlags::IN)];
            if poll(&mut wanted, Some(&patience))? == 0 {
                let seconds = self.patience.as_secs();
                let text = format!("nothing came through this pipe for {seconds} s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            match self.file.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::process::Command;

    fn pipe(directory: &Path) -> std::path::PathBuf {
        let path = directory.join("pipe");
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo runs").success());
        path
    }

    #[test]
    fn a_pipe_without_another_end_is_given_up() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = pipe(dir.path());
        let error = read_within(&path, 10, Some(Duration::from_millis(20)));
        assert_eq!(error.expect_err("silent").kind(), io::ErrorKind::TimedOut);
        let error = read_file(&path, 10).expect_err("no file").to_string();
        assert!(error.contains("it is a pipe"), "{error}");
    }

    #[test]
    fn what_a_shell_sends_through_a_pipe_is_read() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"some text").expect("written");
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read(Path::new(&path), 100).expect("read"), b"some text");
    }

    #[test]
    fn devices_and_directories_are_named_and_files_are_bounded() {
        for (path, what) in [("/dev/zero", "a device"), ("/", "a directory")] {
            let error = read(Path::new(path), 10).expect_err(path).to_string();
            assert!(error.contains(what), "{error}");
        }
        assert_eq!(read(Path::new("/dev/null"), 10).expect("empty"), b"");
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("file");
        std::fs::write(&path, "0123456789").expect("written");
        assert_eq!(read(&path, 4).expect("read").len(), 5);
        assert_eq!(read_text(&path, 10).expect("read"), "0123456789");
        assert!(read_text(&path, 9).is_err());
    }
}
