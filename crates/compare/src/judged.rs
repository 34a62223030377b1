//! Two builds of a benchmark suite, judged from the samples of a run: the same samples give the same verdict bit for
//! bit, on every machine.

mod rounds;

use model::compare::finding::{Correction, Finding, POWER, Samples, judge};
use model::compare::ratio::detectable;
use model::judged::evidence::{ArmCounts, ChangeEvidence};
use model::judged::question::{Screened, SlotQuestion, SlotRule, SlotSummary};
use model::judged::tails::{SlowProcesses, TailQuestion};
use model::judged::{BenchmarkState, FAMILY_LEVEL, Judged, JudgedBenchmark, SOUGHT};
use model::run::Run;
use model::stats::Interval;
use rounds::Rounds;
use serde::Serialize;

/// Level of the intervals that are printed of the base against itself.
const CONTROL_LEVEL: f64 = 0.95;
/// The base differs from itself where the chance of such rounds is smaller.
const CONTROL_ALARM: f64 = 0.01;

/// What is said of a benchmark.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum BenchmarkAnswer {
    /// It takes longer by more than is allowed.
    Slower,
    /// It takes longer, and no more than is allowed.
    SlowerWithinLimit,
    /// It takes less time.
    Faster,
    /// No change was shown, and one of [`SOUGHT`] would have been.
    NotShown,
    /// Neither.
    Inconclusive,
}

/// A benchmark that was measured.
#[derive(Serialize, Clone, Debug)]
pub struct JudgedRow {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub harness: String,
    /// What is said of it.
    pub answer: BenchmarkAnswer,
    /// Head over base; the interval is of 99 %, of this benchmark alone.
    pub ratio: Option<Interval>,
    /// The chance of such rounds where nothing changed.
    pub p_value: Option<f64>,
    /// Whole rounds that the answer is from.
    pub rounds: usize,
    /// Whether these are fresh rounds of what seemed to have changed.
    pub measured_again: bool,
    /// Each process had a layout of its own, so that no layout is taken for a change.
    pub relinked: bool,
    /// What stands for a slot and an arm.
    pub rule: SlotRule,
    /// The base again over the base, with its 95 % interval.
    pub control: Option<Interval>,
    /// What speaks for the change, where there seems to be one.
    pub evidence: Option<ChangeEvidence>,
    /// The smallest change that is found in 80 % of cases, a share.
    pub detectable: Option<f64>,
    /// What would have been needed to tell.
    pub needed: Option<NeededRounds>,
    /// Processes that are slow as a whole, where the head has more or fewer of them and the low end tells of no change:
    /// no regression by itself.
    pub tails: Option<SlowProcesses>,
}

impl JudgedRow {
    /// Adds the work of an operation in base and head. Only what is known to have changed has use for it.
    pub fn count_work(&mut self, counts: &[ArmCounts; 2]) {
        if self.evidence == Some(ChangeEvidence::Time) {
            self.evidence = Some(ChangeEvidence::from_counts(counts));
        }
    }
}

/// What it would take.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct NeededRounds {
    /// Rounds, where they alone are missing.
    pub rounds: Option<u64>,
    /// Time, ms.
    pub ms: u64,
}

/// The verdict.
#[derive(Serialize, Clone, Debug)]
pub struct Judgment {
    /// What is said of the whole.
    pub outcome: JudgedOutcome,
    /// By how much a benchmark may become slower, a share.
    pub fail_above: f64,
    /// The chance that any of the benchmarks is called changed where none is.
    pub level: f64,
    /// Benchmarks that were measured.
    pub rows: Vec<JudgedRow>,
    /// The others, with what was done with them.
    pub others: Vec<JudgedBenchmark>,
    /// Whether it was ended early.
    pub interrupted: bool,
}

/// What is said of the whole.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum JudgedOutcome {
    /// No benchmark became slower, and each was judged.
    NoRegression,
    /// One or several did.
    Regression,
    /// None is known to have, and some could not be judged.
    Inconclusive,
}

