use super::judge::has_members;
use super::*;
use crate::filesystem::user;
use std::fs::{File, Permissions};

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

fn why(error: io::Error) -> Option<Why> {
    let inner = error.into_inner()?;
    Some(inner.downcast_ref::<Distrust>()?.why)
}

/// A file in a directory of a directory, all of this user.
fn tree() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("in")).expect("a directory");
    let file = dir.path().join("in/file");
    std::fs::write(&file, "text").expect("written");
    chmod(&dir.path().join("in"), 0o755);
    chmod(&file, 0o644);
    (dir, file)
}

#[test]
fn every_directory_on_the_way_counts() {
    let (dir, file) = tree();
    assert_eq!(read_text(&file, 10).expect("ours"), "text");
    check_path(&file).expect("ours");
    check_path(&dir.path().join("in")).expect("ours");
    for (path, mode) in [("in/file", 0o666), ("in", 0o757), ("", 0o707)] {
        let path = dir.path().join(path);
        let before = std::fs::metadata(&path).expect("there").permissions();
        chmod(&path, mode);
        let error = read_text(&file, 10).expect_err("others may change it");
        assert!(error.to_string().contains("chmod go-w"), "{error}");
        assert_eq!(why(error), Some(Why::Writable), "{path:?}");
        assert_eq!(check_path(&file).err().and_then(why), Some(Why::Writable));
        std::fs::set_permissions(&path, before).expect("a mode");
    }
    // What lies in /tmp is its owner's.
    chmod(dir.path(), 0o1777);
    check_path(&file).expect("a sticky directory");
    // New files may be put there.
    assert_eq!(check_path(dir.path()).err().and_then(why), Some(Why::Writable));
}

#[test]
fn a_group_counts_unless_it_is_its_owners_alone() {
    let groups = "root:x:0:\nlab:x:1000:ann,bob\nann:x:1001:\nshort:x\n";
    assert!(has_members(groups, 1000));
    for number in [0, 1001, 1002] {
        assert!(!has_members(groups, number), "{number}");
    }
    let (_dir, file) = tree();
    chmod(&file, 0o664);
    let mut found = lstat(&file).expect("there");
    found.st_gid = found.st_uid + 1;
    assert_eq!(judge_owner(&found), Err(Why::Writable));
    (found.st_uid, found.st_gid) = (0, 0);
    assert_eq!(judge_owner(&found), Err(Why::Writable), "root has no such group");
    found.st_mode &= !0o020;
    assert_eq!(judge_owner(&found), Ok(()));
    found.st_uid = 4_000_000_000;
    assert_eq!(judge_owner(&found), Err(Why::Owner(4_000_000_000)));
}

#[test]
fn own_links_are_followed_and_checked() {
    let (dir, file) = tree();
    let link = dir.path().join("link");
    symlink("in/file", &link).expect("a link");
    assert_eq!(read_text(&link, 10).expect("ours"), "text");
    chmod(&file, 0o646);
    assert_eq!(check_path(&link).err().and_then(why), Some(Why::Writable));
    assert_eq!(doubt(&file).expect("there"), Some(Why::Writable));
    chmod(&file, 0o644);
    assert_eq!(doubt(&file).expect("there"), None);
    assert_eq!(doubt(&link).expect("there"), Some(Why::Link(user())));
    assert!(doubt(&dir.path().join("absent")).is_err());
    let ring = dir.path().join("ring");
    symlink("ring", &ring).expect("a link");
    assert!(check_path(&ring).is_err());
}

#[test]
fn what_has_no_name_comes_from_the_parent() {
    use std::os::fd::AsRawFd;
    let text = |fd: i32| read_text(Path::new(&format!("/dev/fd/{fd}")), 10);
    let (reader, writer) = io::pipe().expect("a pipe");
    std::io::Write::write_all(&mut &writer, b"piped").expect("written");
    drop(writer);
    assert_eq!(text(reader.as_raw_fd()).expect("ours"), "piped");
    let (_dir, file) = tree();
    let open = File::open(&file).expect("opened");
    assert_eq!(text(open.as_raw_fd()).expect("by its name"), "text");
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(text(open.as_raw_fd()).expect("without a name"), "text");
    read_text(Path::new("/dev/null"), 10).expect("empty");
}
