//! From what a machine shows to the records of it. Never a neighbour: where no record is of this CPU, those of its
//! microarchitecture are taken and say so, and without these there are none.

use super::cpu_name::{plain_board_name, plain_cpu_name};
use super::{MachineIdentity, MachineRecords, MatchCertainty, MatchedBy, RecordGroup};
use crate::brief::{BoardBrief, BriefRecord, CloudBrief, TimingBrief};
use crate::packed::DamagedRecords;
use crate::record::{
    BoardReport, CloudType, CoreMatrix, InstructionTimings, Provider, PublishedRecord, X86Vendor,
    x86_signature,
};
use crate::{
    board_briefs, board_reports, cloud_briefs, cloud_types, core_matrices, instruction_timings,
    timing_briefs,
};
use model::machine::CpuSignature;
use serde::Deserialize;
use sys::microarchitecture::microarchitecture;

/// The records of a machine.
pub fn find_records(identity: &MachineIdentity) -> Result<MachineRecords, DamagedRecords> {
    let timings = timing_briefs()?;
    let of_design = whole_group(instructions_of_design(identity, timings))?;
    Ok(MachineRecords {
        instructions: whole_group(of_instructions(identity, timings))?.or(of_design.clone()),
        instructions_of_design: of_design,
        cloud: whole_group(of_cloud(identity, cloud_briefs()?))?,
        boards: whole_group(of_boards(identity, board_briefs()?))?,
        matrices: of_matrices(identity, core_matrices()?),
        doubts: identity.doubts.clone(),
    })
}

/// Every record of machines with the cores of one, whatever else they are.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignPeers {
    /// Design of its first CPU.
    pub design: String,
    /// CPUs.
    pub instructions: Vec<&'static InstructionTimings>,
    /// Cloud types.
    pub cloud: Vec<&'static CloudType>,
    /// Boards: of ARM only, since those of x86 have a CPU's name for a core.
    pub boards: Vec<&'static BoardReport>,
}

/// The machines with the cores of this one; none where its design is not known or may be another.
pub fn design_peers(identity: &MachineIdentity) -> Result<Option<DesignPeers>, DamagedRecords> {
    let Some(design) = identity.designs.first().cloned() else {
        return Ok(None);
    };
    let of_design = |signature| has_design(identity, signature);
    let is_arm = identity.x86.is_none();
    let dashed = design.replace(' ', "-");
    let type_is = |one: &&CloudType| match one.signature {
        Some(signature) => of_design(signature),
        None => is_arm && one.cpu == dashed,
    };
    let has_core = |one: &&BoardReport| {
        is_arm && one.clusters.iter().any(|cluster| cluster.core.as_ref() == Some(&design))
    };
    let timed = instruction_timings()?.iter();
    Ok(Some(DesignPeers {
        instructions: timed.filter(|one| of_design((one.vendor, one.cpu_signature()))).collect(),
        cloud: cloud_types()?.iter().filter(type_is).collect(),
        boards: board_reports()?.iter().filter(has_core).collect(),
        design,
    }))
}

/// Those that satisfy a condition; none if none does.
fn group<R>(
    records: &'static [R],
    matched_by: MatchedBy,
    certainty: MatchCertainty,
    condition: impl Fn(&R) -> bool,
) -> Option<RecordGroup<R>> {
    let records: Vec<&R> = records.iter().filter(|record| condition(record)).collect();
    (!records.is_empty()).then_some(RecordGroup { records, matched_by, certainty })
}

/// Records parsed in part.
type BriefGroup<B, R> = Option<RecordGroup<BriefRecord<B, R>>>;

/// The same records, parsed as a whole.
fn whole_group<B: Deserialize<'static>, R: PublishedRecord>(
    brief: BriefGroup<B, R>,
) -> Result<Option<RecordGroup<R>>, DamagedRecords> {
    let Some(RecordGroup { records, matched_by, certainty }) = brief else {
        return Ok(None);
    };
    let records = records.into_iter().map(BriefRecord::whole).collect::<Result<_, _>>()?;
    Ok(Some(RecordGroup { records, matched_by, certainty }))
}

/// Whether the design of a record's CPU is that of the machine's first.
fn has_design(identity: &MachineIdentity, (vendor, signature): (X86Vendor, CpuSignature)) -> bool {
    let design = microarchitecture(vendor.cpuid_name(), &signature);
    identity.own_signature().is_some()
        && design.is_some()
        && design == identity.designs.first().map(String::as_str)
}

type BriefTiming = BriefRecord<TimingBrief, InstructionTimings>;

fn of_instructions(
    identity: &MachineIdentity,
    all: &'static [BriefTiming],
) -> Option<RecordGroup<BriefTiming>> {
    let shown = identity.own_signature()?;
    group(all, MatchedBy::Signature, MatchCertainty::Sure, |BriefRecord { brief, .. }| {
        (brief.vendor, x86_signature(brief.fms)) == shown
    })
}

