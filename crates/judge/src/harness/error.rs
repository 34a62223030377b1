//! Why a suite can't be judged, in one line.

use super::AdapterError;
use crate::process::ProcessError;
use std::io;

/// Why there is no suite.
#[derive(thiserror::Error, Debug)]
pub enum HarnessError {
    #[error(
        "no benchmark suite found in {sides}: looked for {known}; describe yours with --harness FILE, \
         or give commands after --"
    )]
    NotDetected { sides: String, known: String },
    #[error("{side} doesn't build: {command}: {said}")]
    NotBuilt { side: String, command: String, said: String },
    #[error("{side} doesn't build without the network: {command}: {said}")]
    NoNetwork { side: String, command: String, said: String },
    #[error("no room on the disk for the build of {side}: {said}")]
    NoRoom { side: String, said: String },
    #[error("{side}: the build made no benchmark program of {harness} (searched {found})")]
    NoProgram { side: String, harness: String, found: String },
    #[error(
        "{side}: {file} is not a benchmark program of {known}; describe it with --harness FILE"
    )]
    UnknownProgram { side: String, file: String, known: String },
    #[error("{side}: can't list the benchmarks: {program}: {said}")]
    NotListed { side: String, program: String, said: String },
    #[error("{side}: {harness} lists no benchmark")]
    Empty { side: String, harness: String },
    #[error("no benchmark is in both: {base} has {of_base}; {head} has {of_head}")]
    NothingInBoth { base: String, of_base: String, head: String, of_head: String },
    #[error("no benchmark matches {patterns}; the suite has {names}")]
    NoMatch { patterns: String, names: String },
    #[error("can't use {file}: {error}")]
    File { file: String, error: io::Error },
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// What a failed build says where it had no network, or no room.
const NETWORK: [&str; 9] = [
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "dial tcp",
    "--offline was specified",
    "failed to download",
    "Unknown host",
    "Network is unreachable",
    "module lookup disabled by GOPROXY=off",
];
const ROOM: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

impl HarnessError {
    /// A build that failed with these last words.
    pub(super) fn of_build(side: &str, words: &[String], said: String) -> HarnessError {
        let (side, command) = (side.to_owned(), words.join(" "));
        if ROOM.iter().any(|sign| said.contains(sign)) {
            return HarnessError::NoRoom { side, said };
        }
        match NETWORK.iter().any(|sign| said.contains(sign)) {
            true => HarnessError::NoNetwork { side, command, said },
            false => HarnessError::NotBuilt { side, command, said },
        }
    }
}
