//! Commands of two builds, base and head, timed interleaved: which times became longer, judged
//! over all commands together.

mod objects;

use model::command::Commands;
use model::compare::finding::{LEVEL, POWER, Verdict, WATCHED_LEVEL};
use model::compare::ratio::detectable;
use model::compare::student;
use model::interleaved;
use model::regression::{JudgedTime, RatioIntervals, judged_time};
use model::run::Run;
use model::stats::Interval;
use serde::{Serialize, Serializer};

/// Names of the two commands of a run: its rows are `exec.base/wall` and `exec.head/wall`.
pub const SIDES: [&str; 2] = Commands::BUILDS;

/// The times of a command. One of them decides ([`judged_time`]); a regression in either counts.
const TIMES: [&str; 2] = ["wall", "task_clock"];

/// One time of a command in both builds.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct PairedRow {
    /// The command, with {} for the build.
    pub command: String,
    /// `wall` or `task_clock`.
    pub row: &'static str,
    /// Median in the base, with its 95 % interval.
    pub base_ns: Interval,
    /// The same in the head.
    pub head_ns: Interval,
    /// Pairs of runs.
    pub rounds: usize,
    /// Median of the rounds' ratios, head over base; the intervals of all rows hold together with
    /// a confidence of 95 % (Bonferroni).
    pub ratio: Option<Interval>,
    /// Whether it is the time by which its command is judged: wall time, or CPU time where wall time is disturbed.
    pub decides: bool,
    /// The smallest change that is called one in 80 % of cases, a share.
    pub detectable: Option<f64>,
    /// What may be said of an increase by more than is allowed; in JSON `slower`, `not_slower` (the whole interval
    /// lies below) or `inconclusive`.
    #[serde(serialize_with = "as_answer")]
    pub answer: Verdict,
    /// Why nothing may be said whatever the ratio is, if so: runs failed, say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl PairedRow {
    /// The answer as printed.
    pub fn answer_text(&self) -> &'static str {
        match self.answer {
            Verdict::Different => "SLOWER",
            Verdict::SameWithinNoise if self.ratio.is_some_and(|r| r.high < 1.0) => "faster",
            Verdict::SameWithinNoise => "ok",
            Verdict::CannotTell if self.why.is_some() => "not comparable",
            Verdict::CannotTell if self.row == "wall" && !self.decides => "disturbed",
            Verdict::CannotTell => Verdict::CannotTell.printed(),
        }
    }
}

#[derive(Serialize, Clone, Debug)]
pub struct PairedGate {
    /// By how much a time may grow, as a share.
    pub fail_above: f64,
    /// The chance that any interval misses its ratio.
    pub level: f64,
    /// Whether all commands ran to the end.
    pub complete: bool,
    /// Two for each command, one where its CPU time is unknown.
    pub rows: Vec<PairedRow>,
}

impl PairedGate {
    /// Judges runs of [`SIDES`], each with its command's text. The pairs of one run were
    /// interleaved; different runs share nothing but the level.
    pub fn from_runs(runs: &[(String, Run)], asked: usize, fail_above: f64) -> PairedGate {
        let mut rows: Vec<(PairedRow, [Vec<f64>; 2])> = runs
            .iter()
            .flat_map(|(command, run)| TIMES.iter().filter_map(|row| pair(command, run, row)))
            .collect();
        let watched = runs.iter().any(|(_, run)| is_watched(run));
        // As many as the rounds were ended for, though some may be missing.
        let together = if watched { TIMES.len() * asked } else { rows.len() };
        let how = RatioIntervals { together, watched };
        choose_deciding(&mut rows, how, fail_above);
        for (row, [base, head]) in &mut rows {
            row.ratio = how.ratio([base, head]);
            let alone = interleaved::interleaved_ratio(base, head, 1);
            if row.why.is_none() {
                row.detectable = match (watched, &row.ratio) {
                    (true, Some(all)) => alone.map(|alone| smallest_watched(&alone, all)),
                    (true, None) => None,
                    (false, _) => alone.map(|r| smallest_change(&r, together)),
                };
                row.answer = Verdict::of_range(row.ratio.as_ref(), 0.0..=1.0 + fail_above);
            }
        }
        PairedGate {
            fail_above,
            level: if watched { WATCHED_LEVEL } else { LEVEL },
            complete: runs.len() == asked && runs.iter().all(|(_, run)| run.partial.is_none()),
            rows: rows.into_iter().map(|(row, _)| row).collect(),
        }
    }

    pub fn rows_with(&self, answer: Verdict) -> impl Iterator<Item = &PairedRow> {
        self.rows.iter().filter(move |row| row.answer == answer)
    }

    /// Whether a command could not be judged, or did not run to the end.
    pub fn is_inconclusive(&self) -> bool {
        let mut open = self.rows_with(Verdict::CannotTell);
        !self.complete || self.rows.is_empty() || open.any(|row| row.decides)
    }

