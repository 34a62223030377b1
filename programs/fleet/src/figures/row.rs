//! A row over hosts.

use super::FiguresByRun;
use super::facts::FactKind;
use super::figure::{HostFigure, Quantiles, usable};
use model::estimate::Verdict;
use model::stats;
use model::summary::{KeptResult, KeptRun};
use model::unit::Unit;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A row as a distribution over hosts.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct FleetRow {
    /// Its id.
    pub id: String,
    /// Unit it is shown in.
    pub unit: Unit,
    /// Whether the figures are quiet ones.
    pub quiet: bool,
    /// The mode that they are of, where modes lie apart.
    pub mode: Option<String>,
    /// One figure a host, the smallest first.
    pub figures: Vec<HostFigure>,
    /// Their quantiles.
    pub quantiles: Option<Quantiles>,
    /// What the repetitions of a host differ by: the median over hosts of largest over smallest, less 1.
    pub repetitions_differ: Option<f64>,
    /// Standard deviation of the logarithm over hosts, from the median absolute deviation.
    pub spread: Option<f64>,
    /// Facts within whose groups hosts are judged, where these differ.
    pub judged_within: Option<Vec<FactKind>>,
    /// Hosts apart from the others, the farthest first.
    pub outliers: Vec<Outlier>,
    /// Hosts apart that are too many to be outliers: a second group that no fact explains.
    pub apart: Vec<Outlier>,
    /// A host whose figure is known exactly is called apart from this ratio on (or its inverse).
    pub reach: Option<f64>,
    /// Hosts without a figure, by reason.
    pub without: Vec<Without>,
}

/// A host apart from the others.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Place of the host.
    pub host: usize,
    /// Its time over that of the hosts it is judged with: above 1 is longer.
    pub ratio: f64,
    /// How far, in standard deviations of hosts and of its own figure together.
    pub deviations: f64,
}

/// Hosts that have no figure for the same reason.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Without {
    /// The reason.
    pub why: String,
    /// Places of the hosts.
    pub hosts: Vec<usize>,
}

impl FleetRow {
    /// Places of the hosts that are apart in it.
    pub fn hosts_apart(&self) -> HashSet<usize> {
        let all = self.outliers.iter().chain(&self.apart);
        all.map(|outlier| outlier.host).collect()
    }
}

/// What makes figures of one row the same quantity.
type Form = (Unit, bool, Option<String>);

fn form(result: &KeptResult) -> Form {
    (result.unit, result.quiet, result.mode.clone())
}

/// The rows in the order in which runs have them: those of the first host first.
pub(super) fn fleet_rows(
    counted: &BTreeMap<&str, Vec<&KeptRun>>,
    figures: &FiguresByRun,
) -> Vec<FleetRow> {
    // By row: host and result.
    let mut order: Vec<&str> = Vec::new();
    let mut by_row: HashMap<&str, Vec<(usize, &KeptResult)>> = HashMap::new();
    for (host, runs) in counted.values().enumerate() {
        for result in runs.iter().filter_map(|run| figures.get(&run.id)).flatten() {
            let own = by_row.entry(&result.row).or_insert_with(|| {
                order.push(&result.row);
                Vec::new()
            });
            own.push((host, result));
        }
    }
    let hosts = counted.len();
    let rows = order.into_iter().map(|id| fleet_row(id, &by_row[id], hosts));
    rows.filter(|row| !row.figures.is_empty()).collect()
}

fn fleet_row(id: &str, results: &[(usize, &KeptResult)], hosts: usize) -> FleetRow {
    // The form that most results have; figures of another are another quantity.
    let mut forms: Vec<(Form, usize)> = Vec::new();
    for (_, result) in results.iter().filter(|(_, result)| usable(result).is_some()) {
        let own = form(result);
        match forms.iter_mut().find(|(known, _)| *known == own) {
            Some((_, count)) => *count += 1,
            None => forms.push((own, 1)),
        }
    }
    let usual = forms.into_iter().max_by_key(|(_, count)| *count).map(|(form, _)| form);
    let mut figures = Vec::new();
    let mut without: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for host in 0..hosts {
        let start = results.partition_point(|(other, _)| *other < host);
        let end = results.partition_point(|(other, _)| *other <= host);
        let own: Vec<&KeptResult> = results[start..end].iter().map(|(_, result)| *result).collect();
        let same = own.iter().copied().filter(|result| Some(form(result)) == usual);
        let same: Vec<&KeptResult> = same.collect();
        match HostFigure::from_results(host, &same) {
            Some(figure) => figures.push(figure),
            None => without.entry(why_none(&own)).or_default().push(host),
        }
    }
    figures.sort_by(|a, b| a.value_ns.total_cmp(&b.value_ns).then(a.host.cmp(&b.host)));
    let values: Vec<f64> = figures.iter().map(|figure| figure.value_ns).collect();
    let repeated = figures.iter().filter(|f| f.repetitions > 1 && f.low_ns > 0.0);
    let (unit, quiet, mode) = usual.unwrap_or((Unit::Time, false, None));
    FleetRow {
        id: id.to_owned(),
        unit,
        quiet,
        mode,
        quantiles: Quantiles::from_sorted(&values),
        repetitions_differ: stats::median(repeated.map(|f| f.high_ns / f.low_ns - 1.0)),
        figures,
        spread: None,
        judged_within: None,
        outliers: Vec::new(),
        apart: Vec::new(),
        reach: None,
        without: without.into_iter().map(|(why, hosts)| Without { why, hosts }).collect(),
    }
}

/// Why a host has no figure.
fn why_none(results: &[&KeptResult]) -> String {
    match results.first() {
        None => "not in its runs".into(),
        Some(result) if usable(result).is_some() => match (&result.mode, result.quiet) {
            (Some(mode), _) => format!("mode {mode}"),
            (None, true) => "only quiet figures".into(),
            (None, false) => "no quiet figure".into(),
        },
        Some(result) if result.below_ns.is_some() => "below resolution".into(),
        Some(result) => match result.verdict {
            Some(verdict @ (Verdict::CannotTell | Verdict::Invalid)) => verdict.text().into(),
            _ if result.reason.is_empty() => "not measured".into(),
            _ => result.reason.clone(),
        },
    }
}

#[cfg(test)]
impl FleetRow {
    /// A row without figures.
    pub(super) fn made_up(id: &str) -> FleetRow {
        fleet_row(id, &[], 0)
    }
}
