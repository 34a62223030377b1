//! `sched.wakeup`: how long a woken thread waits, on the idle machine and on
//! the loaded one.

use super::histogram::{Distribution, histogram_table, values};
use super::{Block, Note, tail};
use crate::estimate::{Estimate, Verdict};
use crate::run::Run;
use crate::shown::time_with_half;

/// Rows, from the idle machine to the loaded one.
pub const ROWS: [&str; 2] = ["sched.wakeup/idle", "sched.wakeup/loaded"];

/// Percentiles and the histogram of every operation; empty where none was
/// recorded.
pub fn story(run: &Run) -> Vec<Block> {
    let mut distributions = Vec::new();
    let mut notes = Vec::new();
    for id in ROWS {
        let cell = run.cells.with_id(id).next();
        let estimate = run.row(id).and_then(|row| row.estimate());
        let (Some(cell), Some(estimate)) = (cell, estimate) else {
            continue;
        };
        let name = id.rsplit('/').next().unwrap_or(id);
        let text = match values(cell, run.clock.ns_per_tick) {
            Ok(values_ns) if values_ns.is_empty() => continue,
            Ok(values_ns) => {
                distributions.push(Distribution { name: name.into(), estimate, values_ns });
                percentiles(estimate)
            }
            Err(why) => format!("no histogram: {why}"),
        };
        notes.push(Block::Note(Note::new(format!("  {name:<8}"), text)));
    }
    let table = histogram_table(&distributions);
    if table.is_none() && notes.len() == distributions.len() {
        return Vec::new();
    }
    let heading =
        "sched.wakeup: wake-up latency (wake to running), all operations, logarithmic bins";
    let mut story = vec![Block::Heading(heading.into())];
    story.extend(notes);
    story.extend(table.map(Block::Table));
    story
}

fn percentiles(estimate: &Estimate) -> String {
    let mut texts = Vec::new();
    texts.extend((estimate.verdict == Verdict::Invalid).then(|| "invalid".to_owned()));
    texts.extend(estimate.ns().map(|ns| format!("p50 {}", time_with_half(&ns))));
    texts.extend(estimate.tail.as_ref().map(tail::tail_text));
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::histogram::tests::counted;
    use super::*;
    use crate::synthetic;

    #[test]
    fn every_operation_is_in_the_histogram() {
        let mut run = synthetic::run();
        let cells = |run: &Run| -> usize {
            let own = run.cells.iter().filter(|cell| ROWS.contains(&cell.row.as_str()));
            own.map(|cell| cell.samples.first_ticks.len()).sum()
        };
        assert!(cells(&run) > 1000);
        assert_eq!(counted(&story(&run)), cells(&run));
        // One of 0 or less too.
        let own = run.cells.iter_mut().find(|c| c.row == ROWS[0]);
        own.expect("a cell").samples.second_ticks[3] = 0;
        assert_eq!(counted(&story(&run)), cells(&run));
        run.cells.retain(|cell| cell.row != ROWS[1]);
        assert_eq!(counted(&story(&run)), cells(&run));
        let own = run.cells.iter_mut().find(|c| c.row == ROWS[0]);
        own.expect("a cell").samples.second_ticks.pop();
        let [_, Block::Note(damaged)] = &story(&run)[..] else {
            panic!("a heading and a note");
        };
        assert!(damaged.text.contains("no histogram: column second_ticks"), "{damaged:?}");
        run.cells.clear();
        assert_eq!(story(&run), []);
    }
}
