//! `latlas noise ab CONTROL... -- CMD` on the real binary: the user's own
//! command is what runs, under each control, and is judged.

use super::ab::effects;
use crate::support::{Home, has, unwrapped};
use model::noise::effect::{Load, Workload};

#[test]
fn a_command_runs_under_each_control_and_is_judged() {
    let home = Home::new();
    // Says much, and leaves a line for each run.
    let line = "echo run >> runs; yes | head -c 200000; exec sleep 0.01";
    let options = "noise ab pin session --rounds 6 --seed 3 --document";
    let done = home.run(format!("{options} -- sh -c '{line}'")).measured();
    let run = done.document();
    assert_eq!(run.partial, None);
    let document = effects(&run);
    assert_eq!(document.how.command, ["sh", "-c", line]);
    let [block] = &document.blocks[..] else {
        panic!("{:?}", document.blocks);
    };
    assert_eq!((block.workload, block.load), (Workload::Command, Load::None));
    let names: Vec<&str> = block.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, ["none", "pin", "session"]);
    for arm in &block.arms {
        assert_eq!(arm.runs.len(), 6, "{}", arm.name);
        for run in &arm.runs {
            assert!(run.took_ns >= 10_000_000 && run.took_ns == run.wall_ns);
            assert!(run.voluntary > 0, "it slept");
            if let (Some(n), "pin") = (run.migrations, arm.name.as_str()) {
                assert_eq!(n, 0, "it had one CPU");
            }
        }
    }
    // One or two to try it (one where it took long), one of each state to warm
    // up, six rounds of three.
    let runs = home.read_file("runs");
    let tried = runs.lines().count() - 3 - 18;
    assert!(matches!(tried, 1 | 2), "{tried}");
    let effects = document.effects();
    assert_eq!(effects.len(), 2);
    assert!(effects.iter().all(|effect| effect.switches.is_some()));
}

#[test]
fn a_short_command_is_noted_and_the_page_has_its_counts() {
    let done = Home::new().run("noise ab pin --rounds 6 -- true").measured();
    let announced = done.err.contains("about") || done.err.contains("at most");
    assert!(announced, "{}", done.err);
    let page = unwrapped(&done.out);
    // However slow this machine: `true` under 50 ms, or no note.
    let short = page.contains("too short");
    let timed = page.contains(" ms [") || page.contains(" us [");
    assert!(short || timed, "{page}");
    has(&page, ["command: true", "time, median", "switches", "migrations", "detectable from"]);
    done.line_with("none");
}

#[test]
fn what_can_not_be_compared_is_refused() {
    let refused = Home::new().refusals(
        "noise ab pin -- no-such-program-here
         noise ab pin -- sh -c 'echo so >&2; exit 7'
         noise ab pin --workload cpu -- true
         noise ab pin --job 9ms -- true",
    );
    insta::assert_snapshot!(refused);
}

/// Eight rounds and one to warm up, two states: at least 37.8 s, 41.6 s with a tenth to
/// spare, and the trial runs before that.
#[test]
fn the_trial_is_part_of_the_budget() {
    let home = Home::new();
    for line in ["--budget 1s -- sleep 0.3", "--budget 43s -- sleep 2.1"] {
        let done = home.run(format!("noise ab pin {line}"));
        done.refused("--budget is too short");
    }
}

#[test]
fn a_dry_run_does_not_run_the_command() {
    let home = Home::new();
    let plan = home.out("noise ab pin --dry-run -- touch made");
    has(&plan, ["command with no load: 2 states", "once the command has run"]);
    assert!(!home.path("made").exists());
}
