//! `latlas trace ROW`: one visit to a row, made by a child process that is
//! recorded. It tells over a pipe what its stamps mark.

use crate::{catalogue, selection};
use ::trace::record::{self, RecordError, RecordRequest};
use anyhow::{Context, anyhow, bail};
use meter::one_visit::{Explain, one_visit};
use meter::placement;
use meter::plan::{self, Plan, PlannedCell, plan};
use meter::probe::Probe;
use model::machine::Machine;
use model::phrases::counted;
use model::run::Regime;
use model::trace::row::Marks;
use model::trace::{Ended, Target, Trace};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};
use sys::attached::Held;
use sys::clock::Counter;
use sys::process::this_program;
use sys::role::{self, Child, ChildSession, Role, RoleTask, Wait};
use sys::thread::spawn_scoped;
use view::render::ProbeText;

/// A visit takes about this long unless the number of operations is given.
const VISIT_NS: f64 = 100e6;
/// Records that are kept of a visit.
const BUFFER_BYTES: u64 = 256 << 20;
/// For the conversion of the counter's ticks.
const CALIBRATION: Duration = Duration::from_millis(20);
/// How long the child spins for the price of interrupts: as many as 50 of a usual timer.
const SPIN: Duration = Duration::from_millis(200);
/// It has no more than this times the operations of a usual visit, whose expected time may be
/// too short.
const MOST_SAMPLES: u32 = 20;
/// As many operations as a p99.9 needs.
const MOST_OPERATIONS: u32 = 10_000;
/// Fewer where these would take longer; of so many, the slowest ten are 1 %.
const TAILS_VISIT_NS: f64 = 3e9;
const LEAST_TAILS: u32 = 1000;

/// Pairs of visits, one recorded and one not, that say what recording costs,
const PAIRS: u32 = 5;
/// unless they take longer; each visit has its part of the operations.
const PAIRS_TIME: Duration = Duration::from_secs(3);
/// How long a visit may take that only says what recording costs.
const UNRECORDED_PATIENCE: Duration = Duration::from_secs(20);

/// How long the visit of a pack's row may take.
const PACK_PATIENCE: Duration = Duration::from_secs(60);

/// The cell to visit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TraceOrder {
    row: String,
    /// What a run of this row would be asked for.
    asked: plan::Request,
    /// The pack that has the row.
    pack: Option<PathBuf>,
    at: Vec<u64>,
    /// Its name in the trace.
    name: String,
    operations: u32,
    /// The slowest operations are to be explained.
    tails: bool,
    /// The CPU of its first thread; the recorder keeps off it.
    cpu: Option<u32>,
}

impl TraceOrder {
    /// What is traced.
    pub(crate) fn traced_name(&self) -> &str {
        &self.name
    }

    /// The same, with how much of it.
    pub(crate) fn progress(&self) -> String {
        format!("{}: {}", self.name, counted(self.operations as usize, "operation"))
    }
}

/// The cell that a name means.
///
/// # Errors
/// If there is no such row, it can't run here, or does not stamp its operations.
pub(crate) fn order(
    catalogue: &[Probe],
    name: &str,
    asked: &plan::Request,
    (operations, tails): (Option<u32>, bool),
    machine: &Machine,
) -> anyhow::Result<TraceOrder> {
    let order = order_of(catalogue, name, asked, (operations, tails), machine);
    order.map_err(|error| match is_program(name) {
        true => anyhow!("{error:#}; to trace a command: latlas trace -- {name}"),
        false => error,
    })
}

/// Whether a command may be meant: the `--` before it is easily forgotten.
fn is_program(name: &str) -> bool {
    sys::command::find_program(OsStr::new(name)).is_some_and(|path| path.is_file())
}

