//! `latlas noise ab` on the real binary: what it refuses, that every job does
//! the same work under what was asked for, and that nothing is left behind.
#![cfg(target_os = "linux")]

mod copied;

use model::noise::effect::{Effects, Load, Workload};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_latlas");

/// First word of a job's arguments.
const JOB: &str = "--a-job-of-noise-ab";

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

fn home() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn command(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(["noise", "ab"])
        .args(arguments)
        .current_dir(home.path())
        .env("LATLAS_STATE_DIR", home.path().join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn ab(home: &TempDir, arguments: &[&str]) -> Output {
    command(home, arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn document(output: &Output) -> Effects {
    let (code, err) = (output.status.code(), text(&output.stderr));
    assert!(matches!(code, Some(0 | 3)), "{code:?} {err}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {err}"))
}

fn refused(output: &Output, why: &str) {
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(text(&output.stdout), "");
    assert!(err.contains(why), "{why:?} not in {err}");
}

fn is_root() -> bool {
    sys::filesystem::user() == 0
}

/// Fields of `/proc/PID/stat` behind the name: state, parent, group, session.
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind) = stat.rsplit_once(')')?;
    Some(behind.split_whitespace().map(str::to_owned).collect())
}

/// Ids and arguments of the load of a latlas: its jobs, and those that one of
/// them started.
fn jobs_of(latlas: u32) -> Vec<(u32, String)> {
    let own = jobs_below(latlas);
    let below = own.iter().flat_map(|(id, _)| jobs_below(*id));
    let below: Vec<_> = below.collect();
    [own, below].concat()
}

fn jobs_below(parent: u32) -> Vec<(u32, String)> {
    let names = fs::read_dir("/proc").expect("proc");
    let ids = names.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| {
        let line = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let line = text(&line).replace('\0', " ");
        let alive = stat(id).is_some_and(|s| s[0] != "Z");
        (alive && line.contains(JOB) && line.contains(&format!("\"parent\":{parent},")))
            .then_some((id, line))
    })
    .collect()
}

/// Waits until there are so many processes of the load, or for their end.
fn wait_for_load(parent: u32, wanted: impl Fn(usize) -> bool) -> Vec<(u32, String)> {
    let began = Instant::now();
    loop {
        let jobs = jobs_of(parent);
        if wanted(jobs.len()) {
            return jobs;
        }
        let late = began.elapsed() > Duration::from_secs(60);
        assert!(!late, "the load is {jobs:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ends a latlas, and its load with it, where a test fails before it did.
struct EndAtPanic(u32);

impl Drop for EndAtPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = Command::new("kill")
                .args(["-KILL", &self.0.to_string()])
                .status();
        }
    }
}

/// One that goes on for long enough to be met.
fn long(home: &TempDir, load: &str) -> Child {
    let arguments = [
        "pin",
        "--workload",
        "cpu",
        "--load",
        load,
        "--busy",
        "2",
        "--rounds",
        "1000",
        "--json",
    ];
    command(home, &arguments).spawn().expect("it starts")
}

fn cpus() -> usize {
    sys::allowed_cpus().expect("Linux").len()
}

