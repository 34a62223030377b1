use super::*;
use model::synthetic;
use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

/// A run that is not to come, whatever this machine's clock says.
pub(crate) fn long_ago() -> Run {
    Run { started_unix_ms: 1_577_836_800_000, ..synthetic::run() }
}

/// Keeps such a run of this number that began so many days later, in a file
/// that was written then too, or on another day.
fn kept(store: &Store, number: u32, day: u64, written_day: Option<u64>) -> PathBuf {
    const DAY_MS: u64 = 86_400_000;
    let began = long_ago().started_unix_ms;
    let run = Run {
        id: format!("{number:08x}-0000-4000-8000-000000000001"),
        started_unix_ms: began + day * DAY_MS,
        ..long_ago()
    };
    let path = store.save(&run).expect("saved");
    let written = began + written_day.unwrap_or(day) * DAY_MS;
    let written = UNIX_EPOCH + Duration::from_millis(written);
    let file = File::options().write(true).open(&path).expect("there");
    file.set_modified(written).expect("a time");
    path
}

#[test]
fn runs_of_one_second_come_in_their_order() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    let mut run = long_ago();
    run.started_unix_ms += 4_007;
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
    let before = old("20200101T000003", "ffff");
    let same = old("20200101T000004", "eeee");
    let after = old("20200101T000005", "0000");
    let mut sorted = vec![before, same];
    sorted.extend(saved);
    sorted.push(after);
    assert_eq!(store.paths().expect("paths"), sorted);
}

#[test]
fn a_time_to_come_makes_no_run_the_newest_for_good() {
    const DECADES: u64 = 30_000;
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    let first = kept(&store, 1, 0, None);
    // Of a machine whose clock was ahead when it measured and when it wrote.
    let ahead = kept(&store, 2, DECADES, None);
    let second = kept(&store, 3, 10, None);
    // Of such a machine, brought here on the fifth day.
    let brought = kept(&store, 4, DECADES, Some(5));
    let all = [&ahead, &first, &brought, &second].map(Clone::clone);
    assert_eq!(store.paths().expect("paths"), all);
    let (last, passed) = store.newest(0, LastOf::All).expect("one");
    assert_eq!(last, second);
    let lines = passed.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("2 kept runs") && lines[0].contains("in the future"), "{lines:?}");
    // Once it is no longer to come, its time is a time like any other.
    let then = SystemTime::now() + Duration::from_secs(2 * DECADES * 86_400);
    let then = store.paths_at(then).expect("paths");
    assert_eq!(then, [first, second, ahead, brought]);
}

#[test]
fn where_the_clock_went_back_all_before_come_in_their_order() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    let saved: Vec<PathBuf> = [20, 30, 40].map(|day| kept(&store, day, day.into(), None)).into();
    let now = kept(&store, 1, 1, None);
    // A machine without a battery begins anew.
    let began = UNIX_EPOCH + Duration::from_millis(long_ago().started_unix_ms);
    let paths = store.paths_at(began + Duration::from_secs(2 * 86_400)).expect("paths");
    assert_eq!(paths, [saved, vec![now]].concat());
}

#[test]
fn a_store_without_room_or_right_is_known_before() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(&dir.path().join("a/b"));
    store.check_keepable().expect("made");
    let left = std::fs::read_dir(store.runs_dir()).expect("made").count();
    assert_eq!(left, 0, "the check leaves nothing");
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("written");
    for below in [file.as_path(), Path::new("/dev/null/x"), Path::new("/proc/x")] {
        let error = Store::in_directory(below).check_keepable();
        assert!(matches!(error, Err(StoreError::Io { .. })), "{error:?}");
    }
}

/// Puts something under the name of a document of this day and number.
fn put(store: &Store, number: u32, day: u64, make: impl Fn(&Path)) -> PathBuf {
    let began = long_ago().started_unix_ms + day * 86_400_000;
    let id = format!("{number:08x}-0000-4000-8000-000000000001");
    let name = format!("{}-{id}.json.zst", utc::stamp(began));
    let path = store.runs_dir().join(name);
    make(&path);
    path
}

