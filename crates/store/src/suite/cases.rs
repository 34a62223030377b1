//! The cases of both.

use super::Home;
use crate::index::tests::{ids, numbered};
use crate::index::{keep, results};
use crate::tests::long_ago;
use crate::{StoreError, Taken, named, read, transfer};
use model::run::{Outcome, Run};
use model::summary::{KeptResult, KeptRun, Machine, MachineKey};
use model::synthetic;

const RUN: &str = "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";
const OTHER: &str = "6e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";

pub(super) fn every_answer_is_what_the_documents_say(home: &Home) {
    home.keep_three();
    let index = home.quiet();
    assert_eq!(ids(&index), ["00000003", "00000002", "00000001"]);
    for kept in index.runs().expect("runs") {
        let run = crate::read(&kept.path).expect("document");
        assert_eq!(kept, KeptRun::of(&run, kept.path.clone()));
        assert_eq!(index.results_of(&run.id).expect("results"), results(&run));
        assert_eq!(index.run(&run.id).expect("run"), Some(kept));
    }
    assert!(index.results_of("no id").expect("none").is_empty());
    assert!(
        index
            .percentiles_of_row("a\0b", &[])
            .expect("none")
            .machines
            .is_empty()
    );
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

pub(super) fn a_run_of_the_future_is_not_the_newest(home: &Home) {
    home.keep_three();
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

pub(super) fn figures_of_two_modes_are_never_set_against_each_other(home: &Home) {
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

pub(super) fn percentiles_count_reliable_figures_of_all_machines(home: &Home) {
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

pub(super) fn tags_outlive_a_rebuild_and_are_deleted_with_their_run(home: &Home) {
    home.keep_three();
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

pub(super) fn a_run_is_kept_once_and_by_one(home: &Home) {
    home.keep_three();
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
    if !home.store.is_database() {
        let files = home.store.files().expect("files");
        assert_eq!(files.len(), 4, "nothing is left: {files:?}");
    }
}

pub(super) fn a_kept_run_comes_back_as_it_was(home: &Home) {
    let store = home.store.clone();
    assert!(matches!(store.last(), Err(StoreError::Empty(_))));
    let run = synthetic::run();
    let path = store.save(&run).expect("saved");
    assert_eq!(store.last().expect("last"), path);
    assert!(read(&path).expect("read") == run);
    let again = store.save(&run).expect_err("immutable").to_string();
    assert!(again.contains("already kept"), "{again}");
}

pub(super) fn runs_are_found_by_time_and_by_id(home: &Home) {
    let store = home.store.clone();
    let mut run = long_ago();
    run.id = "aaaa0000-0000-4000-8000-000000000001".into();
    let later = store.save(&run).expect("saved");
    run.id = "aabb0000-0000-4000-8000-000000000002".into();
    run.started_unix_ms -= 1000;
    let earlier = store.save(&run).expect("saved");
    if !store.is_database() {
        std::fs::write(store.runs_dir().join("notes.txt"), "x").expect("note");
    }
    assert_eq!(
        store.paths().expect("paths"),
        [earlier.clone(), later.clone()]
    );
    assert_eq!(store.last().expect("last"), later);
    assert_eq!(store.find("aab").expect("one"), earlier);
    assert!(matches!(
        store.find("aa"),
        Err(StoreError::Ambiguous { count: 2, .. })
    ));
    assert!(matches!(store.find("c"), Err(StoreError::NoSuchRun { .. })));
    assert_eq!(store.back(0).expect("newest"), later);
    assert_eq!(store.back(1).expect("before"), earlier);
    let too_far = store.back(2).expect_err("two are kept").to_string();
    assert!(
        too_far.contains("last~2") && too_far.contains("2 runs are stored"),
        "{too_far}"
    );
    let store = Ok(store);
    assert_eq!(named("last~1", &store).expect("before"), earlier);
    assert_eq!(named("AABB", &store).expect("any case"), earlier);
    let odd = named("last~x", &store).expect_err("no number");
    assert!(matches!(odd, StoreError::NoSuchFile { .. }), "{odd}");
}

pub(super) fn an_id_that_would_leave_the_directory_is_refused(home: &Home) {
    let mut run = synthetic::run();
    run.id = "../../x".into();
    let error = home.store.save(&run);
    assert!(matches!(error, Err(StoreError::Unwritable(_))), "{error:?}");
}

pub(super) fn what_is_not_whole_is_kept_and_never_the_last(home: &Home) {
    let store = home.store.clone();
    let save = |number: u64, change: fn(&mut Run)| {
        let mut run = long_ago();
        run.id = format!("{number:08x}-0000-4000-8000-000000000001");
        run.started_unix_ms += 1000 * number;
        change(&mut run);
        store.save(&run).expect("saved")
    };
    save(1, |run| run.partial = Some("interrupted".into()));
    let none = store.last().expect_err("none").to_string();
    assert!(
        none.contains("no complete run in") && none.contains("only 1"),
        "{none}"
    );
    let whole = save(2, |_| ());
    save(3, |run| run.partial = Some("interrupted".into()));
    let newer = save(4, |_| ());
    let empty = save(5, |run| run.rows.clear());
    let (last, passed) = store.newest(0).expect("whole");
    assert_eq!((last, passed.not_whole.len()), (newer, 1));
    assert!(passed.lines()[0].contains("00000005 is not `last`: empty"));
    let store = Ok(store);
    assert_eq!(named("last~1", &store).expect("whole"), whole);
    assert_eq!(named("00000005", &store).expect("by its id"), empty);
    let error = named("last~2", &store).expect_err("two").to_string();
    assert!(error.contains("2 runs are stored"), "{error}");
}

pub(super) fn a_tag_is_given_moved_and_taken_away(home: &Home) {
    let store = home.store.clone();
    assert!(store.tags().expect("none").is_empty());
    let none: Vec<String> = Vec::new();
    assert_eq!(store.tag("base", RUN, Taken::Refused).expect("given"), none);
    assert_eq!(store.tag("base", RUN, Taken::Refused).expect("again"), none);
    let taken = store.tag("base", OTHER, Taken::Refused).expect_err("taken");
    assert!(
        taken.to_string().contains(RUN) && taken.to_string().contains("--move"),
        "{taken}"
    );
    let folded = store
        .tag("Base", OTHER, Taken::Refused)
        .expect_err("as good as one");
    assert!(folded.to_string().contains("there is base"), "{folded}");
    let before = store.tag("base", OTHER, Taken::Moved).expect("moved");
    assert_eq!(before, [RUN]);
    let all = store.tags().expect("one");
    assert_eq!((all.len(), all[0].run.as_str()), (1, OTHER));
    assert_eq!(store.untag("base").expect("removed"), [OTHER]);
    let none = store.untag("base").expect_err("gone");
    assert!(matches!(none, StoreError::NoSuchTag { .. }), "{none}");
    assert!(store.untag("../runs").is_err());
}

pub(super) fn several_runs_share_a_tag_and_the_newest_is_meant(home: &Home) {
    let store = home.store.clone();
    let mut ids = Vec::new();
    for number in 0..3 {
        let mut run = model::synthetic::run();
        run.id = format!("{number}e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b");
        run.started_unix_ms += number * 1000;
        store.save(&run).expect("kept");
        ids.push(run.id);
    }
    // Not in the order in which they began.
    for run in [&ids[2], &ids[0], &ids[1], &ids[0]] {
        store.tag("main", run, Taken::Shared).expect("given");
    }
    let all = store.runs_tagged("main").expect("read");
    assert_eq!(all, [&ids[2][..], &ids[0], &ids[1]]);
    assert_eq!(store.tags().expect("read").len(), 3);
    let of_name = || named("main", &Ok(store.clone()));
    assert_eq!(of_name().expect("kept"), store.find(&ids[2]).expect("kept"));
    let taken = store.tag("main", OTHER, Taken::Refused).expect_err("taken");
    assert!(taken.to_string().contains("--add"), "{taken}");
    // One goes, the others stay.
    store
        .remove(&store.find(&ids[2]).expect("kept"))
        .expect("removed");
    assert_eq!(of_name().expect("kept"), store.find(&ids[1]).expect("kept"));
    store.untag_run("main", &ids[2]).expect("taken away");
    assert_eq!(
        store.runs_tagged("main").expect("read"),
        [&ids[0][..], &ids[1]]
    );
    let before = store.tag("main", &ids[1], Taken::Moved).expect("moved");
    assert_eq!(before, [&ids[0][..]]);
    assert_eq!(store.runs_tagged("main").expect("read"), [&ids[1][..]]);
    store.untag_run("main", &ids[1]).expect("taken away");
    assert!(store.tags().expect("none").is_empty());
}

pub(super) fn one_run_says_the_same_to_every_question_after_a_rebuild(home: &Home) {
    home.keep_three();
    let index = home.quiet();
    let key = MachineKey::of(&numbered(1, "one"));
    let asked = || {
        let standing = index.percentiles_of_row("cpu.add_i32", &[]).expect("asked");
        let history = index
            .history(&key, "memory.latency", &[1024])
            .expect("asked");
        let percentiles = index.percentiles(&key).expect("asked");
        let runs = index.runs().expect("asked");
        (
            standing,
            history,
            percentiles,
            runs,
            index.rows(None).expect("asked"),
        )
    };
    let before = asked();
    assert_eq!(before.1.len(), 2);
    assert!(!before.2.is_empty() && before.0.machines.len() == 2);
    let rebuilt = index.rebuild().expect("rebuilt");
    assert_eq!((rebuilt.documents, rebuilt.unreadable), (3, 0));
    assert_eq!(asked(), before);
}

pub(super) fn an_index_that_was_opened_before_the_first_run_takes_it_up(home: &Home) {
    let index = home.open();
    assert!(home.store.is_database() || !index.path().exists());
    index.keep(&numbered(1, "one")).expect("kept");
    index.keep(&numbered(2, "one")).expect("kept");
    assert_eq!(ids(&index), ["00000002", "00000001"]);
    assert!(home.store.is_database() || index.path().exists());
    assert_eq!(index.messages(), [""; 0]);
    assert!(home.quiet().verify().expect("verified").is_whole());
}

pub(super) fn several_writers_lose_and_double_nothing(home: &Home) {
    const WRITERS: u32 = 4;
    const EACH: u32 = 8;
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let index = home.open();
                for n in 0..EACH {
                    let run = numbered(100 * writer + n, &format!("host-{writer}"));
                    index.keep(&run).expect("kept");
                }
            });
        }
    });
    let index = home.quiet();
    assert_eq!(index.runs().expect("runs").len(), (WRITERS * EACH) as usize);
    assert_eq!(index.machines().expect("machines").len(), WRITERS as usize);
    let verified = index.verify().expect("verified");
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!(verified.documents, (WRITERS * EACH) as usize);
}

