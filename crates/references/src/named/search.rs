//! From a name to the records that have it.

use super::error::ReferenceNameError;
use super::record_name::{
    board_key, board_words, cloud_key_in_full, cpu_key, is_cloud_type, is_timed_cpu, squeezed,
    squeezed_cpu, timings_key, timings_key_in_full,
};
use crate::machine::cpu_name::names_no_model;
use crate::machine::{MachineRecords, MatchCertainty, MatchedBy, RecordGroup};
use crate::record::{BoardReport, CloudType, CoreMatrix, InstructionTimings};
use crate::{board_reports, cloud_types, core_matrices, instruction_timings};
use model::phrases::counted;

/// Records of a machine that was named, with its name.
pub(super) struct NamedRecords {
    /// What it is called.
    pub(super) key: String,
    /// What a heading calls it.
    pub(super) title: String,
    pub(super) records: MachineRecords,
    /// Of a cloud type, others with its CPU: for what it lacks itself, and never with a ratio.
    pub(super) with_its_cpu: Option<RecordGroup<CloudType>>,
}

/// Machines that an error names at most.
const CANDIDATES: usize = 5;

/// The records of a name; none if none has it.
pub(super) fn records_named(name: &str) -> Result<Option<NamedRecords>, ReferenceNameError> {
    let cloud_types = cloud_types()?;
    let types = types_named(name, cloud_types)?;
    let boards = boards_named(name, board_reports()?)?;
    let timings = timings_named(name, instruction_timings()?)?;
    let matrices = matrices_named(name, core_matrices()?);
    let by_cpu = match types.is_empty() && boards.is_empty() && timings.is_empty() {
        true => types_with_cpu(name, cloud_types)?,
        false => Vec::new(),
    };
    let first = (types.first(), boards.first(), timings.first(), matrices.first(), by_cpu.first());
    let (key, title) = match first {
        (Some(one), ..) => {
            let cpus = counted(one.vcpus as usize, "vCPU");
            (one.type_name.clone(), format!("{} ({}, {cpus})", one.type_name, one.cpu))
        }
        (_, Some(one), ..) => (board_key(one), one.board.clone().unwrap_or(one.id.clone())),
        (_, _, Some(one), ..) => {
            let called = one.brand.as_ref().filter(|brand| !names_no_model(brand));
            (timings_key(one), called.cloned().unwrap_or_else(|| one.name.replace('_', " ")))
        }
        (_, _, _, Some(one), _) => (cpu_key(&one.machine), one.machine.clone()),
        (.., Some(one)) => {
            (cpu_key(&one.cpu), format!("{}, {}", one.cpu, counted(by_cpu.len(), "cloud type")))
        }
        _ => return Ok(None),
    };
    let signature = types.iter().chain(&by_cpu).find_map(|one| one.signature);
    let of_signature =
        |one: &&InstructionTimings| signature == Some((one.vendor, one.cpu_signature()));
    let (timings, matched_by) = match timings.is_empty() {
        true => {
            (instruction_timings()?.iter().filter(of_signature).collect(), MatchedBy::Signature)
        }
        false => (timings, MatchedBy::CpuName),
    };
    let with_its_cpu = types.first().map_or_else(Vec::new, |own| types_like(own, cloud_types));
    let (types, types_by) = match types.is_empty() {
        true => (by_cpu, MatchedBy::CpuName),
        false => (types, MatchedBy::CloudTypeName),
    };
    let records = MachineRecords {
        instructions: named_group(timings, matched_by),
        cloud: named_group(types, types_by),
        boards: named_group(boards, MatchedBy::BoardName),
        matrices: named_group(matrices, MatchedBy::CpuName),
        ..MachineRecords::default()
    };
    let with_its_cpu = named_group(with_its_cpu, MatchedBy::Signature);
    Ok(Some(NamedRecords { key, title, records, with_its_cpu }))
}

fn named_group<R>(records: Vec<&'static R>, matched_by: MatchedBy) -> Option<RecordGroup<R>> {
    let certainty = MatchCertainty::Sure;
    (!records.is_empty()).then_some(RecordGroup { records, matched_by, certainty })
}

/// Each once.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// The error of a name that several machines have; `names` are their own.
fn ambiguous(name: &str, names: impl Iterator<Item = String>) -> ReferenceNameError {
    let candidates: Vec<String> = names.take(CANDIDATES).collect();
    ReferenceNameError::Ambiguous { name: name.to_owned(), candidates }
}

