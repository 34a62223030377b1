//! Two campaigns: values, and how often a change is found where there is none and where there is one.

use super::{MARGIN, exact, student};
use crate::figures::FactKind;
use crate::figures::paired::{PairedFleets, PairedRow, crossed, judge_pairs, made_up};
use crate::made_up::{MadeFleet, fleet};
use model::compare::finding::Verdict;
use model::machine::Fact;
use model::run::{Outcome, Run};
use model::stats;
use model::synthetic::random::Random;

type Draw = fn(&mut Random) -> f64;

/// How hosts' figures come out in a campaign, by 1 %.
const DRAWS: [(&str, Draw); 3] = [
    ("normal", Random::normal),
    ("t(3)", |random| student(random, 3)),
    ("one host in ten 50 % slower", |random| match random.share() < 0.1 {
        true => 40.0 + random.normal(),
        false => random.normal(),
    }),
];

/// Comparisons, of so many, that call any row different, and that let any cross the gate of 10 %, where the time of
/// the first row is `factor` times as long and that of the others `rest` times.
fn found([tries, hosts, rows]: [usize; 3], [factor, rest]: [f64; 2], draw: Draw) -> [usize; 2] {
    let mut random = Random(hosts as u64 * 1009 + rows as u64);
    let mut found = [0; 2];
    for _ in 0..tries {
        let mut side = |factor: f64| -> Vec<f64> {
            (0..hosts).map(|_| factor * (0.01 * draw(&mut random)).exp()).collect()
        };
        let factors = (0..rows).map(|at| if at == 0 { factor } else { rest });
        let sides: Vec<[Vec<f64>; 2]> = factors.map(|own| [side(1.0), side(own)]).collect();
        let all = sides.iter().enumerate();
        let mut rows: Vec<PairedRow> =
            all.map(|(at, [a, b])| made_up(&MadeFleet::row_id(at), a, b)).collect();
        judge_pairs(&mut rows, MARGIN);
        found[0] += usize::from(rows.iter().any(|row| row.finding == Verdict::Different));
        found[1] += usize::from(!crossed(&rows, &sides, 0.1).is_empty());
    }
    found
}

#[test]
fn campaigns_that_are_alike_rarely_have_a_different_row() {
    for (name, draw) in DRAWS {
        for hosts in [6, 18] {
            let [different, _] = found([300, hosts, 40], [1.0; 2], draw);
            let [_, across] = found([300, hosts, 40], [1.1; 2], draw);
            for alarms in [different, across] {
                let share = stats::share_interval(alarms as u64, 300).expect("tries");
                assert!(share.low <= 0.05, "{name}, {hosts} hosts: {share:?}");
            }
        }
    }
}

/// The rates of `docs/fleet-report.md`: minutes.
#[test]
#[ignore = "prints the rates of the documentation"]
fn rates_of_two_campaigns() {
    for (hosts, rows) in [(7, 7), (7, 200), (20, 200)] {
        for (name, draw) in DRAWS {
            let print = |what: &str, tries: usize, both: [f64; 2]| {
                let share = |found: usize| {
                    let share = stats::share_interval(found as u64, tries as u64).expect("tries");
                    let [value, low, high] =
                        [share.value, share.low, share.high].map(|s| s * 100.0);
                    format!("{value:.1} % ({low:.1} to {high:.1})")
                };
                let [different, _] = found([tries, hosts, rows], both, draw);
                let [_, across] =
                    found([tries, hosts, rows], both.map(|factor| 1.1 * factor), draw);
                println!(
                    "{hosts} hosts, {rows} rows, {name}, {what}: different {}, gate {}",
                    share(different),
                    share(across)
                );
            };
            print("none changed", 600, [1.0; 2]);
            for factor in [1.03, 1.1] {
                print(&format!("one x {factor}"), 100, [factor, 1.0]);
            }
        }
    }
}

