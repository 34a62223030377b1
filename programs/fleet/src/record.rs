//! What a host says of a job. It is written before the job measures, and again at its end; a job that
//! can't be measured leaves the reason.

use crate::directory::Directory;
use crate::{FleetError, crash};
use model::campaign::Job;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The record of one execution of a job.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Record {
    pub job: Job,
    /// When it began, by the host's clock, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// The same by the clock of the controller or of the submitting machine, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_unix_ms: Option<u64>,
    /// How far it got.
    #[serde(flatten)]
    pub stage: Stage,
}

/// How far a job got.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// It began.
    Started,
    /// Its document is written.
    Finished,
    /// A document of this host and repetition was there already.
    Unneeded { result: String },
    /// It was ended on its host: it took too long.
    TimedOut { text: String },
    /// It was not measured.
    Refused { why: Refusal, text: String },
}

/// Why a job was not measured.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// More CPU time was in use than the campaign allows.
    NotQuiet,
    /// A control can't be set, or the rows can't be measured as asked.
    Controls,
    /// The program is not the campaign's.
    Program,
    /// No room for the document.
    DiskFull,
    /// The campaign's directory can't be written on the host.
    Directory,
    /// ssh can't reach the host, or loses the connection.
    Unreachable,
    /// The host answered with something else than the result that was asked for, or its shell prints text of its own.
    Answer,
    /// Slurm refused the job.
    Scheduler,
}

/// Bytes of a record's file: they are taken before measuring, so that a full disk does not keep the
/// reason from being written.
const BYTES: usize = 4096;
const LONGEST: usize = 600;

impl Record {
    /// Writes it.
    ///
    /// # Errors
    /// If it can be written neither in a new file nor over the old one.
    pub fn write(&self, directory: &Directory) -> Result<(), FleetError> {
        let path = directory.record(&self.job);
        let bytes = self.padded();
        match store::replace(&bytes, &path) {
            Ok(()) => {
                crash::point("record written");
                Ok(())
            }
            // The disk is full: the old record has its blocks.
            Err(error) => overwrite(&path, &bytes).map_err(|_| error.into()),
        }
    }

    fn padded(&self) -> Vec<u8> {
        let mut record = self.clone();
        if let Stage::Refused { text, .. } = &mut record.stage {
            *text = text.chars().take(LONGEST).collect();
        }
        let mut bytes = serde_json::to_vec(&record).unwrap_or_default();
        if bytes.len() < BYTES {
            bytes.resize(BYTES, b' ');
        }
        bytes
    }
}

fn overwrite(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}
