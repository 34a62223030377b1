//! `latlas exec` on the real binary: what it refuses, what it keeps, and that
//! nothing is left behind. Shapes and promises are asserted, never times.
#![cfg(target_os = "linux")]

mod copied;

use model::command::{Ended, PageCache};
use model::compare::finding::Finding;
use model::estimate::Verdict;
use model::run::{Outcome, Run};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_latlas");

fn command(home: &Path, wrapper: &[&str], arguments: &[&str]) -> Command {
    let words: Vec<&str> = [wrapper, &[BINARY, "exec"], arguments].concat();
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(home)
        .env("LATLAS_DATA_DIR", home.join("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn home() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn exec(home: &TempDir, arguments: &[&str]) -> Output {
    command(home.path(), &[], arguments)
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run_of(output: &Output) -> Run {
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        text(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("a Run")
}

fn value(run: &Run, id: &str) -> f64 {
    let row = run.row(id).unwrap_or_else(|| panic!("no row {id}"));
    row.estimate().and_then(|e| e.ns()).expect("a figure").value
}

fn refused(output: &Output, why: &str) {
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(text(&output.stdout), "");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains(why), "{why:?} not in {err}");
}

fn kept(home: &TempDir) -> usize {
    std::fs::read_dir(home.path().join("data/runs")).map_or(0, Iterator::count)
}

#[test]
fn what_is_wrong_is_refused_in_one_line_and_nothing_is_kept() {
    let home = home();
    let no = |arguments: &[&str], why: &str| refused(&exec(&home, arguments), why);
    no(&["--", "no-such-program"], "no program \"no-such-program\"");
    no(
        &["--", "/etc/passwd"],
        "can't be executed: Permission denied",
    );
    no(&["--", "/"], "is a directory");
    no(&["--", "false"], "ended with exit code 1 in its warm-up");
    no(&["--warmup", "0", "--", "false"], "exit code 1 in run 1");
    no(
        &["--", "sh", "-c", "echo oh no >&2; exit 3"],
        "and said \"oh no\"",
    );
    no(
        &["--", "sh", "-c", "kill -SEGV $$"],
        "killed by signal 11 (SIGSEGV)",
    );
    no(
        &["--vs", "false", "--", "true"],
        "\"false\" ended with exit code 1",
    );
    no(&["--vs", "a 'b", "--", "true"], "can't split");
    no(
        &["--vs", "true", "--name", "a", "--name", "a", "--", "true"],
        "two commands are named",
    );
    no(
        &["--name", "a", "--name", "b", "--", "true"],
        "2 names for 1 commands",
    );
    no(
        &["--check", "grep -q y", "--", "echo", "x"],
        "the check failed: \"grep -q y\"",
    );
    no(
        &["--check", "true", "--warmup", "0", "--", "true"],
        "leave out --warmup 0",
    );
    no(
        &["--check", "no-such-check", "--", "true"],
        "no program \"no-such-check\"",
    );
    no(&["--pin", "8000", "--", "true"], "CPU 8000 can't be used");
    std::fs::write(home.path().join("in"), "x\n").expect("a file");
    no(
        &["--input", "in", "--output", "./in", "--", "cat"],
        "--output and --input are the same file, in",
    );
    no(
        &["--output", "new.json", "--out", "new.json", "--", "true"],
        "--output and --out are the same file",
    );
    let untouched = std::fs::read_to_string(home.path().join("in"));
    assert_eq!(untouched.expect("there"), "x\n");
    no(
        &["--", "sh", "-c", "kill -STOP $$"],
        "was stopped by signal 19 (SIGSTOP) in its warm-up and nobody let it go on: it was killed",
    );
    no(&["--input", "absent", "--", "true"], "can't read absent");
    no(
        &["--output", "absent/x", "--", "true"],
        "can't write absent/x",
    );
    no(
        &["--cold-files", "absent", "--", "true"],
        "can't drop absent",
    );
    no(
        &["--timeout", "150ms", "--", "sleep", "86399"],
        "ran longer than --timeout allows, 150ms",
    );
    std::fs::write(home.path().join("script"), "exit 0\n").expect("a file");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.path().join("script"), executable).expect("a mode");
    no(&["--", "./script"], "#!/bin/sh, or --shell");
    assert_eq!(kept(&home), 0);
}

#[test]
fn a_slip_of_the_fingers_is_no_command() {
    let home = home();
    let slip = |arguments: &[&str], why: &str| {
        let output = exec(&home, arguments);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(why), "{err}");
    };
    slip(
        &["--warmups", "3", "--", "true"],
        "unexpected argument '--warmups'",
    );
    slip(&["--pin", "ls"], "-- before the command");
    // Behind the command, and behind --, everything is the command's.
    std::fs::write(home.path().join("-x"), "#!/bin/sh\n").expect("a file");
    let arguments = ["-r", "6", "--json", "sh", "-c", "exit 0", "-r", "--json"];
    let run = run_of(&exec(&home, &arguments));
    let words = run.commands.expect("commands").commands.remove(0).words;
    assert_eq!(words, ["sh", "-c", "exit 0", "-r", "--json"]);
    refused(&exec(&home, &["--", "-x"]), "no program \"-x\"");
}

#[test]
fn a_parent_that_ignores_its_children_is_no_obstacle() {
    let home = home();
    // A shell would not do: dash hears of its children whatever it is told.
    let words = ["env", "--ignore-signal=CHLD"];
    let output = command(home.path(), &words, &["-r", "6", "--json", "--", "true"]).output();
    let run = run_of(&output.expect("it runs"));
    assert!(value(&run, "exec.true/wall") > 0.0);
}

#[test]
fn a_command_that_wants_the_terminal_is_not_waited_for() {
    let home = home();
    // A terminal of its own, with latlas in its foreground.
    let line = format!("'{BINARY}' exec -- sh -c 'read x </dev/tty'");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env("LATLAS_DATA_DIR", home.path().join("data"))
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else { return };
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{out}");
    assert!(out.contains("(SIGTTIN)"), "{out}");
    assert!(out.contains("wants the terminal"), "{out}");
}

#[test]
fn a_run_that_latlas_slept_through_is_made_again() {
    let home = home();
    let script = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n; \
                  if [ $n = 3 ]; then kill -CONT $PPID; fi";
    let arguments = ["-r", "6", "--json", "--", "sh", "-c", script];
    let run = run_of(&exec(&home, &arguments));
    let wall = run.row("exec.sh/wall").and_then(|r| r.estimate().cloned());
    assert_eq!(wall.and_then(|e| e.typical).expect("runs").samples, 6);
    let ran = std::fs::read_to_string(home.path().join("n")).expect("counted");
    assert_eq!(ran.trim(), "8", "a warm-up, six, and one again");
    let remarks = run.conditions.remarks.join(" ");
    assert!(remarks.contains("during 1 of the runs"), "{remarks}");
}

#[test]
fn what_is_left_running_is_told_of_the_one_that_left_it() {
    let home = home();
    let leaves = "sleep 86397.125 >/dev/null 2>&1 &";
    let arguments = [
        "-r", "6", "--json", "--vs", "true", "--name", "leaves", "--", "sh", "-c", leaves,
    ];
    let run = run_of(&exec(&home, &arguments));
    let notes = |id: &str| run.row(id).expect("a row").notes.join(" ");
    let told = notes("exec.leaves/wall");
    assert!(
        told.contains("7 of them were still there at the end and were killed"),
        "{told}"
    );
    assert_eq!(notes("exec.true/wall"), "");
    soon("nothing is left", || running("sleep 86397.125").is_empty());
}

#[test]
fn a_time_that_is_not_known_is_no_success() {
    let home = home();
    // By turns a hundred times as long: the counts are known, the time is not.
    let script = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n; \
                  if [ $((n%2)) = 1 ]; then sleep 0.3; fi";
    let output = exec(&home, &["-r", "8", "--json", "--", "sh", "-c", script]);
    let run = run_of(&output);
    let verdict = |id: &str| run.row(id).and_then(|r| r.estimate()).expect("one").verdict;
    assert_ne!(verdict("exec.sh/wall"), Verdict::Ok);
    assert_eq!(verdict("exec.sh/major_faults"), Verdict::Ok);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_failure_that_is_allowed_is_counted_and_told() {
    let home = home();
    let arguments = ["-r", "7", "--ignore-failure", "--", "false"];
    let output = exec(&home, &[&["--json"][..], &arguments].concat());
    assert_eq!(
        run_of(&output).commands.expect("commands").commands[0].failures,
        7
    );
    let out = text(&exec(&home, &arguments).stdout);
    assert!(out.contains("7 of its runs FAILED"), "{out}");
}

#[test]
fn a_run_is_kept_and_shown_again_as_it_was() {
    let home = home();
    let file = home.path().join("run.json");
    let arguments = [
        "-r", "8", "--out", "run.json", "--name", "nothing", "--", "true",
    ];
    let output = exec(&home, &arguments);
    let out = text(&output.stdout);
    assert!(out.contains("exec.nothing  true"), "{out}");
    assert!(
        out.contains("8 timed; 1 warm-up each, kept out; as many as asked for"),
        "{out}"
    );
    assert!(out.contains("page cache  warm"), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    assert_eq!(kept(&home), 1);
    let again = Command::new(BINARY)
        .args(["show", "last"])
        .env("LATLAS_DATA_DIR", home.path().join("data"))
        .output()
        .expect("it runs");
    assert_eq!(text(&again.stdout), out);
    let run: Run = serde_json::from_slice(&std::fs::read(file).expect("written")).expect("a Run");
    for cell in &run.cells {
        assert_eq!(cell.samples.samples().expect("whole").len(), 8);
    }
    let record = run.commands.as_ref().expect("commands");
    assert_eq!(record.commands[0].words, ["true"]);
    assert_eq!(
        (record.ended, &record.page_cache),
        (Ended::AsAsked, &PageCache::Warm)
    );
    assert!(value(&run, "exec.nothing/wall") > value(&run, "exec.nothing/start"));
    assert!(value(&run, "exec.nothing/faults") > 10.0);
}

#[test]
fn two_commands_run_by_turns_and_are_set_beside_each_other() {
    let home = home();
    let busy = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";
    let vs = format!("sh -c '{busy}; {busy}; {busy}'");
    let arguments = [
        "--json", "-r", "12", "--seed", "3", "--vs", &vs, "--", "sh", "-c", busy,
    ];
    let run = run_of(&exec(&home, &arguments));
    let record = run.commands.as_ref().expect("commands");
    let names: Vec<&str> = record.commands.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["sh", "sh-2"]);
    let cell = |id: &str| run.cells.iter().find(|c| c.row == id).expect("a cell");
    let at = |id: &str| -> Vec<u32> {
        let samples = cell(id).samples.samples().expect("whole");
        samples.iter().map(|s| s.at_ms).collect()
    };
    // By turns: the rounds of the two overlap in time.
    let (first, second) = (at("exec.sh/wall"), at("exec.sh-2/wall"));
    assert_eq!((first.len(), second.len()), (12, 12));
    assert!(
        first
            .windows(2)
            .zip(&second)
            .all(|(own, other)| own[0] <= *other + 1000)
    );
    assert!(first[11] >= second[10].min(second[9]));
    let wall = record
        .compared
        .iter()
        .find(|c| c.row == "wall")
        .expect("compared");
    assert_eq!((wall.name.as_str(), wall.rounds), ("sh-2", 12));
    // Three times the work: no machine is so noisy that its CPU time is not
    // more.
    let clock = record.compared.iter().find(|c| c.row == "task_clock");
    if let Some(clock) = clock {
        assert_eq!(clock.word, Finding::Different);
        assert!(clock.ratio.expect("twelve rounds").low > 1.0);
    }
}

#[test]
fn streams_go_where_they_should() {
    let home = home();
    std::fs::write(home.path().join("in"), "from a file\n").expect("a file");
    let arguments = ["-r", "6", "--input", "in", "--output", "out", "--", "cat"];
    assert!(exec(&home, &arguments).status.code() != Some(2));
    let written = std::fs::read_to_string(home.path().join("out")).expect("written");
    assert_eq!(written, "from a file\n", "emptied before each run");
    let shown = exec(
        &home,
        &[
            "-r", "6", "--output", "show", "--json", "--", "echo", "hello",
        ],
    );
    assert_eq!(
        text(&shown.stderr),
        "hello\n".repeat(6),
        "the warm-up's is not shown"
    );
    run_of(&shown);
    let quiet = exec(&home, &["-r", "6", "--", "sh", "-c", "echo a; echo b >&2"]);
    assert_eq!(text(&quiet.stderr), "");
    // Its input is empty, not ours.
    assert!(
        exec(&home, &["-r", "6", "--", "sh", "-c", "! read x"])
            .status
            .code()
            != Some(2)
    );
}

#[test]
fn a_check_sees_the_whole_output_of_the_warm_up() {
    let home = home();
    std::fs::write(home.path().join("expected"), "a\nb\n").expect("a file");
    let right = [
        "-r",
        "6",
        "--check",
        "cmp - expected",
        "--",
        "printf",
        "a\\nb\\n",
    ];
    let out = text(&exec(&home, &right).stdout);
    assert!(out.contains("found right by \"cmp - expected\""), "{out}");
    let wrong = ["--check", "cmp - expected", "--", "printf", "a\\nc\\n"];
    refused(&exec(&home, &wrong), "and said \"- expected differ");
}

#[test]
fn a_shells_own_cost_is_stated() {
    let home = home();
    let out = text(&exec(&home, &["-r", "6", "--shell", "--", "echo a | cat"]).stdout);
    assert!(
        out.contains("exec.echo  echo a | cat (by a shell)"),
        "{out}"
    );
    assert!(out.contains("`sh -c :` alone takes"), "{out}");
    assert!(out.contains("not taken off"), "{out}");
}

#[test]
fn a_pinned_command_has_its_cpu_for_itself() {
    let cpus = sys::allowed_cpus().expect("known");
    let cpu = cpus[cpus.len() - 1];
    let home = home();
    let arguments = [
        "-r",
        "6",
        "--nice",
        "5",
        "--pin",
        &cpu.to_string(),
        "--json",
        "--",
    ];
    let check =
        format!("grep -qx 'Cpus_allowed_list:\t{cpu}' /proc/self/status && test $(nice) = 5");
    let run = run_of(&exec(
        &home,
        &[&arguments[..], &["sh", "-c", &check]].concat(),
    ));
    let controls = run.commands.expect("commands").controls;
    assert_eq!((controls.pinned_cpu, controls.nice), (Some(cpu), Some(5)));
    assert_eq!(controls.observer_apart, cpus.len() > 1);
    let one = command(
        home.path(),
        &["taskset", "-c", &cpu.to_string()],
        &["-r", "6", "--pin", "--", "true"],
    );
    let mut one = one;
    let out = text(&one.output().expect("it runs").stdout);
    assert!(
        out.contains("latlas itself has to share: there is no other"),
        "{out}"
    );
    assert!(
        out.replace("\n            ", " ")
            .contains("only one CPU may be used"),
        "{out}"
    );
}

/// Whether this test may become another user.
fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|s| s.lines().any(|l| l.starts_with("Uid:\t0\t0")))
}

