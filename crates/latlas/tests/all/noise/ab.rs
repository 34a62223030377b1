//! `latlas noise ab` on the real binary: what it refuses, that every job does
//! the same work under what was asked for, and that nothing is left behind.

use crate::support::processes::{
    alive, as_user, children_of, command_line, copy_for_all, is_root, kill, running_processes,
    signal, stat, wait_for, wait_until,
};
use crate::support::{Done, Home, entries, has, skip};
use model::noise::effect::{Effects, Load, Workload};
use model::recording::Recording;
use model::run::Run;
use std::fs;
use std::process::{Child, Command};

/// First word of a job's arguments.
const JOB: &str = "__job";

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

fn parsed_document(done: Done) -> Run {
    done.measured().document()
}

pub(super) fn effects(run: &Run) -> &Effects {
    match &run.recordings[..] {
        [Recording::Effects(of)] => of,
        other => panic!("{other:?}"),
    }
}

/// Processes that run one of our jobs, with their arguments.
fn all_jobs() -> Vec<(u32, String)> {
    let alive = running_processes().into_iter().filter(|&pid| alive(pid));
    let jobs = alive.map(|pid| (pid, command_line(pid)));
    jobs.filter(|(_, line)| line.contains(JOB)).collect()
}

/// The load of a latlas: its jobs, and those that one of them started.
fn load_of(latlas: u32) -> Vec<(u32, String)> {
    let below = |parent: u32| {
        let parent = format!("\"parent\":{parent},");
        let mut jobs = all_jobs();
        jobs.retain(|(_, line)| line.contains(&parent));
        jobs
    };
    let own = below(latlas);
    let more: Vec<_> = own.iter().flat_map(|(id, _)| below(*id)).collect();
    [own, more].concat()
}

/// Waits for the whole load: two processes for each CPU.
fn wait_for_load(latlas: u32) -> Vec<(u32, String)> {
    let cpus = sys::allowed_cpus().expect("Linux").len();
    let whole = |load: &Vec<_>| load.len() == 2 * cpus;
    wait_for("the load", || Some(load_of(latlas)).filter(whole))
}

fn wait_for_no_load(latlas: u32) {
    wait_until("the end of the load", || load_of(latlas).is_empty());
}

/// Ends a latlas, and its load with it, if a test fails before it did.
struct EndAtPanic(u32);

impl Drop for EndAtPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let kill = format!("kill -KILL {}", self.0);
            let _ = Command::new("sh").args(["-c", &kill]).status();
        }
    }
}

/// One that goes on for long enough to be met.
fn long(home: &Home, load: &str) -> (Child, EndAtPanic) {
    let options = "--workload cpu --busy 2 --rounds 1000 --document";
    let child = home.start(format!("noise ab pin --load {load} {options}"));
    let guard = EndAtPanic(child.id());
    (child, guard)
}

#[test]
fn what_is_wrong_is_refused() {
    let home = Home::new();
    let refused = home.refusals(
        "noise ab autogrup
         noise ab --rounds 9 --for 1s
         noise ab --job 0ms
         noise ab pin --out /no/such/place.json
         noise ab no-such --dry-run",
    );
    insta::assert_snapshot!(refused);
    home.run("noise ab --cpus 8000").refused("can't be used");
    let nothing = home.run("noise ab smt --cpus 0");
    match nothing.code {
        2 => nothing.refused("nothing can be compared here: smt: "),
        _ => skip("this machine has sibling threads"),
    }
    match home.run("noise ab turbo --apply --dry-run").ok().out.contains("not available here") {
        true => {
            let refused = home.run("noise ab pin turbo -- touch ran");
            refused.refused("can't compare turbo here: ");
            home.run("noise ab turbo -- touch ran")
                .refused("nothing can be compared here: turbo: ");
            assert!(!home.path("ran").exists(), "refused before any run");
        }
        false => skip("this machine has a switch for turbo"),
    }
    assert!(load_of(0).is_empty());
}

