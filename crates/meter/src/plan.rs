//! The plan: which cells, which workers visit them how often, what that
//! costs. Nothing is measured here, so a plan can be printed instead.

use crate::controls::WorkerControls;
use crate::core_kind;
use crate::disk_room::DiskRoom;
use crate::machine_shape::{MachineShape, allowed_cpus};
use crate::osnoise::brief::SHORT;
use crate::probe::Probe;
use crate::scratch;
use model::core_clock::ClockMovement;
use model::machine::Machine;
use model::movement::MovementOfRows;
use model::plateau::Stated;
use model::run::{Bound, PlanRecord, Scale};
use model::unit::Unit;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

mod cell;
mod cells;
mod request;
mod room;
mod time;

pub use cell::{Cost, PlannedCell};
pub use cells::paced_by_core;
use cells::{cells_of, fit_disk, follow};
pub use request::{PlanError, Request};
pub use room::LARGE_WORKERS;
use room::{MIB, Room, catalogue_largest};
pub use time::{BASE_SHARE, TimePlan};

/// Worker processes for ordinary cells. Eight: a t interval on eight medians
/// covers what it promises, and code and page layout differ between them.
pub const WORKERS: u32 = 8;
/// Worker processes at the quick scale.
pub const QUICK_WORKERS: u32 = 4;

/// Calibrating the clock, and a look at each CPU.
const BEFORE: Duration = Duration::from_millis(100);

/// Starting one worker.
const WORKER_START: Duration = Duration::from_millis(12);

/// Touching a worker's memory for the first time, ns a byte.
const TOUCH_NS: f64 = 0.3;

/// Giving it back, ns a byte.
const UNMAP_NS: f64 = 0.03;

/// Removing a file that stayed until the run ends, ns: an empty one of a
/// directory of a hundred.
const REMOVE_NS: u64 = 15_000;

/// Judging the samples when all are there.
const JUDGING: Duration = Duration::from_millis(150);

/// Why rows of packs are missing in a run without worker processes.
const NEEDS_PROCESS: &str = "a pack is measured in a process of its own; leave out --in-process";

/// A run without a budget ends at this many times its planned time at the
/// latest.
const LIMIT_ABOVE: f64 = 1.2;

/// The first visits of a run without a budget may last this many times as long.
const FIRST_LIMIT_ABOVE: f64 = 4.0;

/// The plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Cells, in catalogue order.
    pub cells: Vec<PlannedCell>,
    /// Rows that can't run here: row, unit, bound, reason.
    pub unavailable: Vec<(String, Unit, Bound, String)>,
    /// The machine as the probes see it.
    pub machine_shape: MachineShape,
    /// Caches that the machine states, for the names of levels.
    pub caches: Vec<Stated>,
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
    /// Quiet ratio of the canaries in kept runs of this machine.
    pub kept_quiet_ratio: Option<f64>,
    /// How far the core's clock moves between stored runs of this machine.
    pub clock_movement: ClockMovement,
    /// How far figures that depend on a shared part of the computer move between stored runs, where these are enough.
    pub movement: MovementOfRows,
    /// Hard limit on measuring.
    pub limit: Duration,
    /// That of the first visit to each cell: on a loaded machine each takes longer, and a row that
    /// was never visited has no figure at all.
    pub first_limit: Duration,
    /// How long it takes, in parts.
    pub time: TimePlan,
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

    /// Rows that it measures; a curve is one.
    pub fn row_count(&self) -> usize {
        let mut rows: Vec<&str> = self.cells.iter().map(|cell| cell.row.as_str()).collect();
        rows.dedup();
        rows.len()
    }

    /// How long the run takes.
    pub fn total(&self) -> Duration {
        self.time.total()
    }

    /// Numbers of the worker processes that its cells need: those of the catalogue come first, then
    /// those of each pack.
    pub fn workers(&self) -> BTreeSet<u32> {
        let visited = self.cells.iter().filter(|cell| cell.refused.is_none());
        let workers = visited.flat_map(|cell| cell.first_worker..cell.first_worker + cell.workers);
        workers.collect()
    }

    /// Bytes of a worker's buffers: on huge pages, on base pages.
    pub fn buffers(&self, worker: u32) -> (u64, u64) {
        let large = worker < self.record.large_workers;
        let base = self.record.workers - self.record.large_workers < 3 || !large;
        (
            if large { self.large_bytes } else { self.small_bytes },
            if base { self.base_bytes } else { 0 },
        )
    }

    /// What the run takes before and after its visits.
    fn before_and_after_visits(&self) -> (Duration, Duration) {
        let workers = self.workers();
        let bytes: u64 = workers.iter().map(|&w| self.touched(w)).sum();
        let of_bytes = |ns: f64| Duration::from_nanos((bytes as f64 * ns) as u64);
        (
            BEFORE + SHORT + workers.len() as u32 * WORKER_START + of_bytes(TOUCH_NS),
            SHORT + of_bytes(UNMAP_NS) + JUDGING,
        )
    }

    /// Memory that a worker touches: its buffer with the chase's order, and
    /// the one on base pages where a cell wants it.
    fn touched(&self, worker: u32) -> u64 {
        let (huge, base) = self.buffers(worker);
        let visited = self.cells.iter().filter(|cell| {
            (cell.first_worker..cell.first_worker + cell.workers).contains(&worker)
                && cell.visits > 0
        });
        let largest = visited.map(|cell| cell.working_set_bytes).max();
        match largest {
            None | Some(0) => 0,
            Some(_) => huge / 16 * 17 + base,
        }
    }
}

