//! The real binary, measuring, on a bad day: interrupted, robbed of workers,
//! short of memory or CPUs. Shapes and promises are asserted, never times.

mod copied;

use model::run::{Outcome, Run};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_latlas");

fn latlas(home: &TempDir, arguments: &[&str]) -> Command {
    wrapped(home, &[], arguments)
}

/// latlas started by another command, such as `taskset -c 0`.
fn wrapped(home: &TempDir, wrapper: &[&str], arguments: &[&str]) -> Command {
    let words: Vec<&str> = wrapper
        .iter()
        .copied()
        .chain([BINARY])
        .chain(arguments.iter().copied())
        .collect();
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(home.path())
        .env("LATLAS_DATA_DIR", home.path().join("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn home() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn read(path: &Path) -> Run {
    let text = std::fs::read(path).expect("the document");
    serde_json::from_slice(&text).expect("a Run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Processes whose parent is this one.
fn children_of(parent: u32) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The name in parentheses may hold anything; fields follow it.
            let fields: Vec<&str> = stat
                .rsplit(')')
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .collect();
            fields.get(1) == Some(&parent.to_string().as_str())
        })
        .collect()
}

fn alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("waited a minute for {what}");
}

/// How often a process has gone to sleep: a worker does after each answer.
fn sleeps(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let count = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

/// Starts a long run and waits until all of its workers are there and measure.
fn started(home: &TempDir, arguments: &[&str]) -> (Child, Vec<u32>) {
    begun(latlas(home, arguments))
}

/// The same of a command that is laid out already.
fn begun(mut command: Command) -> (Child, Vec<u32>) {
    let child = command.spawn().expect("starts");
    let workers = wait_for("eight workers", || {
        let workers = children_of(child.id());
        (workers.len() == 8).then_some(workers)
    });
    // Past the handshake, into the measuring: however long a busy machine takes.
    let then: Vec<u64> = workers.iter().map(|&worker| sleeps(worker)).collect();
    wait_for("visits of every worker", || {
        let mut both = workers.iter().zip(&then);
        both.all(|(&worker, was)| sleeps(worker) > was + 2)
            .then_some(())
    });
    std::thread::sleep(Duration::from_millis(700));
    (child, workers)
}

fn signal(pid: u32, name: &str) {
    assert!(signalled(pid, name), "kill -{name} {pid}");
}

/// Whether the process was still there to get the signal.
fn signalled(pid: u32, name: &str) -> bool {
    // The shell's own: a bare Debian has no kill beside it.
    Command::new("sh")
        .args(["-c", &format!("kill -{name} {pid} 2>/dev/null")])
        .status()
        .expect("sh runs")
        .success()
}

fn finish(child: Child) -> Output {
    child.wait_with_output().expect("ends")
}

fn all_gone(pids: &[u32]) {
    wait_for("the workers' end", || {
        pids.iter().all(|&pid| !alive(pid)).then_some(())
    });
}

const LONG: [&str; 7] = [
    "run",
    "cpu.*",
    "--budget",
    "30s",
    "--seed",
    "7",
    "--out=run.json",
];

#[test]
fn a_run_that_would_be_kept_nowhere_is_refused_before_it_is_measured() {
    let home = home();
    let run = || latlas(&home, &["run", "cpu.add_i32", "--quick"]);
    let mut homeless = run();
    for name in [
        "LATLAS_DATA_DIR",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "HOME",
    ] {
        homeless.env_remove(name);
    }
    let mut nowhere = run();
    nowhere.env("LATLAS_DATA_DIR", "/dev/null/x");
    for (mut command, why) in [
        (homeless, "no place to keep runs"),
        (nowhere, "/dev/null/x"),
    ] {
        let output = command.output().expect("runs");
        let err = text(&output.stderr);
        assert_eq!(
            (output.status.code(), text(&output.stdout)),
            (Some(2), String::new()),
            "{err}"
        );
        assert_eq!(err.lines().count(), 1, "{err}");
        for told in [why, "--out FILE", "LATLAS_DATA_DIR"] {
            assert!(err.contains(told), "{told} not in {err}");
        }
        // With a file it is measured, and what is not kept is said before.
        let output = command.arg("--out=run.json").output().expect("runs");
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{}",
            text(&output.stderr)
        );
        let err = text(&output.stderr);
        assert_eq!(err.matches("will not be kept").count(), 1, "{err}");
        assert!(
            read(&home.path().join("run.json"))
                .row("cpu.add_i32")
                .is_some()
        );
    }
}

