//! The picture, whole and in parts.

use super::*;
use crate::render::joined;
use crate::terminal::{COLUMNS, colored, layout::keeps_to, plain};
use model::synthetic::osnoise as synthetic;

fn page(cpus: &[Osnoise]) -> String {
    plain(&joined(osnoise(cpus)))
}

#[test]
fn the_picture_of_gaps() {
    let text = page(&[synthetic::osnoise(80)]);
    insta::assert_snapshot!(text);
    assert!(keeps_to(&text, COLUMNS), "{text}");
    assert!(text.lines().all(|line| line == line.trim_end()));
    assert!(!text.contains('\x1b'));
    let colored = colored(&joined(osnoise(&[synthetic::osnoise(80)])));
    assert!(colored.contains("\x1b[32m  T tick"), "{colored}");
}

#[test]
fn a_quiet_cpu_and_one_that_ended_early() {
    let cpus = [
        Osnoise {
            causes: Vec::new(),
            longest: Vec::new(),
            detours: 0,
            lost_ns: 0,
            share: None,
            ..synthetic::osnoise(80)
        },
        Osnoise::default(),
    ];
    let text = page(&cpus);
    assert!(text.contains("lost 0 % of its CPU time (0 ns of"), "{text}");
    assert!(text.contains("On no CPU of its own: nothing was watched"), "{text}");
    assert!(text.contains("All these CPUs"), "{text}");
    assert!(keeps_to(&text, COLUMNS), "{text}");
}

#[test]
fn every_cause_that_is_there_has_a_letter() {
    let counts = [(Cause::Scheduler, 1), (Cause::Tick, 10_000)];
    let text = bar(&counts, 10_001);
    assert!(text.starts_with('S') && text.ends_with('T'), "{text}");
    assert!((BAR..=BAR + 1).contains(&text.len()), "{text}");
    assert_eq!(bar(&[(Cause::Tick, 0)], 5), "");
    assert!(bar(&[(Cause::Tick, 100)], 10_000).len() < BAR * 6 / 10);
}

#[test]
fn a_few_words_for_the_conditions() {
    let mut around = OsnoiseAround { before: synthetic::osnoise(80), after: None };
    let before = "CPU time lost 1.8 % (most: scheduler) before";
    assert_eq!(conditions_text(&around), before);
    around.after = Some(Osnoise { span_ns: 1, ..Osnoise::default() });
    assert!(conditions_text(&around).ends_with("before, nothing after"));
    let nothing = OsnoiseAround::default();
    assert_eq!(conditions_text(&nothing), "CPU time lost is unknown");
}
