//! `latlas atlas tag`.

use super::kept_run;
use crate::arguments::atlas::TagOptions;
use crate::output;
use anyhow::bail;
use serde_json::json;
use std::process::ExitCode;
use store::Taken;
use store::index::Index;

pub(super) fn tag(index: &Index, options: &TagOptions) -> anyhow::Result<ExitCode> {
    let (text, answer) = match (&options.remove, &options.run, &options.name) {
        (Some(name), ..) => {
            let runs = index.untag(name)?;
            (
                format!("removed tag {name} from {}", several(&runs)),
                json!({"removed": name, "runs": runs}),
            )
        }
        (None, Some(run), Some(name)) => {
            let run = kept_run(index, run)?.id;
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
                1 => " and 1 other run".into(),
                n => format!(" and {n} other runs"),
            };
            let removed = match lost.is_empty() {
                true => String::new(),
                false => format!(", removed from {}", several(&lost)),
            };
            (
                format!("tag {name}: run {run}{and}{removed}"),
                json!({"tag": name, "run": run, "others": others, "moved_from": lost}),
            )
        }
        _ => bail!("give a run and a tag, or --remove NAME"),
    };
    output::print_json_or(options.json, &answer, || text + "\n")?;
    Ok(ExitCode::SUCCESS)
}

fn several(runs: &[String]) -> String {
    match runs {
        [] => "unreadable runs".into(),
        runs => runs.join(", "),
    }
}