#[test]
fn a_run_whose_store_went_away_ends_with_3() {
    let home = home();
    // Enough runs for a row that is ok.
    let away = "rm -rf data; : > data; sleep 0.1";
    let output = latlas(&home, &["exec", "--runs", "20", "--", "sh", "-c", away]).output();
    let output = output.expect("runs");
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(err.contains("the run is not kept"), "{err}");
    assert!(text(&output.stdout).contains("wall"), "the table is there");
}

#[test]
fn a_budget_that_is_much_too_short_is_said() {
    let home = home();
    let said = |more: &[&str]| {
        let arguments = ["run", "memory.*", "--quick", "--dry-run"];
        let output = latlas(&home, &[&arguments[..], more].concat()).output();
        text(&output.expect("runs").stdout).contains("these rows need")
    };
    assert!(said(&["--budget", "1s"]) && !said(&[]));
}

#[test]
fn ctrl_c_keeps_what_there_is_marked_partial() {
    for name in ["INT", "TERM"] {
        let home = home();
        let (child, workers) = started(&home, &LONG);
        signal(child.id(), name);
        let output = finish(child);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        let run = read(&home.path().join("run.json"));
        assert!(
            run.partial
                .as_deref()
                .is_some_and(|why| why.contains("interrupted"))
        );
        assert!(
            run.cells
                .iter()
                .any(|cell| !cell.samples.first_ticks.is_empty())
        );
        assert!(text(&output.stdout).to_lowercase().contains("partial"));
        all_gone(&workers);
        let kept = std::fs::read_dir(home.path().join("data/runs")).expect("kept");
        assert_eq!(kept.count(), 1, "one whole document and nothing else");
    }
}

#[test]
fn a_killed_worker_leaves_its_samples_and_a_mark() {
    let home = home();
    let (child, workers) = started(
        &home,
        &[
            "run",
            "cpu.*",
            "--budget",
            "6s",
            "--seed",
            "7",
            "--out=run.json",
        ],
    );
    signal(workers[3], "KILL");
    let output = finish(child);
    let err = text(&output.stderr);
    let lines: Vec<&str> = err.lines().filter(|l| l.contains("ended early")).collect();
    assert_eq!(lines.len(), 1, "one clear line: {err}");
    assert!(lines[0].contains("SIGKILL"), "{err}");
    let run = read(&home.path().join("run.json"));
    assert_eq!(run.partial, None, "seven workers went on");
    assert!(
        run.conditions
            .remarks
            .iter()
            .any(|r| r.contains("ended early"))
    );
    let of_each: Vec<usize> = (0..8)
        .map(|worker| {
            run.cells
                .iter()
                .flat_map(|cell| &cell.samples.workers)
                .filter(|(w, _)| *w == worker)
                .map(|(_, count)| *count as usize)
                .sum()
        })
        .collect();
    assert!(
        of_each.iter().all(|&n| n > 0),
        "{of_each:?}: its samples are kept"
    );
    let most = of_each.iter().max().copied().unwrap_or(0);
    assert!(
        of_each.iter().any(|&n| n < most),
        "{of_each:?}: one stopped"
    );
    all_gone(&workers);
}

#[test]
fn nothing_outlives_a_killed_latlas() {
    let home = home();
    let (mut child, workers) = started(&home, &LONG);
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
    all_gone(&workers);
    assert!(
        !home.path().join("run.json").exists(),
        "nothing half-written"
    );
}

