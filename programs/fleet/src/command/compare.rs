//! `latlas fleet compare A B`: each host of two campaigns with itself.

use crate::compare_options::CompareOptions;
use anyhow::bail;
use fleet::figures::Fleet;
use fleet::figures::paired::PairedFleets;
use fleet::render;
use fleet::stored::fleet;
use latlas::{GATE_CROSSED, UNRELIABLE, command::atlas, output};
use model::pattern::pattern_matches;
use std::process::ExitCode;

/// Compares each of the others with the first.
pub(super) fn compare(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    let index = atlas::open_index()?;
    let operands = [&options.baseline].into_iter().chain(&options.others);
    let named = operands.map(|name| {
        let name = name.strip_prefix('@').unwrap_or(name);
        fleet(&index, name, options.margin, None)
    });
    let fleets: Vec<Fleet> = named.collect::<Result<_, _>>()?;
    atlas::print_messages(&index.messages());
    let wanted =
        |id: &str| options.rows.is_empty() || options.rows.iter().any(|p| pattern_matches(p, id));
    let (a, others) = fleets.split_first().expect("a baseline");
    let mut all: Vec<PairedFleets> = Vec::new();
    for b in others {
        let pair = PairedFleets::compare([a, b], &wanted, options.margin, options.fail_above);
        if pair.hosts.is_empty() {
            bail!("{} and {} have no host in common", pair.a, pair.b);
        }
        all.push(pair);
    }
    check_patterns(&options.rows, &fleets)?;
    output::show_json_or(options.json, &all, options.color, || {
        all.iter().flat_map(|pair| render::paired(pair, options.wide)).collect()
    })?;
    Ok(exit_code(&all))
}

/// Refuses a pattern that matches nothing: a typing error.
fn check_patterns(patterns: &[String], fleets: &[Fleet]) -> anyhow::Result<()> {
    for pattern in patterns {
        let mut rows = fleets.iter().flat_map(|fleet| &fleet.rows);
        if !rows.any(|row| pattern_matches(pattern, &row.id)) {
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
