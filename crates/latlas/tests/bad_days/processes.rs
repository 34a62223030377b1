//! Rows that make processes, on a bad day: whatever ends the run, nothing of
//! theirs stays; and where no process can be made, the row says why.

use super::*;
use crate::copied;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU32, Ordering};

const ROWS: [&str; 4] = [
    "process.fork_exit",
    "process.fork_exec",
    "process.shell",
    "process.spawn_wait",
];

/// Processes, zombies too, of these groups. A worker leads a group, and its
/// children stay in it.
pub(crate) fn of_groups(groups: &[u32]) -> Vec<u32> {
    let group = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields = stat.rsplit(')').next()?;
        fields.split_whitespace().nth(2)?.parse::<u32>().ok()
    };
    std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| group(pid).is_some_and(|group| groups.contains(&group)))
        .collect()
}

const LONG: [&str; 6] = [
    "run",
    "process.*",
    "--budget",
    "10s",
    "--seed=7",
    "--out=run.json",
];

#[test]
fn ctrl_c_leaves_no_process_and_no_zombie() {
    let home = home();
    let (child, workers) = started(&home, &LONG);
    assert!(of_groups(&workers).len() >= workers.len());
    signal(child.id(), "INT");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    // latlas has waited for its workers, so not even a zombie is left.
    wait_for("the end of all", || {
        of_groups(&workers).is_empty().then_some(())
    });
    let run = read(&home.path().join("run.json"));
    assert!(run.partial.is_some());
    assert!(run.row("process.fork_exit").is_some());
}

#[test]
fn a_killed_latlas_leaves_no_process() {
    let home = home();
    let (mut child, workers) = started(&home, &LONG);
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
    // Orphans are the system's first process's to wait for.
    wait_for("the end of all", || {
        of_groups(&workers)
            .iter()
            .all(|&pid| !alive(pid))
            .then_some(())
    });
}

#[test]
fn a_killed_worker_takes_its_children_along() {
    let home = home();
    let (child, workers) = started(&home, &LONG);
    signal(workers[2], "KILL");
    let output = finish(child);
    let err = text(&output.stderr);
    assert_eq!(err.matches("ended early").count(), 1, "{err}");
    let run = read(&home.path().join("run.json"));
    assert_eq!(run.partial, None, "seven workers went on");
    for row in ROWS {
        assert!(run.row(row).is_some_and(|row| row.estimate().is_some()));
    }
    wait_for("the end of all", || {
        of_groups(&workers)
            .iter()
            .all(|&pid| !alive(pid))
            .then_some(())
    });
}

#[test]
fn children_are_not_given_the_parents_socket() {
    let home = home();
    let (child, workers) = started(&home, &LONG);
    for worker in workers {
        let input = std::fs::read_link(format!("/proc/{worker}/fd/0")).expect("a worker's input");
        assert_eq!(input, Path::new("/dev/null"));
    }
    signal(child.id(), "INT");
    finish(child);
}

/// Runs the rows of processes in a few seconds; gives the run and the reasons
/// why rows are not available, in the order of `ROWS`.
fn reasons(command: &mut Command, home: &TempDir) -> (Run, Vec<Option<String>>) {
    let output = command.output().expect("runs");
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        text(&output.stderr)
    );
    let run = read(&home.path().join("run.json"));
    let reasons = ROWS
        .iter()
        .map(|row| match &run.row(row).expect("never dropped").outcome {
            Outcome::Unavailable { reason } => Some(reason.clone()),
            _ => None,
        })
        .collect();
    (run, reasons)
}

const SHORT: [&str; 5] = ["run", "process.*", "--budget", "6s", "--out=run.json"];

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("proc");
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    ids.and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}

/// A ring that goes on for long enough to be met.
pub(crate) const LONG_RING: [&str; 5] = ["run", "sched.ring", "--budget", "6s", "--out=run.json"];

