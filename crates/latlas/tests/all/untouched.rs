//! What a run writes to, makes, renames and removes, by its system calls (`strace`): its
//! own directories and nothing else.

use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Names of the kernel's own that a run may write to.
const ALLOWED: [&str; 1] = ["/dev/null"];

/// Calls that change what is in a file system, and those that may. Some
/// machines, and some versions of strace, don't have them all.
const CALLS: &str = "\
    open openat openat2 creat unlink unlinkat rename renameat renameat2 mkdir mkdirat \
    rmdir link linkat symlink symlinkat mknod mknodat truncate chmod fchmodat fchmodat2 \
    chown lchown fchownat utime utimes utimensat mount umount2 swapon bind acct pivot_root \
    ftruncate fallocate fchmod fchown copy_file_range setxattr lsetxattr fsetxattr \
    removexattr lremovexattr fremovexattr setxattrat removexattrat";

/// Those of them that name no path.
const BY_DESCRIPTOR: &str = "\
    ftruncate fallocate fchmod fchown copy_file_range fsetxattr fremovexattr";

/// A call that changes something, with the paths it names.
#[derive(Debug, PartialEq)]
struct FileChange {
    line: String,
    paths: Vec<PathBuf>,
}

/// The change that a line of `strace -f -y` tells of, made in `home`.
fn change(line: &str, home: &Path) -> Option<FileChange> {
    // `1234 openat(AT_FDCWD</home>, "x", O_RDONLY) = 3`
    let (_, rest) = line.split_once(' ')?;
    let (call, arguments) = rest.trim_start().split_once('(')?;
    if !call.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
    if call.starts_with("open") && !writes.iter().any(|flag| arguments.contains(flag)) {
        return None;
    }
    // A file that never has a name leaves the directory as it is.
    if call.starts_with("open") && arguments.contains("O_TMPFILE") {
        return None;
    }
    if call == "bind" && !arguments.contains("sun_path=\"") {
        return None;
    }
    let mut paths = Vec::new();
    let mut rest = arguments;
    if BY_DESCRIPTOR.split(' ').any(|one| one == call) {
        // `ftruncate(3</directory/name>, 0)`, of which the last may be what is
        // written to, and quotes are no paths.
        let (_, after) = arguments.rsplit_once("</")?;
        let (path, _) = after.split_once('>')?;
        paths.push(plain(&Path::new("/").join(path)));
        rest = "";
    }
    while let Some((before, after)) = rest.split_once('"') {
        let (text, after) = after.split_once('"')?;
        // `4</a/directory>, "name"`
        let below = before
            .trim_end_matches([',', ' '])
            .strip_suffix('>')
            .and_then(|before| before.rsplit_once('<'));
        let below = below.map_or(home, |(_, directory)| Path::new(directory));
        paths.push(plain(&below.join(text)));
        rest = match call.contains("xattr") {
            // The attribute's name, and what it is set to.
            true => "",
            false => after,
        };
    }
    Some(FileChange { line: line.to_string(), paths })
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
        path
    })
}

