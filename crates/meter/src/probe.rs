//! What can be measured: a probe says what one operation is and makes the
//! work that performs it.

use crate::bench::Bench;
use crate::scratch::Place;
use model::machine::NumaNode;
use model::run::{Axis, Bound, Regime, Scale};
use model::unit::Unit;
use std::borrow::Cow;
use std::time::Duration;

/// Text of a probe: static in the catalogue, owned in a program of one's own.
pub type Text = Cow<'static, str>;

/// One entry of a catalogue: one measured quantity, or several that differ
/// only in a variant's name and in the points of a curve.
pub struct Probe {
    /// Public id, `group.probe`.
    pub id: Text,
    /// Variants, each a row `group.probe/variant`, the empty one `group.probe`
    /// itself; no variants at all for that row alone. A variant with a dot is
    /// the whole id of its row: one measurement whose rows are published under
    /// several names.
    pub variants: Vec<Text>,
    /// A few words for lists.
    pub title: Text,
    /// What one operation is, as a sentence.
    pub operation: Text,
    /// How it is measured, as sentences.
    pub method: Text,
    /// Where the definition comes from.
    pub source: Text,
    /// Unit of its rows.
    pub unit: Unit,
    /// What its time follows.
    pub bound: Bound,
    /// Short gated samples, or a distribution.
    pub regime: Regime,
    /// The smallest scale that runs it.
    pub since: Scale,
    /// A single figure, a curve or a map.
    pub shape: Shape,
    /// How much measuring each of its cells deserves.
    pub effort: Effort,
    /// Whether its variants are measured by the same operations: a visit to
    /// one is a visit to all, and [`Event::series`] says which variant each
    /// event belongs to. For stamped work only.
    pub together: bool,
    /// Whether the far end of its distribution is what it is measured for: a
    /// full run then takes enough operations for a p99.9.
    pub tail: bool,
    /// Whether cells whose intervals are wide get more visits than planned. Not
    /// where the figure is about what other visits leave in a cache: the extra
    /// ones follow others than the planned ones do.
    pub extra_visits: bool,
    /// What further rows follow from its cells.
    pub derive: Derive,
    /// Points of a curve from here on take longer than a sample should, and
    /// are measured as a distribution.
    pub long_from: Option<u64>,
    /// What a cell keeps on disk while the run lasts, if anything. Such a cell
    /// finds a directory in [`Bench::scratch`].
    pub on_disk: fn(&Site) -> Option<OnDisk>,
    /// Whether it wants memory beside the worker's one buffer (base pages, other
    /// threads' own): such cells go to workers that don't hold the largest
    /// buffer.
    pub second_buffer: bool,
    /// Why the probe can't run here, asked once before anything is measured.
    pub unavailable: fn(&Terrain) -> Option<String>,
    /// Makes the work of one cell, in a worker.
    pub make: Make,
}

/// Makes the work of one cell on a worker's bench, or says why it can't.
pub type Make = Box<dyn for<'a> Fn(&'a mut Bench, &Site) -> Result<Box<dyn Work + 'a>, String>>;

/// Files that a cell keeps in the scratch directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnDisk {
    /// Name of the room: cells that name the same one use it together, and it
    /// is as large as the largest of them wants.
    pub shared: String,
    /// Bytes, of all workers together.
    pub bytes: u64,
    /// Files, of all workers together.
    pub files: u64,
    /// Files more that one visit to each of the room's cells leaves there until
    /// the run ends; for probes without extra visits.
    pub kept: u64,
    /// What making them should take, where that is done once in a run.
    pub once: Duration,
    /// Whether the cell can do without the directory: it is measured then all
    /// the same, with its files elsewhere.
    pub optional: bool,
}

/// Which cell of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Variant, or empty.
    pub variant: String,
    /// Point: empty, `[x]` on a curve, `[y, x]` on a map.
    pub at: Vec<u64>,
}

