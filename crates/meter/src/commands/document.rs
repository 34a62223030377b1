//! From the runs of commands to the Run document.

use super::left::Left;
use super::repeat::{Repeated, Timed};
use super::rows::{self, ROWS, RUN_DELAY, RowKind};
use crate::controls::RequestedControls;
use crate::osnoise::brief::{self, BriefError};
use crate::placement::{flag_conditions, moment};
use model::command::{Commands, Compared, Ended};
use model::compare::finding;
use model::conditions::{Conditions, Moment};
use model::cpu_wait::CpuWait;
use model::estimate::{Estimate, Verdict};
use model::figure;
use model::interleaved;
use model::machine::Machine;
use model::noise::applied::Applied;
use model::noise::osnoise::Osnoise;
use model::recording::About;
use model::repeats;
use model::run::{Bound, Cell, Outcome, Program, Row, Run};
use model::sequential;
use model::unit::Unit;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::counters::{Counted, CounterEvent};

/// Length of the clock's calibration for the looks before and after.
const CALIBRATION: Duration = Duration::from_millis(5);

/// Ticks of CPU time that a run must have for the kernel's division of it into
/// user and system to be more than the luck of a few.
const FEW_TICKS: u64 = 10;

/// CPU time of left-over processes that is worth a note, as a share of the
/// commands' own.
const LEFT_OVER: f64 = 0.001;

/// Facts of the whole run, known before its first command.
pub struct Began {
    /// When, ms since 1970 UTC.
    pub unix_ms: u64,
    /// What the machine was like.
    pub moment: Moment,
    /// On which clock: [`sys::monotonic_raw_ns`].
    pub at_ns: u64,
    /// What a spinning thread lost before the runs, where the commands will run; nothing where that was not looked
    /// at.
    pub osnoise: Option<Result<Osnoise, BriefError>>,
}

impl Began {
    /// Now.
    pub fn now() -> Began {
        Began {
            unix_ms: sys::clock::realtime_unix_ms(),
            moment: moment(),
            at_ns: sys::monotonic_raw_ns(),
            osnoise: None,
        }
    }
}

/// A look before and one after may take this share of the time of the runs each,
const LOOK: f64 = 0.02;
/// and is not worth taking below this.
const SHORTEST_LOOK: Duration = Duration::from_millis(20);

/// How long to look before and after runs that take about so long, if at all.
pub fn look_span(runs: Duration) -> Option<Duration> {
    let span = runs.mul_f64(LOOK).min(brief::SHORT);
    (span >= SHORTEST_LOOK).then_some(span)
}

/// A short look at what a spinning thread loses where the commands run, and
/// under their controls.
///
/// # Errors
/// Why there is none, in words.
pub fn look(
    cpu: Option<u32>,
    asked: &RequestedControls,
    span: Duration,
    stop: &AtomicBool,
) -> Result<Osnoise, BriefError> {
    if asked.changes_the_share() {
        return brief::in_child(asked, (cpu, None), span, stop);
    }
    brief::calibrated(CALIBRATION, (cpu, None), span, stop)
}

/// What a run of commands is made of.
pub struct Parts<'a> {
    /// When it began.
    pub began: Began,
    /// The machine.
    pub machine: Machine,
    /// What measured.
    pub program: Program,
    /// The commands and how they were run.
    pub commands: Commands,
    /// What was set for them, and granted.
    pub applied: Applied,
    /// What came of them.
    pub repeated: &'a Repeated,
    /// How each event was counted.
    pub counted: &'a [(CounterEvent, Counted)],
    /// What each command left running.
    pub left: &'a [Left],
    /// The kernel's tick, ns, where it accounts by ticks.
    pub tick_ns: Option<u64>,
    /// Seed of the order.
    pub seed: u64,
    /// Said of each command's wall time, one sentence each.
    pub notes: Vec<Vec<String>>,
    /// Said of the whole.
    pub remarks: Vec<String>,
    /// What a spinning thread lost after the last command; nothing where that
    /// was not looked at.
    pub osnoise_after: Option<Result<Osnoise, BriefError>>,
}

