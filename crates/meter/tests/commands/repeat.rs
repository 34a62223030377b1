//! What runs next, and when it is enough: on commands whose costs are written
//! down. The clock is the sum of these costs; nothing here asks the machine.

use super::{MS, exactly};
use meter::commands::repeat::{
    ALONE, Begun, COMPARED, Done, PRECISE, Repeated, Runner, Timed, repeat, repeat_from,
};
use model::command::{Ended, Rule};
use model::sequential::Question;
use sys::command::Usage;
use sys::counters::{CounterEvent, Counts};

/// Gives the wall time in ns of run `n` of a command.
type Costs = Box<dyn FnMut(usize, usize) -> u64>;

struct ScriptedRunner {
    costs: Costs,
    counts: Vec<usize>,
    log: Vec<String>,
    now_ns: u64,
    /// CPU time of each run, where it is counted.
    cpu_ns: Option<u64>,
    stop_at: Option<usize>,
    fail_at: Option<usize>,
}

impl ScriptedRunner {
    fn new(commands: usize, costs: impl FnMut(usize, usize) -> u64 + 'static) -> ScriptedRunner {
        ScriptedRunner {
            costs: Box::new(costs),
            counts: vec![0; commands],
            log: Vec::new(),
            now_ns: 0,
            cpu_ns: None,
            stop_at: None,
            fail_at: None,
        }
    }
}

impl Runner for ScriptedRunner {
    type Error = String;

    fn warm_up(&mut self, command: usize) -> Result<Done<()>, String> {
        self.log.push(format!("w{command}"));
        Ok(Done::Ended(()))
    }

    fn timed(&mut self, command: usize) -> Result<Done<Usage>, String> {
        if self.stop_at == Some(self.log.len()) {
            return Ok(Done::Interrupted);
        }
        if self.fail_at == Some(self.log.len()) {
            return Err("it failed".into());
        }
        self.log.push(command.to_string());
        let wall_ns = (self.costs)(command, self.counts[command]);
        self.counts[command] += 1;
        self.now_ns += wall_ns;
        let counts = Counts::default();
        let counts = match self.cpu_ns {
            Some(cpu_ns) => counts.with(CounterEvent::TaskClock, cpu_ns),
            None => counts,
        };
        Ok(Done::Ended(Usage { wall_ns, counts, ..Usage::default() }))
    }

    fn elapsed_ms(&self) -> u64 {
        self.now_ns / MS
    }
}

fn repeated(scripted: &mut ScriptedRunner, rule: &Rule, seed: u64) -> Repeated {
    let commands = scripted.counts.len();
    repeat(scripted, commands, 1, rule, seed, |_| ()).expect("no failure")
}

#[test]
fn warm_ups_come_first_and_count_for_nothing() {
    let mut one = ScriptedRunner::new(1, |_, n| (n as u64 + 1) * MS);
    let found = repeat(&mut one, 1, 3, &exactly(4), 1, |_| ()).expect("no failure");
    assert_eq!(one.log.join(" "), "w0 w0 w0 0 0 0 0");
    let walls: Vec<u64> = found.runs[0].iter().map(|r| r.usage.wall_ns / MS).collect();
    assert_eq!(walls, [1, 2, 3, 4]);
    assert_eq!(found.runs[0].iter().map(|r| r.at_ms).collect::<Vec<_>>(), [0, 1, 3, 6]);
    assert_eq!(found.ended, Some(Ended::AsAsked));
}

#[test]
fn a_run_that_counts_already_is_one_of_those_that_are_wanted() {
    let begun = |rule: &Rule, ms: u64| {
        let mut one = ScriptedRunner::new(1, move |_, _| ms * MS);
        let Ok(Done::Ended(usage)) = one.timed(0) else { panic!("it ends") };
        let begun = Begun { runs: vec![vec![Timed { at_ms: 0, usage }]], since_ms: 0 };
        let found = repeat_from(&mut one, begun, rule, 1, |_| ()).expect("no failure");
        (found.runs[0].len(), one.elapsed_ms(), found.ended)
    };
    assert_eq!(begun(&ALONE, 1_500), (10, 15_000, Some(Ended::Enough)));
    assert_eq!(begun(&ALONE, 200), (15, 3_000, Some(Ended::Enough)));
    assert_eq!(begun(&exactly(4), 200), (4, 800, Some(Ended::AsAsked)));
    assert_eq!(begun(&exactly(1), 200), (1, 200, Some(Ended::AsAsked)), "no further one");
}

