//! Keeping runs, several writers, and moves to another store.

use crate::index::keep;
use crate::index::tests::{ids, numbered};
use crate::suite::Home;
use crate::{Taken, transfer};
use model::summary::MachineKey;
use model::synthetic;

pub(in crate::suite) fn a_run_is_kept_once_and_by_one(home: &Home) {
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
    assert!(verified.is_whole() && verified.documents == 4, "{verified:?}");
    if !home.store.is_database() {
        let files = home.store.files().expect("files");
        assert_eq!(files.len(), 4, "nothing is left: {files:?}");
    }
}

pub(in crate::suite) fn an_index_that_was_opened_before_the_first_run_takes_it_up(home: &Home) {
    let index = home.open_index();
    assert!(home.store.is_database() || !index.path().exists());
    index.keep(&numbered(1, "one")).expect("kept");
    index.keep(&numbered(2, "one")).expect("kept");
    assert_eq!(ids(&index), ["00000002", "00000001"]);
    assert!(home.store.is_database() || index.path().exists());
    assert_eq!(index.messages(), [""; 0]);
    assert!(home.quiet().verify().expect("verified").is_whole());
}

pub(in crate::suite) fn several_writers_lose_and_double_nothing(home: &Home) {
    const WRITERS: u32 = 4;
    const EACH: u32 = 8;
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let index = home.open_index();
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

pub(in crate::suite) fn all_moves_to_a_directory_and_back(home: &Home) {
    home.keep_three();
    let index = home.quiet();
    let id = |n| numbered(n, "one").id;
    index.tag(&id(1), "base", Taken::Refused).expect("tagged");
    index.tag(&id(3), "base", Taken::Shared).expect("tagged");
    let key = MachineKey::from_run(&numbered(1, "one"));
    let before = index.percentiles(&key).expect("asked");
    let other = Home::in_directory();
    other.store.save(&numbered(2, "two")).expect("there already");
    let copied = transfer(&home.store, &other.store, true, |_, _| ()).expect("copied");
    assert_eq!((copied.copied, copied.there_before, copied.removed), (2, 1, 0));
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
    let damaged = other.store.runs_dir().join(format!("20200101T000000Z-{}.json.zst", id(9)));
    std::fs::write(&damaged, "no run").expect("written");
    let back = transfer(&other.store, &home.store, false, |_, _| ()).expect("moved");
    assert_eq!((back.copied, back.removed, back.stayed.len()), (2, 2, 2), "{back:?}");
    assert!(damaged.exists() && back.stayed[1].why.contains("another document"), "{back:?}");
    assert_eq!(ids(&home.quiet()), ["00000003", "00000002", "00000001"]);
    assert!(home.quiet().verify().expect("verified").is_whole());
}