/// One type: as it is written, else however it is.
fn types_named(
    name: &str,
    all: &'static [CloudType],
) -> Result<Vec<&'static CloudType>, ReferenceNameError> {
    let asked = squeezed(name);
    let as_written = |one: &&CloudType| one.type_name.eq_ignore_ascii_case(name.trim());
    let mut found: Vec<&CloudType> = all.iter().filter(as_written).collect();
    if found.is_empty() {
        found = all.iter().filter(|one| is_cloud_type(&asked, one)).collect();
    }
    match found.len() {
        0 | 1 => Ok(found),
        _ => Err(ambiguous(name, found.into_iter().map(cloud_key_in_full))),
    }
}

/// Others with the CPU of a type and figures of loads or calls: of its provider, else of any. Of ARM the design is the
/// CPU at one provider only.
fn types_like(own: &CloudType, all: &'static [CloudType]) -> Vec<&'static CloudType> {
    let same_cpu = |one: &&CloudType| {
        let has_figures = one.membench.is_some() || one.stress.is_some();
        has_figures && one.signature == own.signature && one.type_name != own.type_name
    };
    let of_provider = |one: &&CloudType| one.provider == own.provider && one.cpu == own.cpu;
    let near: Vec<&CloudType> = all.iter().filter(same_cpu).filter(of_provider).collect();
    match near.is_empty() && own.signature.is_some() {
        true => all.iter().filter(same_cpu).collect(),
        false => near,
    }
}

/// Reports of one board: by its name, else by its device tree.
fn boards_named(
    name: &str,
    all: &'static [BoardReport],
) -> Result<Vec<&'static BoardReport>, ReferenceNameError> {
    let asked = squeezed(&board_words(name));
    let is_asked = |own: &Option<String>| {
        own.as_deref().is_some_and(|own| squeezed(&board_words(own)) == asked) && !asked.is_empty()
    };
    let by_id: Vec<&BoardReport> = all.iter().filter(|one| one.id == name).collect();
    let by_name: Vec<&BoardReport> = all.iter().filter(|one| is_asked(&one.board)).collect();
    if let Some(found) = [by_id, by_name].into_iter().find(|found| !found.is_empty()) {
        return Ok(found);
    }
    let found: Vec<&BoardReport> = all.iter().filter(|one| is_asked(&one.device_tree)).collect();
    let keys = distinct(found.iter().map(|one| board_key(one)));
    match keys.len() {
        0 | 1 => Ok(found),
        _ => Err(ambiguous(name, keys.into_iter())),
    }
}

/// Timings of one signature, of each of its kinds of cores.
fn timings_named(
    name: &str,
    all: &'static [InstructionTimings],
) -> Result<Vec<&'static InstructionTimings>, ReferenceNameError> {
    let found: Vec<&InstructionTimings> =
        all.iter().filter(|one| is_timed_cpu(name, one)).collect();
    let keys = distinct(found.iter().map(|one| timings_key_in_full(one)));
    match keys.len() {
        0 | 1 => Ok(found),
        _ => Err(ambiguous(name, keys.into_iter())),
    }
}

/// Matrices of machines with this CPU; `dual` and the like are part of the name.
fn matrices_named(name: &str, all: &'static [CoreMatrix]) -> Vec<&'static CoreMatrix> {
    let board = |machine: &str| {
        let (_, rest) = machine.rsplit_once('(')?;
        Some(squeezed(&board_words(rest.strip_suffix(')')?)))
    };
    let (as_board, as_cpu) = (squeezed(&board_words(name)), squeezed_cpu(name));
    let named = |one: &&CoreMatrix| {
        squeezed_cpu(&one.machine) == as_cpu || board(&one.machine).as_ref() == Some(&as_board)
    };
    all.iter().filter(named).collect()
}

/// Types with a CPU of this name. Of ARM the name is a design's, which several CPUs have.
fn types_with_cpu(
    name: &str,
    all: &'static [CloudType],
) -> Result<Vec<&'static CloudType>, ReferenceNameError> {
    let asked = squeezed_cpu(name);
    let is_asked = |one: &&CloudType| one.signature.is_some() && squeezed_cpu(&one.cpu) == asked;
    let found: Vec<&CloudType> = all.iter().filter(is_asked).collect();
    let signatures = distinct(found.iter().filter_map(|one| one.signature));
    match found.is_empty() || signatures.len() == 1 && !names_no_model(&found[0].cpu) {
        true => Ok(found),
        false => {
            let (name, cpus) = (name.to_owned(), signatures.len());
            Err(ReferenceNameError::NamesNoModel { name, cpus })
        }
    }
}
