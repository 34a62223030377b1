//! Commands of the system (sbatch, squeue, ssh), with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
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
}

/// Most that a command may print: a document and some more.
const MAX_BYTES: u64 = 512 << 20;

/// Runs a command to its end, or kills it.
///
/// # Errors
/// If it can't be started.
pub(crate) fn run(command: &mut Command, input: Stdio, limit: Duration) -> io::Result<Ended> {
    let mut child = command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let (status, in_time) = wait(&mut child, limit)?;
    if !in_time {
        return Ok(Ended {
            ok: false,
            code: None,
            out: Vec::new(),
            message: format!("timed out after {}", humantime::format_duration(limit)),
        });
    }
    let (out, err) = (
        out.join().unwrap_or_default(),
        err.join().unwrap_or_default(),
    );
    let err = String::from_utf8_lossy(&err);
    let last = err.lines().rfind(|line| !line.trim().is_empty());
    let message = last.map_or_else(|| status.to_string(), |line| line.trim().to_owned());
    Ok(Ended {
        ok: status.success(),
        code: status.code(),
        out,
        message: model::text::visible(&message),
    })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<(std::process::ExitStatus, bool)> {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, true));
        }
        if Instant::now() >= end {
            // Gone already is as good.
            let _ = child.kill();
            return Ok((child.wait()?, false));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            // What was read before an error is shown all the same.
            let _ = stream.take(MAX_BYTES).read_to_end(&mut bytes);
        }
        bytes
    })
}
