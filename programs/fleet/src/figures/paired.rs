//! Two campaigns by hosts in pairs: each host that is in both is compared with itself.

use super::facts::FactKind;
use super::host_ratios::HostRatios;
use super::{Fleet, FleetRow};
use model::compare::finding::{self, Correction, LEVEL, SummarizedSamples, Verdict};
use model::stats::{self, Interval};
use model::unit::Unit;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Campaign B against campaign A.
#[derive(Serialize, Clone, Debug)]
pub struct PairedFleets {
    /// The baseline with its digest.
    pub a: String,
    /// What is compared with it.
    pub b: String,
    /// Other campaigns of these names, which are not compared.
    pub not_shown: Vec<String>,
    /// Hosts in both.
    pub hosts: Vec<String>,
    /// Hosts only in A.
    pub only_in_a: Vec<String>,
    /// Hosts only in B.
    pub only_in_b: Vec<String>,
    /// What hosts in both differ in, by what changed to what.
    pub differences: Vec<Changed>,
    /// The rows that both have.
    pub rows: Vec<PairedRow>,
    /// Rows only A has.
    pub rows_only_in_a: Vec<String>,
    /// Rows only B has.
    pub rows_only_in_b: Vec<String>,
    /// Where no row differs, any is called different in at most this share of comparisons.
    pub level: f64,
    /// A row is the same if its interval lies within this share of 1.
    pub margin: f64,
    /// The share by which no time may have grown.
    pub fail_above: Option<f64>,
    /// Rows whose time surely grew beyond the gate.
    pub crossed: Vec<String>,
    /// The change that each row is to show, as a share: the margin; with a gate twice its share.
    pub sought: f64,
    /// Rows (of times, with a gate) in which these hosts can't show it.
    pub unable: Vec<String>,
    /// The hosts that all of them need; `None` with fewer than six hosts in both.
    pub needed_hosts: Option<usize>,
}

/// A fact that changed.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Changed {
    /// Which.
    pub fact: FactKind,
    /// In A.
    pub a: String,
    /// In B.
    pub b: String,
    /// On so many hosts.
    pub hosts: usize,
}

/// A row over the hosts of both.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct PairedRow {
    /// Its id.
    pub id: String,
    /// Unit it is shown in.
    pub unit: Unit,
    /// Hosts with a figure in both.
    pub hosts: usize,
    /// Median over these hosts in A and B, ns.
    pub medians_ns: [f64; 2],
    /// Median over hosts of B's time over A's.
    pub ratio: f64,
    /// Its 95 % interval over hosts, from six hosts on.
    pub interval: Option<Interval>,
    /// The smallest and the largest ratio of a host.
    pub range: [f64; 2],
    /// Of Student's t and the sign test together.
    pub p_value: f64,
    /// The smallest growth that is found in four of five cases, as a share; with a gate, that crosses it.
    pub detectable: Option<f64>,
    /// What may be said, all rows together.
    pub finding: Verdict,
}