/// Rows that follow from a probe's own cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derive {
    /// None.
    Nothing,
    /// The flat stretches of its curve, as rows `/L1`, `/L2` and so on; and
    /// published points, as with [`Derive::Points`].
    Levels(&'static [(&'static str, u64)]),
    /// Points of its curve that were published as rows of their own, by
    /// name: `("1KiB", 1024)` follows from the row without a variant, and a
    /// whole id, `("file.delete/1KiB", 1024)`, from the row of that variant.
    Points(&'static [(&'static str, u64)]),
    /// The row is the core's clock itself, taken from every canary of the
    /// run; the probe has no cells.
    CoreClock,
}

/// The points of an axis for this machine and scale.
pub type Points = fn(&Terrain, Scale) -> Vec<u64>;

/// Form of a probe's result.
pub enum Shape {
    /// One figure.
    Figure,
    /// A curve: the points for this machine and scale.
    Curve(Axis, Points),
    /// A map: lines (y) and columns (x).
    Map {
        /// What the lines run over, and the lines.
        y: (Axis, Points),
        /// What the columns run over, and the columns.
        x: (Axis, Points),
    },
    /// A map over the unordered pairs of an axis: the smaller one is the
    /// column.
    Pairs(Axis, Points),
}

impl Shape {
    /// What the coordinates of its points run over, lines before columns.
    pub fn axes(&self) -> Vec<Axis> {
        match self {
            Shape::Figure => Vec::new(),
            Shape::Curve(axis, _) => vec![*axis],
            Shape::Map { y, x } => vec![y.0, x.0],
            Shape::Pairs(axis, _) => vec![*axis, *axis],
        }
    }
}

/// How much measuring a cell deserves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Visits per worker at the default scale.
    pub visits: u32,
    /// Samples a visit.
    pub samples: u32,
    /// Working set, in bytes, of the cell at point `x`: `x` times this for a
    /// curve over bytes, this for a figure. Decides which workers visit it,
    /// how it is brought back, and what it costs in memory.
    pub working_set: WorkingSet,
    /// Expected time of a visit beside its samples (bringing back), in ns per
    /// byte of working set.
    pub restore_ns_per_byte: f64,
    /// Expected length of a sample where it is not the usual one, ns.
    pub sample_ns: Option<f64>,
}

impl Effort {
    /// What a cheap operation without a working set deserves.
    pub const SCALAR: Effort = Effort {
        visits: 16,
        samples: 4,
        working_set: WorkingSet::None,
        restore_ns_per_byte: 0.0,
        sample_ns: None,
    };
}

impl WorkingSet {
    /// Bytes of the working set of the cell at this point, in the worker's
    /// buffers.
    pub fn bytes(&self, at: &[u64], terrain: &Terrain) -> u64 {
        match *self {
            WorkingSet::None | WorkingSet::Own(_) => 0,
            WorkingSet::Fixed(bytes) => bytes,
            WorkingSet::Point(factor) => at.last().map_or(0, |x| x.saturating_mul(factor)),
            WorkingSet::Line(factor) => at.first().map_or(0, |y| y.saturating_mul(factor)),
            WorkingSet::Largest => terrain.largest_bytes,
        }
    }

    /// Bytes beside the worker's buffers.
    pub fn own_bytes(&self, at: &[u64]) -> u64 {
        match *self {
            WorkingSet::Own(factor) => at.last().map_or(0, |x| x.saturating_mul(factor)),
            _ => 0,
        }
    }
}

/// Size of a cell's working set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkingSet {
    /// None to speak of.
    None,
    /// The same for each cell, bytes.
    Fixed(u64),
    /// The last coordinate of the cell's point times this many bytes.
    Point(u64),
    /// The first coordinate of the cell's point times this many bytes.
    Line(u64),
    /// Everything that is allowed: a working set far beyond the caches.
    Largest,
    /// The last coordinate times this many bytes, which the work itself
    /// allocates for a visit and fits to what may be used then. The plan only
    /// counts what it costs.
    Own(u64),
}

