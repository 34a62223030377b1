//! Programs of latlas that are installed separately, such as `latlas-fleet`: found next to the running program, then
//! on PATH; and libraries, found next to it or in `../lib/latlas`.

use crate::filesystem::user;
use crate::trust;
use crate::trust::judge::{Distrust, Why, distrust, is_writable_by_others, judge_owner};
use rustix::fs::{Access, access, lstat, stat};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Why a program can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// No executable file has the name.
    #[error("no program {0} next to latlas or on PATH")]
    Missing(String),
    /// Another user could have put it there or could change it, and this process is root.
    #[error("root does not run {}: {distrust}", program.display())]
    Untrusted {
        /// The first one found.
        program: PathBuf,
        /// What is wrong with it or with a directory on its path.
        distrust: Distrust,
    },
}

/// The program of this name: in the directory of the running program, else on PATH. Relative directories of PATH are
/// skipped. As root, only a program that no other user can change is used; next to the running program also one of
/// the running program's owner, who could change that as well.
///
/// # Errors
/// [`NotFound`].
pub fn find(name: &str) -> Result<PathBuf, NotFound> {
    let own = std::env::current_exe().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(name, own.as_deref(), &path, user() == 0)
}

/// The library of this name, for other programs to load: in the directory of the running program, else in
/// `../lib/latlas` from there. As root, only one that no other user can change, as in [`find`].
///
/// # Errors
/// [`NotFound`].
pub fn find_library(name: &str) -> Result<PathBuf, NotFound> {
    let own = std::env::current_exe().ok();
    let parent = own.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let installed = parent.parent().map(|prefix| prefix.join("lib/latlas"));
    let directories = [Some(parent.to_owned()), installed].into_iter().flatten();
    let candidates = directories.map(|directory| (directory.join(name), own.as_deref()));
    first_trusted(name, candidates.filter(|(library, _)| library.is_file()), user() == 0)
}

/// The directories in which [`find`] looks, in that order.
pub fn directories() -> Vec<PathBuf> {
    let own = std::env::current_exe().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    searched(own.as_deref(), &path).map(|(directory, _)| directory).collect()
}

/// The directory of the running program, with that program, and the absolute ones of PATH.
fn searched<'a>(
    own: Option<&'a Path>,
    path: &'a OsStr,
) -> impl Iterator<Item = (PathBuf, Option<&'a Path>)> {
    let beside = own.and_then(|own| Some((own.parent()?.to_owned(), Some(own))));
    let on_path = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    beside.into_iter().chain(on_path.map(|directory| (directory, None)))
}

fn find_in(
    name: &str,
    own: Option<&Path>,
    path: &OsStr,
    is_root: bool,
) -> Result<PathBuf, NotFound> {
    let candidates = searched(own, path).map(|(directory, own)| (directory.join(name), own));
    first_trusted(name, candidates.filter(|(program, _)| is_executable(program)), is_root)
}