#[test]
fn the_last_run_is_the_newest_that_can_be_read() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    let first = kept(&store, 1, 1, None);
    let second = kept(&store, 2, 2, None);
    let names = |name: &str, path: &Path| format!("{name} {}: ", path.display());
    // In the past, or with a time to come: the file was written now.
    for (number, day) in [(3, 3), (4, 90_000)] {
        let junk = put(&store, number, day, |path| {
            std::fs::write(path, "junk").expect("written");
        });
        let (last, passed) = store.newest(0, LastOf::All).expect("the second");
        assert_eq!(last, second);
        let lines = passed.lines();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with(&names("`last` skips", &junk)), "{lines:?}");
        assert!(lines[0].contains("damaged") || lines[0].contains("JSON"), "{lines:?}");
        assert_eq!(store.back(1).expect("the first"), first);
        std::fs::remove_file(junk).expect("removed");
    }
    let directory = put(&store, 5, 5, |path| std::fs::create_dir(path).expect("made"));
    let lines = store.newest(0, LastOf::All).expect("the second").1.lines();
    let what = names("`last` skips", &directory) + "it is a directory, not a file";
    assert_eq!(lines, [what]);
    // Of a newer latlas, and under another run's id.
    put(&store, 6, 6, |path| std::fs::write(path, "{\"schema\":99}").expect("written"));
    let other = put(&store, 7, 7, |path| {
        std::fs::copy(&second, path).expect("copied");
    });
    let (last, passed) = store.newest(0, LastOf::All).expect("the second");
    assert_eq!(last, second);
    let begins = names("`last` skips 3 documents that can't be read, such as", &other);
    let lines = passed.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with(&(begins + "its name says 00000007")), "{lines:?}");
    let too_far = store.back(2).expect_err("two").to_string();
    assert!(too_far.contains("2 runs are stored"), "{too_far}");
    for path in [&first, &second] {
        std::fs::remove_file(path).expect("removed");
    }
    let none = store.back(0).expect_err("none").to_string();
    assert!(none.contains("can be read (3 documents): "), "{none}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_newer_run_that_the_system_fails_to_read_is_not_skipped() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    kept(&store, 1, 1, None);
    // Reading address 0 is an error of input and output.
    let newer = put(&store, 2, 2, |path| {
        std::os::unix::fs::symlink("/proc/self/mem", path).expect("made");
    });
    let error = store.newest(0, LastOf::All).expect_err("it may be the one").to_string();
    assert!(error.starts_with(&format!("can't read {}", newer.display())), "{error}");
    assert!(error.contains("Input/output error"), "{error}");
}

#[test]
fn a_document_that_is_no_file_stays_and_the_others_move() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().expect("tempdir"));
    let [from, to] = dirs.each_ref().map(|dir| Store::in_directory(dir.path()));
    let paths = [1, 3].map(|n| kept(&from, n, n.into(), None));
    let make = |path: &Path| std::fs::create_dir(path).expect("made");
    to.check_keepable().expect("made");
    let here = put(&from, 2, 2, make);
    let there = kept(&from, 4, 4, None);
    make(&to.runs_dir().join(there.file_name().expect("a name")));
    let moved = transfer(&from, &to, false, |_, _| ()).expect("moved");
    assert_eq!((moved.copied, moved.removed), (2, 2));
    let stayed: Vec<(&str, &str)> =
        moved.stayed.iter().map(|stayed| (&*stayed.document, &*stayed.why)).collect();
    let what = "it is a directory, not a file";
    assert_eq!(stayed[0], (&*here.display().to_string(), what));
    assert_eq!(stayed[1].0, there.display().to_string());
    assert!(stayed[1].1.ends_with(what), "{stayed:?}");
    assert!(paths.iter().all(|path| !path.exists()) && here.exists() && there.exists());
}
