//! `latlas trace --stacks`: where in a program its threads were blocked.

use crate::support::{Done, Home, has, lacks, skip};
use crate::trace::{allowed, compile, read_trace};
use model::trace::summary::summary;
use model::trace::{StateKind, Trace};
use std::process::Command;

/// The stacks in which threads were blocked for the longest, with how often.
fn blocked(trace: &Trace) -> Vec<(Vec<String>, u64)> {
    let summary = summary(trace);
    let places = summary.places.iter();
    let places = places
        .filter(|place| matches!(place.kind, StateKind::Blocked | StateKind::BlockedOrRunnable));
    places.map(|place| (trace.stack_names(place.stack), place.count)).collect()
}

/// Whether a stack has these functions, each the caller of the one before.
fn calls(stack: &[String], functions: &[&str]) -> bool {
    stack.windows(functions.len()).any(|part| part == functions)
}

/// Tiers that record stacks here.
fn tiers(home: &Home) -> Vec<&'static str> {
    let mut tiers = allowed(home);
    // The right to switches is not that to stacks (kernel.perf_event_paranoid).
    tiers.retain(|&tier| {
        let done = home.run(format!("trace --stacks --tier {tier} -- true"));
        let why = done.err.lines().find(|line| line.contains("no stacks: "));
        if let Some(why) = why.filter(|_| tier != "minimal") {
            skip(format!("{tier}: {}", why.trim()));
        }
        why.is_none()
    });
    tiers
}

/// Runs it with room for whole stacks: the C library's functions come first.
fn run_wide(home: &Home, line: String) -> Done {
    Done::from_command(home.command(line).env("COLUMNS", "200"))
}

#[test]
fn a_stack_is_unwound_with_and_without_frame_pointers() {
    let home = Home::new();
    compile(&home, "blocks.c", "with", &["-fno-omit-frame-pointer"]);
    compile(&home, "blocks.c", "without", &["-fomit-frame-pointer"]);
    for tier in tiers(&home) {
        for program in ["with", "without"] {
            let line = format!("trace --stacks --tier {tier} --out t.zst -- ./{program}");
            let done = run_wide(&home, line).recorded();
            let trace = read_trace(&home, "t.zst");
            let blocked = blocked(&trace);
            let in_inner =
                blocked.iter().find(|(stack, _)| calls(stack, &["inner", "outer", "main"]));
            // Of a sleep that is over before the switch, there is no record.
            let times = in_inner.map_or(0, |(_, times)| *times);
            assert!((1..=10).contains(&times), "{tier} {program}: {blocked:?}");
            assert!(
                blocked.iter().any(|(stack, _)| calls(stack, &["waits", "begin"])),
                "{tier} {program}: {blocked:?}"
            );
            has(&done.err, ["inner < outer < main"]);
            let json = home.json("trace show t.zst --document");
            assert!(json["recordings"][0]["trace"]["stacks"]["nodes"].is_array());
            home.out("trace export t.zst -o t.html");
            has(&home.read_file("t.html"), ["\"inner\"", "\"outer\""]);
        }
    }
}

#[test]
fn frame_pointers_tell_the_callers_of_what_has_them() {
    let home = Home::new();
    compile(&home, "blocks.c", "with", &["-fno-omit-frame-pointer"]);
    for tier in tiers(&home) {
        home.run(format!("trace --stacks=fp --tier {tier} --out t.zst -- ./with"));
        let blocked = blocked(&read_trace(&home, "t.zst"));
        // `inner` itself is missing if the C library has none.
        let found = blocked.iter().any(|(stack, _)| calls(stack, &["outer", "main"]));
        assert!(found, "{tier}: {blocked:?}");
    }
}

#[test]
fn a_file_that_is_gone_or_stripped_leaves_addresses() {
    let home = Home::new();
    compile(&home, "blocks.c", "stripped", &["-s", "-fomit-frame-pointer"]);
    for tier in tiers(&home) {
        let line = format!("trace --stacks --tier {tier} --out t.zst -- ./stripped");
        let done = run_wide(&home, line);
        has(&done.err, ["stripped+0x"]);
        lacks(&done.err, ["inner", "outer"]);
    }
}

#[test]
fn a_running_process_is_unwound_too() {
    let home = Home::new();
    compile(&home, "blocks.c", "with", &[]);
    for tier in tiers(&home) {
        // However long latlas takes to begin.
        let script = "while :; do ./with; done";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .current_dir(home.path(""))
            .spawn()
            .expect("a shell");
        let id = child.id();
        let line = format!("trace --stacks --tier {tier} --for 2s --out t.zst --pid {id}");
        let done = home.run(line);
        child.kill().expect("killed");
        child.wait().expect("ended");
        let blocked = blocked(&read_trace(&home, "t.zst"));
        let found = blocked.iter().any(|(stack, _)| calls(stack, &["inner", "outer", "main"]));
        assert!(found, "{tier}: {blocked:?}\n{}", done.err);
    }
}

#[test]
fn without_switches_there_are_no_stacks() {
    let home = Home::new();
    let done = home.run("trace --stacks --tier minimal -- sleep 0.05").recorded();
    has(&done.err, ["no stacks: this tier can't record them"]);
    let done = home.run("trace --stacks=lbr -- true");
    assert_eq!(done.code, 2);
    has(&done.err, ["fp, dwarf, or dwarf,SIZE"]);
}