/// What the plan knows of the machine when it lays out curves.
#[derive(serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq)]
pub struct Terrain {
    /// L1 data cache as the OS says, bytes; 32 KiB where unknown.
    pub l1_bytes: u64,
    /// L2, bytes; 512 KiB where unknown.
    pub l2_bytes: u64,
    /// Last level as one core reaches it, bytes; 8 MiB where unknown.
    pub last_level_bytes: u64,
    /// Whether the last level is known to run at the cores' clock.
    pub last_level_at_core_clock: bool,
    /// Largest working set of a large worker, bytes.
    pub largest_bytes: u64,
    /// CPUs this process may use, sorted.
    pub cpus: Vec<u32>,
    /// The CPU the workers are pinned to, where pinning works.
    pub pinned: Option<u32>,
    /// Base page, bytes.
    pub page_bytes: u64,
    /// Huge page that can be had, bytes.
    pub huge_page_bytes: Option<u64>,
    /// The `latlas echo` to talk to on another machine, as `HOST:PORT`.
    pub peer: Option<String>,
    /// NUMA nodes, each with those of its CPUs that may be used; empty where
    /// the system shows none.
    pub nodes: Vec<NumaNode>,
    /// Where rows of files put theirs, or why they can't.
    pub scratch: Result<Place, String>,
}

impl Default for Terrain {
    /// What is assumed where the system says nothing: small caches, one CPU,
    /// base pages of 4 KiB, and no memory yet.
    fn default() -> Terrain {
        Terrain {
            l1_bytes: 32 << 10,
            l2_bytes: 512 << 10,
            last_level_bytes: 8 << 20,
            last_level_at_core_clock: false,
            largest_bytes: 0,
            cpus: vec![0],
            pinned: None,
            page_bytes: 4096,
            huge_page_bytes: None,
            peer: None,
            nodes: Vec::new(),
            scratch: Err("no directory for files was made".into()),
        }
    }
}

/// One operation between two stamps that the work took itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Variant of the probe that it belongs to, as a place in
    /// [`Probe::variants`]; 0 unless they are measured together.
    pub series: usize,
    /// First stamp, in ticks of the bench's counter since the operation (or
    /// the chain of them that this one belongs to) began.
    pub from_ticks: u64,
    /// Second stamp. It may be the earlier one where two threads race: the
    /// time is negative then, and stays so.
    pub to_ticks: u64,
    /// Operations between the stamps.
    pub ops: u64,
    /// Which of [`Work::modes`] it ran in.
    pub mode: u8,
}

/// The work of one cell, in a worker. Nothing in it reads the clock, but for
/// stamped work.
pub trait Work {
    /// Operations in one turn (of the U loop, for a difference).
    fn ops_per_turn(&self) -> f64;

    /// Whether the loop exists unrolled U and 2U times, so that the difference
    /// of the two leaves the loop's own cost out.
    fn paired(&self) -> bool {
        false
    }

    /// Whether the two loops of paired work hold the same body U and 2U times:
    /// U's time less that of U operations is then the loop's own, which is
    /// checked ([`model::loop_cost`]). Not so where `single` carries a helper
    /// twice, or the two are different operations.
    fn loops_alike(&self) -> bool {
        false
    }

    /// Brings the working set back to the state that the row speaks of, after
    /// other rows had the caches.
    fn restore(&mut self) {}

    /// How long, in ns, that state lasts at most: the visit ends then.
    fn lasts_ns(&self) -> u64 {
        u64::MAX
    }

    /// Prepares the next sample, outside the time: fresh pages, fresh random
    /// data. Called before each bracket, after the canary.
    fn ready(&mut self) {}

    /// Performs `turns` turns; of the 2U loop if `double`.
    fn run(&mut self, turns: u64, double: bool);

    /// Performs this many operations and stamps each ([`Regime::Stamped`]
    /// only, whose work leaves [`Work::run`] empty). Threads of the work are
    /// started and ended within it.
    ///
    /// [`Regime::Stamped`]: model::run::Regime::Stamped
    ///
    /// # Errors
    /// Why it could not; nothing of this visit is kept then.
    fn stamped(&mut self, _operations: u32) -> Result<Vec<Event>, String> {
        Err("this work takes no stamps".into())
    }

    /// Names of the modes that its events may have; none for a single one.
    fn modes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Asked after a visit: what the kernel counted during it, if that
    /// contradicts what the method assumes. The visit's samples are marked,
    /// and the row is invalid if most are.
    fn contradiction(&self) -> Option<String> {
        None
    }

