//! Several rows that are curves over the same thing, in one picture.

use super::figure::{Figure, curve, joined};
use super::source::{Drawn, Picture, Source, why_not};
use super::{Axis, Body, Chart, Kind, Line, Lines, Section};
use model::estimate::Verdict;
use model::run::{self, Row, Run};
use model::unit::Unit;

/// A picture of curves, but for its marks and bands.
pub(super) struct Curves<'c> {
    pub(super) id: &'c str,
    pub(super) title: &'c str,
    pub(super) caption: &'c str,
    pub(super) section: Section,
    /// What the rows are curves over.
    pub(super) over: run::Axis,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// The rows with their names in the legend.
    pub(super) rows: Vec<(String, String)>,
    /// The unit of a row's figures at an x.
    pub(super) unit: fn(&Row, u64) -> Unit,
}

/// The unit that the row itself is in.
pub(super) fn own_unit(row: &Row, _: u64) -> Unit {
    row.unit
}

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

/// Pairs of ids and names as they stand in the code.
pub(super) fn named(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |&(id, name): &(&str, &str)| (id.to_owned(), name.to_owned());
    rows.iter().map(owned).collect()
}

impl Curves<'_> {
    /// The picture of the rows that there are; of other runs, the same.
    pub(super) fn draw(self, source: &Source) -> Drawn {
        let mut notes = Vec::new();
        let mut series = Vec::new();
        let mut shown = Vec::new();
        for (id, name) in &self.rows {
            let Some(row) = source.run.row(id) else {
                continue;
            };
            match self.line(row, name.clone(), Kind::Measured, &mut notes) {
                Some(line) => {
                    shown.push(id.clone());
                    series.push(line);
                }
                None => notes.extend(unavailable(source.run, id)),
            }
        }
        if series.is_empty() {
            let ids: Vec<&str> = self.rows.iter().map(|(id, _)| id.as_str()).collect();
            return Err(why_not(source.run, &ids));
        }
        for (run_name, other) in &source.others {
            for (id, name) in self.rows.iter().filter(|(id, _)| shown.contains(id)) {
                let name = format!("{name}: {run_name}");
                let row = other.row(id);
                let line = row.and_then(|r| self.line(r, name, Kind::Reference, &mut Vec::new()));
                series.extend(line);
            }
        }
        notes.extend(notes_of(source.run, &shown));
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
        Ok(Picture {
            chart: Chart {
                id: self.id.into(),
                title: self.title.into(),
                caption: self.caption.into(),
                section: self.section,
                body: Body::Lines(Lines {
                    x: self.x,
                    y: self.y,
                    series,
                    bands: Vec::new(),
                    marks: Vec::new(),
                }),
                notes,
            },
            rows: shown,
        })
    }

    /// The row's curve. What has no place on a logarithmic axis is told in a
    /// note.
    fn line(&self, row: &Row, name: String, is: Kind, notes: &mut Vec<String>) -> Option<Line> {
        let mut points = Vec::new();
        for point in curve(row, self.over)? {
            let unit = (self.unit)(row, point.x);
            let at = crate::render::curves::axis_value(self.over, point.x);
            let Some(figure) = Figure::first(&point.estimate, &unit) else {
                let reason = &point.estimate.reason;
                notes.push(format!("{} at {at} has no figure: {reason}.", row.id));
                continue;
            };
            let off_x = self.x.log && point.x == 0;
            if off_x || self.y.log && figure.value <= 0.0 {
                let value = model::figure::value(&unit, figure.value);
                notes.push(format!(
                    "{} at {at} is {value}: a logarithmic axis has no place for it.",
                    row.id
                ));
                continue;
            }
            points.push(figure.at(point.x as f64, Some(point.estimate.verdict)));
        }
        (!points.is_empty()).then(|| joined(name, is, points))
    }
}

/// The notes of rows, each once.
fn notes_of(run: &Run, ids: &[String]) -> Vec<String> {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in ids.iter().filter_map(|id| run.row(id)) {
        for note in &row.notes {
            match notes.iter_mut().find(|(known, _)| *known == note) {
                Some((_, rows)) => rows.push(&row.id),
                None => notes.push((note, vec![&row.id])),
            }
        }
    }
    let told = |(note, rows): (&str, Vec<&str>)| match rows.len() == ids.len() {
        true => note.to_owned(),
        false => format!("{note} ({})", rows.join(", ")),
    };
    notes.into_iter().map(told).collect()
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
pub(super) fn doubts(series: &[Line]) -> Option<String> {
    let measured = series.iter().filter(|line| line.is == Kind::Measured);
    let verdicts = measured.flat_map(|line| line.points.iter().filter_map(|p| p.verdict));
    hollow(verdicts)
}

/// What hollow marks stand for, where there are some.
pub(super) fn hollow(verdicts: impl Iterator<Item = Verdict>) -> Option<String> {
    let doubtful = [
        Verdict::Noisy,
        Verdict::TwoStates,
        Verdict::CannotTell,
        Verdict::Invalid,
    ];
    let all: Vec<Verdict> = verdicts.collect();
    let counted: Vec<String> = doubtful
        .into_iter()
        .map(|verdict| (verdict, all.iter().filter(|&&v| v == verdict).count()))
        .filter(|&(_, n)| n > 0)
        .map(|(verdict, n)| format!("{n} {}", verdict.text()))
        .collect();
    (!counted.is_empty()).then(|| {
        format!(
            "Hollow marks are figures to doubt: {} of {}.",
            counted.join(", "),
            all.len()
        )
    })
}
