//! What each knob of the scheduler does to the share of CPU time, beside the others.

use super::figure::log;
use super::forest::by_change;
use super::{Body, Chart, Dot, Dots, Quantity, Section};
use model::qos::knobs::{Knobs, Session, ShareEffect};

/// The share that each knob leaves, over that without one; `None` where no rounds say anything of any.
pub(crate) fn of_knobs(knobs: &Knobs) -> Option<Chart> {
    let rows = by_change(knobs.share_effects().iter().map(dot).collect());
    rows.iter().any(|dot| dot.value.is_some()).then(|| Chart {
        id: "qos.knobs".into(),
        title: "What each knob does to the share of CPU time".into(),
        caption: "Share that threads with the knob have against as many default threads on all CPUs, over the \
                  share without it: median of the rounds, with the interval that judges all knobs together, where \
                  there are rounds enough for one. other session: the default threads run in another one. Left \
                  of 1 gets less."
            .into(),
        section: Section::Threads,
        body: Body::Dots(Dots::new(log("share with the knob over without", Quantity::Ratio), rows)),
        notes: Vec::new(),
    })
}

fn dot(ShareEffect { row, ratio, found }: &ShareEffect) -> Dot {
    let end = |end: f64| Some(end).filter(|end| end.is_finite() && *end > 0.0);
    let interval = found.ratio;
    let session = match row.session {
        Session::Same => "",
        Session::Other => ", other session",
    };
    Dot {
        id: format!("{}{session}", row.knob.label()),
        value: *ratio,
        low: interval.and_then(|interval| end(interval.low)),
        high: interval.and_then(|interval| end(interval.high)),
        verdict: None,
        reason: found.verdict.printed().into(),
        others: Vec::new(),
        finding: Some(found.verdict),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::compare::finding::Verdict;
    use model::machine::Fact;
    use model::qos::knobs::{Knob, KnobRow, Permission, Shares, Wakes};
    use model::qos::{Outcome, Setting};

    fn knobs(rounds: usize) -> Knobs {
        let row = |settings: Vec<Setting>, share: f64| KnobRow {
            knob: Knob(settings),
            session: Session::Same,
            not_available: None,
            one_cpu: Shares::default(),
            all_cpus: Shares {
                predicted: None,
                // Rounds differ by a thousandth.
                measured: (0..rounds).map(|at| share * (1.0 + 0.001 * (at % 3) as f64)).collect(),
                of_others: vec![0.0; rounds],
            },
            of_small_thread: Wakes::default(),
            of_default_thread: Wakes::default(),
            permission: Permission { set: Outcome::ReadBack, undo: None },
            unprivileged: Fact::unknown("not tried"),
        };
        let unmeasured =
            KnobRow { all_cpus: Shares::default(), ..row(vec![Setting::GroupIdle], 0.0) };
        Knobs {
            cpus: vec![0, 1],
            rounds: rounds as u32,
            seed: 7,
            share_window_ns: 1,
            wakeup_window_ns: 1,
            period_ns: 1,
            autogroups: Fact::known(true),
            root: true,
            io_schedulers: Fact::unknown("none"),
            knobs: vec![
                row(Vec::new(), 0.5),
                row(vec![Setting::Nice(10)], 0.1),
                row(vec![Setting::Nice(0)], 0.5),
                unmeasured,
            ],
        }
    }

    fn knob_lines(rounds: usize) -> Vec<(Option<f64>, bool, Option<Verdict>)> {
        let Body::Dots(dots) = of_knobs(&knobs(rounds)).expect("ratios").body else {
            panic!("dots")
        };
        let line = |dot: &Dot| (dot.value, dot.low.is_some(), dot.finding);
        dots.rows.iter().map(line).collect()
    }

    #[test]
    fn a_knob_is_judged_by_its_rounds_over_those_without_it() {
        let found = knob_lines(12);
        assert_eq!(found.len(), 2, "what was not measured is no line: {found:?}");
        assert!(found[0].0.is_some_and(|ratio| (ratio - 0.2).abs() < 1e-9), "{found:?}");
        assert_eq!((found[0].1, found[0].2), (true, Some(Verdict::Different)));
        assert_eq!((found[1].0, found[1].2), (Some(1.0), Some(Verdict::SameWithinNoise)));
        // One round has a ratio and no interval.
        let found = knob_lines(1);
        assert!(
            found.iter().all(|line| !line.1 && line.2 == Some(Verdict::CannotTell)),
            "{found:?}"
        );
        assert!(found[0].0.is_some_and(|ratio| (ratio - 0.2).abs() < 1e-9), "{found:?}");
    }
}
