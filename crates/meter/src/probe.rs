//! What can be measured: a probe says what one operation is and makes the
//! work that performs it.

pub use crate::machine_shape::MachineShape;
use crate::pack::{Origin, PackRow};
pub use crate::work::{CounterOrigin, Event, Make, Site, Work, WorkError, WorkStep};
use model::run::{Axis, Bound, Regime, Scale};
use model::unit::Unit;
use std::borrow::Cow;
use std::time::Duration;

/// Text of a probe: static in the catalogue, owned in a program that uses the
/// library.
pub type Text = Cow<'static, str>;

/// A part of the computer that others choose or use, so that a run sees only its own moment of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedPart {
    /// A storage device answers, as it does to reads past the page cache and to syncs.
    StorageDevice,
    /// Cache lines pass between CPUs: a hypervisor moves a guest's CPUs between its cores.
    CpuPlacement,
}

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
    /// What may change between runs and decides the figure, if anything does.
    pub depends_on: Option<SharedPart>,
    /// What a cell keeps on disk while the run lasts, if anything. Such a cell
    /// finds a directory in [`WorkerMemory::scratch`](crate::worker_memory::WorkerMemory::scratch).
    pub on_disk: fn(&Site) -> Option<OnDisk>,
    /// Whether it wants memory in addition to the worker's one buffer (base
    /// pages, other threads' own): such cells go to workers that don't hold the
    /// largest buffer.
    pub second_buffer: bool,
    /// The CPU feature beyond the architecture's baseline that the work needs,
    /// by the name of `std::arch` (`popcnt`): on a CPU without it the probe is
    /// not available.
    pub needs: Option<&'static str>,
    /// Whether the catalogue or a pack measures it.
    pub origin: Origin,
    /// Why the probe can't run here, asked once before anything is measured.
    pub unavailable: fn(&MachineShape) -> Option<String>,
    /// The same of a single row, by its variant, of a probe that can run.
    pub row_unavailable: fn(&MachineShape, &str) -> Option<String>,
    /// Makes the work of one cell, in a worker.
    pub make: Make,
}

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
pub type Points = fn(&MachineShape, Scale) -> Vec<u64>;

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
    /// Expected time of a visit in addition to its samples (bringing back), in ns
    /// per byte of working set.
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

    /// So many visits of the samples of [`Effort::SCALAR`].
    pub const fn visits(visits: u32) -> Effort {
        Effort { visits, ..Effort::SCALAR }
    }

    /// So many visits, samples a visit, and ns that a sample takes.
    pub const fn stamped(visits: u32, samples: u32, sample_ns: f64) -> Effort {
        Effort { visits, samples, sample_ns: Some(sample_ns), ..Effort::SCALAR }
    }

    /// So many visits and samples a visit, of a working set that takes this
    /// time to bring back.
    pub const fn of_memory(
        visits: u32,
        samples: u32,
        working_set: WorkingSet,
        restore_ns_per_byte: f64,
    ) -> Effort {
        Effort { visits, samples, working_set, restore_ns_per_byte, sample_ns: None }
    }
}

impl WorkingSet {
    /// Bytes of the working set of the cell at this point, in the worker's
    /// buffers.
    pub fn bytes(&self, at: &[u64], machine_shape: &MachineShape) -> u64 {
        match *self {
            WorkingSet::None | WorkingSet::Own(_) => 0,
            WorkingSet::Fixed(bytes) => bytes,
            WorkingSet::Point(factor) => at.last().map_or(0, |x| x.saturating_mul(factor)),
            WorkingSet::Line(factor) => at.first().map_or(0, |y| y.saturating_mul(factor)),
            WorkingSet::Largest => machine_shape.largest_bytes,
        }
    }

    /// Bytes in addition to the worker's buffers.
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
            depends_on: None,
            on_disk: |_| None,
            second_buffer: false,
            needs: None,
            origin: Origin::BuiltIn,
            unavailable: |_| None,
            row_unavailable: |_, _| None,
            make: Box::new(|_, _| Err(WorkError::NoWork)),
        }
    }

    /// Why this row of the probe can't be measured on this machine, if so.
    pub fn row_missing(&self, row: &str, machine_shape: &MachineShape) -> Option<String> {
        let variant = self.variant_of(row);
        self.missing(machine_shape).or_else(|| (self.row_unavailable)(machine_shape, variant))
    }

    /// Why the probe can't run on this machine, if so.
    pub fn missing(&self, machine_shape: &MachineShape) -> Option<String> {
        if let Some(row) = self.of_pack() {
            return row.unavailable.clone();
        }
        let lacks = |feature: &&str| sys::cpu_feature::is_present(feature) != Some(true);
        match self.needs.filter(lacks) {
            Some(feature) => Some(format!("this CPU lacks {feature}")),
            None => (self.unavailable)(machine_shape),
        }
    }

    /// The pack that measures it, if one does.
    pub fn of_pack(&self) -> Option<&PackRow> {
        match &self.origin {
            Origin::Pack(row) => Some(row),
            Origin::BuiltIn | Origin::NoPack => None,
        }
    }

    /// What this cell keeps on disk, if anything.
    pub(crate) fn wants_disk(&self, site: &Site, workers: u32) -> Option<OnDisk> {
        match self.of_pack() {
            None => (self.on_disk)(site),
            Some(row) if row.disk_bytes == 0 => None,
            Some(row) => Some(OnDisk {
                shared: "files of packs".into(),
                bytes: row.disk_bytes.saturating_mul(workers.into()),
                ..OnDisk::default()
            }),
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
        variants.find(|variant| self.row_id(variant) == row).unwrap_or_default()
    }

    /// Ids of the rows that follow from points of its curves, with where these are.
    fn points(&self) -> impl Iterator<Item = (String, u64)> {
        let points = match self.derive {
            Derive::Points(points) | Derive::Levels(points) => points,
            _ => &[],
        };
        points.iter().map(|&(name, x)| (self.point_id(name), x))
    }

    /// The ids alone.
    pub fn point_ids(&self) -> Vec<String> {
        self.points().map(|(id, _)| id).collect()
    }

    /// The points of this row that were published as rows of their own.
    pub(crate) fn published_points(&self, row: &str) -> impl Iterator<Item = (String, u64)> {
        self.points().filter(move |(id, _)| id.rsplit_once('/').is_some_and(|(of, _)| of == row))
    }

    /// Id of the row of a point of this name.
    fn point_id(&self, name: &str) -> String {
        if name.contains('.') { name.to_string() } else { format!("{}/{name}", self.id) }
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