impl Judgment {
    /// From a run that holds a judged suite; `None` of others.
    pub fn from_run(run: &Run) -> Option<Judgment> {
        let judged = run.recordings.iter().find_map(|recording| recording.judged_suite())?;
        let measured = |one: &&JudgedBenchmark| {
            matches!(one.state, BenchmarkState::Measured | BenchmarkState::NotMeasuredAgain { .. })
        };
        let (own, others): (Vec<_>, Vec<_>) = judged.benchmarks.iter().partition(measured);
        let own: Vec<Judging> =
            own.into_iter().map(|one| Judging::from_samples(run, judged, one)).collect();
        // Those that were measured again share the level: what chose them were other rounds.
        let again = own.iter().filter(|one| one.benchmark.measured_again);
        let count = again.clone().count();
        let correction = Correction::Holm(FAMILY_LEVEL);
        let mut findings = judge(again.map(|one| &one.found.samples), correction, None).into_iter();
        // A question of its own, with a level of its own.
        let tails = judge(own.iter().map(|one| &one.tails), correction, None);
        let rows: Vec<JudgedRow> = own
            .iter()
            .zip(tails)
            .map(|(one, tails)| {
                let row = match one.benchmark.measured_again {
                    true => one.judged_again(findings.next(), count, judged.fail_above),
                    false => one.screened(),
                };
                let is_shown =
                    matches!(row.answer, BenchmarkAnswer::NotShown | BenchmarkAnswer::Inconclusive)
                        && tails.is_different();
                JudgedRow { tails: is_shown.then(|| one.slow_processes()).flatten(), ..row }
            })
            .collect();
        let mut judgment = Judgment {
            outcome: JudgedOutcome::NoRegression,
            fail_above: judged.fail_above,
            level: FAMILY_LEVEL,
            rows,
            others: others.into_iter().cloned().collect(),
            interrupted: run.partial.is_some(),
        };
        judgment.outcome = judgment.outcome();
        Some(judgment)
    }

    /// Those of which this is said, the largest change first.
    pub fn rows_with(&self, answer: BenchmarkAnswer) -> Vec<&JudgedRow> {
        let mut rows: Vec<&JudgedRow> =
            self.rows.iter().filter(|row| row.answer == answer).collect();
        let size = |row: &JudgedRow| row.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
        rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
        rows
    }

    /// The smallest change that is found in all that were judged, and in half of them.
    pub fn detectable(&self) -> Option<[f64; 2]> {
        let judged = self.rows.iter().filter(|row| row.answer != BenchmarkAnswer::Inconclusive);
        model::stats::largest_and_median(judged.filter_map(|row| row.detectable))
    }

    /// The benchmark in which the base differs most from itself.
    pub fn worst_control(&self) -> Option<&JudgedRow> {
        let off = |row: &JudgedRow| row.control.map_or(0.0, |own| own.value.ln().abs());
        let known = self.rows.iter().filter(|row| row.control.is_some());
        known.max_by(|a, b| off(a).total_cmp(&off(b)))
    }

    fn outcome(&self) -> JudgedOutcome {
        let has = |answer| self.rows.iter().any(|row| row.answer == answer);
        let is_open = |one: &JudgedBenchmark| {
            matches!(one.state, BenchmarkState::BeyondBudget { .. } | BenchmarkState::Failed { .. })
        };
        let is_nothing = self.rows.is_empty()
            && !self.others.iter().any(|one| one.state == BenchmarkState::SameProgram);
        if has(BenchmarkAnswer::Slower) {
            JudgedOutcome::Regression
        } else if has(BenchmarkAnswer::Inconclusive)
            || self.interrupted
            || is_nothing
            || self.others.iter().any(is_open)
        {
            JudgedOutcome::Inconclusive
        } else {
            JudgedOutcome::NoRegression
        }
    }
}

/// A benchmark with the questions that are asked of it.
struct Judging<'a> {
    benchmark: &'a JudgedBenchmark,
    rule: SlotRule,
    /// Head against base, in the rounds that decide.
    found: SlotSummary,
    /// The base again against the base, in these, and by how much it differs.
    control: SlotQuestion,
    control_ratio: Option<Interval>,
    /// Of the slow processes of head and base,
    tails: TailQuestion,
    /// and of the base against itself.
    tail_control: TailQuestion,
    /// Time of a round, ms.
    round_ms: f64,
}

