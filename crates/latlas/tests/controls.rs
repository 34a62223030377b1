//! Controls of single processes on the real binary: had by those who are
//! measured, from inside and from outside, by nobody else, refused before
//! anything runs, and with nothing left behind.
#![cfg(target_os = "linux")]

mod copied;

use model::noise::applied::{Applied, Policy};
use model::run::Run;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_latlas");

fn home() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(arguments)
        .current_dir(home)
        .env("LATLAS_DATA_DIR", home.join("data"))
        .env("LATLAS_STATE_DIR", home.join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn latlas(home: &TempDir, arguments: &[&str]) -> Output {
    command(home.path(), arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run_of(output: &Output) -> Run {
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 3)), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a Run")
}

fn applied(run: &Run) -> &Applied {
    run.conditions.applied.as_ref().expect("schema 4 tells it")
}

/// What belongs to this process and its session: it must be as before.
/// Not its CPUs: the shield of another test moves everybody meanwhile.
fn own() -> (String, model::noise::applied::Settings) {
    let autogroup = std::fs::read_to_string("/proc/self/autogroup").unwrap_or_default();
    let settings = model::noise::applied::Settings {
        cpus: Vec::new(),
        cpuset: None,
        ..sys::controls::granted()
    };
    (autogroup, settings)
}

/// Held for writing while there is a shield, for reading by who looks at CPUs.
static SHIELD: std::sync::RwLock<()> = std::sync::RwLock::new(());

/// Whether all controls can be had here.
fn may_all() -> bool {
    let wanted = sys::controls::Controls {
        nice: Some(-1),
        own_session: true,
        autogroup: Some(-1),
        policy: Some(sys::controls::Policy::Fifo(1)),
        ..sys::controls::Controls::default()
    };
    sys::controls::try_out(&wanted)
        .map_err(|refused| eprintln!("SKIPPED: {refused}"))
        .is_ok()
}

const ALL: [&str; 4] = ["--autogroup=-7", "--nice=-3", "--fifo=2", "--json"];

fn granted_all(applied: &Applied) {
    let granted = &applied.granted;
    assert_eq!(applied.refused, [""; 0]);
    assert_eq!((granted.autogroup, granted.nice), (Some(-7), Some(-3)));
    assert_eq!(granted.policy, Some(Policy::Fifo(2)));
    assert_eq!(granted.own_session, Some(true));
}

#[test]
fn a_command_and_its_children_have_what_was_asked_for() {
    if !may_all() {
        return;
    }
    let (home, before) = (home(), own());
    let look = "cat /proc/self/autogroup; nice; read -r s </proc/self/stat; \
                set -- ${s##*) }; echo $4 ${38} ${39}";
    std::fs::write(home.path().join("look"), look).expect("a file");
    let arguments = ["exec", "-r", "6", "--output", "said"];
    let line = "echo $$; sh look; sh -c 'sh look'";
    let command = ["--", "sh", "-c", line];
    let output = latlas(&home, &[&arguments[..], &ALL, &command].concat());
    granted_all(applied(&run_of(&output)));
    let said = std::fs::read_to_string(home.path().join("said")).expect("written");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 7, "{said}");
    assert_eq!(lines[1..4], lines[4..], "grandchildren too");
    assert!(lines[1].ends_with(" nice -7"), "{said}");
    assert_eq!((lines[2], lines[3]), ("-3", &*format!("{} 2 1", lines[0])));
    assert_eq!(own(), before);
}

/// Children of a process, by `/proc/PID/stat`.
fn children(parent: u32) -> Vec<u32> {
    let of = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.ok()?.path();
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        let found: u32 = stat
            .rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()?;
        (found == parent).then(|| path.file_name()?.to_str()?.parse().ok())?
    };
    std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(of)
        .collect()
}