/// The document.
pub fn make_document(parts: Parts) -> Run {
    let Parts { began, mut commands, .. } = parts;
    commands.compared = compared(&commands, &parts.repeated.runs);
    let wall = Duration::from_nanos(sys::monotonic_raw_ns().saturating_sub(began.at_ns));
    let mut conditions = Conditions {
        before: began.moment,
        after: moment(),
        pinned_cpus: commands.controls.pinned_cpu.into_iter().collect(),
        not_pinned: None,
        applied: Some(parts.applied),
        remarks: parts.remarks,
        ..Conditions::default()
    };
    if let Some(before) = began.osnoise {
        brief::record_osnoise(&mut conditions, before, parts.osnoise_after);
    }
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    for (k, runs) in parts.repeated.runs.iter().enumerate() {
        let name = &commands.commands[k].name;
        for kind in &ROWS {
            let (mut row, cell) = row_of(name, kind, runs, parts.counted);
            if let Outcome::Figure(estimate) = &mut row.outcome {
                judge_division(kind, estimate, runs, parts.tick_ns);
                judge_waits(kind, estimate, runs);
                if let Some(flaw) = commands.commands[k].flaw() {
                    estimate.verdict = Verdict::Invalid;
                    estimate.reason = flaw;
                }
            }
            if kind.name == "wall" {
                row.notes.extend(parts.notes.get(k).into_iter().flatten().cloned());
                row.notes.extend(rows::slow_first_run(&commands, runs));
                row.notes.extend(parts.left.get(k).and_then(|l| left_over(l, runs)));
            }
            rows.push(row);
            cells.extend(cell);
        }
    }
    flag_conditions(&mut rows, &conditions, wall, &parts.machine);
    let cost = clock_cost();
    let mut run = Run::begun(About {
        id: uuid::Uuid::new_v4().to_string(),
        started_unix_ms: began.unix_ms,
        wall_ms: wall.as_millis() as u64,
        program: parts.program,
        machine: parts.machine,
    });
    run.conditions = conditions;
    run.plan.asked = commands.commands.iter().map(|c| c.command_line()).collect();
    run.plan.seed = parts.seed;
    run.plan.budget_ms = commands.rule.most_ms;
    run.clock.cost_ns = Some(cost.cost_ns);
    run.clock.resolution_ns = Some(cost.resolution_ns);
    run.partial = (commands.ended == Ended::Interrupted)
        .then(|| "interrupted: rows hold what was measured until then".into());
    run.commands = Some(commands);
    run.rows = rows.into();
    run.cells = cells.into();
    run
}

/// Rows that are set against the first command's. Counts are not: their
/// medians stand next to each other.
const COMPARED: [&str; 3] = ["wall", "task_clock", "peak_memory"];

/// Every command but the first against it. A memory that is only a bound says
/// nothing; no time is called shorter where the two did not do their work.
fn compared(commands: &Commands, runs: &[Vec<Timed>]) -> Vec<Compared> {
    let Some((first, others)) = runs.split_first() else {
        return Vec::new();
    };
    let mut compared = Vec::new();
    for (other, command) in others.iter().zip(&commands.commands[1..]) {
        for kind in ROWS.iter().filter(|kind| COMPARED.contains(&kind.name)) {
            let values = |runs: &[Timed]| -> Option<Vec<f64>> {
                runs.iter()
                    .map(|run| {
                        let bound =
                            kind.unit == Unit::Bytes && run.usage.peak_bytes <= run.usage.own_bytes;
                        let (n, d) = (kind.value)(&run.usage).filter(|_| !bound)?;
                        Some(n as f64 / d as f64)
                    })
                    .collect()
            };
            let (Some(a), Some(b)) = (values(first), values(other)) else {
                continue;
            };
            let found = match commands.rule.is_watched() {
                true => sequential::watched_finding(&a, &b, others.len(), commands.margin),
                false => interleaved::finding(&a, &b, others.len(), commands.margin),
            };
            let why = command.not_comparable(&commands.commands[0]);
            compared.push(Compared {
                name: command.name.clone(),
                row: kind.name.into(),
                rounds: a.len().min(b.len()) as u32,
                word: match why {
                    Some(_) => finding::Verdict::CannotTell,
                    None => found.verdict,
                },
                ratio: found.ratio,
                why,
            });
        }
    }
    compared
}

fn clock_cost() -> sys::ClockCost {
    let counter = sys::clock::Counter::monotonic_raw();
    let calibration = sys::clock::calibrate(&counter, Duration::from_millis(1));
    sys::clock::measure_cost(&counter, &calibration)
}

fn row_of(
    name: &str,
    kind: &RowKind,
    runs: &[Timed],
    counted: &[(CounterEvent, Counted)],
) -> (Row, Option<Cell>) {
    let id = format!("exec.{name}/{}", kind.name);
    let values: Option<Vec<(u64, u64)>> = runs.iter().map(|r| (kind.value)(&r.usage)).collect();
    let row = |outcome, notes| Row { notes, ..Row::new(&id, kind.unit, Bound::Memory, outcome) };
    if let Some(reason) = rows::misleads(kind, counted) {
        return (row(Outcome::Unavailable { reason }, Vec::new()), None);
    }
    let Some(values) = values else {
        let reason = not_counted(kind, counted);
        return (row(Outcome::Unavailable { reason }, Vec::new()), None);
    };
    let mut notes: Vec<String> = rows::counting_note(kind, counted).into_iter().collect();
    if kind.event.is_some() && runs.iter().any(|r| r.usage.counts.scaled) {
        notes.push(
            "the counter was shared with other users of it: counts are scaled up to the whole time"
                .into(),
        );
    }
    let fractions: Vec<f64> = values.iter().map(|&(n, d)| n as f64 / d as f64).collect();
    let mut estimate = repeats::estimate(&fractions, &kind.unit, kind.least);
    if kind.unit == Unit::Bytes {
        notes.extend(bound_by_own(&mut estimate, runs));
    }
    let samples = values.iter().zip(runs);
    let samples =
        samples.map(|(&(numerator, denominator), run)| (run.at_ms, denominator, numerator));
    let mut cell = Cell::of_values(&id, Vec::new(), samples);
    if kind.name == "wall" {
        cell.wall_ms = runs.iter().map(|r| r.usage.wall_ns as f64).sum::<f64>() / 1e6;
    }
    (row(Outcome::Figure(estimate), notes), Some(cell))
}