fn order_of(
    catalogue: &[Probe],
    name: &str,
    asked: &plan::Request,
    (operations, tails): (Option<u32>, bool),
    machine: &Machine,
) -> anyhow::Result<TraceOrder> {
    let (row, point) = row_of(&catalogue::texts(catalogue), name)?;
    let plan = planned(catalogue, &row, asked, machine)?;
    if let Some((_, _, _, reason)) = plan.unavailable.first() {
        bail!("{row} is not available here: {reason}");
    }
    let is_meant = |cell: &&PlannedCell| point.is_none_or(|point| cell.at.last() == Some(&point));
    let Some(cell) = plan.cells.iter().rfind(is_meant) else {
        bail!("{row} has no point {name} at the default scale");
    };
    let probe = &catalogue[cell.probe];
    if cell.regime != Regime::Stamped {
        bail!(
            "can't trace {row}: its operations aren't timed one by one. Rows in sched, thread, sync, \
             pool, file, net and disk can be traced"
        );
    }
    let operations = operations.unwrap_or_else(|| {
        if tails {
            let in_time = TAILS_VISIT_NS / cell.cost.sample_ns.max(1.0);
            return (in_time as u32).clamp(LEAST_TAILS, MOST_OPERATIONS);
        }
        let in_time = (VISIT_NS / cell.cost.sample_ns.max(1.0)) as u32;
        let most = cell.samples.saturating_mul(MOST_SAMPLES);
        in_time.min(most).clamp(cell.samples, MOST_OPERATIONS.max(cell.samples))
    });
    Ok(TraceOrder {
        name: match probe.together && cell.at.is_empty() {
            // A visit to one of its rows is one to all.
            true => probe.id.to_string(),
            false => cell.cell_name(),
        },
        row: cell.row.clone(),
        asked: asked.clone(),
        pack: cell.pack.as_ref().map(|site| site.file.clone()),
        at: cell.at.clone(),
        operations,
        tails,
        cpu: tails.then(|| quietest_cpu(&plan, machine)).flatten(),
    })
}

/// The row that a name means, and the point on its curve.
fn row_of(texts: &[ProbeText], name: &str) -> anyhow::Result<(String, Option<u64>)> {
    let name = selection::operation(name);
    // Any point of a curve, published or not.
    if let Some((row, point)) = name.rsplit_once('/')
        && let Ok(point) = point.parse()
        && texts.iter().any(|probe| probe.rows.iter().any(|known| known == row))
    {
        return Ok((row.to_owned(), Some(point)));
    }
    let probe = match selection::probe_named(texts, name) {
        Ok(probe) => probe,
        Err(unknown) => {
            let rows = selection::containing(texts, name);
            let Some(first) = rows.first() else {
                match is_program(name) {
                    true => return Err(unknown),
                    false => bail!("{unknown}; to trace a command, put -- before it"),
                }
            };
            let probe = selection::probe_named(texts, &first.row)?;
            if !rows.iter().all(|row| probe.rows.contains(&row.row)) {
                let names: Vec<&str> = rows.iter().take(5).map(|row| row.row.as_str()).collect();
                bail!("{name:?} could be {}; name one row", names.join(", "));
            }
            probe
        }
    };
    let named = probe.rows.iter().find(|row| row.eq_ignore_ascii_case(name));
    match named.or(probe.rows.first()) {
        Some(row) => Ok((row.clone(), None)),
        None => bail!("{name} is derived from other rows"),
    }
}

/// The CPU for the visit, asked for or chosen here so that the recorder can keep off it.
fn quietest_cpu(plan: &Plan, machine: &Machine) -> Option<u32> {
    if plan.pin.is_some() {
        return plan.pin;
    }
    let counter = Counter::best();
    let calibration = sys::clock::calibrate(&counter, CALIBRATION);
    let cpus = &plan.machine_shape.cpus;
    let quietest = placement::quietest_cpu(cpus, machine, &counter, &calibration, None);
    quietest.ok().filter(|_| calibration.is_usable())
}

/// What is recorded of a row whose slowest operations are to be explained, in the best tier.
///
/// # Errors
/// If the CPUs can't be listed.
pub(crate) fn request(machine: &Machine) -> anyhow::Result<RecordRequest> {
    Ok(RecordRequest {
        tier: None,
        scheduler_only: false,
        interrupts: true,
        stacks: None,
        limit: None,
        last: None,
        usdt: None,
        heap: None,
        limit_bytes: BUFFER_BYTES,
        keep_off: None,
        cpus: match machine.online_cpus.get() {
            Some(cpus) => cpus.clone(),
            None => sys::allowed_cpus().context("can't list the CPUs")?,
        },
        architecture: machine.arch.clone(),
        kernel: machine.kernel.get().cloned().unwrap_or_default(),
    })
}

