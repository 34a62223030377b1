//! A gate that must hardly ever cry wolf: what looks slower is measured again,
//! and has to be slower in two of three runs.

use super::finding::{Correction, Finding, Samples, judge};
use serde::Serialize;

/// The chance that a comparison in which nothing grew beyond the gate has any
/// row across it.
pub const LEVEL: f64 = 0.01;
/// Runs that a row is judged by at most: the first and further ones.
pub const RUNS: usize = 3;
/// Of these, in so many it must be slower.
const AGREEING: usize = 2;

/// A row that came out slower by so much of the gate's share is measured again.
/// What did not is not across: looking away can't raise an alarm, so this
/// threshold costs no chance of a wrong one.
pub const LOOKED_AT_FROM: f64 = 0.5;
/// A row across has surely grown by more than this part of the gate's share, and
/// came out beyond all of it: surely beyond all of it would leave no room between
/// a gate of 5 % and a row that is 10 % slower where runs differ by 1 %.
pub const SURELY: f64 = 0.5;

/// A row's time against a gate.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grown {
    /// B's time over A's, whatever unit the row is shown in.
    pub time_ratio: f64,
    /// The same without the reference workload taken out, where one is.
    pub raw_time_ratio: f64,
    /// Chance of one so large or larger where it grew by no more than the gate
    /// allows; of this row alone. 1 where the row may not be called different.
    pub p_value: f64,
}

/// Of one run alone.
impl Samples for Grown {
    fn p_value(&self) -> Option<f64> {
        Some(self.p_value)
    }
}

impl Grown {
    /// Whether it came out slower by more than this. A row whose reference
    /// became faster is slower in relation to it, and takes no longer: both
    /// ratios must be beyond.
    fn is_beyond(&self, share: f64) -> bool {
        self.time_ratio > 1.0 + share && self.raw_time_ratio > 1.0 + share
    }

    /// What it says for the row having grown: its chance; nothing (1) where it
    /// did not come out beyond the gate.
    fn spoken(&self, share: f64) -> f64 {
        match self.is_beyond(share) {
            true => self.p_value,
            false => 1.0,
        }
    }
}

/// A row through the runs of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    share: f64,
    again: bool,
    p_values: Vec<f64>,
}

impl Watched {
    /// After the first run, of which `said` is absent where it could not tell:
    /// that is measured again too.
    pub fn of_first(said: Option<&Grown>, share: f64) -> Watched {
        let slower = said.is_none_or(|said| said.is_beyond(LOOKED_AT_FROM * share));
        let mut watched = Watched { share, again: slower, p_values: Vec::new() };
        watched.say(said);
        watched
    }

    /// With the most that its missing runs can still say.
    fn at_best(&self) -> Watched {
        let runs = if self.is_looked_at_again() { RUNS } else { self.p_values.len() };
        let mut best = self.clone();
        best.p_values.resize(runs, 0.0);
        best
    }

    /// Whether it is to be measured again while that can put it across.
    pub fn is_looked_at_again(&self) -> bool {
        self.again && self.p_values.len() < RUNS
    }

    /// A further run. What could not tell is no witness.
    pub fn say(&mut self, said: Option<&Grown>) {
        let p = said.map_or(1.0, |said| said.spoken(self.share));
        self.p_values.push(p);
    }

    /// What each run said for it having grown.
    pub fn p_values(&self) -> &[f64] {
        &self.p_values
    }
}

impl Samples for Watched {
    fn p_value(&self) -> Option<f64> {
        Some(combined(&self.p_values))
    }
}

/// Whether a further run could put any row across: else none is made.
pub fn another_run<'w>(rows: impl Iterator<Item = &'w Watched> + Clone) -> bool {
    let at_best: Vec<Watched> = rows.clone().map(Watched::at_best).collect();
    let mut found = decided(&at_best).into_iter().zip(rows);
    found.any(|(found, row)| found.is_different() && row.is_looked_at_again())
}

