//! `latlas trace ROW --tails` while something makes the row slow: that has the largest share of
//! what is named.

use crate::support::processes::{children_of, command_line, is_root, signalled};
use crate::support::{Done, Home, has, skip, unwrapped};
use model::trace::tails::{Cause, tails};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The ten slowest are explained.
const LINE: &str = "trace sched.pool/1 --operations 3000 --tails --out t.zst";

/// Each would disturb the others.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The cause with the largest share of what is named, in each tier that records causes, while `act`
/// is called until latlas ends.
fn largest(line: &str, act: impl Fn(&Child)) -> Vec<(&'static str, Option<Cause>)> {
    let home = Home::new();
    let mut found = Vec::new();
    for tier in ["full", "own"] {
        let mut tracing = home.start(format!("{} --tier {tier}", line));
        while tracing.try_wait().expect("ours").is_none() {
            act(&tracing);
        }
        let done = Done::after(tracing);
        if done.code == 2 && done.err.contains("not available") {
            skip(format_args!("the tier {tier} is not possible"));
            continue;
        }
        let trace = crate::trace::read_trace(&home, "t.zst");
        let tails = tails(&trace);
        let causes = tails.first().expect("operations").causes();
        let named = causes.iter().find(|(cause, ..)| cause.is_explained());
        found.push((tier, named.map(|&(cause, ..)| cause)));
    }
    found
}

fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}

#[test]
fn a_stopped_process_was_stopped() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let stopped = largest(LINE, |tracing| {
        let children = children_of(tracing.id()).into_iter();
        for child in children.filter(|&id| command_line(id).contains("__traced_row")) {
            if signalled(child, "STOP") {
                pause();
                signalled(child, "CONT");
            }
        }
        pause();
    });
    for (tier, cause) in stopped {
        assert_eq!(cause, Some(Cause::Stopped), "{tier}");
    }
}

/// Processes that run until this is dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn start(commands: impl Iterator<Item = Command>) -> Busy {
        Busy(commands.map(|mut command| command.spawn().expect("it starts")).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for busy in &mut self.0 {
            let _ = busy.kill();
            let _ = busy.wait();
        }
    }
}

/// That threads waited for a CPU which others had.
fn other_programs_are_named() {
    for (tier, cause) in largest(LINE, |_| pause()) {
        let is_right = match cause {
            Some(Cause::Preempted(Some(_)) | Cause::Queued(1..)) => tier == "full",
            // Where the threads wait for each other, it can't tell that they wait for a CPU.
            Some(Cause::Preempted(None)) | None => tier == "own",
            Some(_) => false,
        };
        assert!(is_right, "{tier}: {cause:?}");
    }
}

#[test]
fn busy_neighbours_preempt() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let cpus = sys::allowed_cpus().expect("CPUs").len();
    let _busy = Busy::start((0..3 * cpus).map(|_| {
        let mut busy = Command::new("sh");
        busy.args(["-c", "while :; do :; done"]);
        busy
    }));
    other_programs_are_named();
}

#[test]
fn a_real_time_task_preempts() {
    if !is_root() {
        return skip("only root may use SCHED_FIFO");
    }
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let cpus = sys::allowed_cpus().expect("CPUs");
    let bursts = "while :; do i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; sleep 0.1; done";
    let _busy = Busy::start(cpus.iter().map(|cpu| {
        let mut burst = Command::new("chrt");
        let cpu = cpu.to_string();
        burst.args(["-f", "10", "taskset", "-c", &cpu, "sh", "-c", bursts]);
        burst
    }));
    other_programs_are_named();
}

/// Sends SIGINT as soon as a visit is traced.
fn interrupted(home: &Home, line: &str) -> Done {
    let mut tracing = home.start(line);
    loop {
        let children = children_of(tracing.id()).into_iter();
        let mut visits = children.filter(|&id| command_line(id).contains("__traced_row"));
        if visits.next().is_some() || tracing.try_wait().expect("ours").is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    signalled(tracing.id(), "INT");
    Done::after(tracing)
}

#[test]
fn a_visit_that_does_not_finish_is_not_explained() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let home = Home::new();
    let unfinished = "the row's operations did not finish: the slowest are not explained";
    let line = "trace sched.wakeup --operations 200000 --tails";
    let stopped = home.run(format!("{line} --for 400ms"));
    for done in [stopped, interrupted(&home, line)] {
        assert_eq!(done.code, 3, "{}", done.err);
        has(&done.err, [unfinished]);
    }
    let rows = "run sync.semaphore_switch/free sync.mutex_contended --quick --trace-tails";
    let done = interrupted(&home, rows);
    assert_eq!(done.code, 3, "{}", done.err);
    has(&done.err, ["interrupted: "]);
    has(&done.err, [" not traced"]);
    // The name of a row is given once.
    let done = home.run("trace sched.ring --tails --operations 2");
    assert_eq!(done.err.matches("sched.ring").count(), 1, "{}", done.err);
}

#[test]
fn a_run_says_why_its_slowest_operations_were_slow() {
    let home = Home::new();
    let line = "run sync.semaphore_switch/free sync.mutex_uncontended --quick --trace-tails --out run.json";
    let done = home.run(line);
    has(
        &unwrapped(&done.out),
        [
            "sync.semaphore_switch/free",
            ", traced after the run (",
            "operations take more than ",
            "not traced: ",
        ],
    );
    if !done.out.contains("(minimal)") {
        has(&unwrapped(&done.out), ["while it is recorded, ", "in the run ("]);
    }
    // What it measures is the same.
    assert!(home.path("run.json").exists());
    let refused = home.run("run sync.semaphore_switch --trace-tails --json");
    assert_eq!(refused.code, 2, "{}", refused.err);
}
