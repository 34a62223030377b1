//! What lies in a campaign's directory: documents, one at a time, and records.

use crate::FleetError;
use crate::directory::{Directory, job_name, read_json};
use crate::record::Record;
use crate::standing::{Documents, ExpectedJobs, JobDocument, Unreadable};
use model::campaign::Job;
use model::printable::visible;
use model::run::{Outcome, Run};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use store::exchange::import::{self, InputFormat, Origin, files};

/// Reads the documents one after the other; each is dropped before the next is read. `each` gets those of
/// expected jobs. Returns what is kept of them, and the files that are no documents.
pub fn documents<E: From<FleetError>>(
    directory: &Directory,
    expected: &ExpectedJobs,
    mut each: impl FnMut(&JobDocument, &Run) -> Result<(), E>,
) -> Result<(Documents, Vec<Unreadable>), E> {
    let (mut read, mut unreadable) = (Documents::default(), Vec::new());
    for file in Directory::names(&directory.results())? {
        match read_document(directory, &file) {
            Ok(run) => {
                let document = summary(file, &run);
                if read.take_document(expected, &document) {
                    each(&document, &run)?;
                }
            }
            Err(reason) => unreadable.push(Unreadable { file, reason }),
        }
    }
    Ok((read, unreadable))
}

/// A document as `latlas import` takes it: from another machine.
fn read_document(directory: &Directory, file: &str) -> Result<Run, String> {
    let path = directory.results().join(file);
    check_owner(&path).map_err(|doubt| doubt.to_string())?;
    let input = files::read_input(&path).map_err(|error| error.to_string())?;
    let origin = Origin {
        id: String::new(),
        now_unix_ms: sys::clock::realtime_unix_ms(),
        by: String::new(),
        name: None,
        machine: None,
    };
    let run =
        import::import(&[input], Some(InputFormat::Run), origin).map_err(|e| e.to_string())?;
    let own = |job: &Job| file.strip_prefix(&job_name(job)).is_some_and(is_ending);
    match &run.job {
        Some(job) if !own(job) => {
            let (host, repetition, attempt) = (visible(&job.host), job.repetition, job.attempt);
            Err(format!(
                "it is of host {host}, repetition {repetition}, attempt {attempt}: its name \
                 is that of another job"
            ))
        }
        _ => Ok(run),
    }
}

fn is_ending(rest: &str) -> bool {
    [".json", ".json.zst"].contains(&rest)
}

/// Why a file of the campaign's directory is not read.
#[derive(thiserror::Error, Debug)]
enum Doubt {
    /// What finding it says.
    #[error("{0}")]
    NotFound(#[from] io::Error),
    #[error("it is not a regular file")]
    NotAFile,
    #[error(
        "it belongs to user {file}, and its directory to user {directory}: anyone could have put it there"
    )]
    Owner { file: u32, directory: u32 },
}

/// Checks that the owner of the campaign's directory, or root, put a file there. Neither waits for the
/// other end of a pipe, nor leaves the directory.
fn check_owner(path: &Path) -> Result<(), Doubt> {
    let file = std::fs::symlink_metadata(path)?;
    if !file.is_file() {
        return Err(Doubt::NotAFile);
    }
    let directory = path.parent().and_then(|directory| std::fs::metadata(directory).ok());
    let directory = directory.map_or(0, |directory| directory.uid());
    match file.uid() {
        uid if uid == directory || uid == 0 => Ok(()),
        file => Err(Doubt::Owner { file, directory }),
    }
}

fn summary(file: String, run: &Run) -> JobDocument {
    let without = run.rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Unavailable { reason } => Some((&row.id, reason)),
        _ => None,
    });
    let first = without.clone().next();
    JobDocument {
        file,
        id: run.id.clone(),
        job: run.job.clone(),
        partial: run.partial.clone(),
        started_unix_ms: run.started_unix_ms,
        wall_ms: run.wall_ms,
        version: run.program.version.clone(),
        commit: run.program.commit.clone(),
        unavailable: without.count(),
        first_unavailable: first.map(|(row, reason)| format!("{row}: {reason}")),
    }
}

/// Reads the records that can be read and are of the job in their name. One that is being overwritten on a full disk may not.
pub fn records(directory: &Directory, each: impl FnMut(Record)) -> Result<(), FleetError> {
    let names = Directory::names(&directory.records())?;
    let read = |name: &String| {
        let path = directory.records().join(name);
        check_owner(&path).ok()?;
        let record: Option<Record> = read_json(&path).ok()?;
        record.filter(|record| name.strip_prefix(&job_name(&record.job)) == Some(".json"))
    };
    names.iter().filter_map(read).for_each(each);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standing::tests::submission;

    #[test]
    fn what_is_no_regular_file_is_named_and_not_opened() {
        let home = tempfile::tempdir().expect("a directory");
        let directory = Directory::at(home.path());
        directory.make().expect("made");
        let results = directory.results();
        std::fs::create_dir_all(results.join("a/new")).expect("made");
        std::os::unix::fs::symlink("/etc/passwd", results.join("b")).expect("linked");
        let fifo = std::process::Command::new("mkfifo").arg(results.join("c")).status();
        assert!(fifo.expect("mkfifo").success());
        let submission = submission("ssh");
        let none = |_: &JobDocument, _: &Run| Err::<(), FleetError>(FleetError::Busy);
        let read = documents(&directory, &ExpectedJobs::from_submission(&submission), none);
        let (_, unreadable) = read.expect("no document");
        let found: Vec<_> = unreadable.iter().map(|one| (&*one.file, &*one.reason)).collect();
        let why = "it is not a regular file";
        assert_eq!(found, [("a", why), ("b", why), ("c", why)]);
    }

    #[test]
    fn what_another_user_put_there_is_not_believed() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("a.json");
        std::fs::write(&path, "{}").expect("written");
        check_owner(&path).expect("ours");
        // Only root can give a file away.
        if std::os::unix::fs::chown(&path, Some(65534), None).is_ok() {
            let doubt = check_owner(&path).expect_err("another's");
            let directory = sys::filesystem::user();
            assert!(
                matches!(doubt, Doubt::Owner { file: 65534, directory: own } if own == directory),
                "{doubt}"
            );
            std::os::unix::fs::chown(home.path(), Some(65534), None).expect("given away");
            check_owner(&path).expect("the whole directory is theirs");
        }
    }
}
