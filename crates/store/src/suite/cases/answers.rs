//! Answers of the index.

use crate::index::tests::{ids, numbered};
use crate::index::{keep, results};
use crate::suite::Home;
use model::summary::{KeptResult, KeptRun, MachineKey, MachineSummary};
use model::synthetic;

pub(in crate::suite) fn every_answer_is_what_the_documents_say(home: &Home) {
    home.keep_three();
    let index = home.quiet();
    assert_eq!(ids(&index), ["00000003", "00000002", "00000001"]);
    for kept in index.runs().expect("runs") {
        let run = crate::read_run(&kept.path).expect("document");
        assert_eq!(kept, KeptRun::from_run(&run, kept.path.clone()));
        assert_eq!(index.results_of(&run.id).expect("results"), results(&run));
        assert_eq!(index.run(&run.id).expect("run"), Some(kept));
    }
    assert!(index.results_of("no id").expect("none").is_empty());
    assert!(index.percentiles_of_row("a\0b", &[]).expect("none").machines.is_empty());
    let machines = index.machines().expect("machines");
    let of = |m: &MachineSummary| (m.host.clone().unwrap_or_default(), m.runs);
    assert_eq!(
        machines.iter().map(of).collect::<Vec<_>>(),
        [("one".to_owned(), 2), ("two".to_owned(), 1)]
    );
    // Every quantity of the document, points and what is not available too.
    let run = numbered(1, "one");
    for result in results(&run) {
        let history = index.history(&machines[0].key, &result.row, &result.at).expect("history");
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

pub(in crate::suite) fn a_run_of_the_future_is_not_the_newest(home: &Home) {
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
    let key = MachineKey::from_run(&numbered(0, "one"));
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

pub(in crate::suite) fn single_figures_of_several_runs_come_with_the_places_of_their_runs(
    home: &Home,
) {
    home.keep_three();
    let index = home.quiet();
    let ids = [numbered(3, "one").id, "no run".into(), numbered(1, "one").id];
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let all = index.figures_of(&ids).expect("asked");
    let mut places: Vec<usize> = all.iter().map(|(place, _)| *place).collect();
    places.dedup();
    assert_eq!(places, [0, 2], "none of a run that is not kept, nor of another");
    for (place, id) in [(0, ids[0]), (2, ids[2])] {
        let own: Vec<&KeptResult> =
            all.iter().filter(|(at, _)| *at == place).map(|(_, r)| r).collect();
        let whole = index.results_of(id).expect("asked");
        let single: Vec<&KeptResult> = whole.iter().filter(|r| r.at.is_empty()).collect();
        assert_eq!(own, single, "in the order of the document");
        assert!(single.len() < whole.len(), "points are left out");
    }
}

pub(in crate::suite) fn one_run_says_the_same_to_every_question_after_a_rebuild(home: &Home) {
    home.keep_three();
    let index = home.quiet();
    let key = MachineKey::from_run(&numbered(1, "one"));
    let asked = || {
        let standing = index.percentiles_of_row("cpu.add_i32", &[]).expect("asked");
        let history = index.history(&key, "memory.latency", &[1024]).expect("asked");
        let percentiles = index.percentiles(&key).expect("asked");
        let runs = index.runs().expect("asked");
        (standing, history, percentiles, runs, index.rows(None).expect("asked"))
    };
    let before = asked();
    assert_eq!(before.1.len(), 2);
    assert!(!before.2.is_empty() && before.0.machines.len() == 2);
    let rebuilt = index.rebuild().expect("rebuilt");
    assert_eq!((rebuilt.documents, rebuilt.unreadable), (3, 0));
    assert_eq!(asked(), before);
}
