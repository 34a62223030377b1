//! The child that loads a pack, to list it or to try a probe: a pack may end or stop the process that
//! loads it.

use meter::pack::{Listing, PackSite, Trial, TrialError, listing, trial};
use model::limits::PACK;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::role::{Child, ChildSession, Loss, Lost, Role, RoleTask, Wait, frame};

/// A child has this long, not counting what it waits for a CPU.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Serialize, Deserialize)]
struct ListOrder {
    file: PathBuf,
    /// Try this probe, with files in this directory; else list all.
    probe: Option<(String, PathBuf)>,
}

/// Why a child has no answer.
#[derive(thiserror::Error, Debug)]
pub(crate) enum Failure {
    /// Its own words.
    #[error("{0}")]
    Said(String),
    /// Lists or texts that are longer than any.
    #[error("is not listed: {0}")]
    TooLong(io::Error),
    /// It ended before.
    #[error("ended the process that loaded it ({0})")]
    Ended(String),
    /// It does not answer.
    #[error("did not return within {} s", PATIENCE.as_secs())]
    Hangs,
    /// It could not be started.
    #[error("can't be loaded: {0}")]
    NotStarted(Lost),
}

impl From<Lost> for Failure {
    fn from(lost: Lost) -> Failure {
        match lost.how {
            Loss::Ended(how) => Failure::Ended(how),
            Loss::TimedOut(_) => Failure::Hangs,
            Loss::NotStarted(_) => Failure::NotStarted(lost),
            how => Failure::Said(how.to_string()),
        }
    }
}

/// Lists a pack.
///
/// # Errors
/// Why it is no pack.
pub(crate) fn listed(file: &Path) -> Result<Listing, Failure> {
    let answer: Result<Listing, String> = answer(file, None)?;
    answer.map_err(Failure::Said)
}

/// Tries a probe of a pack.
///
/// # Errors
/// If the child was lost; what is wrong with the probe is inside.
pub(crate) fn tried(
    file: &Path,
    id: &str,
    directory: &Path,
) -> Result<Result<Trial, TrialError>, Failure> {
    answer(file, Some((id.to_owned(), directory.to_owned())))
}

fn answer<T: DeserializeOwned>(
    file: &Path,
    probe: Option<(String, PathBuf)>,
) -> Result<T, Failure> {
    let order = ListOrder { file: file.to_owned(), probe };
    let mut child =
        Child::start(Role::Pack, "the process that loads it", &order, ChildSession::Group)?;
    let answer = child.receive_frame(Wait::at_most(PATIENCE))?;
    match frame::open_within(&answer, &PACK) {
        Ok(answer) => Ok(answer),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(Failure::TooLong(error)),
        Err(error) => Err(Failure::Said(format!("its answer can't be read: {error}"))),
    }
}

/// Does it, as the child.
///
/// # Errors
/// An order that is none, or an answer that can't be sent.
pub(crate) fn serve(task: &RoleTask) -> io::Result<()> {
    let (order, mut parent): (ListOrder, _) = task.with_parent()?;
    match order.probe {
        None => parent.send(&listing(&order.file).map_err(|why| why.to_string())),
        Some((id, directory)) => {
            parent.send(&trial(&PackSite { file: order.file, id }, &directory))
        }
    }
}
