//! The plan: which cells, which workers visit them how often, what that
//! costs. Nothing is measured here, so a plan can be printed instead.

use crate::controls::WorkerControls;
use crate::core_kind::{self, CoreKindAsked};
use crate::disk_room::DiskRoom;
use crate::probe::{Probe, Shape, Site, Terrain, WorkingSet};
use crate::scratch;
use crate::visit::{LONG_SAMPLE_NS, SAMPLE_NS};
use model::machine::{CacheKind, Machine, NumaNode};
use model::run::{Bound, PlanRecord, Regime, Scale};
use model::unit::Unit;
use std::path::PathBuf;
use std::time::Duration;

/// Worker processes for ordinary cells. Eight: a t interval on eight medians
/// covers what it promises, and code and page layout differ between them.
pub const WORKERS: u32 = 8;
/// Worker processes at the quick scale.
pub const QUICK_WORKERS: u32 = 4;
/// Workers for working sets above twice the last level, which are dear to
/// touch.
pub const LARGE_WORKERS: u32 = 3;

/// Operations behind a p99.9: ten lie above it.
const FAR_END: u32 = 10_000;

/// Planned rounds are spread over this time at least.
const LEAST_SPAN: Duration = Duration::from_secs(2);

/// A run without a budget may take so long at least, however few its rows are:
/// the span of its rounds, and as much again for files and threads that take
/// longer than planned, and for extra visits.
const LEAST_LIMIT: Duration = Duration::from_secs(6);

const MIB: u64 = 1 << 20;

/// What is asked for. The default: everything of the default scale, seed 0,
/// and the controls that need no right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// How much.
    pub scale: Scale,
    /// Row ids, resolved; empty for the scale's whole set.
    pub rows: Vec<String>,
    /// The same as it was typed.
    pub asked: Vec<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Time for measuring, if limited.
    pub budget: Option<Duration>,
    /// The CPU to measure on; chosen if absent.
    pub pin: Option<u32>,
    /// The `latlas echo` on another machine, `HOST:PORT`.
    pub peer: Option<String>,
    /// Only cores of this kind.
    pub core_kind: Option<CoreKindAsked>,
    /// The directory for files; chosen if absent.
    pub dir: Option<PathBuf>,
    /// What is set for the workers.
    pub controls: WorkerControls,
}

/// Why there is no plan.
#[derive(thiserror::Error, Debug, Clone, PartialEq)]
pub enum PlanError {
    /// A row that the catalogue does not have.
    #[error("no row \"{0}\"; `latlas list` shows all")]
    UnknownRow(String),
    /// A CPU that is not there or not allowed.
    #[error(
        "CPU {cpu} can't be used: this process may run on {allowed}; choose one of those with --pin"
    )]
    NoSuchCpu {
        /// The one asked for.
        cpu: u32,
        /// Those allowed.
        allowed: String,
    },
    /// Cores of the kind asked for can't be had.
    #[error("{0}")]
    CoreKind(String),
    /// The directory for files can't be used.
    #[error("{0}")]
    Scratch(String),
    /// No time at all.
    #[error("a budget of {0:?} leaves no time to measure; give at least 1s, such as --budget 30s")]
    NoBudget(Duration),
    /// Not enough memory for anything.
    #[error("only {0} of memory may be used here: too little to measure in (64MiB at least)")]
    NoMemory(String),
}

/// One quantity to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCell {
    /// Number of its probe in the catalogue.
    pub probe: usize,
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
    /// Whether it keeps files in the scratch directory.
    pub on_disk: bool,
    /// Why no visit is made to it, if so: the disk has no room for its files.
    pub refused: Option<String>,
    /// Time that all its visits should take.
    pub allotment: Duration,
}

impl PlannedCell {
    /// Whether its visits will put files on the disk.
    pub fn wants_disk(&self) -> bool {
        self.on_disk && self.refused.is_none()
    }

    fn refuse(&mut self, why: String) {
        self.refused = Some(why);
        self.visits = 0;
        self.allotment = Duration::ZERO;
    }

    /// Its name in messages: row and point.
    pub fn name(&self) -> String {
        let point: Vec<String> = self.at.iter().map(u64::to_string).collect();
        if point.is_empty() {
            self.row.clone()
        } else {
            format!("{} at {}", self.row, point.join(" x "))
        }
    }
}

