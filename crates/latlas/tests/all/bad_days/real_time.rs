//! latlas under a policy of its caller (chrt): threads that spin must not keep those from the CPU that they
//! wait for.

use crate::support::processes::is_root;
use crate::support::{Done, Home, skip};

/// Rows whose threads spin, wait for each other, or are in another's way.
const ROWS: &str = "thread.create_join thread.lifecycle sync.handoff sync.atomic_add_contended \
                    sync.mutex_contended memory.core_to_core memory.read_all_cores sched.wakeup \
                    sched.pool pool.async_wait";

#[test]
fn rows_with_threads_end_under_every_policy() {
    if !is_root() {
        return skip("only root can set SCHED_FIFO");
    }
    let home = Home::new();
    for policy in ["-f 50", "-f 1", "-r 50", "-b 0", "-i 0"] {
        let wrapper = format!("timeout --signal=KILL 300 chrt {policy}");
        let line = format!("run --in-process --quick --budget 4s --document {ROWS}");
        Done::from_command(&mut home.wrapped(&wrapper, line)).measured();
    }
}

#[test]
fn a_load_at_the_ordinary_priority_lets_its_experiment_end() {
    if !is_root() {
        return skip("only root can set SCHED_FIFO");
    }
    let home = Home::new();
    for line in ["noise ab nice --rounds 1", "noise measure --for 300ms --all-cpus"] {
        let done =
            Done::from_command(&mut home.wrapped("timeout --signal=KILL 120 chrt -f 50", line));
        assert!(matches!(done.code, 0 | 3), "{line}: {} {}", done.code, done.err);
    }
}
