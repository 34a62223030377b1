//! What is known of a planned cell while it is measured, and what its failed
//! and contradicted visits say of it.

use crate::disk_room::NoRoom;
use model::estimate::Estimate;
use model::sample::Sample;
use std::collections::BTreeSet;
use std::time::Duration;
use sys::role::{Loss, Lost};

/// Visits that must fail, with nothing measured yet, before a cell is given
/// up: a single one may have met a passing want.
const FAILURES: u32 = 2;

/// Workers that a cell may cost: a row that kills its workers must not kill
/// them all.
const DEATHS: usize = 2;

/// Why a visit to a cell could not be made. Its text is a row's reason.
#[derive(thiserror::Error, Clone, Debug)]
pub enum VisitFailure {
    /// The plan makes none.
    #[error(transparent)]
    Refused(#[from] NoRoom),
    /// The worker's word: there is no work, or its samples are not what the row
    /// says.
    #[error("{0}")]
    Work(String),
    /// The worker was lost.
    #[error("measuring it failed: {0}")]
    WorkerLost(Lost),
    /// It is a pack's, and cost its worker.
    #[error(transparent)]
    Pack(#[from] PackFailure),
    /// A document has no samples of it.
    #[error("not in the document")]
    NotStored,
}

/// How a probe of a pack cost its worker. Its text is the row's reason.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
pub enum PackFailure {
    /// The process ended.
    #[error("its pack ended the process that measured it ({0})")]
    Ended(String),
    /// It did not return.
    #[error("its pack did not return within {} s", .0.as_secs())]
    Hangs(Duration),
    /// Anything else, in the worker's words.
    #[error("the process that measured it was lost: {0}")]
    Other(String),
}

impl From<&Lost> for PackFailure {
    fn from(loss: &Lost) -> PackFailure {
        match &loss.how {
            Loss::Ended(how) => PackFailure::Ended(how.clone()),
            Loss::TimedOut(after) => PackFailure::Hangs(*after),
            _ => PackFailure::Other(loss.to_string()),
        }
    }
}

/// What is known of a planned cell.
#[derive(Clone, Debug, Default)]
pub struct CellState {
    /// Its samples, of all workers.
    pub samples: Vec<Sample>,
    /// Operations in a turn, as the work said.
    pub ops_per_turn: f64,
    /// Names of the modes its operations ran in.
    pub modes: Vec<String>,
    /// Whether its U and 2U loops hold the same body.
    pub loops_alike: bool,
    /// What the visits took, ns.
    pub wall_ns: u64,
    /// The work's remarks.
    pub notes: BTreeSet<String>,
    /// Visits that were made.
    pub visits: u32,
    /// Visits that could not be made.
    pub failures: u32,
    /// Why the last of them could not.
    pub failure: Option<VisitFailure>,
    /// Workers that were lost while they visited it.
    pub lost: Vec<Lost>,
    /// Visits that the kernel's counts contradict.
    pub contradicted: u32,
    /// How they contradict the last of them.
    pub contradiction: Option<String>,
    /// Whether no more visits are made to it: it can't be measured here.
    pub given_up: bool,
}

impl CellState {
    /// Of a cell that no visit is made to.
    pub fn without_visits(why: VisitFailure) -> CellState {
        CellState { failures: FAILURES, failure: Some(why), given_up: true, ..CellState::default() }
    }

    /// A visit that could not be made.
    pub fn fail(&mut self, why: VisitFailure) {
        self.failures += 1;
        self.failure = Some(why);
        self.given_up |= self.samples.is_empty() && self.failures >= FAILURES;
    }

    /// A worker was lost during a visit.
    pub fn lose_worker(&mut self, loss: &Lost) {
        self.fail(VisitFailure::WorkerLost(loss.clone()));
        self.lost.push(loss.clone());
        self.given_up |= self.lost.len() >= DEATHS;
    }

    /// A probe of a pack cost its worker: what it measured before is not to be relied on either.
    pub fn lose_pack(&mut self, loss: &Lost) {
        self.samples.clear();
        self.fail(PackFailure::from(loss).into());
        self.given_up = true;
    }

    /// A visit that the kernel's counts contradict.
    pub fn contradict(&mut self, how: &str) {
        self.contradicted += 1;
        self.contradiction = Some(how.to_string());
    }

    /// Why it could not be measured, if it could not.
    pub fn unavailable(&self) -> Option<&VisitFailure> {
        self.failure.as_ref().filter(|_| self.samples.is_empty())
    }

    /// An estimate of it, invalid where half of its visits failed.
    pub fn judged(&self, mut estimate: Estimate) -> Estimate {
        let visits = self.visits + self.failures;
        if !self.samples.is_empty() && self.failures * 2 >= visits.max(1) {
            estimate.invalidate(self.failed_visits().unwrap_or_default());
        }
        estimate
    }

    /// Notes of the row: those of its work, and on what went wrong in a cell
    /// that was measured all the same.
    pub fn row_notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.notes.iter().cloned().collect();
        notes.extend(self.lost.iter().map(|loss| {
            format!("{loss} while measuring this row; the samples it had sent are kept")
        }));
        if self.samples.is_empty() {
            return notes;
        }
        notes.extend(self.failed_visits());
        notes.extend(self.contradiction.as_ref().map(|how| {
            format!("{} of {} batches contradict the method: {how}", self.contradicted, self.visits)
        }));
        notes
    }

    fn failed_visits(&self) -> Option<String> {
        let why = self.failure.as_ref()?;
        let visits = self.visits + self.failures;
        Some(format!("{} of {visits} batches failed: {why}", self.failures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker_pool::lost;
    use model::estimate::Verdict;
    use model::sample::Evidence;

    fn work(reason: &str) -> VisitFailure {
        VisitFailure::Work(reason.into())
    }

    fn cell_with_visits(visits: u32) -> CellState {
        CellState {
            samples: vec![Sample {
                worker: 0,
                at_ms: 0,
                turns: 1,
                first_ticks: 1,
                second_ticks: None,
                evidence: Evidence::default(),
            }],
            visits,
            ..CellState::default()
        }
    }

    fn ok() -> Estimate {
        Estimate::bare(None, Verdict::Ok)
    }

    #[test]
    fn one_failure_is_not_the_end_and_two_with_nothing_measured_are() {
        let mut state = CellState::default();
        state.fail(work("no memory"));
        assert!(!state.given_up);
        assert!(matches!(state.unavailable(), Some(VisitFailure::Work(why)) if why == "no memory"));
        state.fail(work("no memory"));
        assert!(state.given_up);
        let mut state = cell_with_visits(1);
        state.fail(work("a member was killed"));
        state.fail(work("a member was killed"));
        assert!(!state.given_up);
        assert!(state.unavailable().is_none());
    }

    #[test]
    fn two_lost_workers_are_the_end_of_a_cell_however_they_were_lost() {
        let mut state = cell_with_visits(9);
        let after = std::time::Duration::from_secs(60);
        state.lose_worker(&lost(3, Loss::TimedOut(after)));
        assert!(!state.given_up);
        assert_eq!(
            state.row_notes()[0],
            "worker 3 timed out after 60 s while measuring this row; the samples it had sent are kept"
        );
        let how = "signal: 9 (SIGKILL)".into();
        state.lose_worker(&lost(4, Loss::Ended(how)));
        assert!(state.given_up);
    }

    #[test]
    fn a_row_of_which_half_the_visits_failed_is_invalid() {
        let mut state = cell_with_visits(3);
        state.fail(work("x"));
        assert_eq!(state.judged(ok()).verdict, Verdict::Ok);
        assert_eq!(state.row_notes(), ["1 of 4 batches failed: x"]);
        state.fail(work("x"));
        state.fail(work("y"));
        let judged = state.judged(ok());
        assert_eq!(judged.verdict, Verdict::Invalid);
        assert_eq!(judged.reason, "3 of 6 batches failed: y");
    }

    #[test]
    fn a_row_says_what_the_kernel_counted_against_its_method() {
        let mut state = cell_with_visits(4);
        state.contradict("0.3 sleeps a round trip where the method assumes 2");
        assert_eq!(state.judged(ok()).verdict, Verdict::Ok);
        assert_eq!(
            state.row_notes(),
            [
                "1 of 4 batches contradict the method: 0.3 sleeps a round trip where the method assumes 2"
            ]
        );
    }
}
