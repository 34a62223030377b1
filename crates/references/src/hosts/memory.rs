//! Loads from memory of the published hosts that a host is held against.

use super::groups::{GroupKey, LEAST_TYPES, Response, sortable_signature};
use super::prediction::HostModel;
use super::signature::{SignatureKey, signature_keys, signature_memory};
use crate::cloud_types;
use crate::machine::{MachineIdentity, plain_cpu_name};
use crate::packed::DamagedRecords;
use crate::record::{CloudArch, CloudType, Provider};
use model::fit::expectation::ElementSpread;
use model::machine::CacheFact;
use model::run::{Outcome, Run};
use model::size::format_size;
use model::stats::median;
use std::fmt;

/// The largest set must exceed the L3 of other hosts with this CPU so many times: a hypervisor may state a smaller one.
const SETS_BEYOND_L3: u64 = 2;

/// Why nothing is expected of a host's memory.
#[derive(Clone, Debug, PartialEq)]
pub enum NothingPublished {
    /// An emulator runs the instructions: its figures are the emulator's.
    Emulated,
    /// The CPU is not what it shows, or a model that the hypervisor was asked to show.
    CpuHidden,
    /// The machine does not say what its CPU is.
    CpuUnknown,
    /// Too few hosts with this CPU.
    TooFew {
        /// The CPU.
        cpu: String,
        /// Hosts.
        types: usize,
    },
    /// The largest set may lie within the L3 that other hosts with this CPU have.
    WithinL3 {
        /// Bytes of the largest set; none where none was measured.
        largest: Option<u64>,
        /// Bytes of L3 elsewhere.
        l3: u64,
    },
}

impl fmt::Display for NothingPublished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NothingPublished::Emulated => f.write_str("the CPU is emulated"),
            NothingPublished::CpuHidden => f.write_str("the hypervisor hides which CPU this is"),
            NothingPublished::CpuUnknown => f.write_str("the CPU has no known signature"),
            NothingPublished::TooFew { cpu, types } => {
                write!(f, "{types} published hosts have {cpu}, {LEAST_TYPES} needed")
            }
            NothingPublished::WithinL3 { largest, l3 } => {
                let largest = largest.map_or("none".into(), format_size);
                let l3 = format_size(*l3);
                write!(f, "the largest set ({largest}) may lie in an L3 of {l3}, as others have")
            }
        }
    }
}

/// What hosts with this CPU take for a load from memory.
pub(super) struct MemoryOfHosts {
    pub(super) types: Vec<&'static CloudType>,
    /// Median, as predicted for this host.
    pub(super) ns: f64,
    pub(super) spread: ElementSpread,
    /// What they have in common.
    pub(super) cpu: String,
    /// Whose they are, if they are of one.
    pub(super) provider: Option<Provider>,
}

/// Those of this provider, else all with this CPU.
pub(super) fn memory_of_hosts(
    run: &Run,
    identity: &MachineIdentity,
) -> Result<Result<MemoryOfHosts, NothingPublished>, DamagedRecords> {
    let records = cloud_types()?;
    let l3 = run.machine.caches.get().and_then(|caches| stated_l3(caches));
    let found =
        of_provider(identity, l3, records).map_or_else(|| of_signature(identity, records), Ok);
    Ok(found.and_then(|memory| {
        let largest = largest_set(run);
        match usual_l3(&memory.types) {
            Some(l3) if largest.is_none_or(|largest| largest < SETS_BEYOND_L3 * l3) => {
                Err(NothingPublished::WithinL3 { largest, l3 })
            }
            _ => Ok(memory),
        }
    }))
}

/// The group of this provider's types with this CPU.
fn of_provider(
    identity: &MachineIdentity,
    l3: Option<u64>,
    records: &'static [CloudType],
) -> Option<MemoryOfHosts> {
    let provider = identity.provider()?;
    let design = identity.designs.first().map(|design| design.replace(' ', "-"));
    let name = identity.cpu_name.clone().filter(|_| identity.x86.is_some()).or(design)?;
    let cpu = plain_cpu_name(&name);
    let signature = identity.x86.and_then(sortable_signature);
    let like = CloudType {
        provider,
        type_name: identity.product.as_ref()?.split(' ').next_back()?.into(),
        cpu: name,
        signature: identity.x86,
        arch: CloudArch::default(),
        vcpus: identity.cpus?,
        threads_per_core: 1,
        sockets: 1,
        numa_nodes: 1,
        hypervisor: None,
        cache_kib: [None, None, l3.and_then(|bytes| u32::try_from(bytes >> 10).ok())],
        dmi_is_type: false,
        membench: None,
        bw_mem: None,
        stress: None,
    };
    let key = GroupKey { provider, cpu, signature };
    let model = HostModel::fitted(records, Response::BeyondCaches)?;
    let (types, ns, deviation) = model.predict(&key, &like)?;
    let degrees_of_freedom = types.len() as f64;
    let spread = ElementSpread { deviation, degrees_of_freedom, within: None };
    let cpu = format!("{} of {}", like.cpu, provider.text());
    Some(MemoryOfHosts { types, ns, spread, cpu, provider: Some(provider) })
}

/// All hosts with this CPU.
fn of_signature(
    identity: &MachineIdentity,
    records: &'static [CloudType],
) -> Result<MemoryOfHosts, NothingPublished> {
    let (key, cpu) = match (identity.x86, identity.own_signature(), identity.designs.first()) {
        (Some(_), None, _) => return Err(NothingPublished::CpuHidden),
        (_, Some((vendor, signature)), _) => {
            let Some((name, numbers)) = sortable_signature((vendor, signature)) else {
                return Err(NothingPublished::CpuUnknown);
            };
            let [family, model, stepping] = numbers;
            let cpu = format!("CPU signature {name} {family}.{model}.{stepping}");
            (SignatureKey::X86(name, numbers), cpu)
        }
        (None, None, Some(design)) => {
            (SignatureKey::Design(design.replace(' ', "-")), design.clone())
        }
        (None, None, None) => return Err(NothingPublished::CpuUnknown),
    };
    let all = signature_keys(records);
    let by_provider = all.get(&key).cloned().unwrap_or_default();
    let types: Vec<&CloudType> =
        by_provider.values().flatten().map(|(record, _)| *record).collect();
    match signature_memory(&by_provider).filter(|_| types.len() >= LEAST_TYPES) {
        Some((ln_ns, spread)) => {
            Ok(MemoryOfHosts { types, ns: ln_ns.exp(), spread, cpu, provider: None })
        }
        None => Err(NothingPublished::TooFew { cpu, types: types.len() }),
    }
}

/// Bytes of the L3 that most of these types state.
pub(super) fn usual_l3(types: &[&CloudType]) -> Option<u64> {
    let stated = types.iter().filter_map(|record| record.cache_kib[2]);
    median(stated.map(f64::from)).map(|kib| (kib as u64) << 10)
}

/// Bytes of the last of three levels of cache.
pub(super) fn stated_l3(caches: &[CacheFact]) -> Option<u64> {
    caches.iter().filter(|cache| cache.level == 3).filter_map(|cache| cache.size_bytes).max()
}

/// Bytes of the largest set that a chase went through.
fn largest_set(run: &Run) -> Option<u64> {
    match &run.row("memory.latency")?.outcome {
        Outcome::Curve { points, .. } => points.last().map(|point| point.x),
        _ => None,
    }
}
