//! Builds a side, and finds its programs.

use super::adapter::{Adapter, ProgramKind};
use super::detect::sign_of;
use super::error::HarnessError;
use super::layout::link_variables;
use super::options::SuiteOptions;
use super::programs::{Program, adapter_of, files_of, of_cargo, side_filling, text};
use crate::checkout::BuildSide;
use crate::process::{Child, EndedChild, ProcessError, Processes, own_variables};
use model::phrases::counted;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::command::End;

/// What a step of a build may take.
const LIMIT: Duration = Duration::from_secs(1800);

/// One side while it is built.
pub(super) struct Build<'a> {
    pub(super) adapters: &'a [Adapter],
    pub(super) options: &'a SuiteOptions,
    pub(super) side: &'a BuildSide,
    pub(super) python: &'a str,
    pub(super) processes: &'a mut Processes,
    /// Build commands that have run, with what they said: several harnesses may have one.
    pub(super) done: Vec<(Vec<String>, String)>,
    /// The harness of each executable that was looked at.
    pub(super) owners: HashMap<PathBuf, Option<usize>>,
}

impl Build<'_> {
    /// Builds for these harnesses, and finds the programs of all.
    pub(super) fn programs(&mut self, wanted: &[usize]) -> Result<Vec<Program>, HarnessError> {
        if let Some(command) = &self.options.build {
            let words = ["/bin/sh".into(), "-c".into(), command.clone()];
            self.run(&words, &self.side.root.clone(), &[])?;
        }
        if let Some(exe) = &self.options.exe {
            return self.named_program(exe, wanted).map(|program| vec![program]);
        }
        let mut found: Vec<Program> = Vec::new();
        for &at in wanted {
            let adapter = &self.adapters[at];
            let more = match adapter.programs {
                ProgramKind::Packages => self.packages(at)?,
                kind => {
                    let messages = self.built(adapter)?;
                    match kind {
                        ProgramKind::Cargo => self.of_cargo(&messages, at, wanted),
                        ProgramKind::None => vec![Program::without_exe(at, self.side)],
                        _ => self.of_files(kind, at, wanted),
                    }
                }
            };
            found.extend(more);
        }
        if found.is_empty() {
            let harness = self.harness_names(wanted);
            let said = self.done.last().map_or("", |(_, said)| said);
            let found = match of_cargo(said).len() {
                0 => "all files".to_owned(),
                n => counted(n, "executable"),
            };
            return Err(HarnessError::NoProgram { side: self.side.label.clone(), harness, found });
        }
        Ok(found)
    }

    fn harness_names(&self, wanted: &[usize]) -> String {
        let names: Vec<&str> = wanted.iter().map(|&at| &*self.adapters[at].name).collect();
        names.join(", ")
    }

    /// What the build of a harness said on its standard output.
    fn built(&mut self, adapter: &Adapter) -> Result<String, HarnessError> {
        if self.options.build.is_some() {
            return Ok(String::new());
        }
        let filling = side_filling(self.side, self.python);
        let mut said = String::new();
        for words in &adapter.build {
            let words = filling.filled(words);
            said = match self.done.iter().find(|(done, _)| *done == words) {
                Some((_, said)) => said.clone(),
                None => {
                    let variables: Vec<(&str, OsString)> = adapter
                        .build_env
                        .iter()
                        .map(|(name, value)| (&**name, filling.text(value).into()))
                        .collect();
                    let linked = link_variables(adapter, self.side, self.processes)?;
                    let linked = linked.iter().map(|(name, value)| (&**name, value.clone()));
                    let variables: Vec<_> = variables.into_iter().chain(linked).collect();
                    let ended = self.run(&words, &self.side.root.clone(), &variables)?;
                    self.done.push((words, ended.out_text()));
                    ended.out_text()
                }
            };
        }
        Ok(said)
    }

    fn run(
        &mut self,
        words: &[String],
        directory: &Path,
        variables: &[(&str, OsString)],
    ) -> Result<EndedChild, HarnessError> {
        let variables = own_variables(variables);
        let child = Child { words, variables: &variables, directory, limit: LIMIT };
        let label = &self.side.label;
        let ended = match self.processes.run(&child) {
            Err(ProcessError::NotFound(program)) => {
                let said = format!("{program} is not installed");
                return Err(HarnessError::of_build(label, words, said));
            }
            other => other?,
        };
        match ended.end {
            End::Code(0) => Ok(ended),
            End::TimedOut => {
                let said = format!("it took more than {} minutes", LIMIT.as_secs() / 60);
                Err(HarnessError::of_build(label, words, said))
            }
            _ => Err(HarnessError::of_build(label, words, build_words(&ended))),
        }
    }

    /// A program for each package that has benchmarks.
    fn packages(&mut self, at: usize) -> Result<Vec<Program>, HarnessError> {
        let adapter = &self.adapters[at];
        let Some(each) = &adapter.each else { return Ok(Vec::new()) };
        let filling = side_filling(self.side, self.python);
        let listed = self.run(&filling.filled(&each.run), &self.side.root.clone(), &[])?;
        let mut programs = Vec::new();
        for line in listed.out_text().lines() {
            let values = each.line.as_ref().and_then(|each| each.values(line));
            let Some(values) = values else { continue };
            let package = values.get("package").copied().unwrap_or(line).to_owned();
            let directory = values.get("directory").map_or(self.side.root.as_path(), Path::new);
            if adapter.detect.is_some() && sign_of(&adapter.without_root(), directory).is_none() {
                continue;
            }
            let name = package.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
            let program = Program {
                key: package.clone(),
                adapter: at,
                exe: Some(self.side.target.join(format!("{name}.test"))),
                package,
                directory: directory.to_owned(),
            };
            let filling = program.filling(self.side, self.python);
            for words in &adapter.build {
                self.run(&filling.filled(words), &self.side.root.clone(), &[])?;
            }
            // Without test files that fit this system there is none.
            programs
                .extend(program.exe.as_ref().is_some_and(|exe| exe.exists()).then_some(program));
        }
        Ok(programs)
    }

    /// Whether an executable is of this harness. It is searched once for all that are wanted.
    fn is_of(&mut self, file: &Path, at: usize, wanted: &[usize]) -> bool {
        let adapters = self.adapters;
        let owner = self.owners.entry(file.to_owned());
        *owner.or_insert_with(|| adapter_of(file, adapters, wanted)) == Some(at)
    }

    fn of_cargo(&mut self, messages: &str, at: usize, wanted: &[usize]) -> Vec<Program> {
        let executables = of_cargo(messages);
        let own = executables.into_iter().filter(|(_, exe, _)| self.is_of(exe, at, wanted));
        own.map(|(name, exe, directory)| Program {
            key: name.clone(),
            adapter: at,
            exe: Some(exe),
            package: name,
            directory,
        })
        .collect()
    }

    fn of_files(&mut self, kind: ProgramKind, at: usize, wanted: &[usize]) -> Vec<Program> {
        let side = self.side;
        let around = match kind {
            ProgramKind::Jars => &side.root,
            _ => &side.target,
        };
        let files = files_of(kind, side).into_iter();
        let own = files.filter(|file| self.is_of(file, at, wanted));
        own.map(|file| Program {
            key: text(file.strip_prefix(around).unwrap_or(&file)),
            adapter: at,
            exe: Some(file),
            package: String::new(),
            directory: side.root.clone(),
        })
        .collect()
    }

    /// The executable that the user names, of the harness whose texts it holds, or else of the only one.
    fn named_program(&self, exe: &Path, wanted: &[usize]) -> Result<Program, HarnessError> {
        let file = self.side.root.join(exe);
        if let Err(error) = std::fs::metadata(&file) {
            return Err(HarnessError::File { file: text(&file), error });
        }
        let adapter = adapter_of(&file, self.adapters, wanted).or(match wanted {
            [only] => Some(*only),
            _ => None,
        });
        match adapter {
            Some(adapter) => Ok(Program {
                key: text(exe),
                exe: Some(file),
                ..Program::without_exe(adapter, self.side)
            }),
            None => Err(HarnessError::UnknownProgram {
                side: self.side.label.clone(),
                file: text(exe),
                known: self.harness_names(wanted),
            }),
        }
    }
}

/// What a failed build said: compilers put the first error first, and others the last one last.
fn build_words(ended: &EndedChild) -> String {
    let errors = String::from_utf8_lossy(&ended.err).into_owned();
    let errors: Vec<&str> =
        errors.lines().map(str::trim).filter(|line| line.starts_with("error")).collect();
    match errors.split_first() {
        Some((first, _)) if !ended.last_words().contains(*first) => {
            format!("{} | {}", model::printable::visible(first), ended.last_words())
        }
        _ => ended.last_words(),
    }
}
