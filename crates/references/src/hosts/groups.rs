//! Which types are alike.

use crate::machine::plain_cpu_name;
use crate::record::{CloudType, Membench, Provider, X86Vendor};
use model::machine::CpuSignature;
use std::collections::BTreeMap;

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The time of a load in the largest set; from the type's own smaller sets too. For types among themselves.
    LargestSet,
    /// The time beyond every cache, which a row of latlas measures too: from what a host says of itself alone.
    BeyondCaches,
}

impl Response {
    pub(super) fn ns_of(self, curve: &Membench) -> Option<f64> {
        match self {
            Response::LargestSet => curve.ns.last().copied(),
            Response::BeyondCaches => curve.dram,
        }
    }
}

/// A group needs as many types.
pub const LEAST_TYPES: usize = 12;

/// What the types of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey {
    /// Whose hosts.
    pub provider: Provider,
    /// The CPU's plain name.
    pub cpu: String,
    /// Its signature, of x86.
    pub signature: Option<(&'static str, [u32; 3])>,
}

impl GroupKey {
    /// That of a type.
    pub fn of_type(record: &CloudType) -> GroupKey {
        GroupKey {
            provider: record.provider,
            cpu: plain_cpu_name(&record.cpu),
            signature: record.signature.and_then(sortable_signature),
        }
    }
}

/// A signature that can be a key.
pub(super) fn sortable_signature(
    (vendor, signature): (X86Vendor, CpuSignature),
) -> Option<(&'static str, [u32; 3])> {
    match signature {
        CpuSignature::X86 { family, model, stepping } => {
            Some((vendor.cpuid_name(), [family, model, stepping]))
        }
        CpuSignature::Arm { .. } => None,
    }
}

/// Groups that are large enough, by key; the hosts of each in the order of the records.
pub(super) fn large_groups(
    records: &'static [CloudType],
    response: Response,
) -> BTreeMap<GroupKey, Vec<(&'static CloudType, &'static Membench)>> {
    let mut groups: BTreeMap<GroupKey, Vec<_>> = BTreeMap::new();
    for record in records {
        let curve = record.membench.as_ref();
        if let Some(curve) = curve.filter(|curve| response.ns_of(curve).is_some()) {
            groups.entry(GroupKey::of_type(record)).or_default().push((record, curve));
        }
    }
    groups.retain(|_, hosts| hosts.len() >= LEAST_TYPES);
    groups
}
