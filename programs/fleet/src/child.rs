//! Commands of the system (sbatch, squeue, ssh), with a time limit.

use std::io;
use std::process::{Command, Stdio};
use sys::capture::{self, Captured};

pub(crate) use sys::capture::CaptureLimits;

#[derive(Debug)]
pub(crate) struct ChildResult {
    pub(crate) ok: bool,
    /// Its exit code; `None` if a signal or the time limit ended it.
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    /// The last line of its messages, or how it ended.
    pub(crate) message: String,
    pub(crate) printed_too_much: bool,
}

/// Runs a command to its end, or kills it.
pub(crate) fn run_to_end(
    command: &mut Command,
    input: Stdio,
    limits: CaptureLimits,
) -> io::Result<ChildResult> {
    let killed = |message, printed_too_much| ChildResult {
        ok: false,
        code: None,
        out: Vec::new(),
        message,
        printed_too_much,
    };
    Ok(match capture::capture_output(command.stdin(input), limits)? {
        Captured::TooMuch => {
            let most = limits.bytes >> 10;
            killed(format!("it answered with more than {most} KiB"), true)
        }
        Captured::TimedOut => {
            let time = humantime::format_duration(limits.time);
            killed(format!("timed out after {time}"), false)
        }
        Captured::Exited { status, out, err } => {
            let err = String::from_utf8_lossy(&err);
            let last = err.lines().rfind(|line| !line.trim().is_empty());
            let message = last.map_or_else(|| status.to_string(), |line| line.trim().to_owned());
            ChildResult {
                ok: status.success(),
                code: status.code(),
                out,
                message: model::printable::visible(&message),
                printed_too_much: false,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_prints_without_end_is_killed_and_keeps_no_memory() {
        let limits = CaptureLimits { time: Duration::from_secs(60), bytes: 64 << 10 };
        let of = |script: &str| {
            let mut command = Command::new("sh");
            run_to_end(command.args(["-c", script]), Stdio::null(), limits).expect("started")
        };
        let ended = of("exec cat /dev/zero");
        assert!(ended.printed_too_much && !ended.ok && ended.out.is_empty());
        assert_eq!(ended.message, "it answered with more than 64 KiB");
        // As much as it may, and messages beyond what is kept.
        let ended = of("head -c 65536 /dev/zero; head -c 2000000 /dev/zero >&2");
        assert!(ended.ok && !ended.printed_too_much);
        assert_eq!(ended.out.len(), 64 << 10);
    }
}
