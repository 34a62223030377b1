//! Broken, foreign, older and newer indexes; documents that can't be read.

use super::*;
use crate::index::schema::{self, Before};

fn index_file(home: &Home) -> PathBuf {
    file::newest(home.dir.path())
}

/// Opens it and expects all three runs and one line that says so much.
fn heals(home: &Home, said: &str) -> Index {
    let index = home.open();
    let runs = ids(&index);
    assert_eq!(runs, ["00000003", "00000002", "00000001"]);
    let messages = index.messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains(said), "{messages:?}");
    assert!(!messages[0].contains('\n'), "{messages:?}");
    index
}

fn foreign(path: &Path) {
    let foreign = Connection::open(path).expect("made");
    let made = foreign.execute_batch("CREATE TABLE precious (data)");
    made.expect("filled");
}

/// From here on nothing is reported, and the index is sound.
fn sound(home: &Home) {
    let verified = home.quiet().verify().expect("verified");
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!(verified.documents, 3);
}

#[test]
fn a_damaged_index_is_made_anew_and_said_once() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 6] = [
        ("damaged", |file| *file = b"not a database, but as long as a header of one is".into()),
        ("damaged", |file| *file = vec![0xa5; 40_000]),
        // The header stays, the rest is gone; or is something else.
        ("damaged", |file| file.truncate(5000)),
        ("damaged", |file| file[4096..].fill(0xff)),
        ("", Vec::clear),
        ("removed", Vec::clear),
    ];
    for (said, damage) in damages {
        let home = Home::with_three();
        drop(home.quiet());
        let old = index_file(&home);
        let mut bytes = std::fs::read(&old).expect("bytes");
        damage(&mut bytes);
        match said {
            "removed" => std::fs::remove_file(&old).expect("removed"),
            _ => std::fs::write(&old, &bytes).expect("written"),
        }
        match said {
            "damaged" => {
                drop(heals(&home, said));
                assert!(!old.exists(), "the broken one is gone");
            }
            // An empty or missing one is filled without a word.
            _ => assert_eq!(ids(&home.quiet()).len(), 3),
        }
        sound(&home);
    }
}

#[test]
fn damage_below_an_open_index_is_noticed_when_it_is_asked() {
    let home = Home::with_three();
    let index = home.quiet();
    let other = Connection::open(index_file(&home)).expect("opened");
    other.execute_batch("DROP TABLE result").expect("dropped");
    let key = MachineKey::of(&numbered(1, "one"));
    let history = index.history(&key, "cpu.add_i32", &[]).expect("answered");
    assert_eq!(history.len(), 2);
    assert!(index.messages()[0].contains("damaged"));
    sound(&home);
}

#[test]
fn another_programs_database_is_left_alone() {
    let home = Home::with_three();
    let path = index_file(&home);
    std::fs::remove_file(&path).expect("removed");
    foreign(&path);
    let before = std::fs::read(&path).expect("bytes");
    drop(heals(&home, "left unchanged"));
    assert_eq!(std::fs::read(&path).expect("bytes"), before);
    sound(&home);
}

#[test]
fn names_that_no_index_has_come_to_are_passed_over() {
    let home = Home::with_three();
    let path = index_file(&home);
    for name in [u64::MAX.to_string(), "007".into(), "-1".into()] {
        let odd = home.dir.path().join(format!("index-{name}.sqlite"));
        foreign(&odd);
    }
    assert_eq!(home.quiet().path(), path);
    // As many of another program's as there may be: it goes on without a file.
    let foreign = home.dir.path().join(format!("index-{}.sqlite", u64::MAX));
    std::fs::remove_file(&path).expect("removed");
    for number in 1..=9 {
        let name = home.dir.path().join(format!("index-{number}.sqlite"));
        std::fs::copy(&foreign, name).expect("copied");
    }
    // Only the newest is looked at.
    assert!(home.open().path().ends_with("index-10.sqlite"));
    sound(&home);
}

#[test]
fn an_older_index_goes_with_a_rebuild_unless_it_is_anothers() {
    let home = Home::with_three();
    let own = index_file(&home);
    let at = |number: u32| home.dir.path().join(format!("index-{number}.sqlite"));
    std::fs::copy(&own, at(6)).expect("copied");
    std::fs::write(at(2), vec![0xa5; 9000]).expect("a broken one");
    foreign(&at(3));
    let index = home.quiet();
    assert_eq!(index.path(), at(6));
    let verified = index.verify().expect("verified");
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!(verified.left_over.len(), 2, "{verified:?}");
    assert_eq!(index.rebuild().expect("rebuilt").left_over, 2);
    assert!(at(3).exists() && at(6).exists() && !at(2).exists() && !own.exists());
    sound(&home);
}

