//! What `memory.naive_xor` is measured for: a naive loop over an array does
//! not show the caches.

use super::COLUMNS;
use super::layout::{Grid, left, right, wrap};
use crate::references::References;
use model::estimate::Verdict;
use model::figure::{decimals, time};
use model::run::{CurvePoint, Outcome, Row, Run};
use model::size;
use model::stats::Interval;

pub(crate) const PROBE: &str = "memory.naive_xor/";
/// The published table that has the loop.
pub(crate) const PUBLISHED: &str = "iphone-5s";

/// Ending of the rows of the vectorised loop.
pub(crate) const VECTORISED: &str = "_vectorised";

/// The sizes that were measured, each with ns of a repetition; and what they
/// teach, in words.
pub(crate) fn measured(run: &Run) -> (Vec<Size<'_>>, String) {
    let sizes: Vec<Size> = run.rows.iter().filter_map(size_of).collect();
    let chase: Vec<Option<f64>> = sizes.iter().map(|s| chase_at(run, s.elements)).collect();
    let words = conclusion(&sizes, &chase);
    (sizes, words)
}

/// One measured size: elements (of one byte), and ns of one repetition.
pub(crate) struct Size<'a> {
    pub(crate) name: &'a str,
    pub(crate) elements: u64,
    pub(crate) repetition_ns: Interval,
    /// Whether the figure may teach anything.
    told: bool,
}

impl Size<'_> {
    /// Time of an element.
    pub(crate) fn element_ns(&self) -> Interval {
        self.repetition_ns.scaled(1.0 / self.elements as f64)
    }
}

/// The lesson; empty where the naive loop was not measured.
pub(super) fn naive_xor(run: &Run, references: &References) -> String {
    let sizes: Vec<Size> = run.rows.iter().filter_map(size_of).collect();
    if sizes.is_empty() {
        return String::new();
    }
    let chase: Vec<Option<f64>> = sizes.iter().map(|s| chase_at(run, s.elements)).collect();
    let mut grid = Grid::default();
    let mut heading = vec![left("ns an element")];
    heading.extend(sizes.iter().map(|s| right(s.name)));
    grid.entries(heading);
    let mut line = |name: &str, texts: Vec<String>| {
        if texts.iter().any(|text| !text.is_empty()) {
            let mut entries = vec![left(format!("  {name}"))];
            entries.extend(texts.into_iter().map(right));
            grid.entries(entries);
        }
    };
    let each = |text: &dyn Fn(&Size) -> String| sizes.iter().map(text).collect::<Vec<_>>();
    line("naive loop", each(&|s| set(&s.element_ns())));
    line("  one repetition", each(&|s| time(s.repetition_ns.value)));
    line(
        "vectorised loop",
        each(&|s| {
            let loop_ns = vectorised(run, s.name).map(|ns| ns.scaled(1.0 / s.elements as f64));
            loop_ns.map_or(String::new(), |ns| set(&ns))
        }),
    );
    line(
        "one dependent load",
        chase
            .iter()
            .map(|ns| ns.map_or(String::new(), |ns| format!("{ns:.*}", decimals(ns, 0.0))))
            .collect(),
    );
    if let Some(table) = references.find(PUBLISHED) {
        line(
            "iPhone 5s, naive loop (published)",
            each(&|s| {
                let row = table.beside(&format!("{PROBE}{}", s.name));
                let element_ns = row.and_then(|b| b.row.ns_per_element);
                element_ns.map_or(String::new(), |ns| ns.to_string())
            }),
        );
    }
    let mut text =
        String::from("memory.naive_xor: does a naive loop over an array show the caches?\n");
    text.push_str(&grid.render(2));
    for line in wrap("  ", &conclusion(&sizes, &chase), COLUMNS) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn size_of(row: &Row) -> Option<Size<'_>> {
    let name = row.id.strip_prefix(PROBE)?;
    let estimate = row.estimate()?;
    Some(Size {
        name,
        elements: size::parse(name)?,
        repetition_ns: estimate.ns()?,
        told: !matches!(estimate.verdict, Verdict::CannotTell | Verdict::Invalid),
    })
    .filter(|size| size.elements > 0)
}

