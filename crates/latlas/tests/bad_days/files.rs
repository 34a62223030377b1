//! Rows of files, on a bad day: a full, read-only or vanishing disk, and every
//! way in which a run may end. Nothing of ours stays, and nothing of others
//! is touched.

use super::*;
use std::path::PathBuf;

/// Few files, of all sizes; and time for a visit to each on a busy machine too.
const QUICK: [&str; 8] = [
    "run",
    "file.read_open",
    "file.open_close",
    "--quick",
    "--budget=6s",
    "--seed=7",
    "--out=run.json",
    "--dir=files",
];

const LONG: [&str; 6] = [
    "run",
    "file.*",
    "--budget=20s",
    "--seed=7",
    "--out=run.json",
    "--dir=files",
];

fn with_files() -> (TempDir, PathBuf) {
    let home = home();
    let files = home.path().join("files");
    std::fs::create_dir(&files).expect("a directory");
    (home, files)
}

/// What holds the directories of all of our runs.
fn common() -> String {
    format!("latlas-scratch-{}", sys::filesystem::user())
}

/// All below a directory.
fn names(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        // Another process may be removing it.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(names(&path));
        }
        found.push(path);
    }
    found
}

fn scratch_of(files: &Path) -> Option<PathBuf> {
    let mut runs = names(files).into_iter();
    runs.find(|path| path.is_dir() && path.to_string_lossy().contains("/run-"))
}

/// What a row's notes, reasons and verdicts say, all together.
fn words(run: &Run, id: &str) -> String {
    let row = run.row(id).unwrap_or_else(|| panic!("no row {id}"));
    serde_json::to_string(row).expect("JSON")
}

#[test]
fn a_run_leaves_nothing_and_says_what_it_ran_on() {
    let (home, files) = with_files();
    std::fs::write(files.join("mine"), "x").expect("written");
    let output = latlas(&home, &QUICK).output().expect("runs");
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(names(&files), [files.join("mine")]);
    let run = read(&home.path().join("run.json"));
    let on = run.files_on.as_ref().expect("rows of files ran");
    assert_eq!(Path::new(&on.directory), files.as_path());
    assert!(
        !on.kind.is_empty() && !on.mount_options.is_empty(),
        "{on:?}"
    );
    assert!(text(&output.stdout).contains("files on "));
    for id in ["file.read_open", "file.open_close"] {
        let said = words(&run, id);
        assert!(
            said.contains(&format!("file system: {}", on.text())),
            "{said}"
        );
        assert!(said.contains("page cache"), "{said}");
    }
    // Published figures stand beside points of the curve.
    for id in ["file.read_open/1KiB", "file.read_open/1MiB"] {
        assert!(run.row(id).is_some_and(|row| row.estimate().is_some()));
    }
}

#[test]
fn a_run_without_files_makes_no_directory() {
    let (home, files) = with_files();
    let arguments = [
        "run",
        "cpu.add_i32",
        "--budget=1s",
        "--dir=files",
        "--out=run.json",
    ];
    let output = latlas(&home, &arguments).output().expect("runs");
    assert!(matches!(output.status.code(), Some(0 | 3)));
    assert!(names(&files).is_empty());
    assert_eq!(read(&home.path().join("run.json")).files_on, None);
    let dry = ["run", "file.*", "--dry-run", "--dir=files"];
    // It tidies up after others all the same.
    let stale = files
        .join(common())
        .join("run-6f4f9f1e-5a0b-4c7d-9a51-0d3c1a2b3c4d");
    std::fs::create_dir_all(&stale).expect("made");
    assert!(latlas(&home, &dry).output().expect("runs").status.success());
    assert!(stale.exists(), "what is not run removes nothing");
    latlas(&home, &arguments).output().expect("runs");
    assert!(names(&files).is_empty());
    assert!(latlas(&home, &dry).output().expect("runs").status.success());
    assert!(names(&files).is_empty());
}

