//! What the parent and a worker send each other.

use crate::controls::RequestedControls;
use crate::pack::PackSite;
use crate::placement::NotPinned;
use model::gate::Gate;
use model::noise::applied::Settings;
use model::run::Regime;
use model::sample::Sample;
use serde::{Deserialize, Serialize};

/// First message to a worker.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct WorkerSetup {
    /// Its number.
    pub worker: u32,
    /// CPUs to pin itself to; empty for none.
    pub pin: Vec<u32>,
    /// What else to set for itself.
    pub asked: RequestedControls,
    /// Length of a tick of the common clock, as the parent calibrated it.
    pub ns_per_tick: f64,
    /// The run's beginning on CLOCK_MONOTONIC_RAW.
    pub began_ns: u64,
    /// Largest buffer on huge pages.
    pub huge_bytes: u64,
    /// Largest buffer on base pages.
    pub base_bytes: u64,
    /// Working set of the last-level canary.
    pub last_level_canary_bytes: u64,
    /// Seed of everything random in the worker.
    pub seed: u64,
    /// The machine as the plan sees it.
    pub machine_shape: crate::probe::MachineShape,
}

/// What the parent asks for.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct VisitRequest {
    /// Number of the cell in the plan, returned with the answer.
    pub cell: u32,
    /// Number of the probe in the catalogue.
    pub probe: u32,
    /// Where the probe is, if it is a pack's: the worker's catalogue has none of those.
    pub pack: Option<PackSite>,
    /// Variant.
    pub variant: String,
    /// Point.
    pub at: Vec<u64>,
    /// How it is measured.
    pub regime: Regime,
    /// Samples wanted.
    pub samples: u32,
    /// Whether the samples carry the last-level canary.
    pub last_level_canary: bool,
    /// What lies within operations is stamped, too: for a trace.
    #[serde(default)]
    pub steps: bool,
    /// Wait for a quiet machine by these thresholds first.
    pub wait_for_quiet: Option<Gate>,
}

/// What a worker answers.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub enum Reply {
    /// It stands ready.
    Ready {
        /// CPUs it is pinned to; or why it is not pinned.
        pinned: Result<Vec<u32>, NotPinned>,
        /// What it really has of all controls.
        granted: Settings,
        /// The first of the other controls that was refused, and why.
        refused: Option<String>,
    },
    /// A visit.
    Visited {
        /// Number of the cell.
        cell: u32,
        /// Operations in a turn.
        ops_per_turn: f64,
        /// The samples: of the cell's own variant, and of those that are
        /// measured together with it.
        parts: Vec<VariantSamples>,
        /// Names of the modes that the operations ran in.
        modes: Vec<String>,
        /// Whether its U and 2U loops hold the same body.
        loops_alike: bool,
        /// The work's remarks.
        notes: Vec<String>,
        /// What the kernel counted, if that contradicts the method.
        contradiction: Option<String>,
        /// How long the whole visit took.
        wall_ns: u64,
    },
    /// The cell can't be measured.
    Unavailable {
        /// Number of the cell.
        cell: u32,
        /// Why.
        reason: String,
    },
}

/// Samples of one variant.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct VariantSamples {
    /// The variant.
    pub variant: String,
    /// Its samples.
    pub samples: Vec<Sample>,
}

#[cfg(test)]
mod tests {
    use sys::role::frame::open_within;

    #[test]
    fn a_long_list_is_refused_before_it_is_read() {
        use crate::pack::{Listed, Listing};
        let listing = |probes: usize, title: usize| {
            let listed = Listed { title: "t".repeat(title), ..Listed::default() };
            let listing = Listing {
                name: "a".into(),
                built_with: String::new(),
                probes: vec![listed; probes],
            };
            serde_json::to_vec(&Ok::<_, String>(listing)).expect("JSON")
        };
        let open = |body: &[u8]| {
            open_within::<Result<Listing, String>>(body, &model::limits::PACK)
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        assert_eq!(open(&listing(4096, 100)), Ok(()));
        let long = listing(60_000, 10);
        assert!(long.len() > 10 << 20, "{}", long.len());
        let why = "its list \"probes\" has more than 4096 entries";
        assert_eq!(open(&long), Err(why.into()));
        let why = "a text in \"title\" has more than 65536 bytes";
        assert_eq!(open(&listing(1, 70_000)), Err(why.into()));
    }
}