/// Campaigns of `hosts` that differ by 1 % each time, where the first row takes `factor` times as long in B.
fn pair(hosts: usize, rows: usize, factor: f64, between: f64) -> PairedFleets {
    let side = |factor: f64, seed: u64| {
        let made = MadeFleet { seed, between, ..MadeFleet::new(hosts, rows, 1) };
        fleet(&made.runs(|_, row| if row == 0 { factor } else { 1.0 }, |_, _| ()))
    };
    PairedFleets::compare([&side(1.0, 1), &side(factor, 2)], &|_| true, MARGIN, Some(0.05))
}

#[test]
fn a_tenfold_time_crosses_the_gate_on_seven_hosts() {
    for rows in [7, 200] {
        let pair = pair(7, rows, 10.0, 0.001);
        assert_eq!(pair.crossed, [MadeFleet::row_id(0)], "{rows} rows");
        assert_eq!(pair.rows[0].finding, Verdict::Different);
        let interval = pair.rows[0].interval.expect("seven hosts");
        assert!(interval.low > 9.9 && interval.high < 10.1, "{interval:?}");
        assert!(pair.has_findings() && pair.unable.is_empty(), "{:?}", pair.unable);
    }
}

#[test]
fn a_gate_that_cannot_fail_says_so() {
    // Seven hosts that differ by 10 % from time to time.
    let few = pair(7, 7, 1.1, 0.1);
    assert!(few.crossed.is_empty() && !few.has_findings());
    assert_eq!((few.unable.len(), few.tested()), (7, 7));
    // What is said to be enough is, and less is not.
    let needed = few.needed_hosts.expect("seven hosts");
    assert!((50..250).contains(&needed), "{needed}");
    let enough = pair(needed * 2, 7, 1.1, 0.1);
    assert!(enough.unable.is_empty() && enough.has_findings(), "{:?}", enough.unable);
    let five = pair(5, 7, 10.0, 0.001);
    assert!(!five.has_findings() && five.needed_hosts.is_none() && five.crossed.is_empty());
}

#[test]
fn campaigns_are_compared_by_hosts_in_pairs() {
    let before = MadeFleet { between: 0.2, ..MadeFleet::new(20, 30, 1) };
    // Hosts differ by 20 %, and still 3 % more shows: each is compared with itself.
    let mut base = before.runs(|_, _| 1.0, |_, _| ());
    let mut head = before.runs(
        |_, row| if row == 4 { 1.03 } else { 1.0 },
        |_, machine| {
            machine.kernel = Fact::known("6.12.0".into());
        },
    );
    base.remove(0);
    head.pop();
    let mut random = Random(6);
    for run in &mut head {
        for row in &mut run.rows {
            let ns = row.estimate().and_then(|e| e.ns()).expect("a figure").value;
            let ns = ns * (random.normal() * 0.005).exp();
            row.outcome = Outcome::Figure(exact(ns, ns * 0.01));
        }
    }
    let sides = [&fleet(&base), &fleet(&head)];
    let paired = PairedFleets::compare(sides, &|_| true, MARGIN, Some(0.01));
    assert_eq!(paired.hosts.len(), 18);
    assert_eq!(
        (&paired.only_in_a[..], &paired.only_in_b[..]),
        (&["n020".to_owned()][..], &["n001".to_owned()][..])
    );
    let different: Vec<&str> = paired.rows_with(Verdict::Different).map(|row| &*row.id).collect();
    assert_eq!(different, [MadeFleet::row_id(4)]);
    assert!((paired.rows[4].ratio - 1.03).abs() < 0.005, "{:?}", paired.rows[4]);
    assert!(paired.rows_with(Verdict::SameWithinNoise).count() >= 27);
    assert_eq!(paired.crossed, [MadeFleet::row_id(4)]);
    let change = &paired.differences[0];
    assert_eq!((change.fact, &*change.b, change.hosts), (FactKind::Kernel, "6.12.0", 18));
    // Of five hosts nothing can be told.
    let few = |runs: &[Run]| fleet(&runs[1..6]);
    let paired = PairedFleets::compare([&few(&base), &few(&head)], &|_| true, MARGIN, None);
    assert!(!paired.has_findings() && paired.hosts.len() == 4, "{:?}", paired.hosts);
}
