//! A process that dies between any two steps: what it had acknowledged is
//! there, nothing is half there, and whoever comes next finds it in order.

use super::*;
use crate::crash::AT;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// What the child does, and where.
const ACTION: &str = "LATLAS_TEST_ACTION";
const DIR: &str = "LATLAS_TEST_DIR";

/// Not a test of its own: what the others kill.
#[test]
#[ignore = "the child of the tests beside it"]
fn child() {
    let (Ok(action), Ok(dir)) = (std::env::var(ACTION), std::env::var(DIR)) else {
        println!("SKIPPED: only a child of the tests beside it");
        return;
    };
    let store = Store::in_directory(Path::new(&dir));
    let first = numbered(1, "one").id;
    match action.as_str() {
        "keep" => {
            keep(&store, &numbered(4, "one")).expect("kept");
        }
        "open" => drop(Index::open(store).expect("opened")),
        "delete" => {
            let index = Index::open(store).expect("opened");
            index.delete(&first).expect("deleted");
        }
        "rebuild" => {
            let index = Index::open(store).expect("opened");
            index.rebuild().expect("rebuilt");
        }
        "move" => {
            let other = numbered(2, "two").id;
            store.tag("base", &other, Taken::Moved).expect("moved");
        }
        other => panic!("no action {other}"),
    }
}

/// Lets a child die at a point; a point that it never comes to is a mistake of
/// the test.
fn dies(home: &Home, action: &str, at: &str) {
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "index::tests::crash::child", "--ignored"])
        .env(ACTION, action)
        .env(DIR, home.dir.path())
        .env(AT, at)
        .output()
        .expect("started");
    let messages = String::from_utf8_lossy(&child.stdout).into_owned();
    assert_eq!(
        child.status.signal(),
        Some(6),
        "{action} did not die at {at:?}: {messages}"
    );
}

/// All is sound, with nothing to tell, and these runs are kept.
fn sound_with(home: &Home, runs: &[&str], after: &str) {
    let index = home.quiet();
    assert_eq!(ids(&index), runs, "{after}");
    let verified = index.verify().expect("verified");
    assert!(verified.is_whole(), "{after}: {verified:?}");
}

const THREE: [&str; 3] = ["00000003", "00000002", "00000001"];
const FOUR: [&str; 4] = ["00000004", "00000003", "00000002", "00000001"];

#[test]
fn a_run_is_kept_wholly_or_not_at_all() {
    for (at, kept) in [
        ("document begun", false),
        ("document filled", false),
        ("document synced", false),
        ("document linked", true),
        ("document kept", true),
        ("run begun", true),
        ("run put in", true),
        ("index committed", true),
    ] {
        let home = Home::with_three();
        dies(&home, "keep", at);
        sound_with(&home, if kept { &FOUR } else { &THREE }, at);
        // It can be kept again where it was not, and is refused where it was.
        let again = keep(&home.store, &numbered(4, "one"));
        assert_eq!(again.is_ok(), !kept, "{at}");
        sound_with(&home, &FOUR, at);
    }
}

#[test]
fn an_index_that_is_being_made_is_made_by_the_next() {
    for at in [
        "first tables made",
        "run begun",
        "document indexed",
        "agreed",
    ] {
        let home = Home::new();
        for n in 1..=3 {
            home.store.save(&numbered(n, "one")).expect("saved");
        }
        dies(&home, "open", at);
        sound_with(&home, &THREE, at);
    }
}

#[test]
fn a_rebuild_that_dies_leaves_the_old_index() {
    for at in ["tables made anew", "run begun", "document indexed"] {
        let home = Home::with_three();
        dies(&home, "rebuild", at);
        sound_with(&home, &THREE, at);
    }
    let home = Home::with_three();
    let broken = file::newest(home.dir.path());
    std::fs::write(&broken, vec![0xa5; 9000]).expect("broken");
    dies(&home, "open", "next index made");
    assert!(broken.exists(), "it died before that was removed");
    sound_with(&home, &THREE, "a broken index");
}

#[test]
fn a_deletion_that_dies_leaves_at_most_a_tag() {
    let two = ["00000003", "00000002"];
    for at in ["document removed", "tags removed"] {
        let home = Home::with_three();
        let first = numbered(1, "one").id;
        home.store
            .tag("base", &first, Taken::Refused)
            .expect("tagged");
        dies(&home, "delete", at);
        let index = home.quiet();
        assert_eq!(ids(&index), two, "{at}");
        let lost = index.verify().expect("verified").tags;
        assert_eq!(
            lost.len(),
            usize::from(at == "document removed"),
            "{lost:?}"
        );
        if !lost.is_empty() {
            assert!(lost[0].contains("which was deleted"), "{lost:?}");
            home.store.untag("base").expect("removed");
        }
        sound_with(&home, &two, at);
    }
}

#[test]
fn a_tag_that_is_being_moved_names_one_run_or_the_other() {
    let (first, second) = (numbered(1, "one").id, numbered(2, "two").id);
    for (at, named) in [
        ("document begun", &first),
        ("document filled", &first),
        ("document synced", &first),
    ] {
        let home = Home::with_three();
        home.store
            .tag("base", &first, Taken::Refused)
            .expect("tagged");
        dies(&home, "move", at);
        assert_eq!(
            home.store.tagged("base").expect("whole").as_ref(),
            Some(named),
            "{at}"
        );
        home.store
            .tag("base", &second, Taken::Moved)
            .expect("moved");
        assert_eq!(
            home.store.tagged("base").expect("whole"),
            Some(second.clone())
        );
    }
}
