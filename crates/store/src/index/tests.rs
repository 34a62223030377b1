//! The index on made-up stores.

use super::fault::Fault;
use super::open::State;
use super::*;
use crate::{Store, StoreError, Taken};
use model::machine::Fact;
use model::run::{Outcome, Run};
use model::summary::{KeptRun, Machine, MachineKey};
use model::synthetic;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

mod crash;
mod damage;
mod documents;

/// The synthetic run as number `n`, so many seconds later, of a host.
pub(super) fn numbered(n: u32, host: &str) -> Run {
    let mut run = synthetic::run();
    run.id = format!("{n:08x}-0000-4000-8000-000000000001");
    run.started_unix_ms += u64::from(n) * 1000;
    run.machine.hostname = Fact::known(host.to_owned());
    run
}

pub(super) struct Home {
    pub(super) dir: tempfile::TempDir,
    pub(super) store: Store,
}

impl Home {
    pub(super) fn new() -> Home {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        Home { dir, store }
    }

    /// With runs 1 and 3 of the host `one` and run 2 of `two`.
    pub(super) fn with_three() -> Home {
        let home = Home::new();
        for (n, host) in [(1, "one"), (2, "two"), (3, "one")] {
            let kept = keep(&home.store, &numbered(n, host)).expect("kept");
            assert!(kept.1.is_empty(), "{:?}", kept.1);
        }
        home
    }

    pub(super) fn open(&self) -> Index {
        Index::open(self.store.clone()).expect("opened")
    }

    /// Opened, with nothing to tell.
    pub(super) fn quiet(&self) -> Index {
        let index = self.open();
        assert_eq!(index.messages(), [""; 0]);
        assert!(!index.in_memory());
        index
    }
}

pub(super) fn ids(index: &Index) -> Vec<String> {
    let runs = index.runs().expect("runs").into_iter();
    runs.map(|run| run.id[..8].to_owned()).collect()
}

#[test]
fn nothing_is_made_where_nothing_is_kept() {
    let home = Home::new();
    let index = home.open();
    assert!(index.runs().expect("none").is_empty());
    assert!(index.machines().expect("none").is_empty());
    assert!(index.messages().is_empty());
    assert_eq!(std::fs::read_dir(home.dir.path()).expect("home").count(), 0);
}

#[test]
fn every_answer_is_what_the_documents_say() {
    let home = Home::with_three();
    let index = home.quiet();
    assert_eq!(ids(&index), ["00000003", "00000002", "00000001"]);
    for kept in index.runs().expect("runs") {
        let run = crate::read(&kept.path).expect("document");
        assert_eq!(kept, KeptRun::of(&run, kept.path.clone()));
        assert_eq!(index.results_of(&run.id).expect("results"), results(&run));
        assert_eq!(index.run(&run.id).expect("run"), Some(kept));
    }
    assert!(index.results_of("no id").expect("none").is_empty());
    let machines = index.machines().expect("machines");
    let of = |m: &Machine| (m.host.clone().unwrap_or_default(), m.runs);
    assert_eq!(
        machines.iter().map(of).collect::<Vec<_>>(),
        [("one".to_owned(), 2), ("two".to_owned(), 1)]
    );
    // Every quantity of the document, points and what is not available too.
    let run = numbered(1, "one");
    for result in results(&run) {
        let history = index
            .history(&machines[0].key, &result.row, &result.at)
            .expect("history");
        let messages: Vec<_> = history.iter().map(|(run, r)| (&run.id[..8], r)).collect();
        assert_eq!(messages, [("00000001", &result), ("00000003", &result)]);
    }
    let rows = index.rows(Some(&machines[1].key)).expect("rows");
    assert_eq!(rows.len(), results(&run).len());
    assert_eq!(rows, index.rows(None).expect("rows"));
    let verified = index.verify().expect("verified");
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!((verified.documents, verified.results), (3, 3 * rows.len()));
}

#[test]
fn copied_documents_are_indexed_and_removed_ones_dropped() {
    let home = Home::with_three();
    drop(home.quiet());
    let fourth = home.store.save(&numbered(4, "two")).expect("saved");
    let kept_open = home.quiet();
    assert_eq!(ids(&kept_open)[0], "00000004");
    std::fs::remove_file(&fourth).expect("removed");
    assert_eq!(ids(&home.quiet()).len(), 3);
    home.store.save(&numbered(5, "two")).expect("saved");
    assert_eq!(ids(&kept_open).len(), 3, "it sees what the other did");
    kept_open.refresh().expect("looked again");
    assert_eq!(ids(&kept_open)[0], "00000005");
}

