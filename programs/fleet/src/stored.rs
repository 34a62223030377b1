//! The runs of a campaign as a fleet: which of them count, and their figures.

use crate::figures::{FiguresByRun, Fleet, campaign_name as fleet_name, counted};
use model::campaign::Job;
use model::nearest::suggestion;
use model::phrases::several;
use model::summary::KeptRun;
use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;
use store::StoreError;
use store::index::Index;

/// Campaigns that a message names.
const NAMED: usize = 5;

/// Why there is no such campaign.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The store can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no stored run of campaign {name:?}{suggestion} ({known})")]
    NoRuns {
        name: String,
        suggestion: String,
        /// Those with runs; of a name that is known, its digests.
        known: String,
    },
    #[error("{0:?} is the start of several digests: give more digits")]
    Ambiguous(String),
}

/// Campaigns that have runs, each once, that of the newest run first.
pub fn campaigns(index: &Index) -> Result<Vec<String>, StoreError> {
    let runs = index.runs()?.into_iter();
    Ok(each_once(runs.filter_map(|run| Some(run.job?.campaign))))
}

/// Each name once, in the order of their first mention.
fn each_once<T: Clone + Eq + Hash>(names: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Runs that count, by host.
type ByHost<'r> = BTreeMap<&'r str, Vec<&'r KeptRun>>;

/// The fleet of a campaign: `NAME`, of which the newest run says the digest, or `NAME#DIGEST` with the first
/// digits of another. Only hosts that are expected have a part in it, where these are known.
pub fn fleet(
    index: &Index,
    name: &str,
    margin: f64,
    expected: Option<&HashSet<&str>>,
) -> Result<Fleet, CampaignError> {
    let (name, digits) = match name.rsplit_once('#') {
        Some((name, digits)) => (name, digits),
        None => (name, ""),
    };
    let all = index.runs()?;
    let jobs = all.iter().filter_map(|run| run.job.as_ref());
    let own = jobs.filter(|job| job.campaign == name);
    let digests: Vec<&str> = each_once(own.map(|job| job.digest.as_str()));
    let mut meant = digests.iter().filter(|digest| digest.starts_with(digits));
    let digest = match (meant.next(), meant.next()) {
        (None, _) => return Err(no_runs(&all, name, digits, &digests)),
        (Some(_), Some(_)) if !digits.is_empty() => {
            return Err(CampaignError::Ambiguous(format!("{name}#{digits}")));
        }
        (Some(digest), _) => (*digest).to_owned(),
    };
    let others = digests.iter().filter(|other| **other != digest);
    let other_digests = others.map(|other| (*other).to_owned()).collect();
    let is_own = |job: &Job| job.campaign == name && job.digest == digest;
    let runs = all.iter().filter(|run| run.job.as_ref().is_some_and(is_own));
    let runs: Vec<KeptRun> = runs.cloned().collect();
    let counting = counted(&runs);
    let all_counted: usize = counting.values().map(Vec::len).sum();
    let is_expected = |host: &str| expected.is_none_or(|hosts| hosts.contains(host));
    let (counting, not_expected): (ByHost, ByHost) =
        counting.into_iter().partition(|(host, _)| is_expected(host));
    let ids: Vec<&str> = counting.values().flatten().map(|run| run.id.as_str()).collect();
    let mut figures = FiguresByRun::new();
    for (place, figure) in index.figures_of(&ids)? {
        figures.entry(ids[place].to_owned()).or_default().push(figure);
    }
    Ok(Fleet {
        campaign: name.to_owned(),
        digest,
        other_digests,
        not_expected: not_expected.into_keys().map(str::to_owned).collect(),
        not_counted: runs.len() - all_counted,
        ..Fleet::from_runs(&counting, &figures, margin)
    })
}

fn no_runs(all: &[KeptRun], name: &str, digits: &str, digests: &[&str]) -> CampaignError {
    let jobs = all.iter().filter_map(|run| run.job.as_ref());
    let known: Vec<&str> = each_once(jobs.map(|job| job.campaign.as_str()));
    let whole = match digits {
        "" => name.to_owned(),
        digits => format!("{name}#{digits}"),
    };
    CampaignError::NoRuns {
        suggestion: match digests {
            [] => suggestion(&whole, known.iter().copied()),
            _ => String::new(),
        },
        known: match (digests, known.is_empty()) {
            ([_, ..], _) => {
                let names = digests.iter().map(|digest| fleet_name(name, digest));
                let names: Vec<String> = names.collect();
                format!("stored: {}", several(&names, NAMED))
            }
            ([], true) => "campaigns: none".into(),
            ([], false) => format!("campaigns: {}", several(&known, NAMED)),
        },
        name: whole,
    }
}
