//! False alarms of commands that are compared until the answer is known, simulated with seeds: of equal commands at
//! most one comparison in a hundred may call one of them faster, however often the rounds were looked at.

mod dice;
mod worlds;

use dice::Dice;
use model::compare::finding::Verdict;
use model::regression::{RatioIntervals, judged_time};
use model::sequential::{is_decided, watched_finding, watched_ratio};
use worlds::{WORLDS, World, rounds};

/// Rounds of two commands, at most.
const MOST_ROUNDS: usize = 150;

/// Where the rounds are looked at: from ten on, and when there are a twentieth more.
fn looks() -> impl Iterator<Item = usize> {
    let next = |n: &usize| Some((*n as f64 * 1.05).ceil() as usize);
    std::iter::successors(Some(10), next).take_while(|n| *n <= MOST_ROUNDS)
}

/// What is said of two commands when their rounds end by what they have shown, and after how many.
fn watched(world: World, ratio: f64, random: &mut Dice) -> (Verdict, usize) {
    let (a, b) = rounds(world, MOST_ROUNDS, ratio, random);
    let decided = looks().find(|&n| is_decided(watched_ratio(&a[..n], &b[..n], 1).as_ref(), 0.02));
    let n = decided.unwrap_or(MOST_ROUNDS);
    (watched_finding(&a[..n], &b[..n], 1, 0.05).verdict, n)
}

#[test]
fn of_equal_commands_at_most_one_in_a_hundred_is_called_faster() {
    const TIMES: usize = 6000;
    let mut random = Dice(20_261_127);
    for world in WORLDS {
        let wrong = |_: &usize| watched(world, 1.0, &mut random).0 == Verdict::Different;
        let alarms = (0..TIMES).filter(wrong).count() as f64 / TIMES as f64;
        println!("{world:?}: {alarms} false alarms");
        assert!(alarms <= 0.01, "{world:?}: {alarms}");
    }
}

#[test]
fn a_tenth_is_found_in_few_rounds() {
    const TIMES: usize = 100;
    let mut random = Dice(5);
    for world in WORLDS {
        let all: Vec<_> = (0..TIMES).map(|_| watched(world, 1.1, &mut random)).collect();
        let found = all.iter().filter(|(verdict, _)| *verdict == Verdict::Different).count();
        let mut needed: Vec<usize> = all.iter().map(|(_, n)| *n).collect();
        needed.sort_unstable();
        println!("{world:?}: {found} of {TIMES} found, median of {} rounds", needed[TIMES / 2]);
        assert!(found >= 90, "{world:?}: {found}");
        assert!(needed[TIMES / 2] <= 75, "{world:?}: {}", needed[TIMES / 2]);
    }
}

#[test]
fn a_single_look_repeated_would_raise_false_alarms() {
    // Why the intervals are others: those of one look, looked at as often.
    const TIMES: usize = 300;
    let mut random = Dice(9);
    let wrong = |_: &usize| {
        let (a, b) = rounds(World::Even, MOST_ROUNDS, 1.0, &mut random);
        looks().any(|n| {
            let found = model::interleaved::finding(&a[..n], &b[..n], 1, 0.05);
            found.verdict == Verdict::Different
        })
    };
    let alarms = (0..TIMES).filter(wrong).count();
    assert!(alarms > TIMES / 10, "{alarms} of {TIMES}");
}

#[test]
fn of_equal_builds_at_most_one_in_a_hundred_is_called_slower() {
    const TIMES: usize = 500;
    let mut random = Dice(13);
    for world in WORLDS {
        // The least limit that anybody would set; CPU time is disturbed less than wall time.
        let wrong = |_: &usize| {
            let wall = rounds(world, MOST_ROUNDS, 1.0, &mut random);
            let cpu = rounds(World::Even, MOST_ROUNDS, 1.0, &mut random);
            let judged = |n: usize| {
                let how = RatioIntervals { together: 2, watched: true };
                let wall = [&wall.0[..n], &wall.1[..n]];
                judged_time(wall, Some([&cpu.0[..n], &cpu.1[..n]]), how, 0.001).1
            };
            looks().map(judged).find(|v| *v != Verdict::CannotTell) == Some(Verdict::Different)
        };
        let alarms = (0..TIMES).filter(wrong).count() as f64 / TIMES as f64;
        assert!(alarms <= 0.01, "{world:?}: {alarms}");
    }
}