#[test]
fn a_run_of_the_future_is_not_the_newest() {
    let home = Home::with_three();
    let row = "cpu.add_i32";
    for (n, host) in [(4, "three"), (5, "one")] {
        let mut ahead = synthetic::slower(&numbered(n, host), row, 2.0);
        ahead.started_unix_ms = 32_503_680_000_000 - u64::from(n);
        keep(&home.store, &ahead).expect("kept");
    }
    let index = home.quiet();
    assert_eq!(ids(&index)[3..], ["00000004", "00000005"]);
    let machines = index.machines().expect("machines");
    assert_eq!(machines[2].host.as_deref(), Some("three"));
    // Nor is it the latest figure of its machine.
    let key = MachineKey::of(&numbered(0, "one"));
    let history = index.history(&key, row, &[]).expect("history");
    let order: Vec<&str> = history.iter().map(|(run, _)| &run.id[..8]).collect();
    assert_eq!(order, ["00000005", "00000001", "00000003"]);
    let value = history[2].1.reliable().expect("a figure");
    let all = index.percentiles(&key).expect("percentiles");
    let own = all.iter().find(|p| p.row == row).expect("the row");
    assert_eq!(own.value_ns, value);
    let standing = index.percentiles_of_row(row, &[]).expect("standing");
    let of_one = standing.machines.iter().find(|m| m.machine == key);
    assert_eq!(of_one.map(|m| m.value_ns), Some(value));
}

#[test]
fn figures_of_two_modes_are_never_set_against_each_other() {
    let home = Home::new();
    let row = "sync.handoff/pipe";
    let usual = [("same CPU", 0.9, 4000.0), ("other CPU", 0.1, 40_000.0)];
    let moved = [("other CPU", 0.9, 40_000.0), ("same CPU", 0.1, 4000.0)];
    let add = |n, host, ns, modes| {
        let estimate = synthetic::in_modes(ns, modes);
        let run = synthetic::with(numbered(n, host), row, estimate);
        keep(&home.store, &run).expect("kept");
    };
    add(1, "one", 4100.0, &usual);
    add(2, "two", 4100.0, &usual);
    add(3, "two", 39_000.0, &moved);
    add(4, "three", 4100.0, &usual);
    let index = home.quiet();
    let of = |host| {
        let key = MachineKey::of(&numbered(0, host));
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

#[test]
fn percentiles_count_reliable_figures_of_all_machines() {
    let home = Home::new();
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
    add(5, "two", 9.0, |run| {
        run.imported = Some(synthetic::imported())
    });
    add(6, "two", 9.0, |run| {
        run.program.emulated = Some("qemu".into())
    });
    add(7, "one", 9.0, |run| {
        for row in &mut run.rows {
            if let Outcome::Figure(e) | Outcome::Level { estimate: e, .. } = &mut row.outcome {
                e.verdict = model::estimate::Verdict::Noisy;
            }
        }
    });
    let index = home.quiet();
    let key = |host| MachineKey::of(&numbered(0, host));
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
    assert_eq!(
        (of("two").value_ns, of("two").percentile),
        (3.0 * base, 0.0)
    );
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
    assert!(
        points.iter().any(|p| !p.at.is_empty()),
        "points have their own rows"
    );
}

#[test]
fn tags_are_files_next_to_the_index_and_are_deleted_with_their_run() {
    let home = Home::with_three();
    let index = home.quiet();
    let first = &numbered(1, "one").id;
    let absent = index.tag(&numbered(9, "one").id, "base", Taken::Refused);
    assert!(matches!(absent, Err(StoreError::NoSuchRun { .. })));
    index.tag(first, "base", Taken::Refused).expect("tagged");
    index.tag(first, "v1.0", Taken::Refused).expect("tagged");
    index.rebuild().expect("rebuilt");
    let run = index.run(first).expect("asked").expect("kept");
    assert_eq!(run.tags, ["base", "v1.0"]);
    let store = Ok(home.store.clone());
    assert_eq!(crate::named("base", &store).expect("by tag"), run.path);
    let deleted = index.delete(first).expect("deleted");
    assert_eq!(deleted.tags, ["base", "v1.0"]);
    assert!(!deleted.path.exists());
    assert!(home.store.tags().expect("none").is_empty());
    assert_eq!(ids(&index), ["00000003", "00000002"]);
    assert!(matches!(
        index.delete(first),
        Err(StoreError::NoSuchRun { .. })
    ));
}

#[test]
fn a_run_is_kept_once_and_by_one() {
    let home = Home::with_three();
    let index = home.quiet();
    let again = index.keep(&numbered(1, "one")).expect_err("kept");
    assert!(again.to_string().contains("already kept"), "{again}");
    // Many at once, of which one may win.
    let outcomes: Vec<bool> = std::thread::scope(|scope| {
        let keep = || keep(&home.store, &numbered(7, "one")).is_ok();
        let all: Vec<_> = (0..8).map(|_| scope.spawn(keep)).collect();
        all.into_iter().map(|t| t.join().expect("ended")).collect()
    });
    assert_eq!(outcomes.iter().filter(|&&ok| ok).count(), 1);
    let verified = home.quiet().verify().expect("verified");
    assert!(
        verified.is_whole() && verified.documents == 4,
        "{verified:?}"
    );
    let files = home.store.files().expect("files");
    assert_eq!(files.len(), 4, "nothing is left: {files:?}");
}
