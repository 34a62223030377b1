use super::*;
use crate::scratch::scratch_in;
use std::os::unix::fs::{PermissionsExt, symlink};
use sys::trust::Why;
use tempfile::TempDir;

const DEAD: &str = "run-6f4f9f1e-5a0b-4c7d-9a51-0d3c1a2b3c4d";

fn scratch_place() -> (TempDir, ScratchDir) {
    let dir = tempfile::tempdir().expect("a directory");
    let place = scratch_in(dir.path()).expect("usable");
    (dir, place)
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .map(|entries| {
            entries
                .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into())
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    names
}

/// A killed run's directory, with or without its lock.
fn leave(place: &ScratchDir, name: &str, lock: bool) -> PathBuf {
    let common = common_in(place);
    let path = common.join(name);
    make_directories(&path, &mut Vec::new()).expect("made");
    std::fs::create_dir(path.join("deep")).expect("made");
    std::fs::write(path.join("deep/file"), "x").expect("written");
    if lock {
        std::fs::write(common.join(format!("{name}.lock")), "").expect("written");
    }
    path
}

#[test]
fn a_scratch_directory_is_ours_alone_and_leaves_nothing() {
    let (dir, place) = scratch_place();
    let scratch = Scratch::make(&place).expect("made");
    let found = scratch.path().symlink_metadata().expect("there");
    assert_eq!(found.mode() & 0o777, 0o700);
    assert!(found.is_dir() && scratch.path().starts_with(common_in(&place)));
    std::fs::create_dir(scratch.path().join("sub")).expect("made");
    std::fs::write(scratch.path().join("sub/file"), "x").expect("written");
    scratch.remove().expect("removed");
    assert_eq!(names(dir.path()), [""; 0]);
    // Dropped without a word, as by a panic.
    let end = std::panic::catch_unwind(|| {
        let scratch = Scratch::make(&place).expect("made");
        std::fs::write(scratch.path().join("file"), "x").expect("written");
        panic!("on purpose");
    });
    assert!(end.is_err());
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn directories_above_go_only_if_we_made_them() {
    let (dir, mut place) = scratch_place();
    std::fs::create_dir(dir.path().join("cache")).expect("made");
    place.directory = dir.path().join("cache/latlas");
    let first = Scratch::make(&place).expect("made");
    let second = Scratch::make(&place).expect("made");
    drop(second);
    assert_eq!(names(&place.directory).len(), 1, "the first is there");
    drop(first);
    assert_eq!(names(dir.path()), ["cache"]);
    std::fs::create_dir(&place.directory).expect("made");
    drop(Scratch::make(&place).expect("made"));
    assert_eq!(names(&dir.path().join("cache")), ["latlas"]);
}

#[test]
fn what_killed_runs_left_goes_and_what_lives_stays() {
    let (_dir, place) = scratch_place();
    let living = Scratch::make(&place).expect("made");
    std::fs::write(living.path().join("file"), "x").expect("written");
    let with_lock = leave(&place, DEAD, true);
    let without = leave(&place, &DEAD.replace("6f4f", "0000"), false);
    let lock_only = common_in(&place).join(format!("{}.lock", DEAD.replace("6f4f", "1111")));
    std::fs::write(&lock_only, "").expect("written");
    let next = Scratch::make(&place).expect("made");
    assert!(!with_lock.exists() && !without.exists() && !lock_only.exists());
    assert!(living.path().join("file").exists(), "it is locked");
    drop(living);
    assert!(next.path().exists());
    assert_eq!(names(&common_in(&place)).len(), 2);
}

#[test]
fn each_user_has_a_directory_of_runs() {
    let (dir, place) = scratch_place();
    let user = sys::filesystem::user();
    // Another's is there, and doesn't let us in.
    let other = dir.path().join(format!("latlas-scratch-{}", user + 1));
    std::fs::create_dir(&other).expect("made");
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o777)).expect("set");
    std::fs::create_dir(other.join(DEAD)).expect("made");
    let scratch = Scratch::make(&place).expect("a new directory");
    let ours = dir.path().join(format!("latlas-scratch-{user}"));
    assert_eq!(scratch.path().parent(), Some(ours.as_path()));
    drop(scratch);
    assert!(other.join(DEAD).exists() && !ours.exists());
}

#[test]
fn a_lock_says_where_its_run_lives() {
    let (_dir, place) = scratch_place();
    let scratch = Scratch::make(&place).expect("made");
    let written = std::fs::read_to_string(&scratch.lock_path).expect("there");
    assert_eq!(written, sys::machine::this_boot().unwrap_or_default());
}

#[test]
fn what_other_hosts_may_be_using_stays() {
    let Some(here) = sys::machine::this_boot() else {
        eprintln!("SKIPPED: this system does not tell one boot from another");
        return;
    };
    let (_dir, mut place) = scratch_place();
    place.filesystem.device = DeviceKind::Network;
    let left = |digits: &str, boot: Option<&str>| {
        let name = DEAD.replace("6f4f", digits);
        let path = leave(&place, &name, false);
        if let Some(boot) = boot {
            std::fs::write(path.with_extension("lock"), boot).expect("written");
        }
        path
    };
    let ours = left("0000", Some(&here));
    let others = [left("1111", Some("another")), left("2222", Some("")), left("3333", None)];
    let next = Scratch::make(&place).expect("made");
    sweep(&place);
    assert!(!ours.exists(), "of a run on this host");
    assert!(others.iter().all(|path| path.exists()), "{others:?}");
    drop(next);
    // A disk is this host's alone.
    place.filesystem.device = DeviceKind::Nvme;
    sweep(&place);
    assert!(!common_in(&place).exists());
}