#[test]
fn without_rights_what_is_missing_is_told_with_what_would_give_it() {
    if !is_root() {
        return;
    }
    let home = home();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(home.path(), open).expect("a mode");
    let copy = home.path().join("latlas");
    copied::latlas_to(&copy);
    let other = |arguments: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&copy)
            .arg("exec")
            .args(arguments)
            .current_dir(home.path())
            .env("LATLAS_DATA_DIR", home.path().join("data"))
            .output()
            .expect("it runs")
    };
    let run = run_of(&other(&["-r", "6", "--json", "--", "true"]));
    assert!(value(&run, "exec.true/context_switches") >= 0.0);
    assert!(value(&run, "exec.true/faults") > 10.0);
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    if paranoid.is_ok_and(|p| p.trim().parse().is_ok_and(|p: i32| p >= 2)) {
        match &run.row("exec.true/cpu_migrations").expect("a row").outcome {
            Outcome::Unavailable { reason } => assert!(reason.contains("CAP_PERFMON"), "{reason}"),
            other => panic!("{other:?}"),
        }
        let notes = &run.row("exec.true/context_switches").expect("a row").notes;
        assert!(notes[0].contains("as wait4 tells"), "{notes:?}");
    }
    refused(&other(&["--cold", "--", "true"]), "--cold needs root");
    refused(
        &other(&["--nice", "-5", "--", "true"]),
        "a lower nice value needs root",
    );
}

