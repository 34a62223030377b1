use super::*;
use crate::render::synthetic;

#[test]
fn a_kept_run_comes_back_as_it_was() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    assert!(matches!(store.last(), Err(StoreError::Empty(_))));
    let run = synthetic::run();
    let path = store.save(&run).expect("saved");
    assert_eq!(store.last().expect("last"), path);
    assert!(read(&path).expect("read") == run);
    let again = store.save(&run).expect_err("immutable").to_string();
    assert!(again.contains("already kept"), "{again}");
}

#[test]
fn runs_are_found_by_time_and_by_id() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    let mut run = synthetic::run();
    run.id = "aaaa0000-0000-4000-8000-000000000001".into();
    let later = store.save(&run).expect("saved");
    run.id = "aabb0000-0000-4000-8000-000000000002".into();
    run.started_unix_ms -= 1000;
    let earlier = store.save(&run).expect("saved");
    std::fs::write(store.runs_dir().join("notes.txt"), "x").expect("note");
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
        too_far.contains("last~2") && too_far.contains("2 runs are kept"),
        "{too_far}"
    );
    let store = Ok(store);
    assert_eq!(named("last~1", &store).expect("before"), earlier);
    assert_eq!(named("AABB", &store).expect("any case"), earlier);
    let odd = named("last~x", &store).expect_err("no number");
    assert!(matches!(odd, StoreError::NoSuchFile { .. }), "{odd}");
}

#[test]
fn runs_of_one_second_come_in_their_order() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    let mut run = synthetic::run();
    run.started_unix_ms = 1_795_225_964_007;
    let mut saved = Vec::new();
    // The later it began, the earlier its id sorts.
    for id in ["cccc", "bbbb", "aaaa"] {
        run.id = format!("{id}0000-0000-4000-8000-000000000001");
        saved.push(store.save(&run).expect("saved"));
        run.started_unix_ms += 90;
    }
    assert_eq!(store.paths().expect("paths"), saved);
    assert_eq!(store.last().expect("last"), saved[2]);
    assert_eq!(store.back(1).expect("before"), saved[1]);
    // As older versions named them: without thousandths.
    let old = |stamp: &str, id: &str| {
        let name = format!("{stamp}Z-{id}0000-0000-4000-8000-000000000001.json.zst");
        let path = store.runs_dir().join(name);
        std::fs::write(&path, "").expect("written");
        path
    };
    let before = old("20261121T015243", "ffff");
    let same = old("20261121T015244", "eeee");
    let after = old("20261121T015245", "0000");
    let mut sorted = vec![before, same];
    sorted.extend(saved);
    sorted.push(after);
    assert_eq!(store.paths().expect("paths"), sorted);
}

#[test]
fn an_id_that_would_leave_the_directory_is_refused() {
    let dir = tempfile::tempdir().expect("tempdir");
    let mut run = synthetic::run();
    run.id = "../../x".into();
    let error = Store::in_directory(dir.path()).save(&run);
    assert!(matches!(error, Err(StoreError::Unwritable(_))), "{error:?}");
}
