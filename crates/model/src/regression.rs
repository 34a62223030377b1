//! Which time of a command in two builds is judged, and what is said of it.

use crate::compare::finding::Verdict;
use crate::interleaved::interleaved_ratio;
use crate::sequential::watched_ratio;
use crate::stats::{self, Interval};
use serde::Serialize;

/// From this share of its shortest run on that a command uses the CPU, its CPU time is what it costs.
const CPU_BOUND: f64 = 0.8;

/// Wall time is disturbed where its interval is so many times as wide as that of CPU time.
const DISTURBED: f64 = 2.0;

/// A time of a command.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum JudgedTime {
    /// From its start to its end.
    Wall,
    /// CPU time of all its threads and descendants.
    TaskClock,
}

/// How the intervals of two builds' ratios are made.
#[derive(Clone, Copy, Debug)]
pub struct RatioIntervals {
    /// Ratios that are judged together.
    pub together: usize,
    /// Whether the rounds were looked at after each one, to end them.
    pub watched: bool,
}

impl RatioIntervals {
    /// The interval of a ratio, head over base.
    pub fn ratio(&self, [base, head]: [&[f64]; 2]) -> Option<Interval> {
        match self.watched {
            true => watched_ratio(base, head, self.together),
            false => interleaved_ratio(base, head, self.together),
        }
    }
}

/// The time that is judged, and whether it grew by more than `above`. Wall time, unless that can't be judged, is
/// disturbed, and the command keeps a CPU busy. Both intervals hold together, so that choosing among them costs
/// nothing.
pub fn judged_time(
    wall: [&[f64]; 2],
    task_clock: Option<[&[f64]; 2]>,
    how: RatioIntervals,
    above: f64,
) -> (JudgedTime, Verdict) {
    let verdict = |ratio: Option<&Interval>| Verdict::of_range(ratio, 0.0..=1.0 + above);
    let of_wall = how.ratio(wall);
    let by_wall = (JudgedTime::Wall, verdict(of_wall.as_ref()));
    let of_cpu = task_clock.filter(|cpu| is_cpu_bound(wall, *cpu)).and_then(|cpu| how.ratio(cpu));
    match (of_wall, of_cpu) {
        (Some(wall), Some(cpu)) if by_wall.1 == Verdict::CannotTell => {
            match wall.relative_half_width() > DISTURBED * cpu.relative_half_width() {
                true => (JudgedTime::TaskClock, verdict(Some(&cpu))),
                false => by_wall,
            }
        }
        _ => by_wall,
    }
}

/// Both builds: a head that began to wait is not judged by its CPU time.
fn is_cpu_bound(wall: [&[f64]; 2], task_clock: [&[f64]; 2]) -> bool {
    wall.iter().zip(task_clock).all(|(wall, cpu)| {
        let shortest = wall.iter().copied().fold(f64::INFINITY, f64::min);
        stats::median(cpu.iter().copied()).is_some_and(|cpu| cpu >= CPU_BOUND * shortest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: RatioIntervals = RatioIntervals { together: 2, watched: true };

    /// Runs of two builds: wall times spread by `spread`, CPU times hardly.
    fn runs(spread: f64, cpu_ratio: f64, busy: f64) -> ([Vec<f64>; 2], [Vec<f64>; 2]) {
        let wall = |shift: usize| -> Vec<f64> {
            (0..40).map(|k| 100.0 * (1.0 + spread * ((k * 7 + shift) % 40) as f64 / 40.0)).collect()
        };
        let cpu = |ratio: f64| -> Vec<f64> {
            (0..40).map(|k| busy * ratio * (1.0 + f64::from(k % 3) * 0.001)).collect()
        };
        ([wall(0), wall(11)], [cpu(1.0), cpu(cpu_ratio)])
    }

    fn judged(spread: f64, cpu_ratio: f64, busy: f64) -> (JudgedTime, Verdict) {
        let (wall, cpu) = runs(spread, cpu_ratio, busy);
        judged_time([&wall[0], &wall[1]], Some([&cpu[0], &cpu[1]]), ALONE, 0.05)
    }

    #[test]
    fn wall_time_is_judged_where_it_can_be() {
        assert_eq!(judged(0.01, 1.2, 99.0), (JudgedTime::Wall, Verdict::SameWithinNoise));
    }

    #[test]
    fn cpu_time_is_judged_where_wall_time_is_disturbed() {
        assert_eq!(judged(1.0, 1.0, 99.0), (JudgedTime::TaskClock, Verdict::SameWithinNoise));
        assert_eq!(judged(1.0, 1.2, 99.0), (JudgedTime::TaskClock, Verdict::Different));
    }

    #[test]
    fn a_command_that_waits_is_judged_by_wall_time() {
        assert_eq!(judged(1.0, 1.2, 20.0), (JudgedTime::Wall, Verdict::CannotTell));
        let (wall, _) = runs(1.0, 1.0, 0.0);
        let of_wall = judged_time([&wall[0], &wall[1]], None, ALONE, 0.05);
        assert_eq!(of_wall, (JudgedTime::Wall, Verdict::CannotTell));
    }
}