/// The plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Cells, in catalogue order.
    pub cells: Vec<PlannedCell>,
    /// Rows that can't run here: row, unit, bound, reason.
    pub unavailable: Vec<(String, Unit, Bound, String)>,
    /// The machine as the probes see it.
    pub terrain: Terrain,
    /// Rounds.
    pub rounds: u32,
    /// Buffer of an ordinary worker.
    pub small_bytes: u64,
    /// Buffer of a large worker.
    pub large_bytes: u64,
    /// Buffer on base pages.
    pub base_bytes: u64,
    /// CPU asked for.
    pub pin: Option<u32>,
    /// What is set for the workers.
    pub controls: WorkerControls,
    /// Hard limit on measuring.
    pub limit: Duration,
    /// Time that the planned rounds are spread over, if they take less: a
    /// machine's quiet stretches and its clock come and go within seconds.
    pub span: Duration,
    /// The part of it that goes into the document.
    pub record: PlanRecord,
}

impl Plan {
    /// The cells that a visit to this one measures: itself, and those that
    /// follow it.
    pub fn together(&self, cell: usize) -> Vec<usize> {
        (0..self.cells.len())
            .filter(|&n| n == cell || self.cells[n].follows == Some(cell))
            .collect()
    }

    /// Sum of the allotments.
    pub fn total(&self) -> Duration {
        self.cells.iter().map(|cell| cell.allotment).sum()
    }
}

/// Lays out the measuring of the rows asked for on this machine.
pub fn plan(catalogue: &[Probe], request: &Request, machine: &Machine) -> Result<Plan, PlanError> {
    if request.budget.is_some_and(|b| b < Duration::from_secs(1)) {
        return Err(PlanError::NoBudget(request.budget.unwrap_or_default()));
    }
    check_rows(catalogue, &request.rows)?;
    let mut cpus = allowed(machine);
    let shield = &request.controls.asked.settings.shield;
    if !shield.is_empty() {
        // The workers will have no other.
        cpus.retain(|cpu| shield.contains(cpu));
    }
    let mut core_kind = None;
    if let Some(asked) = request.core_kind {
        let cores = core_kind::choose(asked, machine, &cpus, request.pin);
        let cores = cores.map_err(PlanError::CoreKind)?;
        (cpus, core_kind) = (cores.cpus, Some(cores.name));
    }
    if let Some(cpu) = request.pin.filter(|cpu| !cpus.contains(cpu)) {
        let allowed: Vec<String> = cpus.iter().map(u32::to_string).collect();
        return Err(PlanError::NoSuchCpu {
            cpu,
            allowed: allowed.join(", "),
        });
    }
    let workers = match request.scale {
        Scale::Quick => QUICK_WORKERS,
        Scale::Default | Scale::Full => WORKERS,
    };
    let mut terrain = terrain(machine, cpus, request.pin);
    terrain.peer.clone_from(&request.peer);
    terrain.scratch = match &request.dir {
        Some(dir) => Ok(scratch::named(dir).map_err(PlanError::Scratch)?),
        None => scratch::by_default(),
    };
    let mut disk = DiskRoom::on(&terrain.scratch);
    let usable = sys::memory::available_memory().usable_bytes();
    let room = Room::fit(&terrain, usable, workers)?;
    let wanted = catalogue_largest(&terrain);
    terrain.largest_bytes = room.large_bytes;

    let mut unavailable = Vec::new();
    let mut cells = Vec::new();
    for (number, probe) in catalogue.iter().enumerate() {
        for row in selected_rows(probe, request) {
            if let Some(reason) = (probe.unavailable)(&terrain) {
                unavailable.push((row, probe.unit, probe.bound, reason));
                continue;
            }
            let mut own = cells_of(number, probe, &row, request.scale, &terrain, &room, workers);
            if let Some(reason) = fit_disk(&mut own, probe, &mut disk) {
                unavailable.push((row, probe.unit, probe.bound, reason));
                continue;
            }
            if probe.together {
                follow(&mut own, &cells);
            }
            cells.extend(own);
        }
    }
    let total: Duration = cells.iter().map(|cell| cell.allotment).sum();
    let limit = fit_budget(&mut cells, request.budget, total);
    let rounds = cells.iter().map(|cell| cell.visits).max().unwrap_or(0);
    let largest_needed = |large: bool| {
        let needed = cells
            .iter()
            .filter(|cell| large || cell.working_set_bytes <= room.small_bytes)
            .map(|cell| cell.working_set_bytes)
            .max()
            .unwrap_or(0);
        needed.next_multiple_of(2 * MIB)
    };
    let shrunk = (room.large_bytes < wanted).then(|| {
        format!(
            "working sets end at {} instead of {}: only {} of memory may be used here",
            model::size::text(room.large_bytes),
            model::size::text(wanted),
            model::size::about(usable)
        )
    });
    Ok(Plan {
        rounds,
        small_bytes: largest_needed(false),
        large_bytes: largest_needed(true),
        base_bytes: room.base_bytes,
        pin: request.pin,
        controls: request.controls.clone(),
        limit,
        span: span(request.budget, total),
        record: PlanRecord {
            scale: request.scale,
            asked: request.asked.clone(),
            seed: request.seed,
            budget_ms: limit.as_millis() as u64,
            workers,
            large_workers: LARGE_WORKERS.min(workers),
            largest_working_set_bytes: room.large_bytes,
            shrunk,
            core_kind,
            cpus: terrain.cpus.clone(),
        },
        cells,
        unavailable,
        terrain,
    })
}

