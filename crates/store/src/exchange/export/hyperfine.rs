//! hyperfine's export (`--export-json`), read by its own scripts and by
//! others that expect `results[].times`.
//!
//! hyperfine knows no quiet machine: `times` are all ordinary samples, so that
//! their median is what latlas calls typical. The wall time of a command has
//! its CPU time beside it, as there.

use super::line::{BELOW_ZERO, ExportLine, LeftOut, command_of};
use super::{Written, each, pretty};
use model::command::Command;
use model::run::Run;
use model::stats;
use serde::Serialize;

/// Why a figure can't be expressed.
const NO_SAMPLES: &str = "no samples in the document, and this format is made of them";
/// Why other rows of a command are left out.
const PART: &str =
    "hyperfine knows the wall, user and system time of a command; --rows gives others";

#[derive(Serialize)]
struct HyperfineFile<'r> {
    results: Vec<HyperfineResult<'r>>,
}

/// Times in seconds per operation. What was not measured is null, which is
/// what hyperfine's own standard deviation is after a single run.
#[derive(Serialize)]
struct HyperfineResult<'r> {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: Option<f64>,
    system: Option<f64>,
    min: f64,
    max: f64,
    times: Vec<f64>,
    /// One for each time; none where they are not known.
    exit_codes: Vec<i32>,
    latlas: Counterpart<'r>,
}

#[derive(Serialize)]
struct Counterpart<'r> {
    row: &'r str,
    run: &'r str,
    verdict: &'static str,
    reason: String,
    /// Quiet figure, s; `times` holds every sample, quiet or not.
    quiet: Option<f64>,
}

/// The file, and what it has no place for.
pub(super) fn to_hyperfine(run: &Run, lines: &[ExportLine]) -> Written {
    let (results, left_out) = each(lines, |line| {
        line.must_be_a_time()?;
        line.figure_ns().ok_or_else(|| line.left_out())?;
        let times: Vec<f64> = line.samples_ns(run).iter().map(|ns| ns * 1e-9).collect();
        if times.iter().any(|&s| s < 0.0) {
            return Err(line.left_out_because(BELOW_ZERO.into()));
        }
        entry(run, line, times).ok_or_else(|| line.left_out_because(NO_SAMPLES.into()))
    });
    pretty(&HyperfineFile { results }, left_out)
}

/// Takes everything of commands out that is not their wall time, and says so: its result is a command.
pub(super) fn without_parts(lines: &mut Vec<ExportLine>) -> Vec<LeftOut> {
    let mut parts = Vec::new();
    lines.retain(|line| {
        let is_wall = line.row.id.ends_with("/wall");
        if !is_wall {
            parts.push(line.left_out_because(PART.into()));
        }
        is_wall
    });
    parts
}

/// The command that a row is the wall time of.
fn timed_command<'r>(run: &'r Run, line: &ExportLine) -> Option<&'r Command> {
    line.row.id.ends_with("/wall").then(|| command_of(run, &line.row.id))?
}

/// None where there are no times.
fn entry<'r>(run: &'r Run, line: &'r ExportLine, times: Vec<f64>) -> Option<HyperfineResult<'r>> {
    let sorted = stats::sorted(times.iter().copied());
    let quiet = line.estimate.ok().and_then(|e| e.quiet);
    Some(HyperfineResult {
        // Of other rows its readers show the name and nothing else.
        command: match (timed_command(run, line), line.is_ok()) {
            (Some(command), _) => command.command_line(),
            (None, true) => line.unique_name(),
            (None, false) => format!("{} [{}]", line.unique_name(), line.verdict_text()),
        },
        mean: stats::mean(&times)?,
        stddev: stats::standard_deviation(&times),
        median: stats::quantile_sorted(&sorted, 0.5)?,
        user: measured_with_wall(run, line, "user"),
        system: measured_with_wall(run, line, "system"),
        min: *sorted.first()?,
        max: *sorted.last()?,
        exit_codes: exit_codes(run, line, times.len()),
        times,
        latlas: Counterpart {
            row: &line.row.id,
            run: &run.id,
            verdict: line.verdict_text(),
            reason: line.reason(),
            quiet: quiet.map(|q| q.ns.value * 1e-9),
        },
    })
}

/// The exit codes of a command's runs, where all ended with the same one.
fn exit_codes(run: &Run, line: &ExportLine, runs: usize) -> Vec<i32> {
    let code = timed_command(run, line).and_then(|command| match command.ends.as_slice() {
        [] => (command.failures == 0).then_some(0),
        [all] => all.code,
        _ => None,
    });
    code.map_or(Vec::new(), |code| vec![code; runs])
}

/// Mean of another row of the same command, s: only a command's wall time has
/// a CPU time beside it, in rows of their own.
fn measured_with_wall(run: &Run, line: &ExportLine, name: &str) -> Option<f64> {
    run.commands.as_ref()?;
    let id = format!("{}/{name}", line.row.id.strip_suffix("/wall")?);
    let cell = run.cell(&id, &[])?;
    let samples = cell.samples.samples().ok()?;
    let seconds: Vec<f64> = samples
        .iter()
        .map(|s| s.ns_per_op(cell.ops_per_turn, run.clock.ns_per_tick) * 1e-9)
        .collect();
    stats::mean(&seconds)
}
