//! What is said of two builds of a suite, in a terminal and in a comment.

use crate::render::{judged_headline, judged_page};
use crate::{markdown, terminal};
use compare::judged::{BenchmarkAnswer, JudgedOutcome, JudgedRow, Judgment, NeededRounds};
use model::judged::evidence::ChangeEvidence;
use model::judged::question::SlotRule;
use model::judged::tails::SlowProcesses;
use model::judged::{BenchmarkState, Judged, JudgedBenchmark, JudgedBuild};
use model::stats::Interval;
use model::story::Block;

fn around(value: f64, half: f64) -> Interval {
    Interval { value, low: value - half, high: value + half }
}

fn judged_row(
    name: &str,
    ratio: f64,
    answer: BenchmarkAnswer,
    evidence: Option<ChangeEvidence>,
) -> JudgedRow {
    JudgedRow {
        name: name.into(),
        harness: "go test".into(),
        answer,
        ratio: Some(around(ratio, 0.008)),
        p_value: Some(1e-4),
        rounds: 60,
        measured_again: true,
        relinked: true,
        rule: SlotRule::LowEnd,
        control: Some(around(1.002, 0.004)),
        evidence,
        detectable: Some(0.011),
        needed: None,
        tails: None,
    }
}

fn not_measured(name: &str, state: BenchmarkState) -> JudgedBenchmark {
    JudgedBenchmark {
        name: name.into(),
        harness: "go test".into(),
        state,
        relinked: true,
        measured_again: false,
        lost_slots: 0,
        lost_because: None,
        counts: None,
    }
}

fn judgment(
    outcome: JudgedOutcome,
    rows: Vec<JudgedRow>,
    others: Vec<JudgedBenchmark>,
) -> Judgment {
    Judgment { outcome, fail_above: 0.0, level: 0.01, rows, others, interrupted: false }
}

/// With a remark, and no more to be said of the suite.
fn page_of(judgment: &Judgment) -> String {
    let remarks = vec!["b can't be relinked, so its layout is not randomized".into()];
    page_with(judgment, Judged { remarks, ..Judged::default() })
}

fn page_with(judgment: &Judgment, judged: Judged) -> String {
    let commit = Some("0bf1f3060c5ad71fa673f3985ac4b6612c407042".to_owned());
    let builds = [
        JudgedBuild { label: "main".into(), commit },
        JudgedBuild { label: "new/".into(), commit: None },
    ];
    let judged = Judged { builds, ..judged };
    let blocks = judged_page(judgment, &judged, &model::synthetic::run());
    let heading = Block::Heading(judged_headline(judgment));
    let comment = [vec![heading], blocks.clone()].concat();
    let [text, comment] = [terminal::plain(&blocks), markdown::to_markdown(&comment)];
    for page in [&text, &comment] {
        assert!(page.lines().count() <= 25, "{page}");
    }
    format!("{text}\n-----\n\n{comment}")
}

#[test]
fn every_kind_of_finding() {
    use BenchmarkAnswer::{Faster, Inconclusive, NotShown, Slower};
    let work = ChangeEvidence::Work { instructions: 1.0502, system_calls: 0.0 };
    let calls = ChangeEvidence::Work { instructions: 1.0004, system_calls: 20.0 };
    let needed = Some(NeededRounds { rounds: Some(240), ms: 150_000 });
    let rows = vec![
        judged_row("BenchmarkParse/big", 1.051, Slower, Some(work)),
        judged_row("BenchmarkSort", 1.08, Slower, Some(ChangeEvidence::SameInstructions)),
        judged_row("BenchmarkOpen", 1.31, Slower, Some(calls)),
        judged_row("BenchmarkHash", 0.93, Faster, Some(ChangeEvidence::Time)),
        JudgedRow {
            relinked: false,
            ..judged_row("BenchmarkCopy", 0.97, Faster, Some(ChangeEvidence::SameInstructions))
        },
        JudgedRow {
            needed,
            ..judged_row("BenchmarkMap", 1.03, Inconclusive, Some(ChangeEvidence::Machine))
        },
        JudgedRow { needed, ..judged_row("BenchmarkAlloc", 1.01, Inconclusive, None) },
        JudgedRow { ratio: None, ..judged_row("BenchmarkFew", 1.0, Inconclusive, None) },
        JudgedRow {
            tails: Some(SlowProcesses { limit_ns: 1234.5, base: 0.1, head: 0.317 }),
            ..judged_row("BenchmarkVm", 1.001, NotShown, None)
        },
    ];
    let others = vec![
        not_measured("BenchmarkDocs", BenchmarkState::SameProgram),
        not_measured("BenchmarkOld", BenchmarkState::OnlyInBase),
        not_measured("BenchmarkNew", BenchmarkState::OnlyInHead),
        not_measured("BenchmarkLate", BenchmarkState::BeyondBudget { needed_ms: 11_250 }),
        not_measured(
            "BenchmarkBroken",
            BenchmarkState::Failed { arm: "head".into(), why: "it measured nothing".into() },
        ),
    ];
    insta::assert_snapshot!(page_of(&judgment(JudgedOutcome::Regression, rows, others)));
}

