//! What was submitted, and what Slurm was asked for. An intention is written before Slurm is asked, so
//! that a submission that was killed can be repeated without doubling jobs.

use crate::campaign::Campaign;
use crate::directory::{self, Directory, read_json, write_json};
use crate::{FleetError, crash};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::input::read_file;

const MAX_PROGRAM_BYTES: u64 = 1 << 30;

/// A campaign as it was submitted.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Submission {
    /// What its file said.
    pub campaign: Campaign,
    /// Digest of that.
    pub digest: String,
    /// The hosts that are expected.
    pub hosts: Vec<String>,
    /// What measures.
    pub program: ProgramFile,
    /// Arguments of `latlas run`.
    pub arguments: Vec<String>,
    /// When, by the submitting machine's clock, ms since 1970 UTC.
    pub submitted_unix_ms: u64,
}

/// The program that measures.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    /// SHA-256 of its file.
    pub digest: String,
    pub version: String,
    /// Its commit, where known.
    #[serde(default)]
    pub commit: Option<String>,
}

/// Jobs of a host that Slurm was asked for at once.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its number on this host, from 1.
    pub number: u32,
    pub repetitions: Vec<u32>,
    /// The number of their first attempt.
    pub first_attempt: u32,
    /// When, ms since 1970 UTC.
    pub at_unix_ms: u64,
    pub outcome: Outcome,
}

/// What came of asking Slurm.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Not known: `submit` was killed before Slurm's answer was written.
    Intended,
    /// Slurm took the jobs.
    Accepted,
    /// It did not.
    Refused(String),
}

/// The batches of each host.
pub type Batches = BTreeMap<String, Vec<Batch>>;

/// Time to wait for another `submit` to end.
const WAIT: Duration = Duration::from_secs(20);

impl Directory {
    /// What was submitted here, if anything was.
    pub fn submitted(&self) -> Result<Option<Submission>, FleetError> {
        read_json(&self.submission())
    }

    /// Makes the directory, and writes what is submitted. Repeated, it returns what was submitted
    /// first.
    ///
    /// # Errors
    /// If another campaign has the directory, or it can't be written.
    pub fn begin_submission(&self, new: Submission) -> Result<Submission, FleetError> {
        self.make()?;
        let Some(known) = self.submitted()? else {
            write_json(&self.submission(), &new)?;
            crash::point("submission written");
            return Ok(new);
        };
        match known.digest == new.digest {
            true => Ok(known),
            false => Err(FleetError::Changed {
                path: self.path().to_owned(),
                known: known.digest,
                now: new.digest,
            }),
        }
    }

    /// Copies the program here, unless it is there; checks its digest.
    ///
    /// # Errors
    /// If it can't be copied, or the file is not the program of this digest.
    pub fn stage(&self, program: &Path, expected: &str) -> Result<PathBuf, FleetError> {
        let staged = self.program(expected);
        if !staged.exists() {
            let bytes = read_file(program, MAX_PROGRAM_BYTES);
            let bytes = bytes.map_err(FleetError::io("read", program))?;
            store::replace(&bytes, &staged)?;
            executable(&staged).map_err(FleetError::io("write", &staged))?;
            crash::point("program staged");
        }
        // A kill may have parted the two.
        executable(&staged).map_err(FleetError::io("write", &staged))?;
        match directory::digest(&staged)? == expected {
            true => Ok(staged),
            false => Err(FleetError::in_file(
                &staged,
                "it is not the program of this campaign: remove the file, and submit again",
            )),
        }
    }

    pub fn all_batches(&self, hosts: &[String]) -> Result<Batches, FleetError> {
        let read = |host: &String| {
            let batches: Option<Vec<Batch>> = read_json(&self.batches(host))?;
            Ok((host.clone(), batches.unwrap_or_default()))
        };
        hosts.iter().map(read).collect()
    }

    pub fn write_batches(&self, host: &str, batches: &[Batch]) -> Result<(), FleetError> {
        write_json(&self.batches(host), &batches)
    }

    /// The lock of those who submit, also held by an sbatch that outlives its killed parent.
    ///
    /// # Errors
    /// If another holds it for long.
    pub fn lock(&self) -> Result<File, FleetError> {
        let file = self.lock_file()?;
        let end = Instant::now() + WAIT;
        while Instant::now() < end {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
                Err(TryLockError::Error(cause)) => {
                    return Err(FleetError::io("write", &self.path().join("lock"))(cause));
                }
            }
        }
        Err(FleetError::Busy)
    }

    /// Whether someone holds that lock.
    pub fn is_locked(&self) -> bool {
        let tried = self.lock_file().map(|file| file.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    }
}

fn executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}
