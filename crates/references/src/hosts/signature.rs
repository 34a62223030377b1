//! What hosts with one CPU take for a load from memory, whatever their provider.

use super::groups::sortable_signature;
use crate::record::{CloudType, Provider};
use model::fit::expectation::ElementSpread;
use model::fit::learn::spread_over_hosts;
use std::collections::BTreeMap;

/// What two providers' hosts with one CPU differ by before anything is known of it, as a logarithm: the spread of
/// 64 medians of providers about those of 17 signatures.
const PROVIDERS_DIFFER: f64 = 0.10;

/// A CPU by its signature, of ARM by its design.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignatureKey {
    /// Vendor, family, model and stepping.
    X86(&'static str, [u32; 3]),
    /// `Neoverse-N1`.
    Design(String),
}

impl SignatureKey {
    /// That of a type.
    pub fn of_type(record: &CloudType) -> SignatureKey {
        match record.signature.and_then(sortable_signature) {
            Some((vendor, numbers)) => SignatureKey::X86(vendor, numbers),
            None => SignatureKey::Design(record.cpu.clone()),
        }
    }
}

/// Types with this CPU of which the time of a load beyond every cache is known, by provider, with its logarithm.
pub type TypesByProvider = BTreeMap<Provider, Vec<(&'static CloudType, f64)>>;

/// All CPUs with what is known of them.
pub fn signature_keys(records: &'static [CloudType]) -> BTreeMap<SignatureKey, TypesByProvider> {
    let mut all: BTreeMap<SignatureKey, TypesByProvider> = BTreeMap::new();
    for record in records {
        if let Some(dram) = record.membench.as_ref().and_then(|curve| curve.dram) {
            let types = all.entry(SignatureKey::of_type(record)).or_default();
            types.entry(record.provider).or_default().push((record, dram.ln()));
        }
    }
    all
}

/// The time that is expected of a host of one more provider, as a logarithm, and its spread. `None` without a type.
pub fn signature_memory(types: &TypesByProvider) -> Option<(f64, ElementSpread)> {
    let values = types.values().map(|types| types.iter().map(|(_, ln_ns)| *ln_ns).collect());
    spread_over_hosts(&values.collect::<Vec<Vec<f64>>>(), PROVIDERS_DIFFER)
}
