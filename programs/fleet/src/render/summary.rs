//! What the campaign is, whether it is complete, and how it is judged.

use crate::figures::{Fleet, LEAST_HOSTS};
use model::phrases::counted;
use model::phrases::several;
use model::share::limit;
use model::story::{Block, Tone};

/// Hosts that are named one by one.
const NAMED: usize = 10;

/// The campaign and its hosts.
pub(crate) fn summary(fleet: &Fleet) -> Vec<Block> {
    let runs: usize = fleet.hosts.iter().map(|host| host.runs.len()).sum();
    let mut blocks = vec![
        Block::fact("campaign", fleet.name()),
        Block::fact(
            "hosts",
            format!(
                "{}, {}, {}",
                counted(fleet.hosts.len(), "host"),
                counted(runs, "run"),
                counted(fleet.rows.len(), "row")
            ),
        ),
        Block::fact("complete", complete(fleet)),
    ];
    if fleet.not_counted > 0 {
        let text = format!(
            "{}: partial, or replaced by another attempt",
            counted(fleet.not_counted, "run")
        );
        blocks.push(Block::fact("not counted", text));
    }
    if !fleet.not_expected.is_empty() {
        let text =
            format!("{}: not in the campaign, left out", several(&fleet.not_expected, NAMED));
        blocks.push(Block::fact("unexpected", text));
    }
    if !fleet.other_digests.is_empty() {
        let others: Vec<String> = fleet.others().collect();
        let text = format!("{}: the same name with another campaign file", several(&others, NAMED));
        blocks.push(Block::fact("not shown", text));
    }
    blocks
}

/// Whether all expected hosts are there, in words.
pub(crate) fn complete(fleet: &Fleet) -> String {
    match &fleet.expected {
        None => "expected hosts unknown: the campaign's directory is not known here".into(),
        Some(expected) if expected.missing.is_empty() => {
            format!("yes: all {} have their runs", counted(expected.hosts, "host"))
        }
        Some(expected) => format!(
            "no: {} of {} lack runs",
            expected.missing.len(),
            counted(expected.hosts, "host")
        ),
    }
}

/// The hosts that are missing, and why.
pub(crate) fn missing_hosts(fleet: &Fleet) -> Vec<Block> {
    let missing = fleet.expected.as_ref().map_or(&[][..], |expected| &expected.missing[..]);
    let mut blocks: Vec<Block> = Vec::new();
    for missing in missing {
        blocks.push(Block::labelled(format!("  {}: ", missing.host), missing.why.as_str()));
    }
    if !blocks.is_empty() {
        blocks.insert(0, Block::warning("", "PARTIAL: hosts without all of their runs"));
    }
    blocks
}

/// How to read it.
pub(crate) fn method(fleet: &Fleet) -> Vec<Block> {
    let level = limit(fleet.level);
    let [hosts, groups] = fleet.tests();
    let mut text = String::from("One figure per host: the median of its repetitions. ");
    text += &match hosts {
        0 => format!("Fewer than {LEAST_HOSTS} hosts: no outliers are named."),
        _ => format!(
            "Outliers: hosts further from the median than the spread of hosts and their own interval; \
             among like hosts at most {level} of reports name any ({hosts} figures tested together)."
        ),
    };
    if groups > 0 {
        text +=
            &format!(" Groups: Mann-Whitney test by hosts, {groups} tests together at {level}.");
    }
    text += " `latlas help fleet-report` describes the statistics.";
    vec![Block::Note(model::story::Note { tone: Tone::Dim, ..model::story::Note::new("", text) })]
}
