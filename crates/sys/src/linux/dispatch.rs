//! libdispatch as a library, which Swift brings along.

use libloading::Library;
use std::path::{Path, PathBuf};

/// Nothing is linked.
pub(crate) fn linked() -> Option<Library> {
    None
}

/// Where toolchains and distributions put it, after what the dynamic linker
/// finds by itself (LD_LIBRARY_PATH, ld.so.conf).
pub(crate) fn places() -> Vec<PathBuf> {
    const NAME: &str = "libdispatch.so";
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
    let files = roots.into_iter().map(|root| root.join("linux").join(NAME));
    // Debian had one of its own, with a version.
    let named = [NAME, "libdispatch.so.0"].map(PathBuf::from);
    named.into_iter().chain(files).collect()
}

/// Folders of versions and their libraries, such as `6.0/lib/swift`, in order.
fn swift_below(folder: &Path) -> Vec<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linkers_own_way_comes_first() {
        let places = places();
        assert_eq!(places[0], Path::new("libdispatch.so"));
        assert!(places.contains(&"/usr/lib/swift/linux/libdispatch.so".into()));
        assert!(places[2..].iter().all(|place| place.is_absolute()));
    }

    #[test]
    fn versions_are_found_and_nothing_else() {
        let home = tempfile::tempdir().expect("a directory");
        for folder in ["6.0/lib/swift", "swift-5.9/lib/swift", "lib/swift", "7/lib"] {
            std::fs::create_dir_all(home.path().join(folder)).expect("made");
        }
        let found = swift_below(home.path());
        let wanted = ["6.0/lib/swift", "swift-5.9/lib/swift"].map(|path| home.path().join(path));
        assert_eq!(found, wanted);
        assert!(swift_below(&home.path().join("none")).is_empty());
    }
}
