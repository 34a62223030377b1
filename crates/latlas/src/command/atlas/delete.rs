//! `latlas atlas delete`: runs that nobody wants any more.

use super::{Named, named};
use crate::arguments::atlas::DeleteOptions;
use crate::output;
use anyhow::{Context, bail};
use atlas::index::{Deleted, Index, KeptRun};
use atlas::render;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Says what would go, asks, and deletes it.
pub(super) fn delete(index: &Index, options: &DeleteOptions) -> anyhow::Result<ExitCode> {
    let mut runs: Vec<Named> = Vec::new();
    for name in &options.runs {
        let run = named(index, name)?;
        if runs.iter().all(|known| known.id != run.id) {
            runs.push(run);
        }
    }
    if !options.yes && !confirmed(&runs)? {
        output::tell("latlas: nothing is deleted\n");
        return Ok(ExitCode::SUCCESS);
    }
    let mut deleted: Vec<Deleted> = Vec::new();
    for run in &runs {
        match index.delete(&run.id) {
            Ok(done) => deleted.push(done),
            Err(error) if deleted.is_empty() => return Err(error.into()),
            Err(error) => bail!("{} of {} deleted: {error}", deleted.len(), runs.len()),
        }
    }
    let text = match options.json {
        true => serde_json::to_string_pretty(&deleted)? + "\n",
        false => deleted.iter().map(line).collect(),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn line(deleted: &Deleted) -> String {
    let tags = match deleted.tags.as_slice() {
        [] => String::new(),
        tags => format!(", tagged {}", tags.join(", ")),
    };
    format!("deleted {}{tags}\n", deleted.id)
}

/// Whether the user wants it, who must be there to say so.
fn confirmed(runs: &[Named]) -> anyhow::Result<bool> {
    let (count, them) = match runs.len() {
        1 => ("1 run".to_owned(), "it"),
        n => (format!("{n} runs"), "them"),
    };
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        bail!("{count} would be deleted for good, and there is no terminal to ask on: give --yes");
    }
    let known: Vec<KeptRun> = runs.iter().filter_map(|run| run.run.clone()).collect();
    output::tell(&render::kept_runs(&known));
    for unread in runs.iter().filter(|run| run.run.is_none()) {
        let path = unread.path.display();
        output::tell(&format!("{path}, which can't be read\n"));
    }
    output::tell(&format!("{count}. Delete {them} for good? [y/N] "));
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .context("can't read the answer")?;
    Ok(matches!(
        answer.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}
