//! A home that can't be written, and a disk that is full: on mounts of their
//! own, which only root can make.

use crate::home::{Done, Home, done, id};
use assert_cmd::cargo::cargo_bin;
use std::process::Command;

/// Runs a shell script in a mount namespace of its own, with `$latlas` and
/// `$data`; `None` where that is not allowed.
fn among_mounts(home: &Home, script: &str) -> Option<Done> {
    let allowed = Command::new("unshare").args(["-m", "true"]).output();
    if !allowed.is_ok_and(|tried| tried.status.success()) {
        println!("SKIPPED: mounts need root, and unshare(1)");
        return None;
    }
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-euc", script])
        .current_dir(home.path(""))
        .env("latlas", cargo_bin("latlas"))
        .env("data", home.path("data"))
        .env("LATLAS_DATA_DIR", home.path("data"));
    Some(done(command))
}

const READ_ONLY: &str = "mount --bind \"$data\" \"$data\"; mount -o remount,bind,ro \"$data\"; ";

#[test]
fn a_read_only_home_is_read_all_the_same() {
    let home = Home::with(&[1, 2, 3]);
    let script = format!("{READ_ONLY} $latlas atlas list --json");
    let Some(done) = among_mounts(&home, &script) else {
        return;
    };
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.out.contains(&id(3)), "{}", done.out);
    // The index lacks one: the documents are read, and that is said.
    std::fs::write(home.path("more.json"), "").expect("made");
    let document = home.document(4);
    let run = serde_json::from_slice(&std::fs::read(document).expect("bytes")).expect("JSON");
    home.keep_by_hand(&run);
    let done = among_mounts(&home, &script).expect("as before");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out.contains(&id(4)) && done.out.contains(&id(1)),
        "{}",
        done.out
    );
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    assert!(done.err.contains("the documents are read"), "{}", done.err);
    for refused in [
        "import --format run run-4.json",
        "atlas tag last base",
        "atlas delete last --yes",
        "atlas rebuild",
    ] {
        let script = format!("{READ_ONLY} $latlas {refused}");
        let done = among_mounts(&home, &script).expect("as before");
        assert_eq!(
            (done.code, done.out.as_str()),
            (2, ""),
            "{refused}: {}",
            done.err
        );
        let last = done.err.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("latlas: can't "),
            "{refused}: {}",
            done.err
        );
    }
    assert_eq!(home.kept(), 4);
}

#[test]
fn a_full_disk_loses_nothing() {
    let home = Home::with(&[1, 2, 3]);
    home.document(4);
    home.document(5);
    std::fs::rename(home.path("data"), home.path("before")).expect("moved");
    std::fs::create_dir(home.path("data")).expect("made");
    // Room for a document and not for its results; then for nothing at all.
    let script = r#"
        mount -t tmpfs -o size=4m tmpfs "$data"; cp -r before/. "$data"
        fill() { dd if=/dev/zero of="$data/ballast" bs=4096 2>/dev/null || true; }
        fill; truncate -s "-$((4096 * 8))" "$data/ballast"
        $latlas import --format run run-4.json
        fill; dd if=/dev/zero of="$data/more" bs=4096 2>/dev/null || true
        $latlas import --format run run-5.json || echo "refused with $?"
        $latlas atlas list --json | grep -c '"id"'
        ls -A "$data/runs" | grep -c incomplete || true
        rm "$data/ballast" "$data/more"
        $latlas import --format run run-5.json
        $latlas atlas verify
    "#;
    let Some(done) = among_mounts(&home, script) else {
        return;
    };
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let out: Vec<&str> = done.out.lines().collect();
    let five = id(5);
    let verified = ["all is as it should be"];
    assert_eq!(
        out[..5],
        [&id(4)[..], "refused with 2", "4", "0", &five],
        "{}{}",
        done.out,
        done.err
    );
    assert!(out[5].starts_with("5 documents read"), "{}", done.out);
    assert_eq!(out[6..], verified);
    assert!(
        done.err
            .contains("the run is kept, and will be in the index"),
        "{}",
        done.err
    );
    assert!(done.err.contains("No space left"), "{}", done.err);
}

#[test]
fn what_could_not_be_kept_is_known_before_it_is_measured() {
    let home = Home::with(&[1]);
    let full = r#"mount -t tmpfs -o size=1m tmpfs "$data"; "#;
    for place in [READ_ONLY, full] {
        let script = format!("{place} $latlas exec --runs 2 -- touch \"$PWD/ran\"");
        let Some(done) = among_mounts(&home, &script) else {
            return;
        };
        done.refused("the run could not be kept: can't write ");
        assert!(done.err.contains("--out FILE"), "{}", done.err);
        assert!(!home.path("ran").exists(), "nothing was run");
        // A place that the user names is a place.
        let script = format!("{place} $latlas exec --runs 2 --out own.json -- true");
        let done = among_mounts(&home, &script).expect("as before");
        assert!(matches!(done.code, 0 | 3), "{}", done.err);
        assert_eq!(
            done.err.matches("will not be kept").count(),
            1,
            "{}",
            done.err
        );
        assert!(home.path("own.json").exists());
    }
    assert_eq!(home.kept(), 1);
}
