//! Calls of a command's allocator: a library that is loaded into it records them as signposts.

use super::no_heap;
use model::trace::{NotRecorded, Trace};
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, ReadCache};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// The loader's variable.
const PRELOAD: &str = "LD_PRELOAD";
/// That of the library with the smallest number of bytes to record.
const LEAST: &str = "LATLAS_MALLOC_LEAST";

/// Which calls of the allocator are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapRequest {
    /// The library that is loaded into the command. The loader takes no path with blanks or colons.
    pub library: PathBuf,
    /// Those about so many bytes or more.
    pub least_bytes: u64,
}

impl HeapRequest {
    /// Has the command, and what it starts, load the library before all others.
    pub(super) fn prepare(&self, command: &mut Command) {
        let mut libraries = OsString::from(&self.library);
        if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
            libraries.push(":");
            libraries.push(others);
        }
        command.env(PRELOAD, libraries).env(LEAST, self.least_bytes.to_string());
    }

    /// Says in the trace what was recorded, or why it was not.
    pub(super) fn conclude(&self, trace: &mut Trace, was_loaded: bool, program: &OsStr) {
        match was_loaded {
            true => trace.heap_least_bytes = Some(self.least_bytes),
            false => trace.gaps.push(no_heap(why_not_loaded(program))),
        }
    }
}

/// Why a program loaded no library.
fn why_not_loaded(program: &OsStr) -> NotRecorded {
    const SET_ID: u32 = 0o6000;
    let file = sys::command::find_program(program).and_then(|path| File::open(path).ok());
    let Some(file) = file else {
        return NotRecorded::NotLoaded;
    };
    let mode = file.metadata().map_or(0, |metadata| metadata.permissions().mode());
    if mode & SET_ID != 0 {
        return NotRecorded::OtherRights;
    }
    match has_loader(file) {
        Some(false) => NotRecorded::Static,
        _ => NotRecorded::NotLoaded,
    }
}

/// Whether a program is started by a loader; `None` if it is no such program.
fn has_loader(file: File) -> Option<bool> {
    let data = ReadCache::new(file);
    let header = FileHeader64::<Endianness>::parse(&data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, &data).ok()?;
    Some(segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;

    #[test]
    fn a_program_that_the_loader_leaves_alone_is_known_by_its_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str, bytes: &[u8], mode: u32| {
            let path = directory.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("set");
            why_not_loaded(path.as_os_str())
        };
        let own = std::fs::read(std::env::current_exe().expect("this test")).expect("read");
        assert_eq!(file("own", &own, 0o755), NotRecorded::NotLoaded, "it could have been");
        assert_eq!(file("user", &own, 0o4755), NotRecorded::OtherRights);
        assert_eq!(file("group", &own, 0o2755), NotRecorded::OtherRights);
        assert_eq!(file("script", b"#!/bin/sh\n", 0o755), NotRecorded::NotLoaded);
        // A header without a segment: nothing asks for a loader.
        let mut alone = own[..64].to_vec();
        alone[56..58].fill(0);
        assert_eq!(file("alone", &alone, 0o755), NotRecorded::Static);
        assert_eq!(why_not_loaded(OsStr::new("/nonexistent/program")), NotRecorded::NotLoaded);
    }

    #[test]
    fn what_was_loaded_before_is_loaded_too() {
        let request = HeapRequest { library: "/lib/x.so".into(), least_bytes: 4096 };
        let mut command = Command::new("true");
        request.prepare(&mut command);
        let set: Vec<_> =
            command.get_envs().map(|(name, value)| (name, value.unwrap_or_default())).collect();
        assert!(set.contains(&(OsStr::new(LEAST), OsStr::new("4096"))), "{set:?}");
        let preload = set.iter().find(|(name, _)| *name == PRELOAD).expect("the library").1;
        assert!(preload.to_string_lossy().starts_with("/lib/x.so"), "{preload:?}");
    }
}
