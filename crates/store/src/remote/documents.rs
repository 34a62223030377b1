//! What a helper keeps, as the store asks for it.

use super::copies;
use super::helper::{Conversation, Fault, Helper};
use crate::documents::Documents;
use crate::error::{FileAction, io};
use crate::horizon::Horizon;
use crate::index::schema::VERSION;
use crate::index::{IndexEntry, check_fits};
use crate::{
    DatabaseFailure, Place, StoreError, as_shown, file_of, id_in_name, kept_already, name_of, tags,
};
use model::run::Run;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store_protocol::{Document, Failure, FailureKind, Item, Listed, Named, NewDocument, Request};

/// The version of the entries that it keeps next to documents.
const CONTENT: u32 = VERSION as u32;

/// What a helper keeps.
#[derive(Debug)]
pub(crate) struct Remote {
    place: Place,
    /// As messages name it.
    shown: String,
    pub(super) helper: Helper,
    /// Where the copies of its documents lie.
    runs: PathBuf,
}

impl Remote {
    pub(super) fn new(url: &str, helper: Helper) -> Remote {
        let place = Place::Database(url.to_owned());
        let shown = place.to_string();
        Remote { place, shown, helper, runs: copies::directory(url).join("runs") }
    }

    pub(super) fn runs(&self) -> &Path {
        &self.runs
    }

    fn with<T>(
        &self,
        talk: impl FnOnce(&mut Conversation) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.helper.with(talk).map_err(|fault| self.helper.error(&self.shown, fault))
    }

    /// Asks for what has no items; whether anything was changed.
    fn change(&self, request: &Request) -> Result<bool, StoreError> {
        self.with(|conversation| conversation.ask(request, |_| None::<()>)).map(|(_, done)| done)
    }

    fn listed(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        let request = Request::List { prefix: prefix.to_owned() };
        let listed = |item| match item {
            Item::Listed(listed) => Some(listed),
            _ => None,
        };
        let (mut listed, _) = self.with(|conversation| conversation.ask(&request, listed))?;
        listed.retain(|listed| id_in_name(Path::new(&listed.name)).is_some());
        Ok(listed)
    }

    /// The copies of documents, those of the oldest runs first.
    fn sorted(&self, now: SystemTime, prefix: &str) -> Result<Vec<PathBuf>, StoreError> {
        let of = |Listed { name, kept_ms, .. }: Listed| {
            (self.runs.join(name), UNIX_EPOCH + Duration::from_millis(kept_ms))
        };
        let kept: HashMap<PathBuf, SystemTime> = self.listed(prefix)?.into_iter().map(of).collect();
        let mut paths: Vec<PathBuf> = kept.keys().cloned().collect();
        Horizon::at(now).sort(&mut paths, |path| kept.get(path).copied());
        Ok(paths)
    }

    fn tags(&self, name: Option<&str>) -> Result<Vec<Named>, StoreError> {
        let request = Request::Tags { name: name.map(str::to_owned) };
        let tag = |item| match item {
            Item::Tag(tag) => Some(tag),
            _ => None,
        };
        Ok(self.with(|conversation| conversation.ask(&request, tag))?.0)
    }

    /// As messages name a document: a copy need not be there.
    fn document(&self, path: &Path) -> PathBuf {
        format!("{}: {}", self.shown, name_of(path)).into()
    }

    fn gone(&self, action: FileAction, path: &Path) -> StoreError {
        io(action, &self.document(path))(std::io::ErrorKind::NotFound.into())
    }
}

