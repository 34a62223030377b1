//! What is said of a host, from the tests of it.

use super::expectation::ElementGroup;
use super::identity::{Differs, Means};
use super::noise::Noise;
use super::published::DETECTABLE;
use super::{Element, Vector};
use crate::compare::finding::{Reason, Verdict};
use serde::Serialize;

/// With fewer elements to compare nothing is said.
pub(super) const LEAST_ELEMENTS: usize = 4;

/// What a host is, and why.
pub type VerdictWithReason = (Verdict, Option<Reason>);

/// One of the machines expected.
pub const FITS: VerdictWithReason = (Verdict::SameWithinNoise, None);
/// Another CPU, or another number of CPUs.
pub const ANOTHER_MACHINE: VerdictWithReason = (Verdict::Different, Some(Reason::Another));
/// The same CPU as far as can be seen, but slower or faster than the fleet's hosts.
pub const OUT_OF_RANGE: VerdictWithReason = (Verdict::Different, None);
/// The CPU that it says it is, but its memory takes longer than that of hosts with this CPU.
pub const SLOW: VerdictWithReason = (Verdict::Different, Some(Reason::Slower));
/// Nothing is known to compare with, or only a larger difference than matters would have been seen.
pub const INCONCLUSIVE: VerdictWithReason = (Verdict::CannotTell, Some(Reason::TooFew));
/// It was disturbed, or too little could be measured: measure again.
pub const NOT_QUIET: VerdictWithReason = (Verdict::CannotTell, Some(Reason::Disturbed));

/// What a test is of.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Tested {
    /// One element.
    Element(Element),
    /// The mean of several.
    Group(ElementGroup),
}

/// One test.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl Test {
    /// The element, unless it is of a group.
    pub(super) fn element(&self) -> Option<Element> {
        match self.of {
            Tested::Element(element) => Some(element),
            Tested::Group(_) => None,
        }
    }
}

pub(super) fn compared(tests: &[Test]) -> usize {
    tests.iter().filter_map(Test::element).count()
}

/// On runs.
pub(super) fn verdict_on_runs(
    vector: &Vector,
    identity: &[Differs],
    tests: &[Test],
) -> VerdictWithReason {
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

/// What is said of a host on published figures alone: of a disturbed one nothing, unless its CPU is another one.
pub(super) fn verdict_on_published(
    vector: &Vector,
    identity: &[Differs],
    tests: &[Test],
) -> VerdictWithReason {
    let shared = |noise: &Noise| matches!(noise, Noise::Contended | Noise::Partial(_));
    let of_design = |test: &Test| test.element().is_some_and(Element::is_of_design);
    let another_core = tests.iter().any(|test| test.differs && of_design(test));
    if identity.iter().any(|fact| fact.means == Means::Machine)
        || another_core && !vector.noise.iter().any(shared)
    {
        return ANOTHER_MACHINE;
    }
    match memory_of(tests) {
        _ if !vector.is_quiet() => NOT_QUIET,
        None => INCONCLUSIVE,
        Some(memory) if memory.differs => SLOW,
        Some(memory) if memory.allowed[1] > 1.0 + DETECTABLE => INCONCLUSIVE,
        Some(_) => FITS,
    }
}

/// The test of memory.
pub(super) fn memory_of(tests: &[Test]) -> Option<&Test> {
    tests.iter().find(|test| test.of == Tested::Element(Element::Dram))
}
