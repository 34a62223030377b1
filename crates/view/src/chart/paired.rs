//! The times of commands of two builds, head over base.

use super::figure::log;
use super::forest::by_change;
use super::{Body, Chart, Dot, Dots, Quantity, Section};
use crate::render::time_title;
use compare::paired::{PairedGate, PairedRow};
use model::compare::finding::Verdict;
use model::share::limit;

/// A line for each time; `None` where no ratio is known.
pub fn of_paired(gate: &PairedGate) -> Option<Chart> {
    let rows = by_change(gate.rows.iter().map(dot).collect());
    rows.iter().any(|dot| dot.value.is_some()).then(|| Chart {
        id: "ci".into(),
        title: "Head over base".into(),
        caption: format!(
            "Median ratio of interleaved runs, with intervals that hold together at {}. Right of 1 the head is \
             slower; different: above {}, or surely faster.",
            limit(1.0 - gate.level),
            limit(gate.fail_above)
        ),
        section: Section::Comparison,
        body: Body::Dots(Dots::new(log("head over base", Quantity::Ratio), rows)),
        notes: Vec::new(),
    })
}

fn dot(row: &PairedRow) -> Dot {
    let ratio = row.ratio.filter(|_| row.why.is_none());
    let is_faster = ratio.is_some_and(|ratio| ratio.high < 1.0);
    Dot {
        id: format!("{} ({})", row.command, time_title(row)),
        value: ratio.map(|ratio| ratio.value),
        low: ratio.map(|ratio| ratio.low),
        high: ratio.map(|ratio| ratio.high),
        verdict: None,
        reason: row.why.clone().unwrap_or_else(|| row.answer_text().into()),
        others: Vec::new(),
        finding: Some(if is_faster { Verdict::Different } else { row.answer }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::stats::Interval;

    fn row(command: &str, ratio: [f64; 3], answer: Verdict) -> PairedRow {
        let [low, value, high] = ratio;
        PairedRow {
            command: command.into(),
            row: "wall",
            base_ns: Interval::about(1e6, 1e4),
            head_ns: Interval::about(1e6 * value, 1e4),
            rounds: 20,
            ratio: Some(Interval { value, low, high }),
            decides: true,
            detectable: None,
            answer,
            why: None,
        }
    }

    #[test]
    fn slower_is_first_faster_is_different_and_what_failed_has_no_mark() {
        let failed = PairedRow {
            why: Some("failed in head".into()),
            ..row("{}/d", [0.9, 1.0, 1.1], Verdict::CannotTell)
        };
        let gate = PairedGate {
            fail_above: 0.05,
            level: 0.05,
            complete: true,
            rows: vec![
                row("{}/a", [0.99, 1.0, 1.01], Verdict::SameWithinNoise),
                failed,
                row("{}/b", [0.7, 0.8, 0.9], Verdict::SameWithinNoise),
                row("{}/c", [1.2, 1.4, 1.6], Verdict::Different),
            ],
        };
        let chart = of_paired(&gate).expect("ratios");
        let Body::Dots(dots) = chart.body else { panic!("dots") };
        let lines: Vec<(&str, Option<f64>, Option<Verdict>)> =
            dots.rows.iter().map(|dot| (&dot.id[..], dot.value, dot.finding)).collect();
        assert_eq!(
            lines,
            [
                ("{}/c (wall time)", Some(1.4), Some(Verdict::Different)),
                ("{}/b (wall time)", Some(0.8), Some(Verdict::Different)),
                ("{}/a (wall time)", Some(1.0), Some(Verdict::SameWithinNoise)),
                ("{}/d (wall time)", None, Some(Verdict::CannotTell)),
            ]
        );
        assert!(of_paired(&PairedGate { rows: Vec::new(), ..gate }).is_none());
    }
}
