//! Single system calls, to be timed: thin enough that the call is what a loop
//! of them costs.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// The name of a system call of this architecture.
#[cfg(not(target_vendor = "apple"))]
pub fn system_call_name(number: u32) -> Option<&'static str> {
    syscalls::Sysno::new(usize::try_from(number).ok()?).map(|call| call.name())
}

/// Apple systems have no stable numbers.
#[cfg(target_vendor = "apple")]
pub fn system_call_name(_number: u32) -> Option<&'static str> {
    None
}

/// The name of a system call of an architecture as `uname -m` has it; of those that are known.
#[cfg(not(target_vendor = "apple"))]
pub fn call_name_of(architecture: &str, number: u32) -> Option<&'static str> {
    let number = usize::try_from(number).ok()?;
    match architecture {
        "x86_64" => syscalls::x86_64::Sysno::new(number).map(|call| call.name()),
        "aarch64" => syscalls::aarch64::Sysno::new(number).map(|call| call.name()),
        _ => None,
    }
}

/// The number of a system call of an architecture.
#[cfg(not(target_vendor = "apple"))]
pub fn call_number_of(architecture: &str, name: &str) -> Option<u32> {
    let number = match architecture {
        "x86_64" => name.parse::<syscalls::x86_64::Sysno>().ok()?.id(),
        "aarch64" => name.parse::<syscalls::aarch64::Sysno>().ok()?.id(),
        _ => return None,
    };
    u32::try_from(number).ok()
}

/// No names are known there.
#[cfg(target_vendor = "apple")]
pub fn call_name_of(_architecture: &str, _number: u32) -> Option<&'static str> {
    None
}

/// No names are known there.
#[cfg(target_vendor = "apple")]
pub fn call_number_of(_architecture: &str, _name: &str) -> Option<u32> {
    None
}

/// `getppid(2)`, by number on Linux: a C library may cache what it returns.
///
/// # Errors
/// What a seccomp filter says; the call itself can't fail.
#[inline]
pub fn parent_id() -> io::Result<u32> {
    // SAFETY: takes no arguments and touches no memory.
    #[cfg(not(target_vendor = "apple"))]
    let id = unsafe { libc::syscall(libc::SYS_getppid) };
    // Apple systems have no stable numbers; their `getppid()` caches nothing.
    // SAFETY: as above.
    #[cfg(target_vendor = "apple")]
    let id = unsafe { libc::getppid() };
    u32::try_from(id).map_err(|_| io::Error::last_os_error())
}

/// `read(2)` of one byte, as the C library has it.
///
/// # Errors
/// What the call says; `UnexpectedEof` at the end of a file.
#[inline]
pub fn read_byte(from: impl AsFd) -> io::Result<u8> {
    let mut byte = 0_u8;
    // SAFETY: writes one byte at most, to `byte`.
    match unsafe { libc::read(from.as_fd().as_raw_fd(), (&raw mut byte).cast(), 1) } {
        1 => Ok(byte),
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `write(2)` of one byte, as the C library has it.
///
/// # Errors
/// What the call says; `WriteZero` if it wrote nothing.
#[inline]
pub fn write_byte(to: impl AsFd, byte: u8) -> io::Result<()> {
    // SAFETY: reads one byte, `byte`.
    match unsafe { libc::write(to.as_fd().as_raw_fd(), (&raw const byte).cast(), 1) } {
        1 => Ok(()),
        0 => Err(io::ErrorKind::WriteZero.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `stat(2)` of a path, as the C library has it; gives the file's size.
#[inline]
pub fn stat(path: &CStr) -> io::Result<u64> {
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path ends with a zero; the call fills `found` when it
    // returns 0.
    unsafe {
        match libc::stat(path.as_ptr(), found.as_mut_ptr()) {
            0 => Ok(u64::try_from(found.assume_init().st_size).unwrap_or(0)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// `open(2)` of a path for reading, and `close(2)`, as the C library has them.
#[inline]
pub fn open_close(path: &CStr) -> io::Result<()> {
    // SAFETY: the path ends with a zero; the descriptor is ours alone.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY);
        if file >= 0 && libc::close(file) == 0 {
            return Ok(());
        }
    }
    Err(io::Error::last_os_error())
}

/// `open(2)` of a path for reading, as the C library has it; dropping what it
/// gives is its `close(2)`.
#[inline]
pub fn open_for_reading(path: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the path ends with a zero; the descriptor is ours alone.
    unsafe {
        match libc::open(path.as_ptr(), libc::O_RDONLY) {
            file if file >= 0 => Ok(OwnedFd::from_raw_fd(file)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// `lseek(2)` to the beginning of a file, as the C library has it.
#[inline]
pub fn rewind(file: impl AsFd) -> io::Result<()> {
    // SAFETY: moves a position in a file, which is no memory.
    match unsafe { libc::lseek(file.as_fd().as_raw_fd(), 0, libc::SEEK_SET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// One `read(2)`, as the C library has it; gives the bytes read, 0 at the end
/// of the file.
#[inline]
pub fn read_call(from: impl AsFd, to: &mut [u8]) -> io::Result<usize> {
    // SAFETY: writes at most as many bytes as the slice has.
    let read = unsafe { libc::read(from.as_fd().as_raw_fd(), to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    #[cfg(not(target_vendor = "apple"))]
    #[test]
    fn calls_have_their_names() {
        let number = u32::try_from(libc::SYS_getppid).expect("positive");
        assert_eq!(system_call_name(number), Some("getppid"));
        assert_eq!(system_call_name(u32::MAX), None);
    }

    #[test]
    fn the_parent_is_the_parent() {
        let parent = parent_id().expect("allowed");
        assert_eq!(parent, std::os::unix::process::parent_id());
    }

    #[test]
    fn a_byte_goes_and_comes() {
        let (mut from, mut to) = std::io::pipe().expect("a pipe");
        write_byte(&to, 7).expect("room");
        assert_eq!(read_byte(&from).expect("a byte"), 7);
        to.write_all(&[8]).expect("room");
        assert_eq!(read_byte(&from).expect("a byte"), 8);
        drop(to);
        let error = read_byte(&mut from).expect_err("the end");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_path_is_looked_up() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).expect("a name");
        assert_eq!(stat(&name).expect_err("not there").kind(), io::ErrorKind::NotFound);
        open_close(&name).expect_err("not there");
        File::create(&path).and_then(|mut file| file.write_all(b"four")).expect("a file");
        assert_eq!(stat(&name).expect("there"), 4);
        open_close(&name).expect("there");
        let file = open_for_reading(&name).expect("there");
        let mut buffer = [0; 3];
        assert_eq!(read_call(&file, &mut buffer).expect("readable"), 3);
        assert_eq!(&buffer, b"fou");
        assert_eq!(read_call(&file, &mut buffer).expect("readable"), 1);
        assert_eq!(read_call(&file, &mut buffer).expect("readable"), 0);
        rewind(&file).expect("seekable");
        assert_eq!(read_call(&file, &mut buffer[..2]).expect("readable"), 2);
        rewind(io::pipe().expect("a pipe").0).expect_err("no position");
    }
}
