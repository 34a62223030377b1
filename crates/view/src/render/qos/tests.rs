//! The page of a made-up document, read as a whole.

use super::qos;
use crate::terminal::layout::width;
use crate::terminal::{Screen, text};
use model::synthetic::qos::document;

const COLUMNS: usize = 80;

fn page(document: &model::qos::Qos) -> String {
    let screen = Screen {
        columns: COLUMNS,
        color: false,
    };
    text(&qos(document), screen)
}

#[test]
fn all_of_it_on_80_columns() {
    let page = page(&document());
    assert!(page.lines().all(|line| width(line) <= COLUMNS), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn oakleys_table_with_and_without_a_result() {
    let references = compare::references::References::embedded().expect("references");
    let reference = &references.qos[0];
    let mut document = document();
    for runs in &mut document.cases {
        if let model::qos::Case::Pair { high, .. } = &mut runs.case {
            *high = model::qos::Level::USER_INTERACTIVE;
        }
    }
    let page = |document| {
        let screen = Screen {
            columns: COLUMNS,
            color: false,
        };
        text(
            &super::oakley(&compare::tables::oakley(reference, document)),
            screen,
        )
    };
    let filled = page(Some(&document));
    assert!(
        filled.lines().all(|line| width(line) <= COLUMNS),
        "{filled}"
    );
    insta::assert_snapshot!(filled);
    insta::assert_snapshot!(page(None));
}

#[test]
fn a_partial_result_of_few_rounds_says_so() {
    let mut document = document();
    for case in &mut document.cases {
        case.runs.truncate(1);
    }
    document.cases[3].runs.clear();
    document.partial = Some("interrupted: completed runs are kept".into());
    document.conditions.power = model::machine::Fact::unknown("no power supply");
    document.conditions.autogroups = model::machine::Fact::unknown("no weights here");
    insta::assert_snapshot!(page(&document));
}
