//! Which system calls the rows of whole files, of files made and deleted, and
//! of the disk make: this test runs itself under strace and reads them there.
//! It needs strace.

use meter::machine_shape::MachineShape;
use meter::probe::{Probe, Site, Work};
use meter::worker_memory::WorkerMemory;
use std::path::Path;
use std::process::Command;

/// Set for the test that runs under strace: the directory for files.
const DIRECTORY: &str = "LATLAS_TEST_DIRECTORY";
const ROW: &str = "LATLAS_TEST_ROW";
const OPERATIONS: &str = "LATLAS_TEST_OPERATIONS";

/// A file that is not there: asking for it marks the log.
const MARK: &str = "/no/such/mark-of-latlas";

const CALLS: &str = "trace=open,openat,creat,read,write,pread64,pwrite64,close,fsync,fdatasync,sync_file_range,rename,renameat,renameat2,unlink,unlinkat,ftruncate,fallocate,fstat,statx,newfstatat,lseek";

fn emulated() -> bool {
    let machine = sys::machine_facts(Path::new("/"));
    machine.emulated.get().is_some_and(|by| by.present_name().is_some())
}

/// The row's work on this worker, its variant and point taken from `row`
/// (`file.create@4096`).
fn with_work<R>(directory: &Path, row: &str, then: impl FnOnce(&mut dyn Work) -> R) -> R {
    let (id, at) = match row.split_once('@') {
        Some((id, x)) => (id, vec![x.parse().expect("a number")]),
        None => (row, Vec::new()),
    };
    let probes = probes::catalogue();
    let has = |probe: &&Probe| probe.row_ids().iter().any(|own| own == id);
    let probe = probes.iter().find(has).expect("a row of ours");
    let site = Site { variant: probe.variant_of(id).to_string(), at };
    let mut machine =
        MachineShape::from_machine(&sys::machine_facts(Path::new("/")), vec![0], None);
    machine.scratch = meter::scratch::scratch_in(directory);
    let mut worker = WorkerMemory::new(machine, 16 << 20, 0, 1);
    let mut work = (probe.make)(&mut worker, &site).unwrap_or_else(|why| panic!("{row}: {why}"));
    then(work.as_mut())
}

#[test]
#[ignore = "started by the others, under strace"]
fn one_visit() {
    let variable = |name: &str| std::env::var(name).expect("set by the test that starts this");
    let (directory, row) = (variable(DIRECTORY), variable(ROW));
    let operations: u32 = variable(OPERATIONS).parse().expect("a number");
    with_work(Path::new(&directory), &row, |work| {
        let _ = std::fs::metadata(MARK);
        let done = match operations {
            0 => {
                work.run(2, false);
                Ok(Vec::new())
            }
            _ => work.stamped(operations),
        };
        let _ = std::fs::metadata(MARK);
        done.expect("it runs");
        work.verify().expect("it did what the row says");
    });
}