/// Lays out the measuring of the rows asked for on this machine.
pub fn plan(catalogue: &[Probe], request: &Request, machine: &Machine) -> Result<Plan, PlanError> {
    let usable = sys::memory::available_memory().usable_bytes();
    plan_within(catalogue, request, machine, usable)
}

/// [`plan`] where this many bytes of memory may be used.
pub fn plan_within(
    catalogue: &[Probe],
    request: &Request,
    machine: &Machine,
    usable: u64,
) -> Result<Plan, PlanError> {
    if request.budget.is_some_and(|b| b < Duration::from_secs(1)) {
        return Err(PlanError::NoBudget(request.budget.unwrap_or_default()));
    }
    check_rows(catalogue, &request.rows)?;
    let controls = match request.in_process {
        true => request.controls.without_processes().ok_or(PlanError::ControlsInProcess)?,
        false => request.controls.clone(),
    };
    let mut cpus = allowed_cpus(machine);
    let shield = &request.controls.asked.settings.shield;
    if !shield.is_empty() {
        // The workers will have no other.
        cpus.retain(|cpu| shield.contains(cpu));
    } else if let Some(cpu) = request.pin.filter(|cpu| !cpus.contains(cpu))
        && machine.online_cpus.get().is_some_and(|all| all.contains(&cpu))
        && sys::affinity::may_pin_to(cpu).is_ok()
    {
        // An isolated one is in no set that is inherited.
        cpus.push(cpu);
        cpus.sort_unstable();
    }
    let mut core_kind = None;
    if let Some(asked) = request.core_kind {
        let cores = core_kind::choose(asked, machine, &cpus, request.pin)?;
        (cpus, core_kind) = (cores.cpus, Some(cores.name));
    }
    if let Some(cpu) = request.pin.filter(|cpu| !cpus.contains(cpu)) {
        let allowed: Vec<String> = cpus.iter().map(u32::to_string).collect();
        return Err(PlanError::NoSuchCpu { cpu, allowed: allowed.join(", ") });
    }
    let workers = match request.scale {
        Scale::Quick => QUICK_WORKERS,
        Scale::Default | Scale::Full => WORKERS,
    };
    let mut machine_shape = MachineShape::from_machine(machine, cpus, request.pin);
    machine_shape.peer.clone_from(&request.peer);
    machine_shape.scratch = match &request.dir {
        Some(dir) => Ok(scratch::scratch_in(dir)?),
        None => scratch::by_default(),
    };
    let mut disk = DiskRoom::on(&machine_shape.scratch);
    let room = Room::fit(&machine_shape, usable, workers)?;
    let wanted = catalogue_largest(&machine_shape);
    machine_shape.largest_bytes = room.large_bytes;

    let most_factor = time::most_factor(request.budget);
    let mut unavailable = Vec::new();
    let mut cells = Vec::new();
    // Each has workers of its own: what it leaves in a process is in no other row.
    let mut packs: Vec<PathBuf> = Vec::new();
    for (number, probe) in catalogue.iter().enumerate() {
        for row in selected_rows(probe, request) {
            let in_process = request.in_process && probe.of_pack().is_some();
            let needs_process = in_process.then(|| NEEDS_PROCESS.to_owned());
            let missing = probe.row_missing(&row, &machine_shape);
            if let Some(reason) = needs_process.or(missing) {
                unavailable.push((row, probe.unit, probe.bound, reason));
                continue;
            }
            let mut own =
                cells_of(number, probe, &row, request.scale, &machine_shape, &room, workers);
            if !request.rows.is_empty() && !is_asked(request, &row) {
                own.retain(|cell| is_named_point(probe, &row, &cell.at, request));
            }
            if let Some(why) = fit_disk(&mut own, probe, &mut disk, most_factor) {
                unavailable.push((row, probe.unit, probe.bound, why.to_string()));
                continue;
            }
            if let Some(row) = probe.of_pack() {
                let known = packs.iter().position(|file| *file == row.site.file);
                let number = known.unwrap_or_else(|| {
                    packs.push(row.site.file.clone());
                    packs.len() - 1
                });
                let first = workers * (number as u32 + 1);
                own.iter_mut().for_each(|cell| cell.first_worker += first);
            }
            if probe.together {
                follow(&mut own, &cells);
            }
            cells.extend(own);
        }
    }
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
            model::size::format_size(room.large_bytes),
            model::size::format_size(wanted),
            model::size::about(usable)
        )
    });
    let mut plan = Plan {
        rounds: 0,
        small_bytes: largest_needed(false),
        large_bytes: largest_needed(true),
        base_bytes: room.base_bytes,
        pin: request.pin,
        controls,
        kept_quiet_ratio: request.kept_quiet_ratio,
        clock_movement: request.clock_movement,
        movement: request.movement.clone(),
        limit: Duration::ZERO,
        first_limit: Duration::ZERO,
        time: TimePlan::default(),
        record: PlanRecord {
            scale: request.scale,
            asked: request.asked.clone(),
            seed: request.seed,
            budget_ms: 0,
            workers,
            large_workers: LARGE_WORKERS.min(workers),
            largest_working_set_bytes: room.large_bytes,
            shrunk,
            core_kind,
            cpus: machine_shape.cpus.clone(),
            in_process: request.in_process,
        },
        cells,
        unavailable,
        caches: stated_caches(machine, &machine_shape),
        machine_shape,
    };
    let (start, end) = plan.before_and_after_visits();
    let end = end + Duration::from_nanos(disk.kept_files() * REMOVE_NS);
    plan.time = time::fit(&mut plan.cells, request.scale, request.budget, start, end);
    plan.limit = request.budget.unwrap_or_else(|| plan.time.total().mul_f64(LIMIT_ABOVE));
    plan.first_limit = request.budget.unwrap_or_else(|| plan.limit.mul_f64(FIRST_LIMIT_ABOVE));
    plan.record.budget_ms = plan.limit.as_millis() as u64;
    // Rows of few visits are spread over the time too, worker by worker.
    let most = plan.cells.iter().map(|cell| cell.visits).max();
    plan.rounds = most.map_or(0, |visits| visits.max(workers));
    Ok(plan)
}

