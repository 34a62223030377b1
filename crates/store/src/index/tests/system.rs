//! Documents that the system fails to read: they may be as good as ever.

use super::*;

/// A name of a document that leads to what can be opened and not read.
fn leads_nowhere(path: &Path) {
    let _ = std::fs::remove_file(path);
    // Address 0 is mapped in no process: reading it is an error of input and output.
    std::os::unix::fs::symlink("/proc/self/mem", path).expect("made");
}

const WHY: &str = "Input/output error";

#[test]
fn an_error_of_the_system_is_said_at_each_use_and_forgotten() {
    let home = Home::with_three();
    let fourth = home.store.save(&numbered(4, "one")).expect("saved");
    let whole = std::fs::read(&fourth).expect("bytes");
    leads_nowhere(&fourth);
    for _ in 0..2 {
        let index = home.open_index();
        assert_eq!(ids(&index).len(), 3);
        let messages = index.messages();
        assert_eq!(messages.len(), 1, "{messages:?}");
        let begins = format!("1 document is left out for now: can't read {}", fourth.display());
        assert!(messages[0].starts_with(&begins), "{messages:?}");
        assert!(messages[0].contains(WHY), "{messages:?}");
        index.check_readable().expect("the others");
    }
    let file = Connection::open(file::newest(home.dir.path())).expect("opened");
    let remembered: i64 =
        file.query_row("SELECT count(*) FROM unread", [], |row| row.get(0)).expect("counted");
    assert_eq!(remembered, 0);
    // One that stays open says so once.
    let index = home.open_index();
    index.messages();
    index.refresh().expect("looked again");
    assert_eq!(index.messages(), [""; 0]);
    std::fs::remove_file(&fourth).expect("removed");
    std::fs::write(&fourth, whole).expect("as before");
    index.refresh().expect("looked again");
    assert_eq!((index.messages(), ids(&index).len()), (Vec::new(), 4));
    assert_eq!(ids(&home.quiet()).len(), 4);
}

#[test]
fn a_rebuild_replaces_no_index_that_holds_more() {
    let home = Home::with_three();
    let index = home.quiet();
    let paths = home.store.paths().expect("paths");
    // One that it never held takes nothing from it.
    let fourth = home.store.save(&numbered(4, "one")).expect("saved");
    leads_nowhere(&fourth);
    let rebuilt = index.rebuild().expect("the others");
    let not_read = rebuilt.not_read.expect("one");
    assert_eq!((rebuilt.documents, rebuilt.left_unchanged), (3, false));
    assert_eq!(not_read.documents, 1);
    assert!(not_read.why.contains(WHY), "{not_read:?}");
    // One that it holds.
    leads_nowhere(&paths[0]);
    std::fs::write(&paths[1], "damaged").expect("written");
    let rebuilt = index.rebuild().expect("the third");
    let not_read = rebuilt.not_read.expect("two");
    assert_eq!((rebuilt.documents, rebuilt.left_unchanged), (3, true));
    assert_eq!((not_read.documents, rebuilt.unreadable), (2, 1));
    assert_eq!(ids(&index).len(), 3);
    // No document at all.
    for path in &paths {
        leads_nowhere(path);
    }
    let error = index.rebuild().expect_err("none").to_string();
    assert!(error.contains("can be read (4 documents)") && error.contains(WHY), "{error}");
    assert_eq!(ids(&index).len(), 3, "the index is as it was");
}

#[test]
fn a_store_of_which_nothing_can_be_read_is_not_empty() {
    let home = Home::new();
    home.open_index().check_readable().expect("nothing is stored");
    let path = home.store.save(&numbered(1, "one")).expect("saved");
    std::fs::write(&path, "damaged").expect("written");
    let machine = MachineKey::from_run(&numbered(1, "one"));
    let query = crate::history::HistoryQuery {
        machine: &machine,
        row: "cpu.add_i32",
        at: &[],
        figure: compare::history::FollowedFigure::Best,
        since_unix_ms: None,
        last: None,
    };
    let references = compare::references::References::embedded().expect("tables");
    for (why, damaged) in [("latlas atlas verify shows why", true), (WHY, false)] {
        if !damaged {
            leads_nowhere(&path);
        }
        let index = home.open_index();
        let store = Ok(home.store.clone());
        let errors = [
            index.check_readable().expect_err("none").to_string(),
            crate::history::find_history(&index, &query, &[]).expect_err("none").to_string(),
            crate::history::machine_of(&index, "one").expect_err("none").to_string(),
            crate::operand::find_operand("@one", &store, &references, &mut Vec::new())
                .expect_err("none")
                .to_string(),
            crate::operand::find_operand("one", &store, &references, &mut Vec::new())
                .expect_err("none")
                .to_string(),
        ];
        for error in errors {
            assert!(error.contains("can be read (1 document)"), "{error}");
            assert!(error.contains(why), "{error}");
        }
    }
}

#[test]
fn what_is_no_file_is_remembered_as_damage_is() {
    let home = Home::with_three();
    let name = numbered(4, "one").id;
    let name = format!("20200101T000000.000Z-{name}.json.zst");
    std::fs::create_dir(home.store.runs_dir().join(name)).expect("made");
    let messages = home.open_index().messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("1 document can't be read"), "{messages:?}");
    drop(home.quiet());
}

#[test]
fn what_cannot_be_read_here_is_not_called_damaged() {
    let home = Home::with_three();
    let index = home.quiet();
    let paths = home.store.paths().expect("paths");
    leads_nowhere(&paths[0]);
    std::fs::write(&paths[1], r#"{"schema": 99999}"#).expect("of a newer latlas");
    std::fs::write(&paths[2], "damaged").expect("damaged");
    let verified = index.verify().expect("looked");
    let of = |found: &[crate::index::Damage]| -> Vec<PathBuf> {
        found.iter().map(|damage| damage.path.clone()).collect()
    };
    assert_eq!(of(&verified.unread), paths[..2]);
    assert_eq!(of(&verified.damaged), paths[2..]);
    assert!(verified.unread[0].what.contains(WHY), "{verified:?}");
    assert!(verified.unread[1].what.contains("use a newer latlas"), "{verified:?}");
    std::fs::remove_file(&paths[2]).expect("removed");
    assert!(!index.verify().expect("looked").is_whole(), "not all was read");
}