/// latlas by a user who may have so many processes and threads in all. The
/// limit does not hold for root, and counts all processes of a user: so
/// another user, who has none; or, where this is not root, a user namespace,
/// which counts its own (if the system forbids that too, the test fails).
pub(crate) fn with_process_limit(home: &TempDir, processes: u32, arguments: &[&str]) -> Command {
    let binary = home.path().join("latlas");
    copied::latlas_to(&binary);
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o777)).expect("mode");
    // A user for each: tests run side by side.
    static USER: AtomicU32 = AtomicU32::new(54_321);
    let user = USER.fetch_add(1, Ordering::Relaxed);
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command
            .arg(format!("--reuid={user}"))
            .args(["--regid=54321", "--clear-groups"]);
        command
    } else {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user"]);
        command
    };
    command
        .arg("prlimit")
        .arg(format!("--nproc={processes}"))
        .arg(&binary)
        .args(arguments)
        .current_dir(home.path())
        .env("LATLAS_DATA_DIR", home.path().join("data"))
        .stdin(Stdio::null());
    command
}

#[test]
fn with_no_process_to_spare_rows_name_the_limit() {
    let home = home();
    // latlas and its eight workers are nine.
    let mut command = with_process_limit(&home, 9, &SHORT);
    let (_, reasons) = reasons(&mut command, &home);
    for (row, reason) in ROWS.iter().zip(reasons) {
        let reason = reason.unwrap_or_else(|| panic!("{row} was measured"));
        assert!(
            reason.contains("no further process may be started")
                && reason.contains("9 by ulimit -u"),
            "{row}: {reason}"
        );
    }
}

#[test]
fn few_open_files_are_enough() {
    let home = home();
    let mut command = wrapped(
        &home,
        &["sh", "-c", "ulimit -n 32; exec \"$@\"", "sh"],
        &SHORT,
    );
    assert_eq!(reasons(&mut command, &home).1, [None, None, None, None]);
}

/// In a mount namespace of its own (as root of a user namespace, for those who
/// are not), where the program can't be executed.
#[test]
fn without_the_program_the_row_says_so() {
    let home = home();
    let hide = "for f in /usr/bin/false /bin/false; do \
                [ ! -e $f ] || mount --bind /dev/null $f || exit 9; done; exec \"$@\"";
    let user: &[&str] = if is_root() {
        &["unshare", "--mount", "sh", "-c", hide, "sh"]
    } else {
        &[
            "unshare",
            "--mount",
            "--map-root-user",
            "sh",
            "-c",
            hide,
            "sh",
        ]
    };
    let (_, reasons) = reasons(&mut wrapped(&home, user, &SHORT), &home);
    assert_eq!(reasons[..3], [None, None, None]);
    let reason = reasons[3].as_deref().expect("no such program");
    assert!(
        reason.starts_with("/usr/bin/false can't be executed: Permission denied"),
        "{reason}"
    );
}

/// A filter as a sandbox may have it: processes may be made by `vfork` and
/// its like only.
fn no_fork() -> BpfProgram {
    const CLONE_VM: u64 = 0x100;
    let copying = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(CLONE_VM),
        0,
    )
    .expect("a condition");
    let copying = SeccompRule::new(vec![copying]).expect("a rule");
    let filter = SeccompFilter::new(
        [(libc_clone(), vec![copying])].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(1),
        std::env::consts::ARCH.try_into().expect("a known machine"),
    );
    filter.and_then(TryInto::try_into).expect("a filter")
}

/// Number of clone(2), which the C library's fork() is.
fn libc_clone() -> i64 {
    if cfg!(target_arch = "x86_64") {
        56
    } else {
        220
    }
}

#[test]
fn where_forking_is_forbidden_the_rows_say_so() {
    let home = home();
    // The filter holds for the thread that asks for it and all it starts.
    let (_, reasons) = std::thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            seccompiler::apply_filter(&no_fork()).expect("a filter is taken");
            reasons(&mut latlas(&home, &SHORT), &home)
        });
        filtered.join().expect("no panic")
    });
    for reason in &reasons[..3] {
        let reason = reason.as_deref().expect("forbidden");
        assert!(
            reason.starts_with("starting a process is forbidden here (Operation not permitted"),
            "{reason}"
        );
    }
    assert_eq!(reasons[3], None, "posix_spawn copies nothing");
}
