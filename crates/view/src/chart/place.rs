//! Where this machine stands: a strip a row, from the slowest of many machines to the fastest.

use super::figure::linear;
use super::maker::Maker;
use super::source::{ChartSource, Drawn, Picture};
use super::{Body, Chart, Dot, Dots, Other, Quantity, Section};
use crate::grouped::grouped;
use crate::render::{cost_in_unit, machines_of};
use model::overview::operation_words;
use model::phrases::several;
use model::run::Run;
use model::tally::tally;
use references::comparison::{PlaceQuartile, PlaceStrip, place_strips};

/// Its id.
pub(crate) const PLACE: &str = "place";
pub(super) const PICTURES: &[Maker] = &[Maker::Own(PLACE, draw_place)];
/// Rows of a population that a note names.
const NAMED: usize = 4;
/// Where the quartiles are, from the slow one on, percent.
const QUARTILES: [f64; 3] = [25.0, 50.0, 75.0];

/// Rows that a population was published of; the others are counted.
fn draw_place(source: &ChartSource) -> Drawn {
    let run = source.run;
    let strips = place_strips(run).map_err(|damaged| damaged.to_string())?;
    if strips.is_empty() {
        return Err("no figures of many machines are published for its rows".into());
    }
    let value = linear("machines that are slower", Quantity::Percent);
    let rows = strips.iter().map(|strip| dot_of_strip(run, strip)).collect();
    let chart = Chart {
        id: PLACE.into(),
        title: "Where this machine stands".into(),
        caption: "A line for each row, from the slowest machine at the left to the fastest at the right, with the \
            95 % interval of this machine's place. The pale bar is the middle half; below it, machines at its ends \
            and at the median, with as many CPUs where there are such. Places and costs are after what the program \
            of these machines measures beside the row (`latlas help references`)."
            .into(),
        section: Section::Ladder,
        body: Body::Dots(Dots { value, rows, labelled: true }),
        notes: notes(run, &strips),
    };
    Ok(Picture { chart, rows: strips.into_iter().map(|strip| strip.row).collect() })
}

fn dot_of_strip(run: &Run, strip: &PlaceStrip) -> Dot {
    let percent = |share: f64| Some(100.0 * share);
    let slower = &strip.place.slower;
    let quartiles = strip.quartiles.iter().flatten().zip(QUARTILES);
    Dot {
        id: name_of_row(&strip.row).to_owned(),
        value: percent(slower.value),
        low: percent(slower.low),
        high: percent(slower.high),
        verdict: run.row(&strip.row).and_then(|row| Some(row.estimate()?.verdict)),
        reason: String::new(),
        others: quartiles
            .map(|(quartile, value)| Other { name: quartile_text(quartile), value })
            .collect(),
        finding: None,
    }
}

/// Plain words where the operation has some.
fn name_of_row(row: &str) -> &str {
    operation_words(row).unwrap_or(row)
}

/// `117 ns m7i.large`, or the cost alone.
fn quartile_text(quartile: &PlaceQuartile) -> String {
    let cost = cost_in_unit(quartile.unit, quartile.cost);
    match quartile.machine {
        Some(machine) => format!("{cost} {machine}"),
        None => cost,
    }
}

/// Which machines, and for how many rows there are none.
fn notes(run: &Run, strips: &[PlaceStrip]) -> Vec<String> {
    let populations =
        strips.iter().map(|strip| (machines_of(&strip.place), name_of_row(&strip.row)));
    let groups = grouped(populations).into_iter();
    let mut notes: Vec<String> =
        groups.map(|(machines, rows)| format!("{}: {machines}.", several(&rows, NAMED))).collect();
    let of_rows = strips.iter().filter(|strip| run.row(&strip.row).is_some()).count();
    let without = (tally(run).rows.total() as usize).saturating_sub(of_rows);
    notes.push(format!(
        "{without} other rows have no place: no figures of many machines are published, or none is usable here."
    ));
    notes
}
