//! `latlas NAME`, where `latlas-NAME` is a program beside it or on PATH.

use crate::support::processes::{copy_program, is_root};
use crate::support::{Done, Home, has, lacks};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A home with `latlas-hello` in `bin`, as this script.
fn with_hello(script: &str) -> Home {
    let home = Home::new();
    home.write("bin/latlas-hello", format!("#!/bin/sh\n{script}\n"));
    change_mode(&home, "bin/latlas-hello", 0o755);
    home
}

fn change_mode(home: &Home, name: &str, mode: u32) {
    std::fs::set_permissions(home.path(name), Permissions::from_mode(mode)).expect("mode");
}

/// latlas with `bin` on PATH.
fn command(home: &Home, line: &str) -> Command {
    let mut command = home.command(line);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", home.path("bin").display()));
    command
}

fn run(home: &Home, line: &str) -> Done {
    Done::from_command(&mut command(home, line))
}

#[test]
fn a_program_gets_its_words_and_what_was_typed_before_its_name() {
    let home = with_hello("printf '<%s>' \"$@\"; exit 7");
    let done = run(&home, "hello --wide 'a b' --help");
    assert_eq!((done.code, &*done.out), (7, "<--wide><a b><--help>"), "{}", done.err);
    let done = run(&home, "--no-config --store /there hello you");
    assert_eq!((done.code, &*done.out), (7, "<--no-config><--store></there><you>"), "{}", done.err);
    // A broken configuration is its own business.
    home.write("config/latlas/config", "rum --quick");
    assert_eq!(run(&home, "hello").code, 7);
}

#[test]
fn a_program_that_is_killed_is_seen_as_killed() {
    assert_eq!(run(&with_hello("kill -9 $$"), "hello").code, -1);
}

#[test]
fn what_is_not_there_is_named_with_its_package() {
    let home = Home::new();
    // The directory of the tests' program may have all of them.
    copy_program(&home.path("latlas"));
    let mut alone = home.launch("./latlas fleet status lab");
    Done::from_command(alone.env("PATH", "/usr/bin:/bin")).refused(
        "no program latlas-fleet next to latlas or on PATH: install the package latlas-fleet",
    );
    home.run("fleeet status").refused("no command \"fleeet\"; did you mean latlas fleet?");
}

#[test]
fn help_lists_the_programs_that_are_there() {
    let home = with_hello("exit 0");
    home.write("bin/latlas-store-x", "");
    change_mode(&home, "bin/latlas-store-x", 0o755);
    for line in ["--help", "help"] {
        let help = run(&home, line).ok().out;
        let (_, programs) = help.split_once("More programs:\n").expect("them");
        let programs = programs.split("\n\n").next().unwrap_or_default();
        has(programs, ["  hello", "latlas-hello", "  fleet", "  serve"]);
        // It is run for --store, not as a command.
        lacks(programs, ["store-x"]);
    }
    let asked = run(&home, "help hello");
    assert_eq!((asked.code, &*asked.err), (0, ""), "{}", asked.out);
}

#[test]
fn root_runs_no_program_that_others_could_have_put_there() {
    let home = with_hello("echo hello");
    change_mode(&home, "bin", 0o777);
    let done = run(&home, "hello");
    match is_root() {
        true => done.refused("root does not run"),
        false => assert_eq!(done.ok().out, "hello\n"),
    }
}

#[test]
fn a_program_completes_its_own_command_line() {
    let home = with_hello("echo \"$@\"");
    let mut asked = command(&home, "-- latlas hello wor");
    let done =
        Done::from_command(asked.env("LATLAS_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2"));
    assert_eq!(done.ok().out, "-- latlas hello wor\n");
    let mut asked = command(&home, "-- latlas hel");
    let done =
        Done::from_command(asked.env("LATLAS_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "1"));
    has(&done.ok().out, ["hello"]);
}

#[test]
fn the_configuration_leaves_lines_of_programs_to_them() {
    let home = with_hello("exit 0");
    home.write("config/latlas/config", "hello --loud\nfleet submit --jobs 4\nrun --quick\n");
    let shown = run(&home, "config show").ok().out;
    has(&shown, ["line 1    hello: read by latlas-hello", "line 2    fleet: read by latlas-fleet"]);
    home.write("config/latlas/config", "hallo --loud\n");
    run(&home, "config show").refused("no command \"hallo\"");
}
