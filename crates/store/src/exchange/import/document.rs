//! What files say as a Run document. What they don't say stays unknown.

use super::{FigureFound, ImportedFile, InputFormat, Measured, slug};
use model::conditions::Conditions;
use model::context::Context;
use model::estimate::{Estimate, Typical, Verdict};
use model::estimator;
use model::gate::Gate;
use model::imported::{Imported, UNKNOWN};
use model::machine::{Fact, Machine};
use model::machine_readings::MachineReadings;
use model::printable::with_signs;
use model::recording::About;
use model::run::{Bound, Cell, ClockRecord, Outcome, Program, Row, Run};
use model::sample_columns::DamagedColumns;
use model::stats::Interval;
use model::unit::Unit;
use std::collections::HashMap;

/// What the files can't know of the import.
#[derive(Clone, Debug)]
pub struct Origin {
    /// UUID of the new run.
    pub id: String,
    /// Now, ms since 1970 UTC.
    pub now_unix_ms: u64,
    /// Who imports: `latlas 0.1.0`.
    pub by: String,
    /// What the user calls it, in place of the files' names.
    pub name: Option<String>,
    /// The machine it was measured on, if the user says that it is this one.
    pub machine: Option<Machine>,
}

/// Largest number that every reader of JSON keeps exactly.
const EXACT: f64 = 9e15;

