//! One probe in full, with every published figure and how it was measured.

use super::curves::axis_text;
use super::figures::published;
use super::list::{ProbeText, since_text};
use super::published_of_cpu::{CpuForPrograms, cpu_for_programs};
use compare::references::{Reference, ReferenceRow, References};
use model::run::{Bound, Regime};
use model::story::Block;
use model::unit::Unit;
use references::DamagedRecords;
use references::comparison::PublishedOfCpu;
use serde::Serialize;

/// The page about a row, for programs.
#[derive(Serialize, Debug)]
pub struct Explained<'a> {
    /// The row as it was named.
    asked: &'a str,
    /// What the catalogue says of its probe.
    #[serde(flatten)]
    probe: &'a ProbeText,
    /// How its samples are taken, in words.
    sampling: String,
    /// Every published figure of it.
    published: Vec<PublishedIn<'a>>,
    /// Those of this CPU and of many machines; absent where the records are damaged.
    this_cpu: Option<CpuForPrograms>,
}

#[derive(Serialize, Debug)]
struct PublishedIn<'a> {
    key: &'a str,
    title: &'a str,
    source: &'a str,
    method: Option<&'a str>,
    rows: Vec<&'a ReferenceRow>,
}

/// What [`explain`] says, for programs.
pub fn explained<'a>(
    probe: &'a ProbeText,
    asked: &'a str,
    references: &'a References,
    of_cpu: &Result<PublishedOfCpu, DamagedRecords>,
) -> Explained<'a> {
    let published = concerning(asked, references).into_iter().map(|(table, rows)| PublishedIn {
        key: &table.key,
        title: &table.title,
        source: &table.source,
        method: table.method.as_deref(),
        rows,
    });
    let this_cpu = of_cpu.as_ref().ok().map(cpu_for_programs);
    Explained { asked, probe, sampling: sampling(probe), published: published.collect(), this_cpu }
}

/// The page about a row: `asked` is the row as it was named, which may be the
/// probe or one of its rows.
pub fn explain(probe: &ProbeText, asked: &str, references: &References) -> Vec<Block> {
    let heading = Block::text(format!("{}: {}", asked, probe.title));
    let mut blocks = vec![heading, Block::empty_line()];
    let facts = probe_facts(probe).into_iter();
    blocks.extend(facts.map(|(label, text)| Block::fact(label, text)));
    blocks.push(Block::empty_line());
    let published = concerning(asked, references);
    blocks.push(Block::text(match published.is_empty() {
        true => "In no published table.",
        false => "Published figures",
    }));
    for (table, rows) in published {
        blocks.extend(of_table(table, &rows, asked));
    }
    blocks
}

/// What the catalogue says of a probe: label and text.
pub(crate) fn probe_facts(probe: &ProbeText) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut fact = |label, text: String| facts.push((label, text));
    fact("operation", probe.operation.clone());
    fact("measured", probe.method.clone());
    fact("sampling", sampling(probe));
    fact("unit", unit(&probe.unit));
    fact("bound by", bound_of(probe.bound).into());
    if !probe.axes.is_empty() {
        let axes: Vec<&str> = probe.axes.iter().map(|&axis| axis_text(axis)).collect();
        fact("points over", axes.join(" and "));
    }
    fact("runs", since_text(probe.since).into());
    if probe.levels {
        fact(
            "levels",
            format!("plateaus of its curve are rows too: {}/L1, /L2 and so on", probe.id),
        );
    }
    if !probe.points.is_empty() {
        fact(
            "points",
            format!(
                "points of its curve that were published are rows too: {}",
                probe.points.join(", ")
            ),
        );
    }
    if probe.rows.len() > 1 {
        fact("rows", probe.rows.join(", "));
    }
    fact("source", probe.source.clone());
    facts
}

/// How a probe is sampled, along its whole curve.
pub(super) fn sampling(probe: &ProbeText) -> String {
    let text = of_regime(probe.regime);
    match (probe.long_from, probe.axes.last()) {
        (Some(from), Some(&axis)) => {
            format!(
                "{text}. From {} on: {}",
                axis.value_text(from),
                of_regime(Regime::Distribution)
            )
        }
        _ => text.into(),
    }
}