#[test]
fn a_dry_run_prints_the_plan_and_does_nothing() {
    let home = Home::new();
    let done = home.run("noise ab --dry-run").ok();
    for name in ["pin", "autogroup+pin+nice", "turbo", "cache"] {
        done.line_with(name);
    }
    has(done.line_with("smt"), ["not available here"]);
    has(done.line_with("fifo"), ["needs root or CAP_SYS_NICE"]);
    has(&done.out, ["wakeup with a load in another session", "rounds of each"]);
    if is_root() {
        // Nothing of the whole system is changed unasked.
        let why = "changes the whole system while it is compared: needs --apply";
        has(done.line_with("cache"), [why]);
        home.run("noise ab cache").refused(why);
    }
    let plan = home.json("noise ab pin cache --dry-run --json");
    assert!(plan["expected_ms"].as_u64().is_some_and(|ms| ms > 0));
    assert!(!home.path("state").exists());
}

#[test]
fn every_run_does_the_same_work_under_what_was_asked_for() {
    let home = Home::new();
    let options = "--load none --job 1ms --rounds 6 --seed 4 --document --out ab.json";
    let named = match is_root() {
        true => vec!["pin", "nice", "session"],
        false => vec!["pin", "session"],
    };
    let run = parsed_document(home.run(format!("noise ab {} {options}", named.join(" "))));
    let kept: Run = serde_json::from_str(&home.read_file("ab.json")).expect("the document");
    assert_eq!(kept, run);
    assert_eq!(run.partial, None);
    let document = effects(&run);
    assert_eq!((document.how.seed, document.how.rounds), (4, 6));
    let names: Vec<&str> = document.controls.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, named, "none is dropped");
    assert!(document.controls.iter().all(|control| control.unavailable.is_none()));
    let workloads: Vec<Workload> = document.blocks.iter().map(|b| b.workload).collect();
    assert_eq!(workloads, [Workload::Cpu, Workload::Memory, Workload::Wakeup]);
    for block in &document.blocks {
        assert_eq!(block.load, Load::None);
        assert!(block.arms.len() >= 3);
        let work = document.how.work.iter().find(|w| w.workload == block.workload);
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
    let effects = document.effects().len();
    assert!(effects == 6 || effects == 9 || effects == 12, "{effects}");
}

#[test]
fn loads_are_in_the_session_that_was_asked_for_and_end_with_a_killed_latlas() {
    for load in ["same-session", "other-session"] {
        let home = Home::new();
        let (latlas, _guard) = long(&home, load);
        let id = latlas.id();
        let jobs = wait_for_load(id);
        let session = |pid: u32| stat(pid).get(3).cloned();
        // The last may not yet be in its session.
        wait_until("one session for all of a load", || {
            let of_load = session(jobs[0].0);
            let together = jobs.iter().all(|(job, _)| session(*job) == of_load);
            together && (of_load == session(id)) == (load == "same-session")
        });
        for (job, line) in &jobs {
            assert_ne!(
                stat(*job).get(2),
                stat(id).get(2),
                "a terminal's signals are not for it: {line}"
            );
        }
        kill(latlas);
        wait_for_no_load(id);
    }
}

#[test]
fn an_interruption_ends_the_load_and_prints_what_is_there() {
    let home = Home::new();
    let (latlas, _guard) = long(&home, "same-session");
    let id = latlas.id();
    wait_for_load(id);
    // Some rounds under the load, after half a second in which it settles.
    std::thread::sleep(std::time::Duration::from_secs(4));
    signal(id, "INT");
    let done = Done::after(latlas).ended_with(3);
    wait_for_no_load(id);
    let why = match done.out.is_empty() {
        true => done.err,
        false => parsed_document(done).partial.expect("not whole"),
    };
    has(&why, ["interrupted"]);
}

#[test]
fn a_run_during_a_stop_is_repeated_and_noted() {
    let home = Home::new();
    let options = "--workload cpu --load none --job 200ms --rounds 6 --document";
    let latlas = home.start(format!("noise ab pin {options}"));
    let id = latlas.id();
    let _guard = EndAtPanic(id);
    // A job may end just then, on a busy machine more often than not.
    for _ in 0..4 {
        wait_until("a job", || {
            let children = children_of(id);
            all_jobs().iter().any(|(job, _)| children.contains(job))
        });
        signal(id, "STOP");
        std::thread::sleep(std::time::Duration::from_millis(100));
        signal(id, "CONT");
    }
    let document = parsed_document(Done::after(latlas));
    assert_eq!(document.partial, None);
    has(&document.conditions.remarks.join("; "), ["runs were repeated"]);
    let mut arms = effects(&document).blocks[0].arms.iter();
    assert!(arms.all(|arm| arm.runs.len() == 6));
}

