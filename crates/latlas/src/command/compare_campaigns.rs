//! `latlas compare @CAMPAIGN @CAMPAIGN`: hosts in pairs.

use crate::arguments::compare::CompareOptions;
use crate::{GATE_CROSSED, UNRELIABLE, output};
use anyhow::bail;
use model::fleet::Fleet;
use model::fleet::paired::PairedFleets;
use model::pattern::names;
use std::process::ExitCode;
use store::Store;
use store::fleet::{campaigns, fleet};
use store::index::Index;
use view::render;

/// The exit code of the comparison, if A is a campaign; `None` where it is anything else.
pub(super) fn compare(options: &CompareOptions) -> anyhow::Result<Option<ExitCode>> {
    let operands: Vec<&String> = [&options.baseline].into_iter().chain(&options.others).collect();
    let mentions = operands.iter().any(|name| name.starts_with('@'));
    let Some(store) = Store::of_user().ok().filter(|_| mentions) else {
        return Ok(None);
    };
    let index = Index::open(store)?;
    let known = campaigns(&index)?;
    let is_campaign =
        |name: &&&String| campaign(name).is_some_and(|name| known.iter().any(|own| own == name));
    let of_campaigns: Vec<&&String> = operands.iter().filter(is_campaign).collect();
    let Some(first) = of_campaigns.first() else {
        return Ok(None);
    };
    if let Some(other) = operands.iter().find(|name| !is_campaign(name)) {
        bail!(
            "{first} is a campaign and {other} is not: give another campaign as @NAME (campaigns: {})",
            known.join(", ")
        );
    }
    let machines = index.machines()?;
    for name in &of_campaigns {
        let host = name.trim_start_matches('@');
        if machines.iter().any(|machine| machine.is_called(host)) {
            bail!("{name} is a campaign and a machine: give {name}#DIGEST or the machine's key");
        }
    }
    if options.normalize.is_some() {
        bail!("--normalize does not apply to campaigns: each host is compared with itself");
    }
    let fleets: Vec<Fleet> = operands
        .iter()
        .map(|name| {
            let name = name.trim_start_matches('@');
            fleet(&index, name, options.margin, None)
        })
        .collect::<Result<_, _>>()?;
    let wanted = |id: &str| options.rows.is_empty() || options.rows.iter().any(|p| names(p, id));
    let (a, others) = fleets.split_first().expect("a baseline");
    let mut all: Vec<PairedFleets> = Vec::new();
    for b in others {
        let pair = PairedFleets::of([a, b], &wanted, options.margin, options.fail_above);
        if pair.hosts.is_empty() {
            bail!("{} and {} have no host in common", pair.a, pair.b);
        }
        all.push(pair);
    }
    check_patterns(&options.rows, &fleets)?;
    output::show_json_or(options.json, &all, options.color, || {
        all.iter().flat_map(|pair| render::paired_fleets(pair, options.wide)).collect()
    })?;
    Ok(Some(exit_code(&all)))
}

/// The campaign that `@NAME` or `@NAME#DIGEST` names.
fn campaign(operand: &str) -> Option<&str> {
    let name = operand.strip_prefix('@')?;
    Some(name.rsplit_once('#').map_or(name, |(name, _)| name))
}

/// Refuses a pattern that matches nothing: a typing error.
fn check_patterns(patterns: &[String], fleets: &[Fleet]) -> anyhow::Result<()> {
    for pattern in patterns {
        let mut rows = fleets.iter().flat_map(|fleet| &fleet.rows);
        if !rows.any(|row| names(pattern, &row.id)) {
            bail!(
                "no row {pattern:?} in any of them (latlas fleet report CAMPAIGN lists the rows)"
            );
        }
    }
    Ok(())
}

fn exit_code(all: &[PairedFleets]) -> ExitCode {
    if all.iter().any(|pair| !pair.crossed.is_empty()) {
        ExitCode::from(GATE_CROSSED)
    } else if all.iter().any(|pair| !pair.has_findings()) {
        ExitCode::from(UNRELIABLE)
    } else {
        ExitCode::SUCCESS
    }
}
