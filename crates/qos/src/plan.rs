//! Which cases are measured, and how long that takes.

use model::qos::{Case, Level};
use std::time::Duration;

/// A kind of cases, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseKind {
    /// Each level alone.
    Alone,
    /// Each pair of a higher and a lower level.
    Pairs,
    /// Two jobs of the lowest level.
    Lowest,
    /// Two jobs of the highest level.
    Highest,
    /// Fewer operations at once.
    Operations,
}

impl CaseKind {
    pub const ALL: [CaseKind; 5] = [
        CaseKind::Alone,
        CaseKind::Pairs,
        CaseKind::Lowest,
        CaseKind::Highest,
        CaseKind::Operations,
    ];
}

/// How long a job runs alone, at least: shorter ones have unsteady shares.
pub const LEAST_JOB: Duration = Duration::from_millis(1000);
/// How long the one level of `--full` runs: macOS may move a thread to other
/// cores after four minutes.
pub const FULL_SECONDS: u32 = 300;
/// Rounds when none are given: as many as four comparisons with the default level
/// need, each at its part of the 5 %.
pub const ROUNDS: u32 = 8;

/// The cases of these levels, in the order in which they are shown.
pub fn cases(kinds: &[CaseKind], levels: &[Level], operations: u32, full: bool) -> Vec<Case> {
    let mut levels = levels.to_vec();
    levels.sort_unstable();
    levels.dedup();
    let has = |kind| kinds.contains(&kind);
    let mut cases = Vec::new();
    // The others are compared with these.
    if kinds.iter().any(|kind| *kind != CaseKind::Operations) {
        cases.extend(levels.iter().map(|&level| Case::Alone { level }));
    }
    if has(CaseKind::Pairs) {
        for (place, &low) in levels.iter().enumerate() {
            let higher = levels[place + 1..].iter();
            cases.extend(higher.map(|&high| Case::Pair { high, low }));
        }
    }
    let lowest = levels.first().filter(|_| has(CaseKind::Lowest));
    let highest = levels.last().filter(|_| has(CaseKind::Highest));
    for &level in lowest.into_iter().chain(highest.filter(|level| Some(*level) != lowest)) {
        cases.push(Case::Same { level });
    }
    let usual = match levels.contains(&Level::DEFAULT) {
        true => Some(Level::DEFAULT),
        false => levels.last().copied(),
    };
    let Some(level) = usual else {
        return cases;
    };
    if has(CaseKind::Operations) {
        let fewer = (0..).map(|power| 1_u32 << power);
        let fewer = fewer.take_while(|&fewer| fewer < operations);
        cases.extend(fewer.map(|operations| Case::Operations { level, operations }));
    }
    if full {
        let seconds = FULL_SECONDS;
        cases.push(Case::Long { level, seconds });
    }
    cases
}

/// How often a job compresses the file, which takes this long once.
pub fn passes(once: Duration) -> u32 {
    let once = once.as_secs_f64().max(1e-6);
    (LEAST_JOB.as_secs_f64() / once).ceil().clamp(1.0, 1e6) as u32
}

/// What all rounds take, where a job alone takes this long: two jobs take twice as
/// long, whatever their shares.
pub fn takes(cases: &[Case], rounds: u32, job: Duration) -> Duration {
    let each = cases.iter().map(|case| match case {
        Case::Alone { .. } | Case::Operations { .. } => job * rounds,
        Case::Pair { .. } | Case::Same { .. } => job * 2 * rounds,
        Case::Long { seconds, .. } => Duration::from_secs(u64::from(*seconds)),
    });
    each.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cases_of_all_levels() {
        let all = cases(&CaseKind::ALL, &Level::ALL, 4, true);
        let count = |of: fn(&Case) -> bool| all.iter().filter(|case| of(case)).count();
        assert_eq!(count(|case| matches!(case, Case::Alone { .. })), 5);
        assert_eq!(count(|case| matches!(case, Case::Pair { .. })), 10);
        assert_eq!(count(|case| matches!(case, Case::Operations { .. })), 2);
        let same = all.iter().filter(|case| matches!(case, Case::Same { .. }));
        let same: Vec<Case> = same.copied().collect();
        let [lowest, highest] = [Level::BACKGROUND, Level::USER_INTERACTIVE];
        assert_eq!(same, [lowest, highest].map(|level| Case::Same { level }));
        assert_eq!(all.len(), 5 + 10 + 2 + 2 + 1);
        for case in &all {
            if let Case::Pair { high, low } = case {
                assert!(high > low);
            }
        }
        let job = Duration::from_secs(2);
        let short = cases(&CaseKind::ALL, &Level::ALL, 1, false);
        assert_eq!(takes(&short, 3, job), job * 3 * (5 + 20 + 4));
        let long = takes(&all, 3, job) - takes(&short, 3, job);
        assert_eq!(long, Duration::from_secs(300) + job * 3 * 2);
    }

    #[test]
    fn what_others_are_compared_with_is_measured_too() {
        let two = [Level::DEFAULT, Level::BACKGROUND];
        let names: Vec<String> =
            cases(&[CaseKind::Pairs], &two, 2, false).into_iter().map(Case::label).collect();
        assert_eq!(names, ["background alone", "default alone", "default + background"]);
        let one = cases(&[CaseKind::Operations], &[Level::UTILITY], 3, false);
        let names: Vec<String> = one.into_iter().map(Case::label).collect();
        assert_eq!(names, ["utility, 1 operation", "utility, 2 operations"]);
        let one = cases(&[CaseKind::Lowest, CaseKind::Highest], &[Level::UTILITY], 3, false);
        let names: Vec<String> = one.into_iter().map(Case::label).collect();
        assert_eq!(names, ["utility alone", "two utility"]);
        assert_eq!(cases(&CaseKind::ALL, &[], 2, true), []);
    }

    #[test]
    fn passes_fill_the_least_time() {
        assert_eq!(passes(Duration::from_secs(3)), 1);
        assert_eq!(passes(Duration::from_millis(400)), 3);
        assert_eq!(passes(Duration::ZERO), 1_000_000);
    }
}
