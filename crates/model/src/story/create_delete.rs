//! `file.create` and `file.delete`: what deleting a file costs relative to
//! creating it.

use super::{Block, Cell, Table, by_x, curve, left, right, usable};
use crate::estimate::Estimate;
use crate::paired;
use crate::run::{Axis, Run};
use crate::shown::number_with_half;
use crate::size;
use crate::stats::Interval;

/// Row of creating and writing a file.
pub const CREATE: &str = "file.create";
/// Row of deleting it.
pub const DELETE: &str = "file.delete";

struct Size<'r> {
    bytes: u64,
    create: Option<&'r Estimate>,
    delete: Option<&'r Estimate>,
    /// Deleting over creating, where both figures are usable.
    ratio: Option<Interval>,
}

crate::words! {
    /// What the ratios of all sizes say together.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Deleting: text {
        /// Less than creating at every size.
        Cheaper = "less for every size",
        /// More than creating at every size.
        Dearer = "more for every size",
        /// Every interval includes 1.
        NotDistinguishable = "not distinguishable",
        /// Neither holds for all sizes.
        DependsOnSize = "depends on the size",
    }
}

impl Deleting {
    /// The answer of ratios of deleting over creating.
    pub fn from_ratios(ratios: &[Interval]) -> Deleting {
        let all = |holds: fn(&Interval) -> bool| ratios.iter().all(holds);
        match () {
            () if all(|r| r.high < 1.0) => Deleting::Cheaper,
            () if all(|r| r.low > 1.0) => Deleting::Dearer,
            () if all(|r| r.low <= 1.0 && r.high >= 1.0) => Deleting::NotDistinguishable,
            () => Deleting::DependsOnSize,
        }
    }
}

/// The figures of both rows by size, and the conclusion; empty where neither
/// was measured.
pub fn story(run: &Run) -> Vec<Block> {
    let sizes = sizes(run);
    if sizes.is_empty() {
        return Vec::new();
    }
    let mut table =
        Table::new([right("  size"), right("create"), right("delete"), left("delete / create")]);
    for size in &sizes {
        let figure = |estimate: Option<&Estimate>| {
            let cell = Cell::time(estimate.and_then(Estimate::ns));
            estimate.map_or(cell.clone(), |e| cell.marked(e.verdict))
        };
        table.row([
            size::format_size(size.bytes).into(),
            figure(size.create),
            figure(size.delete),
            Cell::number(size.ratio),
        ]);
    }
    vec![
        Block::Heading(format!(
            "{CREATE}, {DELETE}: creating and writing a file, and deleting it, in a directory of 100"
        )),
        Block::Table(table),
        Block::note(conclusion(run)),
    ]
}

/// What deleting costs relative to creating, in a sentence.
pub fn conclusion(run: &Run) -> String {
    let sizes = sizes(run);
    let ratio = |size: &Size| Some((size.bytes, size.ratio?));
    let mut ratios: Vec<(u64, Interval)> = sizes.iter().filter_map(ratio).collect();
    ratios.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let (Some(low), Some(high)) = (ratios.first(), ratios.last()) else {
        return "Deleting can't be compared with creating in this run.".into();
    };
    let text = |(bytes, ratio): &(u64, Interval)| {
        format!("{} ({})", number_with_half(ratio), size::format_size(*bytes))
    };
    let range = match low.0 == high.0 {
        true => text(low),
        false => format!("{} to {}", text(low), text(high)),
    };
    let all: Vec<Interval> = ratios.iter().map(|(_, ratio)| *ratio).collect();
    format!(
        "Deleting takes {range} of the time of creating: {}.",
        Deleting::from_ratios(&all).text()
    )
}

fn sizes(run: &Run) -> Vec<Size<'_>> {
    let (create, delete) =
        (curve(run, CREATE, Axis::FileBytes), curve(run, DELETE, Axis::FileBytes));
    let mut sizes: Vec<u64> = create.iter().chain(delete).map(|p| p.x).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let [create, delete] = [create, delete].map(by_x);
    let size = |bytes| {
        let create = create.get(&bytes).copied();
        let delete = delete.get(&bytes).copied();
        let both = create.and_then(usable).and(delete.and_then(usable));
        Size { bytes, create, delete, ratio: both.and_then(|_| deleting_ratio(run, bytes)) }
    };
    sizes.into_iter().map(size).collect()
}

/// From the samples: both rows are of the same visits.
fn deleting_ratio(run: &Run, bytes: u64) -> Option<Interval> {
    let samples = |id: &str| run.cell(id, &[bytes]);
    paired::median_ratio(samples(DELETE)?, samples(CREATE)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn the_ratio_is_of_the_samples_of_the_same_visits() {
        let mut run = synthetic::run();
        let ratio = |run: &Run| sizes(run)[1].ratio.expect("usable").value;
        let before = ratio(&run);
        // What slows both of a worker changes nothing.
        for cell in &mut run.cells {
            if [CREATE, DELETE].contains(&cell.row.as_str()) {
                cell.ops_per_turn *= 3.0;
            }
        }
        assert!((ratio(&run) / before - 1.0).abs() < 1e-9);
        for cell in run.cells.iter_mut().filter(|cell| cell.row == DELETE) {
            cell.ops_per_turn /= 4.0;
        }
        assert!((ratio(&run) / before - 4.0).abs() < 1e-9);
        assert!(conclusion(&run).contains("more for every size"));
        // A size with an unusable figure has no ratio.
        assert_eq!(sizes(&run).last().expect("a size").ratio, None);
        run.cells.clear();
        assert!(conclusion(&run).contains("can't be compared"));
        run.rows.clear();
        assert_eq!(story(&run), []);
    }

    #[test]
    fn the_answer_follows_the_intervals() {
        let of = |ratios: &[(f64, f64)]| {
            let ratio = |&(value, half): &(f64, f64)| Interval::about(value, half);
            Deleting::from_ratios(&ratios.iter().map(ratio).collect::<Vec<_>>())
        };
        assert_eq!(of(&[(0.9, 0.2), (1.1, 0.2)]), Deleting::NotDistinguishable);
        assert_eq!(of(&[(0.9, 0.05), (1.1, 0.2)]), Deleting::DependsOnSize);
        assert_eq!(of(&[(1.3, 0.2)]), Deleting::Dearer);
        assert_eq!(of(&[(0.7, 0.2)]), Deleting::Cheaper);
    }
}