impl PairedFleets {
    /// Compares the rows that are wanted. `fail_above` is a share by which no time may have grown.
    pub fn compare(
        [a, b]: [&Fleet; 2],
        wanted: &dyn Fn(&str) -> bool,
        margin: f64,
        fail_above: Option<f64>,
    ) -> PairedFleets {
        let names = [a, b].map(|fleet| format!("@{}", fleet.name()));
        let others = a.others().chain(b.others()).map(|name| format!("@{name}"));
        let mut not_shown: Vec<String> = others.filter(|name| !names.contains(name)).collect();
        not_shown.dedup();
        let [name_a, name_b] = names;
        let places: HashMap<&str, usize> = by_name(b);
        let pairs = a.hosts.iter().enumerate();
        let pairs: Vec<(usize, usize)> =
            pairs.filter_map(|(at, host)| Some((at, *places.get(host.name.as_str())?))).collect();
        let rows_of = |fleet: &'_ Fleet| -> Vec<String> {
            let ids = fleet.rows.iter().map(|row| row.id.clone());
            ids.filter(|id| wanted(id)).collect()
        };
        let (rows_a, rows_b) = (rows_of(a), rows_of(b));
        let mut rows = Vec::new();
        let mut sides = Vec::new();
        let of_b: HashMap<&str, &FleetRow> = b.rows.iter().map(|r| (r.id.as_str(), r)).collect();
        for row in a.rows.iter().filter(|row| wanted(&row.id)) {
            let Some(other) = of_b.get(row.id.as_str()) else {
                continue;
            };
            if let Some((paired, figures)) = pair(row, other, &pairs) {
                rows.push(paired);
                sides.push(figures);
            }
        }
        judge_pairs(&mut rows, margin);
        let crossed = fail_above.map_or(Vec::new(), |share| crossed(&rows, &sides, share));
        let sought = fail_above.map_or(margin, |share| 2.0 * share);
        let (unable, needed_hosts) = unable(&mut rows, &sides, sought, fail_above);
        let without = |one: &Fleet, other: &Fleet| -> Vec<String> {
            let known = by_name(other);
            let names = one.hosts.iter().map(|host| host.name.clone());
            names.filter(|name| !known.contains_key(name.as_str())).collect()
        };
        let only = |own: &[String], other: &[String]| -> Vec<String> {
            let other: HashSet<&String> = other.iter().collect();
            let own = own.iter().filter(|id| !other.contains(id));
            own.cloned().collect()
        };
        PairedFleets {
            a: name_a,
            b: name_b,
            not_shown,
            hosts: pairs.iter().map(|(at, _)| a.hosts[*at].name.clone()).collect(),
            only_in_a: without(a, b),
            only_in_b: without(b, a),
            differences: changes(a, b, &pairs),
            rows,
            rows_only_in_a: only(&rows_a, &rows_b),
            rows_only_in_b: only(&rows_b, &rows_a),
            level: LEVEL,
            margin,
            fail_above,
            crossed,
            sought,
            unable,
            needed_hosts,
        }
    }

    /// Rows with this finding.
    pub fn rows_with(&self, finding: Verdict) -> impl Iterator<Item = &PairedRow> {
        self.rows.iter().filter(move |row| row.finding == finding)
    }

    /// Rows that the gate looks at, or all.
    pub fn tested(&self) -> usize {
        let is_tested = |row: &&PairedRow| is_tested(row, self.fail_above);
        self.rows.iter().filter(is_tested).count()
    }

    /// Whether anything could be found of any row; with a gate, whether any could have crossed it.
    pub fn has_findings(&self) -> bool {
        let found = |row: &PairedRow| row.finding != Verdict::CannotTell;
        match self.fail_above {
            Some(_) => self.unable.len() < self.tested(),
            None => self.rows.iter().any(found),
        }
    }
}

fn by_name(fleet: &Fleet) -> HashMap<&str, usize> {
    let hosts = fleet.hosts.iter().enumerate();
    hosts.map(|(place, host)| (host.name.as_str(), place)).collect()
}

/// The row by hosts, and the figures of both sides; `None` where no host has both, or they are two quantities.
fn pair(
    a: &FleetRow,
    b: &FleetRow,
    pairs: &[(usize, usize)],
) -> Option<(PairedRow, [Vec<f64>; 2])> {
    if (a.unit, a.quiet, &a.mode) != (b.unit, b.quiet, &b.mode) {
        return None;
    }
    let figures = |row: &FleetRow| -> HashMap<usize, f64> {
        let known = row.figures.iter().filter(|figure| figure.value_ns > 0.0);
        known.map(|figure| (figure.host, figure.value_ns)).collect()
    };
    let (of_a, of_b) = (figures(a), figures(b));
    let both = pairs.iter().filter_map(|(a, b)| Some((*of_a.get(a)?, *of_b.get(b)?)));
    let (first, second): (Vec<f64>, Vec<f64>) = both.unzip();
    let row = paired_row(&a.id, a.unit, &first, &second)?;
    Some((row, [first, second]))
}

/// A row by the figures of the same hosts on both sides, not judged yet.
fn paired_row(id: &str, unit: Unit, first: &[f64], second: &[f64]) -> Option<PairedRow> {
    let ratios = stats::sorted(first.iter().zip(second).map(|(a, b)| b / a));
    let median = |values: &[f64]| stats::median(values.iter().copied());
    let tests = HostRatios::between(first, second);
    Some(PairedRow {
        id: id.to_owned(),
        unit,
        hosts: first.len(),
        medians_ns: [median(first)?, median(second)?],
        ratio: stats::quantile_sorted(&ratios, 0.5)?,
        interval: tests.interval(1.0 - LEVEL),
        range: [*ratios.first()?, *ratios.last()?],
        p_value: tests.p_value(),
        detectable: None,
        finding: Verdict::CannotTell,
    })
}

