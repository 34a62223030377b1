//! What is known of a planned cell while it is measured, and what its failed
//! and contradicted visits say of it.

use crate::crew::WorkerLoss;
use model::estimate::{self, Estimate, Verdict};
use model::sample::Sample;
use std::collections::BTreeSet;

/// Visits that must fail, with nothing measured yet, before a cell is given
/// up: a single one may have met a passing want.
const FAILURES: u32 = 2;

/// Workers that a cell may cost: a row that kills its workers must not kill
/// them all.
const DEATHS: u32 = 2;

/// What is known of a planned cell.
#[derive(Clone, Debug, Default)]
pub struct Found {
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
    /// The work's remarks, and ours.
    pub notes: BTreeSet<String>,
    /// Visits that were made.
    pub visits: u32,
    /// Visits that could not be made, and why the last of them.
    pub failed: (u32, String),
    /// Workers that were lost while they visited it.
    pub deaths: u32,
    /// Visits that the kernel's counts contradict, and how the last of them.
    pub contradicted: (u32, String),
    /// Whether nothing more is asked of it: it can't be measured here.
    pub given_up: bool,
}

impl Found {
    /// Of a cell that no visit is made to.
    pub fn refused(why: &str) -> Found {
        Found {
            failed: (FAILURES, why.to_string()),
            given_up: true,
            ..Found::default()
        }
    }

    /// A visit that could not be made.
    pub fn fail(&mut self, reason: &str) {
        self.failed = (self.failed.0 + 1, reason.to_string());
        self.given_up |= self.samples.is_empty() && self.failed.0 >= FAILURES;
    }

    /// A worker was lost during a visit.
    pub fn lose_worker(&mut self, how: &WorkerLoss) {
        self.notes.insert(format!(
            "{how} while measuring this row; what it had sent is kept"
        ));
        self.fail(&format!("measuring it failed: {how}"));
        self.deaths += 1;
        self.given_up |= self.deaths >= DEATHS;
    }

    /// A visit that the kernel's counts contradict.
    pub fn contradict(&mut self, how: &str) {
        self.contradicted = (self.contradicted.0 + 1, how.to_string());
    }

    /// Why it could not be measured, if it could not.
    pub fn unavailable(&self) -> Option<&str> {
        (self.samples.is_empty() && self.failed.0 > 0).then_some(self.failed.1.as_str())
    }

    /// An estimate of it in the light of its visits: invalid where half of
    /// them failed, and with the kernel's own figures where those contradict
    /// the method.
    pub fn judged(&self, mut estimate: Estimate) -> Estimate {
        let asked = self.visits + self.failed.0;
        if !self.samples.is_empty() && self.failed.0 * 2 >= asked.max(1) {
            estimate.verdict = Verdict::Invalid;
            estimate.reason = self.failures();
        } else if estimate.reason == estimate::CONTRADICTED && self.contradicted.0 > 0 {
            estimate.reason.clone_from(&self.contradicted.1);
        }
        estimate
    }

    /// Remarks on visits that went wrong in a cell that was measured all the
    /// same.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.samples.is_empty() {
            return remarks;
        }
        if self.failed.0 > 0 {
            remarks.push(self.failures());
        }
        if self.contradicted.0 > 0 {
            remarks.push(format!(
                "{} of {} visits contradict the method: {}",
                self.contradicted.0, self.visits, self.contradicted.1
            ));
        }
        remarks
    }

    fn failures(&self) -> String {
        format!(
            "{} of {} visits failed: {}",
            self.failed.0,
            self.visits + self.failed.0,
            self.failed.1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::sample::Evidence;

    fn measured(visits: u32) -> Found {
        Found {
            samples: vec![Sample {
                worker: 0,
                at_ms: 0,
                turns: 1,
                first_ticks: 1,
                second_ticks: None,
                evidence: Evidence::default(),
            }],
            visits,
            ..Found::default()
        }
    }

    fn ok() -> Estimate {
        Estimate {
            quiet: None,
            typical: None,
            tail: None,
            modes: Vec::new(),
            quiet_share: None,
            below_ns: None,
            verdict: Verdict::Ok,
            reason: String::new(),
        }
    }

    #[test]
    fn one_failure_is_not_the_end_and_two_with_nothing_measured_are() {
        let mut found = Found::default();
        found.fail("no memory");
        assert!(!found.given_up);
        assert_eq!(found.unavailable(), Some("no memory"));
        found.fail("no memory");
        assert!(found.given_up);
        let mut found = measured(1);
        found.fail("a member was killed");
        found.fail("a member was killed");
        assert!(!found.given_up);
        assert_eq!(found.unavailable(), None);
    }

    #[test]
    fn two_lost_workers_are_the_end_of_a_cell_however_they_were_lost() {
        let mut found = measured(9);
        let after = std::time::Duration::from_secs(60);
        found.lose_worker(&WorkerLoss::TimedOut { worker: 3, after });
        assert!(!found.given_up);
        assert!(
            found
                .notes
                .first()
                .is_some_and(|note| note
                    .starts_with("worker 3 timed out after 60 s while measuring this row")),
            "{:?}",
            found.notes
        );
        let how = "signal: 9 (SIGKILL)".into();
        found.lose_worker(&WorkerLoss::Ended { worker: 4, how });
        assert!(found.given_up);
    }

    #[test]
    fn a_row_of_which_half_the_visits_failed_is_invalid() {
        let mut found = measured(3);
        found.fail("x");
        assert_eq!(found.judged(ok()).verdict, Verdict::Ok);
        assert_eq!(found.remarks(), ["1 of 4 visits failed: x"]);
        found.fail("x");
        found.fail("y");
        let judged = found.judged(ok());
        assert_eq!(judged.verdict, Verdict::Invalid);
        assert_eq!(judged.reason, "3 of 6 visits failed: y");
    }

    #[test]
    fn an_invalid_row_says_what_the_kernel_counted() {
        let mut found = measured(4);
        found.contradict("0.3 sleeps a round trip where the method assumes 2");
        assert_eq!(found.judged(ok()).verdict, Verdict::Ok);
        assert_eq!(
            found.remarks(),
            [
                "1 of 4 visits contradict the method: 0.3 sleeps a round trip where the method assumes 2"
            ]
        );
        let invalid = Estimate {
            verdict: Verdict::Invalid,
            reason: estimate::CONTRADICTED.into(),
            ..ok()
        };
        assert!(found.judged(invalid).reason.starts_with("0.3 sleeps"));
    }
}
