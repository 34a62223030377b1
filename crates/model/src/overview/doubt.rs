//! Why figures of a run are uncertain, and what to do about it.

use crate::estimate::Verdict;
use crate::noise::osnoise::Osnoise;
use crate::run::Run;
use crate::share::percent;
use crate::tally::{Verdicts, tally};
use std::fmt::{self, Display};

/// A core clock that varied more than this may be why figures do.
const CLOCK_VARIED: f64 = 1.05;
/// A share of the CPU's time that is worth a word.
const LOST: f64 = 0.01;

/// What disturbed a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// Something shared the core for most of the run.
    Shared,
    /// A spinning thread lost this share of its time, in percent.
    Lost(f64),
    /// The core clock varied between these, GHz.
    Clock(f64, f64),
    /// The run is a small one: few samples.
    Short,
}

impl Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Cause::Shared => f.write_str("the core was shared"),
            Cause::Lost(share) => write!(f, "{} of CPU time was lost", percent(*share)),
            Cause::Clock(low, high) => write!(f, "clock {low:.1} to {high:.1} GHz"),
            Cause::Short => f.write_str("few samples"),
        }
    }
}

impl Cause {
    /// What to do about it, for steadier figures.
    pub fn remedy(self) -> &'static str {
        match self {
            Cause::Shared => "close other programs, or measure at a calmer time",
            Cause::Lost(_) => {
                "close other programs, or use real-time priority: sudo latlas --fifo (stops everything else on that CPU)"
            }
            Cause::Clock(..) => "keep the clock steady: latlas noise show lists how",
            Cause::Short => "measure longer: latlas --budget 60s",
        }
    }
}

/// How many results of a run are not ok, and why that is likely so.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// Results by verdict.
    pub rows: Verdicts,
    /// Likely causes, the most likely first.
    pub causes: Vec<Cause>,
}

impl Doubt {
    /// The doubt about the results of a run; none where all are ok.
    pub fn about_run(run: &Run) -> Option<Doubt> {
        let rows = tally(run).rows;
        (rows.uncertain().total() > 0).then(|| Doubt { rows, causes: causes(run) })
    }

    /// Whether it is about more than half of the results.
    pub fn is_of_most(&self) -> bool {
        2 * self.rows.ok < self.rows.total()
    }

    /// What to do for steadier results, if something can be done: two states and a bias
    /// stay on the calmest machine.
    pub fn remedy(&self) -> Option<&'static str> {
        let disturbed = self.rows.noisy + self.rows.cannot_tell + self.rows.invalid > 0;
        let cause = self.causes.first().copied().unwrap_or(Cause::Short);
        disturbed.then(|| cause.remedy())
    }
}

/// What is most likely to have disturbed a run, if anything is known.
pub fn cause_of(run: &Run) -> Option<Cause> {
    causes(run).into_iter().next()
}

/// What is known to have disturbed a run, the most likely first.
pub fn causes(run: &Run) -> Vec<Cause> {
    let mut causes = Vec::new();
    if run.is_contended() {
        causes.push(Cause::Shared);
    }
    let around = run.conditions.osnoise.as_ref();
    let moments = around.map(|around| [Some(&around.before), around.after.as_ref()]);
    let shares = moments.into_iter().flatten().flatten();
    let lost = shares.filter_map(Osnoise::lost_share).fold(0.0, f64::max);
    if lost >= LOST {
        causes.push(Cause::Lost(lost));
    }
    let clock = run.core_clock.as_ref();
    let varied = clock.filter(|clock| clock.longest_ns > clock.shortest_ns * CLOCK_VARIED);
    causes.extend(varied.map(|c| Cause::Clock(1.0 / c.longest_ns, 1.0 / c.shortest_ns)));
    let unknown =
        |row: &crate::run::Row| row.estimate().is_some_and(|e| e.verdict == Verdict::CannotTell);
    if causes.is_empty() && run.rows.iter().any(unknown) {
        causes.push(Cause::Short);
    }
    causes
}

impl Display for Doubt {
    /// `16 of 25 results ok, 9 noisy: 2 % of CPU time was lost.`
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.rows.fmt(f)?;
        for (at, cause) in self.causes.iter().enumerate() {
            write!(f, "{}{cause}", if at == 0 { ": " } else { ", " })?;
        }
        f.write_str(".")?;
        self.remedy().map_or(Ok(()), |remedy| write!(f, " For steadier results {remedy}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::GateState;
    use crate::run::Outcome;
    use crate::synthetic;

    #[test]
    fn causes_are_what_the_run_knows() {
        let mut run = synthetic::run();
        run.conditions.osnoise = None;
        run.gate.state = GateState::Usable;
        if let Some(clock) = &mut run.core_clock {
            (clock.shortest_ns, clock.longest_ns) = (0.25, 0.3125);
        }
        assert_eq!(causes(&run), [Cause::Clock(3.2, 4.0)]);
        run.gate.state = GateState::MostlyContended;
        assert_eq!(causes(&run), [Cause::Shared, Cause::Clock(3.2, 4.0)]);
        // An unknown core is no cause.
        run.gate.state = GateState::NeverQuiet;
        run.gate.quiet_ratio = None;
        assert_eq!(causes(&run), [Cause::Clock(3.2, 4.0)]);
        run.core_clock = None;
        run.gate.state = GateState::Usable;
        assert_eq!(causes(&run), [Cause::Short]);
        let doubt = Doubt::about_run(&run).expect("rows of each verdict");
        assert_eq!(doubt.rows, tally(&run).rows);
        assert_eq!(
            doubt.to_string(),
            format!(
                "{}: few samples. For steadier results measure longer: latlas --budget 60s.",
                tally(&run).rows
            )
        );
    }

    #[test]
    fn what_no_calm_machine_mends_has_no_remedy() {
        let mut run = synthetic::run();
        run.rows.retain(|row| {
            row.estimate().is_some_and(|e| matches!(e.verdict, Verdict::Ok | Verdict::TwoStates))
        });
        assert_eq!(Doubt::about_run(&run).and_then(|d| d.remedy()), None);
        let mut outcomes = run.rows.iter_mut().map(|row| &mut row.outcome);
        let figure = outcomes.find_map(|outcome| match outcome {
            Outcome::Figure(estimate) => Some(estimate),
            _ => None,
        });
        figure.expect("a figure").verdict = Verdict::Biased;
        assert_eq!(Doubt::about_run(&run).and_then(|d| d.remedy()), None);
        run.rows.retain(|row| row.estimate().is_some_and(|e| e.verdict == Verdict::Ok));
        assert_eq!(Doubt::about_run(&run), None);
    }

    #[test]
    fn a_doubt_is_of_most_where_less_than_half_holds() {
        let of = |ok, noisy| Doubt {
            rows: Verdicts { ok, noisy, ..Verdicts::default() },
            causes: Vec::new(),
        };
        assert!(of(4, 5).is_of_most());
        assert!(!of(5, 5).is_of_most());
    }
}
