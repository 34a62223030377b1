//! Pure functions from a Run document, the machine or the catalogue to text.
//! Nothing here measures or prints.

mod brief;
mod columns;
mod commands;
pub mod comparison;
mod cost;
mod cpu_history;
pub(crate) mod curves;
mod curves_of_sides;
mod doubts;
mod explain;
pub(crate) mod figures;
mod fit;
mod footer;
mod gate;
pub(crate) mod header;
pub mod history;
mod judged;
mod kept;
mod list;
pub(crate) mod machine;
mod moved;
pub mod noise;
mod overview;
mod paired;
mod probes_page;
mod published;
mod published_json;
mod published_of_cpu;
mod published_records;
mod published_rows;
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

pub use comparison::{comparison, gate_headline};
pub use curves_of_sides::curves_of_sides;
pub use explain::{Explained, explain, explained};
pub(crate) use explain::{bound_of, of_regime as sampling_of, probe_facts as explained_facts};
pub use fit::{fit, learned as fit_learned, reason as fit_reason, vector as fit_vector};
pub use gate::gate;
pub(crate) use header::{disturbances, facts_for_others, warning_blocks};
pub use history::history;
pub use judged::{judged_headline, judged_page};
pub use kept::{kept_run, kept_runs, percentiles, rebuilt, verified};
pub use list::{ProbeText, RowTitle, group, probe_list, probe_of};
pub(crate) use machine::machine_facts;
pub use machine::machine_page;
pub use moved::moved;
pub(crate) use overview::{cost as overview_cost, ratio as overview_ratio};
pub(crate) use paired::title as time_title;
pub use paired::{answer as paired_answer, paired_facts, paired_headline, paired_rows};
pub use probes_page::probes_page;
pub(crate) use published::published_on_page;
pub use published::{PublishedOptions, published};
pub use published_json::{PublishedFields, published_fields};
pub use published_of_cpu::published_of_cpu;
pub(crate) use published_of_cpu::{cost_in_unit, machines_of};
pub use published_records::records_of_machine;
pub use published_rows::published_of_sides;
pub(crate) use published_rows::table_of_rows;
pub use qos::oakley;
pub(crate) use table::short_title;
pub use table::{group_of, in_group};
pub(crate) use trace::trace_parts;
pub use trace::{
    TraceOptions, difference as trace_difference, row_tails, rows_without_tails, slow_spans,
    trace_page, why,
};

use compare::references::{Reference, References};
use model::chart::Section;
use model::run::Run;
use model::story::{
    Block, core_to_core, create_delete, levels, lifecycle, naive_loop, page_walk, pool, wakeup,
};

/// What to draw of a run, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Every row, also of a run of the overview, and every reason.
    pub all: bool,
    /// For a terminal of 80 columns or more: a run of whole groups on one and a half screens.
    pub brief: bool,
    /// Tables to set beside, in this order; none for the 2012 list.
    pub versus: Vec<Reference>,
    /// Every column and every point of a curve, however wide.
    pub wide: bool,
    /// A column that scales 1 ns to 1 s.
    pub human: bool,
    /// A column of operations per frame at 60 Hz.
    pub frames: bool,
    /// Commands compared in the order in which they were given, not by time.
    pub as_given: bool,
    /// What to type for this program, where that is not `latlas`.
    pub program: Option<String>,
    /// Where the run is kept, if it is.
    pub kept: Option<String>,
    /// What `--full` would add, if anything.
    pub full_adds: Option<String>,
    /// Pictures of what tables say, too: for pages.
    pub pictures: bool,
}

/// A run: the overview of one that is no more; a short page of one of whole
/// groups, or a brief one on a terminal; of rows that were asked for, or where all is: header, table, curves,
/// what follows from them, footer.
pub fn render_run(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    // The overview and the brief page have one column for a table or none, and none for these.
    let more_columns = options.human || options.frames || options.versus.len() > 1;
    if overview::is_overview(run) && !options.all && !options.wide && !more_columns {
        let screen = overview::overview(run, references, options);
        if !screen.is_empty() {
            return screen;
        }
    }
    if run.is_of_recording() && !options.all {
        return recorded::recording_page(run, references, options);
    }
    if run.plan.asked.is_empty() && run.commands.is_none() && !options.all && !options.wide {
        let is_brief = options.brief && !more_columns && options.versus.is_empty();
        if is_brief && run.rows.iter().any(|row| row.estimate().is_some()) {
            return brief::brief(run, options);
        }
        return short::short(run, references, options);
    }
    if let Some(record) = run.commands.as_ref().filter(|_| !options.all && !options.wide) {
        return commands::short(run, record, options);
    }
    let mut parts = vec![header::header(run)];
    if options.wide {
        parts.extend(run.commands.iter().map(|c| commands::how(run, c)));
        parts.push(wide::wide_rows(run, references, options));
        parts.extend(run.commands.iter().map(|c| commands::compared(c, options)));
    } else if let Some(record) = &run.commands {
        parts.extend(commands::commands(run, record, options));
    } else {
        parts.push(table::rows_table(run, references, options));
        parts.push(levels::story(run));
        parts.push(picture(run, levels::LATENCY));
        parts.extend(curves::curves(run));
    }
    let mut pairs = picture(run, core_to_core::PROBE);
    pairs.extend(core_to_core::story(run));
    parts.push(pairs);
    let stories = stories(run, references).into_iter();
    parts.extend(stories.map(|story| story.blocks));
    if run.commands.is_none() {
        parts.push(table_of_rows(run));
        parts.push(picture(run, crate::chart::PLACE));
    }
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
pub fn joined(parts: Vec<Vec<Block>>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        blocks.push(Block::empty_line());
        blocks.extend(part);
    }
    blocks
}
