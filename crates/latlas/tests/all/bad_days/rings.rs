//! Rows of threads, pipes and rings of processes.

use super::processes::with_process_limit;
use super::{reason, row_text, started};
use crate::support::processes::{of_groups, signalled, wait_until};
use crate::support::{Done, Home, has};
use std::time::Duration;

#[test]
fn with_no_thread_to_spare_rows_name_the_limit() {
    let home = Home::new();
    let rows = [
        "thread.create_join",
        "thread.lifecycle/start",
        "sync.semaphore_switch/other_cpu",
        "sched.pool",
        "sched.wakeup/idle",
        "sched.ring",
    ];
    // latlas and its eight workers: no tenth task.
    let line = format!("run {} --budget 3s --json", rows.join(" "));
    let run = Done::of(&mut with_process_limit(&home, 9, &line))
        .measured()
        .run();
    for row in rows {
        // The ring's are processes, which count against the same limit.
        let what = if row == "sched.ring" {
            "process"
        } else {
            "thread"
        };
        has(
            reason(&run, row).expect("not measured"),
            [what, "ulimit -u"],
        );
    }
}

#[test]
fn a_killed_ring_member_ends_its_ring_and_nothing_else() {
    let home = Home::new();
    let (mut child, workers) = started(&home, "run sched.ring --budget 6s --out=run.json");
    // A process in a worker's group that is no worker is a member, for as long as its
    // ring turns; a ring that ends at that moment ends well, so several are tried.
    let mut killed = 0;
    while killed < 8 && child.try_wait().expect("a child").is_none() {
        let member = of_groups(&workers)
            .into_iter()
            .find(|pid| !workers.contains(pid));
        killed += u32::from(member.is_some_and(|pid| signalled(pid, "KILL")));
        std::thread::sleep(Duration::from_millis(7));
    }
    assert!(killed > 0, "no ring was seen");
    Done::after(child).measured();
    wait_until("the end of all", || of_groups(&workers).is_empty());
    let run = home.run_json();
    has(&row_text(&run, "sched.ring"), ["killed by signal 9"]);
    assert_eq!(run.partial, None, "the workers live on");
}