fn check_rows(catalogue: &[Probe], rows: &[String]) -> Result<(), PlanError> {
    let known: Vec<String> = catalogue.iter().flat_map(Probe::row_ids).collect();
    match rows.iter().find(|row| !known.contains(row)) {
        Some(row) => Err(PlanError::UnknownRow(row.clone())),
        None => Ok(()),
    }
}

fn scale_rank(scale: Scale) -> u8 {
    match scale {
        Scale::Quick => 0,
        Scale::Default => 1,
        Scale::Full => 2,
    }
}

/// Rows of a probe that this run measures: those named, else those of the
/// scale.
fn selected_rows(probe: &Probe, request: &Request) -> Vec<String> {
    let mut rows = probe.row_ids();
    if request.rows.is_empty() {
        if scale_rank(probe.since) > scale_rank(request.scale) {
            rows.clear();
        }
    } else {
        rows.retain(|row| request.rows.contains(row));
    }
    rows
}

fn cells_of(
    number: usize,
    probe: &Probe,
    row: &str,
    scale: Scale,
    terrain: &Terrain,
    room: &Room,
    workers: u32,
) -> Vec<PlannedCell> {
    let points: Vec<Vec<u64>> = match &probe.shape {
        Shape::Figure => vec![vec![]],
        Shape::Curve(_, points) => points(terrain, scale)
            .into_iter()
            .map(|x| vec![x])
            .collect(),
        Shape::Pairs(_, points) => {
            let points = points(terrain, scale);
            points
                .iter()
                .flat_map(|&y| {
                    points
                        .iter()
                        .filter(move |&&x| x < y)
                        .map(move |&x| vec![y, x])
                })
                .collect()
        }
        Shape::Map { y, x } => {
            let columns = x.1(terrain, scale);
            y.1(terrain, scale)
                .into_iter()
                .flat_map(|y| columns.iter().map(move |&x| vec![y, x]).collect::<Vec<_>>())
                .collect()
        }
    };
    let variant = probe.variant_of(row);
    let effort = &probe.effort;
    points
        .into_iter()
        .filter_map(|at| {
            let bytes = effort.working_set.bytes(&at, terrain);
            let bytes = match effort.working_set {
                WorkingSet::Largest => room.large_bytes,
                _ => bytes,
            };
            let touched_bytes = bytes + effort.working_set.own_bytes(&at);
            let limit = if probe.second_buffer {
                room.base_bytes
            } else {
                room.large_bytes
            };
            if bytes > limit {
                return None;
            }
            let large = LARGE_WORKERS.min(workers);
            let (first_worker, crew) = if probe.second_buffer && workers - large >= 3 {
                (large, workers - large)
            } else if bytes > room.small_bytes && !probe.second_buffer {
                (0, large)
            } else {
                (0, workers)
            };
            // Few visits with more samples where bringing back is dear.
            let (visits, samples) = if crew < workers && !probe.second_buffer {
                (effort.visits.div_ceil(2), effort.samples * 2)
            } else {
                (effort.visits, effort.samples)
            };
            let visits = match scale {
                Scale::Quick => (visits / 3).max(2).min(visits),
                Scale::Default => visits,
                Scale::Full => visits * 2,
            };
            let samples = match scale {
                Scale::Full if probe.tail => samples.max(FAR_END.div_ceil((visits * crew).max(1))),
                _ => samples,
            };
            let bound = if bytes > paced_by_core(terrain) {
                Bound::Memory
            } else {
                probe.bound
            };
            let regime = probe.regime_at(&at);
            // Of whatever it touches: memory of its own is in the same caches.
            let last_level_canary = regime == Regime::Gated && touched_bytes > terrain.l2_bytes;
            let canary_ns = if last_level_canary { 3e5 } else { 0.0 };
            let sample_ns = effort.sample_ns.unwrap_or(match regime {
                Regime::Gated => SAMPLE_NS,
                Regime::Distribution | Regime::Stamped => LONG_SAMPLE_NS,
            });
            let visit_ns = f64::from(samples) * (sample_ns + 10_000.0)
                + effort.restore_ns_per_byte * touched_bytes as f64
                + canary_ns
                + 80_000.0;
            let allotment_ns = visit_ns * f64::from(visits) * f64::from(crew);
            Some(PlannedCell {
                probe: number,
                row: row.to_string(),
                variant: variant.to_string(),
                at,
                unit: probe.unit,
                bound,
                regime,
                first_worker,
                workers: crew,
                visits,
                samples,
                follows: None,
                working_set_bytes: bytes,
                last_level_canary,
                on_disk: false,
                refused: None,
                allotment: Duration::from_nanos(allotment_ns as u64),
            })
        })
        .collect()
}

