//! A row over the stored runs of one machine: the figures, what changed with
//! them, and where their level changed. The statistics are `model::history`.

mod conclusion;
#[cfg(test)]
mod tests;

pub use conclusion::Conclusion;

use crate::Difference;
use crate::row::{in_unit, turned, unit_name};
use model::compare::measure::Measure;
use model::compare::reading::Reading;
use model::estimate::Verdict;
use model::history::change::changes;
use model::history::{NEWEST, Past};
use model::run::Bound;
use model::stats::Interval;
use model::summary::Key;
use model::summary::{KeptResult, KeptRun, MachineSummary, RunSetup};
use model::unit::Unit;
use serde::Serialize;
use std::collections::HashMap;

/// Worker processes of an ordinary run: what the index keeps of an interval
/// does not say of how many it is.
const WORKERS: u32 = 8;

/// Which of a row's figures is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FollowedFigure {
    /// Cycles of rows bound by the core, where any run has them; else ns.
    #[default]
    Best,
    Cycles,
    /// ns, or what the row is counted in.
    Ns,
}

/// A row over time.
#[derive(Serialize, Clone, Debug)]
pub struct History {
    pub row: String,
    /// The point; empty for a single figure.
    pub at: Vec<u64>,
    pub machine: MachineSummary,
    /// What is followed. Runs that don't have it are listed without.
    pub measure: Measure,
    /// The mode that is followed, where modes lie apart: the one that most runs
    /// are shown by.
    pub mode: Option<String>,
    /// Unit of the figures: `cycles`, `ns`, `GB/s`, ...; nothing where events
    /// are counted.
    pub unit: &'static str,
    /// How the row is shown otherwise.
    #[serde(skip)]
    pub of: Unit,
    /// The runs, the oldest first.
    pub runs: Vec<HistoryEntry>,
    /// Runs with a figure that are older than the newest 200, which are tested.
    pub older: usize,
    /// Stretches of one level, in order.
    pub levels: Vec<HistoryLevel>,
    /// Chance of any mark where nothing changed.
    pub error_rate: f64,
    /// Standard deviation of one run about its level, as a share.
    pub runs_differ: f64,
    /// The smallest change in the middle of the last level that would be found
    /// in 80 % of cases, as a share; absent where there are too few runs.
    pub detectable: Option<f64>,
}

#[derive(Serialize, Clone, Debug)]
pub struct HistoryEntry {
    pub run: KeptRun,
    /// The figure in the history's unit, with its 95 % interval.
    pub figure: Option<Interval>,
    /// The figure in ns, where that is another.
    pub ns: Option<Interval>,
    /// How far the run trusted it.
    pub verdict: Option<Verdict>,
    /// Why there is none, or why it takes no part in the test; else the
    /// verdict's reason.
    pub reason: String,
    /// Whether it takes part in the test.
    pub tested: bool,
    /// In what the machine or the program differ from the run before.
    pub setup: Vec<Difference>,
}

/// A stretch of one level.
#[derive(Serialize, Clone, Debug)]
pub struct HistoryLevel {
    /// Place of its first run,
    pub first: usize,
    /// and of its last, among [`History::runs`].
    pub last: usize,
    /// Runs with a figure.
    pub runs: usize,
    /// The level with its 95 % interval, in the history's unit.
    pub level: Interval,
    /// Over the level before, in that unit, with its 95 % interval; absent for
    /// the first.
    pub ratio: Option<Interval>,
}

/// The history of a row from what the index has of it, the oldest first.
/// `None` without any run.
pub fn history(
    machine: MachineSummary,
    found: Vec<(KeptRun, KeptResult)>,
    wanted: FollowedFigure,
) -> Option<History> {
    let (_, newest) = found.last()?;
    let (row, at, unit, bound) = (newest.row.clone(), newest.at.clone(), newest.unit, newest.bound);
    let measure = followed_measure(&found, bound, wanted);
    let mode = usual_mode(&found).filter(|_| measure == Measure::TypicalNs);
    let mut entries: Vec<HistoryEntry> = Vec::new();
    let (mut readings, mut places) = (Vec::new(), Vec::new());
    for (run, result) in found {
        let setup = match entries.last() {
            Some(before) => differences(&before.run.setup, &run.setup),
            None => Vec::new(),
        };
        let (entry, reading) = entry(run, &result, (measure, &mode, bound), setup);
        if let Some(reading) = reading.filter(|_| entry.tested) {
            readings.push(reading);
            places.push(entries.len());
        }
        entries.push(entry);
    }
    let older = readings.len().saturating_sub(NEWEST);
    readings.drain(..older);
    for place in places.drain(..older) {
        entries[place].tested = false;
        entries[place].reason = format!("not among the newest {NEWEST}, which are tested");
    }
    let changes = changes(&Past::from_readings(&readings, measure.wander(bound)));
    let levels = changes.segments.iter().map(|segment| HistoryLevel {
        first: places[segment.from],
        last: places[segment.to - 1],
        runs: segment.to - segment.from,
        level: in_unit(&segment.level, &unit),
        ratio: segment.ratio.map(|ratio| turned(&ratio, &unit)),
    });
    Some(History {
        levels: levels.collect(),
        error_rate: changes.error_rate,
        runs_differ: changes.runs_differ,
        detectable: changes.detectable,
        row,
        at,
        machine,
        measure,
        mode,
        unit: unit_name(&unit, Some(measure)),
        of: unit,
        runs: entries,
        older,
    })
}

