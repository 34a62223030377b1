//! Comparisons as a page and as a picture.

use compare::references::References;
use compare::{Comparison, Operand, Options, USUAL_MARGIN, compare};
use model::compare::finding::Verdict;
use model::run::Run;
use model::synthetic;

fn set(a: &Run, b: &Run) -> Comparison {
    let [a, b] = [a, b].map(|run| Operand::run("run", run.clone()));
    let usual = Options { margin: USUAL_MARGIN, fail_above: None, normalize: None };
    compare(&a, &b, &[], &|_| true, &usual).expect("rows in common")
}

#[test]
fn the_mode_that_is_compared_stands_with_the_row() {
    let modes = [("same CPU", 0.6, 4e3), ("other CPU", 0.4, 4e4)];
    let modes = synthetic::in_modes(5e3, &modes);
    let run = synthetic::with(synthetic::run(), "sync.handoff/pipe", modes);
    let page = crate::terminal::plain(&crate::render::comparison(&set(&run, &run), false));
    assert!(page.contains("handoff/pipe (same CPU)"), "{page}");
}

#[test]
fn no_interval_is_a_column_of_digits() {
    let run = synthetic::run();
    let mut c = set(&run, &run);
    for row in &mut c.rows {
        row.finding = Verdict::CannotTell;
        if let Some(ratio) = &mut row.ratio {
            (ratio.low, ratio.high) = (Some(1e-110), Some(1e110));
        }
    }
    let page = crate::terminal::plain(&crate::render::comparison(&c, false));
    assert!(page.contains("too wide"), "{page}");
    assert!(crate::terminal::layout::keeps_to(&page, crate::terminal::COLUMNS), "{page}");
    let longest = |text: &str| {
        let digits = text.split(|c: char| !c.is_ascii_digit());
        digits.map(str::len).max()
    };
    for row in &c.rows {
        let [ratio, interval] = crate::render::comparison::ratio(row);
        assert!(longest(&ratio) <= Some(6) && longest(&interval) <= Some(6), "{ratio} {interval}");
    }
    // The picture's figures, which a page writes out too.
    let other = crate::chart::OtherRun { name: "before".into(), run: &run, comparison: Ok(c) };
    let references = References::embedded().expect("references");
    let chart = crate::chart::pick(&run, &references, &[other], "comparison").expect("drawn");
    let text = serde_json::to_string(&chart).expect("JSON");
    assert!(!text.contains("e110") && !text.contains("e-110"));
}