/// Refuses the cells whose files the disk has no room for. Gives the reason
/// if that is all of them.
fn fit_disk(cells: &mut [PlannedCell], probe: &Probe, disk: &mut DiskRoom) -> Option<String> {
    for cell in cells.iter_mut() {
        let site = Site {
            variant: cell.variant.clone(),
            at: cell.at.clone(),
        };
        let Some(wanted) = (probe.on_disk)(&site) else {
            continue;
        };
        match disk.admit(&wanted) {
            Ok(first) => {
                cell.on_disk = true;
                if first {
                    cell.allotment += wanted.once;
                }
            }
            Err(_) if wanted.optional => {}
            Err(why) => {
                cell.on_disk = true;
                cell.refuse(why);
            }
        }
    }
    match cells.iter().all(|cell| cell.refused.is_some()) {
        true => cells.first()?.refused.clone(),
        false => None,
    }
}

/// Takes the visits from cells whose probe is measured together and whose
/// operations another cell performs already.
fn follow(cells: &mut [PlannedCell], planned: &[PlannedCell]) {
    for cell in cells {
        let leader = planned
            .iter()
            .position(|p| p.probe == cell.probe && p.at == cell.at && p.follows.is_none());
        if leader.is_some() {
            cell.follows = leader;
            cell.visits = 0;
            cell.allotment = Duration::ZERO;
        }
    }
}

/// Time that the rounds are spread over: most of a budget, but not so much
/// that a long budget for few rows only means waiting.
fn span(budget: Option<Duration>, total: Duration) -> Duration {
    budget.map_or(LEAST_SPAN, |budget| {
        budget
            .mul_f64(0.85)
            .min(total.mul_f64(4.0).max(Duration::from_secs(15)))
    })
}

/// Working sets up to this size answer at the pace of the core's clock: L2
/// always, half of the last level where that runs at the same clock.
pub fn paced_by_core(terrain: &Terrain) -> u64 {
    if terrain.last_level_at_core_clock {
        (terrain.last_level_bytes / 2).max(terrain.l2_bytes)
    } else {
        terrain.l2_bytes
    }
}

