//! The cheapest system calls on files.

use crate::engine::reason::{Doing, Reason};
use crate::engine::repeated::{PLAIN, calls};
use meter::probe::{Effort, Make, Probe};
use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use sys::system_calls::{open_close, read_byte, stat, write_byte};

/// What LMbench looks up when no file is named, and then files that exist on
/// machines without a C compiler's headers.
const PATHS: [&CStr; 3] = [c"/usr/include/linux/types.h", c"/etc/passwd", c"/etc/hosts"];

const PATH: &str = "The path is /usr/include/linux/types.h where that exists, as in LMbench when no file is named, and otherwise the first of /etc/passwd and /etc/hosts; the row's note says which, since each directory of the path costs. LMbench's own script names another file, empty and in a directory for temporary files.";

/// Numbers of the kernel's memory devices (Linux: Documentation/admin-guide/devices.txt): major 1
/// in the upper byte.
const NULL: u64 = 0x103;
const ZERO: u64 = 0x105;

pub(crate) fn system_calls_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "stat of a path".into(),
            operation: "One stat() of the C library of a file by its path, all of which the kernel has in memory.".into(),
            method: format!("{PLAIN} {PATH}").into(),
            source: "LMbench's lat_syscall stat.".into(),
            make: on_path("stat()", |path| stat(path).map(drop)),
            ..system_call_probe("file.stat")
        },
        Probe {
            title: "open and close of a path".into(),
            operation: "One open() of the C library of a file by its path for reading, all of which the kernel has in memory, and its close().".into(),
            method: format!("{PLAIN} {PATH}").into(),
            source: "LMbench's lat_syscall open.".into(),
            make: on_path("open()", open_close),
            ..system_call_probe("file.open")
        },
        Probe {
            title: "read of one byte, as a system call".into(),
            operation: "One read() of the C library of one byte from /dev/zero, which is open.".into(),
            method: PLAIN.into(),
            source: "LMbench's lat_syscall read.".into(),
            make: on_device("/dev/zero", ZERO, "read()", |file| read_byte(file).map(drop)),
            ..system_call_probe("file.read_syscall")
        },
        Probe {
            title: "write of one byte, as a system call".into(),
            operation: "One write() of the C library of one byte to /dev/null, which is open.".into(),
            method: PLAIN.into(),
            source: "LMbench's lat_syscall write.".into(),
            make: on_device("/dev/null", NULL, "write()", |file| write_byte(file, 0)),
            ..system_call_probe("file.write_syscall")
        },
    ]
}

fn system_call_probe(id: &'static str) -> Probe {
    Probe { effort: Effort::visits(8), ..Probe::blank(id) }
}

fn on_path(name: &'static str, call: impl Fn(&CStr) -> io::Result<()> + Copy + 'static) -> Make {
    Box::new(move |_, _| {
        let path = PATHS.into_iter().find(|path| stat(path).is_ok());
        let none = || Reason::missing(format!("none of these files exists: {PATHS:?}"));
        let path = path.ok_or_else(none)?;
        let note = format!("path: {}", path.to_string_lossy());
        calls(name, move || call(path)).tried()?.note(note).boxed()
    })
}

fn on_device(
    path: &'static str,
    number: u64,
    name: &'static str,
    call: impl Fn(&File) -> io::Result<()> + Copy + 'static,
) -> Make {
    Box::new(move |_, _| {
        let file = device(path, number, number == NULL)?;
        calls(name, move || call(&file)).tried()?.boxed()
    })
}

/// The device, open: a file in its place would be measured as one.
fn device(path: &str, number: u64, write: bool) -> Result<File, Reason> {
    let doing = format!("can't open {path}");
    let found = std::fs::metadata(path).doing(doing.clone())?;
    // Apple systems give other numbers to theirs.
    let is_it = found.file_type().is_char_device()
        && (cfg!(target_vendor = "apple") || found.rdev() == number);
    if !is_it {
        return Err(Reason::wrong(format!("{path} is not the kernel's device")));
    }
    let options = OpenOptions::new().read(!write).write(write).clone();
    options.open(path).doing(doing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_place_of_a_device_is_not_measured() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("null");
        std::fs::write(&path, "").expect("room");
        let path = path.to_str().expect("text");
        let why = device(path, NULL, true).expect_err("a file");
        let expected = format!("{path} is not the kernel's device");
        assert_eq!(why, Reason::wrong(expected));
        // Another device is not it either, but for Apple's numbers.
        let zero_as_null = device("/dev/zero", NULL, true);
        assert_eq!(zero_as_null.is_err(), cfg!(not(target_vendor = "apple")));
        device("/dev/null", NULL, true).expect("the device");
        device("/dev/zero", ZERO, false).expect("the device");
        assert!(device("/dev/no/such", ZERO, false).is_err());
    }
}
