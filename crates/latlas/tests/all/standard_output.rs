//! Standard output that is full, closed or has lost its reader, and standard error that is full or
//! closed: the same rule for every command.

use crate::support::{Done, Home, SYNTHETIC, lacks};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::process::{Command, Stdio};

/// A cheap way to have each command print something. `ID` is the id of a run, `SYNTHETIC` the fixture.
const PRINTING: &str = "
    run --dry-run cpu.add_i64
    run --dry-run cpu.add_i64 --json
    list
    list --json
    explain cpu.add_i64
    explain cpu.add_i64 --json
    machine
    machine --json
    show
    show --json
    table
    table 2012 last
    compare last ID
    compare last ID --json
    fit --run last
    exec --runs 2 -- true
    exec --runs 2 --json -- true
    report last --out r.html
    report last --out -
    plot memory.latency SYNTHETIC -o -
    export last --format csv
    import --format run run-3.json
    atlas list
    atlas list --json
    atlas show last
    atlas percentiles example
    atlas tag last base
    atlas verify
    atlas rebuild
    atlas move data other --keep
    noise show --json
    noise restore
    noise tune --dry-run
    noise ab --dry-run nice -- true
    pack new c mine
    config show
    config path
    completions bash
    man
    --version
    help run";

/// Commands that measure long, need another program or runs of this machine, and are not in the table.
const NOT_IN_THE_TABLE: &[&str] = &["ci", "echo", "history", "judge", "qos", "selftest", "trace"];

fn full(command: &mut Command) -> &mut Command {
    let full = OpenOptions::new().write(true).open("/dev/full");
    command.stdout(full.expect("/dev/full"))
}

fn without(home: &Home, redirection: &str, line: &str) -> Command {
    let script = format!("exec \"$@\" {redirection}");
    home.wrapped(["sh", "-c", &script, "sh"], line)
}

/// A pipe whose reader is gone.
fn unread(command: &mut Command) -> &mut Command {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command.stdout(writer)
}

#[track_caller]
fn fails(line: &str, done: &Done, why: &str) {
    let last = done.err.lines().last().unwrap_or_default();
    assert!(done.code == 2 && last.contains(why), "{line}: {} {}", done.code, done.err);
    lacks(&done.err, ["panicked"]);
}

#[cfg(target_os = "linux")]
#[test]
fn every_command_fails_where_it_cant_be_written() {
    let home = Home::with(&[1, 2]);
    home.document(3);
    let mut named = BTreeSet::new();
    for line in PRINTING.lines().map(str::trim).filter(|l| !l.is_empty()) {
        named.extend(line.split(' ').next());
        let line =
            line.replace("ID", &crate::support::made_up_id(1)).replace("SYNTHETIC", SYNTHETIC);
        let line = line.as_str();
        let done = Done::from_command(full(&mut home.command(line)));
        fails(line, &done, "can't write to standard output: ");
        let done = Done::from_command(&mut without(&home, ">&-", line));
        done.refused("standard output is closed");
        // An import is there by now.
        if !line.starts_with("import") && !line.starts_with("pack") {
            let done = Done::from_command(unread(&mut home.command(line)));
            assert_eq!(done.code, 2, "{line}: {}", done.err);
            lacks(&done.err, ["standard output", "panicked"]);
        }
    }
    std::fs::create_dir(home.path("pages")).expect("made");
    home.run("man pages").ok();
    let pages = crate::support::entries(&home.path("pages"));
    let name = |page: &std::path::PathBuf| page.file_stem()?.to_str().map(str::to_owned);
    for page in pages.iter().filter_map(name) {
        let command = page.split('-').nth(1);
        let is_known =
            command.is_none_or(|name| named.contains(name) || NOT_IN_THE_TABLE.contains(&name));
        assert!(is_known, "{page} is in no table");
        let line = page.replace('-', " ").replacen("latlas", "", 1) + " --help";
        let done = Done::from_command(full(&mut home.command(&line)));
        fails(&line, &done, "can't write to standard output: ");
        let done = Done::from_command(&mut without(&home, ">&-", &line));
        done.refused("standard output is closed");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_kept_is_kept_where_it_cant_be_printed() {
    let home = Home::new();
    home.document(3);
    for line in [
        "run --quick --budget 1s cpu.add_i64",
        "exec --runs 3 -- true",
        "import --format run run-3.json",
    ] {
        let before = home.kept_documents();
        let done = Done::from_command(full(&mut home.command(line)));
        fails(line, &done, "can't write to standard output: ");
        assert_eq!(home.kept_documents(), before + 1, "{line}: {}", done.err);
    }
    // The shell's completions are an answer of a command, too.
    let mut asked = home.command("-- latlas sh");
    asked.envs([("LATLAS_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "1"), ("_CLAP_IFS", " ")]);
    fails("completion", &Done::from_command(full(&mut asked)), "No space left");
}

#[cfg(target_os = "linux")]
#[test]
fn messages_that_are_lost_change_no_exit_code() {
    let home = Home::with(&[1, 2]);
    for line in [
        "list",
        "show",
        "atlas verify",
        "run nothing",
        "--no-such-option",
        "history cpu.add_i32",
        "noise ab --dry-run nice -- true",
        "noise ab nice --rounds 1 -- true",
        "trace --for 100ms -- true",
        "history --cpus --for 100ms",
    ] {
        let usual = home.run(line);
        for redirection in ["2>/dev/full", "2>&-"] {
            let done = Done::from_command(&mut without(&home, redirection, line));
            // A busy machine makes a measurement unreliable, or not.
            let same = done.code == usual.code || matches!((done.code, usual.code), (0 | 3, 0 | 3));
            assert!(same, "{line} {redirection}: {} {}", done.code, usual.code);
            assert_eq!(done.err, "");
        }
        // And a reader of messages that is gone.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = home.command(line);
        let done = Done::from_command(command.stderr(writer).stdout(Stdio::piped()));
        let same = done.code == usual.code || matches!((done.code, usual.code), (0 | 3, 0 | 3));
        assert!(same, "{line}: {} {}", done.code, usual.code);
    }
}
