//! Controls of single processes: granted to what is measured, seen from inside and from
//! outside, to nothing else; refused before anything runs; and with nothing left behind.

use crate::support::processes::{
    as_user, children_of, copy_for_all, is_root, kill, running, signal, wait_for, wait_until,
};
use crate::support::{Done, Home, has, skip, unwrapped};
use model::noise::applied::{Applied, Policy, Settings};
use model::run::Run;
use model::setting::Setting;
use std::path::Path;

fn applied(run: &Run) -> &Applied {
    run.conditions.applied.as_ref().expect("since schema 4")
}

/// What belongs to this process and its session: it must be as before.
fn own() -> (String, Settings) {
    let autogroup = std::fs::read_to_string("/proc/self/autogroup").unwrap_or_default();
    (autogroup, sys::controls::granted())
}

/// Whether all controls can be had here.
fn may_all() -> bool {
    let wanted = [
        Setting::OwnSession(true),
        Setting::Nice(-1),
        Setting::Autogroup(-1),
        Setting::Policy(Policy::Fifo(1)),
    ];
    sys::controls::try_out(&wanted).map_err(skip).is_ok()
}

const ALL: &str = "--autogroup=-7 --nice=-3 --fifo=2 --document";

fn granted_all(applied: &Applied) {
    let granted = &applied.granted;
    assert_eq!(applied.refused, [""; 0]);
    assert_eq!((granted.autogroup, granted.nice), (Some(-7), Some(-3)));
    assert_eq!(granted.policy, Some(Policy::Fifo(2)));
    assert_eq!(granted.own_session, Some(true));
}

#[test]
fn a_command_and_its_children_get_the_controls() {
    if !may_all() {
        return;
    }
    let (home, before) = (Home::new(), own());
    let look = "cat /proc/self/autogroup; nice; read -r s </proc/self/stat; \
                set -- ${s##*) }; echo $4 ${38} ${39}";
    home.write("look", look);
    let line = "sh -c 'echo $$; sh look; sh -c \"sh look\"'";
    let run = home.measure(format!("exec -r 6 --output printed {ALL} -- {line}"));
    granted_all(applied(&run));
    let printed = home.read_file("printed");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 7, "{printed}");
    assert_eq!(lines[1..4], lines[4..], "grandchildren too");
    assert!(lines[1].ends_with(" nice -7"), "{printed}");
    assert_eq!((lines[2], lines[3]), ("-3", &*format!("{} 2 1", lines[0])));
    assert_eq!(own(), before);
}

#[test]
fn workers_get_the_controls_as_others_see_them() {
    if !may_all() {
        return;
    }
    let (home, before) = (Home::new(), own());
    let child = home.start(format!("run cpu.add_i32 --budget 4s --quick {ALL}"));
    let worker = wait_for("a worker that has all", || {
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
        children_of(child.id()).iter().find_map(has_all)
    });
    let run = Done::after(child).measured().document();
    granted_all(applied(&run));
    assert_eq!(applied(&run).asked.cpus, run.conditions.pinned_cpus);
    has(&run.conditions.remarks.join(" "), ["SCHED_FIFO"]);
    assert!(!Path::new(&format!("/proc/{worker}")).exists());
    assert_eq!(own(), before);
}

#[test]
fn a_nice_value_counts_though_workers_are_alone_in_their_sessions() {
    if !may_all() {
        return;
    }
    let (home, before) = (Home::new(), own());
    let run = home.measure("run cpu.add_i32 --quick --document --nice=-3");
    let granted = &applied(&run).granted;
    assert_eq!(applied(&run).refused, [""; 0]);
    assert_eq!(granted.nice, Some(-3));
    match sys::controls::autogroups() {
        Ok(()) => {
            assert_eq!(granted.autogroup, Some(-3));
            has(&run.conditions.remarks.join(" "), ["autogroup"]);
        }
        Err(why) => skip(why),
    }
    assert_eq!(own(), before);
}

#[test]
fn by_default_workers_are_pinned_in_separate_sessions() {
    let home = Home::new();
    let run = |more: &str| home.measure(format!("run cpu.add_i32 --quick --document {more}"));
    let default = run("");
    let granted = &applied(&default).granted;
    assert_eq!(granted.own_session, Some(true));
    assert_eq!(granted.cpus, default.conditions.pinned_cpus);
    assert_eq!(default.conditions.pinned_cpus.len(), 1);
    assert_eq!(granted.policy, Some(Policy::Other));
    let none = run("--no-controls");
    assert_eq!(none.conditions.pinned_cpus, [0; 0]);
    assert_eq!(none.conditions.not_pinned, None);
    let granted = &applied(&none).granted;
    assert_eq!(granted.own_session, Some(false));
    assert_eq!(granted.cpus, sys::allowed_cpus().expect("known"));
    assert_eq!(applied(&none).asked, Settings::default());
    // The page says it, and so does comparing the two.
    for line in ["compare last~1 last", "show last~1 --wide"] {
        has(&unwrapped(&home.run(line).out), ["session"]);
    }
}

