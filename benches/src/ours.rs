//! Measuring rows with latlas, in a process of its own each time, as a user's
//! run is.

use crate::slowed::slowed;
use anyhow::{Context, bail};
use kernels::Pair;
use meter::conduct::{Silent, conduct};
use meter::plan::{Plan, PlannedCell, Request, plan};
use meter::probe::{Probe, Work};
use meter::worker;
use model::estimate::Estimate;
use model::run::{Bound, Cell, Program, Run, Scale};
use model::sample::flag;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const VARIABLE: &str = "LATLAS_BENCH_TASK";
const SLOWED: &str = "LATLAS_BENCH_SLOWED";
const MIB: u64 = 1 << 20;

/// The row of the empty pair of loops, which must read 0.
pub const EMPTY: &str = "truth.empty";

/// What a child is to measure.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct MeasureTask {
    /// Rows: ids, or patterns that end in `*`; none for the default set.
    pub rows: Vec<String>,
    /// Only these points of curves (the last coordinate of a map's); one that
    /// a curve does not have is measured all the same. None for all.
    pub points: Vec<u64>,
    /// How much.
    pub scale: Scale,
    /// Seconds of measuring at most.
    pub budget_s: Option<f64>,
    /// Whether the budget is to be used up by more visits.
    pub fill: bool,
    pub seed: u64,
    /// The CPU.
    pub pin: Option<u32>,
    /// The directory for files; chosen if absent.
    pub dir: Option<PathBuf>,
    /// A row that is really slowed by a tenth.
    pub slowed: Option<String>,
}

impl MeasureTask {
    /// These rows at the default scale.
    pub fn for_rows(rows: &[&str]) -> MeasureTask {
        MeasureTask {
            rows: rows.iter().map(ToString::to_string).collect(),
            points: Vec::new(),
            scale: Scale::Default,
            budget_s: None,
            fill: false,
            seed: 1,
            pin: None,
            dir: None,
            slowed: None,
        }
    }

    /// These rows on one CPU, as often as fits into a time (a second at
    /// least).
    pub fn filling(rows: &[&str], seconds: f64, cpu: u32) -> MeasureTask {
        MeasureTask {
            budget_s: Some(seconds.max(1.0)),
            fill: true,
            pin: Some(cpu),
            ..MeasureTask::for_rows(rows)
        }
    }
}

/// The CPU that was asked for, or the last allowed one.
///
/// # Errors
/// When the system does not say which are allowed.
pub fn cpu(asked: Option<u32>) -> anyhow::Result<u32> {
    if let Some(cpu) = asked {
        return Ok(cpu);
    }
    let allowed = sys::affinity::allowed_cpus()?;
    allowed.last().copied().context("no CPU is allowed")
}

/// The catalogue, and the empty pair.
pub fn catalogue() -> Vec<Probe> {
    let mut probes = probes::catalogue();
    // An arithmetic row with another body: the same effort, the same method.
    let like = probes::catalogue().into_iter().find(|probe| probe.id == "cpu.add_i64");
    probes.extend(like.map(|like| Probe {
        id: EMPTY.into(),
        variants: Vec::new(),
        title: "nothing".into(),
        operation: "No operation.".into(),
        method: "Two loops with an empty body.".into(),
        make: Box::new(|_, _| Ok(Box::new(Nothing(&kernels::cpu::EMPTY)))),
        ..like
    }));
    // A worker is started by the child that has the variable, and inherits it.
    match std::env::var(SLOWED) {
        Ok(row) => slowed(probes, &row),
        Err(_) => probes,
    }
}

struct Nothing(&'static Pair);

impl Work for Nothing {
    fn ops_per_turn(&self) -> f64 {
        f64::from(self.0.ops)
    }
    fn paired(&self) -> bool {
        true
    }
    fn run(&mut self, turns: u64, double: bool) {
        let body = if double { self.0.double } else { self.0.single };
        body(turns);
    }
}

/// Becomes a worker or a measuring child, and never returns, if this process
/// was started as one. Called first in `main`, before the arguments are read.
pub fn enter_if_child() {
    let is_worker = sys::role::from_environment(sys::role::Role::Worker).is_some();
    if !is_worker && std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let catalogue = catalogue();
    worker::enter_if_worker(&catalogue);
    let Ok(task) = std::env::var(VARIABLE) else {
        return;
    };
    let done = serde_json::from_str(&task)
        .context("the task can't be read")
        .and_then(|task| measure_here(&catalogue, &task))
        .and_then(|run| Ok(serde_json::to_writer(std::io::stdout().lock(), &run)?));
    match done {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("{error:#}");
            std::process::exit(2);
        }
    }
}

/// Measures in a new process.
///
/// # Errors
/// When it can't be started or fails.
pub fn measure_in_child(task: &MeasureTask) -> anyhow::Result<Run> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(VARIABLE, serde_json::to_string(task)?);
    if let Some(row) = &task.slowed {
        command.env(SLOWED, row);
    }
    let (out, ..) = crate::process::output(&mut command)?;
    Ok(serde_json::from_str(&out)?)
}

fn measure_here(catalogue: &[Probe], task: &MeasureTask) -> anyhow::Result<Run> {
    let machine = sys::machine_facts(Path::new("/"));
    let request = Request {
        scale: task.scale,
        rows: resolve(catalogue, &task.rows)?,
        asked: task.rows.clone(),
        seed: task.seed,
        budget: task.budget_s.map(Duration::from_secs_f64),
        pin: task.pin,
        dir: task.dir.clone(),
        ..Request::default()
    };
    let mut plan = plan(catalogue, &request, &machine)?;
    if !task.points.is_empty() {
        only_points(&mut plan, &task.points)?;
    }
    if let Some(budget_s) = task.budget_s.filter(|_| task.fill) {
        fill(&mut plan, budget_s);
    }
    let program = Program {
        name: "latlas-bench".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: None,
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.into(),
        emulated: None,
    };
    let never = AtomicBool::new(false);
    Ok(conduct(catalogue, &plan, machine, program, &mut Silent, &never)?)
}

