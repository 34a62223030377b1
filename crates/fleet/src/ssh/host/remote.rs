//! Commands and files of a host over ssh.

use super::{Failure, Host};
use crate::FleetError;
use crate::child::{self, Ended, Limits};
use crate::directory::program_name;
use crate::record::Refusal;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::exchange::import::MAX_FILE_BYTES;
use sys::input::open_file;

/// What a short command on a host may take.
pub(super) const SHORT: Limits = Limits { time: Duration::from_secs(60), bytes: MAX_ANSWER };
/// What it may take to copy the program or a document.
pub(super) const COPY: Limits = Limits { time: Duration::from_secs(600), bytes: MAX_FILE_BYTES };
/// Longest answer of a host that is not a document.
pub(super) const MAX_ANSWER: u64 = 1 << 20;

impl Host<'_> {
    /// Makes the host's directory, and stages the program and what is to be measured.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        let (dir, digest) = (self.remote(), &self.submission.program.digest);
        let program = format!("{dir}/{}", program_name(digest));
        let make = format!("mkdir -p {dir}/results {dir}/records");
        let ask = format!("{make} && {{ sha256sum {program} 2>/dev/null || true; }}");
        let known = self.shell(&ask, Stdio::null(), SHORT)?;
        if !known.starts_with(digest.as_bytes()) {
            let file = open_file(self.program).map_err(FleetError::io("read", self.program))?;
            self.put(file, &program, COPY)?;
        }
        let path = self.directory.submission();
        let file = open_file(&path).map_err(FleetError::io("read", &path))?;
        self.put(file, &format!("{dir}/campaign.json"), SHORT)
    }

    /// Writes a file on the host, whole or not at all.
    fn put(&self, file: File, path: &str, limits: Limits) -> Result<(), Failure> {
        // What an attempt before left there.
        let command = format!(
            "rm -f {path}.new.*; cat >{path}.new.$$ && chmod 755 {path}.new.$$ && \
             mv {path}.new.$$ {path} || {{ rm -f {path}.new.$$; exit 1; }}"
        );
        self.shell(&command, file.into(), limits).map(drop)
    }

    /// Where the campaign lies in the home directory of the host.
    pub(super) fn remote(&self) -> String {
        format!(".cache/latlas/fleet/{}", self.submission.digest)
    }

    /// What a command for the host's directory prints, with its messages in English.
    pub(super) fn shell(
        &self,
        command: &str,
        input: Stdio,
        limits: Limits,
    ) -> Result<Vec<u8>, Failure> {
        let command = format!("export LC_ALL=C; {command}");
        output(self.ssh(&command, input, limits)?, Refusal::Directory)
    }

    /// Runs a command on the host.
    pub(super) fn ssh(
        &self,
        command: &str,
        input: Stdio,
        limits: Limits,
    ) -> Result<Ended, Failure> {
        let mut ssh = Command::new("ssh");
        ssh.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"])
            .args(["-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"])
            .args(&self.submission.campaign.ssh)
            .args(["--", self.host, command])
            // Ctrl-C is for `submit` alone: it is no failure of the host.
            .process_group(0);
        child::run(&mut ssh, input, limits).map_err(|why| {
            let reason = why.to_string();
            Failure::Here(FleetError::Command { command: "ssh", reason })
        })
    }
}

/// What a command printed, or why it failed: 255 is ssh's own code.
pub(super) fn output(ended: Ended, otherwise: Refusal) -> Result<Vec<u8>, Failure> {
    let is_full = |text: &str| {
        let errors = ["No space left on device", "Disk quota exceeded"];
        errors.iter().any(|error| text.contains(error))
    };
    let why = match ended.code {
        _ if ended.printed_too_much => Refusal::Answer,
        Some(0) => return Ok(ended.out),
        None | Some(255) => Refusal::Unreachable,
        _ if is_full(&ended.message) => Refusal::DiskFull,
        _ => otherwise,
    };
    Err(Failure::Host(why, ended.message))
}
