//! Why figures of a run are uncertain, and what to do about it.

use super::Line;
use crate::estimate::Verdict;
use crate::noise::osnoise::Osnoise;
use crate::run::Run;
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
            Cause::Shared => f.write_str("something shared the core"),
            Cause::Lost(percent) => write!(f, "{percent:.0} % of CPU time was lost"),
            Cause::Clock(low, high) => write!(f, "the clock moved {low:.1} to {high:.1} GHz"),
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
                "close other programs, or give latlas priority: sudo latlas run --fifo"
            }
            Cause::Clock(..) => "keep the clock steady: latlas noise show lists how",
            Cause::Short => "measure longer: latlas --budget 60s",
        }
    }
}

/// How many lines are uncertain, and why that is likely so.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// Lines that are not to be relied on.
    pub uncertain: usize,
    /// Lines with a figure.
    pub of: usize,
    /// Likely causes, the most likely first.
    pub causes: Vec<Cause>,
}

impl Doubt {
    /// The doubt about the lines of a run; none where all hold.
    pub fn of(run: &Run, lines: &[Line]) -> Option<Doubt> {
        let uncertain = lines.iter().filter(|line| line.is_uncertain()).count();
        let figures = lines.iter().filter(|line| line.verdict.is_some()).count();
        (uncertain > 0).then(|| Doubt {
            uncertain,
            of: figures,
            causes: causes(run),
        })
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
        causes.push(Cause::Lost(lost * 100.0));
    }
    let clock = run.core_clock.as_ref();
    let varied = clock.filter(|clock| clock.longest_ns > clock.shortest_ns * CLOCK_VARIED);
    causes.extend(varied.map(|c| Cause::Clock(1.0 / c.longest_ns, 1.0 / c.shortest_ns)));
    let unknown = |row: &crate::run::Row| {
        row.estimate()
            .is_some_and(|e| e.verdict == Verdict::CannotTell)
    };
    if causes.is_empty() && run.rows.iter().any(unknown) {
        causes.push(Cause::Short);
    }
    causes
}

impl Display for Doubt {
    /// `uncertain (9 of 25): 2 % of CPU time was lost.`
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "uncertain ({} of {})", self.uncertain, self.of)?;
        for (at, cause) in self.causes.iter().enumerate() {
            write!(f, "{}{cause}", if at == 0 { ": " } else { ", " })?;
        }
        f.write_str(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::GateState;
    use crate::overview::lines;
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
        let lines = lines(&run);
        let doubt = Doubt::of(&run, &lines).expect("two modes");
        assert!(
            doubt.uncertain >= 2 && doubt.uncertain < doubt.of,
            "{doubt}"
        );
        let sure: Vec<Line> = lines
            .iter()
            .filter(|line| !line.is_uncertain())
            .cloned()
            .collect();
        assert_eq!(Doubt::of(&run, &sure), None);
    }
}
