//! Commands and files of a host over ssh.

use super::{Failure, Host};
use crate::FleetError;
use crate::child::{self, CaptureLimits, ChildResult};
use crate::directory::program_name;
use crate::record::Refusal;
use model::phrases::cut;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::exchange::import::MAX_FILE_BYTES;
use sys::input::open_file;

/// What a short command on a host may take.
pub(super) const SHORT: CaptureLimits =
    CaptureLimits { time: Duration::from_secs(60), bytes: MAX_ANSWER };
/// What it may take to copy the program or a document.
pub(super) const COPY: CaptureLimits =
    CaptureLimits { time: Duration::from_secs(600), bytes: MAX_FILE_BYTES };
/// Longest answer of a host that is not a document.
pub(super) const MAX_ANSWER: u64 = 1 << 20;

/// A line before the first answer of a host, and one after it.
const MARK: &str = "latlas-answer";

impl Host<'_> {
    /// Makes the host's directory, and stages the program and what is to be measured.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        let (dir, digest) = (self.remote(), &self.submission.program.digest);
        let program = format!("{dir}/{}", program_name(digest));
        let make = format!("mkdir -p {dir}/results {dir}/records");
        let ask = format!(
            "echo {MARK}; {make} && {{ sha256sum {program} 2>/dev/null || true; }} && echo {MARK}"
        );
        let answer = self.shell(&ask, Stdio::null(), SHORT)?;
        let known = between_marks(&answer).map_err(|why| Failure::Host(Refusal::Answer, why))?;
        if !known.starts_with(digest) {
            self.put(self.program, &program, COPY)?;
        }
        let submission = self.directory.submission();
        self.put(&submission, &format!("{dir}/campaign.json"), SHORT)
    }

    /// Writes a file on the host, whole or not at all.
    fn put(&self, from: &Path, path: &str, limits: CaptureLimits) -> Result<(), Failure> {
        let file = open_file(from).map_err(FleetError::io("read", from))?;
        let bytes = file.metadata().map_err(FleetError::io("read", from))?.len();
        let name = path.rsplit('/').next().unwrap_or(path);
        let new = format!("{path}.new.$$");
        // What an attempt before left there is removed. Where the connection breaks, `cat` comes to the end of its
        // input, and succeeds: half a file must not take the place of a whole one. 255 is ssh's own code for that.
        let command = format!(
            "rm -f {path}.new.*; cat >{new} && n=$(wc -c <{new}) && \
             if test $n -eq {bytes}; then chmod 755 {new} && mv {new} {path}; \
             else echo \"only $n of {bytes} bytes of {name} arrived\" >&2; (exit 255); fi || \
             {{ code=$?; rm -f {new}; exit $code; }}"
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
        limits: CaptureLimits,
    ) -> Result<Vec<u8>, Failure> {
        let command = format!("export LC_ALL=C; {command}");
        output(self.ssh(&command, input, limits)?, Refusal::Directory)
    }

    pub(super) fn ssh(
        &self,
        command: &str,
        input: Stdio,
        limits: CaptureLimits,
    ) -> Result<ChildResult, Failure> {
        let mut ssh = Command::new("ssh");
        ssh.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"])
            .args(["-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"])
            .args(&self.submission.campaign.ssh)
            .args(["--", self.host, command])
            // Ctrl-C is for `submit` alone: it is no failure of the host.
            .process_group(0);
        child::run_to_end(&mut ssh, input, limits).map_err(|why| {
            let reason = why.to_string();
            Failure::Here(FleetError::Command { command: "ssh", reason })
        })
    }
}

/// What a command printed between two marks. Text around them comes from start-up files of the host's shell: it would
/// be in all later answers, too, and no record, digest or document would be understood.
fn between_marks(answer: &[u8]) -> Result<String, String> {
    let answer = String::from_utf8_lossy(answer);
    let line = format!("{MARK}\n");
    let parts = answer.split_once(&line).and_then(|(before, rest)| {
        let (printed, after) = rest.rsplit_once(&line)?;
        Some((before, printed, after))
    });
    let own = match parts {
        Some(("", printed, "")) => return Ok(printed.to_owned()),
        Some(("", _, after)) => after,
        Some((before, ..)) => before,
        None => {
            let why = "its login shell does not run the commands of ssh: use an account with sh or a like shell";
            return Err(why.into());
        }
    };
    let first = own.trim().lines().next().unwrap_or("\n");
    Err(format!(
        "its shell prints {:?} with every command: let its start-up files (such as ~/.bashrc) print only in interactive \
         shells, then run `latlas fleet submit` with --again",
        cut(first)
    ))
}

/// What a command printed, or why it failed: 255 is ssh's own code.
pub(super) fn output(ended: ChildResult, otherwise: Refusal) -> Result<Vec<u8>, Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_that_prints_is_known_by_what_is_around_the_marks() {
        let of = |answer: &str| between_marks(answer.as_bytes());
        let marked = |printed: &str| format!("{MARK}\n{printed}{MARK}\n");
        assert_eq!(of(&marked("")).as_deref(), Ok(""));
        assert_eq!(of(&marked("ab  file\n")).as_deref(), Ok("ab  file\n"));
        let whole = marked("ab  file\n");
        for (answer, text) in [
            (format!("hello\nagain\n{whole}"), r#"prints "hello" with"#),
            (format!("no line{whole}"), r#"prints "no line" with"#),
            (format!("\n{whole}"), r#"prints "\n" with"#),
            (format!("{whole}bye\n"), r#"prints "bye" with"#),
            (format!("\u{1b}[2J{whole}"), r#"prints "\u{1b}[2J" with"#),
            (format!("{MARK}\n"), "does not run the commands of ssh"),
            ("This account is not available\n".into(), "does not run"),
            (String::new(), "does not run"),
        ] {
            let why = of(&answer).expect_err(&answer);
            assert!(why.contains(text), "{why}");
            assert_eq!(why.lines().count(), 1);
        }
    }
}
