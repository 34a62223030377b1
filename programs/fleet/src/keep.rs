//! Results into the store: each once, and none in place of another document of its run id.

use model::run::Run;
use std::io::ErrorKind;
use store::index::Index;
use store::{DatabaseFailure, StoreError};

/// What became of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is stored now.
    New,
    /// It was stored before.
    Before,
    /// It is not stored: its id is that of another document, which stays.
    Not(String),
}

/// Stores a result, unless its id is taken.
pub fn keep(index: &Index, run: &Run) -> Result<Kept, StoreError> {
    // To find that an id is taken, a directory is listed whole: the index spares that.
    if let Some(known) = index.run(&run.id)? {
        match store::read_as_it_is(&known.path) {
            Ok(stored) => return Ok(compared(index, run, &stored)),
            // A damaged document gives its place to this one.
            Err(error) => drop(unread(error)?),
        }
    }
    match index.keep(run) {
        Ok(_) => return Ok(Kept::New),
        Err(StoreError::Io { cause, .. }) if cause.kind() == ErrorKind::AlreadyExists => {}
        Err(other) => return Err(other),
    }
    let path = index.document_path(&run.id);
    match path.and_then(|path| store::read_as_it_is(&path)) {
        Ok(stored) => Ok(compared(index, run, &stored)),
        Err(error) => unread(error),
    }
}

/// The stored document of this id can't be compared. Of a database that does not answer, it is the error.
fn unread(error: StoreError) -> Result<Kept, StoreError> {
    use DatabaseFailure::Damaged;
    match error {
        StoreError::Database { ref failure, .. } if !matches!(failure, Damaged(_)) => Err(error),
        _ => Ok(Kept::Not(error.to_string())),
    }
}

fn compared(index: &Index, run: &Run, stored: &Run) -> Kept {
    match stored == run {
        true => Kept::Before,
        false => Kept::Not(format!(
            "{} has another document of this run: `latlas atlas delete {}` and collect again to \
             replace it, or remove this file",
            index.store().place(),
            run.id,
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::synthetic;
    use std::path::{Path, PathBuf};
    use store::Store;

    fn stored(home: &Path) -> (Index, Run, PathBuf) {
        let index = Index::open(Store::in_directory(home)).expect("opened");
        let run = synthetic::run();
        assert_eq!(keep(&index, &run).expect("kept"), Kept::New);
        let path = index.document_path(&run.id).expect("a document");
        (index, run, path)
    }

    fn reason(kept: Kept) -> String {
        match kept {
            Kept::Not(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_run_is_stored_once_and_no_other_takes_its_place() {
        let home = tempfile::tempdir().expect("a directory");
        let (index, run, path) = stored(home.path());
        assert_eq!(keep(&index, &run).expect("kept"), Kept::Before);
        let mut other = run.clone();
        other.wall_ms += 1;
        // The same without its time, which is part of the document's name, or with it.
        for later_ms in [0, 1000] {
            other.started_unix_ms = run.started_unix_ms + later_ms;
            let reason = reason(keep(&index, &other).expect("asked"));
            let expected = format!(
                "{} has another document of this run: `latlas atlas delete {}`",
                home.path().display(),
                run.id
            );
            assert!(reason.starts_with(&expected), "{reason}");
            assert_eq!(store::read_as_it_is(&path).expect("read"), run);
            assert_eq!(index.runs().expect("runs").len(), 1);
        }
    }

    #[test]
    fn a_damaged_document_gives_its_place_and_a_newer_one_does_not() {
        let home = tempfile::tempdir().expect("a directory");
        let (index, run, path) = stored(home.path());
        std::fs::write(&path, "{").expect("damaged");
        assert_eq!(keep(&index, &run).expect("kept"), Kept::New);
        assert_eq!(store::read_as_it_is(&path).expect("read"), run);
        std::fs::write(&path, "{\"schema\": 999}").expect("written");
        let reason = reason(keep(&index, &run).expect("asked"));
        assert!(reason.contains("use a newer latlas"), "{reason}");
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(keep(&index, &run).expect("kept"), Kept::New);
    }

    #[test]
    fn what_another_process_stored_is_compared_too() {
        let home = tempfile::tempdir().expect("a directory");
        let index = Index::open(Store::in_directory(home.path())).expect("opened");
        let (_, run, _) = stored(home.path());
        assert_eq!(keep(&index, &run).expect("kept"), Kept::Before);
    }
}
