//! Where libdispatch may be, and loading it.

use super::Wrong;
use libloading::Library;
use std::error::Error;
use std::path::Path;
#[cfg(not(target_vendor = "apple"))]
use std::path::PathBuf;

#[cfg(not(target_vendor = "apple"))]
/// Where toolchains and distributions put it: what the dynamic linker finds by
/// its name, then the directories that it searches (one that is there and can't
/// be loaded says why only by its path), then those of Swift.
pub(super) fn library_paths(library_path: Option<&std::ffi::OsStr>) -> Vec<PathBuf> {
    // Debian had one of its own, with a version.
    const NAMES: [&str; 2] = ["libdispatch.so", "libdispatch.so.0"];
    const SEARCHED: [&str; 6] = [
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ];
    let given = library_path.map(std::env::split_paths);
    let given = given.into_iter().flatten().filter(|path| path.is_absolute());
    let searched = given.chain(SEARCHED.map(PathBuf::from));
    let named = NAMES.map(PathBuf::from).into_iter();
    let named = named.chain(searched.flat_map(|folder| NAMES.map(|name| folder.join(name))));
    let mut roots: Vec<PathBuf> = [
        "/usr/lib/swift",
        "/usr/libexec/swift/lib/swift",
        "/opt/swift/usr/lib/swift",
        "/usr/local/lib/swift",
    ]
    .map(PathBuf::from)
    .into();
    // Distributions keep several versions apart.
    for several in ["/usr/libexec/swift", "/usr/lib"] {
        roots.extend(swift_below(Path::new(several)));
    }
    let files = roots.into_iter().map(|root| root.join("linux").join(NAMES[0]));
    named.chain(files).collect()
}

#[cfg(not(target_vendor = "apple"))]
/// Folders of versions and their libraries, such as `6.0/lib/swift`, in order.
pub(super) fn swift_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("swift") || name.starts_with(|c: char| c.is_ascii_digit())
        })
        .map(|entry| entry.path().join("lib/swift"))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

/// The library at a place; `Err(None)` if there is nothing. A name that the
/// dynamic linker can't load counts as nothing: [`library_paths`] has the paths too.
pub(super) fn open_library(place: &Path) -> Result<Library, Option<Wrong>> {
    if place.is_absolute() && !place.exists() {
        return Err(None);
    }
    // SAFETY: the library's constructors run, which is what loading it means;
    // only names of libdispatch are asked for.
    unsafe { Library::new(place) }.map_err(|e| {
        place.is_absolute().then(|| Wrong::NotLoaded {
            place: place.to_owned(),
            why: e.source().map_or(e.to_string(), ToString::to_string),
        })
    })
}
