//! Whether a run is one of the machines expected.

use super::expectation::{ElementGroup, ElementSpread, Expectation, FEW_HOSTS};
use super::identity::Differs;
use super::noise::Noise;
use super::published::{Basis, PublishedHosts, SPREADS, published_reach};
pub use super::verdict::{
    ANOTHER_MACHINE, FITS, INCONCLUSIVE, NOT_QUIET, OUT_OF_RANGE, SLOW, Test, Tested,
    VerdictWithReason,
};
use super::verdict::{LEAST_ELEMENTS, compared, memory_of, verdict_on_published, verdict_on_runs};
use super::{Element, Vector};
use crate::compare::finding::Verdict;
use crate::compare::student;
use crate::stats::Interval;
use serde::{Serialize, Serializer};

/// Chance that a good and quiet host is called different, over all tests of it.
pub const ALPHA: f64 = 0.02;

/// What differs by less than this is the same for any use, however well it is known.
const MARGIN: f64 = 0.05;
/// The same of the share of the CPU and the disk, which any other program moves.
const WIDE_MARGIN: f64 = 0.10;

/// Cycles are times by a clock that was measured beside them: they are known no better than so many times what the
/// clock varies by from run to run.
const OF_CLOCK: f64 = 2.0;

/// A faster host is no worse: it differs only beyond so many times what a slower one may.
const FASTER: f64 = 2.0;

/// An element that can't be compared.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotCompared {
    /// Which.
    pub element: Element,
    /// Why.
    pub why: String,
}

/// What came of it.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// Whether it fits; in JSON `fits`, `another_machine`, `out_of_range`, `slow`, `not_quiet` or `inconclusive`.
    #[serde(serialize_with = "as_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub verdict: VerdictWithReason,
    /// The host.
    pub host: String,
    /// What it was held against.
    pub basis: Basis,
    /// Facts of the machine that differ.
    pub identity: Vec<Differs>,
    /// All tests, in the order of the elements.
    pub tests: Vec<Test>,
    /// Elements without a test.
    pub not_compared: Vec<NotCompared>,
    /// What disturbed the run.
    pub noise: Vec<Noise>,
    /// Share of the run for which a CPU quota stopped it.
    pub throttled_share: Option<f64>,
    /// Hosts that the expectation was learned from.
    pub hosts: usize,
    /// Their runs.
    pub runs: usize,
    /// Whether these are too few to know how hosts differ.
    pub few_hosts: bool,
    /// What published figures say, where this is on runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Box<Judged>>,
}

impl Judged {
    /// The smallest share by which a slower memory would be seen; none where it was not compared.
    pub fn detectable(&self) -> Option<f64> {
        memory_of(&self.tests).map(|memory| memory.allowed[1] - 1.0)
    }

    /// The hosts whose published figures it was held against.
    pub fn published_hosts(&self) -> Option<&PublishedHosts> {
        match &self.basis {
            Basis::Published(hosts) => Some(hosts),
            Basis::Runs => None,
        }
    }

    /// The elements that were compared, if they are too few to say anything.
    pub fn too_few(&self) -> Option<usize> {
        let needed = matches!(self.basis, Basis::Runs);
        Some(compared(&self.tests)).filter(|&compared| needed && compared < LEAST_ELEMENTS)
    }

    /// Whether the runs and the published figures say opposite things of the host.
    pub fn published_disagrees(&self) -> bool {
        let of_published = self.published.as_ref().map(|published| published.verdict.0);
        matches!(
            (self.verdict.0, of_published),
            (Verdict::SameWithinNoise, Some(Verdict::Different))
                | (Verdict::Different, Some(Verdict::SameWithinNoise))
        )
    }
}

fn as_name<S: Serializer>(verdict: &VerdictWithReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match *verdict {
        FITS => "fits",
        ANOTHER_MACHINE => "another_machine",
        OUT_OF_RANGE => "out_of_range",
        SLOW => "slow",
        INCONCLUSIVE => "inconclusive",
        _ => "not_quiet",
    })
}

/// Judges the vector of a run.
pub fn judge_host(vector: &Vector, expected: &Expectation) -> Judged {
    let tests = tests(vector, expected);
    let mut identity = vector.identity.differs(&expected.identity);
    let verdict = match &expected.basis {
        Basis::Runs => verdict_on_runs(vector, &identity, &tests),
        Basis::Published(hosts) => {
            identity.extend(hosts.contradictions.iter().cloned());
            verdict_on_published(vector, &identity, &tests)
        }
    };
    Judged {
        verdict,
        host: vector.host.clone(),
        basis: expected.basis.clone(),
        identity,
        not_compared: not_compared(vector, expected),
        tests,
        noise: vector.noise.clone(),
        throttled_share: vector.throttled_share,
        hosts: expected.hosts.len(),
        runs: expected.runs,
        few_hosts: expected.basis == Basis::Runs
            && expected.hosts.len() < FEW_HOSTS
            && expected.hosts != [vector.host.clone()],
        published: None,
    }
}