fn tag(name: &str, text: &str) -> Named {
    Named { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn unwritable(why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unwritable(why.to_string())
}

impl Documents for Remote {
    fn place(&self) -> Place {
        self.place.clone()
    }

    /// Durable when this returns. A helper that is lost before it answers may have stored the run.
    fn save_bytes(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let name = file_of(run)?;
        check_fits(run, &run.id).map_err(|why| unwritable(&why))?;
        let entry = serde_json::to_vec(&IndexEntry::from_run(&as_shown(run), &name))
            .map_err(|e| unwritable(&e))?;
        let path = self.runs.join(&name);
        let done = self.with(|conversation| {
            let entry = conversation.keeps_entries.then_some((CONTENT, entry));
            let (mark, bytes) = (copies::digest(bytes), bytes.to_vec());
            let request = Request::Put(NewDocument { name, mark, bytes, entry });
            conversation.ask(&request, |_| None::<()>)
        });
        match done {
            Ok((_, true)) => Ok(path),
            Ok((_, false)) => Err(kept_already(&self.document(&path))),
            Err(StoreError::Database { place, failure: DatabaseFailure::WentAway(why) }) => {
                let why = format!("{why}; the run may be stored there (storing it again is safe)");
                Err(StoreError::Database { place, failure: DatabaseFailure::WentAway(why) })
            }
            Err(other) => Err(other),
        }
    }

    fn marked(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, StoreError> {
        let of = |Listed { name, mark, .. }: Listed| (self.runs.join(name), mark.into_bytes());
        Ok(self.listed("")?.into_iter().map(of).collect())
    }

    fn mark_of(&self, bytes: &[u8]) -> Vec<u8> {
        copies::digest(bytes).into_bytes()
    }

    fn entries(&self, paths: &[PathBuf]) -> HashMap<String, IndexEntry> {
        let names = paths.iter().map(|path| name_of(path)).collect();
        let request = Request::Entries { version: CONTENT, names };
        let entry = |item| match item {
            Item::Entry(entry) => Some(entry),
            _ => None,
        };
        let found = self.with(|conversation| match conversation.keeps_entries {
            true => conversation.ask(&request, entry),
            false => Ok((Vec::new(), true)),
        });
        // Why there are none is said when the documents are read.
        let read = |Named { name, bytes }| Some((name, serde_json::from_slice(&bytes).ok()?));
        found.unwrap_or_default().0.into_iter().filter_map(read).collect()
    }

    fn put_entry(&self, path: &Path, mark: &[u8], entry: &IndexEntry) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(entry).map_err(|e| unwritable(&e))?;
        let mark = String::from_utf8_lossy(mark).into_owned();
        let entry = Named { name: name_of(path), bytes };
        let request = Request::PutEntry { mark, version: CONTENT, entry };
        self.with(|conversation| match conversation.keeps_entries {
            true => conversation.ask(&request, |_| None::<()>).map(drop),
            false => Ok(()),
        })
    }

    fn bytes_of(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        let name = name_of(path);
        let request = Request::Get { names: vec![name.clone()] };
        let document = |item| match item {
            Item::Document(document) => Some(Some(document)),
            Item::Missing => Some(None),
            _ => None,
        };
        let got = self.with(|conversation| {
            let (mut got, _) = conversation.ask(&request, document)?;
            match (got.pop(), got.is_empty()) {
                (Some(Some(Document { mark, bytes })), true) if mark != copies::digest(&bytes) => {
                    let why = format!("the document {name} has another digest");
                    Err(Fault::Failed(Failure::new(FailureKind::Damaged, why)))
                }
                (Some(document), true) => Ok(document),
                _ => Err(conversation.strange()),
            }
        })?;
        // It was deleted since.
        got.map(|document| document.bytes).ok_or_else(|| self.gone(FileAction::Read, path))
    }

    /// A document: its copy if that is good, since another document may have got the name, and a file
    /// be damaged; else from the helper, with a copy for the next time if one can be written.
    fn copied_bytes(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        if let (Some(copy), Some(id)) = (copies::kept_at(path), id_in_name(path)) {
            let (name, mark) = (name_of(path), copies::digest(&copy));
            if self.listed(id)?.iter().any(|kept| kept.name == name && kept.mark == mark) {
                return Ok(copy);
            }
        }
        let bytes = self.bytes_of(path)?;
        copies::keep(path, &bytes);
        Ok(bytes)
    }

    fn check_keepable(&self) -> Result<(), StoreError> {
        self.change(&Request::Check).map(drop)
    }

    fn paths_at(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError> {
        self.sorted(now, "")
    }

    fn paths_of(&self, prefix: &str) -> Result<Vec<PathBuf>, StoreError> {
        self.sorted(SystemTime::now(), prefix)
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        if !self.change(&Request::Delete { name: name_of(path) })? {
            return Err(self.gone(FileAction::Remove, path));
        }
        // A copy that stays does no harm.
        let _ = std::fs::remove_file(path);
        Ok(())
    }

    fn tag_names(&self) -> Result<Vec<String>, StoreError> {
        let mut names: Vec<String> = self.tags(None)?.into_iter().map(|tag| tag.name).collect();
        names.retain(|name| tags::is_word(name));
        names.sort();
        Ok(names)
    }

    fn read_tag(&self, name: &str) -> Result<Option<String>, StoreError> {
        let found = self.tags(Some(name))?.into_iter().find(|tag| tag.name == name);
        Ok(found.map(|tag| String::from_utf8_lossy(&tag.bytes).into_owned()))
    }

    fn create_tag(&self, name: &str, text: &str) -> Result<bool, StoreError> {
        self.change(&Request::CreateTag(tag(name, text)))
    }

    fn write_tag(&self, name: &str, text: &str) -> Result<(), StoreError> {
        self.change(&Request::SetTag(tag(name, text))).map(drop)
    }

    fn remove_tag(&self, name: &str) -> Result<bool, StoreError> {
        self.change(&Request::DeleteTag { name: name.to_owned() })
    }
}
