//! A row over all machines, and on each of them over time.

use super::place::{link, painted, row_path};
use super::{PageResult, page_of_pictures};
use crate::params::{Ask, RowParams};
use crate::problem::Problem;
use crate::queries::{self, RowOverMachines};
use compare::history::History;
use maud::html;
use model::run::Axis;
use model::story::Block;
use model::summary::Key;
use store::index::MachineStanding;
use view::chart::{Chart, history::chart, standing};
use view::render::{history::history_table, probe_of, stored};

const MACHINES: usize = 20;

pub(crate) async fn row(ask: Ask<RowParams>) -> PageResult {
    let key = Key { id: ask.params.row.clone(), at: ask.params.at.0.clone(), mode: None };
    let probes = &ask.app.options().probes;
    let axes = probe_of(probes, &key.id).map_or(Vec::new(), |probe| probe.axes.clone());
    let name = match key.at.is_empty() {
        true => key.label(),
        false => format!("{} at {}", key.id, place_text(&axes, &key.at)),
    };
    let title_of_chart = format!("{name} over time");
    let content = ask.query(move |index, app, params| {
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
        let over_time: Vec<Block> = histories.flat_map(|history| over_time(&title_of_chart, history)).collect();
        Ok(html! {
            @if let Some(title) = title { p.lead { (title) } }
            @if let Some(all) = &over_machines { (painted(&among_machines(all))) }
            (painted(&over_time))
            @if not_shown > 0 {
                p.dim { (not_shown) " more machines of the table above are not shown here." }
            }
            @if !points.is_empty() {
                h2 { "Points" }
                ul.points { @for at in &points { li { (link(row_path(row, at), place_text(&axes, at))) } } }
            }
        })
    });
    let content = content.await?;
    Ok(page_of_pictures(&name, "/rows", &content))
}

/// A point by its places on the row's axes: `64KiB x 8`; by their numbers where the row is not in the catalogue.
fn place_text(axes: &[Axis], at: &[u64]) -> String {
    let place = |(number, x): (usize, &u64)| match axes.get(number) {
        Some(axis) => axis.value_text(*x),
        None => x.to_string(),
    };
    at.iter().enumerate().map(place).collect::<Vec<String>>().join(" x ")
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
fn over_time(title: &str, (place, history): (usize, &History)) -> Vec<Block> {
    let machine = &history.machine;
    let drawn = history.runs.iter().filter(|entry| entry.figure.is_some());
    let chart = chart(history);
    let conclusion = match drawn.count() {
        0 | 1 => Block::text(chart.caption),
        _ => Block::chart(Chart {
            id: format!("{}-{place}", chart.id),
            title: title.to_owned(),
            ..chart
        }),
    };
    vec![
        Block::Heading(format!("On {}", machine.display_name())),
        Block::text(machine.line.as_str()),
        conclusion,
        Block::Table(history_table(history, false, "")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_sizes_and_the_rest_as_numbers() {
        let map = [Axis::WorkingSetBytes, Axis::Threads];
        assert_eq!(place_text(&map, &[65536, 8]), "64KiB x 8");
        assert_eq!(place_text(&[], &[65536, 8]), "65536 x 8");
    }
}
