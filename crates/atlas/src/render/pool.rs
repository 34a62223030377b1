//! What `sched.pool` is measured for: whether more threads than CPUs cost
//! anything here.

mod line;
mod singles;
mod verdict;

use super::COLUMNS;
use super::curves::Marks;
use super::figures::{number_with_half, time_with_half, typical};
use super::layout::{Grid, left, right, wrap};
use line::lines;
use model::estimate::{Estimate, Verdict};
use model::run::{Axis, CurvePoint, Outcome, Row, Run};
use model::unit::Unit;
use singles::Singles;

pub(crate) const PROBE: &str = "sched.pool";
/// Threads of the published study.
const KURKIN: u64 = 16;

/// Whether a row is a column of this block.
pub(super) fn draws(row: &Row) -> bool {
    let own = row
        .id
        .strip_prefix(PROBE)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    own && points(row).is_some()
}

fn points(row: &Row) -> Option<&[CurvePoint]> {
    match &row.outcome {
        Outcome::Curve {
            axis: Axis::Threads,
            points,
        } => Some(points),
        _ => None,
    }
}

/// The block; empty where no pool was measured.
pub(super) fn pool(run: &Run) -> String {
    let lines = lines(run);
    if lines.is_empty() {
        return String::new();
    }
    let singles = Singles::of(run, &lines);
    let mut grid = Grid::default();
    grid.free(format!(
        "{PROBE}: time an operation; ideal: the procedure alone over min(threads, CPUs)"
    ));
    let mut marks = Marks::default();
    let mut heading = vec![right("threads  ")];
    heading.extend(
        [
            "time",
            "",
            "",
            "ideal",
            "",
            "of ideal",
            "single operation",
            "mean",
        ]
        .map(left),
    );
    grid.entries(heading);
    for line in &lines {
        let figure = |estimate: Option<&Estimate>| {
            let ns = estimate.and_then(Estimate::ns);
            let text = ns.map_or("-".into(), |ns| time_with_half(&ns));
            let (value, half) = text.rsplit_once(" ±").unwrap_or((&text, ""));
            let half = match half {
                "" => String::new(),
                half => format!("±{half}"),
            };
            [right(value), left(half)]
        };
        let verdict = line.took.map_or(Verdict::Ok, |e| e.verdict);
        let published = if line.threads == KURKIN {
            "Kurkin's "
        } else {
            ""
        };
        let mut entries = vec![right(format!("  {published}{}  ", line.threads))];
        entries.extend(figure(line.took));
        entries.push(left(marks.of(verdict).to_string().trim()));
        entries.extend(figure(line.ideal));
        let ratio = line.ratio();
        entries.push(left(ratio.map_or(String::new(), |r| number_with_half(&r))));
        entries.push(left(
            line.single
                .map_or(String::new(), |e| typical(e, &Unit::Time)),
        ));
        let mean = singles.mean_ns(line.threads).map(|ns| time_with_half(&ns));
        entries.push(left(mean.unwrap_or_default()));
        grid.entries(entries);
    }
    let mut text = grid.render(1);
    text.push_str(&marks.legend());
    let cpus = cpus(run);
    for line in wrap("  ", &verdict::verdict(&lines, cpus), COLUMNS) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(&singles.picture(&lines, cpus));
    text
}

/// Whether more threads than CPUs cost anything, in words.
pub(crate) fn in_words(run: &Run) -> String {
    verdict::verdict(&lines(run), cpus(run))
}

/// How many CPUs the pool could use: those of the plan, else those that the
/// machine allows.
pub(crate) fn cpus(run: &Run) -> Option<u64> {
    let planned = Some(&run.plan.cpus).filter(|cpus| !cpus.is_empty());
    let cpus = planned.or(run.machine.allowed_cpus.get())?;
    Some(cpus.len() as u64)
}

/// The number of threads that others are held against: as near to that of the
/// CPUs as there is one not above it; else the smallest.
fn base(threads: impl Iterator<Item = u64> + Clone, cpus: u64) -> Option<u64> {
    let within = threads.clone().filter(|&n| n <= cpus).max();
    within.or(threads.min())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::layout::width;
    use crate::render::synthetic;

    #[test]
    fn figures_that_can_not_be_relied_on_are_no_ground() {
        let mut run = synthetic::run();
        for row in run.rows.iter_mut().filter(|row| row.id == PROBE) {
            let Outcome::Curve { points, .. } = &mut row.outcome else {
                panic!("a curve");
            };
            for point in points {
                point.estimate.verdict = Verdict::Invalid;
            }
        }
        let text = pool(&run);
        assert!(
            text.contains("can't be told") && text.contains('!'),
            "{text}"
        );
    }

    #[test]
    fn a_plan_that_narrows_the_cpus_is_followed() {
        let mut run = synthetic::run();
        run.plan.cpus = vec![0, 2];
        let text = pool(&run);
        assert!(text.contains("16 threads on 2 CPUs"), "{text}");
        run.plan.cpus.clear();
        let text = pool(&run);
        assert!(text.contains("16 threads on 4 CPUs"), "{text}");
    }

    #[test]
    fn the_block_names_the_published_number_and_keeps_to_the_page() {
        let run = synthetic::run();
        let text = pool(&run);
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        let marked = text.lines().filter(|l| l.contains("Kurkin's"));
        let marked: Vec<&str> = marked.map(str::trim_start).collect();
        assert_eq!(marked.len(), 1, "{text}");
        assert!(marked[0].starts_with("Kurkin's 16 "), "{text}");
        let mut without = run;
        without.rows.retain(|row| !draws(row));
        assert_eq!(pool(&without), "");
    }
}