#[test]
fn a_load_that_loses_a_process_is_named() {
    let home = Home::new();
    let (latlas, _guard) = long(&home, "same-session");
    let id = latlas.id();
    let victim = wait_for_load(id)[0].0;
    std::thread::sleep(std::time::Duration::from_secs(3));
    signal(victim, "KILL");
    let done = Done::after(latlas).ended_with(3);
    let named = format!("process {victim} of the load ended");
    has(&(done.out + &done.err), [&*named]);
    wait_for_no_load(id);
}

#[test]
fn a_system_wide_control_is_restored_also_after_a_kill() {
    let now = || fs::read_to_string(HUGE_PAGES).unwrap_or_default();
    let before = now();
    if !is_root() || before.is_empty() || before.contains("[always]") {
        return skip(format!("{HUGE_PAGES} can't be set to always: {before:?}"));
    }
    let home = Home::new();
    let line = |job: &str| {
        format!("noise ab thp --apply --workload cpu --load none --job {job} --rounds 6 --document")
    };
    let document = parsed_document(home.run(line("20ms")));
    assert_eq!(document.partial, None);
    let arm = &effects(&document).blocks[0].arms[1];
    assert_eq!((arm.name.as_str(), arm.runs.len()), ("thp", 6));
    assert_eq!(now(), before);

    let latlas = home.start(line("500ms"));
    let _guard = EndAtPanic(latlas.id());
    wait_until("the control to be on", || now().contains("[always]"));
    kill(latlas);
    wait_until("the control to be off", || now() == before);
}

#[test]
fn cold_files_come_from_the_disk_and_their_directory_goes() {
    let drop_caches = "/proc/sys/vm/drop_caches";
    let open = fs::OpenOptions::new().write(true).open(drop_caches);
    if !is_root() || open.is_err() {
        return skip("the page cache can't be dropped");
    }
    let home = Home::new();
    let mut command = home.command("noise ab cache --apply --rounds 6 --document");
    command.env("XDG_CACHE_HOME", home.path(""));
    let run = parsed_document(Done::from_command(&mut command));
    let document = effects(&run);
    let files = &document.blocks[0];
    assert_eq!((files.workload, files.load), (Workload::Files, Load::None));
    let names: Vec<&str> = files.arms.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["none", "cold"]);
    assert_eq!(document.effects().len(), 1);
    // Reading from a disk, a process gives up its CPU to wait.
    let waits = |name: &str| -> u64 {
        let arm = files.arm(name).expect(name);
        arm.runs.iter().map(|run| run.voluntary).sum()
    };
    assert!(waits("cold") > waits("none"), "{} {}", waits("cold"), waits("none"));
    let left = entries(&home.path(""));
    let expected = [home.path("data"), home.path("lock")];
    assert_eq!(left, expected, "the stored run and the lock of all tests' homes");
}

#[test]
fn an_ordinary_user_gets_the_rest_with_reasons() {
    if !is_root() {
        return skip("only root can become another user");
    }
    let home = Home::new();
    copy_for_all(&home);
    let plan = as_user(&home, "noise ab --dry-run --json").json();
    for control in plan["controls"].as_array().expect("controls") {
        if control["needs"] == "root" {
            assert!(control["unavailable"].is_string(), "{control}");
        }
    }
    let options = "--workload cpu --load none --job 1ms --rounds 6 --document";
    // Named, it is not left out in silence.
    for name in ["nice", "fifo", "shield", "cache"] {
        let refused = as_user(&home, &format!("noise ab pin {name} {options}"));
        refused.refused(&format!("can't compare {name} here: "));
    }
    let run = parsed_document(as_user(&home, &format!("noise ab {options}")));
    let document = effects(&run);
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
    let mut arms: Vec<&str> = document.blocks[0].arms.iter().map(|a| a.name.as_str()).collect();
    // Where every process gets huge pages.
    arms.retain(|&name| name != "no-thp");
    assert_eq!(arms, ["none", "pin", "session"]);
}
