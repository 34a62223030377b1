//! What hosts with a fact in common do alike: one finding of the group, not one of each host.

use super::{Fleet, FleetRow, Outlier};
use model::compare::finding::Verdict;
use model::stats::median;
use std::collections::{BTreeMap, HashSet};

/// Hosts that share a value of a fact and deviate in the same rows.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedDeviation {
    /// Place of the grouping.
    pub grouping: usize,
    /// Place of the group in it.
    pub group: usize,
    /// Places of the rows with the group's time over that of the others, the farthest first.
    pub rows: Vec<(usize, f64)>,
}

/// Deviations of groups, and what is left of single hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviations {
    /// Of groups, those of most rows first.
    pub shared: Vec<SharedDeviation>,
    /// Of each host, the rows that no group of it explains, with its ratio.
    pub single: Vec<Vec<(usize, f64)>>,
}

impl Fleet {
    /// Every outlier once: with its group where more than half of that are outliers in the row to the same side,
    /// else by itself.
    pub fn deviations(&self) -> Deviations {
        let mut shared = Vec::new();
        let mut explained: HashSet<(usize, usize)> = HashSet::new();
        for (at, grouping) in self.groupings.iter().enumerate() {
            let mut tested: Vec<BTreeMap<usize, f64>> =
                vec![BTreeMap::new(); grouping.groups.len()];
            for test in grouping.tests_with(Verdict::Different) {
                tested[test.group].insert(test.row, test.ratio);
            }
            for (group, value) in grouping.groups.iter().enumerate().skip(1) {
                let mut rows = std::mem::take(&mut tested[group]);
                for (place, row) in self.rows.iter().enumerate() {
                    let own = common_outliers(row, &value.hosts);
                    if let Some(ratio) = median(own.iter().map(|outlier| outlier.ratio)) {
                        rows.entry(place).or_insert(ratio);
                        explained.extend(own.iter().map(|outlier| (outlier.host, place)));
                    }
                }
                if !rows.is_empty() {
                    let mut rows: Vec<(usize, f64)> = rows.into_iter().collect();
                    sort_by_ratio(&mut rows);
                    shared.push(SharedDeviation { grouping: at, group, rows });
                }
            }
        }
        shared.sort_by_key(|of| std::cmp::Reverse(of.rows.len()));
        let mut single = vec![Vec::new(); self.hosts.len()];
        for (place, row) in self.rows.iter().enumerate() {
            for outlier in row.outliers.iter().chain(&row.apart) {
                if !explained.contains(&(outlier.host, place)) {
                    single[outlier.host].push((place, outlier.ratio));
                }
            }
        }
        single.iter_mut().for_each(|rows| sort_by_ratio(rows));
        Deviations { shared, single }
    }
}

/// The outliers of a row among these hosts that lie to one side, if they are more than half of those that have a
/// figure, and more than one.
fn common_outliers<'r>(row: &'r FleetRow, hosts: &[usize]) -> Vec<&'r Outlier> {
    let is_own = |host: usize| hosts.binary_search(&host).is_ok();
    let own = row.outliers.iter().chain(&row.apart).filter(|outlier| is_own(outlier.host));
    let (slower, faster): (Vec<&Outlier>, Vec<&Outlier>) = own.partition(|of| of.ratio > 1.0);
    let most = if slower.len() >= faster.len() { slower } else { faster };
    if most.len() < 2 {
        return Vec::new();
    }
    let measured = row.figures.iter().filter(|figure| is_own(figure.host)).count();
    if 2 * most.len() > measured { most } else { Vec::new() }
}

fn sort_by_ratio(rows: &mut [(usize, f64)]) {
    rows.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()).then(a.0.cmp(&b.0)));
}

#[cfg(test)]
mod tests {
    use crate::made_up::{MadeFleet, fleet};
    use model::machine::Fact;

    #[test]
    fn a_group_is_one_finding_and_what_it_does_not_explain_stays_with_its_hosts() {
        let is_own = |host: usize| [4, 9, 31].contains(&host);
        let factor = |host: usize, row: usize| match (host, row) {
            (host, 0 | 1) if is_own(host) => 1.3,
            (9, 3) => 1.5,
            (20, 2) => 0.6,
            _ => 1.0,
        };
        let runs = MadeFleet::new(60, 5, 2).runs(factor, |host, machine| {
            if is_own(host) {
                machine.microcode = Fact::known("0x10".into());
            }
        });
        let fleet = fleet(&runs);
        let all = fleet.deviations();
        let [group] = &all.shared[..] else { panic!("{:?}", all.shared) };
        let of = &fleet.groupings[group.grouping].groups[group.group];
        assert_eq!((of.value.as_str(), &of.hosts[..]), ("0x10", &[4, 9, 31][..]));
        let mut rows: Vec<usize> = group.rows.iter().map(|(row, _)| *row).collect();
        rows.sort_unstable();
        assert_eq!(rows, [0, 1]);
        assert!(group.rows.iter().all(|(_, ratio)| (ratio - 1.3).abs() < 0.03), "{group:?}");
        let single =
            |host: usize| -> Vec<usize> { all.single[host].iter().map(|(row, _)| *row).collect() };
        assert_eq!((single(9), single(20)), (vec![3], vec![2]));
        assert_eq!(all.single.iter().filter(|rows| !rows.is_empty()).count(), 2);
    }

    #[test]
    fn hosts_that_deviate_to_both_sides_are_no_group() {
        let factor = |host: usize, row: usize| match (host, row) {
            (4 | 9, 0) => 1.3,
            (31 | 40, 0) => 0.7,
            _ => 1.0,
        };
        let runs = MadeFleet::new(60, 2, 2).runs(factor, |host, machine| {
            if [4, 9, 31, 40].contains(&host) {
                machine.microcode = Fact::known("0x10".into());
            }
        });
        let all = fleet(&runs).deviations();
        assert_eq!(all.shared, []);
        assert_eq!(all.single.iter().filter(|rows| rows.len() == 1).count(), 4);
    }
}