    /// The smallest change that is found in all rows that could be judged, and in half of them.
    pub fn detectable(&self) -> Option<[f64; 2]> {
        let judged = self.rows.iter();
        let judged = judged.filter(|row| row.answer != Verdict::CannotTell);
        model::stats::largest_and_median(judged.filter_map(|row| row.detectable))
    }
}

/// Marks the time that decides for each command, whose rows stand together.
fn choose_deciding(rows: &mut [(PairedRow, [Vec<f64>; 2])], how: RatioIntervals, above: f64) {
    let of_one =
        |a: &(PairedRow, _), b: &(PairedRow, _)| b.0.row != TIMES[0] && a.0.row == TIMES[0];
    for rows in rows.chunk_by_mut(of_one) {
        let sides = |k: usize| rows.get(k).map(|(_, [base, head])| [&base[..], &head[..]]);
        let time = sides(0).map(|wall| judged_time(wall, sides(1), how, above).0);
        let place = usize::from(time == Some(JudgedTime::TaskClock));
        rows[place].0.decides = true;
    }
}

fn is_watched(run: &Run) -> bool {
    run.commands.as_ref().is_some_and(|commands| commands.rule.is_watched())
}

/// A row that is not judged yet, and the values on both sides.
fn pair(command: &str, run: &Run, row: &'static str) -> Option<(PairedRow, [Vec<f64>; 2])> {
    let ids = SIDES.map(|side| format!("exec.{side}/{row}"));
    let ns = |id: &String| run.row(id)?.estimate()?.ns();
    let [base, head] = ids.each_ref().map(|id| run.values_ns(id));
    let unjudged = PairedRow {
        command: command.into(),
        row,
        base_ns: ns(&ids[0])?,
        head_ns: ns(&ids[1])?,
        rounds: base.len().min(head.len()),
        ratio: None,
        decides: false,
        detectable: None,
        answer: Verdict::CannotTell,
        why: not_comparable(run),
    };
    Some((unjudged, [base, head]))
}

/// Why no build may be called slower or faster, if so.
fn not_comparable(run: &Run) -> Option<String> {
    let commands = &run.commands.as_ref()?.commands;
    let [base, head] = SIDES.map(|side| commands.iter().find(|command| command.name == side));
    head?.not_comparable(base?)
}

fn as_answer<S: Serializer>(answer: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match answer {
        Verdict::Different => "slower",
        Verdict::SameWithinNoise => "not_slower",
        Verdict::CannotTell => "inconclusive",
    })
}

/// From the interval of a row alone and the one of rounds that were looked at after each: half of that, and what a
/// change must exceed it by to be found so often.
fn smallest_watched(alone: &Interval, watched: &Interval) -> f64 {
    let half = |interval: &Interval| (interval.high / interval.low).ln() / 2.0;
    let error = half(alone) / student::quantile(1.0 - LEVEL / 2.0, f64::INFINITY);
    (half(watched) + student::quantile(POWER, f64::INFINITY) * error).exp_m1()
}

/// From the interval of a row alone, as if logarithms of ratios were normal.
fn smallest_change(alone: &Interval, together: usize) -> f64 {
    let half = (alone.high / alone.low).ln() / 2.0;
    let error = half / student::quantile(1.0 - LEVEL / 2.0, f64::INFINITY);
    detectable(error, f64::INFINITY, LEVEL / together as f64, POWER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_allowed_itself() {
        let exactly = 1.0 + 0.05;
        let of = |low, high| {
            let value = (low + high) / 2.0;
            Verdict::of_range(Some(&Interval { value, low, high }), 0.0..=exactly)
        };
        assert_eq!(of(exactly, exactly), Verdict::SameWithinNoise);
        assert_eq!(of(exactly, 1.06), Verdict::CannotTell);
        assert_eq!(of(1.051, 1.06), Verdict::Different);
    }

    #[test]
    fn the_smallest_change_is_that_of_the_normal_distribution() {
        // Half an interval is 1.96 standard errors of the logarithm; 80 % of changes of
        // 1.96 + 0.84 are found.
        let alone = Interval { value: 1.0, low: (-0.0196f64).exp(), high: 0.0196f64.exp() };
        let found = smallest_change(&alone, 1);
        assert!((found - 0.0284).abs() < 2e-4, "{found}");
        // Half an interval at every look may be 3.5 standard errors.
        let watched = Interval { value: 1.0, low: (-0.035f64).exp(), high: 0.035f64.exp() };
        let found = smallest_watched(&alone, &watched);
        assert!((found - 0.0444).abs() < 3e-4, "{found}");
        // Of twenty together 3.02 + 0.84.
        let found = smallest_change(&alone, 20);
        assert!((found - 0.0394).abs() < 3e-4, "{found}");
    }
}
