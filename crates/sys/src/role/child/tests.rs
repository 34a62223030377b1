use super::*;
use std::process::Stdio;

/// A child that runs a script; its connection is descriptor 0.
fn scripted(script: &str) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stderr(Stdio::null());
    let connection = Connection::for_command(&mut command);
    let command = connection.map(|connection| (command, connection));
    Child::spawn("worker 3", command, ChildSession::Group).expect("a shell")
}

/// Sends `text`, with the head of its frame.
fn says(text: &str) -> String {
    format!("printf '\\{:03o}\\000\\000\\000{text}' >&0", text.len())
}

fn at_most(ms: u64) -> Wait<'static> {
    Wait::at_most(Duration::from_millis(ms))
}

static NEVER: AtomicBool = AtomicBool::new(false);
const LONG: Wait<'static> =
    Wait { patience: Duration::from_secs(60), stop: &NEVER, grace: Duration::ZERO };

/// How a scripted child is lost.
fn lost(script: &str, wait: Wait<'_>) -> String {
    scripted(script).receive::<u32>(wait).expect_err("no answer").to_string()
}

#[cfg(target_os = "linux")]
fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[cfg(target_os = "linux")]
#[track_caller]
fn wait_until_gone(process: u32) {
    let began = Instant::now();
    while is_running(process) {
        assert!(began.elapsed() < Duration::from_secs(60), "{process} runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_child_is_asked_and_answers() {
    let script = format!("{}; head -c 7 <&0 >/dev/null; {}", says("1"), says("[2]"));
    let mut child = scripted(&script);
    assert_eq!(child.receive::<u32>(LONG).expect("a message"), 1);
    child.send(&"a").expect("sent");
    assert_eq!(child.receive_frame(LONG).expect("a message"), b"[2]");
}

#[test]
fn one_that_dies_at_once_is_explained() {
    assert_eq!(lost("exit 7", LONG), "worker 3 ended early (exit status: 7)");
    let why = lost("kill -9 $$", LONG);
    assert_eq!(why, "worker 3 ended early (signal: 9 (SIGKILL))");
    let mut child = scripted("exit 7");
    while child.check_running().is_ok() {}
    let mut child = scripted("exit 7");
    let why = loop {
        // It may still take the first ones.
        if let Err(why) = child.send(&1) {
            break why;
        }
    };
    assert_eq!(why.to_string(), "worker 3 ended early (exit status: 7)");
}

#[test]
fn one_that_hangs_times_out() {
    // As a stopped one: nothing but SIGKILL ends it.
    for script in ["exec sleep 600", "kill -STOP $$", "printf '\\002\\000' >&0; exec sleep 600"] {
        assert_eq!(lost(script, at_most(50)), "worker 3 timed out after 0 s", "{script}");
    }
    assert!(scripted("exec sleep 600").check_running().is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn one_that_is_not_wanted_any_more_has_its_grace() {
    let stop = AtomicBool::new(true);
    let why = lost("exec sleep 600", Wait::until(&stop));
    assert_eq!(why, "worker 3 was stopped before it answered");
    let mut child = scripted(&says("1"));
    wait_until_gone(child.process_id());
    assert_eq!(child.receive::<u32>(Wait::until(&stop)).expect("there already"), 1);
    let mut child = scripted(&format!("sleep 0.5; {}", says("1")));
    let wait = Wait { grace: Duration::from_secs(60), ..Wait::until(&stop) };
    assert_eq!(child.receive::<u32>(wait).expect("in time"), 1);
}

#[test]
fn garbage_is_refused() {
    let why = lost("printf 'GET / HTTP/1.1' >&0; exec sleep 600", LONG);
    assert_eq!(why, "worker 3 failed: a frame of 542393671 bytes is not one of ours");
    let why = lost(&says("{]"), LONG);
    assert!(why.starts_with("worker 3 failed: "), "{why}");
    assert!(lost(&says("-1"), LONG).starts_with("worker 3 failed: "), "another type");
}

#[test]
fn half_a_message_is_none() {
    let why = lost("printf '\\007\\000\\000\\000[1' >&0; exit 3", LONG);
    assert_eq!(why, "worker 3 ended early (exit status: 3)");
    // In parts, it is one.
    let script = "printf '\\003\\000' >&0; sleep 0.5; printf '\\000\\000[1' >&0; sleep 0.5; \
                  printf ']' >&0";
    assert_eq!(scripted(script).receive::<[u32; 1]>(LONG).expect("whole"), [1]);
}

#[test]
fn one_that_closes_its_connection_and_goes_on_is_not_waited_for() {
    let closes = "exec 0<&-; exec sleep 600";
    assert_eq!(lost(closes, LONG), "worker 3 closed its connection and went on");
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_an_ended_child_left_is_not_waited_for() {
    // It holds the connection, and in a session of its own it is not ended.
    let left = |then: &str| {
        let script = format!(
            "exec 3>&0; setsid sleep 600 <&3 & n=$!; printf '\\012\\000\\000\\000%10d' $n >&0; {then}"
        );
        let mut child = scripted(&script);
        let left: u32 = child.receive(LONG).expect("its number");
        (child, left)
    };
    let kill = |left: u32| {
        let left = left.to_string();
        let killed = Command::new("kill").arg(left).status();
        assert!(killed.expect("started").success(), "it was waited for to its end");
    };
    let (mut child, id) = left("exit 3");
    let why = child.receive::<u32>(LONG).expect_err("no more");
    assert_eq!(why.to_string(), "worker 3 ended early (exit status: 3)");
    kill(id);
    // What the child sent before is not lost.
    let (mut child, id) = left(&says("7"));
    wait_until_gone(child.process_id());
    assert_eq!(child.receive::<u32>(LONG).expect("sent before"), 7);
    kill(id);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_child_started_ends_with_it() {
    let with_child = |then: &str| {
        let script = format!("sleep 600 & printf '\\012\\000\\000\\000%10d' $! >&0; {then}");
        let mut child = scripted(&script);
        let own: u32 = child.receive(LONG).expect("its number");
        (child, own)
    };
    let (child, own) = with_child("wait");
    drop(child);
    wait_until_gone(own);
    let (mut child, own) = with_child("exit 7");
    let why = child.receive::<u32>(LONG).expect_err("no more");
    assert_eq!(why.to_string(), "worker 3 ended early (exit status: 7)");
    wait_until_gone(own);
}

#[cfg(target_os = "linux")]
#[test]
fn one_that_may_outlive_its_handle_does() {
    let mut child = scripted("exec sleep 600");
    let id = child.process_id();
    child.let_outlive();
    drop(child);
    assert!(is_running(id));
    let killed = Command::new("kill").arg(id.to_string()).status();
    assert!(killed.expect("started").success());
    scripted("exit 3").wait();
}

#[test]
fn the_first_that_has_something_to_say_is_found() {
    let silent = scripted("exec sleep 600");
    let speaks = scripted(&format!("{}; exec sleep 600", says("1")));
    let ends = scripted("exit 3");
    let mut seen = [false; 3];
    while seen != [false, true, true] {
        let ready = ready(&[&silent, &speaks, &ends]).expect("polled");
        assert!(!ready[0]);
        for (seen, ready) in seen.iter_mut().zip(ready) {
            *seen |= ready;
        }
    }
}

#[test]
fn a_message_for_another_that_waits_for_its_end() {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{}; exit 3", says("7"))]);
    let mut connection = Connection::for_command(&mut command).expect("sockets");
    let ended = AtomicBool::new(false);
    let status = command.status().expect("a shell");
    // The command holds the other end until it is dropped.
    ended.store(true, Ordering::Release);
    assert_eq!(status.code(), Some(3));
    assert_eq!(connection.receive_until::<u32>(&ended).expect("whole"), Some(7));
    assert_eq!(connection.receive_until::<u32>(&ended).expect("none"), None);
}

/// Set for the process of this test that starts a child and is killed.
#[cfg(target_os = "linux")]
const IS_PARENT: &str = "LATLAS_TEST_PARENT";

#[cfg(target_os = "linux")]
#[test]
fn a_child_ends_with_a_parent_that_is_killed() {
    use std::io::{BufRead, BufReader, Write};
    let forever = || -> ! {
        loop {
            std::thread::sleep(Duration::from_secs(3600));
        }
    };
    super::super::enter_if(Role::Worker, |task| {
        let (seven, mut parent) = task.with_parent::<u32>()?;
        parent.send(&(seven, std::process::id()))?;
        forever()
    });
    if std::env::var_os(IS_PARENT).is_some() {
        let child = Child::start(Role::Worker, "worker 3", &7, ChildSession::Group);
        let mut child = child.expect("started");
        let (seven, id): (u32, u32) = child.receive(LONG).expect("its number");
        assert_eq!(seven, 7);
        drop(writeln!(std::io::stderr(), "child {id}"));
        forever();
    }
    let mut parent = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "role::child::tests::a_child_ends_with_a_parent_that_is_killed"])
        .arg("--nocapture")
        .env(IS_PARENT, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let said = BufReader::new(parent.stderr.take().expect("a pipe"));
    let mut lines = said.lines().map_while(Result::ok);
    let child = lines.find_map(|line| line.strip_prefix("child ")?.parse().ok());
    let child = child.expect("its number");
    assert!(is_running(child));
    parent.kill().and_then(|()| parent.wait()).expect("killed");
    wait_until_gone(child);
}

/// A program for [`Child::start_program`], which takes no arguments.
fn program(directory: &tempfile::TempDir, script: &str) -> std::path::PathBuf {
    let path = directory.path().join("program");
    // By another process: what is open for writing can't be started.
    let written = Command::new("sh")
        .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\""])
        .arg(&path)
        .arg(script)
        .status();
    assert!(written.expect("sh").success());
    path
}

#[test]
fn a_program_outlives_the_thread_that_asked_for_it_and_talks_over_its_standard_streams() {
    let directory = tempfile::tempdir().expect("tempdir");
    let path = program(&directory, "while read -r line; do echo \"$line\" \"$line\"; done");
    let start = move || Child::start_program("echo", &path).expect("started");
    let mut child = std::thread::spawn(start).join().expect("ended");
    std::thread::sleep(Duration::from_millis(50));
    child.send_bytes(b"one\n").expect("sent");
    let line = child.read_pieces(LONG, |from| {
        let mut line = [0; 8];
        from.read_exact(&mut line).map(|()| line)
    });
    assert_eq!(&line.expect("answered"), b"one one\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_inherits_no_descriptor() {
    use std::os::fd::AsRawFd;
    let directory = tempfile::tempdir().expect("tempdir");
    let file = std::fs::File::open("/dev/null").expect("opened");
    // As what latlas was started with may be; a shell uses lower numbers.
    let held = rustix::io::fcntl_dupfd_cloexec(&file, 200).expect("another");
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).expect("set");
    let number = held.as_raw_fd();
    assert!(number >= 200);
    let path =
        program(&directory, &format!("[ -e /proc/$$/fd/{number} ] && echo held || echo closed"));
    let mut child = Child::start_program("looker", &path).expect("started");
    let text = child.read_pieces(LONG, |from| {
        let mut text = String::new();
        from.read_to_string(&mut text).map(|_| text)
    });
    assert_eq!(text.expect("answered"), "closed\n");
}