/// A row of made-up times.
#[cfg(test)]
pub(super) fn made_up(id: &str, first: &[f64], second: &[f64]) -> PairedRow {
    paired_row(id, Unit::Time, first, second).expect("figures")
}

pub(super) fn judge_pairs(rows: &mut [PairedRow], margin: f64) {
    let known: Vec<SummarizedSamples> =
        rows.iter().map(|row| SummarizedSamples(Some(row.p_value), row.interval)).collect();
    let found = finding::judge(&known, Correction::FalseDiscoveries, Some(margin));
    for (row, found) in rows.iter_mut().zip(found) {
        row.finding = found.verdict;
    }
}

fn is_tested(row: &PairedRow, fail_above: Option<f64>) -> bool {
    fail_above.is_none() || row.unit.is_time()
}

/// Times that grew by more than a share: the chance of any wrong one is at most [`LEVEL`].
pub(super) fn crossed(rows: &[PairedRow], sides: &[[Vec<f64>; 2]], share: f64) -> Vec<String> {
    let times = rows.iter().zip(sides).filter(|(row, _)| row.unit.is_time());
    let grown =
        |sides: &[Vec<f64>; 2]| HostRatios::between(&sides[0], &sides[1]).p_above(1.0 + share);
    let (times, known): (Vec<&PairedRow>, Vec<SummarizedSamples>) =
        times.map(|(row, sides)| (row, SummarizedSamples(Some(grown(sides)), None))).unzip();
    let found = finding::judge(&known, Correction::Holm(LEVEL), None);
    let grown = times.iter().zip(found).filter(|(_, found)| found.is_different());
    grown.map(|(row, _)| row.id.clone()).collect()
}

/// Notes what each row can show, if it is the only one that changed; those that can't show what is sought, and the
/// hosts that they need.
fn unable(
    rows: &mut [PairedRow],
    sides: &[[Vec<f64>; 2]],
    sought: f64,
    fail_above: Option<f64>,
) -> (Vec<String>, Option<usize>) {
    let tests = rows.iter().filter(|row| is_tested(row, fail_above)).count();
    // A gate looks to one side, from its share on.
    let (level, from) = match fail_above {
        Some(share) => (2.0 * LEVEL / tests as f64, 1.0 + share),
        None => (LEVEL / tests as f64, 1.0),
    };
    let (mut unable, mut needed) = (Vec::new(), None);
    let tested = rows.iter_mut().zip(sides);
    for (row, [a, b]) in tested.filter(|(row, _)| is_tested(row, fail_above)) {
        let reach = HostRatios::between(a, b).reach(level, (1.0 + sought) / from - 1.0);
        row.detectable = reach.map(|(share, _)| from * (1.0 + share) - 1.0);
        if row.detectable.is_none_or(|share| share > sought) {
            unable.push(row.id.clone());
            needed = needed.max(reach.map(|(_, hosts)| hosts));
        }
    }
    (unable, needed)
}

/// Facts that changed, those of most hosts first.
fn changes(a: &Fleet, b: &Fleet, pairs: &[(usize, usize)]) -> Vec<Changed> {
    let mut counts: BTreeMap<(FactKind, &str, &str), usize> = BTreeMap::new();
    for &(of_a, of_b) in pairs {
        for (fact, before) in &a.hosts[of_a].facts {
            if let Some(after) = b.hosts[of_b].facts.get(fact).filter(|after| *after != before) {
                *counts.entry((*fact, before, after)).or_default() += 1;
            }
        }
    }
    let mut all: Vec<Changed> = counts
        .into_iter()
        .map(|((fact, a, b), hosts)| Changed { fact, a: a.to_owned(), b: b.to_owned(), hosts })
        .collect();
    all.sort_by_key(|change| std::cmp::Reverse(change.hosts));
    all
}
