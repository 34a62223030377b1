//! Single operations in bins of equal factors.

use model::figure::time;
use model::run::{Cell, Run};
use model::story::histogram::Bins;
use model::unit::Unit;

pub(super) const BINS: usize = 36;

/// Where each bin begins, in words of a row's unit: of one that is seen as a
/// speed still times, which are what was sampled.
pub(super) fn bin_names(bins: &Bins, unit: &Unit) -> Vec<String> {
    let name = |value: f64| match unit.is_time() {
        true => time(value),
        false => model::figure::value_text(unit, value),
    };
    (0..bins.bin_count()).map(|bin| name(bins.bin_start(bin))).collect()
}

/// A row's own samples: of the row, not of a point of it.
pub(super) fn own_cell<'r>(run: &'r Run, id: &str) -> Option<&'r Cell> {
    run.cell(id, &[])
}