pub(super) fn single_figures_of_several_runs_come_with_the_places_of_their_runs(home: &Home) {
    home.keep_three();
    let index = home.quiet();
    let ids = [
        numbered(3, "one").id,
        "no run".into(),
        numbered(1, "one").id,
    ];
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let all = index.figures_of(&ids).expect("asked");
    let mut places: Vec<usize> = all.iter().map(|(place, _)| *place).collect();
    places.dedup();
    assert_eq!(
        places,
        [0, 2],
        "none of a run that is not kept, nor of another"
    );
    for (place, id) in [(0, ids[0]), (2, ids[2])] {
        let own: Vec<&KeptResult> = all
            .iter()
            .filter(|(at, _)| *at == place)
            .map(|(_, r)| r)
            .collect();
        let whole = index.results_of(id).expect("asked");
        let single: Vec<&KeptResult> = whole.iter().filter(|r| r.at.is_empty()).collect();
        assert_eq!(own, single, "in the order of the document");
        assert!(single.len() < whole.len(), "points are left out");
    }
}

pub(super) fn all_moves_to_a_directory_and_back(home: &Home) {
    home.keep_three();
    let index = home.quiet();
    let id = |n| numbered(n, "one").id;
    index.tag(&id(1), "base", Taken::Refused).expect("tagged");
    index.tag(&id(3), "base", Taken::Shared).expect("tagged");
    let key = MachineKey::of(&numbered(1, "one"));
    let before = index.percentiles(&key).expect("asked");
    let other = Home::in_directory();
    other
        .store
        .save(&numbered(2, "two"))
        .expect("there already");
    let copied = transfer(&home.store, &other.store, true, |_, _| ()).expect("copied");
    assert_eq!(
        (copied.copied, copied.there_before, copied.removed),
        (2, 1, 0)
    );
    assert_eq!(ids(&home.quiet()).len(), 3, "kept");
    // Again, as after an interruption.
    let moved = transfer(&home.store, &other.store, false, |_, _| ()).expect("moved");
    assert_eq!((moved.copied, moved.there_before, moved.removed), (0, 3, 3));
    assert_eq!((moved.tags, moved.stayed.len()), (2, 0));
    assert!(ids(&home.quiet()).is_empty() && home.store.tags().expect("none").is_empty());
    assert_eq!(other.quiet().percentiles(&key).expect("asked"), before);
    assert_eq!(other.store.tags().expect("both").len(), 2);
    // What is another document, or none, stays.
    let mut changed = synthetic::slower(&numbered(1, "one"), "cpu.add_i32", 2.0);
    changed.started_unix_ms += 5;
    home.store.save(&changed).expect("kept");
    let damaged = other
        .store
        .runs_dir()
        .join(format!("20200101T000000Z-{}.json.zst", id(9)));
    std::fs::write(&damaged, "no run").expect("written");
    let back = transfer(&other.store, &home.store, false, |_, _| ()).expect("moved");
    assert_eq!(
        (back.copied, back.removed, back.stayed.len()),
        (2, 2, 2),
        "{back:?}"
    );
    assert!(
        damaged.exists() && back.stayed[1].why.contains("another document"),
        "{back:?}"
    );
    assert_eq!(ids(&home.quiet()), ["00000003", "00000002", "00000001"]);
    assert!(home.quiet().verify().expect("verified").is_whole());
}
