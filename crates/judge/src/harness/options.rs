//! What the user says of the suite.

use super::adapter::Adapter;
use super::detect::{is_like, sign_of};
use super::error::HarnessError;
use crate::process::{Child, ProcessError, Processes, own_variables};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An interpreter begins sooner.
const PYTHON_LIMIT: Duration = Duration::from_secs(30);

/// What the user says of the suite.
#[derive(Clone, Debug, Default)]
pub struct SuiteOptions {
    /// A harness of the user's own, in place of those that are known.
    pub harness: Option<Adapter>,
    /// Whole commands, `{}` for the folder of the side.
    pub commands: Vec<String>,
    /// Builds a side, in place of what its harness does; for a shell.
    pub build: Option<String>,
    /// The executable with the benchmarks, relative to the folder of a side.
    pub exe: Option<PathBuf>,
    /// Patterns of names, `*` for anything; none means all.
    pub only: Vec<String>,
    /// What a slot may take.
    pub slot_limit: Option<Duration>,
    /// Where the user is: interpreters of the checkout are looked for here.
    pub here: PathBuf,
}

impl SuiteOptions {
    pub(super) fn adapters(&self) -> Vec<Adapter> {
        match &self.harness {
            _ if !self.commands.is_empty() => vec![Adapter::of_commands()],
            Some(own) => vec![own.clone()],
            None => Adapter::built_in(),
        }
    }

    /// The harnesses that one of the sides uses, each given as the user named it and by its folder.
    pub(super) fn detected(
        &self,
        adapters: &[Adapter],
        sides: &[(&str, &Path)],
    ) -> Result<Vec<usize>, HarnessError> {
        let is_named = |adapter: &Adapter| match adapter.is_of_commands() || self.harness.is_some()
        {
            true => true,
            // Whose the user's executable is, it tells itself.
            false => self.exe.is_some() && !adapter.holds.is_empty(),
        };
        let is_used =
            |adapter: &Adapter| sides.iter().any(|(_, folder)| sign_of(adapter, folder).is_some());
        let wanted: Vec<usize> = (0..adapters.len())
            .filter(|&at| is_named(&adapters[at]) || is_used(&adapters[at]))
            .collect();
        if wanted.is_empty() {
            let known = adapters.iter().map(|adapter| &*adapter.name).collect::<Vec<_>>();
            let mut sides: Vec<&str> = sides.iter().map(|(label, _)| *label).collect();
            sides.dedup();
            let (sides, known) = (sides.join(" and "), known.join(", "));
            return Err(HarnessError::NotDetected { sides, known });
        }
        Ok(wanted)
    }

    /// The interpreter of the checkout that the user is in, itself and not what starts it.
    pub(super) fn python(&self, processes: &mut Processes) -> Result<String, ProcessError> {
        let own = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
        let folders = own.into_iter().chain([".venv", "venv"].map(|name| self.here.join(name)));
        let mut found = folders.map(|folder| folder.join("bin/python"));
        if let Some(python) = found.find(|file| file.exists()) {
            return Ok(python.display().to_string());
        }
        let words = ["python3", "-c", "import sys; print(sys.executable)"].map(str::to_owned);
        let (variables, directory) = (own_variables(&[]), Path::new("/"));
        let limit = PYTHON_LIMIT;
        match processes.run(&Child { words: &words, variables: &variables, directory, limit }) {
            Err(ProcessError::Interrupted) => Err(ProcessError::Interrupted),
            Ok(ended) if ended.is_success() => Ok(ended.out_text().trim().to_owned()),
            _ => Ok("python3".into()),
        }
    }

    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| is_like(name, only))
    }
}
