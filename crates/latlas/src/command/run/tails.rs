//! `latlas run --trace-tails`: after the run, each row that stamps its operations is traced in a
//! visit of its own.

use crate::arguments::Color;
use crate::command::trace::row;
use crate::output;
use crate::progress::Bar;
use ::trace::record::{RecordError, RecordRequest};
use meter::controls::WorkerControls;
use meter::plan::{self, Plan};
use meter::probe::Probe;
use model::phrases::counted;
use model::run::{Regime, Run};
use model::story::Block;
use model::trace::{Ended, Target};
use std::path::Path;
use std::time::Duration;
use view::render;

/// A visit that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(30);

/// Traces the rows of the plan that stamp their operations, and prints why the slowest ones were
/// slow. Returns whether it got to the last one: Ctrl-C ends it.
pub(super) fn show_tails(
    catalogue: &[Probe],
    (asked, plan): (&plan::Request, &Plan),
    run: &Run,
    color: Color,
) -> anyhow::Result<bool> {
    let machine = sys::machine_facts(Path::new("/"));
    let request = RecordRequest { limit: Some(LIMIT), ..row::request(&machine)? };
    let is_controlled = asked.controls != WorkerControls::default();
    // The visits have neither processes of their own nor a limit for all together.
    let asked = plan::Request {
        budget: None,
        controls: WorkerControls::default(),
        in_process: false,
        ..asked.clone()
    };
    let (rows, without) = stamped(catalogue, plan);
    output::show(&[Block::empty_line()], color)?;
    if is_controlled {
        let text = "traced with pinning as the only control";
        output::show(&[Block::text(text), Block::empty_line()], color)?;
    }
    let mut interrupted = None;
    let bar = Bar::on_stderr();
    for (at, name) in rows.iter().enumerate() {
        let traced =
            row::order(catalogue, name, &asked, (None, true), &machine).and_then(|order| {
                bar.message(&format!(
                    "tracing {} ({} of {})",
                    order.progress(),
                    at + 1,
                    rows.len()
                ));
                let held = sys::attached::hold()?;
                row::recorded(&order, &held, &request)
            });
        bar.clear();
        match traced {
            Ok(trace) if matches!(trace.target, Target::Row(_)) => {
                output::show(&render::row_tails(&trace, run, output::columns()), color)?;
            }
            Ok(trace) => match trace.ended {
                Ended::Time => not_traced(name, "tracing takes longer than 30 s", color)?,
                Ended::Full => {
                    not_traced(name, "the trace buffer is full before its operations end", color)?
                }
                _ => interrupted = Some(rows.len() - at),
            },
            Err(error) if is_interruption(&error) => interrupted = Some(rows.len() - at),
            Err(error) => not_traced(name, &format!("{error:#}"), color)?,
        }
        if interrupted.is_some() {
            break;
        }
    }
    output::show(&render::rows_without_tails(&without), color)?;
    if let Some(left) = interrupted {
        output::message(format_args!("interrupted: {} not traced", counted(left, "row")));
    }
    Ok(interrupted.is_none())
}

fn not_traced(name: &str, reason: &str, color: Color) -> anyhow::Result<()> {
    let text = format!("{name}: not traced: {reason}");
    output::show(&[Block::text(text), Block::empty_line()], color)
}

/// Whether a visit was not begun since Ctrl-C came before.
fn is_interruption(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(RecordError::Interrupted))
}

/// One row of each visit that stamps its operations, and the rows that have no stamps.
fn stamped(catalogue: &[Probe], plan: &Plan) -> (Vec<String>, Vec<String>) {
    let (mut stamped, mut without): (Vec<String>, Vec<String>) = Default::default();
    let mut together = Vec::new();
    for cell in &plan.cells {
        let rows = if cell.regime == Regime::Stamped { &mut stamped } else { &mut without };
        let is_visited = together.contains(&cell.probe);
        if rows.contains(&cell.row) || is_visited {
            continue;
        }
        if catalogue[cell.probe].together {
            together.push(cell.probe);
        }
        rows.push(cell.row.clone());
    }
    (stamped, without)
}
