//! Groups of hosts by a fact, and what differs between them.

use super::axis::StripAxis;
use super::{Length, change, ends, value_in_unit};
use crate::figures::{Fleet, GroupTest, Grouping};
use model::compare::finding::Verdict;
use model::phrases::counted;
use model::phrases::several;
use model::story::{Block, Cell, Table, left, right};

/// Groups that are named in a sentence.
const NAMED: usize = 4;

/// What differs between the groups of each fact.
pub(crate) fn groups(fleet: &Fleet, axis: StripAxis, length: Length) -> Vec<Block> {
    let mut blocks = Vec::new();
    for grouping in &fleet.groupings {
        blocks.push(sentence(grouping));
        if length == Length::Whole || grouping.tests_with(Verdict::Different).next().is_some() {
            blocks.extend(groups_table(fleet, grouping, axis, length));
        }
    }
    if fleet.groupings.is_empty() && fleet.hosts.len() > 1 {
        blocks.push(Block::text("The hosts differ in no known fact."));
    }
    blocks
}

/// How many rows differ.
fn sentence(grouping: &Grouping) -> Block {
    let groups = grouping
        .groups
        .iter()
        .map(|group| format!("{} ({})", group.value, counted(group.hosts.len(), "host")));
    let groups = several(&groups.collect::<Vec<String>>(), NAMED);
    let count = |finding| grouping.tests_with(finding).count();
    let of = grouping.tests.len();
    let unknown = match count(Verdict::CannotTell) {
        0 => String::new(),
        rows => format!(", {rows} inconclusive"),
    };
    let few = grouping.tests.iter().filter(|test| test.too_few).count();
    let few = match few {
        0 => String::new(),
        few if few == of => ": too few hosts to show any difference".into(),
        few => format!(" ({few} of too few hosts)"),
    };
    let split = match grouping.facts.len() {
        1 => "",
        _ => " split the hosts identically: these facts can't be separated",
    };
    let text = format!(
        "{groups}{split}. Compared with the first: {}: {} different, {} the same{unknown}{few}.",
        counted(of, "row"),
        count(Verdict::Different),
        count(Verdict::SameWithinNoise)
    );
    Block::text(format!("By {}: {text}", grouping.fact_names()))
}

/// The rows that differ, each group with its distribution about the median of the largest.
fn groups_table(
    fleet: &Fleet,
    grouping: &Grouping,
    axis: StripAxis,
    length: Length,
) -> Option<Block> {
    let mut tests: Vec<&GroupTest> = grouping.tests_with(Verdict::Different).collect();
    tests.sort_by(|a, b| a.p_value.total_cmp(&b.p_value).then(a.row.cmp(&b.row)));
    let all = tests.len();
    tests.truncate(length.most_named());
    if tests.is_empty() {
        return None;
    }
    let mut table = Table::new([
        left(grouping.fact_names()),
        right("hosts"),
        right("median"),
        right("change"),
        axis.column(),
    ]);
    for alike in tests.chunk_by(|a, b| a.row == b.row) {
        let first = alike[0];
        table.row([Cell::from(fleet.rows[first.row].id.as_str())]);
        let largest_ns = first.medians_ns[1];
        let line = |group: usize, own: (usize, f64), change: String| {
            let row = &fleet.rows[first.row];
            let group = &grouping.groups[group];
            let strip = axis.strip(fleet, row, largest_ns, Some(&group.hosts));
            [
                format!("└ {}", group.value).into(),
                own.0.to_string().into(),
                value_in_unit(&row.unit, own.1).into(),
                change.into(),
                strip.map_or("".into(), |strip| strip.cell),
            ]
        };
        table.row(line(0, (first.hosts[1], largest_ns), String::new()));
        for test in alike {
            let interval =
                test.interval.map_or(String::new(), |i| format!(" {}", ends(test.ratio, i)));
            let change = format!("{}{interval}", change(test.ratio));
            table.row(line(test.group, (test.hosts[0], test.medians_ns[0]), change));
        }
    }
    if all > tests.len() {
        table.note("", format!("and {} more rows: --json has all", all - tests.len()));
    }
    Some(Block::Table(table))
}
