//! `memory.naive_xor`: a naive loop over an array does not show the caches.

use super::{Block, Cell, Table, curve, left, right};
use crate::figure::{decimals, time};
use crate::run::{Axis, CurvePoint, Row, Run};
use crate::share::percent;
use crate::size;
use crate::stats::Interval;
use std::fmt::{self, Display};

/// What the ids of its rows begin with; the size follows.
pub const ROWS: &str = "memory.naive_xor/";
/// Ending of the rows of the vectorised loop.
pub const VECTORISED: &str = "_vectorised";

/// One size of the array.
pub struct Size<'r> {
    /// As the row names it.
    pub name: &'r str,
    /// Elements of one byte.
    pub elements: u64,
    /// One repetition, ns.
    pub repetition_ns: Interval,
    usable: bool,
    /// One dependent load in a working set of about this size, ns.
    load_ns: Option<f64>,
}

impl Size<'_> {
    /// Time per element.
    pub fn element_ns(&self) -> Interval {
        self.repetition_ns.scaled(1.0 / self.elements as f64)
    }
}

/// The sizes that were measured.
pub fn sizes(run: &Run) -> Vec<Size<'_>> {
    let size = |row| size(run, row);
    run.rows.iter().filter_map(size).collect()
}

fn size<'r>(run: &Run, row: &'r Row) -> Option<Size<'r>> {
    let name = row.id.strip_prefix(ROWS)?;
    let estimate = row.estimate()?;
    let elements = size::parse_size(name).filter(|&elements| elements > 0)?;
    Some(Size {
        name,
        elements,
        repetition_ns: estimate.ns_of_run()?,
        usable: estimate.verdict.is_usable(),
        load_ns: load_ns(run, elements),
    })
}

fn load_ns(run: &Run, bytes: u64) -> Option<f64> {
    let points = curve(run, "memory.latency", Axis::WorkingSetBytes);
    let apart = |p: &&CurvePoint| (p.x.max(1) as f64 / bytes as f64).ln().abs();
    points
        .iter()
        .filter(|p| apart(p) <= 2_f64.ln())
        .min_by(|a, b| apart(a).total_cmp(&apart(b)))
        .and_then(|p| p.estimate.ns())
        .map(|ns| ns.value)
}

/// How the time of an element grows from the smallest size to the largest, as
/// factors.
#[derive(Clone, Debug, PartialEq)]
pub enum Growth {
    /// The smallest or the largest size has no usable figure, or there is only one size.
    Unknown {
        /// Those without a usable figure; none where there is one size only.
        without: Vec<String>,
        /// The smallest size.
        least: String,
    },
    /// There are figures.
    Known {
        /// Smallest and largest size.
        span: [String; 2],
        /// Of the naive loop.
        naive: f64,
        /// Of a dependent load, where it was measured.
        load: Option<f64>,
    },
}

impl Growth {
    /// The growth over sizes; `None` where there is none.
    pub fn over(sizes: &[Size]) -> Option<Growth> {
        let (first, last) = (sizes.first()?, sizes.last()?);
        let without = [first, last].into_iter().filter(|size| !size.usable);
        let mut without: Vec<String> = without.map(|size| size.name.into()).collect();
        without.dedup();
        if !without.is_empty() || sizes.len() == 1 {
            return Some(Growth::Unknown { without, least: first.name.into() });
        }
        Some(Growth::Known {
            span: [first.name.into(), last.name.into()],
            naive: last.element_ns().value / first.element_ns().value,
            load: first.load_ns.zip(last.load_ns).map(|(first, last)| last / first),
        })
    }

    /// Whether dependent loads show the caches and the loop does not.
    pub fn hides_caches(&self) -> bool {
        match self {
            Growth::Known { naive, load: Some(load), .. } => {
                *load > 1.5 && (naive - 1.0).abs() < 0.25 * (load - 1.0)
            }
            _ => false,
        }
    }
}

impl Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const NEEDS: &str = "How the naive loop's time per element grows is not known: it needs";
        let (span, naive, load) = match self {
            Growth::Known { span, naive, load } => (span, naive, load),
            Growth::Unknown { without, least } if without.is_empty() => {
                return write!(f, "{NEEDS} another size than {least}.");
            }
            Growth::Unknown { without, .. } => {
                return write!(
                    f,
                    "{NEEDS} the smallest and the largest size, and {} has no usable figure.",
                    without.join(" and ")
                );
            }
        };
        let [from, to] = span;
        let naive = growth_text(*naive);
        write!(f, "From {from} to {to} the naive loop's time per element {naive}")?;
        if let Some(load) = load {
            write!(f, ", that of a dependent load {}", growth_text(*load))?;
        }
        match self.hides_caches() {
            true => f.write_str(
                ": the loop is bound by its instructions, and the prefetcher hides the memory \
                 latency. Only dependent loads show the caches.",
            ),
            false => f.write_str("."),
        }
    }
}

