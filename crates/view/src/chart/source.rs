//! What pictures are drawn from, and why some are left out.

use super::Chart;
use crate::against::Against;
use compare::Comparison;
use compare::references::References;
use model::phrases::short_id;
use model::run::{Outcome, Run, Scale};
use model::utc;

/// The run that is drawn, and what is set beside it.
pub(super) struct ChartSource<'a> {
    pub(super) run: &'a Run,
    pub(super) references: &'a References,
    /// Other runs with their names.
    pub(super) others: Vec<(String, &'a Run)>,
}

impl<'a> ChartSource<'a> {
    /// A run with nothing beside it.
    pub(super) fn alone(run: &'a Run, references: &'a References) -> ChartSource<'a> {
        ChartSource { run, references, others: Vec::new() }
    }

    pub(super) fn drawn_runs(&self) -> Vec<Against<'_>> {
        self.others.iter().map(|(name, run)| Against::Run(name, run)).collect()
    }
}

/// Another run that is set beside the one that is drawn.
#[derive(Clone, Debug)]
pub struct OtherRun<'a> {
    /// What it is called: as it was asked for, say.
    pub name: String,
    pub run: &'a Run,
    /// The drawn run over it, the baseline, or why there is no comparison. Made
    /// by the caller, so that a picture says what a table beside it says.
    pub comparison: Result<Comparison, String>,
}

/// A picture with the ids of the rows that it shows.
#[derive(Clone, Debug)]
pub struct Picture {
    pub chart: Chart,
    pub rows: Vec<String>,
}

/// A picture, or why there is none.
pub(super) type Drawn = Result<Picture, String>;

/// What a run is called beside others: host, time and the beginning of its id.
pub fn name_of(run: &Run) -> String {
    let host = run.machine.hostname.get().map_or("?", String::as_str);
    let id = short_id(&run.id);
    match &run.imported {
        Some(imported) => format!("{host} {} ({id})", imported.format),
        None => {
            let when = utc::readable_utc(run.started_unix_ms);
            // To the minute: the id tells the rest.
            format!("{host} {} ({id})", when.get(..16).unwrap_or(&when))
        }
    }
}

/// Of which machine and run a picture is, in a line.
pub fn footer(run: &Run) -> String {
    let by = match &run.imported {
        Some(imported) => format!("{}, imported by {}", imported.format, imported.by),
        None => format!("{} {}", run.program.name, run.program.version),
    };
    let mut parts = vec![run.machine.one_line(), name_of(run), by];
    if run.program.profile == "debug" {
        parts.push("DEBUG BUILD".into());
    }
    parts.extend(run.program.emulated.iter().map(|by| format!("EMULATED by {by}")));
    parts.extend(run.partial.iter().map(|why| format!("PARTIAL: {why}")));
    parts.join("; ")
}

/// Why rows have nothing to draw: the reason that the run gives, or that it
/// did not measure them.
pub(super) fn why_not(run: &Run, ids: &[&str]) -> String {
    let reason = ids.iter().find_map(|id| match &run.row(id)?.outcome {
        Outcome::Unavailable { reason } => Some(reason),
        _ => None,
    });
    if let Some(reason) = reason {
        return format!("not available here: {reason}");
    }
    if ids.iter().any(|id| run.row(id).is_some()) {
        return "no point was measured that could be drawn".into();
    }
    match (run.plan.scale, run.plan.asked.is_empty()) {
        (Scale::Quick, true) => {
            "not measured in this quick run: `latlas run` does, or `latlas run --full`".into()
        }
        (Scale::Default, true) => {
            "not measured in this run: `latlas run --full` measures every row".into()
        }
        _ => "not measured in this run".into(),
    }
}
