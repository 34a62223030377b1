//! Rows of threads, pipes and rings of processes.

use super::processes::with_process_limit;
use super::{reason, row_text};
use crate::support::processes::{measuring, of_groups, signalled, wait_until};
use crate::support::{Done, Home, has, with_budget};
use std::process::Child;
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
    with_budget(|budget| {
        // latlas and its eight workers: no tenth task.
        let line = format!("run {} {budget} --document", rows.join(" "));
        let run =
            Done::from_command(&mut with_process_limit(&home, 9, &line)).measured().document();
        for row in rows {
            // The ring's are processes, which count against the same limit.
            let what = match row {
                "sched.ring" => "process",
                _ => "thread",
            };
            let why = reason(&run, row).ok_or_else(|| row_text(&run, row))?;
            has(why, [what, "ulimit -u"]);
        }
        Ok(())
    });
}

#[test]
fn a_killed_ring_member_ends_its_ring_and_nothing_else() {
    with_budget(|budget| {
        let home = Home::new();
        let line = format!("run sched.ring {budget} --out=run.json");
        let (child, workers) = measuring(home.command(line)).map_err(|done| done.err)?;
        let killed = kill_members(child, &workers);
        wait_until("the end of all", || of_groups(&workers).is_empty());
        let run = home.run_json();
        assert_eq!(run.partial, None, "the workers live on");
        let text = row_text(&run, "sched.ring");
        match text.contains("killed by signal 9") {
            true => Ok(()),
            false => Err(format!("{killed} killed: {text}")),
        }
    });
}

/// Kills up to eight members of the rings of these workers, and waits for the run's end.
fn kill_members(mut child: Child, workers: &[u32]) -> u32 {
    // A process in a worker's group that is no worker is a member, for as long as its
    // ring turns; a ring that ends at that moment ends well, so several are tried.
    let mut killed = 0;
    while killed < 8 && child.try_wait().expect("a child").is_none() {
        let member = of_groups(workers).into_iter().find(|pid| !workers.contains(pid));
        killed += u32::from(member.is_some_and(|pid| signalled(pid, "KILL")));
        std::thread::sleep(Duration::from_millis(7));
    }
    Done::after(child).measured();
    killed
}
