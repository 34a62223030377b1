//! Commands of the system (sbatch, squeue, ssh), with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Whether its exit code is 0.
    pub(crate) ok: bool,
    /// Its exit code; `None` if a signal or the time limit ended it.
    pub(crate) code: Option<i32>,
    /// What it printed.
    pub(crate) out: Vec<u8>,
    /// The last line of its messages, or how it ended.
    pub(crate) message: String,
    /// Whether it was killed because it printed too much.
    pub(crate) printed_too_much: bool,
}

/// What a command may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time.
    pub(crate) time: Duration,
    /// What it may print.
    pub(crate) bytes: u64,
}

/// Most that is kept of a command's messages.
const MAX_MESSAGES: u64 = 1 << 20;

/// Runs a command to its end, or kills it.
///
/// # Errors
/// If it can't be started.
pub(crate) fn run(command: &mut Command, input: Stdio, limits: Limits) -> io::Result<Ended> {
    let mut child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (too_much, ignored) = (Arc::default(), Arc::default());
    let out = reader(child.stdout.take(), limits.bytes, &too_much);
    let err = reader(child.stderr.take(), MAX_MESSAGES, &ignored);
    let (out, err) = match (out, err) {
        (Ok(out), Ok(err)) => (out, err),
        (Err(error), _) | (_, Err(error)) => {
            wait(&mut child, Duration::ZERO, &too_much)?;
            return Err(error);
        }
    };
    let status = wait(&mut child, limits.time, &too_much)?;
    let ended = status.map(|status| {
        let (out, err) = (out.join(), err.join());
        (status, out.unwrap_or_default(), err.unwrap_or_default())
    });
    // Known only when everything was read.
    let printed_too_much = too_much.load(Ordering::Relaxed);
    let (status, out, err) = match ended {
        Some(ended) if !printed_too_much => ended,
        _ => {
            let message = match printed_too_much {
                true => format!("it answered with more than {} KiB", limits.bytes >> 10),
                false => format!("timed out after {}", humantime::format_duration(limits.time)),
            };
            return Ok(Ended { ok: false, code: None, out: Vec::new(), message, printed_too_much });
        }
    };
    let err = String::from_utf8_lossy(&err);
    let last = err.lines().rfind(|line| !line.trim().is_empty());
    let message = last.map_or_else(|| status.to_string(), |line| line.trim().to_owned());
    Ok(Ended {
        ok: status.success(),
        code: status.code(),
        out,
        message: model::text::visible(&message),
        printed_too_much,
    })
}

/// Its status; `None` if it was killed.
fn wait(
    child: &mut Child,
    limit: Duration,
    too_much: &AtomicBool,
) -> io::Result<Option<std::process::ExitStatus>> {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end || too_much.load(Ordering::Relaxed) {
            // Gone already is as good.
            let _ = child.kill();
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

fn reader(
    stream: Option<impl Read + Send + 'static>,
    most: u64,
    too_much: &Arc<AtomicBool>,
) -> io::Result<JoinHandle<Vec<u8>>> {
    let too_much = Arc::clone(too_much);
    sys::thread::spawn(Builder::new(), move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is shown all the same.
            let _ = stream.by_ref().take(most).read_to_end(&mut bytes);
            if stream.read(&mut [0]).is_ok_and(|n| n > 0) {
                too_much.store(true, Ordering::Relaxed);
                // It may wait for its end, unless it is killed.
                let _ = io::copy(&mut stream, &mut io::sink());
            }
        }
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prints_without_end_is_killed_and_keeps_no_memory() {
        let limits = Limits { time: Duration::from_secs(60), bytes: 64 << 10 };
        let of = |script: &str| {
            let mut command = Command::new("sh");
            run(command.args(["-c", script]), Stdio::null(), limits).expect("started")
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