#[test]
fn every_other_round_is_reversed() {
    let order = |seed| {
        let mut three = ScriptedRunner::new(3, |_, _| MS);
        repeated(&mut three, &exactly(40), seed);
        three.log.split_off(3)
    };
    let log = order(5);
    let mut firsts = [0; 3];
    for pair in log.chunks(6) {
        let mut back = pair[3..].to_vec();
        back.reverse();
        assert_eq!(pair[..3], back[..], "ABC CBA");
        firsts[pair[0].parse::<usize>().expect("a number")] += 1;
    }
    // The order of the pairs is random: each comes first at times.
    assert!(firsts.iter().all(|&n| n > 0), "{firsts:?}");
    assert_eq!(log, order(5), "a seed repeats it");
    assert_ne!(log, order(6));
}

#[test]
fn steady_commands_end_after_ten_runs_and_three_seconds() {
    // Long runs: the ten are what is waited for.
    let mut long = ScriptedRunner::new(1, |_, _| 1_000 * MS);
    let found = repeated(&mut long, &PRECISE, 1);
    assert_eq!((found.runs[0].len(), found.ended), (10, Some(Ended::Narrow)));
    // Short ones: the three seconds.
    let mut short = ScriptedRunner::new(1, |_, _| 10 * MS);
    let found = repeated(&mut short, &PRECISE, 1);
    assert_eq!((found.runs[0].len(), found.ended), (300, Some(Ended::Narrow)));
    // Each of two has its three seconds.
    let mut two = ScriptedRunner::new(2, |_, _| 10 * MS);
    let found = repeated(&mut two, &PRECISE, 1);
    assert_eq!((found.runs[0].len(), found.runs[1].len()), (300, 300));
}

#[test]
fn one_command_runs_ten_times_or_for_three_seconds_however_noisy() {
    let ended = |ms: [u64; 2]| {
        let mut one = ScriptedRunner::new(1, move |_, n| ms[n % 2] * MS);
        let found = repeated(&mut one, &ALONE, 1);
        (found.runs[0].len(), found.ended)
    };
    assert_eq!(ended([1_000, 2_000]), (10, Some(Ended::Enough)));
    assert_eq!(ended([9_000, 9_000]), (10, Some(Ended::Enough)), "longer than a minute");
    assert_eq!(ended([10, 20]), (200, Some(Ended::Enough)));
    assert_eq!(ended([0, 0]), (10_000, Some(Ended::AtTheLimit)));
}

#[test]
fn two_commands_run_until_it_is_known_which_is_faster() {
    let ended = |ratio: f64, spread: f64| {
        let mut two = ScriptedRunner::new(2, move |c, n| {
            // Neither follows the other.
            let noise = spread * ((n * (7 + 4 * c) + 3 * c) % 20) as f64 / 20.0;
            let ms = 100.0 * if c == 1 { ratio } else { 1.0 } * (1.0 + noise);
            (ms * MS as f64) as u64
        });
        let found = repeated(&mut two, &COMPARED, 1);
        (found.runs[1].len(), found.ended)
    };
    // Three seconds of both, as they don't take one command ten times.
    assert_eq!(ended(1.1, 0.01), (15, Some(Ended::Decided)));
    assert_eq!(ended(1.0, 0.01), (15, Some(Ended::Decided)), "the same to 2 %");
    let (rounds, why) = ended(1.0, 1.0);
    assert_eq!(why, Some(Ended::AtTheLimit));
    assert!((45..=55).contains(&rounds), "{rounds}: 15 s");
}