#[test]
fn an_index_of_a_newer_latlas_is_left_alone() {
    let home = Home::with_three();
    drop(home.quiet());
    let path = index_file(&home);
    let newer = Connection::open(&path).expect("opened");
    newer.pragma_update(None, "user_version", schema::VERSION + 1).expect("set");
    drop(newer);
    let before = std::fs::read(&path).expect("bytes");
    let index = heals(&home, "newer latlas");
    assert!(index.in_memory());
    index.keep(&numbered(4, "one")).expect("kept");
    assert_eq!(ids(&index).len(), 4);
    let refused = index.rebuild().expect_err("can't be written").to_string();
    assert!(refused.contains("newer latlas"), "{refused}");
    assert!(!refused.contains("atlas rebuild"), "{refused}");
    let (_, messages) = keep(&home.store, &numbered(5, "one")).expect("kept");
    assert!(messages[0].contains("the run is saved"), "{messages:?}");
    assert_eq!(std::fs::read(&path).expect("bytes"), before);
    assert_eq!(ids(&home.open()).len(), 5);
}

#[test]
fn an_index_that_another_is_creating_is_never_foreign() {
    let dir = tempfile::tempdir().expect("tempdir");
    for n in 0..40 {
        let path = dir.path().join(n.to_string());
        let other = Connection::open(&path).expect("opened");
        // What is looked for is a matter of locks, not of the disk.
        other.pragma_update(None, "synchronous", "off").expect("set");
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let change = other.unchecked_transaction().expect("begun");
                schema::create(&change).expect("created");
                change.commit().expect("committed");
            });
            let db = Connection::open(&path).expect("opened");
            db.busy_timeout(file::PATIENCE).expect("set");
            let mut seen = Before::Nothing;
            while seen == Before::Nothing {
                seen = schema::look(&db).expect("looked");
            }
            assert_eq!(seen, Before::Today, "file {n}");
        });
    }
}

/// An index as the first version wrote it, of run 1 of host `one`.
const FIRST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/index-schema-1.sqlite");

#[test]
fn the_first_versions_index_becomes_todays() {
    let home = Home::new();
    let run = numbered(1, "one");
    keep(&home.store, &run).expect("kept");
    drop(home.quiet());
    let path = index_file(&home);
    std::fs::copy(FIRST, &path).expect("the fixture");
    let look = |db: &Connection| schema::look(db).expect("looked");
    assert_eq!(look(&Connection::open(&path).expect("opened")), Before::Older);
    let index = home.quiet();
    assert_eq!(index.path(), path, "in its own file, as nothing broken");
    assert_eq!(look(&Connection::open(&path).expect("opened")), Before::Today);
    assert_eq!(index.results_of(&run.id).expect("read"), results(&run));
    assert!(index.verify().expect("verified").is_whole());
}

#[test]
fn the_second_versions_index_becomes_todays() {
    let home = Home::with_three();
    drop(home.quiet());
    // Its tables are today's; what they held differs.
    let second = Connection::open(index_file(&home)).expect("opened");
    second
        .execute_batch(
            "UPDATE OR IGNORE form SET text = json_remove(text, '$[3]');
             UPDATE result SET value = 2 * value, reason = 'raw \u{202e}';
             UPDATE run SET line = json_remove(line, '$.quiet_ratio');
             PRAGMA user_version = 2;",
        )
        .expect("as version 2 wrote it");
    assert_eq!(schema::look(&second).expect("looked"), Before::Older);
    drop(second);
    sound(&home);
}

#[test]
fn a_document_that_can_not_be_read_is_said_once_and_tried_when_it_changes() {
    let home = Home::with_three();
    let broken = home.store.save(&numbered(4, "one")).expect("saved");
    let whole = std::fs::read(&broken).expect("bytes");
    std::fs::write(&broken, &whole[..whole.len() / 2]).expect("cut");
    let index = heals(&home, "1 document can't be read");
    let verified = index.verify().expect("verified");
    assert!(!verified.is_whole());
    assert_eq!(verified.damaged.len(), 1, "{verified:?}");
    assert_eq!(verified.damaged[0].path, broken);
    assert!(verified.damaged[0].what.contains("truncated"));
    assert!(verified.index.is_empty(), "{verified:?}");
    assert_eq!(ids(&home.quiet()).len(), 3, "said once");
    std::fs::write(&broken, &whole).expect("whole again");
    assert_eq!(ids(&home.quiet()).len(), 4);
    assert!(broken.exists());
}

#[test]
fn a_document_under_another_name_is_not_believed() {
    let home = Home::with_three();
    let paths = home.store.paths().expect("paths");
    let name = |id: &str| home.store.runs_dir().join(format!("20200101T000000.000Z-{id}.json.zst"));
    std::fs::copy(&paths[0], name("ffffffff-0000-4000-8000-000000000001")).expect("copied");
    std::fs::copy(&paths[1], name(&numbered(2, "two").id)).expect("copied");
    let stray = home.store.runs_dir().join("mine.json.zst");
    std::fs::copy(&paths[1], stray).expect("copied");
    let index = heals(&home, "2 documents can't be read");
    let verified = index.verify().expect("verified");
    let whats: Vec<&str> = verified.damaged.iter().map(|d| d.what.as_str()).collect();
    assert!(whats.iter().any(|w| w.contains("its name says ffffffff")), "{whats:?}");
    assert!(whats.iter().any(|w| w.contains("not named like a stored run")), "{whats:?}");
    assert!(verified.index[0].what.contains("holds the same run"), "{verified:?}");
    // The other document goes: this one is the run's now.
    std::fs::remove_file(&paths[1]).expect("removed");
    assert_eq!(ids(&home.open()).len(), 3);
}