#[test]
fn lines_of_a_trace_are_understood() {
    let home = Path::new("/home/x");
    let paths = |line: &str| change(line, home).map(|found| found.paths);
    let one = |path: &str| Some(vec![PathBuf::from(path)]);
    for (line, expected) in [
        (r#"7 openat(AT_FDCWD</y>, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3</etc/passwd>"#, None),
        (r#"7 openat(AT_FDCWD</y>, "a/../b", O_WRONLY|O_CREAT, 0666) = 3</y/b>"#, one("/y/b")),
        (
            r#"7 openat(AT_FDCWD</y>, "/d", O_RDWR|O_CLOEXEC|O_TMPFILE, 0600) = 3</d/#7>(deleted)"#,
            None,
        ),
        (r#"7 unlinkat(4</d>, "f", 0)    = 0"#, one("/d/f")),
        (r#"7 rmdir("./q") = -1 ENOENT (No such file or directory)"#, one("/home/x/q")),
        (r#"7 mkdir("/p", 0700 <unfinished ...>"#, one("/p")),
        (r#"7 <... mkdir resumed>) = 0"#, None),
        (r#"7 bind(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(0)}, 16) = 0"#, None),
        (r#"7 bind(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/s"}, 16) = 0"#, one("/s")),
        (r#"7 ftruncate(3</a/b>, 0) = 0"#, one("/a/b")),
        (r#"7 ftruncate(3</memfd:x>(deleted), 0) = 0"#, one("/memfd:x")),
        (r#"7 copy_file_range(3</a>, NULL, 4</b>, NULL, 1, 0) = 1"#, one("/b")),
        (r#"7 setxattr("/a", "user.x", "/b", 2, 0) = 0"#, one("/a")),
        (r#"7 fsetxattr(3</a>, "user.x", "/b", 2, 0) = 0"#, one("/a")),
    ] {
        assert_eq!(paths(line), expected, "{line}");
    }
    let two = paths(r#"7 renameat(3</a>, "b", 4</c>, "d") = 0"#).expect("a change");
    assert_eq!(two, [Path::new("/a/b"), Path::new("/c/d")]);
}

/// What a run may open for writing below /proc, /sys and /dev, and no more.
fn kernels_own(path: &Path) -> bool {
    let text = path.to_string_lossy();
    ALLOWED.contains(&&*text)
}

/// Runs latlas under strace in `home`; the trace.
fn traced(home: &Path, arguments: &[&str]) -> String {
    for name in ["files", "tmp"] {
        std::fs::create_dir_all(home.join(name)).expect("made");
    }
    let trace = home.join("trace");
    let status = Command::new("strace")
        .args(["-f", "--seccomp-bpf", "-y", "-qq", "-e", "signal=none", "-e"])
        .arg(format!("trace=fsync,?{}", CALLS.replace(' ', ",?")))
        .arg("-o")
        .arg(&trace)
        .arg(crate::support::PROGRAM)
        .args(arguments)
        .current_dir(home)
        .env("LATLAS_DATA_DIR", home.join("data"))
        .env("LATLAS_LOCK", home.join("data/lock"))
        .env("TMPDIR", home.join("tmp"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .stdout(std::process::Stdio::null())
        .status()
        .expect("strace is installed: .ci/strace does that");
    assert!(matches!(status.code(), Some(0 | 3)), "{status}");
    std::fs::read_to_string(&trace).expect("a trace")
}

/// The changes of a trace, which are all to what is a run's own: `common`, to
/// which everything below belongs, and the single names of `made`.
fn only_its_own(text: &str, home: &Path, common: &Path, made: &[PathBuf]) -> Vec<FileChange> {
    let file = home.join("run.json");
    let unfinished = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.parent() == Some(home) && name.starts_with(".run.json.")
    };
    let ours = |path: &PathBuf| {
        let places = [common, &home.join("data")];
        places.iter().any(|place| path.starts_with(place))
            || *path == file
            || made.contains(path)
            || unfinished(path)
            || kernels_own(path)
    };
    let changes: Vec<FileChange> = text.lines().filter_map(|line| change(line, home)).collect();
    let foreign: Vec<&FileChange> =
        changes.iter().filter(|change| !change.paths.iter().all(ours)).collect();
    assert!(foreign.is_empty(), "{foreign:#?}");
    changes
}

/// What holds the directories of all of our runs.
fn common_in(directory: &Path) -> PathBuf {
    directory.join(format!("latlas-scratch-{}", sys::filesystem::user()))
}

/// Whether some change is of a path with this in it.
fn seen(changes: &[FileChange], part: &str) -> bool {
    let mut paths = changes.iter().flat_map(|change| &change.paths);
    paths.any(|path| path.to_string_lossy().contains(part))
}

#[test]
#[ignore = "wants strace: .ci/strace installs it and runs this"]
fn a_run_touches_nothing_but_its_own() {
    let home = tempfile::tempdir().expect("a directory");
    let home = home.path().canonicalize().expect("there");
    let arguments = ["run", "--quick", "--budget=30s", "--dir=files", "--out=run.json"];
    let text = traced(&home, &arguments);
    let common = common_in(&home.join("files"));
    let changes = only_its_own(&text, &home, &common, &[]);
    // What must be there, if the trace is one.
    for part in ["/run-", "data/runs", "run.json"] {
        assert!(seen(&changes, part), "{part}: {} changes", changes.len());
    }
    // A file that is read is on the disk before, so that no writing back
    // comes in between.
    let synced = |line: &str| line.contains("fsync(") && line.contains("/read-1024.unfinished>");
    assert!(text.lines().any(synced));
    let left = std::fs::read_dir(home.join("files")).expect("there").count();
    assert_eq!(left, 0);
}

#[test]
#[ignore = "wants strace: .ci/strace installs it and runs this"]
fn a_run_that_chooses_its_directory_touches_nothing_but_that() {
    let home = tempfile::tempdir().expect("a directory");
    let home = home.path().canonicalize().expect("there");
    let arguments =
        ["run", "file.open_close", "file.create", "--quick", "--budget=2s", "--out=run.json"];
    let text = traced(&home, &arguments);
    let run = std::fs::read_to_string(home.join("run.json")).expect("kept");
    let run: model::run::Run = serde_json::from_str(&run).expect("a Run");
    let cache = home.join("cache");
    // Another one where temporary files are in memory; none, where /var/tmp is
    // on no disk either.
    let chosen = run.files_on.as_ref().map(|on| PathBuf::from(&on.directory));
    let expected = [cache.join("latlas"), "/var/tmp".into()];
    assert!(chosen.iter().all(|dir| expected.contains(dir)), "{chosen:?}");
    let common = common_in(chosen.as_deref().unwrap_or(&home.join("none")));
    let made = [cache.clone(), cache.join("latlas")];
    let changes = only_its_own(&text, &home, &common, &made);
    assert_eq!(seen(&changes, "/run-"), chosen.is_some());
    assert!(!cache.exists());
}