#[test]
fn what_is_wrong_is_refused_in_one_line() {
    let home = home();
    let no = |arguments: &[&str], why: &str| refused(&ab(&home, arguments), why);
    no(&["autogrup"], "did you mean autogroup");
    no(&["--rounds", "9", "--for", "1s"], "cannot be used with");
    no(&["--job", "0ms"], "give 1ms to 5s");
    no(&["--cpus", "8000"], "can't be used");
    no(&["pin", "--out", "/no/such/place.json"], "/no/such");
    no(&["no-such", "--dry-run"], "there are pin, nice");
    let nothing = ab(&home, &["smt", "--cpus", "0"]);
    if nothing.status.code() == Some(2) {
        refused(&nothing, "nothing can be tried here: smt: ");
    } else {
        eprintln!("SKIPPED: this machine has sibling threads");
    }
    assert!(jobs_of(0).is_empty());
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let home = home();
    let output = ab(&home, &["--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for name in ["pin", "autogroup+pin+nice", "turbo", "cache"] {
        assert!(said.lines().any(|l| l.starts_with(name)), "{name}: {said}");
    }
    assert!(
        said.contains("wakeup beside a load of another session"),
        "{said}"
    );
    assert!(said.contains("rounds of each"), "{said}");
    let row = |name: &str| {
        let lines = said.lines();
        let line = lines
            .into_iter()
            .find(|l| l.split(' ').next() == Some(name));
        line.expect(name).to_owned()
    };
    assert!(row("smt").contains("not available here"), "{said}");
    assert!(row("fifo").contains("needs root or CAP_SYS_NICE"), "{said}");
    let json = ab(&home, &["pin", "cache", "--dry-run", "--json"]);
    let plan: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert!(plan["expected_ms"].as_u64().is_some_and(|ms| ms > 0));
    assert!(!home.path().join("state").exists());
}

#[test]
fn every_run_does_the_same_work_under_what_was_asked_for() {
    let home = home();
    let out = home.path().join("ab.json");
    let path = out.to_str().expect("text");
    let output = ab(
        &home,
        &[
            "pin", "nice", "session", "turbo", "--load", "none", "--job", "1ms", "--rounds", "6",
            "--seed", "4", "--json", "--out", path,
        ],
    );
    let document = document(&output);
    let kept: Effects =
        serde_json::from_slice(&fs::read(&out).expect("a file")).expect("the document");
    assert_eq!(kept, document);
    assert_eq!(document.partial, None);
    assert_eq!((document.how.seed, document.how.rounds), (4, 6));
    let names: Vec<&str> = document.controls.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        ["pin", "nice", "session", "turbo"],
        "none is dropped"
    );
    let nice = &document.controls[1];
    assert_eq!(nice.unavailable.is_some(), !is_root(), "{nice:?}");
    let workloads: Vec<Workload> = document.blocks.iter().map(|b| b.workload).collect();
    assert_eq!(
        workloads,
        [Workload::Cpu, Workload::Memory, Workload::Wakeup]
    );
    for block in &document.blocks {
        assert_eq!(block.load, Load::None);
        assert!(block.arms.len() >= 3);
        let work = document
            .how
            .work
            .iter()
            .find(|w| w.workload == block.workload);
        let work = work.expect("it was found");
        for arm in &block.arms {
            assert_eq!(arm.runs.len(), 6, "{}", arm.name);
            for run in &arm.runs {
                assert!(run.wall_ns >= run.took_ns && run.took_ns > 0);
                let sleeps = run.wakeups.map(|w| w.count);
                let expected = (block.workload == Workload::Wakeup).then_some(work.amount);
                assert_eq!(sleeps, expected);
                if let (Some(n), "pin") = (run.migrations, arm.name.as_str()) {
                    assert_eq!(n, 0, "it had one CPU");
                }
            }
        }
    }
    let effects = document.effects.len();
    assert!(effects == 6 || effects == 9 || effects == 12, "{effects}");
}

#[test]
fn loads_are_in_the_session_that_was_asked_for_and_end_with_a_killed_latlas() {
    for load in ["same-session", "other-session"] {
        let home = home();
        let mut latlas = long(&home, load);
        let id = latlas.id();
        let _end = EndAtPanic(id);
        // Two for each CPU.
        let jobs = wait_for_load(id, |n| n == 2 * cpus());
        let session = |pid: u32| stat(pid).map(|s| s[3].clone());
        // The last may not yet be where it goes.
        let until = Instant::now() + Duration::from_secs(60);
        let arrived = || {
            let of_load = session(jobs[0].0);
            let together = jobs.iter().all(|(job, _)| session(*job) == of_load);
            together && (of_load == session(id)) == (load == "same-session")
        };
        while !arrived() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let own = session(id).expect("it runs");
        for (job, line) in &jobs {
            let its = session(*job).expect("it runs");
            assert_eq!(its == own, load == "same-session", "{line}");
            let first = session(jobs[0].0).expect("it runs");
            assert_eq!(its, first, "one session for all of a load: {line}");
            let group = |pid: u32| stat(pid).map(|s| s[2].clone());
            assert_ne!(
                group(*job),
                group(id),
                "a terminal's signals are not for it"
            );
        }
        latlas.kill().expect("ours");
        latlas.wait().expect("ours");
        wait_for_load(id, |n| n == 0);
    }
}

