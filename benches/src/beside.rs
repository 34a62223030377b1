//! Rows of ours beside a peer's program: alternated pairs, the ratio of each
//! figure that the program prints, and what both sides took.

use crate::bars::Bars;
use crate::ours::{self, Task};
use crate::pairs::{Ratios, alternate};
use crate::spread::median;
use crate::table::{Table, figure};
use anyhow::{Context, bail};
use model::run::{Outcome, Run};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Where a figure stands in what the peer prints.
#[derive(Clone, Copy, Debug)]
pub enum Find {
    /// First number after this beginning of a line.
    After(&'static str),
    /// The number before this end of a line.
    Before(&'static str),
    /// First number of the second line.
    SecondLine,
    /// The number at this place of the line whose first word this is.
    Column(&'static str, usize),
}

/// What the peer's figure is.
#[derive(Clone, Copy, Debug)]
pub enum Printed {
    /// A time: this many ns of one of our operations for 1 of it.
    Time(f64),
    /// A rate: ns of one of our operations are this over it.
    Rate(f64),
}

impl Printed {
    fn ns(self, value: f64) -> f64 {
        match self {
            Printed::Time(ns) => value * ns,
            Printed::Rate(over) => over / value,
        }
    }
}

/// One figure of a comparison.
pub struct Figure {
    /// Our row, as `estimates` names it.
    pub ours: &'static str,
    /// Where the peer prints its own.
    pub find: Find,
    /// What it is.
    pub printed: Printed,
    /// Empty if the two are the same operation and the ratio is judged; else
    /// in what they differ.
    pub differs: &'static str,
}

/// The same operation on both sides; `ns` of ours for 1 of what is printed.
pub const fn same(ours: &'static str, find: Find, ns: f64) -> Figure {
    unlike(ours, find, ns, "")
}

/// Two operations that differ, and in what.
pub const fn unlike(ours: &'static str, find: Find, ns: f64, differs: &'static str) -> Figure {
    Figure {
        ours,
        find,
        printed: Printed::Time(ns),
        differs,
    }
}

/// The same operation on both sides, of which the peer prints a rate: ns of
/// ours are `over` divided by it.
pub const fn same_rate(ours: &'static str, find: Find, over: f64) -> Figure {
    Figure {
        printed: Printed::Rate(over),
        ..same(ours, find, 1.0)
    }
}

/// What of ours is judged against the peer's figure: what the peer prints
/// itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// A median over repetitions.
    Median,
    /// One mean over a single stretch.
    Mean,
}

/// What one side did once: by our row's name the median and the mean of its
/// samples in ns (a peer's only figure stands for both), and its wall time.
pub type Side = (BTreeMap<String, [f64; 2]>, Duration);

/// Figures that one run of a peer's program prints, and the rows of ours.
pub struct Comparison<'c> {
    /// In a word or two.
    pub name: &'c str,
    /// How ours are measured; each pair has a seed of its own.
    pub task: Task,
    /// The figures.
    pub figures: &'c [Figure],
    /// What is judged.
    pub statistic: Statistic,
}

/// What all comparisons came to.
pub struct Report {
    ratios: Table,
    walls: Table,
    bars: Bars,
}

impl Default for Report {
    fn default() -> Report {
        Report {
            ratios: Table::new(&[
                "comparison",
                "row",
                "ours ns",
                "peer ns",
                "ours is the",
                "ratio",
                "with the other",
                "the same operation",
            ]),
            walls: Table::new(&["comparison", "ours s", "of that the rows s", "peer s"]),
            bars: Bars::new(),
        }
    }
}

impl Report {
    /// Measures both sides by turns. What goes wrong is a bar that is missed.
    pub fn add(
        &mut self,
        pairs: u32,
        comparison: &Comparison,
        theirs: impl FnMut() -> anyhow::Result<Side>,
    ) {
        eprintln!("{}", comparison.name);
        if let Err(e) = self.try_add(pairs, comparison, theirs) {
            self.bars.hold(false, format!("{}: {e:#}", comparison.name));
        }
    }

