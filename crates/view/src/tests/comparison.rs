//! Comparisons as a page and as a picture.

use compare::references::References;
use compare::{Comparison, Operand, Options, USUAL_MARGIN, compare};
use model::compare::finding::Verdict;
use model::run::Run;
use model::synthetic;

fn set(a: &Run, b: &Run) -> Comparison {
    let [a, b] = [a, b].map(|run| Operand::from_run("run", run.clone()));
    let usual = Options { margin: USUAL_MARGIN, fail_above: None, normalize: None };
    compare(&a, &b, &[], &|_| true, &usual).expect("rows in common")
}

#[test]
fn the_mode_that_is_compared_stands_with_the_row() {
    let modes = [("same CPU", 0.6, 4e3), ("other CPU", 0.4, 4e4)];
    let modes = synthetic::in_modes(5e3, &modes);
    let run = synthetic::with_figure(synthetic::run(), "sync.handoff/pipe", modes);
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
        let [ratio, interval] = crate::render::comparison::ratio_columns(row);
        assert!(longest(&ratio) <= Some(6) && longest(&interval) <= Some(6), "{ratio} {interval}");
    }
    // The picture's figures, which a page writes out too.
    let other = crate::chart::OtherRun { name: "before".into(), run: &run, comparison: Ok(c) };
    let references = References::embedded().expect("references");
    let chart = crate::chart::pick(&run, &references, &[other], "comparison").expect("drawn");
    let text = serde_json::to_string(&chart).expect("JSON");
    assert!(!text.contains("e110") && !text.contains("e-110"));
}

#[test]
fn what_moved_between_two_runs_is_one_screen_with_the_largest_first() {
    let run = synthetic::run();
    let mut c = set(&run, &run);
    let screen = crate::terminal::Screen { columns: 80, color: false };
    let page = |c: &Comparison| crate::terminal::blocks_text(&crate::render::moved(c), screen);
    let none = page(&c);
    assert!(none.contains(&format!("0 of {} rows moved;", c.rows.len())), "{none}");
    assert!(none.replace('\n', " ").ends_with("latlas compare run run "), "{none}");
    for (at, row) in c.rows.iter_mut().enumerate() {
        let Some(ratio) = &mut row.ratio else { continue };
        let value = 1.2 + 0.1 * at as f64;
        ratio.value = value;
        (ratio.low, ratio.high) = (Some(value - 0.02), Some(value + 0.02));
        row.finding = Verdict::Different;
    }
    let different = c.count_findings(Verdict::Different);
    let text = page(&c);
    assert!(
        different > 12 && text.contains(&format!("{} of them not shown", different - 12)),
        "{text}"
    );
    assert!(text.lines().count() <= 24, "{text}");
    assert!(crate::terminal::layout::keeps_to(&text, 80), "{text}");
    let factors =
        text.lines().filter_map(|line| line.split_once("x slower")?.0.split(' ').next_back());
    let factors: Vec<f64> = factors.map(|factor| factor.parse().expect("a factor")).collect();
    assert!(factors.len() > 3 && factors.is_sorted_by(|a, b| a >= b), "{text}");
}
