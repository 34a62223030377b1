//! `--store SCHEME://...`, by programs on PATH: the documentation's example, and scripts that fail.

use crate::support::processes::{alive, kill, signal, wait_for, wait_until};
use crate::support::{Done, Home, made_up_id, skip, there};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory for PATH with `latlas-store-test`, which a shell runs. It is written by another process: one that is
/// open for writing can't be started.
fn helper(home: &Home, text: &str) -> PathBuf {
    let directory = home.path("bin");
    let mut shell = Command::new("sh")
        .args(["-c", "mkdir -p \"$0\" && cat >\"$0/latlas-store-test\" && chmod -R 755 \"$0\""])
        .arg(&directory)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh");
    write!(shell.stdin.take().expect("a pipe"), "#!/bin/sh\n{text}\n").expect("written");
    assert!(shell.wait().expect("ended").success());
    directory
}

/// latlas with another directory on its PATH.
fn with(home: &Home, directory: &Path, line: &str) -> Command {
    let path = std::env::var("PATH").expect("a path");
    let mut command = home.command(line);
    command.env("PATH", format!("{}:{path}", directory.display()));
    command
}

/// What it refuses to do, in one line.
#[track_caller]
fn refused(mut command: Command) -> String {
    let done = Done::from_command(&mut command);
    assert_eq!((done.code, &*done.out, done.err.lines().count()), (2, "", 1), "{}", done.err);
    done.err.trim_end().to_owned()
}

#[test]
fn what_a_helper_does_wrong_is_one_line_and_exit_code_2() {
    let home = Home::new();
    let list = "atlas list --store test://me@lab/x";
    for (text, said) in [
        (
            "read -r open; echo GET",
            "latlas: the store test://me@lab/x went away: latlas-store-test failed: it sent \"GET\"",
        ),
        (
            "exit 3",
            "latlas: the store test://me@lab/x went away: latlas-store-test ended early (exit status: 3)",
        ),
        (
            "read -r open; echo error unreachable no way",
            "latlas: the store test://me@lab/x can't be reached: no way",
        ),
    ] {
        assert_eq!(refused(with(&home, &helper(&home, text), list)), said);
    }
    assert_eq!(
        refused(home.command("atlas list --store none://lab")),
        "latlas: can't use the store none://lab: no program latlas-store-none next to latlas or on PATH \
         (`latlas help store-protocol` says what it has to do)"
    );
}

#[test]
fn a_document_whose_answer_is_lost_may_be_stored_and_can_be_stored_again() {
    let home = Home::new();
    home.document(1);
    let import = "import --format run run-1.json --store test://lab";
    let lost = "while read -r word rest; do case $word in open) echo ok 1;; put) exit;; *) echo ok;; esac; done";
    let error = refused(with(&home, &helper(&home, lost), import));
    assert!(error.contains("the run may be stored there (storing it again is safe)"), "{error}");
    assert_eq!(home.kept_documents(), 0);
}

#[test]
fn the_example_of_the_documentation_stores_runs() {
    if !there("python3") {
        return;
    }
    let home = Home::new();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let store = format!("dir://{}", home.path("kept").display());
    for n in [1, 2] {
        home.document(n);
        let line = format!("import --format run run-{n}.json --store {store}");
        assert_eq!(
            Done::from_command(&mut with(&home, &docs, &line)).ok().out.trim(),
            made_up_id(n)
        );
    }
    let list = Done::from_command(&mut with(&home, &docs, &format!("atlas list --store {store}")))
        .silent();
    assert!(
        list.out.contains(&made_up_id(1)[..8]) && list.out.contains(&made_up_id(2)[..8]),
        "{}",
        list.out
    );
    let tag = format!("atlas tag {} base --store {store}", &made_up_id(1)[..8]);
    Done::from_command(&mut with(&home, &docs, &tag)).ok();
    Done::from_command(&mut with(&home, &docs, &format!("show base --store {store}"))).ok();
    Done::from_command(&mut with(&home, &docs, &format!("atlas verify --store {store}"))).ok();
}

#[test]
fn a_helper_that_hangs_ends_with_latlas() {
    for name in ["KILL", "TERM"] {
        let home = Home::new();
        let own = home.path("pid");
        let hangs =
            format!("echo $$ >'{0}.new' && mv '{0}.new' '{0}'; exec sleep 600", own.display());
        let latlas = with(&home, &helper(&home, &hangs), "atlas list --store test://lab").spawn();
        let latlas = latlas.expect("started");
        let pid = wait_for("the helper", || std::fs::read_to_string(&own).ok());
        let pid: u32 = pid.trim().parse().expect("a number");
        assert!(alive(pid));
        signal(latlas.id(), name);
        kill(latlas);
        wait_until("the helper's end", || !alive(pid));
    }
}

#[test]
fn root_runs_no_helper_that_others_could_have_put_there() {
    let home = Home::new();
    let directory = helper(&home, "read -r open; echo error unreachable started");
    let list = "atlas list --store test://lab";
    assert!(refused(with(&home, &directory, list)).ends_with("started"));
    let open = Command::new("chmod").arg("777").arg(&directory).status().expect("chmod");
    assert!(open.success());
    let said = refused(with(&home, &directory, list));
    match Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n") {
        true => assert!(
            said.contains("root does not run")
                && said.ends_with("is writable by other users (chmod go-w)"),
            "{said}"
        ),
        false => skip("what root does needs root"),
    }
}