impl History {
    /// Row, point and mode: `memory.latency at 16384`.
    pub fn name(&self) -> String {
        let key = Key { id: self.row.clone(), at: self.at.clone(), mode: self.mode.clone() };
        key.label()
    }

    /// How many runs have a figure that takes part in the test.
    pub fn tested(&self) -> usize {
        self.runs.iter().filter(|run| run.tested).count()
    }

    /// The level that begins with this run, if it is not the first.
    pub fn change_at(&self, place: usize) -> Option<&HistoryLevel> {
        let mut later = self.levels.iter().skip(1);
        later.find(|level| level.first == place)
    }
}

/// Quiet before typical, as in comparisons; cycles before ns where the core
/// sets the pace.
fn followed_measure(
    found: &[(KeptRun, KeptResult)],
    bound: Bound,
    wanted: FollowedFigure,
) -> Measure {
    let any = |has: fn(&KeptResult) -> bool| found.iter().any(|(_, result)| has(result));
    let cycles = match wanted {
        FollowedFigure::Best => bound == Bound::Core && any(|r| r.cycles.is_some()),
        FollowedFigure::Cycles => true,
        FollowedFigure::Ns => false,
    };
    match (cycles, any(|r| r.quiet)) {
        (true, _) => Measure::QuietCycles,
        (false, true) => Measure::QuietNs,
        (false, false) => Measure::TypicalNs,
    }
}

/// The mode that most typical figures are of, of several the newest one's.
fn usual_mode(found: &[(KeptRun, KeptResult)]) -> Option<String> {
    let typical = || {
        let results = found.iter().map(|(_, result)| result);
        results.filter(|r| !r.quiet && r.value_ns.is_some()).map(|r| &r.mode)
    };
    let mut runs: HashMap<&Option<String>, usize> = HashMap::new();
    typical().for_each(|mode| *runs.entry(mode).or_default() += 1);
    typical().max_by_key(|mode| runs.get(mode)).cloned().flatten()
}

/// One run with its figure, and the reading of it where it may be tested.
fn entry(
    run: KeptRun,
    result: &KeptResult,
    (measure, mode, bound): (Measure, &Option<String>, Bound),
    setup: Vec<Difference>,
) -> (HistoryEntry, Option<Reading>) {
    let own = match measure {
        Measure::QuietCycles => result.cycles,
        Measure::QuietNs => result.value_ns.filter(|_| result.quiet),
        Measure::TypicalNs => result.value_ns.filter(|_| !result.quiet && result.mode == *mode),
        // What is indexed of a distribution is its median.
        Measure::TypicalP10 => None,
    };
    let own = own.filter(|_| result.below_ns.is_none());
    let taken = |reading: &Reading| Past::takes(reading, measure.wander(bound));
    let reading = own.and_then(|own| Reading::from_interval(&own, WORKERS)).filter(taken);
    let single = matches!(
        result.verdict,
        Some(Verdict::Ok | Verdict::Noisy | Verdict::Biased | Verdict::CannotTell)
    );
    let why_not = match (own, reading, result.verdict) {
        (None, ..) if result.below_ns.is_some() => Some("below resolution".to_owned()),
        (None, ..) if result.verdict.is_none() => Some(format!("not measured: {}", result.reason)),
        // Its own reason says why.
        (None, _, Some(Verdict::Invalid)) => None,
        (None, ..) if measure == Measure::TypicalNs && !result.quiet => {
            let own = result.mode.as_deref().unwrap_or("none alone");
            Some(format!("its figure is of another mode ({own})"))
        }
        (None, ..) => Some(format!("no figure of this kind ({})", measure.label())),
        (_, None, _) => Some("no spread is known, or it is not above 0".to_owned()),
        _ => None,
    };
    let entry = HistoryEntry {
        run,
        figure: own.map(|own| in_unit(&own, &result.unit)),
        ns: result
            .value_ns
            .filter(|_| result.quiet && measure == Measure::QuietCycles)
            .filter(|_| result.below_ns.is_none()),
        verdict: result.verdict,
        tested: why_not.is_none() && single,
        reason: why_not.unwrap_or_else(|| result.reason.clone()),
        setup,
    };
    (entry, reading)
}

/// In what two setups differ. What one of them does not tell is a difference
/// only where the other does.
fn differences(before: &RunSetup, after: &RunSetup) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut say = |what, of: &dyn Fn(&RunSetup) -> Option<String>| {
        let (a, b) = (of(before), of(after));
        if a != b {
            let [a, b] = [a, b].map(|text| text.unwrap_or_else(|| "unknown".into()));
            all.push(Difference { what, a, b });
        }
    };
    say("kernel", &|s| s.kernel.clone());
    say("program", &|s| {
        let commit = s.commit.as_deref().map(|c| c.get(..10).unwrap_or(c));
        let commit = commit.unwrap_or("commit unknown");
        Some(format!("{} ({commit}, {})", s.version, s.profile))
    });
    say("governor", &|s| s.governor.clone());
    say("CPUs", &|s| s.cpus.map(|cpus| cpus.to_string()));
    say("controls", &|s| {
        let none = |text: &String| match text.is_empty() {
            true => "none".to_owned(),
            false => text.clone(),
        };
        s.controls.as_ref().map(none)
    });
    all
}