#[test]
fn every_difference_between_index_and_documents_is_found() {
    let home = Home::with_three();
    let index = home.quiet();
    const OF_LATENCY: &str = "the index disagrees on memory.latency";
    const OF_RUN: &str = "disagrees with the document";
    let changes = [
        ("UPDATE result SET low = low * 1.001 WHERE place = 3 AND run = 2", OF_LATENCY),
        ("UPDATE result SET verdict = 4 WHERE place = 0 AND run = 1", "memory.latency [1024]"),
        ("DELETE FROM result WHERE place = 5 AND run = 1", OF_LATENCY),
        ("UPDATE run SET line = replace(line, 'release', 'debug') WHERE run = 1", OF_RUN),
        ("UPDATE run SET counted = 0 WHERE run = 1", OF_RUN),
        ("UPDATE result SET place = 999 WHERE place = 0 AND run = 3", "another order"),
        ("UPDATE result SET below = 1.0 WHERE place = 0 AND run = 3", "memory.latency [1024]"),
        (
            "UPDATE form SET text = replace(text, '\"core\",\"frequency\"', '\"memory\",\"frequency\"')",
            "cpu.frequency",
        ),
    ];
    for (change, named) in changes {
        let other = Connection::open(index_file(&home)).expect("opened");
        let changed = other.execute(change, []).expect(change);
        assert!(changed > 0, "{change}");
        let verified = index.verify().expect("verified");
        let whats: Vec<&str> = verified.index.iter().map(|d| d.what.as_str()).collect();
        assert!(whats.iter().any(|w| w.contains(named)), "{change}: {whats:?}");
        index.rebuild().expect("rebuilt");
        assert!(index.verify().expect("verified").is_whole(), "{change}");
    }
}

#[test]
fn a_tag_of_a_run_that_is_gone_is_named() {
    let home = Home::with_three();
    let index = home.quiet();
    let run = numbered(1, "one").id;
    index.tag(&run, "base", Taken::Refused).expect("tagged");
    let path = index.run(&run).expect("asked").expect("kept").path;
    std::fs::remove_file(path).expect("removed by hand");
    std::fs::write(home.dir.path().join("tags/odd"), "nothing").expect("written");
    let lost = crate::named("base", &Ok(home.store.clone())).expect_err("gone");
    assert!(lost.to_string().contains("which was deleted"), "{lost}");
    let verified = home.quiet().verify().expect("verified");
    assert_eq!(verified.tags.len(), 2, "{verified:?}");
}

/// A pipe without another end, in the place of whatever is there.
fn pipe(path: &Path) {
    let _ = std::fs::remove_file(path);
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo runs").success());
}

#[test]
fn what_is_no_file_is_not_opened_as_the_index() {
    let socket = |path: &Path| {
        let _ = std::fs::remove_file(path);
        drop(std::os::unix::net::UnixListener::bind(path).expect("bound"));
    };
    let directory = |path: &Path| {
        let _ = std::fs::remove_file(path);
        std::fs::create_dir(path).expect("made");
    };
    type Make<'m> = &'m dyn Fn(&Path);
    let kinds: [(&str, Make); 3] = [
        ("it is a pipe, not a file", &pipe),
        ("it is a socket, not a file", &socket),
        ("it is a directory, not a file", &directory),
    ];
    for (what, make) in kinds {
        for end in ["", "-journal", "-wal", "-shm"] {
            let home = Home::with_three();
            let path = PathBuf::from(format!("{}{end}", index_file(&home).display()));
            make(&path);
            let said = match end {
                "" => format!("slower: {what}"),
                _ => format!("slower: {}: {what}", path.display()),
            };
            let index = heals(&home, &said);
            assert!(index.in_memory(), "{what}{end}");
            let refused = index.rebuild().expect_err("no file").to_string();
            assert!(refused.contains(what), "{refused}");
            // A run is kept all the same.
            keep(&home.store, &numbered(4, "one")).expect("kept");
            assert_eq!(ids(&home.open()).len(), 4);
        }
    }
}

#[test]
fn a_log_that_another_process_is_removing_is_no_trouble() {
    let home = Home::with_three();
    let path = index_file(&home);
    let log = PathBuf::from(format!("{}-journal", path.display()));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let others = || {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                std::fs::write(&log, "").expect("made");
                std::fs::remove_file(&log).expect("removed");
            }
        };
        let builder = std::thread::Builder::new();
        sys::thread::spawn_scoped(scope, builder, others).expect("a thread");
        let looked: Vec<_> = (0..20_000).map(|_| file::trusted(&path)).collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        let failed: Vec<_> = looked.iter().filter_map(|found| found.as_ref().err()).collect();
        assert!(failed.is_empty(), "{} of 20000: {:?}", failed.len(), failed[0]);
    });
}