#[test]
fn files_that_are_to_be_cold_are_and_say_so() {
    let home = home();
    std::fs::write(home.path().join("data.bin"), vec![7; 300_000]).expect("a file");
    let arguments = [
        "--json",
        "-r",
        "6",
        "--cold-files",
        "data.bin",
        "--",
        "cat",
        "data.bin",
    ];
    let run = run_of(&exec(&home, &arguments));
    let cache = run.commands.expect("commands").page_cache;
    let PageCache::ColdFiles {
        files,
        stayed_pages,
        untold,
    } = cache
    else {
        panic!("{cache:?}");
    };
    assert_eq!(files, ["data.bin"]);
    assert_eq!(untold, [""; 0], "it is ours");
    // On a tmpfs all of them stay, and then the page says so.
    let out = text(&exec(&home, &arguments[1..]).stdout);
    assert_eq!(out.contains("NOT ALL COLD"), stayed_pages > 0, "{out}");
}

#[test]
fn of_a_strangers_file_nobody_says_that_it_stayed() {
    use std::os::unix::fs::chown;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let home = home();
    // Root owns it, and nobody else may write it.
    let arguments = ["-r", "6", "--cold-files", "/etc/passwd", "--", "true"];
    let mut command = command(home.path(), &[], &arguments);
    if sys::filesystem::user() == 0 {
        if let Err(e) = chown(home.path(), Some(NOBODY), None) {
            eprintln!("SKIPPED: there is nobody else in this user namespace: {e}");
            return;
        }
        command.uid(NOBODY);
    }
    let output = match command.output() {
        Err(e) => {
            eprintln!("SKIPPED: {BINARY} can't be run as another user: {e}");
            return;
        }
        output => output.expect("runs"),
    };
    let out = text(&output.stdout);
    assert!(!out.contains("ALL COLD"), "{out}");
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "what stayed of /etc/passwd can't be told";
    assert!(words.contains(expected), "{out}{}", text(&output.stderr));
}