    fn try_add(
        &mut self,
        pairs: u32,
        comparison: &Comparison,
        mut theirs: impl FnMut() -> anyhow::Result<Side>,
    ) -> anyhow::Result<()> {
        let mut rows_ms = Vec::new();
        let pairs = alternate(
            pairs,
            |pair| {
                let (side, ms) = measure_ours(comparison, u64::from(pair) + 1)?;
                rows_ms.push(ms);
                Ok(side)
            },
            |_| theirs(),
        )?;
        for wanted in comparison.figures {
            self.ratio(comparison, wanted, &pairs);
        }
        let seconds = |pick: &dyn Fn(&(Side, Side)) -> Duration| {
            let all: Vec<f64> = pairs.iter().map(|pair| pick(pair).as_secs_f64()).collect();
            figure(median(&all))
        };
        self.walls.line(vec![
            comparison.name.into(),
            seconds(&|(ours, _)| ours.1),
            figure(median(&rows_ms).map(|ms| ms / 1e3)),
            seconds(&|(_, theirs)| theirs.1),
        ]);
        Ok(())
    }

    fn ratio(&mut self, comparison: &Comparison, wanted: &Figure, pairs: &[(Side, Side)]) {
        let judged = usize::from(comparison.statistic == Statistic::Mean);
        let both = |of: usize| -> Vec<(f64, f64)> {
            let figure = |side: &Side| Some(side.0.get(wanted.ours)?[of]);
            pairs
                .iter()
                .filter_map(|(ours, theirs)| Some((figure(ours)?, figure(theirs)?)))
                .collect()
        };
        let ratios_of = |of| Ratios::new(both(of).iter().map(|(ours, theirs)| ours / theirs));
        let ratios = ratios_of(judged);
        let middle = |pick: fn(&(f64, f64)) -> f64| {
            figure(median(&both(judged).iter().map(pick).collect::<Vec<_>>()))
        };
        self.ratios.line(vec![
            comparison.name.into(),
            wanted.ours.into(),
            middle(|pair| pair.0),
            middle(|pair| pair.1),
            ["median", "mean"][judged].into(),
            ratios.text(),
            ratios_of(1 - judged).text(),
            match wanted.differs {
                "" => "yes".into(),
                differs => format!("no: {differs}"),
            },
        ]);
        if wanted.differs.is_empty() {
            self.bars.hold(
                ratios.inside(0.9, 1.1),
                format!(
                    "{} {}: {} (inside 0.9 to 1.1)",
                    comparison.name,
                    wanted.ours,
                    ratios.text()
                ),
            );
        }
    }

    /// Prints the tables; the bars are left to be concluded.
    pub fn print(self) -> Bars {
        self.ratios
            .print("Median ratio with its distribution-free 95 % interval (ns an operation)");
        self.walls.print("Wall time of one measurement, median");
        self.bars
    }
}

/// Ours in a process of its own; beside it what the rows themselves took, ms.
fn measure_ours(comparison: &Comparison, seed: u64) -> anyhow::Result<(Side, f64)> {
    let began = Instant::now();
    let run = ours::measure(&Task {
        seed,
        ..comparison.task.clone()
    })?;
    let wall = began.elapsed();
    let figures: BTreeMap<String, [f64; 2]> = ours::estimates(&run)
        .into_iter()
        .filter_map(|(name, _, estimate)| {
            let cell = run
                .cells
                .iter()
                .find(|cell| ours::cell_name(cell) == name)?;
            let mean = ours::mean_ns(&run, cell)?;
            Some((name, [estimate.typical?.ns.value, mean]))
        })
        .collect();
    let missing = |f: &&Figure| !figures.contains_key(f.ours);
    if let Some(wanted) = comparison.figures.iter().find(missing) {
        bail!("{} gave no figure: {}", wanted.ours, why(&run));
    }
    let rows_ms = run.cells.iter().map(|cell| cell.wall_ms).sum();
    Ok(((figures, wall), rows_ms))
}

/// What a run says of rows that have no figure.
fn why(run: &Run) -> String {
    let notes = run.rows.iter().flat_map(|row| row.notes.clone());
    let reasons = run.rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Unavailable { reason } => Some(reason.clone()),
        _ => None,
    });
    reasons.chain(notes).collect::<Vec<_>>().join("; ")
}

