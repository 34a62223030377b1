use super::directory::can_not_be_synced;
use super::stream::write_within;
use super::temporary::create_named;
use super::*;
use crate::read_run;
use model::synthetic;
use std::path::PathBuf;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .expect("directory")
        .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_name_decides_whether_it_is_compressed() {
    let dir = tempfile::tempdir().expect("tempdir");
    let run = synthetic::run();
    for name in ["run.json", "run.json.zst"] {
        let path = dir.path().join(name);
        write_run(&run, &path).expect("written");
        assert!(read_run(&path).expect("read") == run);
    }
    let loud = dir.path().join("RUN.ZST");
    write_run(&run, &loud).expect("written");
    assert!(crate::is_packed(&std::fs::read(&loud).expect("packed")));
    std::fs::remove_file(&loud).expect("removed");
    let plain = std::fs::read(dir.path().join("run.json")).expect("plain");
    assert_eq!(plain[0], b'{');
    let packed = std::fs::read(dir.path().join("run.json.zst")).expect("packed");
    assert!(packed.len() * 3 < plain.len());
    assert_eq!(names(dir.path()), ["run.json", "run.json.zst"]);
}

#[test]
fn what_another_writes_is_never_opened() {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("run.json");
    let named = |number: u32| dir.path().join(format!(".run.json.{number}.incomplete"));
    std::fs::write(named(0), "another's").expect("written");
    let mut number = 0;
    let place = Place::find(&path).expect("found");
    let of = |number: u32| named(number).file_name().expect("a name").to_owned();
    let (own, _file) = create_named(&place, false, || {
        number += 1;
        of(number - 1)
    })
    .expect("the next name");
    assert_eq!(own, of(1));
    let kept = std::fs::read(named(0)).expect("there");
    assert_eq!(kept, b"another's");
    create_named(&place, false, || of(0)).expect_err("it does not try for ever");
    assert_ne!(temporary_name(place.name()), temporary_name(place.name()));
}

#[test]
fn a_directory_that_fails_to_sync_is_reported() {
    use std::io::{Error, ErrorKind};
    assert!(can_not_be_synced(ErrorKind::InvalidInput));
    for error in [Error::from_raw_os_error(5), ErrorKind::StorageFull.into()] {
        assert!(!can_not_be_synced(error.kind()), "{error}");
    }
    let dir = tempfile::tempdir().expect("tempdir");
    sync(&Place::find(&dir.path().join("name")).expect("found")).expect("synced");
    let deep = dir.path().join("a/b/c");
    make_directory(&deep).expect("made");
    make_directory(&deep).expect("there already");
    assert!(deep.is_dir());
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("run.json");
    std::fs::write(&path, "old").expect("old file");
    let full = |file: &mut File| {
        file.write_all(b"half of i")?;
        Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
    };
    let put = |_: &OsStr| panic!("it must not get so far");
    let place = Place::find(&path).expect("found");
    let error = write_file(&place, &path, false, full, put);
    let error = error.expect_err("full").to_string();
    assert!(error.contains("run.json") && !error.contains('\n'), "{error}");
    assert_eq!(names(dir.path()), ["run.json"]);
    assert_eq!(std::fs::read(&path).expect("old file"), b"old");
}

