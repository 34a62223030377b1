//! How much of a run can be relied on.

use crate::command::{Commands, Compared};
use crate::compare::finding;
use crate::estimate::{Estimate, Verdict};
use crate::phrases::counted;
use crate::run::{Outcome, Run};
use crate::summary::KeptResult;
use serde::Serialize;
use std::fmt;

/// Rows by what came of them; a curve or a map counts by its points.
#[derive(Serialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Single figures by verdict.
    pub rows: Verdicts,
    /// Points of curves and maps by verdict.
    pub points: Verdicts,
    /// Rows that could not be measured here.
    pub unavailable: u32,
}

/// Figures by verdict.
#[derive(Serialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Can be relied on.
    pub ok: u32,
    /// Wide intervals.
    pub noisy: u32,
    /// Off by some percent.
    pub biased: u32,
    /// Two figures, not one.
    pub two_states: u32,
    /// Too little seen.
    pub cannot_tell: u32,
    /// Don't measure what they should.
    pub invalid: u32,
}

impl Verdicts {
    /// Counts one more.
    pub fn count_estimate(&mut self, estimate: &Estimate) {
        self.add_verdict(estimate.verdict);
    }

    fn add_verdict(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Ok => &mut self.ok,
            Verdict::Noisy => &mut self.noisy,
            Verdict::Biased => &mut self.biased,
            Verdict::TwoStates => &mut self.two_states,
            Verdict::CannotTell => &mut self.cannot_tell,
            Verdict::Invalid => &mut self.invalid,
        } += 1;
    }

    /// All of them.
    pub fn total(&self) -> u32 {
        self.by_verdict().map(|(count, _)| count).sum()
    }

    /// How many have each verdict, the best first: only what there is.
    pub fn by_verdict(&self) -> impl Iterator<Item = (u32, Verdict)> {
        let counts = [
            (self.ok, Verdict::Ok),
            (self.noisy, Verdict::Noisy),
            (self.biased, Verdict::Biased),
            (self.two_states, Verdict::TwoStates),
            (self.cannot_tell, Verdict::CannotTell),
            (self.invalid, Verdict::Invalid),
        ];
        counts.into_iter().filter(|&(count, _)| count > 0)
    }

    /// Those that are not ok.
    pub fn uncertain(&self) -> Verdicts {
        Verdicts { ok: 0, ..*self }
    }

    /// `27 ok, 2 noisy`: only what there is.
    pub fn tally_text(&self) -> String {
        let texts: Vec<String> = self
            .by_verdict()
            .map(|(count, verdict)| format!("{count} {}", verdict.text()))
            .collect();
        texts.join(", ")
    }

    /// `27 of 29 results ok`.
    pub fn ok_text(&self) -> String {
        format!("{} of {} ok", self.ok, counted(self.total() as usize, "result"))
    }
}

impl fmt::Display for Verdicts {
    /// `27 of 29 results ok, 2 noisy`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let texts = [self.ok_text(), self.uncertain().tally_text()];
        let texts: Vec<String> = texts.into_iter().filter(|t| !t.is_empty()).collect();
        f.write_str(&texts.join(", "))
    }
}

impl Tally {
    /// Counts a run's results as the index holds them.
    pub fn of_kept(results: &[KeptResult]) -> Tally {
        let mut tally = Tally::default();
        for result in results {
            match (result.verdict, result.at.is_empty()) {
                (None, _) => tally.unavailable += 1,
                (Some(verdict), true) => tally.rows.add_verdict(verdict),
                (Some(verdict), false) => tally.points.add_verdict(verdict),
            }
        }
        tally
    }

    /// Whether anything in the run can be relied on.
    pub fn any_ok(&self) -> bool {
        self.rows.ok + self.points.ok > 0
    }
}

/// Counts a run's rows.
pub fn tally(run: &Run) -> Tally {
    let mut tally = Tally::default();
    for row in &run.rows {
        match &row.outcome {
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => {
                tally.rows.count_estimate(estimate);
            }
            Outcome::Curve { points, .. } => {
                points.iter().for_each(|p| tally.points.count_estimate(&p.estimate));
            }
            Outcome::Map { points, .. } => {
                points.iter().for_each(|p| tally.points.count_estimate(&p.estimate));
            }
            Outcome::Unavailable { .. } => tally.unavailable += 1,
        }
    }
    tally
}

