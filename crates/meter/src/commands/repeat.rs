//! What runs next, and when it is enough.

use model::command::{Ended, Rule};
use model::{interleaved, repeats};
use sys::command::Usage;

/// The rule when nothing else is asked for, for each command: at least ten
/// runs and three seconds, until the median is known to 2 %, for a minute at
/// most (but for the ten runs).
pub const ADAPTIVE: Rule = Rule {
    runs: None,
    least_runs: 10,
    least_ms: 3_000,
    half_width: 0.02,
    most_ms: 60_000,
    most_runs: 10_000,
};

/// Intervals are looked at again when there are a tenth more rounds: a rule that
/// looks after each will once find them narrow by luck.
const LOOK_AGAIN: f64 = 1.1;

/// Runs commands. Real in a run, scripted in tests.
pub trait Runner {
    /// Why a command can't be run or must not go on.
    type Error;

    /// Runs a command once for nothing but its effects.
    fn warm_up(&mut self, command: usize) -> Result<Done<()>, Self::Error>;

    /// Runs a command once, and accounts for it.
    fn timed(&mut self, command: usize) -> Result<Done<Usage>, Self::Error>;

    /// Time since the beginning, ms.
    fn elapsed_ms(&self) -> u64;
}

/// What came of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Done<T> {
    /// It ended by itself.
    Ended(T),
    /// The caller wants no more: it was interrupted and is not to count.
    Interrupted,
}

/// One timed run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// When it began, ms since the beginning.
    pub at_ms: u64,
    /// What it cost.
    pub usage: Usage,
}

/// All runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeated {
    /// The timed runs of each command, in order: the n-th of each is of the
    /// n-th round.
    pub runs: Vec<Vec<Timed>>,
    /// Why there are no more; `None` if it was interrupted.
    pub ended: Option<Ended>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Timed runs of each command.
    pub runs: &'a [Vec<Timed>],
    /// Time since the first timed run, ms.
    pub measuring_ms: u64,
}

/// Warms each command up, then runs all of them in rounds until the rule is
/// content: in a random order, and in the next round the other way round, so
/// that none always comes first and a steady drift cancels.
///
/// # Errors
/// The first one of the runner.
pub fn repeat<R: Runner>(
    runner: &mut R,
    commands: usize,
    warmups: u32,
    rule: &Rule,
    seed: u64,
    mut watch: impl FnMut(&Progress),
) -> Result<Repeated, R::Error> {
    let mut all = Repeated { runs: vec![Vec::new(); commands], ended: Some(Ended::Interrupted) };
    for command in (0..commands).flat_map(|c| (0..warmups).map(move |_| c)) {
        if runner.warm_up(command)? == Done::Interrupted {
            return Ok(all);
        }
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let mut order: Vec<usize> = (0..commands).collect();
    let first_ms = runner.elapsed_ms();
    let mut look_at = 1;
    for round in 1_usize.. {
        match round % 2 {
            1 => random.shuffle(&mut order),
            _ => order.reverse(),
        }
        for &command in &order {
            let at_ms = runner.elapsed_ms();
            match runner.timed(command)? {
                Done::Ended(usage) => all.runs[command].push(Timed { at_ms, usage }),
                Done::Interrupted => return Ok(all),
            }
        }
        let measuring_ms = runner.elapsed_ms().saturating_sub(first_ms);
        watch(&Progress { runs: &all.runs, measuring_ms });
        let ended = enough(rule, &all.runs, round, measuring_ms, &mut look_at);
        if ended.is_some() {
            all.ended = ended;
            return Ok(all);
        }
    }
    Ok(all)
}

fn enough(
    rule: &Rule,
    runs: &[Vec<Timed>],
    rounds: usize,
    measuring_ms: u64,
    look_at: &mut usize,
) -> Option<Ended> {
    if let Some(asked) = rule.runs {
        return (rounds >= asked as usize).then_some(Ended::AsAsked);
    }
    let commands = runs.len() as u64;
    if rounds < rule.least_runs as usize {
        return None;
    }
    // The limits before the look: they cost nothing.
    if measuring_ms >= rule.most_ms * commands || rounds >= rule.most_runs as usize {
        return Some(Ended::AtTheLimit);
    }
    if measuring_ms < rule.least_ms * commands || rounds < *look_at {
        return None;
    }
    *look_at = (rounds as f64 * LOOK_AGAIN).ceil() as usize;
    let walls: Vec<Vec<f64>> = runs.iter().map(|r| walls_ns(r)).collect();
    let known = walls.iter().all(|w| repeats::relative_half_width(w) <= rule.half_width);
    let compared = walls[1..].iter().all(|w| {
        interleaved::ratio(&walls[0], w, walls.len() - 1)
            .is_some_and(|r| r.relative_half_width() <= rule.half_width)
    });
    (known && compared).then_some(Ended::Narrow)
}

/// Wall times of runs, ns.
pub fn walls_ns(runs: &[Timed]) -> Vec<f64> {
    runs.iter().map(|run| run.usage.wall_ns as f64).collect()
}