#[test]
fn with_one_cpu_rows_on_several_are_not_available() {
    let home = home();
    let output = wrapped(
        &home,
        &["taskset", "-c", "0"],
        &[
            "run",
            "cpu.add_i64",
            "memory.read_all_cores",
            "--budget",
            "2s",
            "--out=run.json",
        ],
    )
    .output()
    .expect("runs");
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        text(&output.stderr)
    );
    let run = read(&home.path().join("run.json"));
    let row = run.row("memory.read_all_cores").expect("never dropped");
    assert!(
        matches!(&row.outcome, Outcome::Unavailable { reason } if reason.contains("one CPU")),
        "{:?}",
        row.outcome
    );
    assert!(text(&output.stdout).contains("not available here: only one CPU"));
    assert!(
        run.row("cpu.add_i64")
            .and_then(|row| row.estimate())
            .is_some()
    );
    assert!(run.conditions.remarks.iter().any(|r| r.contains("one CPU")));
}

#[test]
fn short_memory_shrinks_the_working_sets_and_says_so() {
    let home = home();
    let output = wrapped(
        &home,
        // In KiB, of address space, for each process.
        &["sh", "-c", "ulimit -v 600000; exec \"$@\"", "sh"],
        &[
            "run",
            "memory.read/sequential",
            "--quick",
            "--budget",
            "4s",
            "--out=run.json",
        ],
    )
    .output()
    .expect("runs");
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        text(&output.stderr)
    );
    let run = read(&home.path().join("run.json"));
    let largest = run.plan.largest_working_set_bytes;
    assert!((16 << 20..256 << 20).contains(&largest), "{largest}");
    assert!(run.plan.shrunk.is_some());
    assert!(text(&output.stdout).contains("working sets end at"));
}

#[test]
fn too_little_memory_is_one_line_and_exit_code_2() {
    let home = home();
    let output = wrapped(
        &home,
        &["sh", "-c", "ulimit -v 60000; exec \"$@\"", "sh"],
        &["run", "memory.latency"],
    )
    .output()
    .expect("runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let err = text(&output.stderr);
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("too little"), "{err}");
}

#[test]
fn a_cpu_that_is_not_ours_is_refused() {
    let home = home();
    let output = latlas(&home, &["run", "cpu.add_i64", "--pin", "4095"])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("CPU 4095 can't be used"));
}

#[test]
fn one_kind_of_cores_is_nothing_to_choose_from() {
    let home = home();
    let machine = sys::machine(Path::new("/"));
    let kinds = machine.core_kinds.get().map_or(0, Vec::len);
    for kind in ["performance", "efficiency"] {
        let output = latlas(
            &home,
            &["run", "cpu.add_i64", "--dry-run", "--core-kind", kind],
        )
        .output()
        .expect("runs");
        if kinds > 1 {
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            continue;
        }
        assert_eq!(output.status.code(), Some(2));
        let err = text(&output.stderr);
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(err.contains("leave --core-kind out"), "{err}");
    }
}

#[test]
fn the_seed_asked_for_is_in_the_document() {
    let home = home();
    let plan = |seed: &str| {
        let file = format!("{seed}.json");
        let out = format!("--out={file}");
        let arguments = [
            "run",
            "cpu.add_i64",
            "cpu.mul_i64",
            "--budget",
            "1s",
            "--seed",
            seed,
            &out,
        ];
        let output = latlas(&home, &arguments).output().expect("runs");
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{}",
            text(&output.stderr)
        );
        read(&home.path().join(file)).plan
    };
    let (one, two) = (plan("1"), plan("2"));
    assert_eq!((one.seed, two.seed), (1, 2));
}

#[test]
fn a_full_disk_is_one_line_and_exit_code_2() {
    let home = home();
    let output = latlas(
        &home,
        &["run", "cpu.add_i64", "--budget", "1s", "--out", "/dev/full"],
    )
    .output()
    .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let err = text(&output.stderr);
    assert!(err.contains("/dev/full"), "{err}");
    assert!(
        text(&output.stdout).contains("add_i64"),
        "the table is not lost"
    );
}

#[path = "bad_days/files.rs"]
mod files;
#[path = "bad_days/processes.rs"]
mod processes;
#[path = "bad_days/requests.rs"]
mod requests;
#[path = "bad_days/sandbox.rs"]
mod sandbox;
#[path = "bad_days/stopped.rs"]
mod stopped;
#[path = "bad_days/threads.rs"]
mod threads;
