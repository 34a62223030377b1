//! The directory of a campaign. Every file in it is written whole or not at all.

use crate::FleetError;
use model::campaign::Job;
use model::limits::CAMPAIGN;
use model::misfit;
use model::phrases::hexadecimal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A campaign's directory:
///
/// | file | content |
/// |---|---|
/// | `campaign.json` | what was submitted |
/// | `latlas-DIGEST` | the program that measures |
/// | `submitted/HOST.json` | what Slurm was asked for, per host |
/// | `records/JOB.json` | what became of a job, as the host says |
/// | `results/JOB.json.zst` | its Run document |
/// | `log/` | what jobs printed |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory(PathBuf);

impl Directory {
    /// The directory at this path, which need not exist yet.
    pub fn at(path: &Path) -> Directory {
        Directory(path.to_owned())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What was submitted.
    pub fn submission(&self) -> PathBuf {
        self.0.join("campaign.json")
    }

    pub fn program(&self, digest: &str) -> PathBuf {
        self.0.join(program_name(digest))
    }

    /// What Slurm was asked for.
    pub fn batches(&self, host: &str) -> PathBuf {
        self.0.join("submitted").join(format!("{host}.json"))
    }

    pub fn records(&self) -> PathBuf {
        self.0.join("records")
    }

    pub fn record(&self, job: &Job) -> PathBuf {
        self.records().join(format!("{}.json", job_name(job)))
    }

    /// Run documents.
    pub fn results(&self) -> PathBuf {
        self.0.join("results")
    }

    /// The Run document of a job.
    pub fn result(&self, job: &Job) -> PathBuf {
        self.results().join(result_name(job))
    }

    /// What jobs print.
    pub fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    /// Makes it, with the directories in it.
    pub fn make(&self) -> Result<(), FleetError> {
        for path in [self.0.join("submitted"), self.records(), self.results(), self.log()] {
            std::fs::create_dir_all(&path).map_err(FleetError::io("create", &path))?;
        }
        Ok(())
    }

    /// The lock of those who submit.
    pub(crate) fn lock_file(&self) -> Result<File, FleetError> {
        let path = self.0.join("lock");
        let opened = File::options().create(true).append(true).open(&path);
        opened.map_err(FleetError::io("write", &path))
    }

    /// Names of the files of a directory, sorted, without those that are being written.
    pub fn names(directory: &Path) -> Result<Vec<String>, FleetError> {
        let mut names = Vec::new();
        let entries = match std::fs::read_dir(directory) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(names),
            entries => entries.map_err(FleetError::io("read", directory))?,
        };
        for entry in entries {
            let entry = entry.map_err(FleetError::io("read", directory))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
}

pub(crate) fn program_name(digest: &str) -> String {
    format!("latlas-{}", digest.get(..16).unwrap_or(digest))
}

pub(crate) fn result_name(job: &Job) -> String {
    format!("{}.json.zst", job_name(job))
}

/// What tells an execution from all others of its campaign. The scheduler's numbers don't: Slurm
/// gives them again.
pub(crate) fn job_name(job: &Job) -> String {
    let Job { host, repetition, attempt, nonce, .. } = job;
    format!("{host}.{repetition}.{attempt}.{nonce}")
}

pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FleetError> {
    let text = model::json::to_indented_json(value).map_err(|why| {
        FleetError::in_file(path, format!("it can't be written: {why} (this is a bug in latlas)"))
    })?;
    Ok(store::replace(text.as_bytes(), path)?)
}

/// Largest of these files: a million hosts.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a value; `None` where there is no file.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, FleetError> {
    let bytes = match sys::input::read_file(path, MAX_BYTES) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(FleetError::io("read", path))?,
    };
    misfit::read_json_within(&bytes, &CAMPAIGN)
        .map(Some)
        .map_err(|why| FleetError::in_file(path, why.to_string()))
}

pub fn digest(path: &Path) -> Result<String, FleetError> {
    let mut file = sys::input::open_file(path).map_err(FleetError::io("read", path))?;
    let mut sha = Sha256::new();
    let mut block = vec![0; 1 << 18];
    loop {
        match file.read(&mut block).map_err(FleetError::io("read", path))? {
            0 => return Ok(hexadecimal(&sha.finalize())),
            n => sha.update(&block[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_refused_before_they_are_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("record.json");
        let refused = |text: String| {
            std::fs::write(&path, text).expect("written");
            let read: Result<Option<Vec<String>>, _> = read_json(&path);
            read.expect_err("too much").to_string()
        };
        let error = refused(format!("[{}0]", "0,".repeat(CAMPAIGN.entries)));
        let why = "its list \"document\" has more than 1048576 entries";
        assert!(error.ends_with(why), "{error}");
        // 10 MB of nothing.
        let error = refused(format!("[{}[]]", "[],".repeat((10 << 20) / 3)));
        assert!(error.contains("too many values") || error.ends_with(why), "{error}");
    }
}