fn soon<T>(what: &str, mut is: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = is() {
            return found;
        }
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn workers_have_what_was_asked_for_as_others_see_it() {
    if !may_all() {
        return;
    }
    let _nobody_is_moved = SHIELD.read();
    let (home, before) = (home(), own());
    let arguments = ["run", "cpu.add_i32", "--budget", "4s", "--quick"];
    let child = command(home.path(), &[&arguments[..], &ALL].concat()).spawn();
    let child = child.expect("starts");
    let worker = soon("a worker that has all", || {
        let has_all = |pid: &u32| {
            let path = format!("/proc/{pid}");
            let autogroup = std::fs::read_to_string(format!("{path}/autogroup")).ok()?;
            let stat = std::fs::read_to_string(format!("{path}/stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
            // Session, nice, real-time priority, policy (fields 6, 19, 40, 41).
            let seen = (fields[3], fields[16], fields[37], fields[38]);
            let expected = (&*pid.to_string(), "-3", "2", "1");
            (autogroup.trim().ends_with(" nice -7") && seen == expected).then_some(*pid)
        };
        children(child.id()).iter().find_map(has_all)
    });
    let output = child.wait_with_output().expect("ends");
    let run = run_of(&output);
    granted_all(applied(&run));
    assert_eq!(applied(&run).asked.cpus, run.conditions.pinned_cpus);
    let remarks = run.conditions.remarks.join(" ");
    assert!(remarks.contains("SCHED_FIFO"), "{remarks}");
    assert!(!Path::new(&format!("/proc/{worker}")).exists());
    assert_eq!(own(), before);
}

#[test]
fn a_nice_value_weighs_against_others_though_workers_are_alone_in_their_sessions() {
    if !may_all() {
        return;
    }
    let _nobody_is_moved = SHIELD.read();
    let (home, before) = (home(), own());
    let run = |more: &[&str]| {
        let arguments = ["run", "cpu.add_i32", "--quick", "--json"];
        run_of(&latlas(&home, &[&arguments[..], more].concat()))
    };
    let nice = run(&["--nice=-3"]);
    let granted = &applied(&nice).granted;
    assert_eq!(applied(&nice).refused, [""; 0]);
    assert_eq!(granted.nice, Some(-3));
    let remarks = nice.conditions.remarks.join(" ");
    match sys::controls::autogroups() {
        Ok(()) => {
            assert_eq!(granted.autogroup, Some(-3));
            assert!(remarks.contains("alone in its autogroup"), "{remarks}");
        }
        Err(why) => eprintln!("SKIPPED: {why}"),
    }
    assert_eq!(own(), before);
}

#[test]
fn by_default_workers_are_pinned_in_sessions_of_their_own_and_may_have_nothing() {
    let _nobody_is_moved = SHIELD.read();
    let home = home();
    let run = |more: &[&str]| {
        let arguments = ["run", "cpu.add_i32", "--quick", "--json"];
        run_of(&latlas(&home, &[&arguments[..], more].concat()))
    };
    let default = run(&[]);
    assert_eq!(applied(&default).granted.own_session, Some(true));
    assert_eq!(
        applied(&default).granted.cpus,
        default.conditions.pinned_cpus
    );
    assert_eq!(default.conditions.pinned_cpus.len(), 1);
    assert_eq!(applied(&default).granted.policy, Some(Policy::Other));
    let none = run(&["--no-controls"]);
    assert_eq!(none.conditions.pinned_cpus, [0; 0]);
    assert_eq!(none.conditions.not_pinned, None);
    let granted = &applied(&none).granted;
    assert_eq!(granted.own_session, Some(false));
    assert_eq!(granted.cpus, sys::allowed_cpus().expect("known"));
    assert_eq!(applied(&none).asked, Default::default());
    // The page says it, and comparing the two does.
    let kept = ["compare", "last~1", "last"];
    let said = text(&latlas(&home, &kept).stdout);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("a session of their own"), "{said}");
    let shown = text(&latlas(&home, &["show", "last~1", "--wide"]).stdout);
    assert!(shown.contains("a session of their own"), "{shown}");
}

#[test]
fn without_a_right_each_control_is_refused_in_one_line_before_anything_runs() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let open = PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(home.path(), open).expect("a mode");
    if sys::filesystem::user() != 0 {
        eprintln!("SKIPPED: only root can become nobody");
        return;
    }
    let copy = home.path().join("latlas");
    copied::latlas_to(&copy);
    let other = |arguments: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&copy)
            .args(arguments)
            .current_dir(home.path())
            .env("LATLAS_DATA_DIR", home.path().join("data"))
            .output()
            .expect("setpriv is there")
    };
    for (control, why) in [
        ("--nice=-5", "root"),
        ("--autogroup=-5", "--autogroup"),
        ("--fifo", "ulimit -r"),
        ("--cold", "--cold needs root"),
        ("--shield=1", "needs root"),
    ] {
        // What it would do, if it ran.
        let touch = ["exec", control, "--", "touch", "ran"];
        for arguments in [&touch[..], &["run", "cpu.add_i32", "--quick", control]] {
            let output = other(arguments);
            let err = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{arguments:?} {err}");
            assert_eq!(
                (text(&output.stdout), err.lines().count()),
                (String::new(), 1),
                "{err}"
            );
            // Where there are no autogroups that is the reason.
            let known = err.contains(why) || err.contains("autogroup");
            assert!(known, "{why:?} not in {err}");
        }
    }
    assert!(!home.path().join("ran").exists());
    let kept = std::fs::read_dir(home.path().join("data/runs"));
    assert_eq!(kept.map_or(0, Iterator::count), 0);
    // What needs no right is granted.
    let output = other(&[
        "exec",
        "-r",
        "6",
        "--nice=5",
        "--own-session",
        "--json",
        "--",
        "true",
    ]);
    let run = run_of(&output);
    assert_eq!(applied(&run).granted.nice, Some(5));
    assert_eq!(applied(&run).granted.own_session, Some(true));
}

