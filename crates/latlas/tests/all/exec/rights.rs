//! `latlas exec` by a user without rights.

use super::value;
use crate::support::processes::{as_user, copy_for_all, is_root};
use crate::support::{Home, has, lacks, skip, unwrapped};
use model::run::Outcome;

#[test]
fn missing_rights_are_named_with_what_would_give_them() {
    if !is_root() {
        return skip("only root can become nobody");
    }
    let home = Home::new();
    copy_for_all(&home);
    let run = as_user(&home, "exec -r 6 --document -- true").measured().document();
    assert!(value(&run, "exec.true/context_switches") >= 0.0);
    assert!(value(&run, "exec.true/faults") > 10.0);
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    if paranoid.is_ok_and(|p| p.trim().parse().is_ok_and(|p: i32| p >= 2)) {
        match &run.row("exec.true/cpu_migrations").expect("a row").outcome {
            Outcome::Unavailable { reason } => has(reason, ["CAP_PERFMON"]),
            other => panic!("{other:?}"),
        }
        has(&run.row("exec.true/context_switches").expect("a row").notes[0], ["wait4"]);
    }
}

#[test]
fn whether_a_strangers_file_is_cold_is_unknown() {
    // Root owns it, and no other user may write it.
    let line = "exec -r 6 --cold-files /etc/passwd -- true";
    let home = Home::new();
    let done = match is_root() {
        true => {
            copy_for_all(&home);
            as_user(&home, line)
        }
        false => home.run(line),
    };
    lacks(&done.out, ["ALL COLD"]);
    has(&unwrapped(&done.out), ["/etc/passwd is unknown"]);
}
