//! Pure functions from a Run document, the machine or the catalogue to text.
//! Nothing here measures or prints.

mod columns;
mod commands;
pub mod comparison;
mod cost;
mod cpu_history;
pub(crate) mod curves;
mod doubts;
mod explain;
pub(crate) mod figures;
mod fit;
pub(crate) mod fleet;
mod footer;
mod gate;
pub(crate) mod header;
pub mod history;
mod kept;
mod list;
pub(crate) mod machine;
pub mod noise;
mod overview;
mod paired;
mod probes_page;
mod published;
mod qos;
pub(crate) mod recorded;
mod selftest;
mod short;
pub mod stored;
mod table;
pub(crate) mod trace;
mod wide;

#[cfg(test)]
mod golden;

pub use comparison::comparison;
pub use explain::{Explained, explain, explained};
pub(crate) use explain::{bound_of, facts as explained_facts, of_regime as sampling_of};
pub use fit::{fit, learned as fit_learned, reason as fit_reason, vector as fit_vector};
pub use fleet::{fleet, paired as paired_fleets};
pub use gate::gate;
pub(crate) use header::{disturbances, facts_for_others, warning_blocks};
pub use history::history;
pub use kept::{kept_run, kept_runs, percentiles, rebuilt, verified};
pub use list::{ProbeText, RowTitle, group, list, probe_of};
pub(crate) use machine::facts as machine_facts;
pub use machine::machine;
pub(crate) use overview::{cost as overview_cost, ratio as overview_ratio};
pub use paired::{answer as paired_answer, rows as paired_rows};
pub use probes_page::probes_page;
pub(crate) use published::published_on_page;
pub use published::{PublishedOptions, published};
pub use qos::oakley;
pub(crate) use table::{group_of, short_title};
pub(crate) use trace::parts as trace_parts;
pub use trace::{
    TraceOptions, difference as trace_difference, row_tails, rows_without_tails, trace,
};

use compare::references::{Reference, References};
use model::chart::Section;
use model::run::Run;
use model::story::{
    Block, core_to_core, create_delete, levels, lifecycle, naive_loop, page_walk, pool, wakeup,
};

/// What to draw of a run, and how.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// Every row, also of a run of the overview, and every reason.
    pub all: bool,
    /// Tables to set beside, in this order; none for the 2012 list.
    pub versus: Vec<&'a Reference>,
    /// Every column and every point of a curve, however wide.
    pub wide: bool,
    /// A column that scales 1 ns to 1 s.
    pub human: bool,
    /// A column of operations per frame at 60 Hz.
    pub frames: bool,
    /// Where the run is kept, if it is.
    pub kept: Option<String>,
    /// What `--full` would add, if anything.
    pub full_adds: Option<String>,
}

/// A run: the overview of one that is no more; a short page of one of whole
/// groups; of rows that were asked for, or where all is: header, table, curves,
/// what follows from them, footer.
pub fn run(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    // The overview has one column for a table, and none for these.
    let more_columns = options.human || options.frames || options.versus.len() > 1;
    if overview::is_overview(run) && !options.all && !options.wide && !more_columns {
        let screen = overview::overview(run, references, options);
        if !screen.is_empty() {
            return screen;
        }
    }
    if run.is_of_recording() && !options.all {
        return recorded::page(run, references, options);
    }
    if run.plan.asked.is_empty() && run.commands.is_none() && !options.all && !options.wide {
        return short::short(run, references, options);
    }
    if let Some(record) = run.commands.as_ref().filter(|_| !options.all && !options.wide) {
        return commands::short(run, record, options);
    }
    let mut parts = vec![header::header(run)];
    if options.wide {
        parts.extend(run.commands.iter().map(|c| commands::how(run, c)));
        parts.push(wide::table(run, references, options));
        parts.extend(run.commands.iter().map(commands::compared));
    } else if let Some(record) = &run.commands {
        parts.extend(commands::commands(run, record));
    } else {
        parts.push(table::table(run, references, options));
        parts.push(levels::story(run));
        parts.push(picture(run, levels::LATENCY));
        parts.extend(curves::curves(run));
    }
    let mut pairs = picture(run, core_to_core::PROBE);
    pairs.extend(core_to_core::story(run));
    parts.push(pairs);
    let stories = stories(run, references).into_iter();
    parts.extend(stories.map(|story| story.blocks));
    parts
        .extend(run.recordings.iter().flat_map(|of| recorded::story(run, of, references, options)));
    if options.wide {
        parts.push(cost::cost(run));
    }
    let mut end = doubts::doubts(run, references, options);
    end.extend(footer::footer(run, options));
    parts.push(end);
    joined(parts)
}

/// A picture of the run alone, where it has what that shows.
fn picture(run: &Run, id: &str) -> Vec<Block> {
    let chart = crate::chart::one(run, &References::default(), id);
    chart.map(Block::chart).into_iter().collect()
}

/// What a family of rows says.
pub(crate) struct Story {
    /// The chapter that it belongs to.
    pub(crate) section: Section,
    /// The row, or what the rows have in common.
    pub(crate) rows: &'static str,
    pub(crate) blocks: Vec<Block>,
}

/// What families of rows say, in the order of a page.
pub(crate) fn stories(run: &Run, references: &References) -> [Story; 6] {
    let published = |row: &str| published_element_ns(references, row);
    let story = |section, rows, blocks| Story { section, rows, blocks };
    use Section::{Files, Memory, Threads};
    [
        story(Memory, "memory.latency_tlb", page_walk::story(run)),
        story(Memory, "memory.naive_xor", naive_loop::story(run, published)),
        story(Threads, "thread.lifecycle", lifecycle::story(run)),
        story(Threads, "sched.pool", pool::story(run)),
        story(Threads, "sched.wakeup", wakeup::story(run)),
        story(Files, "file.delete", create_delete::story(run)),
    ]
}

fn published_element_ns(references: &References, row: &str) -> Option<f64> {
    let table = references.find(crate::chart::NAIVE_LOOP)?;
    table.counterpart(row)?.row.ns_per_element
}

/// Parts of a page, with an empty line between.
fn joined(parts: Vec<Vec<Block>>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        blocks.push(Block::empty_line());
        blocks.extend(part);
    }
    blocks
}
