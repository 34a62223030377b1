use super::*;

#[test]
fn two_builds_without_room_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    check_room(folder.path(), 1).expect("room for little");
    let error = check_room(folder.path(), u64::MAX / 8).expect_err("no disk is so large");
    let line = error.to_string();
    assert!(line.starts_with("no room for two builds in ") && line.contains("LATLAS_DATA_DIR"));
}

#[test]
fn a_directory_that_is_there_is_no_revision() {
    assert_eq!(Source::from_text("/"), Source::Directory("/".into()));
    assert_eq!(Source::from_text("no-such"), Source::Revision("no-such".into()));
}
