//! `latlas atlas delete`.

use super::{Named, document_named};
use crate::arguments::atlas::DeleteOptions;
use crate::output;
use anyhow::{Context, bail};
use model::summary::KeptRun;
use std::io::IsTerminal;
use std::process::ExitCode;
use store::index::{Deleted, Index};
use view::render;

pub(super) fn delete(index: &Index, options: &DeleteOptions) -> anyhow::Result<ExitCode> {
    let mut runs: Vec<Named> = Vec::new();
    for name in &options.runs {
        let run = document_named(index, name)?;
        if runs.iter().all(|known| known.id != run.id) {
            runs.push(run);
        }
    }
    if !options.yes && !confirmed(&runs)? {
        output::message("nothing deleted");
        return Ok(ExitCode::SUCCESS);
    }
    let mut deleted: Vec<Deleted> = Vec::new();
    for run in &runs {
        match index.delete(&run.id) {
            Ok(done) => deleted.push(done),
            Err(error) if deleted.is_empty() => return Err(error.into()),
            Err(error) => bail!("deleted only {} of {} runs: {error}", deleted.len(), runs.len()),
        }
    }
    output::print_json_or(options.json, &deleted, || deleted.iter().map(deleted_line).collect())?;
    Ok(ExitCode::SUCCESS)
}

fn deleted_line(deleted: &Deleted) -> String {
    let tags = match deleted.tags.as_slice() {
        [] => String::new(),
        tags => format!(", tagged {}", tags.join(", ")),
    };
    format!("deleted {}{tags}\n", deleted.id)
}

/// Whether the user confirms, on a terminal.
fn confirmed(runs: &[Named]) -> anyhow::Result<bool> {
    let count = match runs.len() {
        1 => "1 run".to_owned(),
        n => format!("{n} runs"),
    };
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        bail!("can't ask for confirmation without a terminal: add --yes to delete {count}");
    }
    let known: Vec<KeptRun> = runs.iter().filter_map(|run| run.run.clone()).collect();
    output::print_error(&output::plain(&render::kept_runs(&known)));
    for unread in runs.iter().filter(|run| run.run.is_none()) {
        let path = unread.path.display();
        output::print_error(&format!("{path} (unreadable)\n"));
    }
    output::print_error(&format!("Delete {count}? [y/N] "));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("can't read the answer")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