fn not_counted(kind: &RowKind, counted: &[(CounterEvent, Counted)]) -> String {
    if kind.name == RUN_DELAY {
        return "this kernel doesn't count it: a wall time may be in part a wait for a CPU".into();
    }
    let why =
        counted.iter().find(|(event, _)| Some(*event) == kind.event).map(|(_, counted)| counted);
    match why {
        Some(Counted::Not(why)) => why.clone(),
        _ => "other users of the hardware counters left none in some of the runs".into(),
    }
}

/// A peak that is not above that of the process that starts the command is only a bound.
fn bound_by_own(estimate: &mut Estimate, runs: &[Timed]) -> Option<String> {
    let own = runs.iter().map(|r| r.usage.own_bytes).max()? as f64;
    let median = estimate.typical?.ns.value;
    if median > own {
        return None;
    }
    estimate.below_ns = Some(own);
    // How far that process's memory varies is not the command's noise.
    if runs.len() >= repeats::LEAST_FOR_INTERVAL {
        estimate.verdict = Verdict::Ok;
        estimate.reason = String::new();
    }
    Some(format!(
        "peak memory: the kernel counts what a process had before it executed its program, here {} \
         of the process that starts it; the command stayed below that",
        figure::value_text(&Unit::Bytes, own)
    ))
}

/// The kernel divides CPU time into user and system by what its ticks found. Of
/// a run of few ticks the interval would tell how alike these finds were, and
/// not how the time was divided; a part that is shorter than a tick is below
/// resolution.
fn judge_division(kind: &RowKind, estimate: &mut Estimate, runs: &[Timed], tick_ns: Option<u64>) {
    let Some(tick_ns) = tick_ns.filter(|_| matches!(kind.name, "user" | "system")) else {
        return;
    };
    let both = runs.iter().map(|r| r.usage.user_ns + r.usage.system_ns);
    let Some(both_ns) = model::stats::median(both.map(|ns| ns as f64)) else {
        return;
    };
    if estimate.typical.is_some_and(|t| t.ns.value < tick_ns as f64) {
        estimate.below_ns = Some(tick_ns as f64);
    }
    if both_ns >= (FEW_TICKS * tick_ns) as f64 {
        return;
    }
    estimate.verdict = Verdict::CannotTell;
    estimate.reason = format!(
        "how CPU time divides into user and system is known by the kernel's ticks of {}: {} of it \
         in a run are too few of them, and only the sum is known",
        figure::time(tick_ns as f64),
        figure::time(both_ns)
    );
}

/// A wall time that is in part a wait for a CPU says what else ran, whatever its interval.
fn judge_waits(kind: &RowKind, estimate: &mut Estimate, runs: &[Timed]) {
    let times = runs.iter().map(|run| {
        let usage = &run.usage;
        Some((usage.wall_ns as f64, usage.run_delay_ns? as f64))
    });
    let times: Option<Vec<(f64, f64)>> = times.collect();
    let wait = times.filter(|_| kind.name == "wall").and_then(|times| CpuWait::within_runs(&times));
    if let Some(wait) = wait {
        estimate.verdict = Verdict::CannotTell;
        estimate.reason = wait.to_string();
    }
}

/// What the command left running, where that is worth a word.
fn left_over(left: &Left, runs: &[Timed]) -> Option<String> {
    let own: u64 = runs.iter().map(|r| r.usage.user_ns + r.usage.system_ns).sum();
    let used = left.cpu_ns > 0 && left.cpu_ns as f64 > LEFT_OVER * own as f64;
    let killed = match left.at_end {
        0 => String::new(),
        1 => "; one of them was still there at the end and was killed".into(),
        n => format!("; {n} of them were still there at the end and were killed"),
    };
    match (used, left.at_end) {
        (false, 0) => None,
        (false, _) => Some(format!("it leaves processes running{killed}")),
        (true, _) => Some(format!(
            "it leaves processes running: they used {} of CPU time between the runs, and count in \
             the runs that follow, also in those of other commands{killed}",
            figure::time(left.cpu_ns as f64)
        )),
    }
}
