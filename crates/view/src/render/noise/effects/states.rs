//! The states of the user's own command, one a line: time, spread, context
//! switches and migrations, as `perf stat -r` would show them side by side.

use model::figure::time;
use model::noise::effect::{EffectArm, Effects, OneRun, Workload};
use model::stats;
use model::story::{Block, Cell, Table, left, right};

/// A table for each load; nothing where built-in jobs ran.
pub(super) fn states(document: &Effects) -> Vec<Block> {
    let blocks = document.blocks.iter();
    let tables = blocks.filter(|block| block.workload == Workload::Command).map(|block| {
        let columns = ["time, median", "p10", "p90", "switches", "migrations"];
        let mut table = Table::new([left(block.load.in_words())]);
        table.columns.extend(columns.map(right));
        for arm in &block.arms {
            table.row(arm_cells(arm));
        }
        Block::Table(table)
    });
    let tables: Vec<Block> = tables.collect();
    if tables.is_empty() {
        return tables;
    }
    let caption = "Time of a run, from the making of its process until its end: median [95 % \
                   interval]; switches and migrations: mean of a run.";
    let mut blocks = vec![Block::Heading("Times of the command".into()), Block::text(caption)];
    for (at, table) in tables.into_iter().enumerate() {
        blocks.extend((at > 0).then(Block::empty_line));
        blocks.push(table);
    }
    blocks
}

fn arm_cells(arm: &EffectArm) -> [Cell; 6] {
    let walls = stats::sorted(arm.runs.iter().map(|run| run.took_ns as f64));
    let quantile = |q| stats::quantile_sorted(&walls, q).map_or("-".into(), time);
    let median = match stats::quantile_interval_sorted(&walls, 0.5) {
        Some(of) => format!("{} [{}, {}]", time(of.value), time(of.low), time(of.high)),
        None => quantile(0.5),
    };
    let mean = |count: &dyn Fn(&OneRun) -> Option<u64>| {
        let counts: Option<Vec<f64>> = arm.runs.iter().map(|r| Some(count(r)? as f64)).collect();
        let mean = counts.and_then(|counts| stats::mean(&counts));
        mean.map_or("-".into(), super::page::mean_count)
    };
    [
        format!("  {}", arm.name),
        median,
        quantile(0.1),
        quantile(0.9),
        mean(&|run| Some(run.voluntary + run.involuntary)),
        mean(&|run| run.migrations),
    ]
    .map(Cell::from)
}
