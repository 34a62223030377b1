//! Names given to kept runs. No document holds them, so each is a
//! small file of its own, `tags/NAME` with the run's id in it, or the ids of
//! several, one a line: they outlive the index, and every change of one is a
//! single step of the file system. In a database it is a row that holds the same.

use super::{Store, StoreError, document, id_in_name};
use compare::references::References;
use serde::Serialize;
use std::collections::HashSet;

const LONGEST: usize = 64;

/// A name and a run that it means, one of several perhaps.
#[derive(Serialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    pub name: String,
    /// Id of the run, which may be kept no more.
    pub run: String,
}

/// What becomes of runs that have a tag already which is given to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taken {
    /// Nothing: it is refused.
    #[default]
    Refused,
    /// They lose it.
    Moved,
    /// They have it too.
    Shared,
}

/// Refuses what can't be a tag: what could be taken for another way to name a
/// run, or for a path.
pub fn check_tag(name: &str) -> Result<(), StoreError> {
    let fault = match name {
        _ if !is_word(name) => Some(
            "a tag is up to 64 letters, digits and _ . + - and begins with a letter or digit"
                .into(),
        ),
        _ if name.to_ascii_lowercase().starts_with("last") => {
            Some("what begins with \"last\" counts back from the newest run".into())
        }
        _ if looks_like_id(name) => {
            Some("it looks like the beginning of a run's id: add a letter after f, or a dot".into())
        }
        _ => is_published(name).then(|| "a published table is called so".into()),
    };
    match fault {
        None => Ok(()),
        Some(why) => Err(StoreError::BadTag { name: name.to_owned(), why }),
    }
}

pub(super) fn is_word(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    begins && name.len() <= LONGEST && name.chars().all(fits)
}

/// Whether a name is asked for as the beginning of an id.
pub(super) fn looks_like_id(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

fn is_published(name: &str) -> bool {
    // The embedded tables are read in a test of their own.
    let tables = References::embedded();
    tables.is_ok_and(|all| all.keys().iter().any(|key| key.eq_ignore_ascii_case(name)))
}

impl Store {
    /// All tags by name, one for each run that has it, those of runs that are
    /// kept no more too. A broken one
    /// is no reason to go without the others: [`Store::broken_tags`].
    pub fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        let mut tags: Vec<Tag> = self.tag_files()?.into_iter().flatten().flatten().collect();
        tags.sort();
        Ok(tags)
    }

    /// Why some tags can't be read.
    pub fn broken_tags(&self) -> Result<Vec<StoreError>, StoreError> {
        Ok(self.tag_files()?.into_iter().filter_map(Result::err).collect())
    }

    fn tag_files(&self) -> Result<Vec<Result<Vec<Tag>, StoreError>>, StoreError> {
        let mut tags = Vec::new();
        for name in self.documents.tag_names()? {
            let tag = |run| Tag { name: name.clone(), run };
            let of_file = self.runs_tagged(&name);
            tags.push(of_file.map(|runs| runs.into_iter().map(tag).collect()));
        }
        Ok(tags)
    }

    /// Id of the run that a tag means, if there is such a tag: of several the
    /// one that began last. Only where none of them is kept, one that is gone.
    ///
    /// # Errors
    /// If it can't be read, or its file holds something else.
    pub fn tagged(&self, name: &str) -> Result<Option<String>, StoreError> {
        let mut runs = self.runs_tagged(name)?;
        if runs.len() > 1 {
            let tagged: HashSet<&str> = runs.iter().map(String::as_str).collect();
            let paths = self.paths()?;
            let newest = paths.iter().rev().filter_map(|path| id_in_name(path));
            if let Some(newest) = newest.into_iter().find(|id| tagged.contains(id)) {
                return Ok(Some(newest.to_owned()));
            }
        }
        Ok(runs.pop())
    }

    /// Ids of all runs that have a tag, in the order in which it was given.
    /// Empty without such a tag.
    pub fn runs_tagged(&self, name: &str) -> Result<Vec<String>, StoreError> {
        if !is_word(name) {
            return Ok(Vec::new());
        }
        let Some(text) = self.documents.read_tag(name)? else {
            return Ok(Vec::new());
        };
        let runs: Vec<String> = text.trim().lines().map(|line| line.trim().to_owned()).collect();
        match !runs.is_empty() && runs.iter().all(|run| document::is_id(run)) {
            true => Ok(runs),
            false => Err(StoreError::BadTag {
                name: name.to_owned(),
                why: format!(
                    "{} does not hold ids of runs alone",
                    self.data_dir().join("tags").join(name).display()
                ),
            }),
        }
    }

    /// Gives a kept run a name; `taken` says what becomes of runs that have it.
    /// Those that lost it are returned.
    ///
    /// # Errors
    /// If the name can't be a tag, is taken, or can't be written.
    pub fn tag(&self, name: &str, run: &str, taken: Taken) -> Result<Vec<String>, StoreError> {
        check_tag(name)?;
        let folded = |tag: &Tag| tag.name != name && tag.name.eq_ignore_ascii_case(name);
        if let Some(other) = self.tags()?.into_iter().find(folded) {
            // On some file systems both would be one file.
            return Err(StoreError::BadTag {
                name: name.to_owned(),
                why: format!("there is {} already", other.name),
            });
        }
        if self.documents.create_tag(name, &tags_text(&[run]))? {
            return Ok(Vec::new());
        }
        let before = match (self.runs_tagged(name), taken) {
            // A file without an id belongs to no run.
            (Err(StoreError::BadTag { .. }), Taken::Moved) => Vec::new(),
            (before, _) => before?,
        };
        let others: Vec<&str> =
            before.iter().map(String::as_str).filter(|own| *own != run).collect();
        let has_it = others.len() < before.len();
        match taken {
            Taken::Moved => {
                self.documents.write_tag(name, &tags_text(&[run]))?;
                Ok(others.into_iter().map(str::to_owned).collect())
            }
            _ if has_it => Ok(Vec::new()),
            Taken::Shared => {
                let all: Vec<&str> = others.into_iter().chain([run]).collect();
                self.documents.write_tag(name, &tags_text(&all))?;
                Ok(Vec::new())
            }
            Taken::Refused => {
                Err(StoreError::TagTaken { name: name.to_owned(), run: before.join(", ") })
            }
        }
    }

    /// Takes a name away and says which runs had it.
    pub fn untag(&self, name: &str) -> Result<Vec<String>, StoreError> {
        let none = || StoreError::NoSuchTag { name: name.to_owned() };
        if !is_word(name) {
            return Err(none());
        }
        // A file that holds no id goes too.
        let runs = self.runs_tagged(name).unwrap_or_default();
        if self.documents.remove_tag(name)? { Ok(runs) } else { Err(none()) }
    }

    /// Takes a name away from one run; others keep it.
    pub(crate) fn untag_run(&self, name: &str, run: &str) -> Result<(), StoreError> {
        let before = self.runs_tagged(name)?;
        let left: Vec<&str> = before.iter().map(String::as_str).filter(|own| *own != run).collect();
        match left.as_slice() {
            [] => self.untag(name).map(drop),
            left => self.documents.write_tag(name, &tags_text(left)),
        }
    }
}