fn planned(
    catalogue: &[Probe],
    row: &str,
    asked: &plan::Request,
    machine: &Machine,
) -> anyhow::Result<Plan> {
    let request = plan::Request { rows: vec![row.to_owned()], ..asked.clone() };
    Ok(plan(catalogue, &request, machine)?)
}

/// Records a visit. If it ends before the row's operations are known, the trace is
/// that of a command.
///
/// # Errors
/// If nothing could be recorded, or the visit failed.
pub(crate) fn recorded(
    order: &TraceOrder,
    held: &Held,
    request: &RecordRequest,
) -> anyhow::Result<Trace> {
    let request = RecordRequest {
        keep_off: order.cpu,
        limit: request.limit.or(order.pack.as_ref().map(|_| PACK_PATIENCE)),
        ..request.clone()
    };
    // What a pack does when it is visited again is not known.
    let is_compared = !order.tails && order.pack.is_none();
    let pairs = match is_compared {
        true => recording_pairs(order, held, &request)?,
        false => Vec::new(),
    };
    let (trace, answer) = recorded_visit(order, held, &request)?;
    let own_limit = order.pack.is_some() && request.limit == Some(PACK_PATIENCE);
    let is_asked = matches!(trace.ended, Ended::Signalled(1 | 2 | 3 | 15));
    match (answer, trace.ended) {
        (Ok(Some(VisitAnswer::Visited(marks))), _) => {
            let mut trace = trace.of_row(order.name.clone(), &marks);
            if let Target::Row(row) = &mut trace.target {
                row.recording_pairs_ns = pairs;
            }
            Ok(trace)
        }
        (Ok(Some(VisitAnswer::Failed(reason))), _) => bail!("{reason}"),
        (Ok(None), Ended::Time) if own_limit => {
            bail!("{}: its pack did not return within {} s", order.name, PACK_PATIENCE.as_secs())
        }
        (Ok(None), Ended::Signalled(_) | Ended::Exited(_)) if order.pack.is_some() && !is_asked => {
            bail!("{}: its pack ended the process that ran it", order.name)
        }
        // Stopped by --for, --buffer, or SIGHUP, SIGINT, SIGQUIT, SIGTERM: kept, as of a command.
        (_, Ended::Time | Ended::Full | Ended::Signalled(1 | 2 | 3 | 15)) => Ok(trace),
        (_, Ended::Signalled(signal)) => bail!("ended by signal {signal}"),
        (Ok(None), _) => bail!("no answer from the process that ran it"),
        (Err(error), _) => Err(error.into()),
    }
}

/// A visit that is recorded, and what it said.
fn recorded_visit(
    order: &TraceOrder,
    held: &Held,
    request: &RecordRequest,
) -> anyhow::Result<(Trace, io::Result<Option<VisitAnswer>>)> {
    let (command, mut child) = role::role_command(this_program()?, Role::TracedRow, order)?;
    let target = Target::Command(vec![order.name.clone()]);
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = spawn_scoped(scope, Builder::new(), || child.receive_until(&ended));
        let reading = reading.context("can't receive an answer")?;
        let trace = record::started(command, target, held, request);
        ended.store(true, Ordering::Release);
        let answer = reading.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        anyhow::Ok((trace?, answer))
    })
}

/// The median length of an operation in pairs of shorter visits, without recording and with it.
/// Which is first changes from pair to pair.
///
/// # Errors
/// If the user ends one.
fn recording_pairs(
    order: &TraceOrder,
    held: &Held,
    request: &RecordRequest,
) -> anyhow::Result<Vec<(u64, u64)>> {
    let short = TraceOrder { operations: order.operations.div_ceil(PAIRS), ..order.clone() };
    let began = Instant::now();
    let mut pairs = Vec::new();
    for turn in 0..PAIRS {
        let without = (turn % 2 == 0).then(|| unrecorded_ns(&short));
        let (trace, answer) = recorded_visit(&short, held, request)?;
        if matches!(trace.ended, Ended::Requested | Ended::Signalled(1 | 2 | 3 | 15)) {
            return Err(RecordError::Interrupted.into());
        }
        let with = match answer {
            Ok(Some(VisitAnswer::Visited(marks))) => marks.median_ns(),
            _ => None,
        };
        let without = without.unwrap_or_else(|| unrecorded_ns(&short));
        pairs.extend(without.zip(with));
        if began.elapsed() > PAIRS_TIME {
            break;
        }
    }
    Ok(pairs)
}

