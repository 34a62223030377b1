//! Numbers that no measurement has: they would be shown as `inf`, or with 300 digits.

use model::estimate::{Estimate, Mode, Typical};
use model::phrases::cut;
use model::run::Run;
use model::stats::Interval;
use std::ops::RangeInclusive;

/// A figure in its row's unit: ns, bytes, events. An imported time is at most 1e16 ns.
const FIGURE: RangeInclusive<f64> = -1e20..=1e20;
/// A cycle of a core's clock, ns: from 1 THz to 1 Hz.
const CYCLE_NS: RangeInclusive<f64> = 1e-3..=1e9;
const SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// The first number that can't be, in a sentence.
pub(super) fn impossible(run: &Run) -> Option<String> {
    let of_clock = run.core_clock.iter().flat_map(|clock| {
        let cycle = clock.cycle_ns;
        [
            ("cycle_ns", cycle.value),
            ("cycle_ns", cycle.low),
            ("cycle_ns", cycle.high),
            ("p10_ns", clock.p10_ns),
            ("p90_ns", clock.p90_ns),
            ("shortest_ns", clock.shortest_ns),
            ("longest_ns", clock.longest_ns),
        ]
    });
    if let Some((name, value)) = of_clock.into_iter().find(|(_, ns)| !CYCLE_NS.contains(ns)) {
        return Some(format!("a clock cycle of {value:e} ns (core_clock.{name})"));
    }
    let gate = &run.gate;
    let shares = [
        ("peak_share", gate.peak_share),
        ("branch_quiet_share", gate.branch_quiet_share),
        ("capacity_quiet_share", gate.capacity_quiet_share),
        ("quiet_share", gate.quiet_share),
    ];
    for (name, share) in shares {
        if let Some(share) = share.filter(|share| !SHARE.contains(share)) {
            return Some(format!("a share of {share:e} (gate.{name})"));
        }
    }
    run.rows.iter().find_map(|row| {
        let figures = row.figures();
        let mut found = figures.iter().filter_map(|one| of_estimate(one.estimate));
        let what = found.next()?;
        Some(format!("{what} (row {:?})", cut(&row.id)))
    })
}

fn of_estimate(estimate: &Estimate) -> Option<String> {
    let modes = estimate.modes.iter().map(|mode: &Mode| mode.share);
    let mut shares = estimate.quiet_share.into_iter().chain(modes);
    if let Some(share) = shares.find(|share| !SHARE.contains(share)) {
        return Some(format!("a share of {share:e}"));
    }
    let interval = |of: Interval| [of.value, of.low, of.high];
    let typical = |of: &Typical| {
        let ns = interval(of.ns);
        ns.into_iter().chain([of.p10_ns, of.p90_ns])
    };
    let of_quiet = estimate.quiet.iter().flat_map(|quiet| {
        let cycles = quiet.cycles.into_iter().flat_map(interval);
        let ns = interval(quiet.ns).into_iter().chain([quiet.minimum_ns]);
        ns.chain(cycles).chain(quiet.clock_movement)
    });
    let of_tail = estimate.tail.iter().flat_map(|tail| {
        let quantiles = [tail.p99_ns, tail.p999_ns].into_iter().flatten();
        let ends = [tail.longest_ns, tail.shortest_ns];
        quantiles.flat_map(interval).chain(ends)
    });
    let of_modes = estimate.modes.iter().flat_map(|mode| typical(&mode.typical));
    let mut figures = (estimate.typical.iter().flat_map(typical))
        .chain(of_quiet)
        .chain(of_tail)
        .chain(of_modes)
        .chain(estimate.below_ns);
    let value = figures.find(|value| !FIGURE.contains(value))?;
    Some(format!("a figure of {value:e}"))
}