fn not_compared(vector: &Vector, expected: &Expectation) -> Vec<NotCompared> {
    let missing = vector.elements.iter().filter_map(|(element, value)| {
        let why = match (value.get(), expected.element(*element), &expected.basis) {
            (Some(_), Some(_), _) => return None,
            // Published figures are of few elements: only what they should have is named.
            (_, None, Basis::Published(hosts)) => {
                hosts.no_memory.clone().filter(|_| *element == Element::Dram)?
            }
            (None, ..) => value.unknown.clone().unwrap_or_default(),
            (Some(_), None, Basis::Runs) => "not in the expectation".into(),
        };
        let element = *element;
        Some(NotCompared { element, why })
    });
    missing.collect()
}

/// How much slower a value may be, as a logarithm: its quantile of Student's t at an equal part of [`ALPHA`] for
/// each test that can be wrong by chance, and no less than matters. What belongs to the design varies by less than a
/// tenth of that.
fn reach(of: Tested, spread: &ElementSpread, expected: &Expectation) -> f64 {
    if let Basis::Published(hosts) = &expected.basis {
        return match of {
            Tested::Element(element) if element.is_of_design() => {
                (SPREADS * spread.deviation).max(margin(of, expected))
            }
            _ => published_reach(spread.deviation, hosts.spreads()),
        };
    }
    let elements = expected.elements.iter();
    let tests = elements.filter(|own| !own.element.is_of_design()).count() + expected.groups.len();
    let level = 1.0 - ALPHA / tests.max(1) as f64;
    let quantile = student::quantile(level, spread.degrees_of_freedom);
    (spread.deviation * quantile).max(margin(of, expected))
}

fn margin(of: Tested, expected: &Expectation) -> f64 {
    match of {
        Tested::Element(Element::Share | Element::Disk) => WIDE_MARGIN.ln_1p(),
        Tested::Element(element) if element.is_of_design() => {
            let clock = expected.element(Element::Clock).map(|own| own.spread);
            let varies = clock.map_or(0.0, |clock| clock.within.unwrap_or(clock.deviation));
            MARGIN.ln_1p().max(OF_CLOCK * varies)
        }
        _ => MARGIN.ln_1p(),
    }
}

/// Each test: of what, how much slower it is as a logarithm, and how much it may be.
fn offs<'v>(
    vector: &'v Vector,
    expected: &'v Expectation,
) -> impl Iterator<Item = (Tested, f64, f64)> + 'v {
    let elements = expected.elements.iter().filter_map(|own| {
        let (element, of) = (own.element, Tested::Element(own.element));
        let off = (vector.value(element)? / own.median).ln() * element.slower();
        Some((of, off, reach(of, &own.spread, expected)))
    });
    let groups = expected.groups.iter().filter_map(|own| {
        let of = Tested::Group(own.group);
        let off = group_value(own.group, vector, expected)?;
        Some((of, off, reach(of, &own.spread, expected)))
    });
    elements.chain(groups)
}

/// How much faster a value may be, over how much slower: what belongs to the design is neither. Published hosts are of
/// any memory: none is too fast.
fn faster(of: Tested, basis: &Basis) -> f64 {
    match of {
        Tested::Element(element) if element.is_of_design() => 1.0,
        _ if *basis != Basis::Runs => f64::INFINITY,
        _ => FASTER,
    }
}

fn tests(vector: &Vector, expected: &Expectation) -> Vec<Test> {
    let test = |(of, off, reach): (Tested, f64, f64)| {
        let alike = -reach * expected.limit * faster(of, &expected.basis)..=reach * expected.limit;
        let (here, median, sign) = match of {
            Tested::Element(element) => (
                vector.value(element),
                expected.element(element).map(|own| own.median),
                element.slower(),
            ),
            Tested::Group(_) => (None, None, 1.0),
        };
        let mut allowed = [alike.start(), alike.end()].map(|end| (end * sign).exp());
        allowed.sort_by(f64::total_cmp);
        Test {
            of,
            here,
            expected: median,
            factor: (off * sign).exp(),
            allowed,
            differs: Verdict::of_range(Some(&Interval::about(off, 0.0)), alike)
                == Verdict::Different,
        }
    };
    offs(vector, expected).map(test).collect()
}

/// How far a run is from what is expected: the largest of its tests, in units of what each may differ by. Above 1
/// it differs by the model.
pub(super) fn score(vector: &Vector, expected: &Expectation) -> f64 {
    let one = |(of, off, reach): (Tested, f64, f64)| {
        (off / reach).max(-off / reach / faster(of, &expected.basis))
    };
    offs(vector, expected).map(one).fold(0.0, f64::max)
}

/// How much slower a run is in a group of elements, as a logarithm: their mean, each with the weight of how well it
/// is known. `None` where one is missing.
pub(super) fn group_value(
    group: ElementGroup,
    vector: &Vector,
    expected: &Expectation,
) -> Option<f64> {
    let mut sums = (0.0, 0.0);
    for element in group.elements() {
        let own = expected.element(*element)?;
        let weight = own.spread.deviation.powi(-2);
        let off = (vector.value(*element)? / own.median).ln() * element.slower();
        sums = (sums.0 + weight * off, sums.1 + weight);
    }
    Some(sums.0 / sums.1)
}
