//! `latlas atlas tag`: names of runs.

use super::kept;
use crate::arguments::atlas::TagOptions;
use crate::output;
use anyhow::bail;
use atlas::index::Index;
use atlas::store::Taken;
use serde_json::json;
use std::process::ExitCode;

/// Gives a name or takes one away.
pub(super) fn tag(index: &Index, options: &TagOptions) -> anyhow::Result<ExitCode> {
    let (said, answer) = match (&options.remove, &options.run, &options.name) {
        (Some(name), ..) => {
            let runs = index.untag(name)?;
            (
                format!("{name} names no run any more (it named {})", several(&runs)),
                json!({"removed": name, "runs": runs}),
            )
        }
        (None, Some(run), Some(name)) => {
            let run = kept(index, run)?.id;
            let taken = match (options.moving, options.add) {
                (true, _) => Taken::Moved,
                (_, true) => Taken::Shared,
                _ => Taken::Refused,
            };
            let lost = index.tag(&run, name, taken)?;
            let own = index.store().runs_tagged(name)?;
            let others: Vec<String> = own.into_iter().filter(|own| *own != run).collect();
            let and = match others.len() {
                0 => String::new(),
                1 => " and another one".into(),
                n => format!(" and {n} others"),
            };
            let no_longer = match lost.is_empty() {
                true => String::new(),
                false => format!(", no longer {}", several(&lost)),
            };
            (
                format!("{name} names the run {run}{and}{no_longer}"),
                json!({"tag": name, "run": run, "others": others, "moved_from": lost}),
            )
        }
        _ => bail!("give a run and its tag, or --remove TAG"),
    };
    output::print(&match options.json {
        true => serde_json::to_string_pretty(&answer)? + "\n",
        false => said + "\n",
    })?;
    Ok(ExitCode::SUCCESS)
}

fn several(runs: &[String]) -> String {
    match runs {
        [] => "nothing that could be read".into(),
        runs => runs.join(", "),
    }
}
