//! Groups of hosts by a fact, and what differs between them.

use super::{Length, change, ends, places, value};
use crate::render::figures::counted;
use model::compare::finding::Verdict;
use model::fleet::{Fleet, GroupTest, Grouping};
use model::story::{Block, Cell, Table, left, right};
use model::text::several;

/// Characters of a group's distribution.
const STRIP: usize = 24;
/// Groups that are named in a sentence.
const NAMED: usize = 4;

/// What differs between the groups of each fact.
pub(crate) fn groups(fleet: &Fleet, length: Length) -> Vec<Block> {
    let mut blocks = Vec::new();
    for grouping in &fleet.groupings {
        blocks.push(sentence(grouping));
        if length == Length::Whole || grouping.with(Verdict::Different).next().is_some() {
            blocks.extend(table(fleet, grouping, length));
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
    let count = |finding| grouping.with(finding).count();
    let of = grouping.tests.len();
    let unknown = match count(Verdict::CannotTell) {
        0 => String::new(),
        rows => format!(", {rows} can't tell"),
    };
    let few = grouping.tests.iter().filter(|test| test.too_few).count();
    let few = match few {
        0 => String::new(),
        few if few == of => ": too few hosts to show any difference".into(),
        few => format!(" ({few} of too few hosts)"),
    };
    let split = match grouping.facts.len() {
        1 => "",
        _ => " split the hosts alike: these facts can't be separated",
    };
    let text = format!(
        "{groups}{split}. Compared with the first: {}: {} different, {} the same{unknown}{few}.",
        counted(of, "row"),
        count(Verdict::Different),
        count(Verdict::SameWithinNoise)
    );
    Block::text(format!("By {}: {text}", grouping.name()))
}

/// The rows that differ, each group with its distribution on the scale of the row.
fn table(fleet: &Fleet, grouping: &Grouping, length: Length) -> Option<Block> {
    let mut tests: Vec<&GroupTest> = grouping.with(Verdict::Different).collect();
    tests.sort_by(|a, b| a.p_value.total_cmp(&b.p_value).then(a.row.cmp(&b.row)));
    let all = tests.len();
    tests.truncate(length.named());
    if tests.is_empty() {
        return None;
    }
    let mut table = Table::new([
        left(grouping.name()),
        right("hosts"),
        right("median"),
        right("change"),
        left("fast to slow"),
    ]);
    for alike in tests.chunk_by(|a, b| a.row == b.row) {
        let first = alike[0];
        table.row([Cell::from(fleet.rows[first.row].id.as_str())]);
        let largest = [first.hosts[1] as f64, first.medians_ns[1]];
        line(&mut table, fleet, grouping, (first.row, 0), largest, "");
        for test in alike {
            let interval =
                test.interval.map_or(String::new(), |i| format!(" {}", ends(test.ratio, i)));
            let change = format!("{}{interval}", change(test.ratio));
            let own = [test.hosts[0] as f64, test.medians_ns[0]];
            line(&mut table, fleet, grouping, (test.row, test.group), own, &change);
        }
    }
    if all > tests.len() {
        table.note("", format!("and {} more rows: --json has all", all - tests.len()));
    }
    Some(Block::Table(table))
}

fn line(
    table: &mut Table,
    fleet: &Fleet,
    grouping: &Grouping,
    (row, group): (usize, usize),
    [hosts, median_ns]: [f64; 2],
    change: &str,
) {
    let row = &fleet.rows[row];
    let group = &grouping.groups[group];
    let own = row.figures.iter().filter(|figure| group.hosts.binary_search(&figure.host).is_ok());
    table.row([
        format!("└ {}", group.value).into(),
        format!("{hosts}").into(),
        value(&row.unit, median_ns).into(),
        change.into(),
        Cell::strip(places(row, own.map(|figure| figure.value_ns)), Vec::new(), STRIP),
    ]);
}
