//! What runs next, and when it is enough.

use model::command::{Ended, Rule};
use model::compare::finding::Verdict;
use model::regression::{RatioIntervals, judged_time};
use model::repeats;
use model::sequential::{Question, is_decided, watched_ratio};
use std::time::Duration;
use sys::command::Usage;
use sys::counters::CounterEvent;

/// The rule of one command when nothing else is asked for: ten runs or three
/// seconds, whichever is longer (hyperfine's).
pub const ALONE: Rule = Rule {
    runs: None,
    least_runs: 10,
    least_ms: 3_000,
    half_width: None,
    question: None,
    most_ms: 60_000,
    most_runs: 10_000,
};

/// For each of several commands: until it is known which is faster.
pub const COMPARED: Rule = Rule {
    least_ms: 1_500,
    question: Some(Question::Faster { within: 0.02 }),
    most_ms: 7_500,
    ..ALONE
};

/// What `--precise` adds, for each command: until the median is known to 2 %
/// (and each ratio), for a minute at most (but for the ten runs).
pub const PRECISE: Rule = Rule { half_width: Some(0.02), ..ALONE };

/// Intervals are looked at again when there are a tenth more rounds: a rule that
/// looks after each will once find them narrow by luck.
const LOOK_AGAIN: f64 = 1.1;
/// Where a question is asked, whose intervals hold at every look: more looks
/// would cost more than they save.
const ASK_AGAIN: f64 = 1.05;

/// Of one command alone a first run that takes so long counts, unless warm-ups are asked for: left out, it would add
/// more than 3 % to the three seconds.
pub const FIRST_RUN_COUNTS: Duration = Duration::from_millis(100);

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
pub struct RepeatProgress<'a> {
    /// Timed runs of each command.
    pub runs: &'a [Vec<Timed>],
    /// Time that the rule counts, ms.
    pub measuring_ms: u64,
}

/// Warms each command up.
///
/// # Errors
/// The first one of the runner.
pub fn warm_up<R: Runner>(
    runner: &mut R,
    commands: usize,
    warmups: u32,
) -> Result<Done<()>, R::Error> {
    for command in (0..commands).flat_map(|c| (0..warmups).map(move |_| c)) {
        if runner.warm_up(command)? == Done::Interrupted {
            return Ok(Done::Interrupted);
        }
    }
    Ok(Done::Ended(()))
}

/// Where the rounds begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Begun {
    /// Runs that count already, the same number of each command.
    pub runs: Vec<Vec<Timed>>,
    /// From when on the rule counts time, ms since the beginning.
    pub since_ms: u64,
}

/// Warms each command up, then runs all of them in rounds.
///
/// # Errors
/// The first one of the runner.
pub fn repeat<R: Runner>(
    runner: &mut R,
    commands: usize,
    warmups: u32,
    rule: &Rule,
    seed: u64,
    watch: impl FnMut(&RepeatProgress),
) -> Result<Repeated, R::Error> {
    let runs = vec![Vec::new(); commands];
    if warm_up(runner, commands, warmups)? == Done::Interrupted {
        return Ok(Repeated { runs, ended: Some(Ended::Interrupted) });
    }
    let begun = Begun { runs, since_ms: runner.elapsed_ms() };
    repeat_from(runner, begun, rule, seed, watch)
}

/// Runs commands in rounds until the rule is content: in a random order, and in the next round the
/// other way round, so that none always comes first and a steady drift cancels.
///
/// # Errors
/// The first one of the runner.
pub fn repeat_from<R: Runner>(
    runner: &mut R,
    begun: Begun,
    rule: &Rule,
    seed: u64,
    mut watch: impl FnMut(&RepeatProgress),
) -> Result<Repeated, R::Error> {
    let Begun { runs, since_ms } = begun;
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let first_round = runs.first().map_or(0, Vec::len) + 1;
    let mut all = Repeated { runs, ended: Some(Ended::Interrupted) };
    let mut random = fastrand::Rng::with_seed(seed);
    let mut look_at = 1;
    for round in first_round.. {
        let measuring_ms = runner.elapsed_ms().saturating_sub(since_ms);
        if round > 1 {
            watch(&RepeatProgress { runs: &all.runs, measuring_ms });
            let ended = enough(rule, &all.runs, round - 1, measuring_ms, &mut look_at);
            if ended.is_some() {
                all.ended = ended;
                return Ok(all);
            }
        }
        match (round - first_round) % 2 {
            0 => random.shuffle(&mut order),
            _ => order.reverse(),
        }
        for &command in &order {
            let at_ms = runner.elapsed_ms();
            match runner.timed(command)? {
                Done::Ended(usage) => all.runs[command].push(Timed { at_ms, usage }),
                Done::Interrupted => return Ok(all),
            }
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
    let asks_more = rule.half_width.is_some() || rule.question.is_some();
    if !asks_more && measuring_ms >= rule.least_ms * commands {
        return Some(Ended::Enough);
    }
    // The limits before the look: they cost nothing.
    if measuring_ms >= rule.most_ms * commands || rounds >= rule.most_runs as usize {
        return Some(Ended::AtTheLimit);
    }
    if measuring_ms < rule.least_ms * commands || rounds < *look_at {
        return None;
    }
    let again = if rule.question.is_some() { ASK_AGAIN } else { LOOK_AGAIN };
    *look_at = (rounds as f64 * again).ceil() as usize;
    let walls: Vec<Vec<f64>> = runs.iter().map(|r| walls_ns(r)).collect();
    if let Some(most) = rule.half_width
        && !is_narrow(rule, &walls, most)
    {
        return None;
    }
    match (rule.question, rule.half_width) {
        (Some(question), None) => is_answered(question, runs, &walls).then_some(Ended::Decided),
        _ => Some(Ended::Narrow),
    }
}

fn is_narrow(rule: &Rule, walls: &[Vec<f64>], most: f64) -> bool {
    let how = RatioIntervals { together: walls.len() - 1, watched: rule.is_watched() };
    let known = walls.iter().all(|w| repeats::relative_half_width(w) <= most);
    let compared = walls[1..].iter().all(|w| {
        how.ratio([&walls[0], w]).is_some_and(|ratio| ratio.relative_half_width() <= most)
    });
    known && compared
}

fn is_answered(question: Question, runs: &[Vec<Timed>], walls: &[Vec<f64>]) -> bool {
    match (question, walls) {
        (Question::Faster { within }, [first, others @ ..]) => others
            .iter()
            .all(|other| is_decided(watched_ratio(first, other, others.len()).as_ref(), within)),
        (Question::Regression { above, rows }, [base, head]) => {
            let clocks: Option<Vec<Vec<f64>>> = runs.iter().map(|r| task_clocks_ns(r)).collect();
            let clocks = clocks.as_deref().and_then(|clocks| match clocks {
                [base, head] => Some([&base[..], &head[..]]),
                _ => None,
            });
            let how = RatioIntervals { together: rows as usize, watched: true };
            judged_time([base, head], clocks, how, above).1 != Verdict::CannotTell
        }
        _ => true,
    }
}

/// CPU times of runs, ns; `None` where they are not counted.
fn task_clocks_ns(runs: &[Timed]) -> Option<Vec<f64>> {
    runs.iter().map(|run| Some(run.usage.counts.get(CounterEvent::TaskClock)? as f64)).collect()
}

/// Wall times of runs, ns.
pub fn walls_ns(runs: &[Timed]) -> Vec<f64> {
    runs.iter().map(|run| run.usage.wall_ns as f64).collect()
}
