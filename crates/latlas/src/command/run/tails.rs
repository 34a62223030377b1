//! `latlas run --trace-tails`: after the run, each row that stamps its operations is traced in a
//! visit of its own.

use crate::arguments::Color;
use crate::command::trace::row;
use crate::output;
use crate::progress::Bar;
use ::trace::record::Request;
use meter::plan::Plan;
use meter::probe::Probe;
use model::run::{Regime, Run};
use model::story::Block;
use model::trace::{Ended, Target};
use std::path::Path;
use std::time::Duration;
use view::render;

/// A visit that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(30);

/// Traces the rows of the plan that stamp their operations, and prints why the slowest ones were
/// slow. Ctrl-C ends it.
pub(super) fn show(
    catalogue: &[Probe],
    plan: &Plan,
    run: &Run,
    color: Color,
) -> anyhow::Result<()> {
    let machine = sys::machine(Path::new("/"));
    let request = Request {
        limit: Some(LIMIT),
        ..row::request(&machine)?
    };
    let (rows, without) = stamped(catalogue, plan);
    output::show(&[Block::empty_line()], color)?;
    let bar = Bar::on_stderr();
    for (at, name) in rows.iter().enumerate() {
        let traced = row::order(catalogue, name, (None, true), &machine).and_then(|order| {
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
                output::show(&render::row_tails(&trace, run), color)?;
            }
            Ok(trace) if trace.ended == Ended::Time => {
                let text = format!("{name}: not traced: its visit takes longer than 30 s");
                output::show(&[Block::text(text), Block::empty_line()], color)?;
            }
            Ok(_) => break,
            Err(error) => {
                let text = format!("{name}: not traced: {error:#}");
                output::show(&[Block::text(text), Block::empty_line()], color)?;
            }
        }
    }
    output::show(&render::rows_without_tails(&without), color)
}

/// One row of each visit that stamps its operations, and the rows that have no stamps.
fn stamped(catalogue: &[Probe], plan: &Plan) -> (Vec<String>, Vec<String>) {
    let (mut stamped, mut without): (Vec<String>, Vec<String>) = Default::default();
    let mut together = Vec::new();
    for cell in &plan.cells {
        let rows = match cell.regime == Regime::Stamped {
            true => &mut stamped,
            false => &mut without,
        };
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