#[test]
fn an_interruption_ends_the_load_and_prints_what_is_there() {
    let home = home();
    let latlas = long(&home, "same-session");
    let id = latlas.id();
    let _end = EndAtPanic(id);
    wait_for_load(id, |n| n == 2 * cpus());
    // Some rounds beside the load, after half a second in which it settles.
    std::thread::sleep(Duration::from_secs(4));
    let done = Command::new("kill")
        .args(["-INT", &id.to_string()])
        .status();
    assert!(done.expect("kill").success());
    let output = latlas.wait_with_output().expect("it ends");
    latlas_is_gone(id);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    if output.stdout.is_empty() {
        let err = text(&output.stderr);
        assert!(err.contains("interrupted"), "{err}");
        return;
    }
    let document: Effects = serde_json::from_slice(&output.stdout).expect("a document");
    let why = document.partial.expect("not whole");
    assert!(why.contains("interrupted"), "{why}");
}

fn latlas_is_gone(id: u32) {
    wait_for_load(id, |n| n == 0);
}

#[test]
fn a_run_beside_a_stop_is_made_again_and_says_so() {
    let home = home();
    let arguments = [
        "pin",
        "--workload",
        "cpu",
        "--load",
        "none",
        "--job",
        "500ms",
        "--rounds",
        "6",
        "--json",
    ];
    let latlas = command(&home, &arguments).spawn().expect("it starts");
    let id = latlas.id();
    let _end = EndAtPanic(id);
    let began = Instant::now();
    let running = |id: u32| {
        let names = fs::read_dir("/proc").expect("proc");
        names
            .filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| stat(*pid).is_some_and(|s| s[1] == id.to_string()))
            .any(|pid| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                text(&line).contains(JOB)
            })
    };
    while !running(id) {
        assert!(began.elapsed() < Duration::from_secs(60), "no job");
        std::thread::sleep(Duration::from_millis(5));
    }
    for (signal, then_ms) in [("-STOP", 100), ("-CONT", 0)] {
        let sent = Command::new("kill")
            .args([signal, &id.to_string()])
            .status();
        assert!(sent.expect("kill").success());
        std::thread::sleep(Duration::from_millis(then_ms));
    }
    let output = latlas.wait_with_output().expect("it ends");
    let document = document(&output);
    assert_eq!(document.partial, None);
    let remarks = document.remarks.join("; ");
    assert!(remarks.contains("runs were made again"), "{remarks}");
    assert!(
        document.blocks[0]
            .arms
            .iter()
            .all(|arm| arm.runs.len() == 6)
    );
}

#[test]
fn a_load_that_loses_a_process_is_named() {
    let home = home();
    let latlas = long(&home, "same-session");
    let id = latlas.id();
    let _end = EndAtPanic(id);
    let jobs = wait_for_load(id, |n| n == 2 * cpus());
    std::thread::sleep(Duration::from_secs(3));
    let victim = jobs[0].0.to_string();
    let killed = Command::new("kill").args(["-KILL", &victim]).status();
    assert!(killed.expect("kill").success());
    let output = latlas.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let said = text(&output.stdout) + &text(&output.stderr);
    let named = format!("process {victim} of the load has ended");
    assert!(said.contains(&named), "{said}");
    latlas_is_gone(id);
}

