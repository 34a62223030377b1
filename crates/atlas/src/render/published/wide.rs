//! Every column, each figure in ns as it is.

use super::super::figures::{ratio_text, typical};
use super::super::layout::{Entry, Grid, Style, left, right};
use super::ours;
use crate::tables::{Here, Measured, PublishedFigure, Table, TableRow};

/// The table: a line for each row, and one for each row that does the same job.
pub(super) fn table(table: &Table) -> String {
    let mut grid = Grid::default();
    let mut heading: Vec<Entry> = ["name", "row"].map(left).into();
    heading.extend(["iterations", "total s", "ns each", "±", "figure"].map(right));
    heading.extend([left("typical"), left("verdict")]);
    for column in &table.columns {
        let key = &column.key;
        heading.extend([
            right(key),
            right("iterations"),
            right("total s"),
            right("ratio"),
        ]);
    }
    heading.push(left("remarks"));
    grid.entries(heading);
    for part in &table.parts {
        if !part.title.is_empty() {
            grid.free(format!("{}:", part.title));
        }
        for row in &part.rows {
            line(&mut grid, &row.name, &row.id, &row.here, row, true);
            if let Some(like) = &row.like {
                line(&mut grid, "  ~", &like.id, &like.here, row, false);
            }
        }
    }
    grid.render(2)
}

fn line(grid: &mut Grid, name: &str, id: &str, here: &Here, row: &TableRow, own: bool) {
    let mut line = vec![left(name), left(id)];
    line.extend(here.measured().map_or_else(nothing, figures));
    for published in &row.published {
        line.extend(match published.as_ref().filter(|_| own) {
            Some(published) => as_published(published),
            None => ["", "", "", ""].map(right),
        });
    }
    let remarks = remarks(
        here,
        own.then_some(row).and_then(|r| r.reference_only.as_deref()),
    );
    line.push(left(remarks));
    grid.entries(line);
}

fn nothing() -> [Entry; 7] {
    let [a, b, c, d, e] = ["", "", "-", "", ""].map(right);
    [a, b, c, d, e, left(""), left("")]
}

fn figures(ours: &Measured) -> [Entry; 7] {
    let [each, half] = ours::plain(ours);
    [
        right(ours.iterations.map_or("-".into(), |n| n.to_string())),
        right(ours.total_s.map_or("-".into(), |s| format!("{s:.6}"))),
        right(each),
        right(half),
        right(ours.figure),
        left(typical(&ours.estimate, &ours.unit)),
        left(ours.verdict.text()).in_style(Style::of(ours.verdict)),
    ]
}

fn as_published(published: &PublishedFigure) -> [Entry; 4] {
    let figure = &published.figure;
    let speed = || figure.mb_per_s.map(|speed| format!("{speed} MB/s"));
    let ns = figure.ns.map(|ns| ns.to_string()).or_else(speed);
    let ratio = match (&published.doubtful, published.ratio) {
        (Some(_), _) => "?".into(),
        (None, ratio) => ratio.map_or(String::new(), ratio_text),
    };
    [
        right(ns.unwrap_or_default()),
        right(figure.iterations.map_or(String::new(), |n| n.to_string())),
        right(figure.total_s.map_or(String::new(), |s| s.to_string())),
        right(ratio),
    ]
}

fn remarks(here: &Here, reference_only: Option<&str>) -> String {
    match (here, reference_only) {
        (Here::Measured(measured), _) => measured.reason.clone(),
        (_, Some(why)) => format!("one machine alone can't measure it: {why}"),
        (Here::Unavailable { reason }, _) => format!("not available here: {reason}"),
        (Here::NotMeasured { reason, .. }, _) => reason.clone(),
    }
}