/// A way of sampling in words.
pub(crate) fn of_regime(regime: Regime) -> &'static str {
    match regime {
        Regime::Gated => {
            "short samples; the undisturbed ones give the quiet figure, all of them the typical one"
        }
        Regime::Distribution => {
            "every sample counts: the operation is too long, or on too many CPUs, to ask whether \
             the machine was quiet"
        }
        Regime::Stamped => {
            "operations between two stamps of each thread, wherever these ran: the median, \
             and 10 % to 90 % of them. The tail, where each stamped time is a single operation: \
             99 % and 99.9 % where at least ten operations lie above, and the maximum, which \
             depends on the number of operations and the time over which they were seen. A \
             second stamp that came before the first is a negative time, and stays one; where \
             there are such, a figure below 5 µs is noisy from ±250 ns on, not from ±5 %. Where \
             operations run in several modes, such as the same CPU and another one, each with \
             its share and figure; two states if two modes have a sixth of the operations each \
             and lie 20 % apart. Where the kernel's own counts contradict the method in most \
             batches, the row is invalid"
        }
    }
}

fn unit(unit: &Unit) -> String {
    match unit {
        Unit::Time => "ns an operation".into(),
        Unit::Bandwidth { bytes_per_op } => {
            format!("GB/s (1e9 bytes a second); one operation touches {bytes_per_op} bytes")
        }
        Unit::Frequency => "GHz: operations of one cycle each".into(),
        Unit::Count => "a plain number".into(),
        Unit::Bytes => "bytes, by powers of 1024".into(),
    }
}

/// What a figure follows, in words.
pub(crate) fn bound_of(bound: Bound) -> &'static str {
    match bound {
        Bound::Core => {
            "the core clock: measured in cycles, shown in ns at the median frequency; the interval in ns includes its movement between runs (working sets beyond L2, on Zen beyond half of L3: measured in ns)"
        }
        Bound::Memory => "memory or the kernel: measured in ns",
    }
}

/// Published figures of the row, and of all rows below it where a probe was
/// asked for: a curve's levels are rows too.
fn concerning<'r>(
    asked: &str,
    references: &'r References,
) -> Vec<(&'r Reference, Vec<&'r ReferenceRow>)> {
    let below = format!("{asked}/");
    let concerns = |id: &str| id == asked || id.starts_with(&below);
    let of_table = |table: &'r Reference| {
        let rows = table.rows.iter();
        let rows: Vec<&ReferenceRow> = rows
            .filter(|row| concerns(&row.id) || row.like.as_deref().is_some_and(concerns))
            .collect();
        (!rows.is_empty()).then_some((table, rows))
    };
    references.tables.iter().filter_map(of_table).collect()
}

fn of_table(table: &Reference, rows: &[&ReferenceRow], asked: &str) -> Vec<Block> {
    let mut blocks = vec![Block::note(format!("{} ({})", table.title, table.key))];
    let mut say = |label: &str, text: String| blocks.push(Block::labelled(label, text));
    for row in rows {
        let mut text = published(row);
        if row.id != asked {
            text.push_str(&format!("  {}", row.id));
        }
        if let Some(name) = &row.name {
            text.push_str(&format!("  \"{name}\""));
        }
        say("    ", text);
        let like = row.like.as_ref().map(|like| match row.id == asked {
            true => format!("{like} does the same job through other code"),
            false => format!("the same job as {like} through other code: no ratio"),
        });
        let doubtful = row.doubtful.as_ref();
        let article_ns = row.article_ns.filter(|&ns| Some(ns) != row.ns);
        let operations = row.iterations.zip(row.total_s);
        let remarks = [
            like,
            doubtful.map(|why| format!("DOUBTFUL, no ratio: {why}")),
            article_ns.map(|ns| format!("printed as {ns} ns in the iPhone article")),
            row.ns_per_element.map(|ns| format!("{ns} ns per element")),
            operations.map(|(n, s)| format!("{n} operations in {s} s")),
            row.reason.as_ref().map(|why| format!("one machine alone can't measure it: {why}")),
            row.note.clone(),
        ];
        for remark in remarks.into_iter().flatten() {
            say("      ", remark);
        }
    }
    let method = table.method.as_deref().unwrap_or("method not given");
    say("    measured: ", method.to_owned());
    say("    source: ", table.source.clone());
    blocks
}
