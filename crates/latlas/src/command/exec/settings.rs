//! From options to how the commands are run, and what the document says of it.

use super::commands::{NamedCommand, split};
use super::files::output_file;
use crate::arguments::exec::{IgnoreFailure, ShellChoice, TimingOptions};
use meter::commands::arm::{Cold, CommandSettings, Failures, Output};
use meter::commands::input::Input;
use meter::commands::runner::CommandRunner;
use model::command::PageCache;
use std::ffi::OsString;
use std::path::PathBuf;

/// The shell that runs any of the commands.
pub(super) fn shell_of(options: &TimingOptions, named: &[NamedCommand]) -> Option<OsString> {
    let in_shell = named.iter().any(|one| one.shell.is_some());
    in_shell.then(|| match options.shell_choice() {
        ShellChoice::In(shell) => shell,
        ShellChoice::IfNeeded | ShellChoice::Never => "sh".into(),
    })
}

pub(super) fn cold(options: &TimingOptions) -> Cold {
    match (options.cold, options.cold_files.is_empty()) {
        (true, _) => Cold::All,
        (_, false) => Cold::Files(options.cold_files.clone()),
        _ => Cold::No,
    }
}

pub(super) fn settings(options: &TimingOptions, input: &Input) -> anyhow::Result<CommandSettings> {
    Ok(CommandSettings {
        input: input.clone(),
        output: match output_file(options) {
            Some(file) => Output::File(file),
            None if options.show_output || options.output == "show" => Output::Show,
            None => Output::Null,
        },
        timeout: options.timeout,
        failures: match &options.ignore_failure {
            None => Failures::Stop,
            Some(IgnoreFailure::All) => Failures::Timed,
            Some(IgnoreFailure::Codes(codes)) => Failures::Accepted(codes.clone()),
        },
        check: options.check.as_deref().map(split).transpose()?,
    })
}

pub(super) fn page_cache(options: &TimingOptions, runner: &CommandRunner) -> PageCache {
    let texts = |files: &[PathBuf]| files.iter().map(|f| f.display().to_string()).collect();
    match (options.cold, options.cold_files.is_empty()) {
        (true, _) => PageCache::Cold,
        (_, true) => PageCache::Warm,
        _ => PageCache::ColdFiles {
            files: texts(&options.cold_files),
            stayed_pages: runner.stayed_pages(),
            untold: texts(runner.unverified()),
        },
    }
}
