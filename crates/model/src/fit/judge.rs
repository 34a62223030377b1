//! Whether a run is one of the machines expected.

use super::expectation::{Expectation, FEW_HOSTS, Group, Spread};
use super::identity::{Differs, Means};
use super::noise::Noise;
use super::{Element, Vector};
use crate::compare::finding::{Reason, Verdict};
use crate::compare::student;
use crate::stats::Interval;
use schemars::JsonSchema;
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

/// With fewer elements to compare nothing is said.
pub(super) const LEAST_ELEMENTS: usize = 4;

/// What a host is, and why.
pub type Answer = (Verdict, Option<Reason>);

/// One of the machines expected.
pub const FITS: Answer = (Verdict::SameWithinNoise, None);
/// Another CPU, or another number of CPUs.
pub const ANOTHER_MACHINE: Answer = (Verdict::Different, Some(Reason::Another));
/// The same CPU as far as can be seen, but slower or faster than the fleet's hosts.
pub const OUT_OF_RANGE: Answer = (Verdict::Different, None);
/// It was disturbed, or too little could be measured: measure again.
pub const NOT_QUIET: Answer = (Verdict::CannotTell, Some(Reason::Disturbed));

/// What a test is of.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(untagged)]
pub enum Tested {
    /// One element.
    Element(Element),
    /// The mean of several.
    Group(Group),
}

/// One test.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// Of what.
    pub of: Tested,
    /// Here; absent of a group.
    pub here: Option<f64>,
    /// Median of the fleet; absent of a group.
    pub expected: Option<f64>,
    /// Here over expected; of a group how much slower, as a mean.
    pub factor: f64,
    /// Lowest and highest factor of a good host.
    pub allowed: [f64; 2],
    /// Whether it differs.
    pub differs: bool,
}

/// An element that can't be compared.
#[derive(Serialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct NotCompared {
    /// Which.
    pub element: Element,
    /// Why.
    pub why: String,
}

/// What came of it.
#[derive(Serialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Judged {
    /// Whether it fits; in JSON `fits`, `another_machine`, `out_of_range` or `not_quiet`.
    #[serde(serialize_with = "as_name")]
    #[schemars(with = "String")]
    pub verdict: Answer,
    /// The host.
    pub host: String,
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
}

impl Judged {
    /// The elements that were compared, if they are too few to say anything.
    pub fn too_few(&self) -> Option<usize> {
        Some(compared(&self.tests)).filter(|&compared| compared < LEAST_ELEMENTS)
    }
}

impl Test {
    /// The element, unless it is of a group.
    fn element(&self) -> Option<Element> {
        match self.of {
            Tested::Element(element) => Some(element),
            Tested::Group(_) => None,
        }
    }
}

fn as_name<S: Serializer>(verdict: &Answer, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match *verdict {
        FITS => "fits",
        ANOTHER_MACHINE => "another_machine",
        OUT_OF_RANGE => "out_of_range",
        _ => "not_quiet",
    })
}

fn compared(tests: &[Test]) -> usize {
    tests.iter().filter_map(Test::element).count()
}

/// Judges the vector of a run.
pub fn judge(vector: &Vector, expected: &Expectation) -> Judged {
    let tests = tests(vector, expected);
    let identity = vector.identity.differs(&expected.identity);
    Judged {
        verdict: verdict(vector, &identity, &tests),
        host: vector.host.clone(),
        identity,
        not_compared: not_compared(vector, expected),
        tests,
        noise: vector.noise.clone(),
        throttled_share: vector.throttled_share,
        hosts: expected.hosts.len(),
        runs: expected.runs,
        few_hosts: expected.hosts.len() < FEW_HOSTS && expected.hosts != [vector.host.clone()],
    }
}

fn verdict(vector: &Vector, identity: &[Differs], tests: &[Test]) -> Answer {
    let differing = || tests.iter().filter(|test| test.differs);
    let differs = |wanted: fn(Element) -> bool| differing().filter_map(Test::element).any(wanted);
    let shared = |noise: &Noise| matches!(noise, Noise::Contended | Noise::Partial(_));
    if identity.iter().any(|fact| fact.means == Means::Machine) {
        return ANOTHER_MACHINE;
    }
    // A setting, or what the quota took, no other program explains.
    let by_quota = vector.throttled_share.is_some() && differs(|e| e == Element::Share);
    if by_quota || identity.iter().any(|fact| fact.means == Means::Setting) {
        return OUT_OF_RANGE;
    }
    // Cycles of quiet samples hold on a loaded machine too.
    if !vector.noise.iter().any(shared) && differs(Element::is_of_design) {
        return ANOTHER_MACHINE;
    }
    if compared(tests) < LEAST_ELEMENTS {
        return NOT_QUIET;
    }
    // No canary watches the disk: other programs may be using it.
    let disk = Tested::Element(Element::Disk);
    let quiet = vector.noise.is_empty() && !differing().all(|test| test.of == disk);
    match (differing().next(), quiet) {
        (None, _) => FITS,
        (Some(_), true) => OUT_OF_RANGE,
        (Some(_), false) => NOT_QUIET,
    }
}

fn not_compared(vector: &Vector, expected: &Expectation) -> Vec<NotCompared> {
    let missing = vector.elements.iter().filter_map(|(element, value)| {
        let why = match (value.get(), expected.element(*element)) {
            (Some(_), Some(_)) => return None,
            (None, _) => value.unknown.clone().unwrap_or_default(),
            (Some(_), None) => "not in the expectation".into(),
        };
        let element = *element;
        Some(NotCompared { element, why })
    });
    missing.collect()
}

/// How much slower a value may be, as a logarithm: its quantile of Student's t at an equal part of [`ALPHA`] for
/// each test that can be wrong by chance, and no less than matters. What belongs to the design varies by less than a
/// tenth of that.
fn reach(of: Tested, spread: &Spread, expected: &Expectation) -> f64 {
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

/// How much faster a value may be, over how much slower: what belongs to the design is neither.
fn faster(of: Tested) -> f64 {
    match of {
        Tested::Element(element) if element.is_of_design() => 1.0,
        _ => FASTER,
    }
}

fn tests(vector: &Vector, expected: &Expectation) -> Vec<Test> {
    let test = |(of, off, reach): (Tested, f64, f64)| {
        let alike = -reach * expected.limit * faster(of)..=reach * expected.limit;
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
    let one = |(of, off, reach): (Tested, f64, f64)| (off / reach).max(-off / reach / faster(of));
    offs(vector, expected).map(one).fold(0.0, f64::max)
}

/// How much slower a run is in a group of elements, as a logarithm: their mean, each with the weight of how well it
/// is known. `None` where one is missing.
pub(super) fn group_value(group: Group, vector: &Vector, expected: &Expectation) -> Option<f64> {
    let mut sums = (0.0, 0.0);
    for element in group.elements() {
        let own = expected.element(*element)?;
        let weight = own.spread.deviation.powi(-2);
        let off = (vector.value(*element)? / own.median).ln() * element.slower();
        sums = (sums.0 + weight * off, sums.1 + weight);
    }
    Some(sums.0 / sums.1)
}