/// Work explains no change against it.
#[test]
fn less_work_that_takes_longer() {
    let work = |instructions| Some(ChangeEvidence::Work { instructions, system_calls: 0.0 });
    let rows = [(1.037, 0.971), (0.96, 1.02), (0.96, 0.95)].map(|(ratio, instructions)| {
        let answer = if ratio > 1.0 { BenchmarkAnswer::Slower } else { BenchmarkAnswer::Faster };
        judged_row("u128", ratio, answer, work(instructions))
    });
    let page = page_of(&judgment(JudgedOutcome::Regression, rows.into(), vec![]));
    for said in [
        "slower despite -2.9 % instructions (data, branches, waiting)",
        "faster despite +2.0 % instructions (data, branches, waiting)",
        "work: -5.0 % instructions",
    ] {
        assert!(page.contains(said), "{page}");
    }
}

/// All that may be said, at its longest.
#[test]
fn a_page_with_everything_has_25_lines_at_most() {
    let long = |k: usize| format!("package/with/a/long/path/{k}: Benchmark{}", "Long".repeat(40));
    let needed = Some(NeededRounds { rounds: Some(24_000), ms: 150_000_000 });
    let rows = (0..30).map(|k| JudgedRow {
        relinked: false,
        needed,
        tails: Some(SlowProcesses { limit_ns: 1234.5, base: 0.1, head: 0.317 }),
        ..match k % 2 {
            0 => judged_row(&long(k), 1.1, BenchmarkAnswer::Slower, SAME),
            _ => judged_row(&long(k), 1.1, BenchmarkAnswer::Inconclusive, MACHINE),
        }
    });
    const SAME: Option<ChangeEvidence> = Some(ChangeEvidence::SameInstructions);
    const MACHINE: Option<ChangeEvidence> = Some(ChangeEvidence::Machine);
    let failed = BenchmarkState::Failed { arm: "head".into(), why: "x: ".repeat(300) };
    let states = [
        BenchmarkState::SameProgram,
        BenchmarkState::OnlyInBase,
        BenchmarkState::OnlyInHead,
        BenchmarkState::BeyondBudget { needed_ms: 90_000_000 },
        failed,
    ];
    let others =
        states.iter().flat_map(|state| (0..5).map(|k| not_measured(&long(k), state.clone())));
    let lossy = |k: usize| JudgedBenchmark {
        lost_slots: 2,
        lost_because: Some("y: ".repeat(300)),
        ..not_measured(&long(k), BenchmarkState::Measured)
    };
    let judged = Judged {
        benchmarks: (0..5).map(lossy).collect(),
        remarks: (0..4)
            .map(|k| format!("{k} can't be relinked, so its layout is not randomized"))
            .collect(),
        ..Judged::default()
    };
    let judgment = Judgment {
        interrupted: true,
        ..judgment(JudgedOutcome::Regression, rows.collect(), others.collect())
    };
    insta::assert_snapshot!(page_with(&judgment, judged));
}

#[test]
fn nothing_changed_and_nothing_known() {
    let same = |k: usize| judged_row(&format!("bench/{k}"), 1.0, BenchmarkAnswer::NotShown, None);
    let quiet = JudgedRow { rule: SlotRule::Medians, ..same(3) };
    let rows = vec![same(1), same(2), quiet];
    let unchanged = page_of(&judgment(JudgedOutcome::NoRegression, rows, Vec::new()));
    let program = vec![not_measured("all", BenchmarkState::SameProgram)];
    let equal = page_of(&judgment(JudgedOutcome::NoRegression, Vec::new(), program));
    let nothing = Judgment {
        interrupted: true,
        ..judgment(JudgedOutcome::Inconclusive, Vec::new(), Vec::new())
    };
    insta::assert_snapshot!([unchanged, equal, page_of(&nothing)].join("\n=====\n\n"));
}

#[test]
fn a_long_list_is_cut_and_counted_and_names_are_no_markup() {
    let name = |k: usize| match k {
        0 => "<script>alert(1)</script> | `x`".to_owned(),
        1 => "\u{202e}".to_owned() + &"y".repeat(300),
        k => format!("BM_Sum<int>/{k}"),
    };
    let rows = (0..40).map(|k| {
        let evidence = Some(ChangeEvidence::Time);
        judged_row(&name(k), 1.5 - k as f64 / 100.0, BenchmarkAnswer::Slower, evidence)
    });
    let within = BenchmarkAnswer::SlowerWithinLimit;
    let mut rows: Vec<JudgedRow> = rows.collect();
    rows.push(judged_row("within", 1.02, within, Some(ChangeEvidence::Time)));
    let judgment =
        Judgment { fail_above: 0.03, ..judgment(JudgedOutcome::Regression, rows, Vec::new()) };
    insta::assert_snapshot!(page_of(&judgment));
}