/// Scales the visits to the budget; gives the hard limit. Without a budget the
/// limit is a fifth above the plan: room for extra visits to what is
/// still uncertain, and no more; but never before the rounds of a few rows are
/// over, which are spread over longer than they take.
fn fit_budget(cells: &mut [PlannedCell], budget: Option<Duration>, total: Duration) -> Duration {
    let Some(budget) = budget else {
        return total.mul_f64(1.2).max(LEAST_LIMIT);
    };
    let share = budget.as_secs_f64() / total.as_secs_f64().max(1e-9);
    // A tenth is left for starting the workers and for what takes longer.
    let factor = (share * 0.9).min(2.0);
    for cell in cells.iter_mut().filter(|cell| cell.visits > 0) {
        let visits = ((f64::from(cell.visits) * factor).floor() as u32).max(1);
        cell.allotment = cell
            .allotment
            .mul_f64(f64::from(visits) / f64::from(cell.visits));
        cell.visits = visits;
    }
    budget
}

/// CPUs this process may use, as the machine facts have them.
pub fn allowed(machine: &Machine) -> Vec<u32> {
    machine
        .allowed_cpus
        .get()
        .or(machine.online_cpus.get())
        .cloned()
        .filter(|cpus| !cpus.is_empty())
        .unwrap_or_else(|| vec![0])
}

/// What the probes need to know of the machine.
pub fn terrain(machine: &Machine, cpus: Vec<u32>, pinned: Option<u32>) -> Terrain {
    let empty = Vec::new();
    let caches = machine.caches.get().unwrap_or(&empty);
    let size = |level: u32| {
        caches
            .iter()
            .filter(|c| c.level == level && c.kind != CacheKind::Instruction)
            .filter(|c| {
                let reached = |cpu: &u32| c.shared_cpus.is_empty() || c.shared_cpus.contains(cpu);
                pinned.map_or_else(|| cpus.iter().any(reached), |cpu| reached(&cpu))
            })
            .filter_map(|c| c.size_bytes)
            .max()
    };
    let last = caches.iter().map(|c| c.level).max().and_then(size);
    let l2_bytes = size(2).unwrap_or(512 << 10);
    Terrain {
        l1_bytes: size(1).unwrap_or(32 << 10),
        l2_bytes,
        last_level_bytes: last.unwrap_or(8 * MIB).max(l2_bytes),
        // AMD's manuals: the L3 of a Zen core complex runs at the clock of its
        // cores. Elsewhere it may have one of its own.
        last_level_at_core_clock: machine
            .microarchitecture
            .get()
            .is_some_and(|name| name.starts_with("Zen")),
        largest_bytes: 0,
        nodes: nodes(machine, &cpus),
        cpus,
        pinned,
        page_bytes: machine.pages.base_bytes.get().copied().unwrap_or(4096),
        huge_page_bytes: machine.pages.transparent_huge_bytes.get().copied(),
        peer: None,
        scratch: Terrain::default().scratch,
    }
}

/// The machine's NUMA nodes with those of their CPUs that are among `cpus`.
fn nodes(machine: &Machine, cpus: &[u32]) -> Vec<NumaNode> {
    let mut nodes = machine.numa_nodes.get().cloned().unwrap_or_default();
    for node in &mut nodes {
        node.cpus.retain(|cpu| cpus.contains(cpu));
    }
    nodes
}

/// The catalogue's largest working set: eight times the last level, at least
/// 256 MiB, at most 1 GiB.
fn catalogue_largest(terrain: &Terrain) -> u64 {
    (8 * terrain.last_level_bytes).clamp(256 * MIB, 1024 * MIB)
}

/// How much memory each kind of worker gets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Room {
    small_bytes: u64,
    large_bytes: u64,
    base_bytes: u64,
}

