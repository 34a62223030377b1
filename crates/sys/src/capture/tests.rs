use super::*;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const MOST: CaptureLimits = CaptureLimits { time: Duration::from_secs(180), bytes: 64 << 10 };

fn captured(script: &str, limits: CaptureLimits) -> Captured {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null());
    capture_output(&mut command, limits).expect("started")
}

/// Status, output and messages of a command that ends by itself.
fn exited(script: &str) -> (ExitStatus, String, String) {
    let Captured::Exited { status, out, err } = captured(script, MOST) else {
        panic!("{script} did not end by itself");
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status, text(out), text(err))
}

/// The process whose number was printed.
fn process(number: &str) -> Pid {
    let number = number.trim().parse().ok();
    number.and_then(Pid::from_raw).expect("a process")
}

#[test]
fn a_process_that_holds_the_pipes_of_an_ended_command_is_not_waited_for() {
    let (status, out, err) = exited("sleep 600 & echo $!; echo why >&2; exit 3");
    let left = process(&out);
    assert_eq!(test_kill_process(left), Ok(()), "it was waited for to its end");
    kill_process(left, Signal::KILL).expect("killed");
    assert_eq!((status.code(), &*err), (Some(3), "why\n"));
}

#[test]
fn one_that_prints_without_end_is_not_waited_for() {
    // It ends when nothing reads its messages any more.
    let (status, out, _) = exited("cat /dev/zero >&2 & echo this");
    assert_eq!((status.code(), &*out), (Some(0), "this\n"));
}

#[test]
fn all_that_an_ended_command_printed_is_read() {
    // As much as a pipe holds, and more.
    let (_, out, err) = exited("head -c 65536 /dev/zero; head -c 300000 /dev/zero >&2");
    assert_eq!((out.len(), err.len()), (65536, 300_000));
}

#[test]
fn the_limits() {
    assert!(matches!(captured("exec cat /dev/zero", MOST), Captured::TooMuch));
    let printed = captured("head -c 65537 /dev/zero", MOST);
    assert!(matches!(printed, Captured::TooMuch), "{printed:?}");
    let limits = CaptureLimits { time: Duration::from_millis(50), ..MOST };
    assert!(matches!(captured("exec sleep 600", limits), Captured::TimedOut));
    // Messages beyond what is kept are read and dropped.
    let (status, _, err) = exited("head -c 2000000 /dev/zero >&2");
    assert_eq!((status.code(), err.len()), (Some(0), 1 << 20));
}
