//! Tags.

use crate::index::tests::{ids, numbered};
use crate::suite::Home;
use crate::{StoreError, Taken, path_named};

const RUN: &str = "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";
const OTHER: &str = "6e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";

pub(in crate::suite) fn tags_outlive_a_rebuild_and_are_deleted_with_their_run(home: &Home) {
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
    assert_eq!(crate::path_named("base", &store).expect("by tag"), run.path);
    let deleted = index.delete(first).expect("deleted");
    assert_eq!(deleted.tags, ["base", "v1.0"]);
    assert!(!deleted.path.exists());
    assert!(home.store.tags().expect("none").is_empty());
    assert_eq!(ids(&index), ["00000003", "00000002"]);
    assert!(matches!(index.delete(first), Err(StoreError::NoSuchRun { .. })));
}

pub(in crate::suite) fn a_tag_is_given_moved_and_taken_away(home: &Home) {
    let store = home.store.clone();
    assert!(store.tags().expect("none").is_empty());
    let none: Vec<String> = Vec::new();
    assert_eq!(store.tag("base", RUN, Taken::Refused).expect("given"), none);
    assert_eq!(store.tag("base", RUN, Taken::Refused).expect("again"), none);
    let taken = store.tag("base", OTHER, Taken::Refused).expect_err("taken");
    assert!(taken.to_string().contains(RUN) && taken.to_string().contains("--move"), "{taken}");
    let folded = store.tag("Base", OTHER, Taken::Refused).expect_err("as good as one");
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

pub(in crate::suite) fn several_runs_share_a_tag_and_the_newest_is_meant(home: &Home) {
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
    let of_name = || path_named("main", &Ok(store.clone()));
    assert_eq!(of_name().expect("kept"), store.find(&ids[2]).expect("kept"));
    let taken = store.tag("main", OTHER, Taken::Refused).expect_err("taken");
    assert!(taken.to_string().contains("--add"), "{taken}");
    // One goes, the others stay.
    store.remove(&store.find(&ids[2]).expect("kept")).expect("removed");
    assert_eq!(of_name().expect("kept"), store.find(&ids[1]).expect("kept"));
    store.untag_run("main", &ids[2]).expect("taken away");
    assert_eq!(store.runs_tagged("main").expect("read"), [&ids[0][..], &ids[1]]);
    let before = store.tag("main", &ids[1], Taken::Moved).expect("moved");
    assert_eq!(before, [&ids[0][..]]);
    assert_eq!(store.runs_tagged("main").expect("read"), [&ids[1][..]]);
    store.untag_run("main", &ids[1]).expect("taken away");
    assert!(store.tags().expect("none").is_empty());
}
