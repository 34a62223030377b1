//! Requests to end, whichever process gets the signal, and workers that end or stop.

use super::{LONG, interrupted, started};
use crate::support::processes::{alive, all_gone, measuring, signal};
use crate::support::{Done, Home, has, with_budget};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// SIGTERM to the process and to its group, as timeout(1) sends it: the process gets it
/// twice, without a pause, since it ends soon.
pub(super) fn time_out(child: &Child) {
    let leader = child.id();
    let line = format!("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do kill -TERM -{leader}; done; :");
    let sent = Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).status();
    assert!(sent.expect("sh runs").success(), "{line}");
}

/// As by a debugger or a frozen control group: they answer nothing, and don't end. A
/// worker has a minute for an answer; a signal does not wait for that.
#[test]
fn a_signal_ends_a_run_whose_workers_are_all_stopped() {
    let home = Home::new();
    let (child, workers) = started(&home, LONG);
    for &worker in &workers {
        signal(worker, "STOP");
    }
    // The parent now waits for an answer that does not come.
    std::thread::sleep(Duration::from_secs(1));
    signal(child.id(), "INT");
    interrupted(&home, child);
    all_gone(&workers);
}

#[test]
fn two_signals_of_one_request_keep_what_was_measured() {
    let home = Home::new();
    let mut command = home.command(LONG);
    command.process_group(0);
    let (child, workers) = measuring(command).expect("it goes on for long enough");
    // What ends a whole service reaches its workers as well.
    for &worker in &workers {
        signal(worker, "TERM");
    }
    time_out(&child);
    interrupted(&home, child);
    all_gone(&workers);
}

/// A hangup that nohup(1) has made ignored; a second one, more than a second later, would kill.
#[test]
fn a_run_with_nohup_survives_a_hangup() {
    let home = Home::new();
    let nohup = home.limited("trap '' HUP", LONG);
    let (child, workers) = measuring(nohup).expect("it goes on for long enough");
    for _ in 0..2 {
        signal(child.id(), "HUP");
        std::thread::sleep(Duration::from_millis(1200));
    }
    assert!(alive(child.id()), "ended by a hangup");
    signal(child.id(), "INT");
    interrupted(&home, child);
    all_gone(&workers);
}

#[test]
fn a_killed_worker_leaves_its_samples_and_a_warning() {
    with_budget(|budget| {
        let home = Home::new();
        let line = format!("run cpu.* {budget} --seed 7 --out=run.json");
        let (child, workers) = measuring(home.command(line)).map_err(|done| done.err)?;
        signal(workers[3], "KILL");
        // A run of a few seconds may be over by then.
        let err = Done::after(child).err;
        match err.contains("ended early") {
            true => lost_one(&home, &err, &workers),
            false => return Err(err),
        }
        Ok(())
    });
}

fn lost_one(home: &Home, err: &str, workers: &[u32]) {
    let lines: Vec<&str> = err.lines().filter(|l| l.contains("ended early")).collect();
    assert_eq!(lines.len(), 1, "{err}");
    has(lines[0], ["SIGKILL"]);
    let run = home.run_json();
    assert_eq!(run.partial, None, "seven workers went on");
    let remarks = &run.conditions.remarks;
    assert!(remarks.iter().any(|r| r.contains("ended early")), "{remarks:?}");
    let samples_of = |worker: u32| -> usize {
        let samples = run.cells.iter().flat_map(|cell| &cell.samples.workers);
        let own = samples.filter(|(w, _)| *w == worker);
        own.map(|(_, count)| *count as usize).sum()
    };
    let counts: Vec<usize> = (0..8).map(samples_of).collect();
    let most = counts.iter().max().copied().unwrap_or(0);
    assert!(counts.iter().all(|&n| n > 0), "{counts:?}: its samples are kept");
    assert!(counts.iter().any(|&n| n < most), "{counts:?}: one stopped");
    all_gone(workers);
}