#[test]
fn ctrl_c_and_a_killed_worker_leave_no_file() {
    for name in ["INT", "TERM"] {
        let (home, files) = with_files();
        let (child, _) = started(&home, &LONG);
        assert!(scratch_of(&files).is_some());
        signal(child.id(), name);
        assert_eq!(finish(child).status.code(), Some(3));
        assert_eq!(names(&files), [""; 0].map(PathBuf::from));
        read(&home.path().join("run.json"));
    }
    let (home, files) = with_files();
    let (child, workers) = started(&home, &LONG);
    for worker in workers {
        signalled(worker, "KILL");
    }
    assert_eq!(finish(child).status.code(), Some(3));
    assert!(names(&files).is_empty(), "{:?}", names(&files));
}

#[test]
fn two_runs_at_once_leave_each_other_alone() {
    let (home, files) = with_files();
    let start = |out: &str| {
        let mut arguments = QUICK.to_vec();
        arguments[6] = out;
        latlas(&home, &arguments).spawn().expect("starts")
    };
    let both = ["--out=1.json", "--out=2.json"].map(start);
    for (child, file) in both.into_iter().zip(["1.json", "2.json"]) {
        let output = finish(child);
        let err = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
        let said = words(&read(&home.path().join(file)), "file.read_open");
        assert!(!said.contains("not available"), "{said}");
        assert!(!said.contains("visits failed"), "{said}");
    }
    assert!(names(&files).is_empty());
}

/// A shorter run of everything that makes files.
const ALL: [&str; 8] = [
    "run",
    "file.*",
    "disk.*",
    "--quick",
    "--budget=4s",
    "--seed=7",
    "--out=run.json",
    "--dir=files",
];

/// How long a run takes here until its files are about; it is killed then.
fn until_files(home: &TempDir, files: &Path) -> Duration {
    let began = Instant::now();
    let mut child = latlas(home, &ALL).spawn().expect("starts");
    wait_for("files", || (names(files).len() > 3).then_some(()));
    let took = began.elapsed();
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
    took
}

/// What is at work in `files` when a run is killed so long after its start;
/// whether it was over by then.
fn killed_after(home: &TempDir, files: &Path, time: Duration) -> (Vec<PathBuf>, bool) {
    let mut child = latlas(home, &ALL).spawn().expect("starts");
    std::thread::sleep(time);
    let over = child.try_wait().expect("asked").is_some();
    let found = names(files);
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
    (found, over)
}

/// Kills a run that is just removing its directory; whether it was caught at it:
/// a busy machine may be late.
fn killed_while_it_removes(home: &TempDir, files: &Path) -> bool {
    let before = names(files);
    let mut child = latlas(home, &LONG).spawn().expect("starts");
    let scratch = wait_for("its directory", || {
        let new = |path: &PathBuf| path.parent() == Some(&files.join(common())) && path.is_dir();
        let mut there = names(files).into_iter();
        there.find(|path| new(path) && !before.contains(path))
    });
    // Enough to be caught at.
    let many = scratch.join("many");
    std::fs::create_dir(&many).expect("made");
    let count = |n: usize| std::fs::read_dir(&many).map_or(0, Iterator::count) < n;
    for k in 0..20_000 {
        if std::fs::write(many.join(k.to_string()), "").is_err() {
            let _ = child.kill();
            finish(child);
            return false;
        }
    }
    assert!(!count(20_000));
    signal(child.id(), "INT");
    let until = Instant::now() + Duration::from_secs(60);
    while !count(20_000) {
        assert!(Instant::now() < until, "it removes nothing");
    }
    child.kill().expect("SIGKILL");
    // Killed, and not at its end.
    let killed = finish(child).status.code().is_none();
    killed && many.exists() && scratch.with_extension("lock").exists()
}

