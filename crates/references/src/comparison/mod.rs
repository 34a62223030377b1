//! A run's figures and published ones, row by row.
//!
//! A *ratio* is given where the rule of a figure is *same* or *factor*, with the interval that both figures' own
//! intervals span; they agree where it holds 1. A figure in cycles is compared with cycles, whatever the clocks were;
//! one in ns only where the row does not follow the core's clock. A *place* is the share of a population that is slower,
//! with the 95 % interval of a share (Clopper and Pearson, 1934) about both ends of the run's own interval. Where the
//! rule is *near*, there is a place only; where it is *not*, nothing. A place is taken after what the population's own
//! program measures beside our row ([`calibration`]), whose spread is in its interval.

mod calibration;
mod figure;
mod of_records;
mod place;
mod population;

pub use figure::{Agreement, PublishedFigure, PublishedRatio, PublishedUnit, RowName};
pub use of_records::published_figures;
pub use place::{PlaceQuartile, PlaceStrip, PopulationPlace};
pub use population::{PopulationName, PublishedPopulation, published_populations};

use crate::machine::{MachineIdentity, find_records};
use crate::packed::DamagedRecords;
use crate::record::{ComparisonRule, HybridCore};
use figure::OwnFigure;
use model::machine::Machine;
use model::run::{Outcome, Run};
use model::size;
use std::cmp::Reverse;

/// What is published of a machine's CPU, and of all machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedOfCpu {
    /// Figures of this CPU, or of CPUs like it.
    pub figures: Vec<PublishedFigure>,
    /// Populations.
    pub populations: Vec<PublishedPopulation>,
}

impl PublishedOfCpu {
    /// What concerns this machine.
    pub fn of_machine(
        machine: &Machine,
        core: HybridCore,
    ) -> Result<PublishedOfCpu, DamagedRecords> {
        let records = find_records(&MachineIdentity::shown_by(machine))?;
        let figures = published_figures(&records, core);
        Ok(PublishedOfCpu { figures, populations: published_populations()? })
    }

    /// What concerns a row, its levels and points; of several figures of one the surest.
    pub fn within(mut self, asked: &str) -> PublishedOfCpu {
        self.figures.retain(|figure| figure.row.is_within(asked));
        self.figures.sort_by_key(|figure| figure.certainty);
        let mut rows: Vec<RowName> = Vec::new();
        self.figures.retain(|figure| {
            let first = !rows.contains(&figure.row);
            rows.push(figure.row.clone());
            first
        });
        self.populations.retain(|population| population.row.is_within(asked));
        self
    }
}

/// What is published of a run's rows, by what its machine shows. Nothing of a run that another program measured, or
/// whose machine was emulated: its figures are the emulator's.
pub fn published_of_run(run: &Run) -> Result<Vec<RowAgainstPublished>, DamagedRecords> {
    let of_cpu = published_of_machine_of(run)?;
    Ok(published_rows(run, &of_cpu.figures, &of_cpu.populations))
}

fn published_of_machine_of(run: &Run) -> Result<PublishedOfCpu, DamagedRecords> {
    let emulated = run.machine.emulated.get().is_some_and(|by| by.present_name().is_some());
    let of_others = run.imported.is_some() || !run.is_of_rows();
    match emulated || of_others || run.program.emulated.is_some() {
        true => Ok(PublishedOfCpu::default()),
        false => PublishedOfCpu::of_machine(&run.machine, run_core(run)),
    }
}

/// The kind of core that a run was on, of a hybrid processor.
pub(crate) fn run_core(run: &Run) -> HybridCore {
    let efficiency =
        run.plan.core_kind.as_deref().is_some_and(|kind| kind.starts_with("efficiency"));
    if efficiency { HybridCore::Efficiency } else { HybridCore::Performance }
}

/// What is published of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowAgainstPublished {
    /// The row, level or point.
    pub row: String,
    /// Against the surest figure of this CPU or its like.
    pub ratio: Option<PublishedRatio>,
    /// Among machines, one place a population: of the same operation first, and then of the most machines.
    pub places: Vec<PopulationPlace>,
}

/// The rows of a run that something is published of, in the order of the figures, then of the populations.
pub fn published_rows(
    run: &Run,
    figures: &[PublishedFigure],
    populations: &[PublishedPopulation],
) -> Vec<RowAgainstPublished> {
    let names = figures.iter().map(|figure| &figure.row);
    let names = names.chain(populations.iter().map(|population| &population.row));
    let mut rows: Vec<RowAgainstPublished> = Vec::new();
    for row in names.filter_map(|name| id_in_run(run, name)) {
        if !rows.iter().any(|known| known.row == row) {
            rows.extend(published_row(run, row, figures, populations));
        }
    }
    rows
}

fn published_row(
    run: &Run,
    row: String,
    figures: &[PublishedFigure],
    populations: &[PublishedPopulation],
) -> Option<RowAgainstPublished> {
    let measured = OwnFigure::in_run(run, &row)?;
    let is_of_row = |name: &RowName| id_in_run(run, name).as_ref() == Some(&row);
    let figures = figures.iter().filter(|figure| is_of_row(&figure.row));
    let ratios = figures.filter_map(|figure| figure.ratio_of(&measured));
    let ratio = ratios.min_by_key(|ratio| ratio.published.certainty);
    let populations = populations.iter().filter(|population| is_of_row(&population.row));
    let mut places: Vec<_> =
        populations.filter_map(|population| population.place_of(&measured)).collect();
    let by_other_means = |place: &PopulationPlace| place.rule == ComparisonRule::Near;
    places.sort_by_key(|place| (by_other_means(place), Reverse(place.machines)));
    (ratio.is_some() || !places.is_empty()).then_some(RowAgainstPublished { row, ratio, places })
}

/// The rows of a run that have a place among machines, with the quartiles of these.
pub fn place_strips(run: &Run) -> Result<Vec<PlaceStrip>, DamagedRecords> {
    let PublishedOfCpu { figures, populations } = published_of_machine_of(run)?;
    let rows = published_rows(run, &figures, &populations);
    let cpus = run.machine.online_cpus.get().and_then(|cpus| u32::try_from(cpus.len()).ok());
    let strip = |RowAgainstPublished { row, places, .. }: RowAgainstPublished| {
        let place = places.into_iter().next()?;
        let is_of_place = |one: &&PublishedPopulation| {
            one.name == place.population && id_in_run(run, &one.row).as_ref() == Some(&row)
        };
        let quartiles = populations.iter().find(is_of_place).and_then(|one| one.quartiles(cpus));
        Some(PlaceStrip { row, place, quartiles })
    };
    Ok(rows.into_iter().filter_map(strip).collect())
}

/// What a run calls the row; none where it has no such curve.
fn id_in_run(run: &Run, name: &RowName) -> Option<String> {
    match name {
        RowName::Row(id) => Some(id.clone()),
        RowName::LargestOf(curve) => match &run.row(curve)?.outcome {
            Outcome::Curve { points, .. } => {
                let largest = points.last()?.x;
                Some(format!("{curve}/{}", size::format_size(largest)))
            }
            _ => None,
        },
    }
}
