//! What a run writes to, makes, renames and removes, as the kernel was asked
//! for it (`strace`): its own directories and nothing else.

use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Calls that change what is in a file system, and those that may. Some
/// machines, and some versions of strace, don't have them all.
const CALLS: [&str; 34] = [
    "open",
    "openat",
    "openat2",
    "creat",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "mknod",
    "mknodat",
    "truncate",
    "chmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "lchown",
    "fchownat",
    "utime",
    "utimes",
    "utimensat",
    "mount",
    "umount2",
    "swapon",
    "bind",
    "acct",
    "pivot_root",
];

/// A call that changes something, with the paths it names.
#[derive(Debug, PartialEq)]
struct Change {
    line: String,
    paths: Vec<PathBuf>,
}

/// The change that a line of `strace -f -y` tells of, made in `home`.
fn change(line: &str, home: &Path) -> Option<Change> {
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
    if call == "bind" && !arguments.contains("sun_path=\"") {
        return None;
    }
    let mut paths = Vec::new();
    let mut rest = arguments;
    while let Some((before, after)) = rest.split_once('"') {
        let (text, after) = after.split_once('"')?;
        // `4</a/directory>, "name"`
        let below = before
            .trim_end_matches([',', ' '])
            .strip_suffix('>')
            .and_then(|before| before.rsplit_once('<'));
        let below = below.map_or(home, |(_, directory)| Path::new(directory));
        paths.push(plain(&below.join(text)));
        rest = after;
    }
    Some(Change {
        line: line.to_string(),
        paths,
    })
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
        (
            r#"7 openat(AT_FDCWD</y>, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3</etc/passwd>"#,
            None,
        ),
        (
            r#"7 openat(AT_FDCWD</y>, "a/../b", O_WRONLY|O_CREAT, 0666) = 3</y/b>"#,
            one("/y/b"),
        ),
        (r#"7 unlinkat(4</d>, "f", 0)    = 0"#, one("/d/f")),
        (
            r#"7 rmdir("./q") = -1 ENOENT (No such file or directory)"#,
            one("/home/x/q"),
        ),
        (r#"7 mkdir("/p", 0700 <unfinished ...>"#, one("/p")),
        (r#"7 <... mkdir resumed>) = 0"#, None),
        (
            r#"7 bind(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(0)}, 16) = 0"#,
            None,
        ),
        (
            r#"7 bind(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/s"}, 16) = 0"#,
            one("/s"),
        ),
    ] {
        assert_eq!(paths(line), expected, "{line}");
    }
    let two = paths(r#"7 renameat(3</a>, "b", 4</c>, "d") = 0"#).expect("a change");
    assert_eq!(two, [Path::new("/a/b"), Path::new("/c/d")]);
}

#[test]
#[ignore = "wants strace: .ci/strace installs it and runs this"]
fn a_run_touches_nothing_but_its_own() {
    let home = tempfile::tempdir().expect("a directory");
    let home = home.path().canonicalize().expect("there");
    for name in ["files", "tmp"] {
        std::fs::create_dir(home.join(name)).expect("made");
    }
    let trace = home.join("trace");
    let status = Command::new("strace")
        .args([
            "-f",
            "--seccomp-bpf",
            "-y",
            "-qq",
            "-e",
            "signal=none",
            "-e",
        ])
        .arg(format!("trace=fsync,?{}", CALLS.join(",?")))
        .arg("-o")
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_latlas"))
        .args([
            "run",
            "--quick",
            "--budget=30s",
            "--dir=files",
            "--out=run.json",
        ])
        .current_dir(&home)
        .env("LATLAS_DATA_DIR", home.join("data"))
        .env("TMPDIR", home.join("tmp"))
        .stdout(std::process::Stdio::null())
        .status()
        .expect("strace is installed: .ci/strace does that");
    assert!(matches!(status.code(), Some(0 | 3)), "{status}");
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let changes: Vec<Change> = text
        .lines()
        .filter_map(|line| change(line, &home))
        .collect();
    let common = home.join("files/latlas-scratch");
    let file = home.join("run.json");
    let unfinished = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.parent() == Some(&home) && name.starts_with(".run.json.")
    };
    let ours = |path: &PathBuf| {
        let places = [&common, &home.join("data")];
        places.iter().any(|place| path.starts_with(place))
            || *path == file
            || unfinished(path)
            || ["/proc", "/sys", "/dev"]
                .iter()
                .any(|known| path.starts_with(known))
    };
    let foreign: Vec<&Change> = changes
        .iter()
        .filter(|change| !change.paths.iter().all(ours))
        .collect();
    assert!(foreign.is_empty(), "{foreign:#?}");
    // What must be there, if the trace is one.
    for part in ["latlas-scratch/run-", "data/runs", "run.json"] {
        let seen = |change: &Change| {
            let text = change.paths.iter().map(|path| path.to_string_lossy());
            text.into_iter().any(|path| path.contains(part))
        };
        assert!(
            changes.iter().any(seen),
            "{part}: {} changes",
            changes.len()
        );
    }
    // A file that is read is on the disk before, so that no writing back
    // comes in between.
    let synced = |line: &str| line.contains("fsync(") && line.contains("/read-1024.unfinished>");
    assert!(text.lines().any(synced));
    let left = std::fs::read_dir(home.join("files"))
        .expect("there")
        .count();
    assert_eq!(left, 0);
}
