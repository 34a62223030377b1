//! A run of whole groups on one and a half screens: of each group the first rows, two on a line, and a count of
//! whatever is left out.

use super::figures::{Shown, counted, shown_figure};
use super::overview::machine_and_time;
use super::short::{first_of_families, library};
use super::table::{group_of, in_group};
use super::{Options, footer, joined};
use crate::grouped::grouped;
use model::estimate::Verdict;
use model::overview::{Doubt, OPERATIONS};
use model::run::{Outcome, Row, Run};
use model::story::{Block, Cell, Table, Tone, left, right};
use model::tally::tally;

/// Rows of a group at most.
const SHOWN: usize = 6;
/// Columns of a row's name at most: two of them, their times and the group have room on a line.
const LONGEST: usize = 22;
const LEGEND: &str = "~ uncertain. - invalid. The time on the undisturbed machine, or the median.";

pub(super) fn brief(run: &Run, options: &Options) -> Vec<Block> {
    let (table, mut left_out) = figures(run);
    let is_drawn = |row: &&Row| matches!(row.outcome, Outcome::Curve { .. } | Outcome::Map { .. });
    match run.rows.iter().filter(is_drawn).count() {
        0 => {}
        curves => left_out.push(counted(curves, "curve")),
    }
    let mut end = match Doubt::about_run(run) {
        Some(doubt) => vec![Block::text(doubt.to_string())],
        None => vec![Block::text(format!("{}.", tally(run).rows.ok_text()))],
    };
    if !left_out.is_empty() {
        end.push(Block::labelled("more rows: ", left_out.join(", ")));
    }
    end.extend(missing(run));
    end.push(Block::text(LEGEND));
    end.extend(footer::kept_note(run, options));
    end.push(footer::next_commands(
        options,
        [
            "show --all` (every row, curve, conclusion and reason)",
            "report` (HTML)",
            "explain call.syscall` (a row)",
        ],
    ));
    joined(vec![machine_and_time(run), vec![Block::Table(table)], end])
}

/// The rows, and how many more each group has.
fn figures(run: &Run) -> (Table, Vec<String>) {
    let mut table = Table::new([left(""), left(""), right(""), left(""), right("")]);
    let mut left_out = Vec::new();
    let figures: Vec<&Row> = run.rows.iter().filter(|row| row.estimate().is_some()).collect();
    for rows in figures.chunk_by(|a, b| group_of(&a.id) == group_of(&b.id)) {
        let group = group_of(&rows[0].id);
        let shown = chosen(rows);
        for (at, pair) in shown.chunks(2).enumerate() {
            let name = if at == 0 { group } else { "" };
            let cells = pair.iter().flat_map(|row| [in_group(&row.id).into(), time(row)]);
            table.row([Cell::from(name)].into_iter().chain(cells));
        }
        match rows.len() - shown.len() {
            0 => {}
            more => left_out.push(format!("{group} {more}")),
        }
    }
    (table, left_out)
}

/// Those of a group that are shown: operations of the overview before others, each in its place.
fn chosen<'r>(rows: &[&'r Row]) -> Vec<&'r Row> {
    let mut firsts = first_of_families(rows);
    firsts.retain(|row| in_group(&row.id).len() <= LONGEST);
    let is_of_overview = |row: &&&Row| OPERATIONS.iter().any(|one| one.row == row.id);
    let (known, others): (Vec<&Row>, Vec<&Row>) = firsts.iter().partition(is_of_overview);
    let ids: Vec<&str> = known.iter().chain(&others).take(SHOWN).map(|row| &*row.id).collect();
    firsts.retain(|row| ids.contains(&&*row.id));
    firsts
}

fn time(row: &Row) -> Cell {
    let Some(estimate) = row.estimate() else {
        return "-".into();
    };
    let text = match shown_figure(estimate, &row.unit) {
        Shown::Figure(figure) => figure.text(),
        Shown::Below(text) => text,
        Shown::Nothing => "-".into(),
    };
    let mark = match estimate.verdict {
        Verdict::Ok | Verdict::Invalid => " ",
        _ => "~",
    };
    Cell::from(format!("{text} {mark}")).toned(Tone::of_doubt(estimate.verdict))
}

/// How many rows can't be measured here: those of libraries that most systems don't have by library.
fn missing(run: &Run) -> Option<Block> {
    let reasons = run.rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Unavailable { reason } => Some((library(reason).unwrap_or("others"), ())),
        _ => None,
    });
    let mut counts: Vec<(&str, usize)> =
        grouped(reasons).into_iter().map(|(name, rows)| (name, rows.len())).collect();
    counts.sort_by_key(|(name, _)| *name == "others");
    let named: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let text = format!("{} (reasons: --all)", named.join(", "));
    (!named.is_empty()).then(|| Block::labelled("not available here: ", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{layout, paint_plain};
    use model::run::Bound;
    use model::synthetic::{self, ok_outcome, row_of_times};
    use model::unit::Unit;

    /// A run with as many rows as the catalogue has, most of them of a few groups.
    fn large() -> Run {
        let mut run = synthetic::run();
        let groups =
            ["call", "alloc", "process", "pool", "event_loop", "file", "disk", "codec", "net"];
        for group in groups {
            for at in 0..14 {
                let id = format!("{group}.operation/{at}");
                run.rows.push(row_of_times(&id, ok_outcome(1e3, 10.0)));
            }
        }
        for reason in ["needs the pack appkit.so (make it)", "one NUMA node", "no counter"] {
            let outcome = Outcome::Unavailable { reason: reason.into() };
            run.rows.push(Row::new(format!("ui.{reason}"), Unit::Time, Bound::Memory, outcome));
        }
        run
    }

    #[test]
    fn a_run_of_many_rows_is_one_and_a_half_screens() {
        let options =
            Options { kept: Some("/home/me/runs/5e0c1a2b.json.zst".into()), ..Options::default() };
        let text = paint_plain(&brief(&large(), &options), 80);
        insta::assert_snapshot!(text);
        assert!(text.lines().count() <= 60, "{} lines", text.lines().count());
        assert!(text.lines().all(|line| layout::width(line) <= 80));
    }

    #[test]
    fn every_row_is_shown_or_counted() {
        let run = large();
        let (table, left_out) = figures(&run);
        let shown: usize = table.rows.iter().map(|row| row.texts().len() / 2).sum();
        let counts = left_out.iter().filter_map(|text| text.rsplit_once(' '));
        let more: usize = counts.map(|(_, count)| count.parse::<usize>().expect("a count")).sum();
        let figures = run.rows.iter().filter(|row| row.estimate().is_some()).count();
        assert_eq!(shown + more, figures);
        assert!(left_out.contains(&"codec 8".to_owned()), "{left_out:?}");
    }
}
