//! Values of synthetic fleets, and how often equal hosts are called different. `paired.rs` tests two
//! campaigns; `engines.rs` keeps the results bit by bit in a snapshot.

use super::*;
use crate::made_up::{MadeFleet, fleet};
use model::compare::finding::Verdict;
use model::machine::Fact;
use model::run::Outcome;
use model::stats;
use model::synthetic::random::Random;

mod engines;
mod paired;

const MARGIN: f64 = 0.05;

fn outlier_names(fleet: &Fleet, row: &FleetRow) -> Vec<String> {
    let hosts = row.outliers.iter().map(|outlier| fleet.hosts[outlier.host].name.clone());
    hosts.collect()
}

#[test]
fn one_figure_a_machine_is_the_median_of_its_repetitions() {
    let mut runs = MadeFleet::new(3, 1, 3).runs(|_, _| 1.0, |_, _| ());
    let row = MadeFleet::row_id(0);
    let values = [10.0, 30.0, 11.0, 20.0, 20.0, 20.0, 5.0, 6.0, 7.0];
    for (run, ns) in runs.iter_mut().zip(values) {
        *run = model::synthetic::with_figure(run.clone(), &row, exact(ns, 0.0));
    }
    let fleet = fleet(&runs);
    let row = &fleet.rows[0];
    let own = |f: &HostFigure| (f.host, f.low_ns, f.value_ns, f.high_ns, f.repetitions);
    let all: Vec<_> = row.figures.iter().map(own).collect();
    let expected = [(2, 5.0, 6.0, 7.0, 3), (0, 10.0, 11.0, 30.0, 3), (1, 20.0, 20.0, 20.0, 3)];
    assert_eq!(all, expected);
    let q = row.quantiles.expect("three hosts");
    assert_eq!((q.min_ns, q.median_ns, q.max_ns), (6.0, 11.0, 20.0));
    assert!((q.p95_ns - 19.1).abs() < 1e-9 && q.interval_ns.is_none(), "{q:?}");
    assert!((row.repetitions_differ.expect("three") - 0.4).abs() < 1e-9);
    assert_eq!(row.spread, None, "three hosts don't say what hosts differ by");
}

