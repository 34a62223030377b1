//! A harness as data: `go.json` and its neighbours, and files of users.

use super::fill::unknown_place;
use super::line::Line;
use crate::process::EndedChild;
use model::phrases::counted;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use store::exchange::import::InputFormat;

/// The harnesses that are known, in the order in which a program is asked whose it is.
const BUILT_IN: [&str; 6] = [
    include_str!("go.json"),
    include_str!("criterion.json"),
    include_str!("divan.json"),
    include_str!("google.json"),
    include_str!("pytest.json"),
    include_str!("jmh.json"),
];

const COMMAND: &str = include_str!("command.json");

/// Largest file of a harness.
const MOST_BYTES: u64 = 1 << 16;

/// How a harness is detected, built, listed, run and read. Words have places (`{exe}`, `{name}`) that are filled in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    pub name: String,
    #[serde(default)]
    pub(super) detect: Option<Detect>,
    #[serde(default)]
    pub(super) programs: ProgramKind,
    /// Texts of which an executable has one.
    #[serde(default)]
    pub(super) holds: Vec<String>,
    /// What is built one by one.
    #[serde(default)]
    pub(super) each: Option<Listing>,
    #[serde(default)]
    pub(super) build: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) build_env: BTreeMap<String, String>,
    /// Builds or links once more, with another layout.
    #[serde(default)]
    pub(super) relink: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// In place of `env` where work is counted.
    #[serde(default)]
    pub(super) count_env: BTreeMap<String, String>,
    /// What it runs starts the benchmark as a process of its own, which an emulator does not see.
    #[serde(default)]
    pub(super) child_process: bool,
    #[serde(default)]
    pub(super) list: Option<Listing>,
    /// A line with the reason of a failure, where the last lines do not tell it: `E  {reason}`.
    #[serde(default)]
    pub(super) failure: Option<Line>,
    /// Runs one benchmark. Each further line is for versions that refuse those before it.
    pub(super) run: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) least_samples: u32,
    /// Without it the time of the process is the result.
    #[serde(default)]
    pub(super) results: Option<Results>,
}

/// What tells that a folder uses a harness.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Detect {
    /// A file beside which the suite lies.
    #[serde(default)]
    pub(super) root: Option<String>,
    /// Some file of such a name, with `*` for anything, ...
    pub(super) files: String,
    /// ... holds one of these texts.
    pub(super) contain: Vec<String>,
}

/// Where the executables of a harness are.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProgramKind {
    /// There are none: an interpreter reads the files.
    #[default]
    None,
    /// One for each package that `each` lists.
    Packages,
    /// Cargo's messages name them.
    Cargo,
    /// Executable files where it was built.
    Executables,
    /// Java archives in the tree.
    Jars,
}

/// A command whose output has names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listing {
    pub(super) run: Vec<String>,
    /// Lines with names; without it, the results of the run have them.
    #[serde(default)]
    pub(super) line: Option<Line>,
    /// The exit code of a suite without benchmarks.
    #[serde(default)]
    pub(super) empty_code: Option<i32>,
}

/// How results are read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Results {
    /// A format that `latlas import` reads.
    #[serde(default)]
    pub(super) format: Option<String>,
    /// Or lines: `{name} {ns}`.
    #[serde(default)]
    pub(super) line: Option<Line>,
    /// Where they are, if not on the standard output.
    #[serde(default)]
    pub(super) file: Option<String>,
    /// They say how many operations a sample had.
    #[serde(default)]
    pub(super) operations: bool,
}

/// Why a file is no harness.
#[derive(thiserror::Error, Debug)]
pub enum AdapterError {
    #[error("can't read the harness {file}: {error}")]
    Unread { file: String, error: std::io::Error },
    #[error("the harness {file} is not one: {fault}")]
    Unfit { file: String, fault: AdapterFault },
}

/// What is wrong with the text of a harness.
#[derive(thiserror::Error, Debug)]
pub enum AdapterFault {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("{word:?} has a place {{{place}}}, which nothing fills")]
    UnknownPlace { word: String, place: String },
    #[error("run has no command")]
    NoCommand,
    #[error("results: no format {0:?}; there are {known}", known = InputFormat::ALL.map(InputFormat::option_name).join(", "))]
    UnknownFormat(String),
    #[error("results: either a format or a line is needed")]
    FormatOrLine,
}

impl Adapter {
    /// All that are known.
    pub fn built_in() -> Vec<Adapter> {
        BUILT_IN.map(own).into()
    }

    /// That of whole commands.
    pub fn of_commands() -> Adapter {
        own(COMMAND)
    }

