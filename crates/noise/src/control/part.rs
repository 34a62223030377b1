//! One file of a control: what it holds, what it should hold, and whether
//! these are the same in the file's own meaning.

use super::places::{cpus_of, in_words};
use crate::change::Change;
use crate::files::Files;
use std::collections::BTreeMap;
use sys::files::{Writing, bracketed};

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The CPUs that it is for; empty where it is for the whole system.
    pub(super) cpus: Vec<u32>,
    /// Its path.
    pub(super) path: String,
    /// What it holds, or why that is not known.
    pub(super) now: Result<String, String>,
    /// What it says to a person; the content itself where that is as good.
    pub(super) shown: String,
    /// What would be written; `None` where nothing better is known.
    pub(super) wanted: Option<String>,
    /// Whether it is as wanted now.
    pub(super) met: bool,
    /// Whether the kernel offers it for reading only.
    pub(super) fixed: bool,
    /// Why the kernel refuses every value now, though it offers the file.
    pub(super) refused: Option<String>,
}

impl Part {
    /// A file that is there, with the value wanted of it. `None` if it is not.
    pub(super) fn new(files: &dyn Files, path: impl Into<String>, wanted: &str) -> Option<Part> {
        let mut part = Part::shown_only(files, path)?;
        part.met = part.now.as_deref() == Ok(wanted);
        part.wanted = Some(wanted.to_owned());
        Some(part)
    }

    /// A file that is there, of which nothing is wanted.
    pub(super) fn shown_only(files: &dyn Files, path: impl Into<String>) -> Option<Part> {
        let path = path.into();
        if !files.exists(&path) {
            return None;
        }
        let fixed = files.writing(&path) == Writing::Never;
        let now = files.read(&path).map_err(|error| error.to_string());
        Some(Part {
            cpus: Vec::new(),
            shown: now.clone().unwrap_or_else(|why| format!("unknown: {why}")),
            path,
            now,
            wanted: None,
            met: true,
            fixed,
            refused: None,
        })
    }

    /// The same part, for these CPUs.
    pub(super) fn of_cpus(self, cpus: &[u32]) -> Part {
        Part {
            cpus: cpus.to_vec(),
            ..self
        }
    }

    /// A file like `always [madvise] never`: the chosen word counts, and each
    /// of `good` will do.
    pub(super) fn choice(mut self, good: &[&str]) -> Part {
        if let Some(word) = self.now.as_deref().ok().and_then(bracketed) {
            self.met = good.contains(&word.as_str());
            self.shown = word;
        }
        self
    }

    /// Words for values: `0` is "off".
    pub(super) fn in_words(mut self, words: &[(&str, &str)]) -> Part {
        let found = words
            .iter()
            .find(|(value, _)| Ok(*value) == self.now.as_deref());
        if let Some((_, word)) = found {
            self.shown = (*word).to_owned();
        }
        self
    }

    /// A file that is a mask of CPUs.
    pub(super) fn mask(mut self) -> Part {
        if let Some(now) = self.now.as_deref().ok().and_then(cpus_of) {
            let wanted = self.wanted.as_deref().and_then(cpus_of);
            self.met = wanted.is_none_or(|wanted| wanted == now);
            self.shown = in_words(&now);
        }
        self
    }

    /// What would be written, if it can be and is not there already.
    pub(super) fn change(self, control: &str) -> Option<Change> {
        let closed = self.fixed || self.refused.is_some();
        match (self.met || closed, self.wanted) {
            (false, Some(wanted)) => Some(Change {
                control: control.to_owned(),
                path: self.path,
                wanted,
            }),
            _ => None,
        }
    }
}

/// All parts in a line: `performance on all 8 CPUs`, or
/// `schedutil on CPUs 0-3; performance on CPUs 4-7`.
pub(super) fn in_a_line(parts: &[Part]) -> String {
    let mut by_value: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for part in parts {
        let cpus = by_value.entry(&part.shown).or_insert_with(|| {
            order.push(&part.shown);
            Vec::new()
        });
        cpus.extend(&part.cpus);
    }
    let texts: Vec<String> = order
        .into_iter()
        .map(|value| {
            let mut cpus = by_value.remove(value).unwrap_or_default();
            cpus.sort_unstable();
            let everywhere = parts.iter().all(|part| part.shown == value);
            match cpus.len() {
                0 => value.to_owned(),
                n if n > 1 && everywhere => format!("{value} on all {n} CPUs"),
                _ => format!("{value} on {}", in_words(&cpus)),
            }
        })
        .collect();
    texts.join("; ")
}
