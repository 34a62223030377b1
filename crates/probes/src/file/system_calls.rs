//! The cheapest system calls on files.

use crate::repeated::{PLAIN, Repeated};
use meter::probe::{Effort, Make, Probe, Work};
use std::ffi::CStr;
use std::fs::OpenOptions;
use sys::system_calls::{open_close, read_byte, stat, write_byte};

/// What LMbench looks up when no file is named, and then files that stand on
/// machines without a C compiler's headers.
const PATHS: [&CStr; 3] = [c"/usr/include/linux/types.h", c"/etc/passwd", c"/etc/hosts"];

const PATH: &str = "The path is /usr/include/linux/types.h where that is, as in LMbench when no file is named, and otherwise the first of /etc/passwd and /etc/hosts; the row's note says which, since each directory on the way costs. LMbench's own script names another file, empty and in a directory for temporary files.";

pub(crate) fn probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "stat of a path".into(),
            operation: "One stat() of the C library of a file by its path, all of which the kernel has in memory.".into(),
            method: format!("{PLAIN} {PATH}").into(),
            source: "LMbench's lat_syscall stat.".into(),
            make: Box::new(|_, _| on_path("stat()", |path| stat(path).map(drop))),
            ..probe("file.stat")
        },
        Probe {
            title: "open and close of a path".into(),
            operation: "One open() of the C library of a file by its path for reading, all of which the kernel has in memory, and its close().".into(),
            method: format!("{PLAIN} {PATH}").into(),
            source: "LMbench's lat_syscall open.".into(),
            make: Box::new(|_, _| on_path("open()", open_close)),
            ..probe("file.open")
        },
        Probe {
            title: "read of one byte, as a system call".into(),
            operation: "One read() of the C library of one byte from /dev/zero, which is open.".into(),
            method: PLAIN.into(),
            source: "LMbench's lat_syscall read.".into(),
            make: on_device("/dev/zero", false),
            ..probe("file.read_syscall")
        },
        Probe {
            title: "write of one byte, as a system call".into(),
            operation: "One write() of the C library of one byte to /dev/null, which is open.".into(),
            method: PLAIN.into(),
            source: "LMbench's lat_syscall write.".into(),
            make: on_device("/dev/null", true),
            ..probe("file.write_syscall")
        },
    ]
}

fn probe(id: &'static str) -> Probe {
    Probe {
        effort: Effort {
            visits: 8,
            ..Effort::SCALAR
        },
        ..Probe::blank(id)
    }
}

fn on_path<'w>(
    name: &'static str,
    call: impl Fn(&CStr) -> std::io::Result<()> + 'w,
) -> Result<Box<dyn Work + 'w>, String> {
    let path = PATHS
        .into_iter()
        .find(|path| stat(path).is_ok())
        .ok_or_else(|| format!("none of the files to look up is here: {PATHS:?}"))?;
    let work = Repeated::new(name, move || call(path))?;
    Ok(Box::new(
        work.with_note(format!("path: {}", path.to_string_lossy())),
    ))
}

fn on_device(device: &'static str, write: bool) -> Make {
    Box::new(move |_, _| {
        let open = OpenOptions::new().read(!write).write(write).open(device);
        let file = open.map_err(|e| format!("{device} can't be opened: {e}"))?;
        if write {
            Repeated::boxed("write()", move || write_byte(&file, 0))
        } else {
            Repeated::boxed("read()", move || read_byte(&file).map(drop))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_calls_are_made() {
        for row in ["stat", "open", "read_syscall", "write_syscall"] {
            let notes = crate::smoke::run(&probes(), &format!("file.{row}")).expect("it runs");
            let with_path = ["stat", "open"].contains(&row);
            assert_eq!(notes.len(), usize::from(with_path), "{notes:?}");
            assert!(notes.iter().all(|note| note.starts_with("path: /")));
        }
    }

    #[test]
    fn a_call_that_is_refused_is_said() {
        let work = on_path("it", |_| Err(std::io::ErrorKind::PermissionDenied.into()));
        assert!(work.is_err_and(|e| e.contains("it failed: permission denied")));
    }
}