#[test]
fn two_builds_run_until_the_judged_time_is_on_one_side_of_the_limit() {
    let ended = |busy: bool| {
        let mut two = ScriptedRunner::new(2, |c, n| (100 + (n * (7 + 4 * c) % 20) as u64 * 5) * MS);
        two.cpu_ns = busy.then_some(99 * MS);
        let rule =
            Rule { question: Some(Question::Regression { above: 0.05, rows: 2 }), ..COMPARED };
        let found = repeated(&mut two, &rule, 1);
        (found.runs[0].len() < 30, found.ended)
    };
    assert_eq!(ended(true), (true, Some(Ended::Decided)), "by CPU time");
    assert_eq!(ended(false), (false, Some(Ended::AtTheLimit)));
}

#[test]
fn noisy_commands_go_on_until_the_limit() {
    // Two alternating states: no median is known to 2 %.
    let mut noisy = ScriptedRunner::new(1, |_, n| if n % 2 == 0 { 100 } else { 200 } * MS);
    let found = repeated(&mut noisy, &PRECISE, 1);
    assert_eq!(found.ended, Some(Ended::AtTheLimit));
    assert_eq!(noisy.elapsed_ms(), 60_000);
    // Never fewer than ten, however long they take.
    let mut long = ScriptedRunner::new(1, |_, n| (30_000 + 900 * (n as u64 % 7)) * MS);
    let found = repeated(&mut long, &PRECISE, 1);
    assert_eq!((found.runs[0].len(), found.ended), (10, Some(Ended::AtTheLimit)));
    // Each of two has its minute.
    let mut two = ScriptedRunner::new(2, |_, n| if n % 2 == 0 { 100 } else { 200 } * MS);
    assert_eq!(repeated(&mut two, &PRECISE, 1).ended, Some(Ended::AtTheLimit));
    assert_eq!(two.elapsed_ms(), 120_000);
    let mut tiny = ScriptedRunner::new(1, |_, n| if n % 2 == 0 { 1000 } else { 2000 });
    let found = repeated(&mut tiny, &PRECISE, 1);
    assert_eq!((found.runs[0].len(), found.ended), (10_000, Some(Ended::AtTheLimit)));
}

#[test]
fn the_interval_is_looked_at_again_when_there_are_a_tenth_more() {
    let mut looks = vec![10];
    while let Some(&last) = looks.last().filter(|&&last| last < 1000) {
        looks.push((f64::from(last) * 1.1).ceil() as i32);
    }
    for noisy in 6..40 {
        let mut one = ScriptedRunner::new(1, move |_, n| match n < noisy && n % 2 == 0 {
            true => 2_000 * MS,
            false => 1_000 * MS,
        });
        let found = repeated(&mut one, &PRECISE, 1);
        let rounds = found.runs[0].len() as i32;
        if found.ended == Some(Ended::Narrow) {
            assert!(looks.contains(&rounds), "{rounds}");
        }
    }
}

#[test]
fn a_ratio_that_is_not_known_keeps_both_going() {
    // Each alone is known to less than 2 %, their ratio in a round is not:
    // they are fast and slow in turns, never together.
    let interleaved = |step: u64| {
        let mut two = ScriptedRunner::new(2, move |c, n| {
            (1000 + if (n + c) % 2 == 0 { step } else { 0 }) * MS
        });
        let found = repeated(&mut two, &PRECISE, 1);
        let alone = model::repeats::relative_half_width(&walls(&found.runs[0]));
        assert!(alone <= 0.02, "{alone}");
        found.ended
    };
    assert_eq!(interleaved(15), Some(Ended::Narrow));
    assert_eq!(interleaved(30), Some(Ended::AtTheLimit));
}

fn walls(runs: &[Timed]) -> Vec<f64> {
    meter::commands::repeat::walls_ns(runs)
}

#[test]
fn what_was_broken_off_does_not_count() {
    let mut two = ScriptedRunner::new(2, |_, _| MS);
    two.stop_at = Some(2 + 5);
    let found = repeated(&mut two, &exactly(10), 1);
    assert_eq!(found.ended, Some(Ended::Interrupted));
    let lengths: Vec<usize> = found.runs.iter().map(Vec::len).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 5);
    let mut failing = ScriptedRunner::new(1, |_, _| MS);
    failing.fail_at = Some(3);
    let error = repeat(&mut failing, 1, 1, &exactly(10), 1, |_| ());
    assert_eq!(error, Err("it failed".into()));
}