fn growth_text(factor: f64) -> String {
    match factor {
        f if !f.is_finite() || f <= 0.0 => "can't be compared".into(),
        f if (0.995..=1.005).contains(&f) => "does not change".into(),
        f if f < 0.995 => format!("falls to {f:.2} of it"),
        f if f < 1.2 => format!("grows by {}", percent(f - 1.0)),
        f => format!("grows {f:.1}-fold"),
    }
}

/// The times per element by size, next to published ones (ns per element by
/// row), and what they show; empty where the loop was not measured.
pub fn story(run: &Run, published: impl Fn(&str) -> Option<f64>) -> Vec<Block> {
    let sizes = sizes(run);
    let Some(growth) = Growth::over(&sizes) else {
        return Vec::new();
    };
    let digits = |ns: Interval| format!("{:.*}", decimals(ns.value, ns.half_width()), ns.value);
    let vectorised = |size: &Size| {
        let row = run.row(&format!("{ROWS}{}{VECTORISED}", size.name))?;
        let ns = row.estimate()?.ns()?;
        Some(digits(ns.scaled(1.0 / size.elements as f64)))
    };
    let load = |size: &Size| size.load_ns.map(|ns| format!("{ns:.*}", decimals(ns, 0.0)));
    let published =
        |size: &Size| published(&format!("{ROWS}{}", size.name)).map(|ns| ns.to_string());
    type SizeText<'a> = &'a dyn Fn(&Size) -> Option<String>;
    let lines: [(&str, SizeText); 5] = [
        ("naive loop", &|size| Some(digits(size.element_ns()))),
        ("  one repetition", &|size| Some(time(size.repetition_ns.value))),
        ("vectorised loop", &vectorised),
        ("one dependent load", &load),
        ("iPhone 5s, naive loop (published)", &published),
    ];
    let mut table = Table::new([left("ns per element")]);
    table.columns.extend(sizes.iter().map(|size| right(size.name)));
    for (name, text) in lines {
        let texts: Vec<Option<String>> = sizes.iter().map(text).collect();
        if texts.iter().any(Option::is_some) {
            let name = Cell::from(format!("  {name}"));
            let cells = texts.into_iter().map(|text| Cell::from(text.unwrap_or_default()));
            table.row([name].into_iter().chain(cells));
        }
    }
    vec![
        Block::Heading("memory.naive_xor: does a naive loop over an array show the caches?".into()),
        Block::Table(table),
        Block::note(growth.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn a_loop_that_hides_the_caches_and_one_that_does_not() {
        let mut run = synthetic::run();
        let growth = |run: &Run| Growth::over(&sizes(run)).expect("sizes");
        let hidden = growth(&run);
        assert!(hidden.hides_caches() && hidden.to_string().contains("Only dependent loads"));
        for row in run.rows.iter_mut().filter(|row| row.id == "memory.naive_xor/5000kB") {
            row.outcome = synthetic::ok_outcome(80.0 * 5e6, 1e5);
        }
        let shown = growth(&run);
        assert!(!shown.hides_caches() && shown.to_string().contains("-fold"), "{shown}");
        let needs = "How the naive loop's time per element grows is not known: it needs";
        for row in run.rows.iter_mut().filter(|row| row.id == "memory.naive_xor/5000kB") {
            if let crate::run::Outcome::Figure(estimate) = &mut row.outcome {
                estimate.verdict = crate::estimate::Verdict::Invalid;
            }
        }
        assert_eq!(
            growth(&run).to_string(),
            format!("{needs} the smallest and the largest size, and 5000kB has no usable figure.")
        );
        run.rows.retain(|row| !row.id.starts_with(ROWS) || row.id.ends_with("/50kB"));
        assert_eq!(growth(&run).to_string(), format!("{needs} another size than 50kB."));
        run.rows.retain(|row| !row.id.starts_with(ROWS));
        assert_eq!(story(&run, |_| None), []);
    }

    #[test]
    fn each_size_has_its_published_figure() {
        let story =
            story(&synthetic::run(), |row| (row == "memory.naive_xor/50kB").then_some(30.0));
        let Block::Table(table) = &story[1] else {
            panic!("a table");
        };
        assert_eq!(table.rows.len(), 5);
        let super::super::Row::Cells(cells) = &table.rows[4] else {
            panic!("cells");
        };
        let texts: Vec<String> = cells[1..].iter().map(Cell::text).collect();
        assert_eq!(texts, ["30", "", ""]);
    }
}