#[test]
fn a_pipe_is_checked_without_its_reader_seeing_an_end() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::{Mode, OFlags, open};
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo runs").success());
    let error = Output::open(&path).expect_err("no reader").to_string();
    assert!(error.contains("no program reads this pipe"), "{error}");
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let reader = open(&path, flags, Mode::empty()).expect("opened");
    let output = Output::open(&path).expect("writable");
    let mut ends = [PollFd::new(&reader, PollFlags::IN)];
    assert_eq!(poll(&mut ends, Some(&Timespec::default())), Ok(0));
    output.write(b"a page").expect("written");
    let mut page = [0; 6];
    assert_eq!(rustix::io::read(&reader, &mut page), Ok(6));
    let full = File::options().write(true).read(true).open(&path);
    let full = full.expect("opened");
    rustix::fs::fcntl_setfl(&full, OFlags::NONBLOCK).expect("set");
    let error = write_within(&full, &[0; 1 << 20], std::time::Duration::from_millis(20));
    let error = error.expect_err("nothing is read").to_string();
    assert!(error.contains("took nothing"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    write_run(&synthetic::run(), Path::new("/dev/null")).expect("swallowed");
    assert!(!std::fs::metadata("/dev/null").expect("device").is_file());
    let error = write_run(&synthetic::run(), Path::new("/dev/full")).expect_err("full");
    assert!(error.to_string().contains("No space left"), "{error}");
}

#[test]
fn a_link_stays_a_link() {
    let dir = tempfile::tempdir().expect("tempdir");
    let (file, link) = (dir.path().join("run.json"), dir.path().join("link.json"));
    std::fs::write(&file, "old").expect("old file");
    std::os::unix::fs::symlink(&file, &link).expect("link");
    write_run(&synthetic::run(), &link).expect("written");
    assert!(link.is_symlink());
    assert!(read_run(&file).expect("through the link") == synthetic::run());
}

#[test]
fn what_could_not_be_written_is_known_before() {
    let dir = tempfile::tempdir().expect("tempdir");
    assert!(Output::open(&dir.path().join("run.json")).is_ok());
    assert!(names(dir.path()).is_empty(), "the check leaves nothing");
    for (path, reason) in [
        (dir.path().to_owned(), "is a directory"),
        (dir.path().join("absent/run.json"), "No such file"),
        (PathBuf::from("/dev/null/run.json"), "Not a directory"),
    ] {
        let error = Output::open(&path).expect_err("refused").to_string();
        assert!(error.contains(reason), "{error}");
    }
    let locked = dir.path().join("locked.json");
    std::fs::write(&locked, "").expect("file");
    let mut permissions = std::fs::metadata(&locked).expect("file").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&locked, permissions).expect("locked");
    assert!(Output::open(&locked).is_err());
}

#[test]
fn a_file_keeps_what_it_has_besides_its_content() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("run.json");
    std::fs::write(&path, "old").expect("file");
    let of = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&path, of(0o600)).expect("a mode");
    let owned = std::os::unix::fs::chown(&path, Some(65_534), Some(65_533)).is_ok();
    Output::open(&path).expect("writable").write(b"new").expect("written");
    let found = std::fs::metadata(&path).expect("there");
    assert_eq!(found.mode() & 0o7777, 0o600);
    assert_eq!(owned, (found.uid(), found.gid()) == (65_534, 65_533));
    assert_eq!(std::fs::read(&path).expect("there"), b"new");

    let other = dir.path().join("other");
    std::fs::hard_link(&path, &other).expect("a link");
    let error = Output::open(&path).expect_err("two names").to_string();
    assert!(error.contains("hard links"), "{error}");
    write_bytes(b"newer", &path).expect_err("two names");
    assert_eq!(std::fs::read(&other).expect("there"), b"new");
    assert_eq!(names(dir.path()), ["other", "run.json"]);
    replace(b"its own", &path).expect("a file of latlas");
    assert_eq!(std::fs::read(&other).expect("there"), b"new");
}

#[test]
fn json_is_compressed_by_its_name() {
    let dir = tempfile::tempdir().expect("tempdir");
    let [plain, packed] = ["a.json", "a.json.zst"].map(|name| dir.path().join(name));
    for path in [&plain, &packed] {
        Output::open(path).expect("writable").write_json(b"{}").expect("written");
    }
    assert_eq!(std::fs::read(&plain).expect("there"), b"{}\n");
    let packed = std::fs::read(&packed).expect("there");
    assert_eq!(zstd::bulk::decompress(&packed, 9).expect("packed"), b"{}");
}
