//! A process that dies between any two steps: what it had acknowledged is
//! there, nothing is half there, and the next process finds it in order.

use super::*;
use crate::crash::AT;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// What the child does, and where.
const ACTION: &str = "LATLAS_TEST_ACTION";
const DIR: &str = "LATLAS_TEST_DIR";

/// Not a test of its own: what the others kill.
#[test]
#[ignore = "run as a child by the other tests"]
fn child() {
    let (Ok(action), Ok(dir)) = (std::env::var(ACTION), std::env::var(DIR)) else {
        println!("SKIPPED: runs only as a child of the other tests");
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
    assert_eq!(child.status.signal(), Some(6), "{action} did not die at {at:?}: {messages}");
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

/// What the child does, where it dies, and the runs that are kept then.
const DEATHS: [(&str, &str, &[&str]); 18] = [
    // A run is kept wholly or not at all.
    ("keep", "document begun", &THREE),
    ("keep", "document filled", &THREE),
    ("keep", "document synced", &THREE),
    ("keep", "document linked", &FOUR),
    ("keep", "document kept", &FOUR),
    ("keep", "run begun", &FOUR),
    ("keep", "run put in", &FOUR),
    ("keep", "index committed", &FOUR),
    // An index that is being made is made by the next.
    ("open", "first tables made", &THREE),
    ("open", "run begun", &THREE),
    ("open", "document indexed", &THREE),
    ("open", "part committed", &THREE),
    ("open", "agreed", &THREE),
    // A rebuild leaves the old index.
    ("rebuild", "tables made anew", &THREE),
    ("rebuild", "run begun", &THREE),
    ("rebuild", "document indexed", &THREE),
    // A deletion leaves at most a tag.
    ("delete", "document removed", &["00000003", "00000002"]),
    ("delete", "tags removed", &["00000003", "00000002"]),
];

#[test]
fn wherever_it_dies_the_next_finds_all_in_order() {
    for (action, at, kept) in DEATHS {
        let home = match action {
            "open" => Home::new(),
            _ => Home::with_three(),
        };
        let first = numbered(1, "one").id;
        match action {
            "open" => (1..=3).for_each(|n| {
                home.store.save(&numbered(n, "one")).expect("saved");
            }),
            "delete" => {
                let tagged = home.store.tag("base", &first, Taken::Refused);
                tagged.expect("tagged");
            }
            _ => {}
        }
        dies(&home, action, at);
        if at == "document removed" {
            let lost = home.quiet().verify().expect("verified").tags;
            assert!(lost[0].contains("which was deleted"), "{lost:?}");
            home.store.untag("base").expect("removed");
        }
        sound_with(&home, kept, at);
        if action == "keep" {
            // It can be kept again where it was not, and is refused where it was.
            let again = keep(&home.store, &numbered(4, "one"));
            assert_eq!(again.is_ok(), kept.len() == 3, "{at}");
            sound_with(&home, &FOUR, at);
        }
    }
}

#[test]
fn a_broken_index_goes_once_the_next_is_made() {
    let home = Home::with_three();
    // A question moves the log, from which SQLite would mend the file, into it.
    drop(home.quiet());
    let broken = file::newest(home.dir.path());
    std::fs::write(&broken, vec![0xa5; 9000]).expect("broken");
    dies(&home, "open", "next index made");
    assert!(broken.exists(), "it died before that was removed");
    sound_with(&home, &THREE, "a broken index");
}

#[test]
fn a_tag_that_is_being_moved_names_one_run_or_the_other() {
    let (first, second) = (numbered(1, "one").id, numbered(2, "two").id);
    for at in ["document begun", "document filled", "document synced"] {
        let home = Home::with_three();
        let tagged = home.store.tag("base", &first, Taken::Refused);
        tagged.expect("tagged");
        dies(&home, "move", at);
        let names = || home.store.tagged("base").expect("whole");
        assert_eq!(names().as_ref(), Some(&first), "{at}");
        home.store.tag("base", &second, Taken::Moved).expect("moved");
        assert_eq!(names().as_ref(), Some(&second));
    }
}
