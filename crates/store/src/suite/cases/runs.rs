//! Kept runs, found again.

use crate::suite::Home;
use crate::tests::long_ago;
use crate::{LastOf, StoreError, path_named, read_run};
use model::run::Run;
use model::synthetic;

pub(in crate::suite) fn a_kept_run_comes_back_as_it_was(home: &Home) {
    let store = home.store.clone();
    assert!(matches!(store.last(), Err(StoreError::Empty(_))));
    let run = synthetic::run();
    let path = store.save(&run).expect("saved");
    assert_eq!(store.last().expect("last"), path);
    assert!(read_run(&path).expect("read") == run);
    let again = store.save(&run).expect_err("immutable").to_string();
    assert!(again.contains("already kept"), "{again}");
}

pub(in crate::suite) fn runs_are_found_by_time_and_by_id(home: &Home) {
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
    assert_eq!(store.paths().expect("paths"), [earlier.clone(), later.clone()]);
    assert_eq!(store.last().expect("last"), later);
    assert_eq!(store.find("aab").expect("one"), earlier);
    assert!(matches!(store.find("aa"), Err(StoreError::Ambiguous { count: 2, .. })));
    assert!(matches!(store.find("c"), Err(StoreError::NoSuchRun { .. })));
    assert_eq!(store.back(0).expect("newest"), later);
    assert_eq!(store.back(1).expect("before"), earlier);
    let too_far = store.back(2).expect_err("two are kept").to_string();
    assert!(too_far.contains("last~2") && too_far.contains("2 runs are stored"), "{too_far}");
    let store = Ok(store);
    assert_eq!(path_named("last~1", &store).expect("before"), earlier);
    assert_eq!(path_named("AABB", &store).expect("any case"), earlier);
    let odd = path_named("last~x", &store).expect_err("no number");
    assert!(matches!(odd, StoreError::NoSuchFile { .. }), "{odd}");
}

pub(in crate::suite) fn an_id_that_would_leave_the_directory_is_refused(home: &Home) {
    let mut run = synthetic::run();
    run.id = "../../x".into();
    let error = home.store.save(&run);
    assert!(matches!(error, Err(StoreError::Unwritable(_))), "{error:?}");
}

pub(in crate::suite) fn what_is_not_whole_is_kept_and_never_the_last(home: &Home) {
    let store = home.store.clone();
    let save = |number: u64, change: fn(&mut Run)| {
        let mut run = long_ago();
        run.id = format!("{number:08x}-0000-4000-8000-000000000001");
        run.started_unix_ms += 1000 * number;
        change(&mut run);
        home.store.save(&run).expect("saved")
    };
    save(1, |run| run.partial = Some("interrupted".into()));
    let none = store.last().expect_err("none").to_string();
    assert!(none.contains("no complete run in") && none.contains("only 1"), "{none}");
    let whole = save(2, |_| ());
    save(3, |run| run.partial = Some("interrupted".into()));
    let newer = save(4, |_| ());
    let empty = save(5, |run| run.rows.clear());
    let (last, passed) = store.newest(0, LastOf::All).expect("whole");
    assert_eq!((last, passed.not_whole.len()), (newer, 1));
    assert!(passed.lines()[0].contains("00000005 is not `last`: empty"));
    let named = |name: &str| path_named(name, &Ok(home.store.clone()));
    assert_eq!(named("last~1").expect("whole"), whole);
    assert_eq!(named("00000005").expect("by its id"), empty);
    let error = named("last~2").expect_err("two").to_string();
    assert!(error.contains("2 runs are stored"), "{error}");
    let commands = save(6, |run| run.commands = synthetic::run_of_commands().commands);
    assert_eq!(store.last().expect("any"), commands);
    let (of_rows, passed) = store.newest(0, LastOf::Rows).expect("whole");
    assert!(of_rows != commands && of_rows != empty);
    assert_eq!(store.newest(0, LastOf::RowsIfAny).expect("whole").0, of_rows);
    assert_eq!(passed.of_others.len(), 1);
}
