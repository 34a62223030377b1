//! Figures of stored runs: of one, and of machines among all.

use crate::grouped::grouped;
use crate::render::figures::counted;
use crate::render::table::{group_of, in_group};
use model::figure;
use model::share::percent;
use model::story::{Block, Cell, Link, Table, Tone, left, right};
use model::summary::{KeptResult, KeptRun, Key, MachineKey, MachineSummary};
use model::unit::Unit;
use std::collections::HashMap;
use store::index::{MachineStanding, Percentile, RowStanding};

/// Characters of the bars of a distribution.
const BAR: usize = 20;

/// Figures of a run, a table for each group. Rows of another program lead
/// nowhere.
pub fn results(run: &KeptRun, results: &[KeptResult]) -> Vec<Block> {
    let groups = grouped(results.iter().map(|r| (group_of(&r.row), r)));
    let tables = groups.into_iter().map(|(group, results)| {
        let mut table =
            Table::new([left(group), right("value ±95 %"), right("cycles"), left("verdict")]);
        for result in results {
            let name = row_cell(in_group(&result.row), &result.row, &result.at, &None);
            let verdict = match result.verdict {
                Some(verdict) => Cell::from(verdict.text()).toned(verdict),
                None => Cell::from("not measured").toned(Tone::Dim),
            };
            table.row([
                if run.imported { Cell { link: None, ..name } } else { name },
                figure_cell(result),
                cycles(result).into(),
                verdict,
            ]);
            if !result.reason.is_empty() {
                table.note("└ ", result.reason.as_str());
            }
        }
        table
    });
    vec![Block::Tables(tables.collect())]
}

/// A figure in its unit, and half of its 95 % interval.
fn figure_cell(result: &KeptResult) -> Cell {
    match (result.below_ns, result.value_ns) {
        (Some(bound), _) if result.unit == Unit::Time => {
            format!("< {}", figure::time(bound)).into()
        }
        (Some(_), _) => "below resolution".into(),
        (None, None) => "-".into(),
        (None, Some(interval)) => {
            Cell::digits(figure::figure_in_unit(&interval, &result.unit).number_and_half())
        }
    }
}

fn cycles(result: &KeptResult) -> String {
    let cycles = result.cycles.filter(|_| result.below_ns.is_none());
    cycles.map_or(String::new(), |cycles| figure::figure_in_unit(&cycles, &Unit::Count).text())
}

/// Where a machine stands among all, a line for each row; points of curves and
/// maps where they are asked for.
pub fn percentiles(all: &[Percentile], points: bool) -> Table {
    let mut table = Table::new([
        left("row"),
        right("latest"),
        right("slower machines"),
        right("figures"),
        right("machines"),
    ]);
    for p in all.iter().filter(|p| points || p.at.is_empty()) {
        table.row([
            row_cell(&p.row, &p.row, &p.at, &p.mode),
            value(p.value_ns, &p.unit).into(),
            percent(p.percentile / 100.0).into(),
            p.results.to_string().into(),
            p.machines.to_string().into(),
        ]);
    }
    table
}

/// A row over all machines: each one's latest figure, the fastest first, and
/// quantiles of them.
pub fn standing(standing: &RowStanding, unit: &Unit, machines: &[MachineSummary]) -> Vec<Block> {
    let count = standing.machines.len();
    if count == 0 {
        return vec![Block::text("No stored run has a figure of it that is ok.")];
    }
    if let [only] = &standing.machines[..] {
        let known = machines.iter().find(|machine| machine.key == only.machine);
        let name = known.map_or(only.machine.0.as_str(), |known| known.display_name());
        let latest = value(only.value_ns, unit);
        return vec![Block::text(format!("1 machine: no percentiles. {name}: latest {latest}."))];
    }
    let machines: HashMap<&MachineKey, &MachineSummary> =
        machines.iter().map(|m| (&m.key, m)).collect();
    let slowest = standing.machines.last().map_or(1.0, |m| m.value_ns);
    let mut table = Table::new([
        left("host"),
        right("latest"),
        left(""),
        right("slower machines"),
        right("figures"),
    ]);
    for MachineStanding { machine, value_ns: latest, percentile, results } in &standing.machines {
        let known = machines.get(machine);
        let name = known.map_or(machine.0.as_str(), |known| known.display_name());
        // The length is the time, also where the figure is a rate.
        table.row([
            Cell::from(name).to(Link::Machine(machine.0.clone())),
            value(*latest, unit).into(),
            Cell::bar(0.0, latest / slowest, BAR),
            percent(percentile / 100.0).into(),
            results.to_string().into(),
        ]);
    }
    // Quantiles of times: of a rate the first is the highest.
    let title = |percent: u32| match percent {
        0 => "fastest".into(),
        50 => "median".into(),
        100 => "slowest".into(),
        percent => format!("{percent} %"),
    };
    let shown = &standing.quantiles;
    let titles = shown.iter().map(|q| right(title(q.percent)));
    let mut quantiles = Table::new(std::iter::once(left("faster machines")).chain(titles));
    let values = shown.iter().map(|q| value(q.value_ns, unit).into());
    quantiles.row(std::iter::once("latest".into()).chain(values));
    let over = format!(
        "Over {}, each by its latest figure that is ok; the fastest first.",
        counted(count, "machine")
    );
    vec![Block::text(over), Block::Tables(vec![table, quantiles])]
}

/// A value without interval, in a row's unit.
fn value(ns: f64, unit: &Unit) -> String {
    figure::value_text(unit, unit.of_ns(ns))
}

/// A row or a point of it, under the name that it has in its table.
fn row_cell(name: &str, id: &str, at: &[u64], mode: &Option<String>) -> Cell {
    let key = Key { id: name.to_owned(), at: at.to_vec(), mode: mode.clone() };
    Cell::from(key.label()).to(Link::Row { id: id.to_owned(), at: at.to_vec() })
}
