//! What is said of two builds, in a terminal and in a comment.

use crate::render::{paired_answer, paired_facts, paired_headline, paired_rows};
use crate::{markdown, terminal};
use compare::paired::{PairedGate, PairedRow};
use model::compare::finding::Verdict;
use model::stats::Interval;
use model::story::Block;

fn interval(value: f64, half: f64) -> Interval {
    Interval { value, low: value - half, high: value + half }
}

fn paired_row(command: &str, ratio: f64, half: f64, answer: Verdict) -> PairedRow {
    PairedRow {
        command: command.into(),
        row: "wall",
        base_ns: interval(31e6, 1e6),
        head_ns: interval(31e6 * ratio, 1e6),
        rounds: 30,
        ratio: Some(interval(ratio, half)),
        decides: true,
        detectable: Some(half * 1.3),
        answer,
        why: None,
    }
}

fn page(rows: Vec<PairedRow>, complete: bool) -> String {
    let gate = PairedGate { fail_above: 0.05, level: 0.05, complete, rows };
    let blocks = [paired_answer(&gate), paired_rows(&gate)].concat();
    let heading = vec![Block::Heading(paired_headline(&gate))];
    let builds = ["1a2b3c4d5e".to_owned(), "`new`".to_owned()];
    let facts = paired_facts(&gate, &builds, Some(&model::synthetic::run_of_commands()));
    let comment = [heading, blocks.clone(), facts].concat();
    format!("{}\n-----\n\n{}", terminal::plain(&blocks), markdown::to_markdown(&comment))
}

#[test]
fn all_answers() {
    let mut cpu = paired_row("{}/parse big.json", 1.3, 0.02, Verdict::Different);
    cpu.row = "task_clock";
    cpu.decides = false;
    let rows = vec![
        paired_row("{}/parse big.json", 1.31, 0.04, Verdict::Different),
        cpu,
        paired_row("{}/render | wc", 1.02, 0.05, Verdict::CannotTell),
        paired_row("{}/old", 0.9, 0.02, Verdict::SameWithinNoise),
        PairedRow {
            ratio: None,
            detectable: None,
            ..paired_row("{}/few", 1.0, 0.0, Verdict::CannotTell)
        },
    ];
    insta::assert_snapshot!(page(rows, true));
}

#[test]
fn no_regression() {
    let rows = vec![
        paired_row("{}/parse", 1.001, 0.023, Verdict::SameWithinNoise),
        paired_row("{}/render", 1.012, 0.002, Verdict::SameWithinNoise),
    ];
    insta::assert_snapshot!(page(rows, true));
}

#[test]
fn builds_that_did_not_do_the_same_are_not_comparable() {
    let refused = |row: &'static str| PairedRow {
        row,
        decides: row == "wall",
        detectable: None,
        why: Some("head: all 30 runs failed (exit code 1)".into()),
        ..self::paired_row("{}/parse missing.json", 0.02, 0.01, Verdict::CannotTell)
    };
    let text = page(vec![refused("wall"), refused("task_clock")], true);
    insta::assert_snapshot!(text);
    assert!(!text.contains("faster"), "{text}");
}

#[test]
fn a_disturbed_wall_time_is_not_what_decides() {
    let disturbed =
        PairedRow { decides: false, ..paired_row("{}/parse", 1.02, 0.2, Verdict::CannotTell) };
    let mut cpu = paired_row("{}/parse", 1.002, 0.01, Verdict::SameWithinNoise);
    cpu.row = "task_clock";
    insta::assert_snapshot!(page(vec![disturbed, cpu], true));
}

#[test]
fn nothing_but_noise() {
    let noisy = paired_row("{}/render | wc", 1.02, 0.05, Verdict::CannotTell);
    insta::assert_snapshot!(page(vec![noisy], true));
}

#[test]
fn interrupted_before_anything() {
    insta::assert_snapshot!(page(Vec::new(), false));
}