    /// That of a user's file.
    ///
    /// # Errors
    /// What is wrong with it, with the field.
    pub fn from_file(path: &Path) -> Result<Adapter, AdapterError> {
        let file = path.display().to_string();
        let unread = |error| AdapterError::Unread { file: file.clone(), error };
        let text = sys::input::read_text(path, MOST_BYTES).map_err(unread)?;
        let unfit = |fault| AdapterError::Unfit { file: file.clone(), fault };
        Adapter::from_text(&text).map_err(unfit)
    }

    fn from_text(text: &str) -> Result<Adapter, AdapterFault> {
        let adapter: Adapter = serde_json::from_str(text)?;
        let words = adapter.build.iter().chain(&adapter.run).flatten().chain(&adapter.relink);
        let words =
            words.chain(adapter.list.iter().chain(&adapter.each).flat_map(|list| &list.run));
        let variables = adapter.env.values().chain(adapter.build_env.values());
        for word in words.chain(variables) {
            if let Some(place) = unknown_place(word) {
                let (word, place) = (word.clone(), place.to_owned());
                return Err(AdapterFault::UnknownPlace { word, place });
            }
        }
        if adapter.run.is_empty() || adapter.run.iter().any(Vec::is_empty) {
            return Err(AdapterFault::NoCommand);
        }
        let format = adapter.results.as_ref().and_then(|results| results.format.as_deref());
        if let Some(format) = format.filter(|format| InputFormat::named(format).is_none()) {
            return Err(AdapterFault::UnknownFormat(format.to_owned()));
        }
        if adapter.results.as_ref().is_some_and(|all| all.format.is_some() == all.line.is_some()) {
            return Err(AdapterFault::FormatOrLine);
        }
        Ok(adapter)
    }

    /// Why a child failed: its lines with reasons, each once, else its last ones.
    pub(super) fn failure_of(&self, ended: &EndedChild) -> String {
        let texts = [&ended.out, &ended.err].map(|bytes| String::from_utf8_lossy(bytes));
        let mut reasons: Vec<&str> = Vec::new();
        if let Some(line) = &self.failure {
            for text in texts.iter().flat_map(|text| text.lines()) {
                let values = line.values(text);
                let reason = values.and_then(|values| Some(values.get("reason")?.trim()));
                reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
            }
        }
        match reasons.as_slice() {
            [] => ended.last_words(),
            [only] => model::printable::visible(only),
            [first, others @ ..] => {
                let others = counted(others.len(), "other error");
                format!("{} (and {others})", model::printable::visible(first))
            }
        }
    }

    /// Whether its benchmarks are commands, which the user names.
    pub(super) fn is_of_commands(&self) -> bool {
        self.list.is_none()
    }

    /// The same, detected by its own files alone: for folders of a suite.
    pub(super) fn without_root(&self) -> Adapter {
        let detect = self.detect.clone().map(|detect| Detect { root: None, ..detect });
        Adapter { detect, ..self.clone() }
    }

    /// A layout is made from the words of the first link.
    pub(super) fn links_again(&self) -> bool {
        self.relink.iter().any(|word| word == "{link}")
    }

    /// The work of a sample can be set, by this line of `run`.
    pub(super) fn sets_iterations(&self, line: usize) -> bool {
        self.run.get(line).is_some_and(|words| words.iter().any(|word| word.contains("{n}")))
    }

    /// The number of samples can be set.
    pub(super) fn sets_samples(&self, line: usize) -> bool {
        self.run.get(line).is_some_and(|words| words.iter().any(|word| word.contains("{k}")))
    }
}

fn own(text: &str) -> Adapter {
    Adapter::from_text(text).expect("own harnesses are tested")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_ones_are_read() {
        assert_eq!(Adapter::built_in().len(), 6);
        assert!(Adapter::of_commands().is_of_commands());
    }

    #[test]
    fn what_is_wrong_with_a_users_file_is_named() {
        for (text, reason) in [
            (r#"{"name": "x"}"#, "run"),
            (r#"{"name": "x", "run": []}"#, "run has no command"),
            (r#"{"name": "x", "run": [["{exee}"]]}"#, "{exee}"),
            (r#"{"name": "x", "run": [["a"]], "rum": 1}"#, "rum"),
            (r#"{"name": "x", "run": [["a"]], "results": {"format": "jhm"}}"#, "\"jhm\""),
            (r#"{"name": "x", "run": [["a"]], "results": {}}"#, "either"),
        ] {
            let why = Adapter::from_text(text).expect_err(text).to_string();
            assert!(why.contains(reason), "{why}");
        }
    }
}
