//! Rows that start processes: however the run ends, none of theirs stays; and where no
//! process can be started, the row says why.

use super::{interrupted, reason, started};
use crate::support::processes::{
    copy_for_all, groups_gone, is_root, kill, measuring, of_groups, signal, wait_until,
};
use crate::support::{Done, Home, has, lacks, with_budget};
use model::run::Run;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const ROWS: [&str; 4] =
    ["process.fork_exit", "process.fork_exec", "process.shell", "process.spawn_wait"];
const LONG: &str = "run process.* --budget 120s --seed=7 --out=run.json";
const SHORT: &str = "run process.* --document";

#[test]
fn ctrl_c_leaves_no_process_and_no_zombie() {
    let home = Home::new();
    let (child, workers) = started(&home, LONG);
    for worker in &workers {
        // Children don't inherit the socket to the parent.
        let input = std::fs::read_link(format!("/proc/{worker}/fd/0")).expect("a worker's input");
        assert_eq!(input, Path::new("/dev/null"));
    }
    assert!(of_groups(&workers).len() >= workers.len());
    signal(child.id(), "INT");
    let run = interrupted(&home, child);
    // latlas has waited for its workers, so not even a zombie is left.
    wait_until("the end of all", || of_groups(&workers).is_empty());
    assert!(run.row("process.fork_exit").is_some());
}

#[test]
fn a_killed_latlas_leaves_no_process() {
    let home = Home::new();
    let (child, workers) = started(&home, LONG);
    kill(child);
    groups_gone(&workers);
    assert!(!home.path("run.json").exists(), "nothing half-written");
}

#[test]
fn a_killed_worker_takes_its_children_along() {
    with_budget(|budget| {
        let home = Home::new();
        let line = format!("run process.* {budget} --seed=7 --out=run.json");
        let (child, workers) = measuring(home.command(line)).map_err(|done| done.err)?;
        signal(workers[2], "KILL");
        let err = Done::after(child).err;
        groups_gone(&workers);
        let run = home.run_json();
        assert_eq!(run.partial, None, "seven workers went on");
        let is_there = |row: &&str| run.row(row).is_some_and(|row| row.estimate().is_some());
        match err.matches("ended early").count() == 1 && ROWS.iter().all(is_there) {
            true => Ok(()),
            false => Err(err),
        }
    });
}

/// Why the rows are not available, in the order of `ROWS`; `None` where they have figures.
fn reasons(mut command: impl FnMut(&str) -> Command) -> [Option<String>; 4] {
    with_budget(|budget| {
        let line = format!("{SHORT} {budget}");
        let run: Run = Done::from_command(&mut command(&line)).measured().document();
        let seen = |row| match reason(&run, row) {
            Some(reason) => Ok(Some(reason.to_owned())),
            None if super::has_figure(&run, row) => Ok(None),
            None => Err(super::row_text(&run, row)),
        };
        let [one, two, three, four] = ROWS.map(seen);
        Ok([one?, two?, three?, four?])
    })
}

/// latlas by a user that may have this many processes and threads in all. The
/// limit does not hold for root, and counts all processes of a user: so another
/// user, which has none; or, where this is not root, a user namespace, which
/// counts its own (if the system forbids that too, the test fails).
pub(super) fn with_process_limit(home: &Home, processes: u32, line: &str) -> Command {
    copy_for_all(home);
    // A user for each: tests run in parallel.
    static USER: AtomicU32 = AtomicU32::new(0);
    // Other checkouts may run their tests at the same time.
    let user =
        1_000_000 + std::process::id() % 100_000 * 1_000 + USER.fetch_add(1, Ordering::Relaxed);
    let other = match is_root() {
        true => format!("setpriv --reuid={user} --regid=54321 --clear-groups"),
        false => "unshare --user --map-root-user".into(),
    };
    home.launch(format!("{other} prlimit --nproc={processes} ./latlas {line}"))
}

#[test]
fn with_no_process_to_spare_rows_name_the_limit() {
    // latlas and its eight workers are nine.
    let home = Home::new();
    for reason in reasons(|line| with_process_limit(&home, 9, line)) {
        has(&reason.expect("not measured"), ["ulimit -u", "9"]);
    }
}

#[test]
fn few_open_files_are_enough() {
    let none = [const { None }; 4];
    let home = Home::new();
    assert_eq!(reasons(|line| home.limited("ulimit -n 32", line)), none);
}

/// In its own mount namespace (as root of a user namespace, for other users), where the
/// program can't be executed.
#[test]
fn without_the_program_the_row_says_so() {
    let hide = "for f in /usr/bin/false /bin/false; do \
                [ ! -e $f ] || mount --bind /dev/null $f || exit 9; done; exec \"$@\"";
    let mut wrapper = vec!["unshare", "--mount", "sh", "-c", hide, "sh"];
    if !is_root() {
        wrapper.insert(1, "--map-root-user");
    }
    let home = Home::new();
    let reasons = reasons(|line| home.wrapped(wrapper.clone(), line));
    assert_eq!(reasons[..3], [const { None }; 3]);
    has(reasons[3].as_deref().expect("no such program"), ["/usr/bin/false", "Permission denied"]);
}

/// A filter as a sandbox may have it: processes may be started only by `vfork` and the like.
fn no_fork() -> BpfProgram {
    const CLONE_VM: u64 = 0x100;
    // clone(2), by which the C library forks.
    let clone = if cfg!(target_arch = "x86_64") { 56 } else { 220 };
    let equal = SeccompCmpOp::MaskedEq(CLONE_VM);
    let copying = SeccompCondition::new(0, SeccompCmpArgLen::Qword, equal, 0);
    let copying = SeccompRule::new(vec![copying.expect("a condition")]).expect("a rule");
    let filter = SeccompFilter::new(
        [(clone, vec![copying])].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(1),
        std::env::consts::ARCH.try_into().expect("a known machine"),
    );
    filter.and_then(TryInto::try_into).expect("a filter")
}

#[test]
fn where_forking_is_forbidden_the_rows_say_so() {
    let home = Home::new();
    // The filter holds for the thread that installs it and all it starts.
    let reasons = std::thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            seccompiler::apply_filter(&no_fork()).expect("a filter is taken");
            reasons(|line| home.command(line))
        });
        filtered.join().expect("no panic")
    });
    for reason in &reasons[..3] {
        has(reason.as_deref().expect("forbidden"), ["Operation not permitted"]);
    }
    assert_eq!(reasons[3], None, "posix_spawn copies nothing");
}

/// As under `docker exec`: the session's leader is in another PID namespace, and
/// the session has the number 0 here.
#[test]
fn a_session_begun_outside_the_pid_namespace_is_an_ordinary_day() {
    let home = Home::new();
    let inside = ["unshare", "--pid", "--fork", "--mount-proc"];
    let session = [&inside[..], &["cut", "-d ", "-f6", "/proc/self/stat"]].concat();
    let probe = Done::from_command(&mut home.launch(session));
    if probe.out.trim() != "0" {
        return crate::support::skip(format!("no PID namespace: {}", probe.err));
    }
    let run = "run cpu.add_i64 process.fork_exit --quick --out=run.json";
    let mut ended = vec![Done::from_command(&mut home.wrapped(inside, run))];
    assert_eq!(reason(&home.run_json(), "process.fork_exit"), None);
    let exec = "exec --runs 2 --own-session -- true";
    ended.push(Done::from_command(&mut home.wrapped(inside, exec)));
    for done in ended {
        // 3: this machine was not quiet.
        assert!([0, 3].contains(&done.code), "{done:?}");
        lacks(&done.err, ["panicked", "ended early", "could not"]);
    }
}
