//! Two runs on one screen: what moved.

use super::comparison::{quantity, ratio_columns};
use super::figures::{counted, faster_or_slower};
use compare::{ComparedRow, Comparison};
use model::compare::finding::Verdict;
use model::phrases::short_id;
use model::story::{Block, Cell, Table, Tone, left, right};
use model::utc;

/// Rows that are shown, so that all stays on a screen.
const MOST: usize = 12;

/// The rows that differ, those that moved most first; how many do not, and of how many that can't be said.
pub fn moved(c: &Comparison) -> Vec<Block> {
    let mut blocks: Vec<Block> = [("A", &c.a), ("B", &c.b)]
        .map(|(letter, side)| Block::fact(letter, side_text(side)))
        .into();
    for difference in &c.differences {
        let label = format!("  {}  ", difference.what);
        blocks.push(Block::fact(&label, format!("{} -> {}", difference.a, difference.b)));
    }
    blocks.push(Block::empty_line());
    let mut different: Vec<&ComparedRow> =
        c.rows.iter().filter(|row| row.finding == Verdict::Different).collect();
    let change = |row: &ComparedRow| row.ratio.as_ref().map_or(0.0, |ratio| ratio.value.ln().abs());
    different.sort_by(|a, b| change(b).total_cmp(&change(a)));
    if !different.is_empty() {
        let interval = left("95 %").optional();
        let columns = [left("moved"), right("A"), right("B"), left("B/A"), interval, left("")];
        let mut table = Table::new(columns);
        different.iter().take(MOST).for_each(|row| table.row(cells(row)));
        blocks.extend([Block::Table(table), Block::empty_line()]);
    }
    let hidden = different.len().saturating_sub(MOST);
    let more = if hidden > 0 { format!(", {hidden} of them not shown") } else { String::new() };
    let count = |verdict| c.count_findings(verdict);
    blocks.push(Block::text(format!(
        "{} of {} moved{more}; {} same within noise, {} inconclusive. Every row: latlas compare {} {}",
        different.len(),
        counted(c.rows.len(), "row"),
        count(Verdict::SameWithinNoise),
        count(Verdict::CannotTell),
        c.a.name,
        c.b.name,
    )));
    blocks
}

fn side_text(side: &compare::SideFacts) -> String {
    match (side.runs.first(), &side.published) {
        (_, Some(published)) => format!("{}: {published}", side.name),
        (Some(run), None) => {
            let when = run.started_unix_ms.map(utc::readable_utc);
            let when = when.or_else(|| run.imported.clone()).unwrap_or_default();
            format!("{}, {when}, {}", short_id(&run.id), run.machine)
        }
        (None, None) => side.name.clone(),
    }
}

fn cells(row: &ComparedRow) -> [Cell; 6] {
    let name = match &row.mode {
        Some(mode) => format!("{}, {mode}", row.id),
        None => row.id.clone(),
    };
    let [shown, interval] = ratio_columns(row);
    let ratio = row.ratio.as_ref().map(|ratio| ratio.value);
    // What is no time has no faster and slower.
    let words = match (ratio, row.unit) {
        (Some(ratio), "ns" | "cycles") if !(0.95..1.05).contains(&ratio) => faster_or_slower(ratio),
        _ => row.direction.map_or(String::new(), |direction| direction.text().to_owned()),
    };
    let [[a, _], [b, _]] = [&row.a, &row.b].map(|side| quantity(side, row));
    [
        name.into(),
        a.into(),
        b.into(),
        shown.into(),
        interval.into(),
        Cell::from(words).toned(Tone::Bad),
    ]
}