    /// Asked after a visit to stamped work: how long the thread that stamps
    /// this series waited for a CPU meanwhile, ns, which is `own_ns` if that is
    /// the thread that called [`Work::stamped`]; `None` where it was not watched.
    fn run_delay_ns(&self, _series: usize, _own_ns: u64) -> Option<u64> {
        None
    }

    /// Turns must be a multiple of this.
    fn turn_step(&self) -> u64 {
        1
    }

    /// Turns that one sample has at least and at most.
    fn turn_limits(&self) -> (u64, u64) {
        (1, u64::MAX)
    }

    /// Whether page faults are part of the operation, rather than a sign that
    /// its working set does not stay in memory.
    fn faults_belong(&self) -> bool {
        false
    }

    /// Asked after a visit: why its samples are not what the row says, if so.
    ///
    /// # Errors
    /// The reason; the row is then reported as not available.
    fn verify(&self) -> Result<(), String> {
        Ok(())
    }

    /// What a reader must know beside the figure, such as the kind of pages
    /// that were really had.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Probe {
    /// A probe of this id with no texts and no work yet: one figure in ns,
    /// bound by the core, gated, at every scale. What a real one has more is
    /// set over it.
    pub fn blank(id: impl Into<Text>) -> Probe {
        Probe {
            id: id.into(),
            variants: Vec::new(),
            title: "".into(),
            operation: "".into(),
            method: "".into(),
            source: "".into(),
            unit: Unit::Time,
            bound: Bound::Core,
            regime: Regime::Gated,
            since: Scale::Quick,
            shape: Shape::Figure,
            effort: Effort::SCALAR,
            together: false,
            tail: false,
            extra_visits: true,
            derive: Derive::Nothing,
            long_from: None,
            on_disk: |_| None,
            second_buffer: false,
            unavailable: |_| None,
            make: Box::new(|_, _| Err("no work was given to this probe".into())),
        }
    }

    /// Ids of the probe's rows.
    pub fn row_ids(&self) -> Vec<String> {
        if self.variants.is_empty() {
            return vec![self.id.to_string()];
        }
        let variants = self.variants.iter();
        variants.map(|variant| self.row_id(variant)).collect()
    }

    fn row_id(&self, variant: &str) -> String {
        match variant {
            "" => self.id.to_string(),
            whole if whole.contains('.') => whole.to_string(),
            variant => format!("{}/{variant}", self.id),
        }
    }

    /// The variant that this row of the probe is; empty where it has none.
    pub fn variant_of(&self, row: &str) -> &str {
        let mut variants = self.variants.iter().map(Text::as_ref);
        variants
            .find(|variant| self.row_id(variant) == row)
            .unwrap_or_default()
    }

    /// Ids of the rows that follow from points of its curve.
    pub fn point_ids(&self) -> Vec<String> {
        match self.derive {
            Derive::Points(points) | Derive::Levels(points) => {
                points.iter().map(|(name, _)| self.point_id(name)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Id of the row of a point of this name.
    pub(crate) fn point_id(&self, name: &str) -> String {
        match name.contains('.') {
            true => name.to_string(),
            false => format!("{}/{name}", self.id),
        }
    }

    /// How its cell at this point is measured.
    pub fn regime_at(&self, at: &[u64]) -> Regime {
        let long = |from| at.last().is_some_and(|&x| x >= from);
        match self.long_from {
            Some(from) if long(from) => Regime::Distribution,
            _ => self.regime,
        }
    }

    /// Group of the probe: what stands before the first dot.
    pub fn group(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_may_have_a_name_of_its_own() {
        let probe = Probe {
            variants: vec!["".into(), "fast".into(), "file.delete".into()],
            ..Probe::blank("file.create")
        };
        let rows = probe.row_ids();
        assert_eq!(rows, ["file.create", "file.create/fast", "file.delete"]);
        let variants: Vec<&str> = rows.iter().map(|row| probe.variant_of(row)).collect();
        assert_eq!(variants, ["", "fast", "file.delete"]);
        assert_eq!(Probe::blank("file.create").variant_of("file.create"), "");
    }
}