/// What is there besides `run-of-somebody`, gone at last: a killed run's
/// worker may have been in the middle of a file.
fn only_the_foreign_are_left(files: &Path) {
    wait_for("the last one's directory", || {
        let mut kept = names(files);
        kept.retain(|path| !path.ends_with(common()));
        let mine = |path: &PathBuf| path.to_string_lossy().contains("run-of-somebody");
        (kept.len() == 2 && kept.iter().all(mine)).then_some(())
    });
}

#[test]
fn killed_runs_leave_nothing_to_the_next_but_one() {
    let (home, files) = with_files();
    let foreign = files.join(common()).join("run-of-somebody/file");
    std::fs::create_dir_all(foreign.parent().expect("a parent")).expect("made");
    std::fs::write(&foreign, "x").expect("written");
    let beginning = until_files(&home, &files);
    let mut left = 0;
    // Spread over a run's beginning, unevenly; then over the rest of it.
    let early = (0_u32..16).map(|k| k * k * 7919 % 1201);
    for part in early {
        let (found, _) = killed_after(&home, &files, beginning * part / 300);
        left += usize::from(found.len() > 3);
    }
    assert!(left > 0, "none of 16 was killed with files about");
    let mut late = 0;
    for ms in [1_700, 2_600, 3_500] {
        let (found, over) = killed_after(&home, &files, beginning + Duration::from_millis(ms));
        late += usize::from(over || found.len() > 3);
    }
    assert!(late > 0, "none of 3 was killed with files about or over");
    // The twentieth. A busy machine is late most times.
    let caught = (0..40).any(|_| killed_while_it_removes(&home, &files));
    assert!(caught, "never caught at removing");
    let output = latlas(&home, &QUICK).output().expect("runs");
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    let said = words(&read(&home.path().join("run.json")), "file.read_open");
    assert!(!said.contains("visits failed"), "{said}");
    only_the_foreign_are_left(&files);
}

#[test]
fn a_directory_that_vanishes_is_a_reason_and_the_run_is_kept() {
    let (home, files) = with_files();
    let (child, _) = started(&home, &LONG);
    // A worker may be making a file just then.
    wait_for("its end", || {
        let _ = std::fs::remove_dir_all(&files);
        (!files.exists()).then_some(())
    });
    let output = finish(child);
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    assert!(!err.contains("panicked"), "{err}");
    let run = read(&home.path().join("run.json"));
    let said = words(&run, "file.read_with_open");
    assert!(said.contains("the scratch directory is gone"), "{said}");
    assert_eq!(run.partial, None);
    assert!(!files.exists());
}

#[test]
fn a_named_directory_that_cant_be_used_is_refused_before_measuring() {
    let home = home();
    std::fs::write(home.path().join("file"), "").expect("written");
    for (dir, why) in [
        ("missing", "no such directory"),
        ("file", "not a directory"),
    ] {
        let arguments = ["run", "file.open_close", "--dir", dir];
        let output = latlas(&home, &arguments).output().expect("runs");
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(err.contains(why) && err.contains(dir), "{err}");
        assert!(output.stdout.is_empty());
    }
    // A link in the place of our own directory.
    let (home, files) = with_files();
    std::os::unix::fs::symlink(home.path(), files.join(common())).expect("a link");
    let output = latlas(&home, &QUICK).output().expect("runs");
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("is no directory"), "{err}");
    assert!(!home.path().join("run.json").exists());
}

/// A disk that is full from the moment that our directory is there: no worker
/// has made a file of its own by then. Whoever fills it gives up after a while,
/// and keeps no stream of ours open.
fn filling() -> String {
    "mount -t tmpfs -o size=64m none files\n\
     ( n=0\n\
       until ls -d files/latlas-scratch-*/run-*/\n\
       do n=$((n + 1)); [ $n -lt 100000 ] || exit 0; done\n\
       cat /dev/zero > files/fill || : ) >/dev/null 2>&1 &"
        .into()
}

