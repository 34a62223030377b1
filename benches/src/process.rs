//! Running other programs.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The path in an environment variable that names a peer.
pub fn peer(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    path.exists().then_some(path).or_else(|| {
        eprintln!("{variable} names a file that is not there");
        None
    })
}

/// Runs a command to its end: what it printed (stdout, stderr) and how long it
/// took.
///
/// # Errors
/// When it can't be started or fails.
pub fn output(command: &mut Command) -> anyhow::Result<(String, String, Duration)> {
    let began = Instant::now();
    let output = command.output().with_context(|| format!("can't run {command:?}"))?;
    let wall = began.elapsed();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, err.trim_end());
    }
    Ok((out, err, wall))
}

/// A command on one CPU, or anywhere.
pub fn on_cpu(program: &Path, cpu: Option<u32>) -> Command {
    match cpu {
        Some(cpu) => {
            let mut command = Command::new("taskset");
            command.arg("-c").arg(cpu.to_string()).arg(program);
            command
        }
        None => Command::new(program),
    }
}