fn running(words: &str) -> usize {
    let line_of = |entry: std::io::Result<std::fs::DirEntry>| {
        let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    };
    let lines = std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(line_of);
    lines.filter(|line| line.trim() == words).count()
}

fn none_of(words: &str) {
    soon(words, || (running(words) == 0).then_some(()));
}

/// A command with a child, of which one spins; not before the child had its
/// turn, which on one CPU it would not get from SCHED_FIFO.
fn spinning(mark: &str) -> String {
    format!("sleep {mark} & sleep 0.3; while :; do :; done")
}

#[test]
fn a_latlas_that_is_killed_leaves_nothing_of_a_session_and_of_real_time() {
    let home = home();
    let mut controls = vec!["--own-session"];
    if may_all() {
        controls.extend(["--fifo", "--autogroup=-5"]);
    }
    let script = spinning("86395.75");
    let line = ["--", "sh", "-c", &script];
    let child = command(home.path(), &[&["exec"], &controls[..], &line].concat()).spawn();
    let mut child = child.expect("starts");
    soon("the child", || {
        (running("sleep 86395.75") == 1).then_some(())
    });
    child.kill().expect("killed");
    child.wait().expect("reaped");
    none_of("sleep 86395.75");
    none_of(&format!("sh -c {script}"));
}

#[test]
fn an_interrupt_ends_sessions_and_so_does_a_limit() {
    let home = home();
    let script = spinning("86395.5");
    let controls = ["exec", "--own-session"];
    let line = ["--", "sh", "-c", &script];
    let child = command(home.path(), &[&controls[..], &line].concat()).spawn();
    let child = child.expect("starts");
    soon("the child", || {
        (running("sleep 86395.5") == 1).then_some(())
    });
    let interrupt = format!("kill -INT {}", child.id());
    let sent = Command::new("sh").args(["-c", &interrupt]).status();
    assert!(sent.expect("sh runs").success());
    assert_eq!(
        child.wait_with_output().expect("ends").status.code(),
        Some(3)
    );
    none_of("sleep 86395.5");
    none_of(&format!("sh -c {script}"));

    let script = spinning("86395.25");
    let fifo: &[&str] = if may_all() { &["--fifo"] } else { &[] };
    let limit = ["--timeout", "300ms", "--", "sh", "-c", &script];
    let output = latlas(&home, &[&controls[..], fifo, &limit].concat());
    let err = text(&output.stderr);
    assert!(err.contains("longer than --timeout allows"), "{err}");
    none_of("sleep 86395.25");
    none_of(&format!("sh -c {script}"));
}

#[test]
fn a_killed_run_leaves_no_worker() {
    let home = home();
    let mut arguments = vec!["run", "cpu.add_i32", "--budget", "30s"];
    if may_all() {
        arguments.push("--fifo");
    }
    let mut child = command(home.path(), &arguments).spawn().expect("starts");
    let workers = soon("workers", || {
        let found = children(child.id());
        (found.len() >= 8).then_some(found)
    });
    child.kill().expect("killed");
    child.wait().expect("reaped");
    let is_there = |pid: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.trim() == "latlas")
    };
    soon("no worker", || {
        (!workers.iter().any(is_there)).then_some(())
    });
}

#[test]
fn a_cold_run_says_so_once() {
    let home = home();
    if sys::filesystem::user() != 0 || std::fs::metadata("/proc/sys/vm/drop_caches").is_err() {
        eprintln!("SKIPPED: dropping the page cache needs root");
        return;
    }
    let output = latlas(
        &home,
        &["run", "cpu.add_i32", "--quick", "--cold", "--json"],
    );
    if text(&output.stderr).contains("can't drop the page cache") {
        eprintln!("SKIPPED: {}", text(&output.stderr));
        return;
    }
    let run = run_of(&output);
    assert!(applied(&run).page_cache_dropped);
    let shown = text(&latlas(&home, &["show"]).stdout);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the page cache dropped before"), "{shown}");
}

