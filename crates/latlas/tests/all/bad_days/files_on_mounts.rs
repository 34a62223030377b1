//! Rows of files on a full, read-only or small file system, each in its own mount namespace.

use super::files::{QUICK, quick, with_files};
use super::{reason, row_text};
use crate::support::{Done, Home, has, skip};
use std::path::Path;
use std::process::{Command, Stdio};

/// A disk that is full from the moment that our directory is there: no worker has made a
/// file of its own by then. What fills it gives up after a while, and keeps no stream of
/// ours open.
const FILLING: &str = "mount -t tmpfs -o size=64m none files
     ( n=0
       until ls -d files/latlas-scratch-*/run-*/
       do n=$((n + 1)); [ $n -lt 100000 ] || exit 0; done
       cat /dev/zero > files/fill || : ) >/dev/null 2>&1 &";

/// Runs in its own mount namespace, after `script`; `None` where the system allows no such
/// namespace.
fn in_namespace(home: &Home, script: &str, line: &str) -> Option<Done> {
    let allowed = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"])
        .stderr(Stdio::null())
        .status();
    if !allowed.is_ok_and(|status| status.success()) {
        skip("this system allows no mount in a namespace of its own (unshare -rm)");
        return None;
    }
    // What the script can't do ends it; our command's own code is wanted. What it left
    // running in the background ends with our command. The program may be below a directory that
    // the script hides.
    let script = format!(
        "set -e\nexec 9<\"$0\"\n{script}\nset +e\n/proc/self/fd/9 \"$@\"; code=$?\n\
         kill $! 2>/dev/null; ls -A files > left; exit $code"
    );
    let mut command = home.wrapped(["unshare", "-rm", "sh", "-c", &script], line);
    let done = Done::of(command.env("XDG_CACHE_HOME", home.path("cache")));
    assert_ne!(done.code, 32, "{}", done.err);
    Some(done)
}

#[test]
fn files_that_dont_fit_are_known_before() {
    let (home, files) = with_files();
    let mount = "mount -t tmpfs -o size=1m,nr_inodes=100 none files";
    let Some(done) = in_namespace(&home, mount, &quick()) else {
        return;
    };
    done.measured();
    let run = home.run_json();
    let text = row_text(&run, "file.read_open");
    let which = ["not available here at 1MiB, 10MiB: needs ", "not available here at 1MiB: needs "];
    assert!(which.iter().any(|which| text.contains(which)), "{text}");
    has(&text, [&format!("free in {}", files.display()), "this file system is memory"]);
    assert_eq!(reason(&run, "file.read_open/1KiB"), None, "it fits");
    let large = reason(&run, "file.read_open/1MiB").expect("too large");
    assert!(large.starts_with("needs "), "{large}");
    assert_eq!(home.read("left"), "");
}

#[test]
fn a_disk_that_fills_up_is_a_reason() {
    let written = "file.read_whole/16MiB file.write_whole/16MiB file.write_whole_atomic/16MiB";
    for (line, rows) in [
        (quick(), "file.read_open"),
        (format!("run {written} --quick --out=run.json --dir=files"), written),
    ] {
        let (home, _) = with_files();
        let Some(done) = in_namespace(&home, FILLING, &line) else {
            return;
        };
        has(&done.measured().out, ["the disk is full"]);
        let run = home.run_json();
        for row in rows.split(' ') {
            has(&row_text(&run, row), ["the disk is full ("]);
        }
        assert_eq!(home.read("left").trim(), "fill", "ours is gone");
    }
}

#[test]
fn a_read_only_file_system_is_refused() {
    let (home, _) = with_files();
    let Some(done) = in_namespace(&home, "mount -t tmpfs -o ro none files", &quick()) else {
        return;
    };
    done.refused("read-only");
}

#[test]
fn the_default_is_never_memory() {
    let (home, _) = with_files();
    if home.path("").starts_with("/var/tmp") {
        return skip("temporary files are in /var/tmp, which this test hides");
    }
    let cache = "mkdir cache; mount -t tmpfs none cache";
    let Some(done) = in_namespace(&home, &format!("{cache}; mount -t tmpfs none /var/tmp"), QUICK)
    else {
        return;
    };
    done.ended_with(3);
    let run = home.run_json();
    assert_eq!(run.files_on, None);
    has(
        reason(&run, "file.open_close").expect("memory"),
        ["tmpfs is memory", "name a directory with --dir"],
    );
    // With the cache directory alone in memory, the other one is taken.
    let (home, _) = with_files();
    let done = in_namespace(&home, cache, QUICK).expect("as before");
    let memory = model::filesystem::DeviceKind::Memory;
    if sys::filesystem::facts(Path::new("/var/tmp")).is_ok_and(|on| on.device != memory) {
        done.measured();
        let on = home.run_json().files_on.expect("on a disk");
        assert_eq!(on.directory, "/var/tmp");
    }
}

#[test]
fn memory_is_no_disk_and_files_are_written_there_all_the_same() {
    let (home, _) = with_files();
    let mount = "mount -t tmpfs -o size=400m none files";
    let line = "run disk.* file.write_durable/16B --quick --budget=25s --out=run.json --dir=files";
    let Some(done) = in_namespace(&home, mount, line) else {
        return;
    };
    done.measured();
    let run = home.run_json();
    for id in ["disk.random_read_4K", "disk.read_sequential_1MB"] {
        let reason = reason(&run, id).expect("memory");
        // Before Linux 6.6 tmpfs refused; since then it serves from memory.
        let why = ["serves direct reads from memory", "O_DIRECT is refused"];
        assert!(why.iter().any(|why| reason.contains(why)), "{reason}");
        assert!(reason.ends_with("--dir"), "{reason}");
    }
    let written = run.row("file.write_durable/16B").expect("a row");
    assert!(written.estimate().is_some(), "{written:?}");
    assert_eq!(home.read("left"), "");
}

/// Room for a directory and a file: what was begun does not stand in the way of the next try.
#[test]
fn half_a_pack_is_not_left_on_a_full_disk() {
    let (home, _files) = with_files();
    let twice = "mount -t tmpfs -o nr_inodes=3 none files
     cd files
     \"$0\" \"$@\" || :";
    let Some(done) = in_namespace(&home, twice, "pack new c mine") else {
        return;
    };
    assert_eq!(done.code, 2, "{}", done.err);
    let tries: Vec<&str> = done.err.lines().filter(|line| line.starts_with("latlas: ")).collect();
    let [first, second] = tries[..] else {
        panic!("{}", done.err);
    };
    has(first, ["can't write mine/", "No space left"]);
    assert_eq!(first, second);
}