fn instructions_of_design(
    identity: &MachineIdentity,
    all: &'static [BriefTiming],
) -> Option<RecordGroup<BriefTiming>> {
    group(all, MatchedBy::Design, MatchCertainty::Weak, |BriefRecord { brief, .. }| {
        has_design(identity, (brief.vendor, x86_signature(brief.fms)))
    })
}

type BriefCloud = BriefRecord<CloudBrief, CloudType>;

fn of_cloud(
    identity: &MachineIdentity,
    all: &'static [BriefCloud],
) -> Option<RecordGroup<BriefCloud>> {
    let provider = identity.provider();
    let product = identity.product.as_deref().and_then(|product| product.split(' ').next_back());
    let of_provider = |record: &CloudBrief| provider == Some(record.provider);
    let as_many = |record: &CloudBrief| identity.cpus == Some(record.vcpus);
    // Of ARM the records have the design only, of x86 the signature.
    let designs: Vec<String> =
        identity.designs.iter().map(|design| design.replace(' ', "-")).collect();
    let same_cpu = |record: &CloudBrief| match record.signature {
        Some(signature) => identity.own_signature() == Some(signature),
        None => identity.x86.is_none() && designs.first().is_some_and(|own| *own == record.cpu),
    };
    // What a provider's hypervisor shows is the same on all of its hosts of a type.
    let same_name = |record: &CloudBrief| {
        let name = identity.cpu_name.as_deref().map(plain_cpu_name);
        record.signature == identity.x86 && name == Some(plain_cpu_name(&record.cpu))
    };
    let (matched_by, of_this_cpu) = match identity.x86 {
        Some(_) => (MatchedBy::Signature, MatchCertainty::Likely),
        None => (MatchedBy::Design, MatchCertainty::Weak),
    };
    group(all, MatchedBy::CloudTypeName, MatchCertainty::Sure, |BriefRecord { brief, .. }| {
        of_provider(brief) && brief.dmi_is_type && product == Some(&brief.type_name)
    })
    .or_else(|| {
        group(all, MatchedBy::ProviderAndSize, MatchCertainty::Likely, |record| {
            let brief = &record.brief;
            of_provider(brief) && (same_cpu(brief) || same_name(brief)) && as_many(brief)
        })
    })
    .or_else(|| group(all, matched_by, of_this_cpu, |record| same_cpu(&record.brief)))
    .or_else(|| {
        group(all, MatchedBy::Design, MatchCertainty::Weak, |BriefRecord { brief, .. }| {
            brief.signature.is_some_and(|signature| has_design(identity, signature))
        })
    })
}

type BriefBoard = BriefRecord<BoardBrief, BoardReport>;

fn of_boards(
    identity: &MachineIdentity,
    all: &'static [BriefBoard],
) -> Option<RecordGroup<BriefBoard>> {
    let shown = identity.device.as_deref().or(identity.product.as_deref()).map(plain_board_name);
    let named =
        |name: &Option<String>| name.as_deref().map(plain_board_name) == shown && shown.is_some();
    group(all, MatchedBy::BoardName, MatchCertainty::Sure, |BriefRecord { brief, .. }| {
        named(&brief.device_tree) || named(&brief.board)
    })
    .or_else(|| {
        // A board of x86 has a CPU's name for a core, which says too little.
        let design = identity.designs.first().filter(|_| identity.x86.is_none())?;
        group(all, MatchedBy::Design, MatchCertainty::Weak, |BriefRecord { brief, .. }| {
            brief.clusters.iter().any(|cluster| cluster.core.as_ref() == Some(design))
        })
    })
}

fn of_matrices(
    identity: &MachineIdentity,
    all: &'static [CoreMatrix],
) -> Option<RecordGroup<CoreMatrix>> {
    let dual = if identity.sockets == Some(2) { "dual " } else { "" };
    let cpu = identity.cpu_name.as_deref().map(|name| format!("{dual}{}", plain_cpu_name(name)));
    let graviton = graviton(identity);
    let device = identity.device.as_deref().map(plain_board_name);
    let board = |machine: &str| {
        let name = machine.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        name.is_some() && name.map(plain_board_name) == device
    };
    let same_cpu = |record: &CoreMatrix| cpu.as_ref() == Some(&plain_cpu_name(&record.machine));
    group(all, MatchedBy::CpuName, MatchCertainty::Sure, |record| {
        graviton.is_some_and(|name| record.machine == name) || same_cpu(record)
    })
    .or_else(|| {
        group(all, MatchedBy::BoardName, MatchCertainty::Sure, |record| board(&record.machine))
    })
}

/// AWS's own processors, which show their cores' design only.
fn graviton(identity: &MachineIdentity) -> Option<&'static str> {
    match (identity.provider()?, identity.designs.first()?.as_str()) {
        (Provider::Aws, "Neoverse N1") => Some("AWS Graviton2"),
        (Provider::Aws, "Neoverse V1") => Some("AWS Graviton3"),
        _ => None,
    }
}