impl<'a> Judging<'a> {
    fn from_samples(run: &Run, judged: &Judged, benchmark: &'a JudgedBenchmark) -> Judging<'a> {
        let all = Rounds::of_benchmark(run, benchmark);
        let (screening, again) = all.split_at(judged.screening_rounds);
        // Chosen by the first rounds: what it is asked of does not choose it.
        let rule = SlotRule::of_host(&screening.base, &screening.again);
        let own = if benchmark.measured_again { &again } else { &screening };
        let control = SlotQuestion::new(rule, &own.base, &own.again);
        Judging {
            tails: TailQuestion::new(&own.base, &own.head),
            tail_control: TailQuestion::new(&own.base, &own.again),
            benchmark,
            rule,
            found: SlotQuestion::new(rule, &own.base, &own.head).summarized(),
            control_ratio: control.interval(CONTROL_LEVEL),
            control,
            round_ms: all.round_ms,
        }
    }

    /// Of one that was not measured again: no change is called one by the rounds that choose.
    fn screened(&self) -> JudgedRow {
        let screened = Screened::from_summary(&self.found);
        let row = JudgedRow { detectable: screened.detectable, ..self.unjudged() };
        match self.benchmark.state {
            BenchmarkState::NotMeasuredAgain { needed_ms } => {
                JudgedRow { needed: Some(NeededRounds { rounds: None, ms: needed_ms }), ..row }
            }
            _ if screened.is_open() => {
                JudgedRow { needed: self.needed(screened.detectable), ..row }
            }
            _ => JudgedRow { answer: BenchmarkAnswer::NotShown, ..row },
        }
    }

    /// Of one of so many that were measured again.
    fn judged_again(&self, finding: Option<Finding>, count: usize, above: f64) -> JudgedRow {
        let error = self.found.standard_error();
        let level = FAMILY_LEVEL / count.max(1) as f64;
        let least = error.map(|error| detectable(error, f64::INFINITY, level, POWER));
        let row = JudgedRow { detectable: least, ..self.unjudged() };
        let different = finding.filter(Finding::is_different).and_then(|finding| finding.ratio);
        let Some(ratio) = different else {
            return match least {
                Some(least) if least <= SOUGHT => {
                    JudgedRow { answer: BenchmarkAnswer::NotShown, ..row }
                }
                _ => JudgedRow { needed: self.needed(least), ..row },
            };
        };
        if !self.control_agrees(&ratio) {
            let evidence = Some(ChangeEvidence::Machine);
            return JudgedRow { evidence, needed: self.needed_beside(&ratio), ..row };
        }
        let answer = match above > 0.0 && ratio.low <= 1.0 + above {
            _ if ratio.value < 1.0 => BenchmarkAnswer::Faster,
            true => BenchmarkAnswer::SlowerWithinLimit,
            false => BenchmarkAnswer::Slower,
        };
        let mut row = JudgedRow { answer, evidence: Some(ChangeEvidence::Time), ..row };
        if let Some(counts) = &self.benchmark.counts {
            row.count_work(counts);
        }
        row
    }

    /// What is known before anything is said of it.
    fn unjudged(&self) -> JudgedRow {
        JudgedRow {
            name: self.benchmark.name.clone(),
            harness: self.benchmark.harness.clone(),
            answer: BenchmarkAnswer::Inconclusive,
            ratio: self.found.samples.1,
            p_value: self.found.samples.0,
            rounds: self.found.rounds,
            measured_again: self.benchmark.measured_again,
            relinked: self.benchmark.relinked,
            rule: self.rule,
            control: self.control_ratio,
            evidence: None,
            detectable: None,
            needed: None,
            tails: None,
        }
    }

    /// Processes that are slow as a whole, unless the base differs from itself in these.
    fn slow_processes(&self) -> Option<SlowProcesses> {
        let agrees = self.tail_control.p_value().is_some_and(|p| p >= CONTROL_ALARM);
        agrees.then(|| self.tails.shares())
    }

    /// Whether the base differs from itself by less than the head from it.
    fn control_agrees(&self, ratio: &Interval) -> bool {
        let alarm = self.control.p_value().is_none_or(|p| p < CONTROL_ALARM);
        !alarm && self.control_reach().is_some_and(|reach| reach < ratio.value.ln().abs())
    }

    /// How far the base may differ from itself.
    fn control_reach(&self) -> Option<f64> {
        let control = self.control_ratio?;
        Some(control.low.ln().abs().max(control.high.ln().abs()))
    }

    /// Rounds in which the sought change is found, where the smallest that is found now is so large.
    fn needed(&self, least: Option<f64>) -> Option<NeededRounds> {
        self.needed_times((least? / SOUGHT).powi(2))
    }

    /// Rounds in which the base would differ from itself by half of such a change.
    fn needed_beside(&self, ratio: &Interval) -> Option<NeededRounds> {
        self.needed_times((2.0 * self.control_reach()? / ratio.value.ln()).powi(2))
    }

    fn needed_times(&self, times: f64) -> Option<NeededRounds> {
        let rounds = (self.found.rounds as f64 * times.max(1.0)).ceil();
        rounds.is_finite().then_some(NeededRounds {
            rounds: Some(rounds as u64),
            ms: (rounds * self.round_ms) as u64,
        })
    }
}