/// The first file, each with the running program where its owner may own it, that this user may use.
fn first_trusted<'a>(
    name: &str,
    candidates: impl Iterator<Item = (PathBuf, Option<&'a Path>)>,
    is_root: bool,
) -> Result<PathBuf, NotFound> {
    let mut refused = None;
    for (program, own) in candidates {
        let checked = match own {
            _ if !is_root => Ok(()),
            Some(own) => check_owner(&program, own),
            None => check_on_path(&program),
        };
        match checked.map_err(io::Error::downcast::<Distrust>) {
            Ok(()) => return Ok(program),
            Err(Ok(distrust)) => {
                refused.get_or_insert(NotFound::Untrusted { program, distrust });
            }
            // It is gone, or can't be looked at.
            Err(Err(_)) => {}
        }
    }
    Err(refused.unwrap_or_else(|| NotFound::Missing(name.to_owned())))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// Checks that no other user can change a program, nor add one to its directory, as to /tmp.
fn check_on_path(program: &Path) -> io::Result<()> {
    trust::check_path(program)?;
    let directory = program.parent().unwrap_or(program);
    Ok(judge_owner(&stat(directory)?).map_err(|why| distrust(directory, why))?)
}

/// Checks that a program and a link that leads to it belong to the owner of the running program, and that others
/// can't write it.
fn check_owner(program: &Path, own: &Path) -> io::Result<()> {
    let owner = stat(own)?.st_uid;
    for found in [lstat(program)?, stat(program)?] {
        if found.st_uid != owner {
            return trust::check_path(program);
        }
    }
    match is_writable_by_others(&stat(program)?) {
        true => Err(distrust(program, Why::Writable).into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    const NAME: &str = "latlas-store-test";

    fn change_mode(path: &Path, mode: u32) {
        set_permissions(path, Permissions::from_mode(mode)).expect("mode");
    }

    /// A directory with this program in it.
    fn directory(parent: &Path, name: &str, program: &str) -> PathBuf {
        let directory = parent.join(name);
        create_dir(&directory).expect("a directory");
        change_mode(&directory, 0o755);
        write(directory.join(program), "").expect("a file");
        change_mode(&directory.join(program), 0o755);
        directory
    }

    fn joined(directories: &[&Path]) -> std::ffi::OsString {
        std::env::join_paths(directories).expect("no colons")
    }

    /// A directory whose way is root's alone, for tests as root.
    fn place() -> tempfile::TempDir {
        let own = std::env::current_exe().expect("named");
        tempfile::tempdir_in(own.parent().expect("a directory")).expect("tempdir")
    }

    #[test]
    fn the_one_next_to_the_program_precedes_those_on_path() {
        let place = place();
        let own = directory(place.path(), "own", "latlas");
        let first = directory(place.path(), "first", NAME);
        let second = directory(place.path(), "second", NAME);
        let path = joined(&[Path::new("relative"), Path::new(""), &first, &second]);
        let find = |path: &OsStr| find_in(NAME, Some(&own.join("latlas")), path, false);
        assert_eq!(find(&path), Ok(first.join(NAME)));
        // What can't be executed is passed over, and a directory of the name.
        change_mode(&first.join(NAME), 0o644);
        create_dir(own.join(NAME)).expect("a directory");
        assert_eq!(find(&path), Ok(second.join(NAME)));
        std::fs::remove_dir(own.join(NAME)).expect("removed");
        symlink(second.join(NAME), own.join(NAME)).expect("a link");
        assert_eq!(find(&path), Ok(own.join(NAME)));
        std::fs::remove_file(own.join(NAME)).expect("removed");
        let error = find(OsStr::new("")).expect_err("nowhere").to_string();
        assert_eq!(error, "no program latlas-store-test next to latlas or on PATH");
    }

    #[test]
    fn root_passes_over_what_others_could_have_put_there() {
        let place = place();
        if trust::check_path(place.path()).is_err() {
            println!("SKIPPED: {} can be changed by other users", place.path().display());
            return;
        }
        let open = directory(place.path(), "open", NAME);
        let closed = directory(place.path(), "closed", NAME);
        for mode in [0o777, 0o1777] {
            change_mode(&open, mode);
            let as_root = |path: &OsStr| find_in(NAME, None, path, true);
            assert_eq!(as_root(&joined(&[&open, &closed])), Ok(closed.join(NAME)));
            let error = as_root(&joined(&[&open])).expect_err("open").to_string();
            let wanted = format!(
                "root does not run {}: {} is writable by other users (chmod go-w)",
                open.join(NAME).display(),
                open.display()
            );
            assert_eq!(error, wanted);
            // Any other user takes what a shell would take.
            assert_eq!(find_in(NAME, None, &joined(&[&open]), false), Ok(open.join(NAME)));
        }
    }

    #[test]
    fn root_takes_a_neighbour_only_of_the_programs_owner() {
        let place = place();
        let dir = directory(place.path(), "dir", "latlas");
        let (own, neighbour) = (dir.join("latlas"), dir.join(NAME));
        write(&neighbour, "").expect("a file");
        change_mode(&neighbour, 0o775);
        let as_root = || find_in(NAME, Some(&own), OsStr::new(""), true);
        change_mode(&neighbour, 0o777);
        let error = as_root().expect_err("anybody's").to_string();
        assert!(error.ends_with("is writable by other users (chmod go-w)"), "{error}");
        change_mode(&neighbour, 0o755);
        assert_eq!(as_root(), Ok(neighbour.clone()));
        if user() != 0 {
            println!("SKIPPED: files of other users need root");
            return;
        }
        // A developer's build: both are of one user.
        chown(&own, Some(1234), None).expect("root may");
        chown(&neighbour, Some(1234), None).expect("root may");
        assert_eq!(as_root(), Ok(neighbour.clone()));
        // Somebody else's, as in /tmp.
        chown(&neighbour, Some(1235), None).expect("root may");
        let error = as_root().expect_err("a stranger's").to_string();
        assert!(error.contains("owned by user 1235"), "{error}");
        // Nor a link of a stranger to what is the owner's.
        let target = dir.join("target");
        std::fs::rename(&neighbour, &target).expect("moved");
        chown(&target, Some(1234), None).expect("root may");
        symlink(&target, &neighbour).expect("a link");
        std::os::unix::fs::lchown(&neighbour, Some(1235), None).expect("root may");
        assert!(matches!(as_root(), Err(NotFound::Untrusted { .. })));
    }
}