/// Why a row has no samples, though its file had some.
#[derive(thiserror::Error, Debug)]
pub(super) enum NoSamples {
    #[error("a row without its samples (this is a bug in latlas)")]
    Lost,
    #[error(transparent)]
    Damaged(#[from] DamagedColumns),
}

/// One run of all files.
pub(super) fn imported_run(
    format: InputFormat,
    found: Vec<ImportedFile>,
    sources: Vec<String>,
    origin: Origin,
) -> Result<Run, NoSamples> {
    let longest_ns = found
        .iter()
        .flat_map(|f| &f.rows)
        .filter_map(|row| match &row.figure {
            FigureFound::Samples(samples) => Some(samples),
            _ => None,
        })
        .flatten()
        .map(|&(_, ns)| ns)
        .fold(0.0, f64::max);
    let ns_per_tick = tick(longest_ns);
    let gate = MachineReadings::from_samples(&[]).gate(None);
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    let mut taken = HashMap::new();
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut all_ns = 0.0;
    let mut conditions = Conditions::default();
    let (mut version, mut measured_at, mut host_name) = (None, None, None);
    for file in found {
        version = version.or(file.version);
        measured_at = measured_at.or(file.measured_at);
        host_name = host_name.or(file.host_name);
        conditions.before.load_average = conditions.before.load_average.or(file.load_average);
        for remark in file.remarks {
            let remark = printable_text(&remark);
            if !conditions.remarks.contains(&remark) {
                conditions.remarks.push(remark);
            }
        }
        for mut measured in file.rows {
            let times = seen.entry(measured.name.clone()).or_insert(0);
            *times += 1;
            if *times > 1 {
                measured.notes.push(format!(
                    "the file has a benchmark of this name more than once: this is number {}",
                    measured.number.unwrap_or(*times)
                ));
            }
            let id = slug::unique(&measured.slug, measured.number, &mut taken);
            let id = format!("{}.{id}", format.group());
            if let FigureFound::Samples(samples) = &measured.figure {
                all_ns += samples.iter().map(|&(_, ns)| ns).sum::<f64>();
                cells.push(samples_cell(&id, samples, ns_per_tick));
            }
            rows.push(imported_row(id, measured, cells.last(), &gate, format, ns_per_tick)?);
        }
    }
    let program = Program {
        name: format.program().into(),
        version: version.map_or(UNKNOWN.into(), |version| printable_text(&version)),
        commit: None,
        target: UNKNOWN.into(),
        profile: UNKNOWN.into(),
        emulated: None,
    };
    let mut machine = origin.machine.unwrap_or_else(|| {
        Machine::unknown(UNKNOWN, &format!("{}'s file does not say", program.name))
    });
    if let (None, Some(host)) = (machine.hostname.get(), host_name) {
        machine.hostname =
            Fact::known(printable_text(&host)).from_source("context.host_name of the file");
    }
    let about = About {
        id: origin.id,
        started_unix_ms: origin.now_unix_ms,
        wall_ms: (all_ns / 1e6).round() as u64,
        machine,
        program,
    };
    let mut run = Run::begun(about);
    run.conditions = conditions;
    run.clock = ClockRecord {
        name: format!("that of {}", run.program.name),
        ns_per_tick,
        source: "the unit in which the file's times are kept here, not a clock's tick".into(),
        cost_ns: None,
        resolution_ns: None,
    };
    run.imported = Some(Imported {
        format: format.option_name().into(),
        from: origin.name.map_or(sources, |name| vec![printable_text(&name)]),
        measured_at: measured_at.as_deref().map(printable_text),
        by: origin.by,
    });
    run.rows = rows.into();
    run.cells = cells.into();
    Ok(run)
}

/// The finest unit, from a femtosecond up, that counts the longest sample
/// exactly.
fn tick(longest_ns: f64) -> f64 {
    [1e-6, 1e-3, 1.0, 1e3].into_iter().find(|tick| longest_ns / tick <= EXACT).unwrap_or(1e6)
}

/// The longest text that is kept: a name may be a script of many lines.
const MAX_TEXT: usize = 4096;

/// A text of a file as it is kept: no character that a terminal obeys or does not show.
fn printable_text(text: &str) -> String {
    let end = (0..=MAX_TEXT).rev().find(|&end| text.is_char_boundary(end));
    match end {
        Some(end) if text.len() > MAX_TEXT => {
            format!("{}... ({} bytes)", with_signs(&text[..end]), text.len())
        }
        _ => with_signs(text),
    }
}

fn samples_cell(id: &str, samples: &[(u64, f64)], ns_per_tick: f64) -> Cell {
    let ticks = |ns: f64| (ns / ns_per_tick).round() as u64;
    let samples = samples.iter().map(|&(turns, ns)| (0, turns, ticks(ns)));
    Cell::of_values(id, Vec::new(), samples)
}

fn imported_row(
    id: String,
    measured: Measured,
    cell: Option<&Cell>,
    gate: &Gate,
    format: InputFormat,
    ns_per_tick: f64,
) -> Result<Row, NoSamples> {
    let mut notes: Vec<String> = measured.notes.iter().map(|note| printable_text(note)).collect();
    let outcome = match measured.figure {
        FigureFound::Failed(reason) => Outcome::Unavailable { reason: printable_text(&reason) },
        FigureFound::Aggregate { ns, what, .. } => Outcome::Figure(aggregate(ns, &what)),
        FigureFound::Samples(_) => {
            let cell = cell.ok_or(NoSamples::Lost)?;
            notes.push(one_session(format).into());
            Outcome::Figure(estimate(cell, gate, ns_per_tick)?)
        }
    };
    Ok(Row { notes, ..Row::new(id, Unit::Time, Bound::Memory, outcome) })
}

/// What the interval can't see.
fn one_session(format: InputFormat) -> &'static str {
    match format {
        InputFormat::Hyperfine => {
            "interval: of the median by order statistics over the runs of one session, so it \
             excludes the variation between sessions"
        }
        InputFormat::Jmh | InputFormat::BenchmarkDotNet => {
            "interval: of the median by order statistics over the iterations of one session, as \
             if they were independent, so it excludes the variation between sessions and processes"
        }
        _ => {
            "interval: of the median by order statistics over samples of one process, so it \
             excludes the variation between processes (layout, pages, placement)"
        }
    }
}

fn estimate(cell: &Cell, gate: &Gate, ns_per_tick: f64) -> Result<Estimate, DamagedColumns> {
    let samples = cell.samples.samples()?;
    let mut estimate = estimator::estimate(
        &samples,
        &Context {
            ops_per_turn: cell.ops_per_turn,
            workers: 1,
            ..Context::plain(gate, cell.regime, ns_per_tick)
        },
    );
    if samples.len() == 1 {
        estimate.reason = "one measurement: no spread in the file".into();
    }
    Ok(estimate)
}

/// A figure that somebody computed: there is nothing to estimate.
fn aggregate(ns: f64, what: &str) -> Estimate {
    Estimate {
        reason: format!("only the {what}: no samples in the file, so no interval"),
        ..Estimate::bare(
            Some(Typical {
                ns: Interval { value: ns, low: ns, high: ns },
                p10_ns: ns,
                p90_ns: ns,
                samples: 0,
            }),
            Verdict::CannotTell,
        )
    }
}