fn resolve(catalogue: &[Probe], patterns: &[String]) -> anyhow::Result<Vec<String>> {
    let known: Vec<String> = catalogue.iter().flat_map(Probe::row_ids).collect();
    let mut rows = Vec::new();
    for pattern in patterns {
        let fits = |id: &&String| match pattern.strip_suffix('*') {
            Some(begin) => id.starts_with(begin),
            None => *id == pattern,
        };
        let before = rows.len();
        rows.extend(known.iter().filter(fits).cloned());
        if rows.len() == before {
            bail!("no row {pattern}");
        }
    }
    Ok(rows)
}

/// Leaves these points of the curves in the plan, adds those that a curve does
/// not have, and leaves no more memory than they need.
fn only_points(plan: &mut Plan, points: &[u64]) -> anyhow::Result<()> {
    let before = std::mem::take(&mut plan.cells);
    for cell in &before {
        if cell.at.last().is_some_and(|last| points.contains(last)) {
            plan.cells.push(cell.clone());
        }
    }
    for &point in points {
        for like in &before {
            let there = plan.cells.iter().any(|c| c.row == like.row && c.at.last() == Some(&point));
            if like.at.len() == 1 && !there {
                plan.cells.push(PlannedCell { at: vec![point], ..like.clone() });
            }
        }
    }
    let Some(bytes) = plan.cells.iter().map(|cell| cell.working_set_bytes).max() else {
        let points: Vec<String> = points.iter().map(|&p| model::size::format_size(p)).collect();
        bail!("no curve here has a point at {}", points.join(", "));
    };
    // A cell that another one's visits measure follows it to its new place.
    let led: Vec<Option<usize>> = plan
        .cells
        .iter()
        .map(|cell| {
            let leader = &before[cell.follows?].row;
            let of_leader = |c: &PlannedCell| c.row == *leader && c.at == cell.at;
            plan.cells.iter().position(of_leader)
        })
        .collect();
    for (cell, leader) in plan.cells.iter_mut().zip(led) {
        cell.follows = leader;
    }
    let enough = bytes.next_multiple_of(2 * MIB);
    plan.small_bytes = plan.small_bytes.min(enough);
    plan.large_bytes = plan.large_bytes.min(enough);
    Ok(())
}

/// As many visits as fit into the budget.
fn fill(plan: &mut Plan, budget_s: f64) {
    let total = plan.total().as_secs_f64().max(1e-6);
    let factor = (budget_s * 0.9 / total).max(1.0);
    for cell in &mut plan.cells {
        cell.visits = (f64::from(cell.visits) * factor) as u32;
    }
    plan.rounds = plan.cells.iter().map(|cell| cell.visits).max().unwrap_or(0);
    plan.limit = Duration::from_secs_f64(budget_s);
}

/// Every estimate of a run with its name: figures and levels by row id, points
/// as `row@x`, `row@y,x`.
pub fn estimates(run: &Run) -> Vec<(String, Bound, Estimate)> {
    let of = |row: &'_ model::run::Row| {
        let figures = row.figures().into_iter();
        let named = figures.map(|f| (figure_name(&row.id, &f.at), row.bound, f.estimate.clone()));
        named.collect::<Vec<_>>()
    };
    run.rows.iter().flat_map(of).collect()
}

/// The name of a row's figure at a point.
pub fn figure_name(row: &str, at: &[u64]) -> String {
    let at: Vec<String> = at.iter().map(u64::to_string).collect();
    match at.is_empty() {
        true => row.into(),
        false => format!("{row}@{}", at.join(",")),
    }
}

/// A cell's name as [`estimates`] has it.
pub fn cell_name(cell: &Cell) -> String {
    figure_name(&cell.row, &cell.at)
}

/// Time of all ordinary samples of a cell over all their operations, ns: what
/// a tool prints that divides one long stretch by its operations.
pub fn mean_ns(run: &Run, cell: &Cell) -> Option<f64> {
    let samples = cell.samples.samples().ok()?;
    let (mut ticks, mut ops) = (0.0, 0.0);
    for sample in samples.iter().filter(|s| !s.has(flag::WAITED_FOR_QUIET)) {
        ticks += sample.work_ticks();
        ops += sample.turns as f64 * cell.ops_per_turn;
    }
    (ops > 0.0).then_some(ticks * run.clock.ns_per_tick / ops)
}

/// Time inside the brackets of a row, ms.
pub fn measuring_ms(run: &Run, row: &str) -> f64 {
    let cells = run.cells.iter().filter(|cell| cell.row == row);
    let ticks: u64 = cells
        .filter_map(|cell| cell.samples.samples().ok())
        .flatten()
        .map(|s| s.first_ticks + s.second_ticks.unwrap_or(0))
        .sum();
    ticks as f64 * run.clock.ns_per_tick * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_resolve() {
        let catalogue = catalogue();
        let rows = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
            resolve(&catalogue, &patterns)
        };
        assert_eq!(rows(&[EMPTY]).expect("known"), [EMPTY]);
        assert!(rows(&["cpu.*"]).expect("known").len() > 30);
        assert!(rows(&["cpu.nothing"]).is_err());
    }
}
