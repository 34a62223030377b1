use super::*;
use crate::terminal::COLUMNS;
use crate::terminal::layout::width;
use compare::references::References;
use compare::tables::fill_in;
use model::synthetic;

fn published_text(
    key: &str,
    run: Option<&Run>,
    earlier: bool,
    options: &PublishedOptions,
) -> String {
    let references = References::embedded().expect("references");
    let layout = references.layout(key).expect("a table");
    let table = fill_in(layout, &references, run, earlier);
    crate::terminal::plain(&published(&table, run, options))
}

fn usual_options() -> PublishedOptions<'static> {
    PublishedOptions { columns: COLUMNS, ..PublishedOptions::default() }
}

fn usual(key: &str, run: Option<&Run>) -> String {
    published_text(key, run, false, &usual_options())
}

fn widest(text: &str) -> usize {
    text.lines().map(width).max().unwrap_or(0)
}

#[test]
fn ashs_table() {
    let text = usual("ash", Some(&compare::synthetic::published_run()));
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
}

#[test]
fn ashs_table_with_the_figures_of_2008() {
    let run = compare::synthetic::published_run();
    let text = published_text("ash", Some(&run), true, &usual_options());
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS + 28, "{} columns", widest(&text));
}

#[test]
fn kurkins_tables() {
    let text = usual("kurkin", Some(&compare::synthetic::published_run()));
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
}

#[test]
fn the_2012_list() {
    let text = usual("2012", Some(&compare::synthetic::published_run()));
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
}

#[test]
fn a_run_that_holds_little() {
    let text = usual("ash", Some(&synthetic::run()));
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
}

#[test]
fn nothing_measured_yet() {
    let text = usual("kurkin", None);
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
}

#[test]
fn every_column() {
    let run = compare::synthetic::published_run();
    let options = PublishedOptions { wide: true, ..usual_options() };
    insta::assert_snapshot!(published_text("ash", Some(&run), true, &options));
    insta::assert_snapshot!(published_text("kurkin", Some(&run), false, &options));
}
