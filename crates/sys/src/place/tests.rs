use super::*;
use rustix::fs::{Gid, Uid, chownat};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;

/// A link in a directory of another user, as only root can make it.
fn foreign(dir: &Path, target: &Path) -> Option<PathBuf> {
    if crate::filesystem::user() != 0 {
        return None;
    }
    let (inner, owner) = (dir.join("theirs"), (Uid::from_raw(65_534), Gid::from_raw(65_534)));
    std::fs::create_dir(&inner).expect("a directory");
    let link = inner.join("link");
    symlink(target, &link).expect("a link");
    for path in [&link, &inner] {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let given = chownat(rustix::fs::CWD, path, Some(owner.0), Some(owner.1), flags);
        given.ok()?;
    }
    Some(link)
}

#[test]
fn a_link_of_another_user_is_not_followed() {
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("target");
    std::fs::write(&target, "kept").expect("written");
    let Some(link) = foreign(dir.path(), &target) else {
        return println!("SKIPPED: needs root");
    };
    for path in [&link, &link.join("below")] {
        let error = Place::find(path).expect_err("another user's").to_string();
        assert!(error.contains("a link of user 65534"), "{error}");
        assert!(create(path).is_err() && open_file(path).is_err());
    }
    assert_eq!(std::fs::read_to_string(&target).expect("there"), "kept");
    // One that root put into its own directory is.
    let moved = dir.path().join("moved");
    std::fs::rename(&link, &moved).expect("moved");
    open_file(&moved).expect("followed");
}

#[test]
fn own_links_are_followed_also_where_they_lead_nowhere_yet() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("deep")).expect("a directory");
    symlink("deep/../deep/file", dir.path().join("link")).expect("a link");
    let (mut file, is_file) = create(&dir.path().join("link")).expect("made");
    assert!(is_file);
    file.write_all(b"text").expect("written");
    let mut text = String::new();
    let mut read = open_file(&dir.path().join("deep/file")).expect("there");
    read.read_to_string(&mut text).expect("read");
    assert_eq!(text, "text");
    assert!(open_file(dir.path()).is_err());
    assert!(Place::find(&dir.path().join("deep/file/below")).is_err());
    assert_eq!(
        Place::find(Path::new("/")).expect("there").kind().expect("known"),
        Some(FileKind::Directory)
    );
}

#[test]
fn what_happens_in_a_place_happens_in_its_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    std::fs::create_dir(&one).expect("a directory");
    let place = Place::find(&one.join("file")).expect("found");
    assert_eq!(place.kind().expect("known"), None);
    std::fs::rename(&one, &other).expect("moved");
    symlink("/", &one).expect("a link");
    place.create("new".as_ref(), true).expect("made");
    place.replace_by("new".as_ref()).expect("renamed");
    place.sync().expect("synced");
    let kind = place.kind().expect("known");
    assert_eq!(kind, Some(FileKind::File { names: 1, mode: 0o600 }));
    assert!(other.join("file").is_file() && !other.join("new").exists());
    place.create("new".as_ref(), true).expect("made");
    let taken = place.link_to("new".as_ref()).expect_err("taken");
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    place.move_to("aside".as_ref()).expect("moved");
    place.link_to("new".as_ref()).expect("linked");
    assert!(matches!(place.kind(), Ok(Some(FileKind::File { names: 2, .. }))));
    place.remove("new".as_ref()).expect("removed");
    assert!(!other.join("new").exists() && other.join("aside").exists());
}

#[test]
fn a_pipe_without_a_reader_is_refused_and_a_descriptor_opened() {
    use std::os::fd::AsRawFd;
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo runs").success());
    let error = create(&path).expect_err("no reader").to_string();
    assert!(error.contains("no program reads this pipe"), "{error}");
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let name = format!("/dev/fd/{}", writer.as_raw_fd());
    let (mut file, is_file) = create(Path::new(&name)).expect("opened");
    assert!(!is_file);
    file.write_all(b"text").expect("written");
    drop((file, writer));
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("read");
    assert_eq!(text, "text");
}
