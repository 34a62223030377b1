//! A run beside another one: every row's ratio with its interval and what may
//! be said of it.

use super::figure::log;
use super::forest::by_change;
use super::slopes::of_slopes;
use super::source::{OtherRun, Picture};
use super::{Body, Chart, Dot, Dots, Quantity, Section};
use compare::{ComparedRow, Comparison, Ends};
use model::compare::finding;
use model::estimate::Verdict;
use model::phrases::counted;

/// The picture of the run against one other, the baseline; or its id and why
/// there is none.
pub(super) fn comparison(place: usize, other: &OtherRun) -> Result<Picture, (String, String)> {
    let id = numbered("comparison", place);
    match &other.comparison {
        Ok(found) if found.rows.iter().all(|row| row.ratio.is_none()) => {
            Err((id, "no row has a ratio".into()))
        }
        Ok(found) => Ok(draw_pair(id, ["this run", &other.name], found, &found.rows)),
        Err(why) => Err((id, why.clone())),
    }
}

/// The slopes from one other to this run; none where they share no time.
pub(super) fn slopes(place: usize, other: &OtherRun) -> Option<Picture> {
    let found = other.comparison.as_ref().ok()?;
    let chart = of_slopes(found, [&other.name, "this run"])?;
    let rows = found.rows.iter().map(|row| row.id.clone()).collect();
    Some(Picture { chart: Chart { id: numbered(&chart.id, place), ..chart }, rows })
}

/// The id of a picture of one of several others.
pub(crate) fn numbered(id: &str, place: usize) -> String {
    match place {
        0 => id.to_owned(),
        n => format!("{id}.{}", n + 1),
    }
}

/// The picture of B over A, which its page names, with some of the rows.
pub fn of_comparison(found: &Comparison, rows: &[ComparedRow]) -> Chart {
    let chart = draw_pair("comparison".into(), ["B", "A"], found, rows).chart;
    let Body::Dots(dots) = chart.body else {
        return chart;
    };
    Chart {
        title: "B over A".into(),
        body: Body::Dots(Dots { value: log("B over A", Quantity::Ratio), ..dots }),
        ..chart
    }
}

/// The first one over the other.
fn draw_pair(
    id: String,
    [own, name]: [&str; 2],
    found: &Comparison,
    shown: &[ComparedRow],
) -> Picture {
    let dots = by_change(shown.iter().map(dot).collect());
    let rows = shown.iter().map(|row| row.id.clone()).collect();
    let count = |verdict| found.count_findings(verdict);
    let points = |finding| found.points.iter().filter(|p| p.finding == finding).count();
    let mut notes = vec![
        format!(
            "{}: {} different, {} same within noise, {} inconclusive; {} of curves: \
             {}, {} and {}.",
            counted(found.rows.len(), "row"),
            count(finding::Verdict::Different),
            count(finding::Verdict::SameWithinNoise),
            count(finding::Verdict::CannotTell),
            counted(found.points.len(), "point"),
            points(finding::Verdict::Different),
            points(finding::Verdict::SameWithinNoise),
            points(finding::Verdict::CannotTell),
        ),
        format!("Compared {}.", found.method.cycles),
    ];
    notes.extend(found.differences.iter().map(|difference| {
        format!("They differ in {}: {} and {}.", difference.what, difference.a, difference.b)
    }));
    for (side, ids) in [(name, &found.only_in_a), (own, &found.only_in_b)] {
        if !ids.is_empty() {
            let verb = if ids.len() == 1 { "is" } else { "are" };
            notes.push(format!("{} {verb} only in {side}.", counted(ids.len(), "row")));
        }
    }
    Picture {
        chart: Chart {
            id,
            title: format!("This run against {name}"),
            caption: format!(
                "Each row's figure in {own} over that in {name}, with the 95 % interval of \
                 the ratio, the largest change first. For times, right of 1 is slower; for \
                 speeds, faster."
            ),
            section: Section::Comparison,
            body: Body::Dots(Dots::new(log("this run over the other", Quantity::Ratio), dots)),
            notes,
        },
        rows,
    }
}

fn dot(row: &ComparedRow) -> Dot {
    let id = match &row.mode {
        Some(mode) => format!("{} ({mode})", row.id),
        None => row.id.clone(),
    };
    // Undecided: hollow like any uncertain figure, and the verdict says so.
    let verdict = (row.finding == finding::Verdict::CannotTell).then_some(Verdict::CannotTell);
    let found = row.finding.printed();
    let found = match row.direction {
        _ if verdict.is_some() => None,
        Some(direction) => Some(format!("{found}: {}", direction.text())),
        None => Some(found.to_owned()),
    };
    let mut said: Vec<String> =
        found.into_iter().chain(row.why.iter().map(ToString::to_string)).collect();
    let ends = match row.ratio.map(|ratio| ratio.interval_ends()) {
        Some(Ends::At(ends)) => Some(ends),
        Some(Ends::TooWide) => {
            said.push("its interval is too wide to draw".into());
            None
        }
        Some(Ends::NoSpread) | None => None,
    };
    Dot {
        id,
        value: row.ratio.map(|ratio| ratio.value),
        low: ends.map(|[low, _]| low),
        high: ends.map(|[_, high]| high),
        verdict,
        reason: said.join("; "),
        others: Vec::new(),
        finding: Some(row.finding),
    }
}