#[test]
fn without_the_right_each_control_is_refused_before_anything_runs() {
    if !is_root() {
        return skip("only root can become nobody");
    }
    let home = Home::new();
    copy_for_all(&home);
    for (control, why) in [
        ("--nice=-5", "root"),
        ("--autogroup=-5", "--autogroup"),
        ("--fifo", "ulimit -r"),
        ("--cold", "--cold needs root"),
        ("--shield=1", "needs root"),
    ] {
        // What it would do, if it ran.
        for line in
            [format!("exec {control} -- touch ran"), format!("run cpu.add_i32 --quick {control}")]
        {
            let done = as_user(&home, &line);
            // Where there are no autogroups that is the reason.
            let no_autogroups = done.err.contains("autogroup");
            done.refused(if no_autogroups { "autogroup" } else { why });
        }
    }
    assert!(!home.path("ran").exists());
    assert_eq!(home.kept_documents(), 0);
    // What needs no right is granted.
    let run =
        as_user(&home, "exec -r 6 --nice=5 --own-session --document -- true").measured().document();
    assert_eq!(applied(&run).granted.nice, Some(5));
    assert_eq!(applied(&run).granted.own_session, Some(true));
}

fn none_of(line: &str) {
    wait_until(line, || running(line).is_empty());
}

/// A command with a child, of which one spins; not before the child had its turn, which
/// on one CPU it would not get from SCHED_FIFO.
fn spinning(mark: &str) -> String {
    format!("sleep {mark} & sleep 0.3; while :; do :; done")
}

/// latlas whose command and its child run.
fn started(home: &Home, controls: &str, mark: &str) -> std::process::Child {
    let child = home.start(format!("exec {controls} -- sh -c '{}'", spinning(mark)));
    let child_of_it = format!("sleep {mark}");
    wait_until("the child", || running(&child_of_it).len() == 1);
    child
}

fn ended(mark: &str) {
    none_of(&format!("sleep {mark}"));
    none_of(&format!("sh -c {}", spinning(mark)));
}

#[test]
fn a_session_ends_with_a_killed_latlas_an_interrupt_and_a_limit() {
    let home = Home::new();
    let (controls, fifo) = match may_all() {
        true => ("--own-session --fifo --autogroup=-5", "--own-session --fifo"),
        false => ("--own-session", "--own-session"),
    };
    let child = started(&home, controls, "86395.75");
    kill(child);
    ended("86395.75");

    let child = started(&home, "--own-session", "86395.5");
    signal(child.id(), "INT");
    Done::after(child).ended_with(3);
    ended("86395.5");

    let script = spinning("86395.25");
    let line = format!("exec {fifo} --timeout 300ms -- sh -c '{script}'");
    has(&home.run(line).err, ["--timeout"]);
    ended("86395.25");
}

#[test]
fn a_killed_run_leaves_no_real_time_worker() {
    let fifo = if may_all() { "--fifo" } else { "" };
    let home = Home::new();
    let child = home.start(format!("run cpu.add_i32 --budget 30s {fifo}"));
    let workers =
        wait_for("workers", || Some(children_of(child.id())).filter(|workers| workers.len() >= 8));
    kill(child);
    // Where the first process of a PID namespace waits for none, an ended one stays a zombie.
    let is_there = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| stat.contains(" (latlas) ") && !stat.contains(") Z "))
    };
    wait_until("no worker", || !workers.iter().any(is_there));
}

#[test]
fn a_cold_run_says_so() {
    if !is_root() || std::fs::metadata("/proc/sys/vm/drop_caches").is_err() {
        return skip("dropping the page cache needs root");
    }
    let home = Home::new();
    let done = home.run("run cpu.add_i32 --quick --cold --document");
    if done.err.contains("can't drop the page cache") {
        return skip(done.err);
    }
    assert!(applied(&done.measured().document()).page_cache_dropped);
    has(&unwrapped(&home.out("show")), ["the page cache dropped before"]);
}
