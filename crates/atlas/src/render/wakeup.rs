//! What `sched.wakeup` is measured for: how long a woken thread waits, as a
//! histogram, on the idle machine beside the loaded one.

use super::COLUMNS;
use super::figures::time_with_half;
use super::histogram::{Panel, draw, values};
use super::layout::Grid;
use super::tails::in_words;
use model::estimate::Verdict;
use model::run::Run;

pub(crate) const ROWS: [&str; 2] = ["sched.wakeup/idle", "sched.wakeup/loaded"];
/// The picture; empty where no operation was recorded.
pub(super) fn wakeup(run: &Run) -> String {
    let mut panels = Vec::new();
    let mut damaged = false;
    let mut grid = Grid::default();
    grid.free("sched.wakeup: from the wake to running, every operation, in bins of equal factors");
    for id in ROWS {
        let cell = run.cells.iter().find(|cell| cell.row == id);
        let (Some(cell), Some(estimate)) = (cell, run.row(id).and_then(|row| row.estimate()))
        else {
            continue;
        };
        let name = id.rsplit('/').next().unwrap_or(id);
        match values(cell, run.clock.ns_per_tick) {
            Ok(values_ns) if values_ns.is_empty() => {}
            Ok(values_ns) => {
                let panel = Panel {
                    name: name.into(),
                    estimate,
                    values_ns,
                };
                grid.wrapped(&format!("  {name:<8}"), &caption(&panel), COLUMNS);
                panels.push(panel);
            }
            Err(why) => {
                damaged = true;
                let why = format!("not drawn: {why}");
                grid.wrapped(&format!("  {name:<8}"), &why, COLUMNS);
            }
        }
    }
    if !draw(&mut grid, &panels) && !damaged {
        return String::new();
    }
    grid.render(1)
}

/// The marks of the picture in words.
fn caption(panel: &Panel) -> String {
    let mut words = Vec::new();
    if panel.estimate.verdict == Verdict::Invalid {
        words.push("invalid".to_owned());
    }
    if let Some(ns) = panel.estimate.ns() {
        words.push(format!("p50 {}", time_with_half(&ns)));
    }
    if let Some(tail) = &panel.estimate.tail {
        words.push(in_words(tail));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::histogram::ALONE;
    use crate::render::layout::width;
    use crate::render::synthetic;

    fn counted(text: &str) -> usize {
        text.lines()
            .skip_while(|line| !line.trim_start().starts_with("from"))
            .skip(1)
            .flat_map(|line| {
                line.split_whitespace()
                    .skip(2)
                    .filter_map(|w| w.parse::<usize>().ok())
            })
            .sum()
    }

    #[test]
    fn every_operation_is_in_the_picture() {
        let run = synthetic::run();
        let n: usize = run
            .cells
            .iter()
            .filter(|cell| cell.row.starts_with("sched.wakeup/"))
            .map(|cell| cell.samples.first_ticks.len())
            .sum();
        let text = wakeup(&run);
        assert!(n > 1000);
        assert_eq!(counted(&text), n, "{text}");
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        let text = text.replace("p99 noisy", "noisy");
        for mark in ["p50", "p99"] {
            // In the caption and in the picture, of each row.
            assert_eq!(
                text.matches(&format!("{mark} ")).count()
                    + text.matches(&format!("{mark}\n")).count(),
                4,
                "{text}"
            );
        }
    }

    #[test]
    fn a_mark_stands_at_its_bin() {
        let run = synthetic::run();
        let text = wakeup(&run);
        let idle = run
            .row(ROWS[0])
            .and_then(|r| r.estimate())
            .expect("a figure");
        let median = idle.ns().expect("a figure").value;
        let marked = text
            .lines()
            .skip_while(|line| !line.trim_start().starts_with("from"))
            .find(|line| line.contains("p50"))
            .expect("a mark");
        let words: Vec<&str> = marked.split_whitespace().collect();
        let begin: f64 = words[0].parse().expect("a number");
        assert_eq!(words[1], "ns", "{marked}");
        assert!(begin <= median && median < begin * 3.0, "{marked} {median}");
    }

    #[test]
    fn one_row_alone_has_the_whole_width() {
        let mut run = synthetic::run();
        run.cells.retain(|cell| cell.row != ROWS[1]);
        let text = wakeup(&run);
        assert!(text.contains("  idle"), "{text}");
        assert!(!text.contains("loaded"), "{text}");
        assert!(text.contains(&"█".repeat(ALONE)), "{text}");
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
    }

    #[test]
    fn without_operations_there_is_no_picture() {
        let mut run = synthetic::run();
        run.cells.clear();
        assert_eq!(wakeup(&run), "");
    }

    #[test]
    fn operations_below_zero_have_a_line_of_their_own() {
        let mut run = synthetic::run();
        let cell = run.cells.iter_mut().find(|c| c.row == ROWS[0]);
        let ticks = &mut cell.expect("a cell").samples.second_ticks;
        ticks[3] = 0;
        let text = wakeup(&run);
        let line = text.lines().find(|l| l.contains("0 or less"));
        let line = line.expect("a line of its own");
        assert!(line.trim_end().ends_with(" 1"), "{line}");
    }

    #[test]
    fn damaged_samples_are_named() {
        let mut run = synthetic::run();
        let cell = run.cells.iter_mut().find(|c| c.row == ROWS[0]);
        cell.expect("a cell").samples.second_ticks.pop();
        let text = wakeup(&run);
        assert!(
            text.contains("idle    not drawn: column second_ticks"),
            "{text}"
        );
    }
}
