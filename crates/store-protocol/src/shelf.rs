//! The helper's side: a loop over a trait.

use crate::answer::{End, Item};
use crate::failure::{Failure, FailureKind};
use crate::request::Request;
use crate::stored::{Document, Listed, Named, NewDocument};
use crate::{ENTRIES, VERSION};
use std::io::{self, BufReader, BufWriter};

/// What a helper does. What it has answered to a change must be durable.
pub trait Shelf {
    /// Checks that documents could be stored now, and makes what is needed for it.
    fn check(&mut self) -> Result<(), Failure>;

    /// All documents whose UUID begins with the prefix, in any order.
    fn list(&mut self, prefix: &str) -> Result<Vec<Listed>, Failure>;

    /// The documents of these names in this order, `None` for one that is not there.
    fn get(&mut self, names: &[String]) -> Result<Vec<Option<Document>>, Failure>;

    /// Stores a document, wholly or not at all; false if another one has its UUID.
    fn put(&mut self, document: &NewDocument) -> Result<bool, Failure>;

    /// Deletes a document; false if there is none.
    fn delete(&mut self, name: &str) -> Result<bool, Failure>;

    /// All tags, or the one of this name.
    fn tags(&mut self, name: Option<&str>) -> Result<Vec<Named>, Failure>;

    /// Stores a new tag; false if there is one of its name.
    fn create_tag(&mut self, tag: &Named) -> Result<bool, Failure>;

    /// Stores a tag in the place of one of its name.
    fn set_tag(&mut self, tag: &Named) -> Result<(), Failure>;

    /// Deletes a tag; false if there is none.
    fn delete_tag(&mut self, name: &str) -> Result<bool, Failure>;

    /// Whether index entries are kept.
    fn keeps_entries(&self) -> bool {
        false
    }

    /// The entries of this version that are kept of these documents.
    fn entries(&mut self, _version: u32, _names: &[String]) -> Result<Vec<Named>, Failure> {
        Ok(Vec::new())
    }

    /// Keeps an entry of the document that has this mark, unless one of a newer version is kept.
    fn put_entry(&mut self, _mark: &str, _version: u32, _entry: &Named) -> Result<(), Failure> {
        Ok(())
    }
}

/// Answers requests on standard input until it ends. `open` makes the shelf of a URL; a store that can't be reached
/// may say so at the first request.
pub fn serve<S: Shelf>(open: impl Fn(&str) -> Result<S, Failure>) -> io::Result<()> {
    let mut from = BufReader::new(io::stdin());
    let mut to = BufWriter::new(io::stdout());
    let mut shelf = None;
    while let Some(request) = Request::read(&mut from)? {
        let answer = match (request, &mut shelf) {
            (Request::Open { version: VERSION, url }, _) => open(&url).map(|opened| {
                let mut words = vec![VERSION.to_string()];
                words.extend(opened.keeps_entries().then(|| ENTRIES.to_owned()));
                shelf = Some(opened);
                (Vec::new(), End::Ok(words))
            }),
            (Request::Open { .. }, _) => Ok((Vec::new(), End::Ok(vec![VERSION.to_string()]))),
            (request, Some(shelf)) => answered(shelf, &request),
            (_, None) => Err(Failure::new(FailureKind::Settings, "no store was opened")),
        };
        let (items, end) = answer.unwrap_or_else(|failure| (Vec::new(), End::Error(failure)));
        for item in items {
            item.write(&mut to)?;
        }
        end.write(&mut to)?;
    }
    Ok(())
}

fn answered(shelf: &mut impl Shelf, request: &Request) -> Result<(Vec<Item>, End), Failure> {
    let done = End::Ok(Vec::new());
    let whether = |is: bool, otherwise: End| if is { End::Ok(Vec::new()) } else { otherwise };
    let (items, end) = match request {
        Request::Open { .. } => (Vec::new(), done),
        Request::Check => shelf.check().map(|()| (Vec::new(), done))?,
        Request::List { prefix } => {
            (shelf.list(prefix)?.into_iter().map(Item::Listed).collect(), done)
        }
        Request::Get { names } => {
            let item = |kept: Option<Document>| kept.map_or(Item::Missing, Item::Document);
            (shelf.get(names)?.into_iter().map(item).collect(), done)
        }
        Request::Put(document) => (Vec::new(), whether(shelf.put(document)?, End::Exists)),
        Request::Delete { name } => (Vec::new(), whether(shelf.delete(name)?, End::None)),
        Request::Tags { name } => {
            (shelf.tags(name.as_deref())?.into_iter().map(Item::Tag).collect(), done)
        }
        Request::CreateTag(tag) => (Vec::new(), whether(shelf.create_tag(tag)?, End::Exists)),
        Request::SetTag(tag) => shelf.set_tag(tag).map(|()| (Vec::new(), done))?,
        Request::DeleteTag { name } => (Vec::new(), whether(shelf.delete_tag(name)?, End::None)),
        Request::Entries { version, names } => {
            (shelf.entries(*version, names)?.into_iter().map(Item::Entry).collect(), done)
        }
        Request::PutEntry { mark, version, entry } => {
            shelf.put_entry(mark, *version, entry).map(|()| (Vec::new(), done))?
        }
    };
    Ok((items, end))
}
