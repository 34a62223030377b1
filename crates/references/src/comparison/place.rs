//! Where a figure stands among those of many machines.

use super::calibration::ours_over_theirs;
use super::figure::{OwnFigure, PublishedUnit};
use super::population::{PopulationCosts, PopulationName, PublishedPopulation};
use crate::record::ComparisonRule;
use model::stats::{Interval, share_interval};

/// Fewer machines are no population.
const LEAST_MACHINES: u64 = 30;

/// A place among machines.
#[derive(Clone, Debug, PartialEq)]
pub struct PopulationPlace {
    /// Share of the machines that are slower than this one, 0 to 1; its interval has that of the population's share and
    /// that of this machine's figure.
    pub slower: Interval,
    /// Machines in all.
    pub machines: u64,
    /// Which.
    pub population: PopulationName,
    /// Whether they measured the same operation.
    pub rule: ComparisonRule,
}

/// A row's place, to be drawn over its population.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceStrip {
    /// The row, level or point.
    pub row: String,
    /// Its first place.
    pub place: PopulationPlace,
    /// What a quarter, half and three quarters of the machines are slower than.
    pub quartiles: Option<[PlaceQuartile; 3]>,
}

/// A quartile of a population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaceQuartile {
    /// Its cost, after calibration.
    pub cost: f64,
    /// Of the cost.
    pub unit: PublishedUnit,
    /// A machine near it, where machines have names: one of as many CPUs as the run's, if there is one.
    pub machine: Option<&'static str>,
}

impl PublishedPopulation {
    /// Machines.
    pub fn machines(&self) -> u64 {
        match &self.costs {
            PopulationCosts::Each(costs) => costs.len() as u64,
            PopulationCosts::Percentiles(_, samples) => *samples,
        }
    }

    /// The place of a run's figure; none among too few machines.
    pub(super) fn place_of(&self, measured: &OwnFigure) -> Option<PopulationPlace> {
        let machines = self.machines();
        let own = measured.in_unit(self.unit).filter(|_| machines >= LEAST_MACHINES)?;
        let [least_offset, most_offset] = ours_over_theirs(&self.name, &self.row);
        let (fewest, _) = self.slower_than(own.high / least_offset);
        let (_, most) = self.slower_than(own.low / most_offset);
        let (least, upmost) = self.slower_than(own.value / self.offset());
        let slower = Interval {
            value: (least + upmost) as f64 / 2.0 / machines as f64,
            low: share_interval(fewest, machines)?.low,
            high: share_interval(most, machines)?.high,
        };
        let population = self.name.clone();
        Some(PopulationPlace { slower, machines, population, rule: self.rule })
    }

    /// Our time over its program's.
    fn offset(&self) -> f64 {
        let [least, most] = ours_over_theirs(&self.name, &self.row);
        (least * most).sqrt()
    }

    /// The slow one, the median, the fast one, each at the cost that our row would show.
    pub(super) fn quartiles(&self, cpus: Option<u32>) -> Option<[PlaceQuartile; 3]> {
        let costs = self.costs_at([0.75, 0.5, 0.25])?;
        Some(costs.map(|cost| {
            let machine = self.member_near(cost, cpus).map(|member| member.name);
            PlaceQuartile { cost: cost * self.offset(), unit: self.unit, machine }
        }))
    }

    /// At least and at most as many machines take longer than this: figures are rounded, and of some populations only
    /// each hundredth is known.
    fn slower_than(&self, cost: f64) -> (u64, u64) {
        match &self.costs {
            PopulationCosts::Each(all) => {
                let longer = all.len() - all.partition_point(|other| other.cost <= cost);
                let as_long = all.len() - all.partition_point(|other| other.cost < cost);
                (longer as u64, as_long as u64)
            }
            PopulationCosts::Percentiles(costs, samples) => {
                let longer = costs.iter().filter(|&&other| other > cost).count() as u64;
                let hundredths = costs.len() as u64;
                let of = |count: u64| samples * count.min(hundredths) / hundredths;
                (of(longer.saturating_sub(1)), of(longer + 1))
            }
        }
    }
}
