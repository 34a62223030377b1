//! Several rows that are curves over the same thing, in one picture.

use super::figure::{PlottedFigure, curve, joined, linear, log};
use super::published::published_points;
use super::source::{ChartSource, Drawn, Picture, why_not};
use super::{Body, Chart, ChartLine, CurveKind, Lines, Quantity, Section};
use crate::grouped::grouped;
use model::estimate::Verdict;
use model::run::{self, Row, Run};
use model::tally::tally;
use model::unit::Unit;

pub(super) struct Curves {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) caption: &'static str,
    pub(super) section: Section,
    /// What the rows are curves over.
    pub(super) over: run::Axis,
    /// Label and quantity of the axes.
    pub(super) x: (&'static str, Quantity),
    pub(super) y: (&'static str, Quantity),
    /// Linear axes, else logarithmic ones.
    pub(super) linear: bool,
    /// The rows with their names in the legend.
    pub(super) rows: &'static [(&'static str, &'static str)],
    /// The unit of a row's figures at an x.
    pub(super) unit: fn(&Row, u64) -> Unit,
    /// What else is drawn.
    pub(super) finish: fn(&ChartSource, &mut Picture),
}

/// What pictures of curves have in common: the row's own unit, nothing else.
pub(super) const CURVES: Curves = Curves {
    id: "",
    title: "",
    caption: "",
    section: Section::Memory,
    over: run::Axis::WorkingSetBytes,
    x: ("working set", Quantity::Bytes),
    y: ("time of a load", Quantity::Nanoseconds),
    linear: false,
    rows: &[],
    unit: |row, _| row.unit,
    finish: |_, _| (),
};

/// Rows of a run that are curves over this and whose id begins so, each under
/// what follows.
pub(super) fn rows_below(run: &Run, over: run::Axis, prefix: &str) -> Vec<(String, String)> {
    let own = run.rows.iter().filter_map(|row| {
        let rest = row.id.strip_prefix(prefix)?;
        curve(row, over)?;
        Some((row.id.clone(), rest.trim_start_matches('/').to_owned()))
    });
    own.collect()
}

impl Curves {
    /// The picture of the rows that there are; of other runs, the same.
    pub(super) fn draw(&self, source: &ChartSource) -> Drawn {
        let owned = |&(id, name): &(&str, &str)| (id.to_owned(), name.to_owned());
        self.draw_rows(source, self.rows.iter().map(owned).collect())
    }

    /// The same with rows that depend on the run.
    pub(super) fn draw_rows(&self, source: &ChartSource, rows: Vec<(String, String)>) -> Drawn {
        let axis = if self.linear { linear } else { log };
        let (x, y) = (axis(self.x.0, self.x.1), axis(self.y.0, self.y.1));
        let mut notes = Vec::new();
        let mut series = Vec::new();
        let mut shown = Vec::new();
        for (id, name) in &rows {
            let Some(row) = source.run.row(id) else {
                continue;
            };
            match self.curve_line(row, name.clone(), CurveKind::Measured, &mut notes) {
                Some(line) => {
                    shown.push(id.clone());
                    series.push(line);
                }
                None => notes.extend(unavailable(source.run, id)),
            }
        }
        if series.is_empty() {
            let ids: Vec<&str> = rows.iter().map(|(id, _)| id.as_str()).collect();
            return Err(why_not(source.run, &ids));
        }
        for (run_name, other) in &source.others {
            for (id, name) in rows.iter().filter(|(id, _)| shown.contains(id)) {
                let name = format!("{name}: {run_name}");
                let row = other.row(id);
                let line = row
                    .and_then(|r| self.curve_line(r, name, CurveKind::Reference, &mut Vec::new()));
                series.extend(line);
            }
        }
        let drawn: Vec<_> = rows.into_iter().filter(|(id, _)| shown.contains(id)).collect();
        let (published, not_drawn) = published_points(source, &drawn, self.unit);
        series.extend(published);
        notes.extend(notes_of(source.run, &shown));
        notes.extend(not_drawn);
        notes.extend(doubts(&series));
        notes.extend(
            source
                .run
                .plan
                .shrunk
                .iter()
                .map(|why| format!("Working sets end early: {why}"))
                .filter(|_| self.over == run::Axis::WorkingSetBytes),
        );
        let mut picture = Picture {
            chart: Chart {
                id: self.id.into(),
                title: self.title.into(),
                caption: self.caption.into(),
                section: self.section,
                body: Body::Lines(Lines::new(x, y, series)),
                notes,
            },
            rows: shown,
        };
        (self.finish)(source, &mut picture);
        Ok(picture)
    }

    /// The row's curve. What has no place on a logarithmic axis is given in a
    /// note.
    fn curve_line(
        &self,
        row: &Row,
        name: String,
        is: CurveKind,
        notes: &mut Vec<String>,
    ) -> Option<ChartLine> {
        let (mut points, mut missing) = (Vec::new(), Vec::new());
        for point in curve(row, self.over)? {
            let unit = (self.unit)(row, point.x);
            let at = self.over.value_text(point.x);
            let Some(figure) = PlottedFigure::first(&point.estimate, &unit) else {
                missing.push((point.estimate.reason.as_str(), at));
                continue;
            };
            let off_x = !self.linear && point.x == 0;
            if off_x || !self.linear && figure.value <= 0.0 {
                let value = model::figure::value_text(&unit, figure.value);
                notes.push(format!(
                    "{} at {at} is {value}: a logarithmic axis has no place for it.",
                    row.id
                ));
                continue;
            }
            points.push(figure.as_point(point.x as f64, Some(point.estimate.verdict)));
        }
        let missing = without_figure(missing).map(|text| format!("{} at {text}", row.id));
        notes.extend(missing);
        (!points.is_empty()).then(|| joined(name, is, points))
    }
}

/// The notes of rows, each once.
fn notes_of(run: &Run, ids: &[String]) -> Vec<String> {
    let rows = ids.iter().filter_map(|id| run.row(id));
    let notes = grouped(rows.flat_map(|row| row.notes.iter().map(|note| (note, &row.id[..]))));
    let reported = |(note, rows): (&String, Vec<&str>)| match rows.len() == ids.len() {
        true => note.to_owned(),
        false => format!("{note} ({})", rows.join(", ")),
    };
    notes.into_iter().map(reported).collect()
}

/// The reason of a row that can't be had, as a note.
fn unavailable(run: &Run, id: &str) -> Option<String> {
    match &run.row(id)?.outcome {
        run::Outcome::Unavailable { reason } => {
            Some(format!("{id}: not available here: {reason}."))
        }
        _ => None,
    }
}

/// How many points of what was measured are not ok.
pub(super) fn doubts(series: &[ChartLine]) -> Option<String> {
    let measured = series.iter().filter(|line| line.is == CurveKind::Measured);
    let verdicts = measured.flat_map(|line| line.points.iter().filter_map(|p| p.verdict));
    hollow(verdicts)
}

/// What is drawn hollow; an invalid row has no mark.
const HOLLOW: [Verdict; 4] =
    [Verdict::Noisy, Verdict::Biased, Verdict::TwoStates, Verdict::CannotTell];

/// What hollow marks stand for, where there are some.
pub(super) fn hollow(verdicts: impl Iterator<Item = Verdict>) -> Option<String> {
    let all: Vec<Verdict> = verdicts.collect();
    let counted: Vec<String> = HOLLOW
        .into_iter()
        .map(|verdict| (verdict, all.iter().filter(|&&v| v == verdict).count()))
        .filter(|&(_, n)| n > 0)
        .map(|(verdict, n)| format!("{n} {}", verdict.text()))
        .collect();
    (!counted.is_empty())
        .then(|| format!("Hollow marks: uncertain ({} of {}).", counted.join(", "), all.len()))
}

/// The same of a picture of a run's rows, with the count that every page of the run has.
pub(super) fn of_results(run: &Run, mut verdicts: impl Iterator<Item = Verdict>) -> Vec<String> {
    let hollow = verdicts.any(|verdict| HOLLOW.contains(&verdict));
    let hollow = hollow.then(|| "Hollow marks: uncertain.".to_owned());
    let count = format!("{}.", tally(run).rows);
    hollow.into_iter().chain([count]).collect()
}

/// Points that have no figure, by the reason.
pub(super) fn without_figure<'p>(
    points: impl IntoIterator<Item = (&'p str, String)>,
) -> impl Iterator<Item = String> {
    grouped(points).into_iter().map(|(reason, at)| {
        let have = if at.len() == 1 { "has" } else { "have" };
        format!("{} {have} no figure: {reason}.", at.join(", "))
    })
}
