//! `latlas compare A B...`: significant differences.

use crate::arguments::compare::CompareOptions;
use crate::{GATE_CROSSED, UNRELIABLE, output};
use anyhow::bail;
use compare::operand::Operand;
use compare::references::References;
use compare::{Comparison, Normalize, Options, compare as set_against};
use model::pattern::names;
use std::process::ExitCode;
use store::Store;
use store::operand;
use view::render;

/// Compares each of the others with the baseline.
pub(crate) fn compare(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    if let Some(done) = super::compare_campaigns::compare(options)? {
        return Ok(done);
    }
    let references = References::embedded()?;
    let store = Store::of_user();
    let mut messages = Vec::new();
    let mut find = |name: &String| operand::find(name, &store, &references, &mut messages);
    let baseline = find(&options.baseline)?;
    let others: Vec<Operand> = options.others.iter().map(&mut find).collect::<Result<_, _>>()?;
    let how = Options {
        margin: options.margin,
        fail_above: options.fail_above,
        normalize: options.normalize.as_ref().map(|row| match row {
            Some(row) => Normalize::Row(row.clone()),
            None => Normalize::Usual,
        }),
    };
    let wanted = |id: &str| options.rows.is_empty() || options.rows.iter().any(|p| names(p, id));
    // Without a store there is no history of run-to-run variation.
    let recent = match &store {
        Ok(store) => {
            let sides: Vec<&Operand> = [&baseline].into_iter().chain(&others).collect();
            operand::recent_like(store, &sides, &mut messages)?
        }
        Err(_) => Vec::new(),
    };
    super::atlas::print_messages(&messages);
    let mut all: Vec<Comparison> = Vec::new();
    for other in &others {
        let kept = ::compare::operand::kept_like(&[&baseline, other], &recent);
        all.push(set_against(&baseline, other, &kept, &wanted, &how)?);
    }
    check_patterns(&options.rows, &all)?;
    output::show_json_or(options.json, &all, options.color, || {
        let pages = all.iter().map(|c| render::comparison(c, options.wide));
        pages.collect::<Vec<_>>().concat()
    })?;
    Ok(exit_code(&all))
}

/// Refuses a pattern that matches nothing: a typing error.
fn check_patterns(patterns: &[String], all: &[Comparison]) -> anyhow::Result<()> {
    for pattern in patterns {
        let named = |id: &String| names(pattern, id);
        let matched = all.iter().any(|c| {
            let rows = c.rows.iter().chain(&c.points).map(|row| &row.id);
            rows.chain(&c.only_in_a).chain(&c.only_in_b).any(named)
        });
        if !matched {
            bail!("no row {pattern:?} in any of them (latlas show RUN --wide lists a run's rows)");
        }
    }
    Ok(())
}

fn exit_code(all: &[Comparison]) -> ExitCode {
    if all.iter().any(|c| !c.crossed.is_empty()) {
        ExitCode::from(GATE_CROSSED)
    } else if all.iter().any(|c| !c.has_findings()) {
        ExitCode::from(UNRELIABLE)
    } else {
        ExitCode::SUCCESS
    }
}