fn exact(ns: f64, half: f64) -> model::estimate::Estimate {
    match model::synthetic::ok_outcome(ns, half) {
        Outcome::Figure(estimate) => estimate,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_slow_host_is_named_with_what_is_odd_about_it() {
    let slow = |host, row| if host == 7 && row < 2 { 1.15 } else { 1.0 };
    let runs = MadeFleet::new(50, 20, 2).runs(slow, |host, machine| {
        if host == 7 {
            machine.microcode = Fact::known("0xa001079".into());
        }
    });
    let fleet = fleet(&runs);
    for (at, row) in fleet.rows.iter().enumerate() {
        let expected: &[&str] = if at < 2 { &["n008"] } else { &[] };
        assert_eq!(outlier_names(&fleet, row), expected, "{}", row.id);
    }
    let ratio = fleet.rows[0].outliers[0].ratio;
    assert!((1.1..1.2).contains(&ratio), "{ratio}");
    let [place] = fleet.apart()[..] else { panic!("one host") };
    let host = &fleet.hosts[place];
    assert_eq!(host.apart_in, [0, 1]);
    let odd = &host.odd[0];
    assert_eq!(
        (odd.fact, &*odd.value, &*odd.usual),
        (FactKind::Microcode, "0xa001079", "0xa0011d5")
    );
    assert!(fleet.hosts[6].odd.is_empty());
    // One host says nothing of its microcode.
    let tests = &fleet.groupings[0].tests;
    assert!(tests.iter().all(|test| test.too_few && test.finding == Verdict::CannotTell));
}

#[test]
fn a_noisy_run_is_no_outlier_where_its_interval_holds_the_others() {
    let mut runs = MadeFleet::new(50, 5, 1).runs(|_, _| 1.0, |_, _| ());
    let row = MadeFleet::row_id(0);
    let ns = runs[9].rows[0].estimate().and_then(|e| e.ns()).expect("a figure").value;
    let with = |half: f64| {
        model::synthetic::with_figure(runs[9].clone(), &row, exact(ns * 1.2, ns * half))
    };
    let (noisy, sure) = (with(0.25), with(0.01));
    runs[9] = noisy;
    assert!(fleet(&runs).apart().is_empty());
    runs[9] = sure;
    let fleet = fleet(&runs);
    assert_eq!(outlier_names(&fleet, &fleet.rows[0]), ["n010"]);
    // What is called apart has its interval outside of the middle 90 % of hosts.
    let row = &fleet.rows[0];
    let q = row.quantiles.expect("hosts");
    let own = row.figures.last().expect("hosts");
    assert!(own.host == 9 && own.low_ns > q.p95_ns);
}

#[test]
fn groups_differ_by_a_fact_and_hosts_are_judged_within_them() {
    let old = |host: usize| host.is_multiple_of(3);
    let factor = |host, row| match (old(host), row) {
        (true, 3) => 1.2,
        (false, 3) if host == 1 => 1.2,
        _ => 1.0,
    };
    let runs = MadeFleet::new(60, 10, 1).runs(factor, |host, machine| {
        if old(host) {
            machine.kernel = Fact::known("5.14.0".into());
            machine.firmware = Fact::known("Dell Inc. 1.0.0".into());
        }
    });
    let fleet = fleet(&runs);
    let [grouping] = &fleet.groupings[..] else {
        panic!("one split of the hosts: {:?}", fleet.groupings)
    };
    assert_eq!(grouping.facts, [FactKind::Firmware, FactKind::Kernel], "nothing tells them apart");
    let different: Vec<usize> =
        grouping.tests_with(Verdict::Different).map(|test| test.row).collect();
    assert_eq!(different, [3]);
    let test = &grouping.tests[3];
    assert_eq!(test.hosts, [20, 40]);
    assert!((test.ratio - 1.2).abs() < 0.02, "{test:?}");
    assert!(grouping.tests_with(Verdict::SameWithinNoise).count() > 5);
    let row = &fleet.rows[3];
    assert_eq!(row.judged_within.as_deref(), Some(&grouping.facts[..]));
    assert_eq!(outlier_names(&fleet, row), ["n002"], "it lies among hosts of another kernel");
}

#[test]
fn too_many_hosts_apart_are_a_second_group() {
    let factor = |host: usize, row| if row == 0 && host < 8 { 1.3 } else { 1.0 };
    let fleet = fleet(&MadeFleet::new(40, 3, 1).runs(factor, |_, _| ()));
    let row = &fleet.rows[0];
    assert_eq!((row.outliers.len(), row.apart.len()), (0, 8));
    assert_eq!(fleet.apart().len(), 8);
}

#[test]
fn hosts_without_a_figure_say_why() {
    let mut runs = MadeFleet::new(8, 2, 1).runs(|_, _| 1.0, |_, _| ());
    runs[2] = crate::made_up::unavailable(runs[2].clone(), &MadeFleet::row_id(1), "no AVX");
    runs[3].rows.pop();
    let fleet = fleet(&runs);
    let why: Vec<_> = fleet.rows[1].without.iter().map(|w| (&*w.why, &w.hosts[..])).collect();
    assert_eq!(why, [("no AVX", &[2][..]), ("not in its runs", &[3])]);
    assert_eq!(fleet.rows[1].figures.len(), 6);
}

#[test]
fn quieter_hosts_are_usual() {
    let mut runs = MadeFleet::new(20, 1, 1).runs(|_, _| 1.0, |_, _| ());
    runs[4].gate.quiet_share = Some(0.2);
    runs[5].conditions.after.steal_ns = Some(20_000_000_000);
    let fleet = fleet(&runs);
    let unusual = |host: &&Host| host.noise.unusual;
    let names: Vec<&str> = fleet.hosts.iter().filter(unusual).map(|host| &*host.name).collect();
    assert_eq!(names, ["n005", "n006"]);
}

/// Fleets of like hosts in which any host was called apart, of so many.
fn false_alarms(tries: u64, made: &MadeFleet, draw: impl Fn(&mut Random) -> f64) -> u64 {
    let alarms = (0..tries).filter(|seed| {
        let mut random = Random(seed * 7919 + 13);
        let mut rows: Vec<FleetRow> = (0..made.rows)
            .map(|at| {
                let mut row = FleetRow::made_up(&MadeFleet::row_id(at));
                row.figures = (0..made.hosts)
                    .map(|host| HostFigure {
                        host,
                        value_ns: (draw(&mut random) * made.between).exp(),
                        low_ns: 1.0,
                        high_ns: 1.0,
                        repetitions: 1,
                        error: made.within,
                    })
                    .collect();
                row
            })
            .collect();
        outliers::find_outliers(&mut rows, &[]);
        rows.iter().any(|row| !row.outliers.is_empty())
    });
    alarms.count() as u64
}

#[test]
fn like_hosts_are_rarely_called_apart() {
    for hosts in [6, 12, 50, 200] {
        let made = MadeFleet::new(hosts, 40, 1);
        let tries = 200;
        let alarms = false_alarms(tries, &made, Random::normal);
        let share = stats::share_interval(alarms, tries).expect("tries");
        println!("{hosts} hosts, normal: {alarms} of {tries} {share:?}");
        assert!(share.low <= 0.05, "{hosts} hosts: {share:?}");
    }
}

/// Student's t with few degrees of freedom.
fn student(random: &mut Random, df: i32) -> f64 {
    let squares: f64 = (0..df).map(|_| random.normal().powi(2)).sum();
    random.normal() / (squares / f64::from(df)).sqrt()
}

/// The rates of `docs/fleet-report.md`: minutes.
#[test]
#[ignore = "prints the rates of the documentation"]
fn rates_of_false_alarms() {
    let heavy = |random: &mut Random| student(random, 5);
    for hosts in [6, 12, 50, 200] {
        let made = MadeFleet::new(hosts, 200, 1);
        let tries = 1000;
        for (name, alarms) in [
            ("normal", false_alarms(tries, &made, Random::normal)),
            ("t(5)", false_alarms(tries, &made, heavy)),
        ] {
            let share = stats::share_interval(alarms, tries).expect("tries");
            println!("{hosts} hosts x 200 rows, {name}: {alarms} of {tries}, {share:?}");
        }
    }
}
