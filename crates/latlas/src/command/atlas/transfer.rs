//! `latlas atlas move`.

use crate::arguments::atlas::MoveOptions;
use crate::config::typed_place;
use crate::{UNRELIABLE, output, progress};
use anyhow::{anyhow, bail};
use model::phrases::counted;
use std::cell::Cell;
use std::process::ExitCode;
use store::index::ReadingProgress;
use store::{Moved, Place, Store, transfer as move_all};

/// Moves or copies all runs, and prints what was done.
pub(super) fn transfer(options: &MoveOptions) -> anyhow::Result<ExitCode> {
    let [from, to] = [&options.from, &options.to].map(|name| typed_place(name));
    if let Place::Directory(path) = &from
        && !path.is_dir()
    {
        bail!("no store in {from}: not a directory");
    }
    if same(&from, &to) {
        bail!("{from} and {to} are one store");
    }
    let stores = [Store::at(&from)?, Store::at(&to)?];
    let so_far = Cell::new((0, 0));
    let report = |done, of| {
        so_far.set((done, of));
        progress::reading(ReadingProgress { done, of });
    };
    let moved = move_all(&stores[0], &stores[1], options.keep, report);
    let moved = moved.map_err(|error| match so_far.get() {
        (0, _) => anyhow!(error),
        (done, of) => anyhow!("stopped after {done} of {of} documents: {error}"),
    })?;
    output::print_json_or(options.json, &moved, || transfer_text(&moved, &from, &to))?;
    Ok(if moved.stayed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(UNRELIABLE) })
}

fn same(from: &Place, to: &Place) -> bool {
    match (from, to) {
        (Place::Directory(from), Place::Directory(to)) => {
            from == to
                || from.canonicalize().ok().is_some_and(|one| to.canonicalize().ok() == Some(one))
        }
        _ => from == to,
    }
}

fn transfer_text(moved: &Moved, from: &Place, to: &Place) -> String {
    let runs = |n| counted(n, "run");
    let before = match moved.there_before {
        0 => String::new(),
        n => format!(", {n} there before"),
    };
    let tags = match moved.tags {
        0 => String::new(),
        n => format!(", {}", counted(n, "tag")),
    };
    let mut text = format!(
        "copied {} to {to}{before}{tags}; removed {} from {from}\n",
        runs(moved.copied),
        moved.removed
    );
    for stayed in &moved.stayed {
        let line = format!("stayed: {}: {}", stayed.document, stayed.why);
        text.push_str(&(output::harmless(&line) + "\n"));
    }
    text
}