/// The calls of one visit to a row, as `openat file O_RDONLY`, `write 16`;
/// none where nothing can be traced.
fn calls(row: &str, operations: u32) -> Option<Vec<String>> {
    if emulated() {
        println!("SKIPPED: strace sees the emulator's calls here");
        return None;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let files = directory.path().join("files");
    std::fs::create_dir(&files).expect("a directory");
    let this_test = sys::process::this_program().expect("this test");
    let done = Command::new("strace")
        .args(["-f", "-e", CALLS, "-o"])
        .arg(&log)
        .arg(this_test.get_program())
        .args(this_test.get_args())
        .args(["--exact", "one_visit", "--ignored", "--test-threads=1"])
        .env(DIRECTORY, &files)
        .env(ROW, row)
        .env(OPERATIONS, operations.to_string())
        .output()
        .expect("strace, which this test needs (apt-get install strace)");
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
    if said.contains("name a directory on a disk with --dir") {
        println!("SKIPPED: no direct reads in {}", files.display());
        return None;
    }
    assert!(done.status.success(), "{row}: {said}");
    // The work removes what it made; files that are read are the run's, and
    // those of file.create stay.
    let left: Vec<_> = std::fs::read_dir(&files).expect("readable").flatten().collect();
    let stay = ["disk.", "file.read_whole", "file.create", "file.delete"];
    let of_run = usize::from(stay.iter().any(|begin| row.starts_with(begin)));
    assert_eq!(left.len(), of_run, "{row} leaves {left:?}");
    let log = std::fs::read_to_string(&log).expect("a log");
    let mut marked = log.split(MARK);
    let between = marked.nth(1).expect("the visit began and ended");
    let lines: Vec<&str> = between.lines().collect();
    // The first is the end of the one mark, the last the beginning of the
    // other.
    Some(lines[1..lines.len() - 1].iter().map(|line| brief(line)).collect())
}

/// `812 openat(AT_FDCWD, "/x/file", O_RDONLY|O_CLOEXEC) = 3` as
/// `openat file O_RDONLY`.
fn brief(line: &str) -> String {
    let call = line.split_once(' ').map_or(line, |(_, call)| call.trim());
    let (name, rest) = call.split_once('(').unwrap_or((call, ""));
    let names: Vec<&str> =
        rest.split('"').skip(1).step_by(2).filter_map(|path| path.rsplit('/').next()).collect();
    let result = rest.rsplit(" = ").next().unwrap_or_default();
    let flags = || {
        let flags = rest.rsplit(", ").find(|part| part.contains("O_"));
        let flags = flags.unwrap_or_default().split(')').next().unwrap_or_default();
        let own = flags.split('|').filter(|flag| *flag != "O_CLOEXEC");
        own.collect::<Vec<_>>().join("|")
    };
    match name {
        "openat" | "open" | "creat" => format!("open {} {}", names.join(" "), flags()),
        "read" | "write" | "pread64" | "pwrite64" => format!("{name} {result}"),
        "unlink" | "unlinkat" => format!("unlink {}", names.join(" ")),
        "rename" | "renameat" | "renameat2" => format!("rename {}", names.join(" ")),
        "fstat" | "statx" | "newfstatat" => "stat".into(),
        name => name.into(),
    }
}

/// The calls of a visit must be these, over and over; the first operation is
/// the one that is not counted.
fn repeats(row: &str, operations: u32, wanted: &[&str]) {
    let Some(calls) = calls(row, operations) else {
        return;
    };
    // A visit to a slow disk ends early, but never before one that counts.
    let allowed = match operations {
        0 => 2..=2,
        counted => 2..=counted as usize + 1,
    };
    let performed = calls.len() / wanted.len();
    assert!(allowed.contains(&performed), "{row}: {performed} times");
    assert_eq!(calls, wanted.repeat(performed), "{row}");
}

const TEMPORARY: &str = "open file.temporary O_WRONLY|O_CREAT|O_EXCL";

#[test]
fn a_whole_file_is_read_in_one_call() {
    // The second read finds the end.
    for (size, open, read) in [
        ("16B", "open read-16 O_RDONLY", "read 16"),
        ("16MiB", "open read-16777216 O_RDONLY", "read 16777216"),
    ] {
        let calls = [open, "stat", read, "read 0", "close"];
        repeats(&format!("file.read_whole/{size}"), 0, &calls);
    }
}

#[test]
fn ashs_file_is_truncated_and_the_others_are_not() {
    for (size, write) in [("16B", "write 16"), ("16MiB", "write 16777216")] {
        repeats(
            &format!("file.write_whole/{size}"),
            2,
            &["open file O_WRONLY|O_CREAT|O_TRUNC", write, "close"],
        );
        repeats(
            &format!("file.write_whole/{size}_no_truncate"),
            2,
            &["open file O_WRONLY|O_CREAT", write, "close"],
        );
        repeats(
            &format!("file.write_whole/{size}_new_file"),
            2,
            &["unlink file", "open file O_WRONLY|O_CREAT|O_EXCL", write, "close"],
        );
        repeats(
            &format!("file.write_whole_atomic/{size}"),
            2,
            &[TEMPORARY, write, "close", "rename file.temporary file"],
        );
    }
}

#[test]
fn a_durable_file_is_synced_before_its_rename_and_its_directory_after() {
    repeats(
        "file.write_durable/16B",
        2,
        &[
            TEMPORARY,
            "write 16",
            "fsync",
            "close",
            "rename file.temporary file",
            "open write_whole O_RDONLY",
            "fsync",
            "close",
        ],
    );
}

/// The reading of a thread's run delay.
const RUN_DELAY: &str = "run delay";

/// The same with each such reading as one.
fn with_run_delay(calls: &[String]) -> Vec<String> {
    let mut rest = calls.iter();
    let mut short = Vec::new();
    while let Some(call) = rest.next() {
        if call.starts_with("open schedstat") {
            rest.find(|call| *call == "close");
            short.push(RUN_DELAY.into());
        } else {
            short.push(call.clone());
        }
    }
    short
}

#[test]
fn a_hundred_files_are_made_in_calls_of_128_kib_and_emptied_and_others_deleted() {
    let create = |n: usize, writes: &[&str]| -> Vec<String> {
        let mut calls = vec![format!("open {n} O_WRONLY|O_CREAT|O_EXCL")];
        calls.extend(writes.iter().map(ToString::to_string));
        calls.push("close".into());
        calls
    };
    let empty = |n: usize| vec![format!("open {n} O_WRONLY|O_TRUNC"), "close".into()];
    let run_delay = || std::iter::once(RUN_DELAY.to_string());
    // The first of each is not counted; what the thread waited is asked before
    // it and after the last.
    let expected = |made: usize, deleted: usize, writes: &[&str]| -> Vec<String> {
        let mut calls: Vec<String> = run_delay().collect();
        calls.extend((0..=made).flat_map(|n| create(n, writes)));
        if !writes.is_empty() {
            calls.extend((0..=made).flat_map(empty));
        }
        calls.extend(run_delay().chain(run_delay()));
        calls.extend((0..=deleted).flat_map(|n| create(n, writes)));
        calls.extend((0..=deleted).map(|n| format!("unlink {n}")));
        calls.extend(run_delay());
        calls
    };
    let kib128 = "write 131072";
    for (bytes, files, writes) in [
        (0, 100, vec![]),
        (1024, 100, vec!["write 1024"]),
        (131_072 * 2 + 7, 63, vec![kib128, kib128, "write 7"]),
        (8 << 20, 2, vec![kib128; 64]),
    ] {
        for row in ["file.create", "file.delete"] {
            let Some(calls) = calls(&format!("{row}@{bytes}"), 100) else {
                return;
            };
            // A visit makes fewer where creating is slow, as it is under
            // strace, and deletes those that it made for that.
            let creations = calls.iter().filter(|c| c.contains("O_CREAT")).count();
            let deleted = calls.iter().filter(|c| c.starts_with("unlink")).count() - 1;
            let made = creations - deleted - 2;
            assert!((1..=files).contains(&made), "{row} at {bytes}: {made}");
            assert!((1..=files.min(25)).contains(&deleted), "{row}: {deleted}");
            let calls = with_run_delay(&calls);
            assert_eq!(calls, expected(made, deleted, &writes), "{row} at {bytes}");
        }
    }
}

#[test]
fn the_disk_is_read_a_call_at_a_time() {
    let ours = |row: &str, read: &str| {
        let Some(calls) = calls(row, 3) else {
            return;
        };
        let reads: Vec<&String> = calls.iter().filter(|call| call.starts_with("pread")).collect();
        // A visit ends early on a slow disk, as every disk is under strace.
        assert!((2..=4).contains(&reads.len()), "{row}: {calls:?}");
        assert!(reads.iter().all(|one| *one == read), "{row}: {calls:?}");
    };
    ours("disk.random_read_4K", "pread64 4096");
    ours("disk.read_sequential_1MB", "pread64 1003520");
}

#[test]
fn a_line_of_the_log_in_short() {
    assert_eq!(
        brief("812 openat(AT_FDCWD, \"/x/y/file\", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 3"),
        "open file O_WRONLY|O_CREAT|O_TRUNC"
    );
    assert_eq!(
        brief("812 openat(AT_FDCWD, \"/x/file\", O_RDONLY|O_CLOEXEC) = 3"),
        "open file O_RDONLY"
    );
    assert_eq!(brief("7 write(3, \"a, \\1\"..., 16) = 16"), "write 16");
    assert_eq!(brief("7 rename(\"/x/a\", \"/x/b\") = 0"), "rename a b");
}
