//! Rows of threads, pipes and rings of processes, on a bad day.

use super::processes::{LONG_RING, of_groups, with_process_limit};
use super::*;

/// A run of these rows, and what each says.
fn told(command: &mut Command, home: &TempDir) -> Run {
    let output = command.output().expect("runs");
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        text(&output.stderr)
    );
    read(&home.path().join("run.json"))
}

#[test]
fn with_no_thread_to_spare_rows_say_so_and_the_run_is_kept() {
    const ROWS: [&str; 6] = [
        "thread.create_join",
        "thread.lifecycle/start",
        "sync.semaphore_switch/other_cpu",
        "sched.pool",
        "sched.wakeup/idle",
        "sched.ring",
    ];
    let home = home();
    let mut arguments = vec!["run"];
    arguments.extend(ROWS);
    arguments.extend(["--budget", "3s", "--out=run.json"]);
    // latlas and its eight workers: no tenth task.
    let run = told(&mut with_process_limit(&home, 9, &arguments), &home);
    for row in ROWS {
        let outcome = &run.row(row).expect("never dropped").outcome;
        let Outcome::Unavailable { reason } = outcome else {
            panic!("{row} was measured: {outcome:?}");
        };
        // The ring's are processes, which count against the same limit.
        let whose = if row == "sched.ring" {
            "process"
        } else {
            "thread"
        };
        assert!(
            reason.contains(whose) && reason.contains("ulimit -u"),
            "{row}: {reason}"
        );
    }
}

#[test]
fn with_few_open_files_small_rings_run_and_the_others_are_named() {
    let home = home();
    let missing =
        |note: &String| note.starts_with("not available here at") && note.contains("96 x");
    // A busy machine may come to no large ring in the shorter time.
    for budget in ["3s", "30s"] {
        let mut command = wrapped(
            &home,
            &["sh", "-c", "ulimit -n 32; exec \"$@\"", "sh"],
            &["run", "sched.ring", "--budget", budget, "--out=run.json"],
        );
        let run = told(&mut command, &home);
        let row = run.row("sched.ring").expect("never dropped");
        let Outcome::Map { points, .. } = &row.outcome else {
            panic!("no ring at all: {:?}", row.outcome);
        };
        assert!(points.iter().any(|point| point.y == 2));
        let large = points.iter().filter(|point| point.y >= 96);
        assert!(large.clone().all(|point| point.estimate.ns().is_none()));
        if row.notes.iter().any(missing) {
            assert_eq!(large.count(), 0);
            return;
        }
    }
    panic!("the large rings are not named");
}

#[test]
fn a_killed_ring_member_ends_its_ring_and_nothing_else() {
    let home = home();
    let (mut child, workers) = started(&home, &LONG_RING);
    // A process in a worker's group that is no worker is a member, for as long
    // as its ring turns; a ring that ends at that moment ends well, so several
    // are tried.
    let mut killed = 0;
    while child.try_wait().expect("asked").is_none() {
        let member = of_groups(&workers)
            .into_iter()
            .find(|pid| !workers.contains(pid));
        killed += u32::from(member.is_some_and(|pid| signalled(pid, "KILL")));
        if killed >= 8 {
            break;
        }
        std::thread::sleep(Duration::from_millis(7));
    }
    assert!(killed > 0, "no ring was seen");
    let output = finish(child);
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        text(&output.stderr)
    );
    wait_for("the end of all", || {
        of_groups(&workers).is_empty().then_some(())
    });
    let run = read(&home.path().join("run.json"));
    let row = run.row("sched.ring").expect("never dropped");
    let told = row.notes.iter().any(|n| n.contains("killed by signal 9"))
        || matches!(&row.outcome, Outcome::Unavailable { reason } if reason.contains("killed by signal 9"));
    assert!(told, "{:?}", row.notes);
    assert_eq!(run.partial, None, "the workers live on");
}
