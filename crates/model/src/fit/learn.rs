//! From the runs of a fleet to what is expected of one more host.

use super::expectation::{
    ElementGroup, ElementSpread, Expectation, ExpectedElement, ExpectedGroup, LeftOut, SCHEMA,
};
use super::identity::{Differs, Identity, Means};
use super::judge::{ALPHA, group_value, score};
use super::published::Basis;
use super::{Element, Vector};
use crate::stats::{median, robust_mean_square};
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, SQRT_2};

/// What the assumed spread is worth against what the hosts show.
const ASSUMED_DF: f64 = 6.0;

/// A host whose score against all others exceeds this is no example of them.
const STRANGER: f64 = 2.0;

/// Most of the hosts that may be left out as strangers.
const MOST_STRANGERS: f64 = 0.25;

/// Why nothing can be learned.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum NothingLearned {
    #[error("no run to learn from")]
    NoRun,
    #[error("no quiet and complete run among {}", crate::phrases::counted(*.0, "run"))]
    NoneQuiet(usize),
}

/// Runs by host, those of a host in the order given.
type Hosts<'v> = BTreeMap<&'v str, Vec<&'v Vector>>;

/// What these runs say of one more host of their kind. Disturbed runs, hosts of another kind than most, and hosts
/// that are far from the others are left out, and named.
///
/// # Errors
/// If no run is left.
pub fn learn(vectors: &[Vector]) -> Result<Expectation, NothingLearned> {
    let mut left_out = Vec::new();
    let mut hosts = quiet_hosts(vectors, &mut left_out)?;
    let identity = usual_identity(&hosts);
    leave_out_other_kinds(&mut hosts, &identity, &mut left_out);
    let most = (hosts.len() as f64 * MOST_STRANGERS) as usize;
    let mut scores = scores(&hosts, &identity);
    for _ in 0..most {
        let worst = scores.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((host, score)) = worst.filter(|(_, score)| *score > STRANGER).copied() else {
            break;
        };
        let why = format!("unlike the other hosts: {score:.1} times the limit");
        left_out.push(left(host, hosts.remove(host).map_or(0, |runs| runs.len()), why));
        scores = self::scores(&hosts, &identity);
    }
    let mut learned = of_hosts(&hosts, &identity);
    learned.limit = limit(scores.into_iter().map(|(_, score)| score).collect());
    learned.left_out = left_out;
    Ok(learned)
}

fn left(host: &str, runs: usize, why: String) -> LeftOut {
    LeftOut { host: host.into(), runs, why }
}

fn quiet_hosts<'v>(
    vectors: &'v [Vector],
    left_out: &mut Vec<LeftOut>,
) -> Result<Hosts<'v>, NothingLearned> {
    let mut hosts = Hosts::new();
    let mut disturbed: BTreeMap<&str, usize> = BTreeMap::new();
    for vector in vectors {
        match vector.is_quiet() {
            true => hosts.entry(&vector.host).or_default().push(vector),
            false => *disturbed.entry(&vector.host).or_default() += 1,
        }
    }
    for (host, runs) in disturbed {
        left_out.push(left(host, runs, "not quiet, or stopped by a CPU quota".into()));
    }
    match (vectors.len(), hosts.is_empty()) {
        (0, _) => Err(NothingLearned::NoRun),
        (all, true) => Err(NothingLearned::NoneQuiet(all)),
        _ => Ok(hosts),
    }
}

/// That of most hosts; of as many, the first. Microcode only where all have the same.
fn usual_identity(hosts: &Hosts) -> Identity {
    let all: Vec<&Identity> = hosts.values().map(|runs| &runs[0].identity).collect();
    let count = |one: &Identity| {
        let same = |other: &&&Identity| kind_differs(one, other).is_none();
        all.iter().filter(same).count()
    };
    let most = all.iter().map(|one| count(one)).max().unwrap_or(0);
    let usual = all.iter().find(|one| count(one) == most);
    let mut usual = usual.map(|one| (*one).clone()).unwrap_or_default();
    if all.iter().any(|own| own.microcode != usual.microcode) {
        usual.microcode = None;
    }
    usual
}

/// A fact by which a host is of another kind.
fn kind_differs(one: &Identity, usual: &Identity) -> Option<Differs> {
    let mut all = one.differs(usual).into_iter();
    all.find(|fact| fact.means != Means::Note)
}

fn leave_out_other_kinds(hosts: &mut Hosts, usual: &Identity, left_out: &mut Vec<LeftOut>) {
    hosts.retain(|host, runs| {
        let mut differ = runs.iter().filter_map(|run| kind_differs(&run.identity, usual));
        let Some(fact) = differ.next() else {
            return true;
        };
        let why = format!("{} {}, not {}", fact.what, fact.here, fact.expected);
        left_out.push(left(host, runs.len(), why));
        false
    });
}

/// The score of the first run of each host against all other hosts; none of a single host.
fn scores<'v>(hosts: &Hosts<'v>, identity: &Identity) -> Vec<(&'v str, f64)> {
    if hosts.len() < 2 {
        return Vec::new();
    }
    let of = |(host, runs): (&&'v str, &Vec<&'v Vector>)| {
        let mut others = hosts.clone();
        others.remove(*host);
        (*host, score(runs[0], &of_hosts(&others, identity)))
    };
    hosts.iter().map(of).collect()
}

