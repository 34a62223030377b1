//! Machines among all machines.

use crate::index::tests::numbered;
use crate::index::{keep, results};
use crate::suite::Home;
use model::run::{Outcome, Run};
use model::summary::MachineKey;
use model::synthetic;

pub(in crate::suite) fn figures_of_two_modes_are_never_set_against_each_other(home: &Home) {
    let row = "sync.handoff/pipe";
    let usual = [("same CPU", 0.9, 4000.0), ("other CPU", 0.1, 40_000.0)];
    let moved = [("other CPU", 0.9, 40_000.0), ("same CPU", 0.1, 4000.0)];
    let add = |n, host, ns, modes| {
        let estimate = synthetic::in_modes(ns, modes);
        let run = synthetic::with_figure(numbered(n, host), row, estimate);
        keep(&home.store, &run).expect("kept");
    };
    add(1, "one", 4100.0, &usual);
    add(2, "two", 4100.0, &usual);
    add(3, "two", 39_000.0, &moved);
    add(4, "three", 4100.0, &usual);
    let index = home.quiet();
    let of = |host| {
        let key = MachineKey::from_run(&numbered(0, host));
        let all = index.percentiles(&key).expect("percentiles");
        let own = all.into_iter().find(|p| p.row == row).expect("the row");
        (own.mode, own.value_ns, own.percentile, own.machines)
    };
    let same = Some("same CPU".to_owned());
    assert_eq!(of("one"), (same.clone(), 4000.0, 0.0, 3));
    assert_eq!(of("two"), (Some("other CPU".into()), 40_000.0, 0.0, 1));
    let standing = index.percentiles_of_row(row, &[]).expect("standing");
    assert_eq!(standing.mode, same, "the one that most machines have");
    let values: Vec<f64> = standing.machines.iter().map(|m| m.value_ns).collect();
    assert_eq!((values, standing.results), (vec![4000.0; 3], 3));
    assert!(index.verify().expect("verified").is_whole());
}

pub(in crate::suite) fn percentiles_count_reliable_figures_of_all_machines(home: &Home) {
    let row = "cpu.add_i32";
    let add = |n, host, factor, change: fn(&mut Run)| {
        let mut run = synthetic::slower(&numbered(n, host), row, factor);
        change(&mut run);
        keep(&home.store, &run).expect("kept");
    };
    add(1, "one", 1.0, |_| ());
    add(2, "one", 2.0, |_| ());
    add(3, "two", 4.0, |_| ());
    add(4, "two", 3.0, |_| ());
    // Of another program, of an emulator, or too noisy: none of them counts.
    add(5, "two", 9.0, |run| run.imported = Some(synthetic::imported()));
    add(6, "two", 9.0, |run| run.program.emulated = Some("qemu".into()));
    add(7, "one", 9.0, |run| {
        for row in &mut run.rows {
            if let Outcome::Figure(e) | Outcome::Level { estimate: e, .. } = &mut row.outcome {
                e.verdict = model::estimate::Verdict::Noisy;
            }
        }
    });
    let index = home.quiet();
    let key = |host| MachineKey::from_run(&numbered(0, host));
    let base = results(&numbered(0, "one"))
        .into_iter()
        .find(|result| result.row == row)
        .and_then(|result| result.reliable())
        .expect("a reliable figure");
    let of = |host| {
        let all = index.percentiles(&key(host)).expect("percentiles");
        all.into_iter().find(|p| p.row == row).expect("the row")
    };
    // An imported run has no place in a history, however well it fits.
    let history = index.history(&key("two"), row, &[]).expect("history");
    assert_eq!(history.len(), 2);
    let one = of("one");
    assert_eq!((one.results, one.machines), (4, 2));
    assert_eq!((one.value_ns, one.percentile), (2.0 * base, 50.0));
    assert_eq!((of("two").value_ns, of("two").percentile), (3.0 * base, 0.0));
    // Another run of the faster machine moves no percentile: it is one machine.
    add(8, "one", 2.0, |_| ());
    let index = home.quiet();
    let of = |host| {
        let all = index.percentiles(&key(host)).expect("percentiles");
        all.into_iter().find(|p| p.row == row).expect("the row")
    };
    assert_eq!((of("one").percentile, of("one").results), (50.0, 5));
    assert_eq!(of("two").percentile, 0.0);
    assert!(index.percentiles(&key("three")).expect("none").is_empty());
    let standing = index.percentiles_of_row(row, &[]).expect("standing");
    assert_eq!(standing.results, 5);
    let median = standing.quantiles.iter().find(|q| q.percent == 50);
    assert_eq!(median.map(|q| q.value_ns), Some(2.0 * base));
    let order: Vec<_> = standing.machines.iter().map(|m| &m.machine).collect();
    assert_eq!(order, [&key("one"), &key("two")]);
    assert_eq!(standing.machines[0].percentile, 50.0);
    assert_eq!(standing.machines[0].results, 3);
    let nothing = index.percentiles_of_row("no.row", &[]).expect("none");
    assert!(nothing.quantiles.is_empty() && nothing.machines.is_empty());
    let points = index.percentiles(&key("one")).expect("percentiles");
    assert!(points.iter().any(|p| !p.at.is_empty()), "points have their own rows");
}