/// Runs in a mount namespace of its own, after `script`. `None`, and a word
/// about it, where the system allows no such namespace.
fn in_namespace(home: &TempDir, script: &str, arguments: &[&str]) -> Option<Output> {
    let allowed = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"])
        .stderr(Stdio::null())
        .status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: this system allows no mount in a namespace of its own (unshare -rm)");
        return None;
    }
    // What the script can't do ends it; our command's own code is wanted. What
    // it left running in the background ends with our command.
    let script = format!(
        "set -e\n{script}\nset +e\n\"$0\" \"$@\"; code=$?\n\
         kill $! 2>/dev/null; ls -A files > left; exit $code"
    );
    let wrapper = ["unshare", "-rm", "sh", "-c", &script];
    let mut command = wrapped(home, &wrapper, arguments);
    command.env("XDG_CACHE_HOME", home.path().join("cache"));
    let output = command.output().expect("runs");
    assert_ne!(output.status.code(), Some(32), "{}", text(&output.stderr));
    Some(output)
}

fn left(home: &TempDir) -> String {
    std::fs::read_to_string(home.path().join("left")).expect("listed")
}

#[test]
fn files_that_dont_fit_are_said_before() {
    let (home, files) = with_files();
    let mount = "mount -t tmpfs -o size=1m,nr_inodes=100 none files";
    let Some(output) = in_namespace(&home, mount, &QUICK) else {
        return;
    };
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    let run = read(&home.path().join("run.json"));
    let said = words(&run, "file.read_open");
    let dir = files.display();
    assert!(
        said.contains("not available here at 1MiB, 10MiB: needs ")
            || said.contains("not available here at 1MiB: needs "),
        "{said}"
    );
    assert!(said.contains(&format!("free in {dir}")), "{said}");
    assert!(run.row("file.read_open/1KiB").is_some(), "it fits");
    let large = run.row("file.read_open/1MiB").map(|row| &row.outcome);
    let Some(Outcome::Unavailable { reason }) = large else {
        panic!("{large:?}");
    };
    assert!(reason.starts_with("needs "), "{reason}");
    assert!(said.contains("this file system is memory"), "{said}");
    assert_eq!(left(&home), "");
}

