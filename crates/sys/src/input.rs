//! Files that the user or a document names: opened once, without waiting for
//! another program, and read within bounds.

pub use crate::file_kind::{check_kind, is_not_a_file};
use crate::file_kind::{not_a_file, not_opened};
use crate::place;
pub use crate::place::wait_in_reads;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open as open_at};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a pipe may be silent, and how long it may take in all.
const PATIENCE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(120)];

/// An open file, by its kind.
#[derive(Debug)]
pub enum Input {
    /// A regular file.
    File(File),
    /// A pipe with its name or number: its bytes can be read once.
    Pipe(File),
    /// A character device.
    Device(File),
}

/// Opens what a path leads to. The descriptor has `O_NONBLOCK`: opening a pipe
/// or a terminal would wait for its other end, and a file with a lease for its holder.
///
/// # Errors
/// What opening says; a directory, a block device or a socket.
pub fn open_input(path: &Path) -> io::Result<Input> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match open_at(path, flags, Mode::empty()) {
        Err(Errno::NXIO) => return Err(not_opened()),
        opened => File::from(opened?),
    };
    let kind = file.metadata()?.file_type();
    Ok(match kind {
        _ if kind.is_file() => Input::File(file),
        _ if kind.is_fifo() => Input::Pipe(file),
        _ if kind.is_char_device() => Input::Device(file),
        other => return Err(not_a_file(other)),
    })
}

/// Opens a regular file.
///
/// # Errors
/// As [`open_input`]; a pipe or a device.
pub fn open_file(path: &Path) -> io::Result<File> {
    match open_input(path)? {
        Input::File(file) => Ok(file),
        Input::Pipe(other) | Input::Device(other) => Err(not_a_file(other.metadata()?.file_type())),
    }
}

/// Reads a file, or the pipe of a shell's `<(command)`. No more than `limit`
/// bytes and one, so that too much shows.
///
/// # Errors
/// What opening and reading say; a directory, a device or a socket; a pipe
/// without data for 10 s, or without its end after 120 s.
pub fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_open(open_input(path)?, limit)
}

/// [`read_limited`] of what is open.
///
/// # Errors
/// As [`read_limited`].
pub fn read_open(input: Input, limit: u64) -> io::Result<Vec<u8>> {
    // Most are short: one call reads all, the next sees the end.
    let mut bytes = Vec::with_capacity(4 << 10);
    reader(input)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of what is open; a pipe is waited for as by [`read_limited`].
///
/// # Errors
/// Of a device that does not end at once.
pub fn reader(input: Input) -> io::Result<Box<dyn Read>> {
    match input {
        Input::File(file) => Ok(Box::new(file)),
        Input::Pipe(pipe) => Ok(Box::new(Pipe::new(pipe, PATIENCE))),
        // `/dev/null` stands for an empty file.
        Input::Device(device) if is_null(&device) => Ok(Box::new(io::empty())),
        Input::Device(device) => Err(not_a_file(device.metadata()?.file_type())),
    }
}

/// The same of a regular file of latlas's own: no pipe is waited for, and no link of another
/// user followed.
///
/// # Errors
/// As [`place::open_file`], and what reading says.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_open(Input::File(place::open_file(path)?), limit)
}

/// [`read_limited`] of a short text.
///
/// # Errors
/// As [`read_limited`]; more than `limit` bytes; no UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    decode_text(read_limited(path, limit)?, limit)
}

/// Bytes that were read with a limit, as text.
///
/// # Errors
/// More than `limit` bytes; no UTF-8.
pub fn decode_text(bytes: Vec<u8>, limit: u64) -> io::Result<String> {
    if bytes.len() as u64 > limit {
        let text = format!("it is larger than {} KiB", limit >> 10);
        return Err(io::Error::other(text));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Whether a device ends at once, as `/dev/null` does.
pub fn is_null(mut device: &File) -> bool {
    device.read(&mut [0]).is_ok_and(|read| read == 0)
}

/// A pipe that is opened not to block.
struct Pipe {
    file: File,
    silent: Duration,
    whole: Duration,
    until: Instant,
}

impl Pipe {
    fn new(file: File, [silent, whole]: [Duration; 2]) -> Pipe {
        Pipe { file, silent, whole, until: Instant::now() + whole }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let patience = self.silent.min(left);
            let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
            let mut wanted = [PollFd::new(&self.file, PollFlags::IN)];
            if poll(&mut wanted, Some(&patience))? == 0 {
                let text = match left < self.silent {
                    true => format!("this pipe did not end within {} s", self.whole.as_secs()),
                    false => {
                        format!("nothing came through this pipe for {} s", self.silent.as_secs())
                    }
                };
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
        let Input::Pipe(pipe) = open_input(&path).expect("opened") else {
            panic!("a pipe");
        };
        let silent = [Duration::from_millis(20), Duration::from_secs(60)];
        let error = Pipe::new(pipe, silent).read(&mut [0]).expect_err("silent");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let error = read_file(&path, 10).expect_err("no file").to_string();
        assert!(error.contains("it is a pipe"), "{error}");
    }

    #[test]
    fn what_a_shell_sends_through_a_pipe_is_read() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"some text").expect("written");
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read_limited(Path::new(&path), 100).expect("read"), b"some text");
    }

    #[test]
    fn a_pipe_that_never_ends_is_given_up() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let drip = std::thread::spawn(move || {
            while writer.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let Input::Pipe(pipe) = open_input(Path::new(&path)).expect("opened") else {
            panic!("a pipe");
        };
        let whole = [Duration::from_secs(60), Duration::from_millis(50)];
        let error = io::copy(&mut Pipe::new(pipe, whole), &mut io::sink());
        let error = error.expect_err("it drips on");
        assert!(error.to_string().contains("did not end"), "{error}");
        drop(reader);
        drip.join().expect("it ends");
    }

    #[test]
    fn a_socket_is_named_and_a_program_gets_a_descriptor_that_waits() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).expect("bound");
        assert!(read_limited(&path, 10).is_err() && open_file(&path).is_err());
        let Input::Device(null) = open_input(Path::new("/dev/null")).expect("opened") else {
            panic!("a device");
        };
        assert!(is_null(&null));
        wait_in_reads(&null).expect("set");
        let flags = rustix::fs::fcntl_getfl(&null).expect("asked");
        assert!(!flags.contains(OFlags::NONBLOCK), "{flags:?}");
    }

    #[test]
    fn devices_and_directories_are_named_and_files_are_bounded() {
        for (path, what) in [("/dev/zero", "a device"), ("/", "a directory")] {
            let error = read_limited(Path::new(path), 10).expect_err(path).to_string();
            assert!(error.contains(what), "{error}");
        }
        assert_eq!(read_limited(Path::new("/dev/null"), 10).expect("empty"), b"");
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("file");
        std::fs::write(&path, "0123456789").expect("written");
        assert_eq!(read_limited(&path, 4).expect("read").len(), 5);
        assert_eq!(read_text(&path, 10).expect("read"), "0123456789");
        assert!(read_text(&path, 9).is_err());
    }
}