/// What the machine states of the caches that the measuring CPU may be one of.
fn stated_caches(machine: &Machine, machine_shape: &MachineShape) -> Vec<Stated> {
    let caches = machine.caches.get().map_or(&[][..], Vec::as_slice);
    match &machine_shape.pinned {
        Some(cpu) => Stated::from_caches(caches, std::slice::from_ref(cpu)),
        None => Stated::from_caches(caches, &machine_shape.cpus),
    }
}

fn check_rows(catalogue: &[Probe], rows: &[String]) -> Result<(), PlanError> {
    let of_probe = |probe: &Probe| probe.row_ids().into_iter().chain(probe.point_ids());
    let known: Vec<String> = catalogue.iter().flat_map(of_probe).collect();
    match rows.iter().find(|row| !known.contains(row)) {
        Some(row) => Err(PlanError::UnknownRow(row.clone())),
        None => Ok(()),
    }
}

/// Whether a run of this scale has the rows that begin with scale `since`.
pub fn includes(scale: Scale, since: Scale) -> bool {
    match since {
        Scale::Quick => true,
        Scale::Default => scale != Scale::Quick,
        Scale::Full => scale == Scale::Full,
    }
}

/// Rows of a probe that this run measures: those named, or a point of whose curve is; else those of the
/// scale.
fn selected_rows(probe: &Probe, request: &Request) -> Vec<String> {
    let mut rows = probe.row_ids();
    if request.rows.is_empty() {
        if !includes(request.scale, probe.since) {
            rows.clear();
        }
    } else {
        let named =
            |row: &String| probe.published_points(row).any(|(id, _)| is_asked(request, &id));
        rows.retain(|row| is_asked(request, row) || named(row));
    }
    rows
}

