//! A run beside another one: every row's ratio with its interval and what may
//! be said of it.

use super::figure::log;
use super::source::{OtherRun, Picture};
use super::{Body, Chart, Dot, Dots, Quantity, Section};
use compare::{ComparedRow, Comparison, Ends};
use model::compare::finding;
use model::estimate::Verdict;

/// The picture of the run against one other, the baseline; or its id and why
/// there is none.
pub(super) fn comparison(place: usize, other: &OtherRun) -> Result<Picture, (String, String)> {
    let id = match place {
        0 => "comparison".to_owned(),
        n => format!("comparison.{}", n + 1),
    };
    match &other.comparison {
        Ok(found) => Ok(draw(id, ["this run", &other.name], found, &found.rows)),
        Err(why) => Err((id, why.clone())),
    }
}

/// The picture of B over A, which its page names, with some of the rows.
pub fn of_comparison(found: &Comparison, rows: &[ComparedRow]) -> Chart {
    let chart = draw("comparison".into(), ["B", "A"], found, rows).chart;
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
fn draw(id: String, [own, name]: [&str; 2], found: &Comparison, shown: &[ComparedRow]) -> Picture {
    let dots: Vec<Dot> = shown.iter().map(dot).collect();
    let rows = shown.iter().map(|row| row.id.clone()).collect();
    let count = |verdict| found.count(verdict);
    let points = |finding| found.points.iter().filter(|p| p.finding == finding).count();
    let mut notes = vec![
        format!(
            "Of {} rows {} are different, {} the same within noise, {} undecided; of {} \
             points of curves {}, {} and {}.",
            found.rows.len(),
            count(finding::Verdict::Different),
            count(finding::Verdict::SameWithinNoise),
            count(finding::Verdict::CannotTell),
            found.points.len(),
            points(finding::Verdict::Different),
            points(finding::Verdict::SameWithinNoise),
            points(finding::Verdict::CannotTell),
        ),
        format!("Compared {}.", found.method.cycles),
    ];
    notes.push("Hollow marks: undecided rows.".into());
    notes.extend(found.differences.iter().map(|difference| {
        format!("They differ in {}: {} and {}.", difference.what, difference.a, difference.b)
    }));
    for (side, ids) in [(name, &found.only_in_a), (own, &found.only_in_b)] {
        if !ids.is_empty() {
            notes.push(format!("{} rows are only in {side}.", ids.len()));
        }
    }
    Picture {
        chart: Chart {
            id,
            title: format!("This run against {name}"),
            caption: format!(
                "Each row's figure in {own} over that in {name}, with the 95 % interval of \
                 the ratio. For times, right of 1 is slower; for speeds, faster."
            ),
            section: Section::Comparison,
            body: Body::Dots(Dots {
                value: log("this run over the other", Quantity::Ratio),
                rows: dots,
            }),
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
    let found = row.finding.text();
    let found = match row.direction {
        _ if verdict.is_some() => None,
        Some(direction) => Some(format!("{found}: {}", direction.text())),
        None => Some(found.to_owned()),
    };
    let mut said: Vec<String> =
        found.into_iter().chain(row.why.iter().map(ToString::to_string)).collect();
    let ends = match row.ratio.map(|ratio| ratio.ends()) {
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
    }
}
