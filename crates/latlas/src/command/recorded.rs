//! What is done with a run of commands or of a recording: the same for every command that makes
//! one.

use super::measured::{exit_code, keep, writable_store};
use super::picture::{Paint, painted};
use super::report;
use crate::arguments::Color;
use crate::arguments::recorded::RecordedOptions;
use crate::arguments::run_json::RunJson;
use crate::ending::{self, Ending};
use crate::output;
pub(super) use crate::program::about;
use anyhow::bail;
use compare::references::References;
use model::run::Run;
use std::path::PathBuf;
use std::process::ExitCode;
use store::{Output, Store};
use view::render::{self, Options};

/// Where a recording goes, checked before it begins.
pub(super) struct Destination {
    store: Option<Store>,
    files: Vec<(Ending, Output)>,
    json: Option<RunJson>,
    color: Color,
    look: Options,
    /// It would be lost without the store.
    must_keep: bool,
}

impl Destination {
    /// As a command's options say. A recording can do without a store.
    ///
    /// # Errors
    /// Why a file can't be written.
    pub(super) fn from_options(
        options: &RecordedOptions,
        written: &[Ending],
        wide: bool,
    ) -> anyhow::Result<Destination> {
        let look = Options { wide, ..Options::default() };
        let how = (options.json.form(), options.color, look);
        Destination::check_outputs(&options.out, written, false, how)
    }

    /// Of files with one of these endings, or those of a run.
    ///
    /// # Errors
    /// Why a file can't be written; that the run would be lost.
    pub(super) fn check_outputs(
        out: &[PathBuf],
        written: &[Ending],
        must_keep: bool,
        (json, color, look): (Option<RunJson>, Color, Options),
    ) -> anyhow::Result<Destination> {
        let mut files = Vec::new();
        for path in out {
            let output = match ending::from_path(path) {
                Some(picture) if written.contains(&picture) => Output::open(path)?,
                _ => ending::run_file(path)?,
            };
            files.push((ending::from_path(path).unwrap_or(Ending::Json), output));
        }
        let must_keep = must_keep && json.is_none() && files.is_empty();
        let store = writable_store(!must_keep)?;
        Ok(Destination { store, files, json, color, look, must_keep })
    }

    /// Stores, prints and writes the run. The page goes to standard error where standard
    /// output is not free; a recording of which nothing is known can't be relied on.
    pub(super) fn finish(
        &self,
        run: &Run,
        (is_free, is_known): (bool, bool),
    ) -> anyhow::Result<ExitCode> {
        // What was measured is kept before anything can fail.
        let kept = keep(run, self.store.as_ref());
        let references = References::embedded()?;
        let lost = kept.is_none() && self.must_keep;
        // One that can't be written is no reason to leave out the others.
        let written: Vec<anyhow::Result<()>> = self
            .files
            .iter()
            .map(|(ending, file)| write_recorded(run, &references, *ending, file))
            .collect();
        let page = || {
            let options = Options { kept, ..self.look.clone() };
            render::render_run(run, &references, &options)
        };
        match (self.json, is_free) {
            (Some(form), _) => output::print(&output::run_json(run, form)?)?,
            (None, true) => output::show(&page(), self.color)?,
            (None, false) => output::print_error(&output::plain(&page())),
        }
        written.into_iter().collect::<anyhow::Result<()>>()?;
        Ok(exit_code(run, lost || !is_known))
    }
}

fn write_recorded(
    run: &Run,
    references: &References,
    ending: Ending,
    file: &Output,
) -> anyhow::Result<()> {
    if let Some(paint) = Paint::for_ending(ending) {
        let (pictures, _) = view::chart::pictures(run, references, &[]);
        let recorded = pictures.iter().find(|picture| !picture.rows.is_empty());
        let Some(picture) = recorded else { bail!("this recording has no picture") };
        return Ok(file.write(&painted(&picture.chart, paint)?)?);
    }
    match ending {
        Ending::Html => Ok(file.write(report::alone(run, references).as_bytes())?),
        _ => Ok(file.write_run(run)?),
    }
}