/// Why there can be no shield here, as far as that is no failure of ours: found
/// without latlas. Everything else must work.
fn no_shield() -> Option<&'static str> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let of = |mount: &str| -> Option<(String, bool, bool)> {
        let fields: Vec<&str> = mount.split(' ').collect();
        let [_, path, kind, options, ..] = fields[..] else {
            return None;
        };
        let has = |option: &str| options.split(',').any(|o| o == option);
        let two = kind == "cgroup2"
            && std::fs::read_to_string(format!("{path}/cgroup.controllers"))
                .is_ok_and(|all| all.split_whitespace().any(|one| one == "cpuset"));
        let one = kind == "cgroup" && has("cpuset");
        Some((path.to_owned(), one, two))
    };
    let cpusets: Vec<_> = mounts
        .lines()
        .filter_map(of)
        .filter(|m| m.1 || m.2)
        .collect();
    if cpusets.is_empty() {
        return Some("no cpuset hierarchy is mounted");
    }
    // As in many containers: no group may be made in any of them.
    let refused = |(path, ..): &(String, bool, bool)| {
        let group = Path::new(path).join(format!("a-test-of-latlas-{}", std::process::id()));
        let made = std::fs::create_dir(&group);
        let _ = std::fs::remove_dir(&group);
        made.is_err()
    };
    let refused = cpusets.iter().all(refused);
    refused.then_some("no control group can be made in the cpuset hierarchy")
}

#[test]
fn a_shield_is_joined_by_the_measured_alone_and_gone_afterwards() {
    let _alone = SHIELD.write();
    let cpus = sys::allowed_cpus().expect("known");
    if sys::filesystem::user() != 0 || cpus.len() < 2 {
        eprintln!("SKIPPED: a shield needs root and a second CPU");
        return;
    }
    let (home, before) = (home(), own());
    let cpu = cpus[cpus.len() - 1].to_string();
    let look = "cat /proc/self/cpuset; grep Cpus_allowed_list /proc/self/status";
    let output = latlas(
        &home,
        &[
            "exec", "-r", "6", "--shield", &cpu, "--output", "said", "--json", "--", "sh", "-c",
            look,
        ],
    );
    let err = text(&output.stderr);
    if let Some(why) = no_shield() {
        eprintln!("SKIPPED: {why}");
        assert_eq!(output.status.code(), Some(2), "{err}");
        return;
    }
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    let said = std::fs::read_to_string(home.path().join("said")).expect("written");
    assert!(said.contains("latlas-shield"), "{said}");
    assert!(
        said.contains(&format!("Cpus_allowed_list:\t{cpu}\n")),
        "{said}"
    );
    let run = run_of(&output);
    let applied = applied(&run);
    assert_eq!(
        applied.granted.cpus,
        [cpu.parse::<u32>().expect("a number")]
    );
    assert!(
        applied
            .granted
            .cpuset
            .as_ref()
            .is_some_and(|set| set.contains("latlas-shield"))
    );
    // The look is taken within, where latlas itself is not.
    let gaps = run.conditions.gaps.as_ref().expect("a look");
    assert_eq!(gaps.before.cpu, cpu.parse().ok());
    assert!(gaps.after.is_some(), "{:?}", run.conditions.remarks);
    let arguments = ["run", "cpu.add_i32", "--quick", "--json", "--shield", &cpu];
    let rows = run_of(&latlas(&home, &arguments));
    let gaps = rows.conditions.gaps.as_ref();
    let gaps = gaps.unwrap_or_else(|| panic!("{:?}", rows.conditions.remarks));
    assert_eq!(
        (gaps.before.cpu, gaps.after.is_some()),
        (cpu.parse().ok(), true)
    );
    assert_eq!(err, "", "nothing that was not put back");
    assert_eq!(own(), before);
    assert_eq!(sys::allowed_cpus().expect("known"), cpus);
}

#[test]
fn a_document_of_before_is_read_and_tells_nothing() {
    let home = home();
    let output = latlas(
        &home,
        &["exec", "-r", "6", "--nice=3", "--json", "--", "true"],
    );
    let mut document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    document["schema"] = 3.into();
    let conditions = document["conditions"].as_object_mut().expect("an object");
    assert!(conditions.remove("applied").is_some());
    std::fs::write(home.path().join("old.json"), document.to_string()).expect("written");
    let shown = latlas(&home, &["show", "old.json"]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    let out = text(&shown.stdout);
    assert!(out.contains("nice 3"), "from the record of commands: {out}");
}
