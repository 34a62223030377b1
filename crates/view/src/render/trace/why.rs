//! Why the spans of a name that took long did so: ten lines.

use super::tails::{Names, takes};
use model::figure::time;
use model::phrases::counted;
use model::printable::visible;
use model::story::{Block, Cell, Table, left, right};
use model::trace::Trace;
use model::trace::row::TracedOperation;
use model::trace::tails::Tails;

/// Causes that have a line of their own, and spans.
const CAUSES: usize = 4;
const SPANS: usize = 3;

/// What is said of the slow spans of a name. `limit` is how the limit was asked for: `p99`.
pub fn why(trace: &Trace, (name, limit): (&str, &str), tails: &Tails) -> Vec<Block> {
    let name = visible(name);
    let count = tails.slow.len();
    let over = match limit {
        "" => time(tails.limit_ns as f64),
        limit => format!("{} ({limit})", time(tails.limit_ns as f64)),
    };
    if count == 0 {
        let all = counted(tails.operations, "span");
        return vec![Block::text(format!("{name}: none of {all} takes more than {over}"))];
    }
    let mean_ns = tails.excess_ns() / count as f64;
    let factor = (tails.median_ns as f64 + mean_ns) / (tails.median_ns as f64).max(1.0);
    let mut blocks = vec![Block::text(format!(
        "{name}: {count} of {} spans take more than {over}, {} longer each than the median ({}, x {factor:.1})",
        tails.operations,
        time(mean_ns),
        time(tails.median_ns as f64),
    ))];
    let names = Names { trace, threads: &trace.by_id(), columns: None };
    blocks.push(Block::Table(names.causes(tails, CAUSES, "span")));
    let columns = [right("at"), right("takes"), left("mostly"), left("in the page (trace export)")];
    let mut table = Table::new(columns);
    for slow in tails.slow.iter().take(SPANS) {
        let TracedOperation { from_ns, to_ns, thread } = slow.operation;
        table.row([
            time(from_ns as f64).into(),
            takes(slow),
            names.mostly(slow).into(),
            Cell::from(format!("#thread={thread}&from={from_ns}&to={to_ns}")),
        ]);
    }
    blocks.push(Block::Table(table));
    blocks
}
