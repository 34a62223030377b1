//! The share of the CPU time that the lower of two levels had, next to what the weights predict.

use super::figure::{linear, log};
use super::{Body, Chart, Dot, Dots, Other, Quantity, Section};
use model::compare::finding;
use model::estimate::Verdict;
use model::qos::shares::SharePair;

/// A line for each pair of levels. `None` where no share was measured.
pub(crate) fn of_shares(pairs: &[SharePair]) -> Option<Chart> {
    let measured: Vec<&SharePair> = pairs.iter().filter(|pair| pair.measured.is_some()).collect();
    if measured.is_empty() {
        return None;
    }
    let rows: Vec<Dot> = measured.iter().map(|pair| dot(pair)).collect();
    let is_above_0 = |dot: &Dot| {
        let ends = [dot.value, dot.low].into_iter().flatten();
        ends.chain(dot.others.iter().map(|other| other.value)).all(|share| share > 0.0)
    };
    // A share twice as large as predicted is twice as far away, wherever it lies.
    let axis = if rows.iter().all(is_above_0) { log } else { linear };
    let mut notes = Vec::new();
    let left_out = pairs.len() - measured.len();
    if left_out > 0 {
        notes.push(format!("{left_out} of {} pairs without a measured share.", pairs.len()));
    }
    let unpredicted = measured.iter().filter(|pair| pair.predicted.is_none()).count();
    if unpredicted > 0 {
        notes.push(format!("{unpredicted} of {} without a prediction.", measured.len()));
    }
    Some(Chart {
        id: "qos.shares".into(),
        title: "CPU time of the lower level: measured and predicted".into(),
        caption:
            "Share that the second job had of the CPU time of both while both ran, with its 95 % \
                  interval, and the share that the kernel's weights predict. Hollow: inconclusive."
                .into(),
        section: Section::Threads,
        body: Body::Dots(Dots::new(axis("share of the second job", Quantity::Percent), rows)),
        notes,
    })
}

fn dot(pair: &SharePair) -> Dot {
    let percent = |share: f64| share * 100.0;
    let predicted =
        pair.predicted.map(|share| Other { name: "predicted".into(), value: percent(share) });
    let is_sure = pair.interval.is_some() && pair.agreement != Some(finding::Verdict::CannotTell);
    let words = [pair.word().map(str::to_owned), pair.reason()];
    Dot {
        id: pair.case.label(),
        value: pair.measured.map(percent),
        low: pair.interval.map(|share| percent(share.low)),
        high: pair.interval.map(|share| percent(share.high)),
        finding: None,
        verdict: Some(if is_sure { Verdict::Ok } else { Verdict::CannotTell }),
        reason: words.into_iter().flatten().collect::<Vec<String>>().join(": "),
        others: predicted.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::qos::shares::share_pairs;
    use model::synthetic::qos::qos_recording;

    #[test]
    fn a_line_for_each_pair_with_its_prediction() {
        let pairs = share_pairs(&qos_recording());
        let chart = of_shares(&pairs).expect("shares");
        let Body::Dots(dots) = &chart.body else { panic!("{chart:?}") };
        assert_eq!(dots.rows.len(), pairs.len());
        for (dot, pair) in dots.rows.iter().zip(&pairs) {
            assert_eq!(dot.value, pair.measured.map(|share| share * 100.0));
            assert_eq!(dot.others[0].value, pair.predicted.expect("weights") * 100.0);
            assert_eq!(dot.verdict, Some(Verdict::Ok));
        }
        assert!(chart.notes.is_empty() && dots.value.log);
    }

    #[test]
    fn what_is_missing_is_counted_and_nothing_at_0_is_on_a_logarithmic_axis() {
        let mut pairs = share_pairs(&qos_recording());
        pairs[0].measured = None;
        pairs[1].predicted = None;
        pairs[2].measured = Some(0.0);
        let chart = of_shares(&pairs).expect("shares");
        let Body::Dots(dots) = &chart.body else { panic!("{chart:?}") };
        assert!(!dots.value.log);
        assert_eq!(
            chart.notes,
            ["1 of 3 pairs without a measured share.", "1 of 2 without a prediction."]
        );
        pairs.iter_mut().for_each(|pair| pair.measured = None);
        assert_eq!(of_shares(&pairs), None);
    }
}
