//! The page of a made-up document, read as a whole.

use super::qos;
use crate::html::{PageContext, paint};
use crate::render::joined;
use crate::terminal::layout::width;
use crate::terminal::{Screen, blocks_text};
use model::synthetic::qos::qos_recording;

const COLUMNS: usize = 80;

fn page(document: &model::qos::Qos) -> String {
    let screen = Screen { columns: COLUMNS, color: false };
    blocks_text(&joined(qos(document, None, false)), screen)
}

#[test]
fn all_of_it_on_80_columns() {
    let page = page(&qos_recording());
    assert!(page.lines().all(|line| width(line) <= COLUMNS), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn oakleys_table_with_and_without_a_result() {
    let references = compare::references::References::embedded().expect("references");
    let reference = &references.qos[0];
    let mut document = qos_recording();
    for runs in &mut document.cases {
        if let model::qos::Case::Pair { high, .. } = &mut runs.case {
            *high = model::qos::Level::USER_INTERACTIVE;
        }
    }
    let run = model::synthetic::qos::qos_run(document.clone());
    let page = |document| {
        let screen = Screen { columns: COLUMNS, color: false };
        blocks_text(&super::oakley(&compare::tables::oakley(reference, document)), screen)
    };
    let filled = page(Some((&run, &document)));
    assert!(filled.lines().all(|line| width(line) <= COLUMNS), "{filled}");
    insta::assert_snapshot!(filled);
    insta::assert_snapshot!(page(None));
    // Three rounds of some, one of others.
    let mut few = document.clone();
    for (at, runs) in few.cases.iter_mut().enumerate() {
        runs.runs.truncate(if at == 5 { 1 } else { 3 });
    }
    insta::assert_snapshot!(page(Some((&run, &few))));
}

#[test]
fn a_partial_result_of_few_rounds_says_so() {
    let mut document = qos_recording();
    for case in &mut document.cases {
        case.runs.truncate(1);
    }
    document.cases[3].runs.clear();
    document.conditions.power = model::machine::Fact::unknown("no power supply");
    document.conditions.autogroups = model::machine::Fact::unknown("no weights here");
    insta::assert_snapshot!(page(&document));
}

#[test]
fn two_kinds_of_cores_and_cpu_histories() {
    let mut document = qos_recording();
    document.cases.drain(5..);
    let kind = |name: &str, cpu: u32| model::machine::CoreKind {
        name: name.into(),
        cpus: vec![cpu],
        capacity: None,
        max_hz: None,
    };
    let kinds = [kind("P-core", 0), kind("E-core", 1)];
    let block = |end_cpu| model::residency::WorkBlock {
        thread: 0,
        begin_cpu: 1,
        end_cpu,
        cpu_ns: 2_000_000,
        most_moves: Some(1),
        clock_hz: None,
    };
    for (at, case) in document.cases.iter_mut().enumerate() {
        // Of each hundred blocks so many moved.
        let moved = [0, 10, 100, 2, 1][at];
        let mut blocks = vec![block(1); 100 - moved];
        blocks.extend(vec![block(0); moved]);
        for job in case.runs.iter_mut().flat_map(|run| &mut run.jobs) {
            job.residency = model::residency::residency(&blocks, &kinds, Some(&[0, 1]));
        }
    }
    let hybrid = crate::render::cpu_history::tests::hybrid();
    document.cases[0].history = Some(hybrid);
    // Half of what was predicted, in half a second.
    for run in &mut document.cases[3].runs {
        run.together_ns = 500_000_000;
        run.jobs[1].together_cpu_ns = 7_000_000;
        run.jobs[0].together_cpu_ns = 993_000_000;
    }
    let html = paint(&joined(qos(&document, None, true)), PageContext::CHAPTER).into_string();
    for text in ["user-interactive", "E-core", "CPU 7", "<svg"] {
        assert!(html.contains(text), "{text}");
    }
    let page = page(&document);
    assert!(page.lines().all(|line| width(line) <= COLUMNS), "{page}");
    let (rest, _) = page.split_once("Times").expect("before the tables of times");
    insta::assert_snapshot!(rest);
}
