//! `latlas atlas list`.

use crate::arguments::Color;
use crate::arguments::atlas::ListOptions;
use crate::output;
use std::process::ExitCode;
use store::history::machines_of;
use store::index::Index;
use view::render;

pub(super) fn list_runs(index: &Index, options: &ListOptions) -> anyhow::Result<ExitCode> {
    let mut runs = index.runs()?;
    if runs.is_empty() {
        index.check_readable()?;
    }
    if runs.is_empty() && !options.json {
        output::message(format_args!(
            "no run in {} yet: run `latlas run`",
            index.store().location().display()
        ));
    }
    if let Some(name) = &options.machine {
        let own = machines_of(index, name)?;
        runs.retain(|run| own.iter().any(|m| m.key == run.machine));
    }
    if options.tag {
        runs.retain(|run| !run.tags.is_empty());
    }
    if let Some(limit) = options.limit {
        runs.truncate(limit as usize);
    }
    for run in &mut runs {
        run.path = index.store().display_path(&run.path).into();
    }
    output::show_json_or(options.json, &runs, Color::Never, || render::kept_runs(&runs))?;
    Ok(ExitCode::SUCCESS)
}
