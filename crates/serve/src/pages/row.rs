//! A row over all machines, and on each of them over time.

use super::place::{link, painted, point, row_path};
use super::{Page, page_of_pictures};
use crate::params::{Ask, RowParams};
use crate::problem::Problem;
use crate::queries::{self, RowOverMachines};
use compare::history::History;
use maud::html;
use model::story::Block;
use model::summary::Key;
use store::index::MachineStanding;
use view::chart::{Chart, history::chart, standing};
use view::render::{history::list, probe_of, stored};

const MACHINES: usize = 20;

pub(crate) async fn row(ask: Ask<RowParams>) -> Page {
    let key = Key { id: ask.params.row.clone(), at: ask.params.at.0.clone(), mode: None };
    let content = ask.query(|index, app, params| {
        let (row, at) = (&params.row, &params.at.0);
        let points = if at.is_empty() { queries::points(index, row)? } else { Vec::new() };
        let over_machines = match queries::over_machines(index, row, at) {
            Ok(over_machines) => Some(over_machines),
            Err(Problem::NoRow) if !points.is_empty() => None,
            Err(problem) => return Err(problem),
        };
        let machines = match &over_machines {
            Some(all) => all.counted_first(),
            None => index.machines()?,
        };
        let mut histories = Vec::new();
        for machine in machines {
            if histories.len() == MACHINES {
                break;
            }
            let history = queries::history(index, machine, row, at)?;
            histories.extend(history.map(|(_, history)| history));
        }
        let counted = over_machines.iter().map(|all| all.standing.machines.len());
        let not_shown = counted.sum::<usize>().saturating_sub(MACHINES);
        let title = probe_of(&app.options().probes, row).map(|probe| &probe.title);
        let histories = histories.iter().enumerate();
        let over_time: Vec<Block> = histories.flat_map(over_time).collect();
        Ok(html! {
            @if let Some(title) = title { p.lead { (title) } }
            @if let Some(all) = &over_machines { (painted(&among_machines(all))) }
            (painted(&over_time))
            @if not_shown > 0 {
                p.dim { (not_shown) " more machines of the table above are not shown here." }
            }
            @if !points.is_empty() {
                h2 { "Points" }
                ul.points { @for at in &points { li { (link(row_path(row, at), point(at))) } } }
            }
        })
    });
    let content = content.await?;
    Ok(page_of_pictures(&key.name(), "/rows", &content))
}

fn among_machines(all: &RowOverMachines) -> Vec<Block> {
    let mode = all.standing.mode.iter().map(|mode| format!(", {mode}"));
    let heading = format!("All machines{}", mode.collect::<String>());
    let mut blocks = vec![Block::Heading(heading)];
    let name = |machine: &MachineStanding| {
        let (host, _) = all.name_of(&machine.machine);
        host.unwrap_or(&machine.machine.0).to_owned()
    };
    blocks.extend(standing(&all.standing, &all.unit, name).map(Block::chart));
    let table = stored::standing(&all.standing, &all.unit, &all.machines);
    blocks.extend(table);
    blocks
}

/// The picture of a history, what can be said of its level, and its runs.
fn over_time((place, history): (usize, &History)) -> Vec<Block> {
    let machine = &history.machine;
    let drawn = history.runs.iter().filter(|entry| entry.figure.is_some());
    let chart = chart(history);
    let conclusion = match drawn.count() {
        0 | 1 => Block::text(chart.caption),
        _ => Block::chart(Chart { id: format!("{}-{place}", chart.id), ..chart }),
    };
    vec![
        Block::Heading(format!("On {}", machine.name())),
        Block::text(machine.line.as_str()),
        conclusion,
        Block::Table(list(history, false, "")),
    ]
}