/// One repetition of the same size through the vectorised loop.
fn vectorised(run: &Run, name: &str) -> Option<Interval> {
    run.row(&format!("{PROBE}{name}{VECTORISED}"))?
        .estimate()?
        .ns()
}

/// Latency of one dependent load in a working set of about this size.
fn chase_at(run: &Run, bytes: u64) -> Option<f64> {
    let Outcome::Curve { points, .. } = &run.row("memory.latency")?.outcome else {
        return None;
    };
    let apart = |p: &&CurvePoint| (p.x.max(1) as f64 / bytes as f64).ln().abs();
    points
        .iter()
        .filter(|p| apart(p) <= 2_f64.ln())
        .min_by(|a, b| apart(a).total_cmp(&apart(b)))
        .and_then(|p| p.estimate.ns())
        .map(|ns| ns.value)
}

fn set(ns: &Interval) -> String {
    format!("{:.*}", decimals(ns.value, ns.half_width()), ns.value)
}

fn conclusion(sizes: &[Size], chase: &[Option<f64>]) -> String {
    let (Some(first), Some(last)) = (sizes.first(), sizes.last()) else {
        return String::new();
    };
    if !(first.told && last.told) {
        return "This run can't tell: the figures of the naive loop are not to be relied on."
            .into();
    }
    let naive = last.element_ns().value / first.element_ns().value;
    let span = format!("From {} to {}", first.name, last.name);
    let naive_text = change(naive);
    let (Some(Some(small)), Some(Some(large))) = (chase.first(), chase.last()) else {
        return format!("{span} the naive loop's time an element {naive_text}.");
    };
    let chased = large / small;
    let beside = format!(
        "{span} the naive loop's time an element {naive_text}, that of a dependent load {}",
        change(chased)
    );
    if chased > 1.5 && (naive - 1.0).abs() < 0.25 * (chased - 1.0) {
        format!(
            "{beside}: the loop waits for its own instructions, and the prefetcher hides what \
             memory costs. Only loads that wait for each other show the caches."
        )
    } else {
        format!("{beside}.")
    }
}

fn change(factor: f64) -> String {
    match factor {
        f if !f.is_finite() || f <= 0.0 => "can't be compared".into(),
        f if (0.995..=1.005).contains(&f) => "does not change".into(),
        f if f < 0.995 => format!("falls to {f:.2} of it"),
        f if f < 1.2 => format!("grows by {:.0} %", (f - 1.0) * 100.0),
        f => format!("grows {f:.1}-fold"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    fn text(run: &Run) -> String {
        naive_xor(run, &References::embedded().expect("references"))
    }

    #[test]
    fn the_lesson_stands_beside_the_chase() {
        let text = text(&synthetic::run());
        assert!(
            text.contains("does not change") || text.contains("grows by"),
            "{text}"
        );
        assert!(
            text.contains("Only loads that wait for each other"),
            "{text}"
        );
        assert!(text.contains("vectorised loop"), "{text}");
        assert!(
            text.contains("30") && text.contains("24") && text.contains("17"),
            "{text}"
        );
    }

    #[test]
    fn no_lesson_is_drawn_that_the_figures_do_not_teach() {
        let mut run = synthetic::run();
        for row in &mut run.rows {
            if row.id == "memory.naive_xor/5000kB" {
                row.outcome = synthetic::figure(80.0 * 5e6, 1e5);
            }
        }
        let text = text(&run);
        assert!(!text.contains("Only loads"), "{text}");
        assert!(text.contains("-fold"), "{text}");
    }

    #[test]
    fn without_the_loop_there_is_no_block() {
        let mut run = synthetic::run();
        run.rows.retain(|row| !row.id.starts_with(PROBE));
        assert_eq!(text(&run), "");
    }
}
