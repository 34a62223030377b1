//! `latlas compare A B…`: what has changed, and what can't be told.

use crate::arguments::compare::CompareOptions;
use crate::{GATE_CROSSED, UNRELIABLE, output};
use anyhow::bail;
use atlas::compare::operand::{self, Operand};
use atlas::compare::{Comparison, Normalize, Options, compare as set_against};
use atlas::pattern::names;
use atlas::references::References;
use atlas::render;
use atlas::store::Store;
use std::process::ExitCode;

/// Compares each of the others with the baseline.
pub(crate) fn compare(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let store = Store::of_user();
    let find = |name: &String| operand::find(name, &store, &references);
    let baseline = find(&options.baseline)?;
    let others: Vec<Operand> = options.others.iter().map(find).collect::<Result<_, _>>()?;
    let how = Options {
        margin: options.margin,
        fail_above: options.fail_above,
        normalize: options.normalize.as_ref().map(|row| match row {
            Some(row) => Normalize::Row(row.clone()),
            None => Normalize::Usual,
        }),
    };
    let wanted = |id: &str| options.rows.is_empty() || options.rows.iter().any(|p| names(p, id));
    // Without a store there are no other runs to learn from.
    let recent = match &store {
        Ok(store) => {
            let sides: Vec<&Operand> = [&baseline].into_iter().chain(&others).collect();
            operand::recent_beside(store, &sides)?
        }
        Err(_) => Vec::new(),
    };
    let mut all: Vec<Comparison> = Vec::new();
    for other in &others {
        let kept = operand::kept_beside(&[&baseline, other], &recent);
        all.push(set_against(&baseline, other, &kept, &wanted, &how)?);
    }
    check_patterns(&options.rows, &all)?;
    let text = match options.json {
        true => serde_json::to_string_pretty(&all)? + "\n",
        false => {
            let color = output::colored(options.color);
            let draw = |c| render::comparison(c, options.wide, color);
            all.iter().map(draw).collect::<Vec<_>>().join("\n")
        }
    };
    output::print(&text)?;
    Ok(exit_code(&all))
}

/// A pattern that matches nothing is a slip of the fingers.
fn check_patterns(patterns: &[String], all: &[Comparison]) -> anyhow::Result<()> {
    for pattern in patterns {
        let named = |id: &String| names(pattern, id);
        let found = all.iter().any(|c| {
            let rows = c.rows.iter().chain(&c.points).map(|row| &row.id);
            rows.chain(&c.only_in_a).chain(&c.only_in_b).any(named)
        });
        if !found {
            bail!("no row {pattern:?} in any of them (latlas show RUN --wide lists a run's rows)");
        }
    }
    Ok(())
}

fn exit_code(all: &[Comparison]) -> ExitCode {
    if all.iter().any(|c| !c.crossed.is_empty()) {
        ExitCode::from(GATE_CROSSED)
    } else if all.iter().any(|c| !c.tells()) {
        ExitCode::from(UNRELIABLE)
    } else {
        ExitCode::SUCCESS
    }
}
