//! The ratio of two quantities that the same workers measured in the same
//! visits: what a worker or the hour did to both cancels.

use crate::estimate::WORKERS;
use crate::run::Cell;
use crate::spread::medians_by_worker;
use crate::stats::{self, Interval};
use std::collections::HashMap;

/// How many times the denominator's median operation the numerator's takes:
/// the mean over workers of the ratio of their medians, without the lowest and
/// the highest, with Yuen's 95 % interval over workers. `None` where fewer than
/// three workers have enough samples of both, or a median is not above 0.
pub fn median_ratio(numerator: &Cell, denominator: &Cell) -> Option<Interval> {
    let (above, below) = (medians(numerator)?, medians(denominator)?);
    let below: HashMap<u32, f64> = below.into_iter().collect();
    let ratios: Vec<f64> = above
        .iter()
        .filter_map(|(worker, ns)| {
            let other = below.get(worker)?;
            (*ns > 0.0 && *other > 0.0).then(|| ns / other)
        })
        .collect();
    (ratios.len() >= WORKERS).then(|| stats::trimmed_t_interval(&ratios)).flatten()
}

/// Median of each worker that has one, in ticks an operation.
fn medians(cell: &Cell) -> Option<Vec<(u32, f64)>> {
    let samples = cell.samples.samples().ok()?;
    let values: Vec<(u32, f64)> =
        samples.iter().map(|s| (s.worker, s.ns_per_op(cell.ops_per_turn, 1.0))).collect();
    Some(medians_by_worker(&values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Regime;
    use crate::sample::Sample;
    use crate::sample_columns::Columns;

    /// Three operations of each worker, the middle one as long as given.
    fn paired_cell(middles: &[u64]) -> Cell {
        let samples: Vec<Sample> = middles
            .iter()
            .enumerate()
            .flat_map(|(worker, &middle)| {
                [middle, middle / 2, middle * 9].map(|ticks| Sample {
                    worker: worker as u32,
                    turns: 1,
                    first_ticks: 0,
                    second_ticks: Some(ticks),
                    ..Sample::default()
                })
            })
            .collect();
        Cell {
            row: "file.create".into(),
            at: vec![1024],
            ops_per_turn: 1.0,
            regime: Regime::Stamped,
            modes: Vec::new(),
            wall_ms: 0.0,
            samples: Columns::from(&samples[..]),
        }
    }

    #[test]
    fn what_slowed_a_worker_slowed_both() {
        let create = paired_cell(&[1000, 2000, 4000, 1000]);
        let delete = paired_cell(&[500, 1000, 2000, 600]);
        let half =
            median_ratio(&paired_cell(&[500, 1000, 2000, 500]), &create).expect("four workers");
        assert_eq!((half.value, half.half_width()), (0.5, 0.0));
        let ratio = median_ratio(&delete, &create).expect("four workers");
        assert!((ratio.value - 0.525).abs() < 1e-12, "{ratio:?}");
        // t(3) = 3.182 times 0.05 / sqrt(4).
        assert!((ratio.half_width() - 0.079_55).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn a_worker_far_off_neither_moves_nor_widens_it() {
        let create = paired_cell(&[1000; 8]);
        let mut middles = [500; 8];
        middles[3] = 50_000;
        let ratio = median_ratio(&paired_cell(&middles), &create).expect("eight workers");
        assert_eq!(ratio.value, 0.5);
        assert_eq!(ratio.half_width(), 0.0, "{ratio:?}");
    }

    #[test]
    fn too_few_say_nothing() {
        let three = paired_cell(&[1000; 3]);
        assert!(median_ratio(&three, &three).is_some());
        assert_eq!(median_ratio(&paired_cell(&[1000; 2]), &three), None);
        assert_eq!(median_ratio(&three, &paired_cell(&[1000, 0, 1000])), None);
    }
}
