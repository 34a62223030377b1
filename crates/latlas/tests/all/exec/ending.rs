//! However it ends, nothing that it started is left running.

use crate::support::processes::{kill, running, signal, wait_until};
use crate::support::{Done, Home, has};
use model::command::Ended;

fn wait_for_running(line: &str, count: usize) {
    wait_until(line, || running(line).len() == count);
}

#[test]
fn ctrl_c_prints_what_there_is_and_leaves_nothing_running() {
    let home = Home::new();
    // Short at first, endless from the fifth time on.
    let script = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n; \
                  if [ $n -ge 5 ]; then sleep 86397.25; fi";
    let child = home.start(["exec", "--document", "-w", "1", "--", "sh", "-c", script]);
    wait_for_running("sleep 86397.25", 1);
    signal(child.id(), "INT");
    let run = Done::after(child).ended_with(3).document();
    assert!(run.partial.is_some());
    assert_eq!(run.commands.as_ref().expect("commands").ended, Ended::Interrupted);
    let wall = run.row("exec.sh/wall").and_then(|r| r.estimate().cloned());
    // One warm-up and four timed runs had ended.
    assert_eq!(wall.and_then(|e| e.typical).expect("four runs").samples, 4);
    assert_eq!(home.kept_documents(), 1);
    wait_for_running("sleep 86397.25", 0);
}

#[test]
fn interrupted_before_the_first_run_there_is_nothing_to_show() {
    let home = Home::new();
    let child = home.start("exec -- sleep 86397.5");
    wait_for_running("sleep 86397.5", 1);
    signal(child.id(), "TERM");
    let done = Done::after(child).ended_with(3);
    assert_eq!(done.out, "");
    has(&done.err, ["nothing to show"]);
    assert_eq!(home.kept_documents(), 0);
    wait_for_running("sleep 86397.5", 0);
}

#[test]
fn a_latlas_that_is_killed_leaves_no_command_and_no_child_of_it() {
    let script = "sleep 86397.75 & sleep 86397.75";
    let child = Home::new().start(["exec", "--", "sh", "-c", script]);
    wait_for_running("sleep 86397.75", 2);
    kill(child);
    wait_for_running("sleep 86397.75", 0);
    wait_for_running(&format!("sh -c {script}"), 0);
}

#[test]
fn processes_left_running_are_a_note_of_the_command_that_left_them() {
    let leaves = "sleep 86397.125 >/dev/null 2>&1 &";
    let line = [
        "exec",
        "-r",
        "6",
        "--document",
        "--vs",
        "true",
        "--name",
        "leaves",
        "--",
        "sh",
        "-c",
        leaves,
    ];
    let run = Home::new().measure(line);
    let notes = |id: &str| run.row(id).expect("a row").notes.join(" ");
    has(&notes("exec.leaves/wall"), ["7 of them", "killed"]);
    assert_eq!(notes("exec.true/wall"), "");
    wait_for_running("sleep 86397.125", 0);
}