/// The answers for all rows that were judged together: different is what is across, with a chance of any wrong one
/// of at most [`LEVEL`].
pub fn decided<'w>(rows: impl IntoIterator<Item = &'w Watched>) -> Vec<Finding> {
    judge(rows, Correction::Holm(LEVEL), None)
}

/// One chance out of those of several runs against the same baseline: the
/// second smallest of three, times three halves. It holds however they hang
/// together (Rüger, Metrika 25, 1978, 171-178; Vovk and Wang, Biometrika 107,
/// 2020, 791-808): runs minutes apart, against one baseline, hang together.
/// 1 where fewer runs were made.
fn combined(p_values: &[f64]) -> f64 {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.get(AGREEING - 1) {
        Some(p) if sorted.len() == RUNS => (p * RUNS as f64 / AGREEING as f64).min(1.0),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_three_must_agree() {
        assert!((combined(&[0.5, 0.002, 0.001]) - 0.003).abs() < 1e-12);
        assert!((combined(&[0.001, 0.4, 0.9]) - 0.6).abs() < 1e-12);
        assert_eq!(combined(&[0.9, 0.9, 0.001]), 1.0);
        assert_eq!(combined(&[0.001]), 1.0);
        assert_eq!(combined(&[0.001, 0.001]), 1.0);
        assert_eq!(combined(&[f64::NAN, f64::NAN, 0.001]), 1.0);
    }

    fn said(time_ratio: f64, raw_time_ratio: f64) -> Grown {
        Grown { time_ratio, raw_time_ratio, p_value: 0.001 }
    }

    #[test]
    fn a_run_speaks_only_beyond_the_gate() {
        assert_eq!(said(1.06, 1.06).spoken(0.05), 0.001);
        assert_eq!(said(1.04, 1.04).spoken(0.05), 1.0);
        assert_eq!(said(f64::NAN, 1.06).spoken(0.05), 1.0);
        // The reference became faster, the row is as it was.
        assert_eq!(said(1.20, 1.00).spoken(0.05), 1.0);
        // The whole machine became slower.
        assert_eq!(said(1.00, 1.20).spoken(0.05), 1.0);
    }

    #[test]
    fn what_is_decided_follows_from_all_runs() {
        let slow = said(1.10, 1.10);
        let mut rows = [
            Watched::of_first(Some(&slow), 0.05),
            Watched::of_first(None, 0.05),
            Watched::of_first(Some(&said(1.02, 1.02)), 0.05),
        ];
        let again: Vec<bool> = rows.iter().map(Watched::is_looked_at_again).collect();
        assert_eq!(again, [true, true, false]);
        assert!(another_run(rows.iter()), "two more may speak");
        rows[0].say(Some(&slow));
        rows[1].say(None);
        assert_eq!(rows[1].p_values(), [1.0, 1.0]);
        assert!(another_run(rows.iter()), "the first row");
        rows[0].say(Some(&slow));
        rows[1].say(Some(&slow));
        assert!(!another_run(rows.iter()), "three runs are all");
        let crossed: Vec<bool> = decided(&rows).iter().map(Finding::is_different).collect();
        assert_eq!(crossed, [true, false, false]);
        assert!((decided(&rows)[0].p_value.expect("three runs") - 0.0015).abs() < 1e-12);
        // Nothing that another run could change.
        let calm = Watched::of_first(Some(&said(1.0, 1.0)), 0.05);
        assert!(!another_run([calm].iter()));
    }

    #[test]
    fn what_can_not_cross_any_more_is_known() {
        let at_best = |p_values: &[f64]| {
            let row = Watched { share: 0.05, again: true, p_values: p_values.to_vec() };
            row.at_best().p_value().expect("a chance")
        };
        assert_eq!(at_best(&[0.5]), 0.0);
        assert!((at_best(&[0.5, 0.3]) - 0.45).abs() < 1e-12);
        let all = [0.2, 0.01, 0.04];
        assert_eq!(at_best(&all), combined(&all));
        assert_eq!(at_best(&[]), 0.0);
    }
}
