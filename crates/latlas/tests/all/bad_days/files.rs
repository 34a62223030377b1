//! Rows of files: however a run ends, nothing of its own stays, and nothing of others is
//! touched.

use super::{row_text, started};
use crate::support::processes::{kill, signal, signalled, wait_for, wait_until};
use crate::support::{Done, Home, entries, has, lacks, skip};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Few files, of all sizes; and time for a visit to each on a busy machine too.
pub(super) const QUICK: &str =
    "run file.read_open file.open_close --quick --budget=4s --seed=7 --out=run.json";
const LONG: &str = "run file.* --budget=120s --seed=7 --out=run.json --dir=files";

/// `QUICK` in the directory `files`.
pub(super) fn quick() -> String {
    format!("{QUICK} --dir=files")
}

pub(super) fn with_files() -> (Home, PathBuf) {
    let home = Home::new();
    let files = home.path("files");
    std::fs::create_dir(&files).expect("a directory");
    (home, files)
}

/// What holds the directories of all runs of this user.
fn common() -> String {
    format!("latlas-scratch-{}", sys::filesystem::user())
}

/// All below a directory, which another process may be removing.
fn names(directory: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    for path in entries(directory) {
        if path.is_dir() && !path.is_symlink() {
            names.extend(self::names(&path));
        }
        names.push(path);
    }
    names
}

#[test]
fn a_run_leaves_nothing_and_names_the_file_system() {
    let (home, files) = with_files();
    home.write("files/mine", "x");
    let done = home.run(quick()).measured();
    has(&done.out, ["files on "]);
    assert_eq!(names(&files), [files.join("mine")]);
    let run = home.run_json();
    let on = run.files_on.as_ref().expect("rows of files ran");
    assert_eq!(Path::new(&on.directory), files.as_path());
    assert!(!on.kind.is_empty() && !on.mount_options.is_empty(), "{on:?}");
    for id in ["file.read_open", "file.open_close"] {
        has(&row_text(&run, id), [&format!("file system: {}", on.one_line()), "page cache"]);
    }
    // Published figures are compared with points of the curve.
    for id in ["file.read_open/1KiB", "file.read_open/1MiB"] {
        assert!(run.row(id).is_some_and(|row| row.estimate().is_some()));
    }
}

#[test]
fn a_run_without_files_makes_no_directory() {
    let (home, files) = with_files();
    let line = "run cpu.add_i32 --budget=1s --dir=files --out=run.json";
    home.run(line).measured();
    assert!(names(&files).is_empty());
    assert_eq!(home.run_json().files_on, None);
    // It removes what a killed run left; a dry run removes nothing.
    let stale = files.join(common()).join("run-6f4f9f1e-5a0b-4c7d-9a51-0d3c1a2b3c4d");
    std::fs::create_dir_all(&stale).expect("made");
    let dry = "run file.* --dry-run --dir=files";
    home.run(dry).ok();
    assert!(stale.exists());
    home.run(line).measured();
    assert!(names(&files).is_empty());
    home.run(dry).ok();
    assert!(names(&files).is_empty());
}

#[test]
fn ctrl_c_and_killed_workers_leave_no_file() {
    for name in ["INT", "TERM", "KILL"] {
        let (home, files) = with_files();
        let (child, workers) = started(&home, LONG);
        let scratch = |path: &PathBuf| path.is_dir() && path.to_string_lossy().contains("/run-");
        assert!(names(&files).iter().any(scratch));
        match name {
            "KILL" => workers.iter().for_each(|&worker| {
                signalled(worker, name);
            }),
            _ => signal(child.id(), name),
        }
        Done::after(child).ended_with(3);
        assert_eq!(names(&files), [""; 0].map(PathBuf::from));
        home.run_json();
    }
}

#[test]
fn two_runs_at_once_leave_each_other_alone() {
    let (home, files) = with_files();
    let start = |out: &str| home.start(quick().replace("run.json", out));
    for (child, out) in ["1.json", "2.json"].map(|out| (start(out), out)) {
        Done::after(child).measured();
        let text = row_text(&home.document_at(out), "file.read_open");
        lacks(&text, ["not available", "batches failed"]);
    }
    assert!(names(&files).is_empty());
}

/// A shorter run of everything that makes files.
const ALL: &str = "run file.* disk.* --quick --budget=4s --seed=7 --out=run.json --dir=files";

/// How long a run takes here until its files are there; it is killed then.
fn until_files(home: &Home, files: &Path) -> Duration {
    let began = Instant::now();
    let child = home.start(ALL);
    wait_until("files", || names(files).len() > 3);
    let took = began.elapsed();
    kill(child);
    took
}

/// What is in `files` when a run is killed this long after its start.
fn killed_after(home: &Home, files: &Path, time: Duration) -> Vec<PathBuf> {
    let child = home.start(ALL);
    std::thread::sleep(time);
    let names = names(files);
    kill(child);
    names
}