#[test]
fn a_system_wide_control_is_as_before_also_after_a_kill() {
    let before = fs::read_to_string(HUGE_PAGES).unwrap_or_default();
    if !is_root() || before.is_empty() || before.contains("[always]") {
        eprintln!("SKIPPED: {HUGE_PAGES} can't be switched to always here: {before:?}");
        return;
    }
    let home = home();
    let arguments = [
        "thp",
        "--workload",
        "cpu",
        "--load",
        "none",
        "--job",
        "20ms",
        "--rounds",
        "6",
        "--json",
    ];
    let document = document(&ab(&home, &arguments));
    assert_eq!(document.partial, None);
    assert_eq!(document.blocks[0].arms[1].name, "thp");
    assert_eq!(document.blocks[0].arms[1].runs.len(), 6);
    assert_eq!(fs::read_to_string(HUGE_PAGES).expect("there"), before);

    let mut arguments = arguments;
    arguments[6] = "500ms";
    let mut latlas = command(&home, &arguments).spawn().expect("it starts");
    let began = Instant::now();
    let seen_on = loop {
        let now = fs::read_to_string(HUGE_PAGES).expect("there");
        if now.contains("[always]") {
            break true;
        }
        if began.elapsed() > Duration::from_secs(120) {
            break false;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    latlas.kill().expect("ours");
    latlas.wait().expect("ours");
    assert!(seen_on, "it was never on");
    let killed = Instant::now();
    while fs::read_to_string(HUGE_PAGES).expect("there") != before {
        assert!(killed.elapsed() < Duration::from_secs(60), "still on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn cold_files_come_from_the_disk_and_their_directory_goes() {
    if !is_root()
        || fs::OpenOptions::new()
            .write(true)
            .open("/proc/sys/vm/drop_caches")
            .is_err()
    {
        eprintln!("SKIPPED: the page cache can't be dropped here");
        return;
    }
    let home = home();
    let output = command(&home, &["cache", "--rounds", "6", "--json"])
        .env("XDG_CACHE_HOME", home.path())
        .output()
        .expect("it runs");
    let document = document(&output);
    let files = &document.blocks[0];
    assert_eq!((files.workload, files.load), (Workload::Files, Load::None));
    let names: Vec<&str> = files.arms.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["none", "cold"]);
    assert_eq!(document.effects.len(), 1);
    // Reading from a disk, a process gives up its CPU to wait.
    let waits = |name: &str| -> u64 {
        let arm = files.arm(name).expect(name);
        arm.runs.iter().map(|run| run.voluntary).sum()
    };
    assert!(
        waits("cold") > waits("none"),
        "{} {}",
        waits("cold"),
        waits("none")
    );
    let left: Vec<_> = fs::read_dir(home.path()).expect("there").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_rights_the_rest_runs_and_says_what_is_missing() {
    if !is_root() {
        eprintln!("SKIPPED: only root can become another user");
        return;
    }
    let home = home();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(home.path(), open).expect("a mode");
    let copy: &Path = &home.path().join("latlas");
    copied::latlas_to(copy);
    let dry = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(copy)
        .args(["noise", "ab", "--dry-run", "--json"])
        .current_dir(home.path())
        .output()
        .expect("it runs");
    let plan: serde_json::Value = serde_json::from_slice(&dry.stdout).expect("JSON");
    let controls = plan["controls"].as_array().expect("controls");
    for control in controls {
        let needs = control["needs"].as_str();
        if needs.is_some_and(|needs| needs == "root") {
            assert!(control["unavailable"].is_string(), "{control}");
        }
    }
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(copy)
        .args([
            "noise",
            "ab",
            "--workload",
            "cpu",
            "--load",
            "none",
            "--job",
            "1ms",
        ])
        .args(["--rounds", "6", "--json"])
        .current_dir(home.path())
        .env("LATLAS_STATE_DIR", home.path().join("state"))
        .output()
        .expect("it runs");
    let document = document(&output);
    let state = |name: &str| {
        let control = document.controls.iter().find(|c| c.name == name);
        control.expect(name).unavailable.clone()
    };
    assert_eq!(state("pin"), None);
    assert_eq!(state("session"), None);
    for name in ["nice", "fifo", "shield", "cache", "irq-affinity"] {
        let why = state(name).unwrap_or_else(|| panic!("{name} needs root"));
        assert!(!why.contains('\n'), "{why}");
    }
    assert!(state("nice").expect("missing").contains("needs root"));
    let arms: Vec<&str> = document.blocks[0]
        .arms
        .iter()
        .map(|a| a.name.as_str())
        .collect();
    assert_eq!(arms, ["none", "pin", "session"]);
}