/// Whether a run as a whole can be relied on: it is whole, and any of its rows
/// is ok. Of commands the time is what was asked for (their counts are almost
/// always ok), and of several commands how they compare.
pub fn reliable(run: &Run) -> bool {
    run.partial.is_none()
        && match &run.commands {
            Some(record) => time_is_known(run, record),
            // It holds what happened, however uneven that was.
            None if run.is_of_recording() => true,
            None => tally(run).any_ok(),
        }
}

/// Several commands: whether each one that is compared with the first is found
/// different or the same. Rounds are paired, so a noisy machine does not take
/// that answer away. One command: whether its wall time is ok.
fn time_is_known(run: &Run, record: &Commands) -> bool {
    let wall_is_ok = |name: &str| {
        let row = run.row(&format!("exec.{name}/wall"));
        row.and_then(|row| row.estimate()).is_some_and(|estimate| estimate.verdict == Verdict::Ok)
    };
    let walls = || record.compared.iter().filter(|one| one.row == "wall");
    let reported = |one: &Compared| one.word != finding::Verdict::CannotTell;
    match record.commands.as_slice() {
        [_, _, ..] => walls().next().is_some() && walls().all(reported),
        one => one.iter().any(|command| wall_is_ok(&command.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn every_row_is_counted_once() {
        let run = synthetic::run();
        let tally = tally(&run);
        let single = run.rows.iter().filter(|row| row.estimate().is_some()).count();
        assert_eq!(tally.rows.total() as usize, single);
        assert_eq!(tally.unavailable, 1);
        assert_eq!(
            (tally.rows.noisy, tally.rows.two_states, tally.rows.cannot_tell, tally.rows.invalid),
            // Gated ones of each kind; two states and a noisy one stamped.
            (2, 2, 1, 1)
        );
        let stamped = run.rows.iter().filter(|row| row.id.starts_with("sync."));
        let of = Run { rows: stamped.cloned().collect(), ..run.clone() };
        let rows = super::tally(&of).rows;
        assert_eq!(rows.to_string(), "1 of 2 results ok, 1 two states");
        assert_eq!(rows.uncertain().tally_text(), "1 two states");
        assert!(rows.by_verdict().eq([(1, Verdict::Ok), (1, Verdict::TwoStates)]));
        assert!(tally.any_ok());
    }

    #[test]
    fn a_run_without_a_row_that_is_ok_is_not_to_be_relied_on() {
        let mut run = synthetic::run();
        run.rows.retain(|row| row.estimate().is_some_and(|e| e.verdict != Verdict::Ok));
        assert!(!run.rows.is_empty());
        assert!(!tally(&run).any_ok());
    }

    #[test]
    fn commands_are_relied_on_for_their_time() {
        let run = synthetic::run_of_commands();
        // One wall time is ok, the other has two states; their ratio tells.
        assert!(reliable(&run));
        let mut cut = run.clone();
        cut.partial = Some("interrupted".into());
        assert!(!reliable(&cut));
        let mut noisy = run.clone();
        for row in noisy.rows.iter_mut().filter(|r| r.id.ends_with("/wall")) {
            if let Outcome::Figure(estimate) = &mut row.outcome {
                estimate.verdict = Verdict::CannotTell;
            }
        }
        assert!(tally(&noisy).any_ok(), "counts are ok all the same");
        assert!(reliable(&noisy), "the comparison is answered");
        if let Some(record) = &mut noisy.commands {
            record.commands.truncate(1);
            record.compared.clear();
        }
        assert!(!reliable(&noisy), "of one command the time is the answer");
        let mut alike = run.clone();
        if let Some(record) = &mut alike.commands {
            record.compared[0].word = finding::Verdict::CannotTell;
        }
        assert!(!reliable(&alike));
        assert!(reliable(&synthetic::run()));
    }
}