fn tags_text(runs: &[&str]) -> String {
    runs.iter().map(|run| format!("{run}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";

    #[test]
    fn what_could_mean_something_else_is_no_tag() {
        for good in ["before-6.19", "v1.2", "x", "a.b", "CI_main", "6.19", "g00", &"x".repeat(64)] {
            check_tag(good).expect(good);
        }
        let long = "x".repeat(65);
        for (bad, why) in [
            ("", "letters"),
            (".hidden", "letters"),
            ("-x", "letters"),
            ("a/b", "letters"),
            ("..", "letters"),
            ("@host", "letters"),
            ("naïve", "letters"),
            (long.as_str(), "64"),
            ("last", "counts back"),
            ("Last~1", "letters"),
            ("lastgood", "counts back"),
            ("deadbeef", "id"),
            ("BEEF", "id"),
            ("5e0c1a2b-3c4d", "id"),
            ("iphone-x", "published"),
            ("iPhone-X", "published"),
            ("2012", "id"),
        ] {
            let error = check_tag(bad).expect_err(bad).to_string();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    #[test]
    fn a_tag_that_holds_no_id_is_named_and_can_be_removed() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        std::fs::create_dir(dir.path().join("tags")).expect("made");
        std::fs::write(dir.path().join("tags/broken"), "../../etc").expect("written");
        let error = store.tagged("broken").expect_err("no id").to_string();
        assert!(error.contains("tags/broken"), "{error}");
        store.tag("whole", RUN, Taken::Refused).expect("given");
        // Some file systems take both for one name.
        let folded = store.tag("Whole", RUN, Taken::Moved).expect_err("there");
        let folded = folded.to_string();
        assert!(folded.contains("there is whole already"), "{folded}");
        assert_eq!(store.tags().expect("the other").len(), 1);
        assert_eq!(store.broken_tags().expect("one").len(), 1);
        store.untag("whole").expect("removed");
        store.untag("broken").expect("removed");
        assert!(store.tags().expect("none").is_empty());
    }
}
