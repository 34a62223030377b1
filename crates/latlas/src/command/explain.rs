//! `latlas explain`: a row's operation, method and published values; the rows of a group, or those that a word means or
//! that contain it; the meaning of a term.

use crate::arguments::Color;
use crate::{catalogue, glossary, output, selection};
use compare::references::References;
use meter::probe::Probe;
use model::story::Block;
use references::comparison::PublishedOfCpu;
use references::record::HybridCore;
use std::path::Path;
use std::process::ExitCode;
use view::render::{ProbeText, RowTitle};

/// What a name stands for.
enum Meant<'a> {
    /// A row, of this probe.
    Row(&'a ProbeText, String),
    /// Some rows, or none of a term.
    Rows(Vec<RowTitle<'a>>),
}

pub(crate) fn explain(catalogue: &[Probe], name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let probes = catalogue::texts(catalogue);
    let term = glossary::meaning(name);
    let meant = match (meant(&probes, name), &term) {
        (Err(_), Some(_)) => Meant::Rows(Vec::new()),
        (meant, _) => meant?,
    };
    let of_term = term.iter().flat_map(|text| [Block::text(text.clone()), Block::empty_line()]);
    match meant {
        Meant::Row(probe, row) => {
            let references = References::embedded()?;
            let machine = sys::machine_facts(Path::new("/"));
            let of_cpu = PublishedOfCpu::of_machine(&machine, HybridCore::Performance);
            let of_cpu = of_cpu.map(|all| all.within(&row));
            let explained = view::render::explained(probe, &row, &references, &of_cpu);
            output::show_json_or(json, &explained, Color::Never, || {
                let page = view::render::explain(probe, &row, &references);
                of_term.chain(page).chain(view::render::published_of_cpu(&of_cpu)).collect()
            })?;
        }
        Meant::Rows(rows) => {
            let listed = serde_json::json!({ "name": name, "term": term, "rows": rows });
            output::show_json_or(json, &listed, Color::Never, || match rows.is_empty() {
                true => of_term.take(1).collect(),
                false => of_term.chain(view::render::group(name, &rows)).collect(),
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn meant<'a>(probes: &'a [ProbeText], name: &str) -> anyhow::Result<Meant<'a>> {
    if let Some(rows) = selection::group(probes, name) {
        return Ok(Meant::Rows(rows));
    }
    let unknown = match selection::probe_named(probes, selection::operation(name)) {
        Ok(probe) => return Ok(Meant::Row(probe, selection::operation(name).to_owned())),
        Err(unknown) => unknown,
    };
    let mut rows = selection::meant_by(probes, name);
    if rows.is_empty() {
        rows = selection::containing(probes, name);
    }
    let Some(first) = rows.first() else {
        return Err(unknown);
    };
    let probe = selection::probe_named(probes, &first.row)?;
    match rows.iter().all(|row| row.row == first.row || probe.rows.contains(&row.row)) {
        true => Ok(Meant::Row(probe, first.row.clone())),
        false => Ok(Meant::Rows(rows)),
    }
}