/// The median length of an operation in a visit that nothing records.
fn unrecorded_ns(order: &TraceOrder) -> Option<u64> {
    let mut child =
        Child::start(Role::TracedRow, "a batch without recording", order, ChildSession::Left)
            .ok()?;
    match child.receive(Wait::at_most(UNRECORDED_PATIENCE)).ok()? {
        VisitAnswer::Visited(marks) => marks.median_ns(),
        VisitAnswer::Failed(_) => None,
    }
}

/// What the child tells.
#[derive(Debug, Serialize, Deserialize)]
enum VisitAnswer {
    /// The stamps of its visit.
    Visited(Box<Marks>),
    /// Why there are none.
    Failed(String),
}

/// Visits as the child.
///
/// # Errors
/// If the answer can't be sent.
pub(crate) fn serve(catalogue: &[Probe], task: &RoleTask) -> io::Result<()> {
    let (order, mut parent) = task.with_parent()?;
    let answer = match visit(catalogue, &order) {
        Ok(marks) => VisitAnswer::Visited(Box::new(marks)),
        Err(error) => VisitAnswer::Failed(format!("{error:#}")),
    };
    parent.send(&answer)
}

fn visit(catalogue: &[Probe], order: &TraceOrder) -> anyhow::Result<Marks> {
    let with_pack = order.pack.as_ref().map(|file| {
        let mut catalogue = probes::catalogue();
        let listing = meter::pack::listing(file)?;
        meter::pack::add_pack(&mut catalogue, file, &listing);
        anyhow::Ok(catalogue)
    });
    let with_pack = with_pack.transpose()?;
    let catalogue = with_pack.as_deref().unwrap_or(catalogue);
    let machine = sys::machine_facts(Path::new("/"));
    let mut plan = planned(catalogue, &order.row, &order.asked, &machine)?;
    plan.pin = order.cpu.or(plan.pin);
    let cell = plan.cells.iter().position(|cell| cell.at == order.at);
    let cell = cell.context("no such cell")?;
    let explain = order.tails.then(|| Explain {
        spin: SPIN,
        interrupts: std::env::var_os(record::INTERRUPTS_RECORDED).is_none(),
    });
    let visit = one_visit(catalogue, &plan, &machine, cell, order.operations, explain)?;
    Ok(visit.marks(&catalogue[plan.cells[cell].probe])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::Scale;

    #[test]
    fn a_visit_is_asked_for_as_its_run() {
        let catalogue = probes::catalogue();
        let machine = sys::machine_facts(Path::new("/"));
        let cpu = *sys::allowed_cpus().expect("CPUs").last().expect("one");
        let asked = plan::Request {
            scale: Scale::Quick,
            pin: Some(cpu),
            dir: Some(std::env::temp_dir()),
            ..plan::Request::default()
        };
        let order = |asked: &plan::Request| {
            order(&catalogue, "sched.pool", asked, (Some(9), true), &machine).expect("a row")
        };
        let sent = serde_json::to_string(&order(&asked)).expect("JSON");
        let quick: TraceOrder = serde_json::from_str(&sent).expect("the same");
        assert_eq!((&quick.asked, quick.cpu), (&asked, Some(cpu)));
        let last = |asked: &plan::Request| {
            let plan = planned(&catalogue, "sched.pool", asked, &machine).expect("a plan");
            plan.cells.last().expect("a cell").at.clone()
        };
        assert_eq!(quick.at, last(&asked));
        let asked = plan::Request { scale: Scale::Full, ..asked };
        assert_eq!(order(&asked).at, last(&asked));
    }
}