#[test]
fn what_waits_for_a_directory_in_vain_ends() {
    let (home, _) = with_files();
    // It makes none. That its streams end, so that this returns, is the test.
    let began = Instant::now();
    let Some(output) = in_namespace(&home, &filling(), &["--version"]) else {
        return;
    };
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_disk_that_fills_up_midway_is_a_reason() {
    let (home, _) = with_files();
    let script = filling();
    let Some(output) = in_namespace(&home, &script, &QUICK) else {
        return;
    };
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    let run = read(&home.path().join("run.json"));
    let said = words(&run, "file.read_open");
    assert!(
        said.contains("the disk is full (making a file of "),
        "{said}"
    );
    assert!(text(&output.stdout).contains("the disk is full"));
    assert_eq!(left(&home).trim(), "fill", "ours is gone");
}

#[test]
fn a_read_only_file_system_is_refused() {
    let (home, _) = with_files();
    let mount = "mount -t tmpfs -o ro none files";
    let Some(output) = in_namespace(&home, mount, &QUICK) else {
        return;
    };
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("read-only"), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
}

#[test]
fn the_default_is_never_memory() {
    let (home, _) = with_files();
    let mount = "mkdir cache; mount -t tmpfs none cache; mount -t tmpfs none /var/tmp";
    let arguments = &QUICK[..7];
    let Some(output) = in_namespace(&home, mount, arguments) else {
        return;
    };
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let run = read(&home.path().join("run.json"));
    assert_eq!(run.files_on, None);
    let Some(Outcome::Unavailable { reason }) = run.row("file.open_close").map(|row| &row.outcome)
    else {
        panic!("{}", words(&run, "file.open_close"));
    };
    assert!(reason.contains("tmpfs is memory"), "{reason}");
    assert!(reason.ends_with("name a directory with --dir"), "{reason}");
    // With the cache directory alone in memory, the other one is taken.
    let (home, _) = with_files();
    let mount = "mkdir cache; mount -t tmpfs none cache";
    let output = in_namespace(&home, mount, arguments).expect("as before");
    let run = read(&home.path().join("run.json"));
    if sys::filesystem::facts(Path::new("/var/tmp"))
        .is_ok_and(|on| on.device != model::filesystem::DeviceKind::Memory)
    {
        assert!(matches!(output.status.code(), Some(0 | 3)));
        let on = run.files_on.expect("on a disk");
        assert_eq!(on.directory, "/var/tmp");
    }
}

#[test]
fn a_default_directory_that_cant_be_made_is_the_rows_reason() {
    let home = home();
    let cache = home.path().join("cache");
    std::fs::create_dir_all(cache.join("latlas")).expect("made");
    if sys::filesystem::facts(&cache)
        .is_ok_and(|on| on.device == model::filesystem::DeviceKind::Memory)
    {
        eprintln!("SKIPPED: temporary files are in memory here, so /var/tmp is the default");
        return;
    }
    let link = cache.join("latlas").join(common());
    std::os::unix::fs::symlink(home.path(), &link).expect("a link");
    let mut command = latlas(&home, &QUICK[..7]);
    let output = command.env("XDG_CACHE_HOME", &cache).output();
    let output = output.expect("runs");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let run = read(&home.path().join("run.json"));
    assert_eq!((&run.files_on, &run.partial), (&None, &None));
    for id in ["file.read_open", "file.open_close"] {
        let said = words(&run, id);
        assert!(said.contains("unavailable"), "{said}");
        assert!(said.contains("is no directory; name another"), "{said}");
    }
    assert!(link.is_symlink());
}

#[test]
fn memory_is_no_disk_and_files_are_written_there_all_the_same() {
    let (home, _) = with_files();
    let mount = "mount -t tmpfs -o size=400m none files";
    let arguments = [
        "run",
        "disk.*",
        "file.write_durable/16B",
        "--quick",
        "--budget=25s",
        "--out=run.json",
        "--dir=files",
    ];
    let Some(output) = in_namespace(&home, mount, &arguments) else {
        return;
    };
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    let run = read(&home.path().join("run.json"));
    for id in ["disk.random_read_4K", "disk.read_sequential_1MB"] {
        let row = run.row(id).expect("asked for");
        let Outcome::Unavailable { reason } = &row.outcome else {
            panic!("{}", words(&run, id));
        };
        // Before Linux 6.6 tmpfs refused; since then it serves from memory.
        let why = ["serves direct reads from memory", "O_DIRECT is refused"];
        assert!(why.iter().any(|why| reason.contains(why)), "{reason}");
        assert!(reason.ends_with("--dir"), "{reason}");
    }
    let written = run.row("file.write_durable/16B").expect("asked for");
    assert!(written.estimate().is_some(), "{written:?}");
    assert_eq!(left(&home), "");
}

#[test]
fn a_disk_that_fills_up_is_a_reason_whatever_is_written() {
    let (home, _) = with_files();
    let script = filling();
    let rows = [
        "file.read_whole/16MiB",
        "file.write_whole/16MiB",
        "file.write_whole_atomic/16MiB",
    ];
    let arguments = [
        &["run", "--quick", "--out=run.json", "--dir=files"],
        &rows[..],
    ]
    .concat();
    let Some(output) = in_namespace(&home, &script, &arguments) else {
        return;
    };
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    let run = read(&home.path().join("run.json"));
    for row in rows {
        let said = words(&run, row);
        assert!(said.contains("the disk is full ("), "{said}");
    }
    assert_eq!(left(&home).trim(), "fill", "ours is gone");
}
