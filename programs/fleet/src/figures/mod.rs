//! A fleet: what one campaign found on many hosts. Every row as a distribution over hosts with one figure a
//! machine, the hosts that lie apart and what else is odd about them, groups of hosts by their facts.

mod counted;
mod facts;
mod figure;
mod groups;
mod host_ratios;
mod noise;
mod outliers;
pub mod paired;
mod ranks;
mod row;
mod shared;
#[cfg(test)]
mod tests;

pub use counted::counted;
pub use facts::{FactKind, FactValue, FleetFact};
pub use figure::{HostFigure, Quantiles};
pub use groups::{GroupTest, Grouping};
pub use outliers::LEAST_HOSTS;
pub use row::{FleetRow, Outlier, Without};
pub use shared::{Deviations, SharedDeviation};

use model::compare::finding::LEVEL;
use model::keyed::{HasId, Keyed};
use model::summary::{KeptResult, KeptRun};
use noise::Noise;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The figures of runs, by the runs' ids.
pub type FiguresByRun = HashMap<String, Vec<KeptResult>>;

/// Digits of a digest that are printed.
const DIGITS: usize = 12;

/// A campaign's runs on all hosts.
#[derive(Serialize, Clone, Debug)]
pub struct Fleet {
    /// Name of the campaign.
    pub campaign: String,
    /// Digest of its file.
    pub digest: String,
    /// Digests of other campaigns of the same name that have runs, the newest first.
    pub other_digests: Vec<String>,
    /// Runs of the campaign that don't count: partial, or attempts that another replaced.
    pub not_counted: usize,
    /// The hosts that were expected, where the campaign's plan is known.
    pub expected: Option<ExpectedHosts>,
    /// Hosts with runs that are not among these: their figures are left out.
    pub not_expected: Vec<String>,
    /// The hosts with runs, by name.
    pub hosts: Keyed<Host>,
    /// Facts over the hosts.
    pub facts: Vec<FleetFact>,
    /// The rows, in the order of the runs.
    pub rows: Vec<FleetRow>,
    /// Groups of hosts.
    pub groupings: Vec<Grouping>,
    /// The chance that any host of like ones is called apart in any row; and that any row of like groups is
    /// called different.
    pub level: f64,
}

/// What a campaign's plan says of its hosts.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct ExpectedHosts {
    /// How many there are.
    pub hosts: usize,
    /// Those without all of their runs.
    pub missing: Vec<Missing>,
}

/// A host without all of its runs.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Missing {
    /// The host.
    pub host: String,
    /// Why.
    pub why: String,
}

/// A host.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Host {
    /// As the campaign names it.
    pub name: String,
    /// Ids of its runs, in the order of repetitions.
    pub runs: Vec<String>,
    /// Numbers of these repetitions.
    pub repetitions: Vec<u32>,
    /// When the first began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// What is known of it.
    pub facts: BTreeMap<FactKind, String>,
    /// Facts in which it differs from more than half of the hosts.
    pub odd: Vec<OddFact>,
    /// How quiet it was.
    pub noise: Noise,
    /// Places of the rows in which it lies apart.
    pub apart_in: Vec<usize>,
}

/// A fact that differs from what more than half of the hosts have.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct OddFact {
    /// Which.
    pub fact: FactKind,
    /// What the host has.
    pub value: String,
    /// What more than half have.
    pub usual: String,
}

impl HasId for Host {
    fn id(&self) -> (&str, &[u64]) {
        (&self.name, &[])
    }
}

impl Fleet {
    /// Of the runs that count ([`counted`]), by host.
    pub fn from_runs(
        counted: &BTreeMap<&str, Vec<&KeptRun>>,
        figures: &FiguresByRun,
        margin: f64,
    ) -> Fleet {
        let host_facts: Vec<_> = counted.values().map(|runs| facts::of_host(runs)).collect();
        let facts = facts::of_fleet(&host_facts);
        let mut rows = row::fleet_rows(counted, figures);
        let groupings = groups::groupings(&facts, &rows, margin);
        outliers::find_outliers(&mut rows, &groupings);
        let noise = noise::of_hosts(counted.values());
        let mut apart_in = vec![Vec::new(); counted.len()];
        for (place, row) in rows.iter().enumerate() {
            let all = row.outliers.iter().chain(&row.apart);
            all.for_each(|outlier| apart_in[outlier.host].push(place));
        }
        let hosts = counted.iter().zip(host_facts).zip(noise).enumerate();
        let hosts = hosts.map(|(place, (((name, runs), own), noise))| Host {
            name: (*name).to_owned(),
            runs: runs.iter().map(|run| run.id.clone()).collect(),
            repetitions: runs.iter().filter_map(|run| Some(run.job.as_ref()?.repetition)).collect(),
            started_unix_ms: runs.iter().map(|run| run.started_unix_ms).min().unwrap_or(0),
            odd: odd(&facts, &own),
            facts: own,
            noise,
            apart_in: std::mem::take(&mut apart_in[place]),
        });
        let job = counted.values().flatten().find_map(|run| run.job.as_ref());
        Fleet {
            campaign: job.map_or(String::new(), |job| job.campaign.clone()),
            digest: job.map_or(String::new(), |job| job.digest.clone()),
            other_digests: Vec::new(),
            not_counted: 0,
            expected: None,
            not_expected: Vec::new(),
            hosts: hosts.collect(),
            facts,
            rows,
            groupings,
            level: LEVEL,
        }
    }

    /// Its name and the first digits of its file's digest, as commands take it.
    pub fn name(&self) -> String {
        campaign_name(&self.campaign, &self.digest)
    }

    /// Other campaigns of that name.
    pub fn others(&self) -> impl Iterator<Item = String> {
        let others = self.other_digests.iter();
        others.map(|digest| campaign_name(&self.campaign, digest))
    }

    /// Whether all hosts that were expected have all of their runs; `None` where the plan is not known.
    pub fn is_complete(&self) -> Option<bool> {
        Some(self.expected.as_ref()?.missing.is_empty())
    }

    /// Places of the hosts that lie apart in any row, those of most rows first.
    pub fn apart(&self) -> Vec<usize> {
        let hosts = self.hosts.iter().enumerate();
        let apart = hosts.filter(|(_, host)| !host.apart_in.is_empty());
        let mut places: Vec<usize> = apart.map(|(place, _)| place).collect();
        places.sort_by_key(|place| std::cmp::Reverse(self.hosts[*place].apart_in.len()));
        places
    }

    /// Numbers of tests: hosts in rows, and rows in groups.
    pub fn tests(&self) -> [usize; 2] {
        let judged = self.rows.iter().filter(|row| row.spread.is_some());
        let groups = self.groupings.iter().map(|grouping| grouping.tests.len());
        [judged.map(|row| row.figures.len()).sum(), groups.sum()]
    }
}

/// A campaign's name and the first digits of its file's digest.
pub fn campaign_name(campaign: &str, digest: &str) -> String {
    let digits: String = digest.chars().take(DIGITS).collect();
    format!("{campaign}#{digits}")
}

fn odd(facts: &[FleetFact], own: &BTreeMap<FactKind, String>) -> Vec<OddFact> {
    let of = |fact: &FleetFact| {
        let (value, usual) = (own.get(&fact.fact)?, fact.usual()?);
        (value != usual).then(|| OddFact {
            fact: fact.fact,
            value: value.clone(),
            usual: usual.to_owned(),
        })
    };
    facts.iter().filter_map(of).collect()
}
