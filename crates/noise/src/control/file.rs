//! One kernel file of a control: its value, the wanted value, and whether they
//! mean the same.

use super::ValueFormat;
use crate::change::Change;
use crate::cpus;
use model::machine::Fact;
use std::collections::BTreeMap;
use sys::files::Files;
use sys::files::{Writing, bracketed};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) path: String,
    /// CPUs that it applies to; empty if it is for the whole system.
    pub(super) cpus: Vec<u32>,
    /// Its content, or why it can't be read.
    pub(super) now: Fact<String>,
    /// The value as printed.
    pub(super) shown: String,
    /// The value to write; `None` if nothing better is known.
    pub(super) wanted: Option<String>,
    /// Whether the value is as wanted.
    pub(super) met: bool,
    /// Whether the kernel makes the file read-only.
    pub(super) fixed: bool,
    /// Why the kernel refuses every value at present.
    pub(super) refused: Option<String>,
}

impl FileState {
    pub(super) fn read_file(files: &dyn Files, path: String, cpus: Vec<u32>) -> FileState {
        let now = match files.read(&path) {
            Ok(now) => Fact::known(now),
            Err(error) => Fact::unknown(error.to_string()),
        };
        FileState {
            shown: match (&now.value, &now.unknown) {
                (Some(now), _) => now.clone(),
                (None, why) => format!("unknown: {}", why.as_deref().unwrap_or_default()),
            },
            fixed: files.writing(&path) == Writing::Never,
            path,
            cpus,
            now,
            wanted: None,
            met: true,
            refused: None,
        }
    }

    /// Its content, if it can be read.
    pub(super) fn content(&self) -> Option<&str> {
        self.now.get().map(String::as_str)
    }

    /// The same with a wanted value, read as the control says.
    pub(super) fn wanting(mut self, wanted: Option<String>, reading: ValueFormat) -> FileState {
        self.wanted = wanted;
        self.met = self.wanted.is_none() || self.now.get() == self.wanted.as_ref();
        let Some(now) = self.now.get() else {
            return self;
        };
        match reading {
            ValueFormat::Plain => {}
            ValueFormat::Words(words) => {
                if let Some((_, word)) = words.iter().find(|(value, _)| value == now) {
                    self.shown = (*word).to_owned();
                }
            }
            ValueFormat::Choice(good) => {
                if let Some(word) = bracketed(now) {
                    self.met = good.contains(&word.as_str());
                    self.shown = word;
                }
            }
            ValueFormat::Mask => {
                if let Some(now) = cpus::of_mask(now) {
                    let wanted = self.wanted.as_deref().and_then(cpus::of_mask);
                    self.met = wanted.is_none_or(|wanted| wanted == now);
                    self.shown = cpus::in_words(&now);
                }
            }
            ValueFormat::Kilohertz => {
                if let Ok(khz) = now.parse::<f64>() {
                    self.shown = format!("{} GHz", khz / 1e6);
                }
            }
        }
        self
    }

    /// What to write, if it can be written and differs.
    pub(super) fn change(self, control: &str) -> Option<Change> {
        let closed = self.fixed || self.refused.is_some();
        match (self.met || closed, self.wanted) {
            (false, Some(wanted)) => {
                Some(Change { control: control.to_owned(), path: self.path, wanted })
            }
            _ => None,
        }
    }
}

/// All values in a line: `performance on all 8 CPUs`, or
/// `schedutil on CPUs 0-3; performance on CPUs 4-7`.
pub(super) fn in_a_line(values: &[FileState]) -> String {
    let mut by_value: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for value in values {
        let cpus = by_value.entry(&value.shown).or_insert_with(|| {
            order.push(&value.shown);
            Vec::new()
        });
        cpus.extend(&value.cpus);
    }
    let texts: Vec<String> = order
        .iter()
        .map(|&shown| {
            let mut cpus = by_value.remove(shown).unwrap_or_default();
            cpus.sort_unstable();
            match cpus.len() {
                0 => shown.to_owned(),
                n if n > 1 && order.len() == 1 => format!("{shown} on all {n} CPUs"),
                _ => format!("{shown} on {}", cpus::in_words(&cpus)),
            }
        })
        .collect();
    texts.join("; ")
}