/// The score that one more host exceeds with a chance of at most [`ALPHA`]: by the model 1; where the hosts
/// themselves exceed that, the largest of their scores, of many hosts the one that so few exceed. Whatever the
/// distribution, one more host has each place among N others with the same chance (Vovk, Gammerman and Shafer,
/// Algorithmic Learning in a Random World, 2005).
fn limit(mut scores: Vec<f64>) -> f64 {
    scores.sort_by(|a, b| b.total_cmp(a));
    let above = ((scores.len() + 1) as f64 * ALPHA) as usize;
    scores.get(above.saturating_sub(1)).map_or(1.0, |score| score.max(1.0))
}

fn of_hosts(hosts: &Hosts, identity: &Identity) -> Expectation {
    let elements: Vec<ExpectedElement> = Element::ALL
        .into_iter()
        .filter_map(|element| {
            let ln = |run: &Vector| run.value(element).map(f64::ln);
            let (middle, spread, hosts) = spread(hosts, ln, assumed(element))?;
            Some(ExpectedElement { element, median: middle.exp(), spread, hosts })
        })
        .collect();
    let mut learned = Expectation {
        schema: SCHEMA,
        hosts: hosts.keys().map(|host| (*host).to_owned()).collect(),
        runs: hosts.values().map(Vec::len).sum(),
        left_out: Vec::new(),
        identity: identity.clone(),
        elements,
        groups: Vec::new(),
        limit: 1.0,
        basis: Basis::Runs,
    };
    let groups = ElementGroup::ALL.into_iter().filter_map(|group| {
        let weight = |element: &Element| Some(learned.element(*element)?.spread.deviation.powi(-2));
        let weights: Option<Vec<f64>> = group.elements().iter().map(weight).collect();
        let assumed = weights?.iter().sum::<f64>().powf(-0.5);
        let value = |run: &Vector| group_value(group, run, &learned);
        let (_, spread, _) = spread(hosts, value, assumed)?;
        Some(ExpectedGroup { group, spread })
    });
    learned.groups = groups.collect();
    learned
}

/// Standard deviation of one run on one more host that is assumed before any is known, in natural logarithms.
/// Those of runs on one idle virtual machine, with as much again between hosts.
fn assumed(element: Element) -> f64 {
    match element {
        Element::Multiply | Element::L1 | Element::L2 => 0.005,
        Element::Share => 0.01,
        Element::Clock | Element::Dram => 0.015,
        Element::Syscall | Element::L3 => 0.025,
        Element::CoreToCore => 0.08,
        Element::Disk => 0.2,
    }
}

/// Median and spread of a value over hosts, and how many have it.
fn spread(
    hosts: &Hosts,
    value: impl Fn(&Vector) -> Option<f64>,
    assumed: f64,
) -> Option<(f64, ElementSpread, usize)> {
    let of_host = |runs: &Vec<&Vector>| runs.iter().filter_map(|run| value(run)).collect();
    let all: Vec<Vec<f64>> =
        hosts.values().map(of_host).filter(|v: &Vec<f64>| !v.is_empty()).collect();
    let (middle, spread) = spread_over_hosts(&all, assumed)?;
    Some((middle, spread, all.len()))
}

/// Median and spread of one more value of one more host, given the values of each host, as logarithms. `None` without a
/// host.
pub fn spread_over_hosts(all: &[Vec<f64>], assumed: f64) -> Option<(f64, ElementSpread)> {
    let middles: Vec<f64> = all.iter().filter_map(|own| median(own.iter().copied())).collect();
    let middle = median(middles.iter().copied())?;
    let (hosts, runs) = (all.len() as f64, all.iter().map(Vec::len).sum::<usize>() as f64);
    // Steps from one run of a host to its next have twice the variance of a run.
    let steps = |own: &Vec<f64>| -> Vec<f64> {
        let pairs = own.windows(2);
        pairs.map(|pair| (pair[1] - pair[0]) / SQRT_2).collect()
    };
    let steps: Vec<f64> = all.iter().flat_map(steps).collect();
    let within = (!steps.is_empty()).then(|| robust_mean_square(&steps));
    let (seen, df, known_by) = match hosts > 1.0 {
        true => {
            let apart: Vec<f64> = middles.iter().map(|own| own - middle).collect();
            let between = robust_mean_square(&apart) * hosts / (hosts - 1.0);
            // The median of a host's runs varies less from run to run than one run.
            let rest = within.unwrap_or(0.0) * (1.0 - hosts / runs);
            (between + rest, hosts - 1.0, hosts)
        }
        false => (within.unwrap_or(0.0), steps.len() as f64, runs),
    };
    let variance = (ASSUMED_DF * assumed * assumed + df * seen) / (ASSUMED_DF + df);
    // Runs of one hour are more alike than those of a month.
    let variance = variance.max(assumed * assumed);
    let spread = ElementSpread {
        // The median's own variance is pi/2 that of a mean.
        deviation: (variance * (1.0 + FRAC_PI_2 / known_by)).sqrt(),
        degrees_of_freedom: ASSUMED_DF + df,
        within: within.map(f64::sqrt),
    };
    Some((middle, spread))
}
