//! Why the slowest operations of a row were slow.

use model::figure::time;
use model::story::{Block, Cell, Table, left, right};
use model::text::visible;
use model::trace::tails::{Cause, Tails};
use model::trace::{Target, Tier, Trace};

/// The causes of all slow operations, then each operation.
pub(super) fn blocks(trace: &Trace, tails: &Tails, most: usize) -> Vec<Block> {
    let Target::Row(row) = &trace.target else {
        return Vec::new();
    };
    let excess_ns = tails.excess_ns();
    let mut blocks = vec![Block::text(format!(
        "the slowest {} of {} operations take more than {} (median {}); they take {} longer together",
        tails.slow.len(),
        row.operations.len(),
        time(tails.limit_ns as f64),
        time(tails.median_ns as f64),
        time(excess_ns)
    ))];
    if trace.tier == Tier::Minimal {
        blocks.push(Block::text("why is not recorded in this tier"));
        return blocks;
    }
    let columns = [
        left("excess by cause"),
        right("time"),
        right("share"),
        right("operations"),
    ];
    let mut table = Table::new(columns);
    for (cause, ns, count) in tails.causes() {
        table.row([
            Cell::from(text(trace, cause)),
            time(ns).into(),
            percent(ns / excess_ns.max(1.0)).into(),
            count.to_string().into(),
        ]);
    }
    blocks.push(Block::Table(table));
    let columns = [
        right("operation"),
        right("at"),
        right("takes"),
        right("excess"),
        left("mostly"),
    ];
    let mut table = Table::new(columns);
    for slow in tails.slow.iter().take(most) {
        let operation = row.operations.get(slow.number).copied().unwrap_or_default();
        let mostly = slow.causes.first().map(|&(cause, ns)| {
            format!(
                "{} ({})",
                text(trace, cause),
                percent(ns / slow.excess_ns.max(1.0))
            )
        });
        table.row([
            Cell::from((slow.number + 1).to_string()),
            time(operation.from_ns as f64).into(),
            time(operation.duration_ns() as f64).into(),
            time(slow.excess_ns).into(),
            mostly.unwrap_or_default().into(),
        ]);
    }
    blocks.push(Block::empty_line());
    blocks.push(Block::Table(table));
    if let Some((interrupts, fault_ns)) = &row.prices {
        let interrupts = interrupts.iter();
        let interrupts =
            interrupts.map(|(kind, &ns)| format!("{} {}", kind.name(), time(ns as f64)));
        let fault = fault_ns.map(|ns| format!("page fault {}", time(ns as f64)));
        let prices: Vec<String> = interrupts.chain(fault).collect();
        blocks.push(Block::fact(
            "prices",
            format!("in this run: {}", prices.join(", ")),
        ));
    }
    blocks
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn text(trace: &Trace, cause: Cause) -> String {
    let name = |id: u32| match trace.name_of(id) {
        Some(name) => format!("{} {id}", visible(name)),
        None => format!("thread {id}"),
    };
    match cause {
        Cause::Preempted(Some(by)) => format!("preempted by {}", name(by)),
        Cause::Preempted(None) => "preempted (thread not recorded)".into(),
        Cause::Queued(0) => "CPU left idle late".into(),
        Cause::Queued(by) => format!("waited behind {}", name(by)),
        Cause::Throttled => "CPU quota used up".into(),
        Cause::Stopped => "stopped by a signal".into(),
        Cause::Blocked => "blocked, not by a thread of the row".into(),
        Cause::Interrupts(kind) => format!("interrupts: {}", kind.name()),
        Cause::Faults => "page faults".into(),
        Cause::OnCpu => "on a CPU, unexplained".into(),
        Cause::OffCpu => "not on a CPU, unexplained".into(),
    }
}