#[test]
fn names_that_no_run_makes_stay() {
    let (_dir, place) = scratch_place();
    let strange = [
        "run-",
        "run-mine",
        "run-6F4F9F1E-5A0B-4C7D-9A51-0D3C1A2B3C4D",
        "run-6f4f9f1e5a0b4c7d9a510d3c1a2b3c4d",
        // Version 1.
        "run-6f4f9f1e-5a0b-1c7d-9a51-0d3c1a2b3c4d",
        "xrun-6f4f9f1e-5a0b-4c7d-9a51-0d3c1a2b3c4d",
        "run-6f4f9f1e-5a0b-4c7d-9a51-0d3c1a2b3c4d.lock.lock",
    ];
    for name in strange {
        leave(&place, name, false);
    }
    let plain = common_in(&place).join(DEAD);
    std::fs::write(&plain, "a file, no directory").expect("written");
    drop(Scratch::make(&place).expect("made"));
    sweep(&place);
    assert_eq!(names(&common_in(&place)).len(), strange.len() + 1);
    assert!(plain.exists());
}

#[test]
fn links_are_not_followed() {
    let (dir, place) = scratch_place();
    let treasure = dir.path().join("treasure");
    std::fs::create_dir(&treasure).expect("made");
    std::fs::write(treasure.join("gold"), "x").expect("written");
    // In a leftover, in the place of one, and in the place of its lock.
    let path = leave(&place, DEAD, true);
    symlink(&treasure, path.join("link")).expect("a link");
    let common = common_in(&place);
    let link = common.join(DEAD.replace("6f4f", "0000"));
    symlink(&treasure, &link).expect("a link");
    let with_linked_lock = leave(&place, &DEAD.replace("6f4f", "1111"), false);
    let lock = common.join(DEAD.replace("6f4f", "1111") + ".lock");
    symlink(treasure.join("gold"), &lock).expect("a link");
    drop(Scratch::make(&place).expect("made"));
    assert!(treasure.join("gold").exists());
    assert!(!path.exists());
    assert!(link.is_symlink(), "not ours to remove");
    assert!(with_linked_lock.exists(), "its lock is not known");
}

#[test]
fn a_common_directory_that_is_not_safe_is_refused() {
    let (dir, place) = scratch_place();
    let common = common_in(&place);
    let elsewhere = dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("made");
    let left = leave(&scratch_in(&elsewhere).expect("usable"), DEAD, true);
    symlink(left.parent().expect("a parent"), &common).expect("a link");
    let why_not = || match Scratch::make(&place).expect_err("unsafe") {
        ScratchError::NotMade { why, .. } => why,
        other => panic!("{other}"),
    };
    assert_eq!(why_not(), Unusable::Occupied(common.clone()));
    sweep(&place);
    assert!(left.exists(), "not followed");
    std::fs::remove_file(&common).expect("removed");
    std::fs::create_dir(&common).expect("made");
    std::fs::set_permissions(&common, PermissionsExt::from_mode(0o777)).expect("set");
    let distrusted = |why| {
        let path = common.clone();
        Unusable::Distrusted(Distrust { path, why }.to_string())
    };
    assert_eq!(why_not(), distrusted(Why::Writable));
    // Only root can give a directory away.
    if is_ours(&std::fs::metadata("/").expect("there")) {
        std::fs::set_permissions(&common, PermissionsExt::from_mode(0o700)).expect("set");
        std::os::unix::fs::chown(&common, Some(12345), None).expect("root may");
        assert_eq!(why_not(), distrusted(Why::Owner(12345)));
    }
}

#[test]
fn many_runs_at_once_have_a_directory_each() {
    let (dir, place) = scratch_place();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let scratch = Scratch::make(&place).expect("made");
                    let file = scratch.path().join("file");
                    std::fs::write(&file, "x").expect("its own directory");
                    std::thread::yield_now();
                    assert!(file.exists(), "no other process removes it");
                }
            });
        }
    });
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_removed_lock_is_not_taken() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("lock");
    let lock = File::create(&path).expect("made");
    let sweeper = File::open(&path).expect("there");
    assert!(take_lock(&sweeper).expect("lockable"));
    assert!(!take_lock(&lock).expect("asked"), "it is being swept");
    std::fs::remove_file(&path).expect("removed");
    drop(sweeper);
    assert!(!take_lock(&lock).expect("asked"), "it was swept");
}

#[test]
fn a_directory_that_vanished_is_removed_already() {
    let (_dir, place) = scratch_place();
    let scratch = Scratch::make(&place).expect("made");
    std::fs::remove_dir_all(common_in(&place)).expect("removed");
    scratch.remove().expect("nothing is left");
}

#[test]
fn a_directory_that_cant_be_used_is_said_in_a_line() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("file"), "").expect("written");
    for (path, why) in [
        (dir.path().join("missing"), "no such directory"),
        (dir.path().join("file"), "it is not a directory"),
        ("/proc".into(), ""),
    ] {
        let error = match scratch_in(&path) {
            Err(error) => error,
            // Of /proc one finds out when one tries.
            Ok(place) => Scratch::make(&place).expect_err("no files there"),
        };
        let error = error.to_string();
        assert!(error.contains(why) && error.contains("--dir"), "{error}");
        assert!(!error.contains('\n') && error.contains(path.to_str().expect("UTF-8")), "{error}");
    }
}
