//! A store that can't be written, and a disk that is full: on mounts of their own, which
//! only root can make.

use crate::support::{Done, Home, PROGRAM, has, made_up_id, skip};
use std::process::Command;

/// Runs a shell script in its own mount namespace, with `$latlas` and `$data`; `None`
/// where that is not allowed.
fn among_mounts(home: &Home, script: &str) -> Option<Done> {
    let allowed = Command::new("unshare").args(["-m", "true"]).output();
    if !allowed.is_ok_and(|tried| tried.status.success()) {
        skip("mounts need root, and unshare(1)");
        return None;
    }
    let mut command = home.launch(["unshare", "-m", "sh", "-euc", script]);
    command.env("latlas", PROGRAM).env("data", home.path("data"));
    Some(Done::from_command(&mut command))
}

const READ_ONLY: &str = "mount --bind \"$data\" \"$data\"; mount -o remount,bind,ro \"$data\"; ";

#[test]
fn a_read_only_store_is_read() {
    let home = Home::with(&[1, 2, 3]);
    let read_only = |line: &str| among_mounts(&home, &format!("{READ_ONLY} $latlas {line}"));
    let Some(done) = read_only("atlas list --json") else {
        return;
    };
    has(&done.silent().out, [&made_up_id(3)]);
    // The index lacks one: the documents are read, with a warning.
    home.document(4);
    home.keep(0, &crate::support::json(&home.read_file("run-4.json")));
    let done = read_only("atlas list --json").expect("as before").ok();
    has(&done.out, [&made_up_id(4), &made_up_id(1)]);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    has(&done.err, ["reading the documents"]);
    for line in [
        "import --format run run-4.json",
        "atlas tag last base",
        "atlas delete last --yes",
        "atlas rebuild",
    ] {
        let done = read_only(line).expect("as before").ended_with(2);
        let last = done.err.lines().last().unwrap_or_default();
        assert!(done.out.is_empty() && last.starts_with("latlas: can't "), "{line}: {}", done.err);
    }
    assert_eq!(home.kept_documents(), 4);
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
        $latlas atlas verify --json | tr -d ' \n'
    "#;
    let Some(done) = among_mounts(&home, script) else {
        return;
    };
    let done = done.ok();
    let out: Vec<&str> = done.out.lines().collect();
    assert_eq!(
        out[..5],
        [&*made_up_id(4), "refused with 2", "4", "0", &*made_up_id(5)],
        "{}",
        done.out
    );
    has(out[5], ["\"documents\":5", "\"damaged\":[]"]);
    has(&done.err, ["the run is saved; the index will", "No space left"]);
}

#[test]
fn what_could_not_be_kept_is_known_before_it_is_measured() {
    let home = Home::with(&[1]);
    let full = r#"mount -t tmpfs -o size=1m tmpfs "$data"; "#;
    for mount in [READ_ONLY, full] {
        let script = format!("{mount} $latlas exec --runs 2 -- touch \"$PWD/ran\"");
        let Some(done) = among_mounts(&home, &script) else {
            return;
        };
        done.refused("can't store the run: can't write ");
        has(&done.err, ["--out FILE"]);
        assert!(!home.path("ran").exists(), "nothing was run");
        let script = format!("{mount} $latlas exec --runs 2 --out own.json -- true");
        let err = among_mounts(&home, &script).expect("as before").measured().err;
        assert_eq!(err.matches("will not be stored").count(), 1, "{err}");
        assert!(home.path("own.json").exists());
    }
    assert_eq!(home.kept_documents(), 1);
}
