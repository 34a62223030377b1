//! Two campaigns by hosts in pairs.

use super::{change, ends, value_in_unit};
use crate::figures::paired::{PairedFleets, PairedRow};
use model::compare::finding::Verdict;
use model::phrases::counted;
use model::phrases::several;
use model::share::limit;
use model::story::{Block, Cell, Table, Tone, left, right};
use view::render::joined;
use view::render::{group_of, in_group};

/// Names in a sentence.
const NAMED: usize = 10;
/// Facts that changed.
const CHANGES: usize = 8;

/// The comparison; `wide` names what only one side has.
pub fn paired(pair: &PairedFleets, wide: bool) -> Vec<Block> {
    joined(vec![header(pair), paired_table(pair), footer(pair, wide)])
}

fn header(pair: &PairedFleets) -> Vec<Block> {
    let mut blocks = vec![
        Block::fact("A", pair.a.as_str()),
        Block::fact("B", pair.b.as_str()),
        Block::fact(
            "hosts",
            format!("{} in both, each compared with itself", counted(pair.hosts.len(), "host")),
        ),
    ];
    if !pair.not_shown.is_empty() {
        let text = format!(
            "{}: the same name with another campaign file",
            several(&pair.not_shown, NAMED)
        );
        blocks.push(Block::fact("not shown", text));
    }
    for (letter, hosts) in [("A", &pair.only_in_a), ("B", &pair.only_in_b)] {
        if !hosts.is_empty() {
            blocks.push(Block::fact(&format!("only in {letter}"), several(hosts, NAMED)));
        }
    }
    for changed in pair.differences.iter().take(CHANGES) {
        let text = format!("{} -> {} on {}", changed.a, changed.b, counted(changed.hosts, "host"));
        blocks.push(Block::fact(&format!("  {}  ", changed.fact.text()), text));
    }
    if pair.differences.is_empty() {
        blocks.push(Block::fact("differs", "nothing known"));
    }
    blocks
}

fn paired_table(pair: &PairedFleets) -> Vec<Block> {
    let groups = pair.rows.chunk_by(|a, b| group_of(&a.id) == group_of(&b.id));
    let tables = groups.map(|rows| {
        let mut table = Table::new([
            left(group_of(&rows[0].id)),
            right("A"),
            right("B"),
            right("B / A"),
            left("95 %"),
            right("hosts").optional(),
            left(""),
        ]);
        for row in rows {
            let interval = row.interval.map_or(String::new(), |i| ends(row.ratio, i));
            table.row([
                in_group(&row.id).into(),
                value_in_unit(&row.unit, row.medians_ns[0]).into(),
                value_in_unit(&row.unit, row.medians_ns[1]).into(),
                change(row.ratio).into(),
                interval.into(),
                row.hosts.to_string().into(),
                finding(row),
            ]);
        }
        table
    });
    vec![Block::Tables(tables.collect())]
}

fn finding(row: &PairedRow) -> Cell {
    match row.finding {
        Verdict::Different if !row.unit.is_time() => {
            Cell::from(if row.ratio > 1.0 { "more" } else { "less" })
        }
        Verdict::Different if row.ratio > 1.0 => Cell::from("slower").toned(Tone::Bad),
        Verdict::Different => Cell::from("faster").toned(Tone::Good),
        other => Cell::from(other.printed()).toned(Tone::Dim),
    }
}

fn footer(pair: &PairedFleets, wide: bool) -> Vec<Block> {
    let count = |finding| pair.rows_with(finding).count();
    let mut blocks = vec![Block::text(format!(
        "{}: {} different, {} the same within {}, {} inconclusive. B / A: median over hosts of each host's \
         ratio of times; Student's t and the sign test by hosts, all rows together: without a change at \
         most {} of comparisons call any row different.",
        counted(pair.rows.len(), "row"),
        count(Verdict::Different),
        count(Verdict::SameWithinNoise),
        limit(pair.margin),
        count(Verdict::CannotTell),
        limit(pair.level)
    ))];
    if pair.hosts.len() < crate::figures::LEAST_HOSTS {
        let least = crate::figures::LEAST_HOSTS;
        blocks.push(Block::text(format!("At least {least} common hosts are needed.")));
    } else if !pair.unable.is_empty() {
        let text = format!(
            "{} can't show a change of {} in {} of {}{}.",
            counted(pair.hosts.len(), "host"),
            limit(pair.sought),
            pair.unable.len(),
            counted(pair.tested(), "row"),
            pair.needed_hosts
                .map_or(String::new(), |hosts| format!(" (needs about {hosts} hosts)"))
        );
        blocks.push(Block::text(text));
    }
    if let Some(share) = pair.fail_above.filter(|_| !pair.has_findings()) {
        let text = format!("no row can cross the gate of {}", limit(share));
        blocks.push(Block::warning("INCONCLUSIVE: ", text));
    }
    if !pair.crossed.is_empty() {
        let text = several(&pair.crossed, usize::MAX);
        blocks.push(Block::warning("SLOWER than allowed: ", text));
    }
    for (letter, rows) in [("A", &pair.rows_only_in_a), ("B", &pair.rows_only_in_b)] {
        if wide && !rows.is_empty() {
            blocks.push(Block::labelled(format!("rows only in {letter}: "), rows.join(", ")));
        }
    }
    blocks
}
