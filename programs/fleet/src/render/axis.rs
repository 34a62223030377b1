//! The one axis of all strips of a fleet: how far a host is from the median, in percent of it.

use crate::figures::{Fleet, FleetRow};
use model::story::{Cell, Column, Link, StripDot, left};

/// Characters of a strip.
const STRIP: usize = 24;
/// How far the axis may reach to both sides of the median, as shares of it.
const REACHES: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];
/// Where more than this share of all dots lies beyond the last of them, it reaches to twice the median.
const FEW: f64 = 0.01;
const WHOLE: f64 = 1.0;

/// The axis, which every strip of the page shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StripAxis {
    reach: f64,
}

/// A strip and what does not lie on its axis.
pub(super) struct HostStrip {
    pub(super) cell: Cell,
    pub(super) beyond: usize,
}

impl StripAxis {
    /// The smallest that holds the hosts of all rows; a few that are far away are left beyond its ends.
    pub(crate) fn of_fleet(fleet: &Fleet) -> StripAxis {
        let away = |row: &FleetRow| {
            let away = |median: f64| {
                let away = row.figures.iter().map(|figure| (figure.value_ns / median - 1.0).abs());
                away.collect::<Vec<f64>>()
            };
            median_of(row).map(away).unwrap_or_default()
        };
        let away: Vec<f64> = fleet.rows.iter().flat_map(away).collect();
        let beyond = |reach: f64| away.iter().filter(|away| **away > reach).count();
        let holds_all = REACHES.into_iter().find(|reach| beyond(*reach) == 0);
        let widest = REACHES[REACHES.len() - 1];
        let few = || beyond(widest) as f64 <= FEW * away.len() as f64;
        StripAxis { reach: holds_all.unwrap_or_else(|| if few() { widest } else { WHOLE }) }
    }

    /// The column of the strips.
    pub(super) fn column(self) -> Column {
        let end = |share: f64| format!("{:+.0} %", share * 100.0);
        let ticks = [(0.0, end(-self.reach)), (0.5, "median".into()), (1.0, end(self.reach))];
        left("fast to slow").of_ticks(ticks.into())
    }

    /// A dot for each host that has a figure in the row, or for each of a group, by its time over the median;
    /// `None` where there is no ratio to that.
    pub(super) fn strip(
        self,
        fleet: &Fleet,
        row: &FleetRow,
        median_ns: f64,
        group: Option<&[usize]>,
    ) -> Option<HostStrip> {
        let marked = row.hosts_apart();
        let is_shown = |host: usize| group.is_none_or(|group| group.binary_search(&host).is_ok());
        let figures = row.figures.iter().filter(|figure| is_shown(figure.host));
        let dots: Vec<StripDot> = figures
            .map(|figure| StripDot {
                at: 0.5 + (figure.value_ns / median_ns - 1.0) / (2.0 * self.reach),
                is_marked: marked.contains(&figure.host),
                figure: super::value_in_unit(&row.unit, figure.value_ns),
                link: Some(Link::Machine(fleet.hosts[figure.host].name.clone())),
            })
            .collect();
        (median_ns > 0.0).then(|| HostStrip {
            beyond: dots.iter().filter(|dot| dot.is_beyond()).count(),
            cell: Cell::strip(dots, STRIP),
        })
    }
}

/// The median of a row, where ratios to it mean something.
pub(super) fn median_of(row: &FleetRow) -> Option<f64> {
    row.quantiles.map(|quantiles| quantiles.median_ns).filter(|median| *median > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{MadeFleet, fleet};
    use model::story::Value;

    fn fleet_with(factor: impl Fn(usize, usize) -> f64) -> Fleet {
        fleet(
            &MadeFleet { between: 0.0, within: 0.0, ..MadeFleet::new(200, 2, 1) }
                .runs(factor, |_, _| ()),
        )
    }

    /// Where the dots of a row lie.
    fn places(fleet: &Fleet, row: usize) -> Vec<f64> {
        let row = &fleet.rows[row];
        let median = median_of(row).expect("a median");
        let strip = StripAxis::of_fleet(fleet).strip(fleet, row, median, None).expect("a strip");
        let Value::Strip { dots, .. } = strip.cell.value else { panic!("no strip") };
        assert_eq!(strip.beyond, dots.iter().filter(|dot| dot.is_beyond()).count());
        dots.iter().map(|dot| dot.at).collect()
    }

    #[test]
    fn two_percent_are_as_wide_in_every_row() {
        let fleet = fleet_with(|host, row| match (host, row) {
            (7, 0) => 1.02,
            (8, 1) => 1.4,
            _ => 1.0,
        });
        assert_eq!(StripAxis::of_fleet(&fleet).reach, 0.5);
        let last = |row: usize| *places(&fleet, row).last().expect("dots");
        assert!((last(0) - 0.52).abs() < 1e-6 && (last(1) - 0.9).abs() < 1e-6);
    }

    #[test]
    fn a_few_far_hosts_lie_beyond_and_are_counted_many_widen_the_axis() {
        let few = fleet_with(|host, row| if (host, row) == (7, 0) { 30.0 } else { 1.0 });
        assert_eq!(StripAxis::of_fleet(&few).reach, 0.5);
        let places = places(&few, 0);
        assert_eq!(places.len(), 200, "no host is left out");
        assert_eq!(places.iter().filter(|at| **at > 1.0).count(), 1);
        let many = fleet_with(|host, _| if host < 10 { 1.8 } else { 1.0 });
        assert_eq!(StripAxis::of_fleet(&many).reach, 1.0);
    }
}