/// The directory of the run that makes one next.
fn new_scratch(files: &Path, before: &[PathBuf]) -> PathBuf {
    wait_for("its directory", || {
        let new = |path: &PathBuf| path.parent() == Some(&files.join(common())) && path.is_dir();
        let mut there = names(files).into_iter();
        there.find(|path| new(path) && !before.contains(path))
    })
}

/// Kills a run that is just removing its directory; whether it was caught at it: a busy
/// machine may be late.
fn killed_while_it_removes(home: &Home, files: &Path) -> bool {
    let before = names(files);
    let mut child = home.start(LONG);
    let scratch = new_scratch(files, &before);
    // Enough to be caught at.
    let many = scratch.join("many");
    std::fs::create_dir(&many).expect("made");
    for k in 0..20_000 {
        if std::fs::write(many.join(k.to_string()), "").is_err() {
            kill(child);
            return false;
        }
    }
    signal(child.id(), "INT");
    let until = Instant::now() + Duration::from_secs(180);
    while std::fs::read_dir(&many).map_or(0, Iterator::count) == 20_000 {
        assert!(Instant::now() < until, "it removes nothing");
    }
    child.kill().expect("SIGKILL");
    // Killed, and not at its end.
    let killed = Done::after(child).code == -1;
    killed && many.exists() && scratch.with_extension("lock").exists()
}

#[test]
fn killed_runs_leave_nothing_to_the_next_but_one() {
    let (home, files) = with_files();
    home.write(&format!("files/{}/run-of-another-program/file", common()), "x");
    let beginning = until_files(&home, &files);
    // Spread over a run's beginning, unevenly; then over the rest of it.
    let early = (0_u32..8).map(|k| k * k * 7919 % 1201);
    let early = early.filter(|part| killed_after(&home, &files, beginning * *part / 300).len() > 3);
    assert!(early.count() > 0, "none of 8 was killed with its files there");
    for ms in [1_700, 3_100] {
        let before = names(&files);
        let child = home.start(ALL);
        new_scratch(&files, &before);
        std::thread::sleep(Duration::from_millis(ms));
        kill(child);
    }
    // A busy machine is late most times.
    let caught = (0..40).any(|_| killed_while_it_removes(&home, &files));
    assert!(caught, "never caught at removing");
    home.run(quick()).measured();
    lacks(&row_text(&home.run_json(), "file.read_open"), ["batches failed"]);
    // A killed run's worker may have been in the middle of a file.
    wait_until("the last run's directory", || {
        let mut kept = names(&files);
        kept.retain(|path| !path.ends_with(common()));
        let foreign = |path: &PathBuf| path.to_string_lossy().contains("run-of-another-program");
        kept.len() == 2 && kept.iter().all(foreign)
    });
}

#[test]
fn a_directory_that_vanishes_is_a_reason_and_the_run_is_kept() {
    let (home, files) = with_files();
    // Long enough for the workers to start on a busy machine too.
    let (child, _) = started(&home, &LONG.replace("120s", "20s"));
    // A worker may be making a file just then.
    wait_until("its end", || {
        let _ = std::fs::remove_dir_all(&files);
        !files.exists()
    });
    Done::after(child).measured();
    let run = home.run_json();
    has(&row_text(&run, "file.read_with_open"), ["the scratch directory is gone"]);
    assert_eq!(run.partial, None);
    assert!(!files.exists());
}

#[test]
fn a_named_directory_that_cant_be_used_is_refused_before_measuring() {
    let (home, files) = with_files();
    home.write("file", "");
    for (dir, why) in [("missing", "no such directory"), ("file", "not a directory")] {
        let done = home.run(format!("run file.open_close --dir {dir}"));
        done.refused(why);
        has(&done.err, [dir]);
    }
    // A link where our own directory should be.
    std::os::unix::fs::symlink(home.path(""), files.join(common())).expect("a link");
    home.run(quick()).refused("is not a directory");
    assert!(!home.path("run.json").exists());
}

#[test]
fn a_default_directory_that_cant_be_made_is_the_rows_reason() {
    let home = Home::new();
    let cache = home.path("cache");
    std::fs::create_dir_all(cache.join("latlas")).expect("made");
    let memory = model::filesystem::DeviceKind::Memory;
    if sys::filesystem::filesystem_facts(&cache).is_ok_and(|on| on.device == memory) {
        return skip("temporary files are in memory here, so /var/tmp is the default");
    }
    let link = cache.join("latlas").join(common());
    std::os::unix::fs::symlink(home.path(""), &link).expect("a link");
    Done::from_command(home.command(QUICK).env("XDG_CACHE_HOME", &cache)).ended_with(3);
    let run = home.run_json();
    assert_eq!((&run.files_on, &run.partial), (&None, &None));
    for id in ["file.read_open", "file.open_close"] {
        has(super::reason(&run, id).expect("unavailable"), ["is not a directory; name another"]);
    }
    assert!(link.is_symlink());
}