fn is_asked(request: &Request, id: &str) -> bool {
    request.rows.iter().any(|asked| asked == id)
}

/// Whether a point of a row's curve is asked for by a name of its own.
fn is_named_point(probe: &Probe, row: &str, at: &[u64], request: &Request) -> bool {
    probe.published_points(row).any(|(id, x)| at == [x] && is_asked(request, &id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Effort, Shape, WorkingSet};
    use model::run::{Axis, Regime};

    fn zen3() -> MachineShape {
        MachineShape {
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
            ..MachineShape::default()
        }
    }

    #[test]
    fn a_point_that_is_asked_for_by_its_name_is_measured_alone() {
        let probe = Probe {
            shape: Shape::Curve(Axis::FileBytes, |_, _| vec![0, 1024]),
            derive: crate::probe::Derive::Points(&[("1KiB", 1024)]),
            ..Probe::blank("my.curve")
        };
        let asked = |row: &str| Request { rows: vec![row.into()], ..Request::default() };
        let point = asked("my.curve/1KiB");
        assert_eq!(selected_rows(&probe, &point), ["my.curve"]);
        let named = |at: u64| is_named_point(&probe, "my.curve", &[at], &point);
        assert_eq!([named(0), named(1024)], [false, true]);
        assert!(is_asked(&asked("my.curve"), "my.curve"), "all of it");
        let catalogue = [probe];
        assert_eq!(check_rows(&catalogue, &point.rows), Ok(()));
        assert!(check_rows(&catalogue, &["my.curve/2KiB".into()]).is_err());
    }

    #[test]
    fn plenty_of_memory_gives_the_catalogue() {
        let room = Room::fit(&zen3(), 24 << 30, 8).expect("fits");
        assert_eq!(room.large_bytes, 256 * MIB);
        assert_eq!(room.small_bytes, 64 * MIB);
    }

    #[test]
    fn buffers_shrink_only_where_they_must() {
        // Three large workers of 256 MiB and five of 64 and 64 MiB, each buffer with its
        // order, and 6 MiB for each of eight processes.
        let need = (3 * 256 + 5 * (64 + 64)) * MIB / 16 * 17 + 8 * 6 * MIB;
        let just = need.div_ceil(7);
        let fits = Room::fit(&zen3(), 10 * just, 8).expect("fits");
        assert_eq!((fits.large_bytes, fits.small_bytes), (256 * MIB, 64 * MIB));
        let short = Room::fit(&zen3(), 10 * (just - 1), 8).expect("fits");
        assert_eq!((short.large_bytes, short.small_bytes), (256 * MIB, 32 * MIB));
        assert_eq!(short.base_bytes, 32 * MIB);
    }

    #[test]
    fn memory_of_its_own_beyond_l2_has_the_last_level_canary_too() {
        let curve = |working_set| Probe {
            shape: Shape::Curve(Axis::FileBytes, |_, _| vec![256 << 10, 512 << 10]),
            effort: Effort { working_set, ..Effort::SCALAR },
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
        // Nor does it follow the core's clock, half of a last level apart.
        let own = MachineShape { last_level_at_core_clock: false, ..zen3() };
        let own_bytes = curve(WorkingSet::Own(2));
        let cells = cells_of(0, &own_bytes, "my.curve", Scale::Default, &own, &room, 8);
        let bounds = cells.iter().map(|cell| cell.bound);
        assert_eq!(bounds.collect::<Vec<_>>(), [Bound::Core, Bound::Memory]);
        // A distribution has no canaries.
        let long = Probe { regime: Regime::Distribution, ..curve(WorkingSet::Own(2)) };
        assert_eq!(canaries(&long), [false, false]);
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
    fn too_little_memory_is_reported() {
        // What is said to be needed is what is.
        let mut least = 1;
        while Room::fit(&zen3(), least * MIB, 8).is_err() {
            least += 1;
        }
        for usable in [40, least - 1] {
            let error = Room::fit(&zen3(), usable * MIB, 8).expect_err("too little");
            let text = error.to_string();
            let PlanError::NoMemory { usable: has, needed } = error else {
                panic!("{text}");
            };
            assert!(text.contains(&has) && text.contains(&needed), "{text}");
            assert_eq!(has, model::size::about(usable * MIB));
            assert!(needed.starts_with(&least.to_string()[..2]), "{needed}, {least} MiB");
        }
    }
}
