//! What a prediction is made of.

use super::curve::CurveExcess;
use super::family::{family_generation, type_family};
use crate::record::{CloudType, Membench};

/// A term of the prediction. Those of a group begin with its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// Mean.
    Group(usize),
    /// A family of types.
    Family(usize, String),
    /// What families of one generation share.
    Generation(usize, String),
    /// An L3, as stated.
    StatedL3(usize, Option<u32>),
    /// Slope over log2 of the number of CPUs.
    Cpus(usize),
    /// Slope of all groups over a part of [`CurveExcess`].
    SmallSets,
    HeldSets,
    EdgeSets,
    /// One or two CPUs.
    FewCpus,
    /// A largest set below three times L3.
    NearL3,
}

impl Term {
    /// What it is drawn to 0 by, in types: a family counts as its own after three.
    pub(super) fn penalty(&self) -> f64 {
        match self {
            Term::Group(_) => 1e-6,
            Term::Family(..) => 3.0,
            Term::Generation(..) => 0.5,
            Term::StatedL3(..) => 1.0,
            Term::Cpus(_) => 20.0,
            _ => 1e-3,
        }
    }
}

pub(super) fn log2_cpus(record: &CloudType) -> f64 {
    f64::from(record.vcpus).log2()
}

/// The terms of a type, with their values. Those of its own curve are there for the largest set only.
pub(super) fn terms(
    (place, group_log2_cpus): (usize, f64),
    record: &CloudType,
    from_curve: Option<(&Membench, CurveExcess)>,
) -> Vec<(Term, f64)> {
    let family = type_family(record);
    let generation = family_generation(&family).to_owned();
    let [.., l3] = record.cache_kib;
    let flag = |set: bool| f64::from(u8::from(set));
    let mut terms = vec![
        (Term::Group(place), 1.0),
        (Term::Family(place, family), 1.0),
        (Term::Generation(place, generation), 1.0),
        (Term::StatedL3(place, l3), 1.0),
        (Term::Cpus(place), log2_cpus(record) - group_log2_cpus),
        (Term::FewCpus, flag(record.vcpus <= 2)),
    ];
    if let Some((curve, excess)) = from_curve {
        let largest = curve.kib.last().copied().unwrap_or(0);
        let near = largest < 3 * u64::from(l3.unwrap_or(0));
        terms.extend([
            (Term::SmallSets, excess.small),
            (Term::HeldSets, excess.held.min(1.0)),
            (Term::EdgeSets, excess.edge.clamp(-1.0, 1.0)),
            (Term::NearL3, flag(near)),
        ]);
    }
    terms
}
