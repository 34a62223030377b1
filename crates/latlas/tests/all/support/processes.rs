//! Processes as the system shows them, and signals to them.
#![cfg(target_os = "linux")]

use super::{Done, Home, PROGRAM};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Fields of `/proc/PID/stat` from the third on: state, parent, group, session ...
pub(crate) fn stat(pid: u32) -> Vec<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    fields.split_whitespace().map(str::to_owned).collect()
}

pub(crate) fn running_processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("proc");
    let pid =
        |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    entries.filter_map(pid).collect()
}

fn having(field: usize, value: impl Fn(&str) -> bool) -> Vec<u32> {
    let has = |pid: &u32| stat(*pid).get(field).is_some_and(|field| value(field));
    running_processes().into_iter().filter(has).collect()
}

pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    having(1, |field| field == parent.to_string())
}

/// Processes of these groups, zombies too. A worker leads a group, and its children
/// stay in it.
pub(crate) fn of_groups(groups: &[u32]) -> Vec<u32> {
    having(2, |field| groups.iter().any(|group| field == group.to_string()))
}

/// The words a process was started with.
pub(crate) fn command_line(pid: u32) -> String {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&words).replace('\0', " ");
    line.trim().to_owned()
}

/// Processes with this command line.
pub(crate) fn running(line: &str) -> Vec<u32> {
    let mut pids = running_processes();
    pids.retain(|&pid| command_line(pid) == line);
    pids
}

/// Whether it runs and is no zombie.
pub(crate) fn alive(pid: u32) -> bool {
    stat(pid).first().is_some_and(|state| state != "Z")
}

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Whether a signal to a process does not end it: it has a handler, or the signal is held back.
pub(crate) fn survives(pid: u32, signal: u32) -> bool {
    // A thread does not block a signal while it waits for it; the others do.
    let threads = super::entries(Path::new(&format!("/proc/{pid}/task")));
    threads.iter().any(|thread| {
        let status = std::fs::read_to_string(thread.join("status")).unwrap_or_default();
        let masks = status.lines().filter_map(|line| {
            let mask = line.strip_prefix("SigCgt:").or(line.strip_prefix("SigBlk:"))?;
            u64::from_str_radix(mask.trim(), 16).ok()
        });
        masks.fold(0, |all, mask| all | mask) >> (signal - 1) & 1 == 1
    })
}

/// Asks until there is an answer, for three minutes at most.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(answer) = look() {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited {} s for {what}", PATIENCE.as_secs());
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    wait_for(what, || is().then_some(()));
}

#[track_caller]
pub(crate) fn all_gone(pids: &[u32]) {
    wait_until("the workers' end", || !pids.iter().any(|&pid| alive(pid)));
}

/// No process of these groups is left but zombies, which are the system's to reap.
#[track_caller]
pub(crate) fn groups_gone(groups: &[u32]) {
    wait_until("the groups' end", || !of_groups(groups).iter().any(|&pid| alive(pid)));
}

/// Whether the process was there to get the signal.
pub(crate) fn signalled(pid: u32, name: &str) -> bool {
    // The shell's own: a bare Debian has no kill.
    let line = format!("kill -{name} {pid} 2>/dev/null");
    let status = Command::new("sh").args(["-c", &line]).status();
    status.expect("sh runs").success()
}

#[track_caller]
pub(crate) fn signal(pid: u32, name: &str) {
    assert!(signalled(pid, name), "kill -{name} {pid}");
}

/// SIGKILL, and waits for its end.
pub(crate) fn kill(mut child: Child) {
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
}

/// How often a process has gone to sleep: a worker does after each answer.
fn sleeps(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mut lines = status.lines();
    let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

/// A run and its workers, of which each has measured; what it did, if it ended before.
pub(crate) fn measuring(mut command: Command) -> Result<(Child, Vec<u32>), Done> {
    let mut child = command.spawn().expect("it starts");
    let is_over = |child: &mut Child| child.try_wait().expect("a child").is_some();
    let workers = wait_for("eight workers", || {
        let workers = children_of(child.id());
        (workers.len() == 8 || is_over(&mut child)).then_some(workers)
    });
    // Past the handshake, into the measuring, however long a busy machine takes.
    let before: Vec<u64> = workers.iter().map(|&worker| sleeps(worker)).collect();
    wait_until("visits of every worker", || {
        let mut both = workers.iter().zip(&before);
        both.all(|(&worker, before)| sleeps(worker) > before + 2) || is_over(&mut child)
    });
    std::thread::sleep(Duration::from_millis(700));
    if is_over(&mut child) { Err(Done::after(child)) } else { Ok((child, workers)) }
}

pub(crate) fn is_root() -> bool {
    sys::filesystem::user() == 0
}

/// Copies latlas to this path, by another process: a file that this one writes may be
/// open in a child that another thread forks, and can't be executed then.
pub(crate) fn copy_program(path: &Path) {
    let copied = Command::new("cp").arg(PROGRAM).arg(path).status();
    assert!(copied.expect("cp is there").success());
}

/// A copy of latlas in a directory that every user may write.
pub(crate) fn copy_for_all(home: &Home) {
    use std::os::unix::fs::PermissionsExt;
    let open = || std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(home.path(""), open()).expect("a mode");
    copy_program(&home.path("latlas"));
    std::fs::set_permissions(home.path("latlas"), open()).expect("a mode");
}

/// The copy of latlas as the user "nobody", with no more rights than a login gives: only root can
/// become one.
pub(crate) fn as_user(home: &Home, line: &str) -> Done {
    let become_user = "prlimit --nice=0 --rtprio=0 \
                       setpriv --reuid=65534 --regid=65534 --clear-groups";
    Done::from_command(&mut home.launch(format!("{become_user} ./latlas {line}")))
}
