//! What runs next, and when it is enough: on commands whose costs are written
//! down. The clock is the sum of these costs; nothing here asks the machine.

use super::{MS, exactly};
use meter::commands::repeat::{ADAPTIVE, Done, Repeated, Runner, Timed, repeat};
use model::command::{Ended, Rule};
use sys::command::Usage;

/// Gives the wall time in ns of run `n` of a command.
type Costs = Box<dyn FnMut(usize, usize) -> u64>;

struct Scripted {
    costs: Costs,
    counts: Vec<usize>,
    log: Vec<String>,
    now_ns: u64,
    stop_at: Option<usize>,
    fail_at: Option<usize>,
}

impl Scripted {
    fn new(commands: usize, costs: impl FnMut(usize, usize) -> u64 + 'static) -> Scripted {
        Scripted {
            costs: Box::new(costs),
            counts: vec![0; commands],
            log: Vec::new(),
            now_ns: 0,
            stop_at: None,
            fail_at: None,
        }
    }
}

impl Runner for Scripted {
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
        Ok(Done::Ended(Usage { wall_ns, ..Usage::default() }))
    }

    fn elapsed_ms(&self) -> u64 {
        self.now_ns / MS
    }
}

fn runs(scripted: &mut Scripted, rule: &Rule, seed: u64) -> Repeated {
    let commands = scripted.counts.len();
    repeat(scripted, commands, 1, rule, seed, |_| ()).expect("no failure")
}

#[test]
fn warm_ups_come_first_and_count_for_nothing() {
    let mut one = Scripted::new(1, |_, n| (n as u64 + 1) * MS);
    let found = repeat(&mut one, 1, 3, &exactly(4), 1, |_| ()).expect("no failure");
    assert_eq!(one.log.join(" "), "w0 w0 w0 0 0 0 0");
    let walls: Vec<u64> = found.runs[0].iter().map(|r| r.usage.wall_ns / MS).collect();
    assert_eq!(walls, [1, 2, 3, 4]);
    assert_eq!(found.runs[0].iter().map(|r| r.at_ms).collect::<Vec<_>>(), [0, 1, 3, 6]);
    assert_eq!(found.ended, Some(Ended::AsAsked));
}

#[test]
fn every_other_round_is_reversed() {
    let order = |seed| {
        let mut three = Scripted::new(3, |_, _| MS);
        runs(&mut three, &exactly(40), seed);
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
    let mut long = Scripted::new(1, |_, _| 1_000 * MS);
    let found = runs(&mut long, &ADAPTIVE, 1);
    assert_eq!((found.runs[0].len(), found.ended), (10, Some(Ended::Narrow)));
    // Short ones: the three seconds.
    let mut short = Scripted::new(1, |_, _| 10 * MS);
    let found = runs(&mut short, &ADAPTIVE, 1);
    assert_eq!((found.runs[0].len(), found.ended), (300, Some(Ended::Narrow)));
    // Each of two has its three seconds.
    let mut two = Scripted::new(2, |_, _| 10 * MS);
    let found = runs(&mut two, &ADAPTIVE, 1);
    assert_eq!((found.runs[0].len(), found.runs[1].len()), (300, 300));
}

#[test]
fn noisy_commands_go_on_until_the_limit() {
    // Two alternating states: no median is known to 2 %.
    let mut noisy = Scripted::new(1, |_, n| if n % 2 == 0 { 100 } else { 200 } * MS);
    let found = runs(&mut noisy, &ADAPTIVE, 1);
    assert_eq!(found.ended, Some(Ended::AtTheLimit));
    assert_eq!(noisy.elapsed_ms(), 60_000);
    // Never fewer than ten, however long they take.
    let mut long = Scripted::new(1, |_, n| (30_000 + 900 * (n as u64 % 7)) * MS);
    let found = runs(&mut long, &ADAPTIVE, 1);
    assert_eq!((found.runs[0].len(), found.ended), (10, Some(Ended::AtTheLimit)));
    // Each of two has its minute.
    let mut two = Scripted::new(2, |_, n| if n % 2 == 0 { 100 } else { 200 } * MS);
    assert_eq!(runs(&mut two, &ADAPTIVE, 1).ended, Some(Ended::AtTheLimit));
    assert_eq!(two.elapsed_ms(), 120_000);
    let mut tiny = Scripted::new(1, |_, n| if n % 2 == 0 { 1000 } else { 2000 });
    let found = runs(&mut tiny, &ADAPTIVE, 1);
    assert_eq!((found.runs[0].len(), found.ended), (10_000, Some(Ended::AtTheLimit)));
}

#[test]
fn the_interval_is_looked_at_again_when_there_are_a_tenth_more() {
    let mut looks = vec![10];
    while let Some(&last) = looks.last().filter(|&&last| last < 1000) {
        looks.push((f64::from(last) * 1.1).ceil() as i32);
    }
    for noisy in 6..40 {
        let mut one = Scripted::new(1, move |_, n| match n < noisy && n % 2 == 0 {
            true => 2_000 * MS,
            false => 1_000 * MS,
        });
        let found = runs(&mut one, &ADAPTIVE, 1);
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
        let mut two =
            Scripted::new(2, move |c, n| (1000 + if (n + c) % 2 == 0 { step } else { 0 }) * MS);
        let found = runs(&mut two, &ADAPTIVE, 1);
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
    let mut two = Scripted::new(2, |_, _| MS);
    two.stop_at = Some(2 + 5);
    let found = runs(&mut two, &exactly(10), 1);
    assert_eq!(found.ended, Some(Ended::Interrupted));
    let lengths: Vec<usize> = found.runs.iter().map(Vec::len).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 5);
    let mut failing = Scripted::new(1, |_, _| MS);
    failing.fail_at = Some(3);
    let error = repeat(&mut failing, 1, 1, &exactly(10), 1, |_| ());
    assert_eq!(error, Err("it failed".into()));
}
