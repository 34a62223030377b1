//! `latlas trace --usdt`: hits of the probes of a program.

use crate::support::processes::{signal, wait_until};
use crate::support::{Home, has, skip};
use crate::trace::{allowed, compile, read_trace};
use model::trace::Trace;
use model::trace::summary::summary;
use sys::tracefs::Tracefs;

/// Signposts by name.
fn signpost_counts(trace: &Trace) -> Vec<(String, u64)> {
    let all = summary(trace).signposts.into_iter();
    let mut counts: Vec<(String, u64)> =
        all.map(|one| (trace.signpost_names[one.name as usize].clone(), one.moments)).collect();
    counts.sort();
    counts
}

fn pairs(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
    let pairs = counts.iter();
    pairs.map(|&(name, count)| (name.to_owned(), count)).collect()
}

#[test]
fn each_hit_is_a_signpost_of_its_thread() {
    let home = Home::new();
    compile(&home, "probes.c", "probes", &[]);
    if !allowed(&home).contains(&"full") {
        return skip("probes need root");
    }
    // Events that threads inherit lost hits of the first thread in two runs of three.
    for tier in ["full"; 3] {
        let trace = |option: &str| {
            let done = home
                .run(format!("trace --tier {tier} {option} --out t.zst -- ./probes"))
                .recorded();
            (read_trace(&home, "t.zst"), done.err)
        };
        let (whole, text) = trace("--usdt");
        let all = [("app:counted", 3), ("app:turn", 1007)];
        assert_eq!(signpost_counts(&whole), pairs(&all), "{tier}");
        has(&text, ["app:turn"]);
        let of_threads = whole.threads.iter().map(|thread| thread.signposts.len());
        assert_eq!(of_threads.collect::<Vec<_>>(), [10, 1000], "{tier}");
        let (some, _) = trace("--usdt=app:c*");
        assert_eq!(signpost_counts(&some), pairs(&all[..1]), "{tier}");
        let (none, text) = trace("--usdt=db:*");
        assert!(signpost_counts(&none).is_empty());
        has(&text, ["no USDT probe matches db:*; there are app:counted, app:turn"]);
        // Without the option they are not recorded.
        assert!(signpost_counts(&trace("").0).is_empty());
    }
}

/// The tracepoints that the kernel has of a recorder.
fn definitions(recorder: u32) -> usize {
    let tracefs = Tracefs::open().expect("the full tier needs it");
    let all = tracefs.read_text("uprobe_events").expect("root reads it");
    all.matches(&format!("latlas_{recorder}/")).count()
}

#[test]
fn nothing_is_left_in_the_kernel() {
    let home = Home::new();
    compile(&home, "probes.c", "probes", &[]);
    if !allowed(&home).contains(&"full") {
        return skip("probes need root");
    }
    for how in ["INT", "KILL"] {
        let mut trace = home.start("trace --usdt --out t.zst -- ./probes forever");
        let recorder = trace.id();
        wait_until("the tracepoints", || definitions(recorder) == 3);
        signal(recorder, how);
        trace.wait().expect("ended");
        if how == "KILL" {
            home.run("trace --usdt --out t.zst -- ./probes").recorded();
        }
        assert_eq!(definitions(recorder), 0, "{how}");
    }
}

#[test]
fn a_program_without_probes_says_so() {
    let home = Home::new();
    match allowed(&home).contains(&"full") {
        true => {
            let done = home.run("trace --usdt -- true").recorded();
            has(&done.err, ["no section .note.stapsdt"]);
        }
        false => skip("probes need root"),
    }
    let done = home.run("trace --tier minimal --usdt -- true");
    has(&done.err, ["no USDT probes: this tier can't record them"]);
}
