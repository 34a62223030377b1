//! A planned cell: one quantity to be measured, and what its visits cost.

use crate::disk_room::NoRoom;
use crate::pack::PackSite;
use crate::probe::SharedPart;
use model::run::{Bound, Regime};
use model::unit::Unit;
use std::time::Duration;

/// Operations behind a p99.9: ten lie above it.
pub(super) const FAR_END: u32 = 10_000;

/// What the visits of one cell cost, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Once in a run, of all workers: files, finding the length of samples.
    pub once_ns: f64,
    /// Each visit, without its samples.
    pub visit_ns: f64,
    /// Each sample.
    pub sample_ns: f64,
}

impl Cost {
    /// One visit with this many samples, ns.
    pub fn visit_of(&self, samples: u32) -> f64 {
        self.visit_ns + f64::from(samples) * self.sample_ns
    }
}

/// One quantity to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCell {
    /// Number of its probe in the catalogue.
    pub probe: usize,
    /// Its probe in a pack, if it is one's: it has workers of its own then.
    pub pack: Option<PackSite>,
    /// Row it belongs to.
    pub row: String,
    /// Variant of the probe, or empty.
    pub variant: String,
    /// Point on the row's curve or map.
    pub at: Vec<u64>,
    /// Unit.
    pub unit: Unit,
    /// What its time follows.
    pub bound: Bound,
    /// How it is measured.
    pub regime: Regime,
    /// The workers that visit it are numbers `first_worker` to
    /// `first_worker + workers - 1`.
    pub first_worker: u32,
    /// How many they are.
    pub workers: u32,
    /// Visits of each.
    pub visits: u32,
    /// Samples a visit.
    pub samples: u32,
    /// The cell whose visits measure this one too, if it has none of its own.
    pub follows: Option<usize>,
    /// Memory that it works in.
    pub working_set_bytes: u64,
    /// Whether its samples carry the last-level canary.
    pub last_level_canary: bool,
    /// What may change between runs and decides the figure.
    pub depends_on: Option<SharedPart>,
    /// Whether it keeps files in the scratch directory.
    pub on_disk: bool,
    /// Why no visit is made to it, if so: the disk has no room for its files.
    pub refused: Option<NoRoom>,
    /// Whether it takes visits beyond the planned ones.
    pub extra_visits: bool,
    /// What its visits should cost.
    pub cost: Cost,
    /// Time that all its planned visits should take.
    pub allotment: Duration,
}

impl PlannedCell {
    /// Whether its visits will put files on the disk.
    pub fn wants_disk(&self) -> bool {
        self.on_disk && self.refused.is_none()
    }

    pub(super) fn refuse(&mut self, why: NoRoom) {
        self.refused = Some(why);
        self.visits = 0;
    }

    /// Its name in messages: row and point.
    pub fn cell_name(&self) -> String {
        let point: Vec<String> = self.at.iter().map(u64::to_string).collect();
        if point.is_empty() {
            self.row.clone()
        } else {
            format!("{} at {}", self.row, point.join(" x "))
        }
    }
}
