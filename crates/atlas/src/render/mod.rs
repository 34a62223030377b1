//! Pure functions from a Run document, the machine or the catalogue to text.
//! Nothing here measures or prints.

mod chart;
mod commands;
pub(crate) mod comparison;
mod core_to_core;
mod cost;
pub(crate) mod create_delete;
pub(crate) mod curves;
mod doubts;
mod explain;
pub(crate) mod figures;
mod footer;
mod gate;
pub(crate) mod header;
pub(crate) mod histogram;
mod history;
mod intervals;
mod kept;
pub(crate) mod layout;
pub(crate) mod lesson;
pub(crate) mod levels;
pub(crate) mod lifecycle;
mod list;
pub(crate) mod machine;
pub mod noise;
pub(crate) mod page_walk;
pub(crate) mod pool;
mod probes_page;
mod published;
mod selftest;
mod table;
pub(crate) mod tails;
mod tally;
pub(crate) mod wakeup;
mod wide;

#[cfg(test)]
mod golden;
#[cfg(test)]
pub(crate) use layout::keeps_to;
#[cfg(test)]
pub(crate) mod synthetic;

pub use comparison::{compared_by, comparison, ratio};
pub(crate) use curves::axis_value;
pub use explain::{Explained, explain, explained};
pub(crate) use explain::{facts as explained_facts, of_regime as sampling_of};
pub use gate::gate;
pub(crate) use header::{facts as facts_of_run, warnings};
pub(crate) use history::level_text;
pub use history::{history, sentence};
pub use kept::{kept_run, kept_runs, percentiles, rebuilt, verified};
pub use list::{ProbeText, RowTitle, group, list};
pub use machine::machine;
pub(crate) use machine::{
    groups as machine_facts, name as machine_name, one_line as machine_in_a_line,
};
pub use noise::gaps;
pub use probes_page::probes_page;
pub use published::{PublishedOptions, published};
pub use selftest::selftest;
pub(crate) use table::{group_of, short_title};
pub use tally::{Tally, reliable, tally};

use crate::references::{Reference, References};
use model::run::Run;

/// Width that the default table keeps to.
pub const COLUMNS: usize = 100;

/// What to draw of a run, and how.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// Tables to set beside, in this order; none for the 2012 list.
    pub versus: Vec<&'a Reference>,
    /// Every column and every point of a curve, however wide.
    pub wide: bool,
    /// A column that scales 1 ns to 1 s.
    pub human: bool,
    /// A column of operations per frame at 60 Hz.
    pub frames: bool,
    /// Colour the verdicts.
    pub color: bool,
    /// Where the run is kept, if it is.
    pub kept: Option<String>,
    /// What `--full` would add, if anything.
    pub full_adds: Option<String>,
}

/// A run as text: header, table, curves, what was learnt, footer.
pub fn run(run: &Run, references: &References, options: &Options) -> String {
    let mut blocks = vec![header::header(run)];
    if options.wide {
        blocks.extend(run.commands.iter().map(|c| commands::how(run, c)));
        blocks.push(wide::table(run, references, options));
        blocks.extend(run.commands.iter().map(commands::compared));
    } else if let Some(record) = &run.commands {
        blocks.push(commands::commands(run, record));
    } else {
        blocks.push(table::table(run, references, options));
        blocks.push(levels::levels(run));
        blocks.push(curves::curves(run));
    }
    blocks.push(core_to_core::core_to_core(run));
    blocks.push(page_walk::page_walk(run));
    blocks.push(lesson::naive_xor(run, references));
    blocks.push(lifecycle::lifecycle(run));
    blocks.push(pool::pool(run));
    blocks.push(wakeup::wakeup(run));
    blocks.push(create_delete::create_delete(run));
    if options.wide {
        blocks.push(cost::cost(run));
    }
    blocks.push(doubts::doubts(run, references, options) + &footer::footer(run, options));
    blocks.retain(|block| !block.is_empty());
    layout::finish(&blocks.join("\n"), options.color)
}