impl Room {
    /// Fits the workers' buffers into seven tenths of the memory that may be
    /// used. When it is short, the ordinary workers' buffers shrink first (the
    /// large workers take over what no longer fits), then the largest.
    fn fit(terrain: &Terrain, usable: u64, workers: u32) -> Result<Room, PlanError> {
        let budget = usable / 10 * 7;
        let large_workers = u64::from(LARGE_WORKERS.min(workers));
        let small_workers = u64::from(workers) - large_workers;
        let need = |room: &Room| {
            // 4 bytes of order beside each line of 64.
            let buffers = large_workers * room.large_bytes
                + small_workers * (room.small_bytes + room.base_bytes);
            buffers / 16 * 17 + u64::from(workers) * 6 * MIB
        };
        let mut room = Room {
            small_bytes: 2 * terrain.last_level_bytes,
            large_bytes: catalogue_largest(terrain),
            base_bytes: 64 * MIB,
        };
        let least_small = (8 * terrain.l2_bytes).next_multiple_of(2 * MIB);
        while need(&room) > budget {
            if room.small_bytes / 2 >= least_small {
                room.small_bytes /= 2;
                room.base_bytes = room.base_bytes.min(room.small_bytes).max(4 * MIB);
            } else if room.large_bytes > 16 * MIB {
                room.large_bytes = (room.large_bytes / 4 * 3).next_multiple_of(2 * MIB);
            } else {
                return Err(PlanError::NoMemory(model::size::about(usable)));
            }
        }
        room.small_bytes = room.small_bytes.min(room.large_bytes);
        Ok(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Effort;
    use model::run::Axis;

    fn zen3() -> Terrain {
        Terrain {
            l1_bytes: 32 << 10,
            l2_bytes: 512 << 10,
            last_level_bytes: 32 * MIB,
            last_level_at_core_clock: true,
            largest_bytes: 0,
            cpus: vec![0, 1],
            pinned: None,
            page_bytes: 4096,
            huge_page_bytes: Some(2 * MIB),
            peer: None,
            nodes: Vec::new(),
            ..Terrain::default()
        }
    }

    #[test]
    fn plenty_of_memory_gives_the_catalogue() {
        let room = Room::fit(&zen3(), 24 << 30, 8).expect("fits");
        assert_eq!(room.large_bytes, 256 * MIB);
        assert_eq!(room.small_bytes, 64 * MIB);
    }

    #[test]
    fn memory_of_its_own_beyond_l2_has_the_last_level_canary_too() {
        let curve = |working_set| Probe {
            shape: Shape::Curve(Axis::FileBytes, |_, _| vec![256 << 10, 512 << 10]),
            effort: Effort {
                working_set,
                ..Effort::SCALAR
            },
            ..Probe::blank("my.curve")
        };
        let room = Room::fit(&zen3(), 24 << 30, 8).expect("fits");
        let canaries = |probe: &Probe| {
            let cells = cells_of(0, probe, "my.curve", Scale::Default, &zen3(), &room, 8);
            let of = cells.iter().map(|cell| cell.last_level_canary);
            of.collect::<Vec<bool>>()
        };
        for working_set in [WorkingSet::Own(2), WorkingSet::Point(2)] {
            assert_eq!(canaries(&curve(working_set)), [false, true]);
        }
        // A distribution has no canaries.
        let long = Probe {
            regime: Regime::Distribution,
            ..curve(WorkingSet::Own(2))
        };
        assert_eq!(canaries(&long), [false, false]);
    }

    #[test]
    fn the_rounds_of_few_rows_are_over_before_the_limit() {
        for ms in [1, 20, 900, 2_000, 5_000, 30_000] {
            let total = Duration::from_millis(ms);
            let (limit, span) = (fit_budget(&mut [], None, total), span(None, total));
            assert!(limit >= span.mul_f64(1.5).max(total.mul_f64(1.2)), "{ms}");
        }
        let asked = Duration::from_secs(1);
        assert_eq!(fit_budget(&mut [], Some(asked), asked), asked);
    }

    #[test]
    fn half_a_gigabyte_shrinks_but_keeps_memory_beyond_the_caches() {
        let usable = 512 * MIB;
        let room = Room::fit(&zen3(), usable, 8).expect("fits");
        let total = 3 * room.large_bytes + 5 * (room.small_bytes + room.base_bytes);
        assert!(total < usable * 7 / 10, "{room:?}");
        assert!(room.large_bytes >= 2 * 32 * MIB, "{room:?}");
    }

    #[test]
    fn too_little_memory_is_said() {
        let error = Room::fit(&zen3(), 40 * MIB, 8).expect_err("too little");
        assert!(error.to_string().contains("40.0MiB"), "{error}");
    }
}