/// The figures in what a peer printed, each for median and mean.
///
/// # Errors
/// When one is missing: a program of LMbench's prints nothing where it
/// measured nothing.
pub fn read(figures: &[Figure], text: &str) -> anyhow::Result<BTreeMap<String, [f64; 2]>> {
    figures
        .iter()
        .map(|wanted| {
            let value = find(text, wanted.find)
                .with_context(|| format!("no figure for {} in:\n{text}", wanted.ours))?;
            Ok((wanted.ours.to_string(), [wanted.printed.ns(value); 2]))
        })
        .collect()
}

fn find(text: &str, place: Find) -> Option<f64> {
    let first_number = |text: &str| {
        text.split(|c: char| c.is_whitespace() || c == ',')
            .find_map(|word| word.parse().ok())
    };
    match place {
        Find::After(begin) => text
            .lines()
            .find_map(|line| first_number(line.strip_prefix(begin)?.rsplit(": ").next()?)),
        Find::Before(end) => text.lines().find_map(|line| {
            let rest = line.trim_end().strip_suffix(end)?;
            rest.split_whitespace().last()?.parse().ok()
        }),
        Find::SecondLine => first_number(text.lines().nth(1)?),
        Find::Column(first, place) => text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next()? == first).then(|| words.nth(place.checked_sub(1)?)?.parse().ok())?
        }),
    }
}

/// Whether each figure is of the rows that are asked for, and those exist;
/// else the first that is not.
///
/// # Errors
/// Its name.
pub fn of_our_rows(rows: &[&str], figures: &[Figure]) -> Result<(), String> {
    let known: Vec<String> = ours::catalogue()
        .iter()
        .flat_map(meter::probe::Probe::row_ids)
        .collect();
    for figure in figures {
        let row = figure.ours.split('@').next().unwrap_or_default();
        if !known.iter().any(|id| id == row) {
            return Err(format!("there is no row {row}"));
        }
        let asked = rows.iter().any(|pattern| {
            let begin = pattern.trim_end_matches('*');
            row == *pattern || (begin != *pattern && row.starts_with(begin))
        });
        if !asked {
            return Err(format!("{row} is not asked for"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_where_they_stand() {
        assert_eq!(
            find(
                "Simple syscall: 0.2133 microseconds\n",
                Find::After("Simple syscall:")
            ),
            Some(0.2133)
        );
        let ring = "\n\"size=0k ovr=0.52\n2 1.83\n8 2.05\n16 2.20\n";
        assert_eq!(find(ring, Find::After("2 ")), Some(1.83));
        assert_eq!(find(ring, Find::After("16 ")), Some(2.2));
        assert_eq!(
            find("\n     4.782540 usecs/op\n", Find::Before("usecs/op")),
            Some(4.78254)
        );
        assert_eq!(find(",\n108.1093,\n", Find::SecondLine), Some(108.1093));
        assert_eq!(find("", Find::After("Simple read:")), None);
        let files = "0k\t4242\t84000\t150000\n1k\t2121\t42000\t90000\n10k\t1\t2\t3\n";
        assert_eq!(find(files, Find::Column("1k", 2)), Some(42_000.0));
        assert_eq!(find(files, Find::Column("0k", 3)), Some(150_000.0));
        assert_eq!(find(files, Find::Column("k", 3)), None);
        assert_eq!(find(files, Find::Column("0k", 4)), None);
        assert_eq!(find(files, Find::Column("0k", 0)), None);
    }

    #[test]
    fn a_rate_is_turned_into_a_time() {
        // 0.001024 MB at 512 MB/s are 2 us a file.
        let figures = [same_rate(
            "file.x",
            Find::Column("0.001024", 1),
            1024.0 * 1e3,
        )];
        let read = read(&figures, "0.001024 512.00\n").expect("a figure");
        assert_eq!(read["file.x"], [2000.0; 2]);
        assert!(super::read(&figures, "").is_err());
    }
}
