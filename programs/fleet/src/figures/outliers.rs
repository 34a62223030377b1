//! Hosts that lie apart from the others in a row.

use super::{FleetRow, Grouping, Outlier};
use model::compare::between::Wander;
use model::compare::finding::{Correction, LEVEL, Samples, Verdict, judge};
use model::compare::student;
use model::stats;
use std::collections::HashMap;

/// With fewer hosts what hosts differ by isn't known well enough to call one apart.
pub const LEAST_HOSTS: usize = 6;
/// Hosts apart in a row that are more than this share of all, and more than [`FEW`], are a second group.
const MOST_SHARE: f64 = 0.1;
/// So many hosts apart are outliers, however few hosts there are.
const FEW: usize = 2;
/// What the median absolute deviation of n figures is worth in degrees of freedom, as a share of n: its
/// efficiency (Rousseeuw and Croux, J. Am. Stat. Assoc. 88, 1993, 1273-1283).
const WORTH: f64 = 0.367;
/// Closer to the median than this many standard deviations nothing is called apart.
const NEAR: f64 = 2.0;

/// Hosts of one row about the middles of their groups.
struct HostSpread {
    hosts: Vec<Away>,
    df: f64,
    spread: f64,
}

/// A host against the middle of its group, with the degrees of freedom of its deviation.
struct Away(Outlier, f64);

impl Samples for Away {
    fn p_value(&self) -> Option<f64> {
        Some(match self.0.deviations.abs() {
            near if near < NEAR => 1.0,
            far => 2.0 * student::share_above(far, self.1),
        })
    }
}

/// Finds the outliers of all rows together: where all hosts of all rows are of one normal distribution each, any
/// is called in at most [`LEVEL`] of fleets (Holm).
pub(super) fn find_outliers(rows: &mut [FleetRow], groupings: &[Grouping]) {
    let mut spreads: Vec<Option<HostSpread>> = Vec::with_capacity(rows.len());
    for (place, row) in rows.iter_mut().enumerate() {
        let grouping = strongest(groupings, place);
        row.judged_within = grouping.map(|grouping| grouping.facts.clone());
        spreads.push(spread(row, grouping));
    }
    let tests: Vec<&Away> = spreads.iter().flatten().flat_map(|own| &own.hosts).collect();
    let mut found = judge(tests.iter().copied(), Correction::Holm(LEVEL), None).into_iter();
    // As a host with an exact figure would have to be, if it were the only one.
    let level = LEVEL / tests.len() as f64;
    for (row, own) in rows.iter_mut().zip(&spreads) {
        let Some(own) = own else { continue };
        row.spread = Some(own.spread);
        let apart = own.hosts.iter().zip(&mut found).filter(|(_, found)| found.is_different());
        row.outliers = apart.map(|(away, _)| away.0).collect();
        let by_size = |a: &Outlier, b: &Outlier| b.deviations.abs().total_cmp(&a.deviations.abs());
        row.outliers.sort_by(by_size);
        let apart = row.outliers.len();
        if apart > FEW && apart as f64 > MOST_SHARE * own.hosts.len() as f64 {
            row.apart = std::mem::take(&mut row.outliers);
        }
        row.reach = Some((student::quantile(1.0 - level / 2.0, own.df) * own.spread).exp());
    }
}

/// The grouping in which groups of this row differ most surely.
fn strongest(groupings: &[Grouping], row: usize) -> Option<&Grouping> {
    let surest = |grouping: &Grouping| {
        // In the order of the rows.
        let from = grouping.tests.partition_point(|test| test.row < row);
        let own = grouping.tests[from..].iter().take_while(|test| test.row == row);
        let different = own.filter(|test| test.finding == Verdict::Different);
        different.map(|test| test.p_value).min_by(f64::total_cmp)
    };
    let all = groupings.iter().filter_map(|grouping| Some((surest(grouping)?, grouping)));
    all.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, grouping)| grouping)
}

fn spread(row: &FleetRow, grouping: Option<&Grouping>) -> Option<HostSpread> {
    if row.figures.len() < LEAST_HOSTS || row.figures.iter().any(|figure| figure.value_ns <= 0.0) {
        return None;
    }
    let mut groups_of = HashMap::new();
    for (group, value) in grouping.iter().flat_map(|g| g.groups.iter().enumerate()) {
        for &host in &value.hosts {
            groups_of.entry(host).or_insert(group);
        }
    }
    let group_of = |host: usize| groups_of.get(&host).copied();
    let logarithms: Vec<(usize, f64, f64, Option<usize>)> =
        row.figures.iter().map(|f| (f.host, f.value_ns.ln(), f.error, group_of(f.host))).collect();
    let groups = grouping.map_or(0, |grouping| grouping.groups.len());
    let middles: Vec<Option<f64>> = (0..groups)
        .map(|group| {
            let own = logarithms.iter().filter(|l| l.3 == Some(group)).map(|l| l.1);
            let own: Vec<f64> = own.collect();
            (own.len() >= LEAST_HOSTS).then(|| stats::median(own)).flatten()
        })
        .collect();
    // A host of no group, or of a small one, is held against the largest group: that is the first.
    let middle = match middles.first().copied().flatten() {
        Some(largest) => largest,
        None => stats::median(logarithms.iter().map(|l| l.1))?,
    };
    let away = |l: &(usize, f64, f64, Option<usize>)| {
        let own = l.3.and_then(|group| middles.get(group).copied().flatten());
        l.1 - own.unwrap_or(middle)
    };
    let deviation = stats::deviation_from(0.0, logarithms.iter().map(away))?;
    let spread = deviation.max(Wander::Cycles.least());
    let counted = middles.iter().flatten().count().max(1);
    let df = WORTH * (row.figures.len() - counted) as f64;
    let hosts = logarithms.iter().map(|l| {
        let away = away(l);
        let deviations = away / spread.hypot(l.2);
        Away(Outlier { host: l.0, ratio: away.exp(), deviations }, df)
    });
    Some(HostSpread { hosts: hosts.collect(), df, spread })
}