/// Process ids of this command line.
fn running(words: &str) -> Vec<u32> {
    let found = std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let line = std::fs::read(path.join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (line.trim() == words).then(|| path.file_name()?.to_str()?.parse().ok())?
        });
    found.collect()
}

fn soon(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(pid: u32, name: &str) {
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -{name} {pid}")])
        .status();
    assert!(sent.expect("sh runs").success());
}

#[test]
fn ctrl_c_prints_what_there_is_and_leaves_nothing_running() {
    let home = home();
    // Short at first, endless from the fifth time on.
    let script = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n; \
                  if [ $n -ge 5 ]; then sleep 86397.25; fi";
    let child = command(home.path(), &[], &["--json", "--", "sh", "-c", script]).spawn();
    let child = child.expect("starts");
    soon("the endless run", || !running("sleep 86397.25").is_empty());
    signal(child.id(), "INT");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let run = run_of(&output);
    assert!(run.partial.is_some());
    assert_eq!(
        run.commands.as_ref().expect("commands").ended,
        Ended::Interrupted
    );
    let wall = run.row("exec.sh/wall").and_then(|r| r.estimate().cloned());
    // One warm-up and four timed runs had ended.
    assert_eq!(wall.and_then(|e| e.typical).expect("four runs").samples, 4);
    assert_eq!(kept(&home), 1);
    soon("nothing is left", || running("sleep 86397.25").is_empty());
}

#[test]
fn interrupted_before_the_first_run_there_is_nothing_to_show() {
    let home = home();
    let child = command(home.path(), &[], &["--", "sleep", "86397.5"]).spawn();
    let child = child.expect("starts");
    soon("the warm-up", || !running("sleep 86397.5").is_empty());
    signal(child.id(), "TERM");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).contains("nothing to show"));
    assert_eq!(kept(&home), 0);
    soon("nothing is left", || running("sleep 86397.5").is_empty());
}

#[test]
fn a_latlas_that_is_killed_leaves_no_command_and_no_child_of_it() {
    let home = home();
    let script = "sleep 86397.75 & sleep 86397.75";
    let child = command(home.path(), &[], &["--", "sh", "-c", script]).spawn();
    let mut child = child.expect("starts");
    soon("both sleeps", || running("sleep 86397.75").len() == 2);
    child.kill().expect("killed");
    child.wait().expect("reaped");
    soon("nothing is left", || running("sleep 86397.75").is_empty());
    soon("nor the shell", || {
        running(&format!("sh -c {script}")).is_empty()
    });
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let home = home();
    let mut child = command(home.path(), &[], &["-r", "6", "--", "true"])
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert!(output.status.code() != Some(2), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}
