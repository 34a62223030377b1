//! The published records of a machine: which there are, and how they were found.

use model::story::Block;
use references::DamagedRecords;
use references::machine::{GroupSummary, IdentityDoubt, MachineRecords, MatchCertainty};

/// The part of `latlas machine` below the facts.
pub fn records_of_machine(found: &Result<MachineRecords, DamagedRecords>) -> Vec<Block> {
    let mut blocks = vec![Block::empty_line(), Block::Heading("published figures".into())];
    let mut line = |label: &str, text: String| {
        blocks.push(Block::labelled(format!("  {label:<20}"), text));
    };
    let records = match found {
        Ok(records) => records,
        Err(damaged) => {
            line("not read", damaged.to_string());
            return blocks;
        }
    };
    let groups = records.summaries();
    for source in MachineRecords::SOURCES {
        let label = match source.file_stem() {
            "core_to_core" => "core to core",
            "cloud" => "cloud types",
            stem => stem,
        };
        match groups.iter().find(|group| group.source == source.file_stem()) {
            Some(group) => line(label, group_text(group)),
            None => line(label, "no record of this CPU or its microarchitecture".into()),
        }
    }
    for doubt in &records.doubts {
        line("CPU not certain", doubt_text(doubt));
    }
    blocks
}

fn group_text(group: &GroupSummary) -> String {
    let more = match group.count.checked_sub(group.names.len()) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    let certainty = match group.certainty {
        MatchCertainty::Sure => "sure",
        MatchCertainty::Likely => "likely",
        MatchCertainty::Weak => "not this machine",
    };
    let (names, how) = (group.names.join(", "), group.matched_by.words());
    format!("{names}{more}: {how} ({certainty}); {}", group.credit)
}

fn doubt_text(doubt: &IdentityDoubt) -> String {
    match doubt {
        IdentityDoubt::GenericName { name } => {
            format!("{name:?} names no model: the hypervisor hides it; records are found by signature")
        }
        IdentityDoubt::VirtualModel { name } => format!(
            "{name:?} is a CPU model of the hypervisor: the host's CPU may be another, so records of its signature are \
             not used"
        ),
        IdentityDoubt::Contradicted => {
            "it has features that the CPU of its signature lacks: records of the signature are not used".into()
        }
        IdentityDoubt::UnknownSignature => "its signature is not in latlas's table".into(),
        IdentityDoubt::Emulated => "an emulator runs the instructions: records of its CPU are not used".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::machine::{CpuSignature, Fact, Machine};
    use references::machine::{MachineIdentity, find_records};

    fn records_text(machine: &Machine) -> String {
        crate::terminal::plain(&records_of_machine(&find_records(&MachineIdentity::shown_by(
            machine,
        ))))
    }

    #[test]
    fn a_machine_with_records_and_one_without() {
        let mut machine = Machine::unknown("x86_64", "not read");
        machine.cpu_vendor = Fact::known("AuthenticAMD".into());
        machine.cpu_model = Fact::known("AMD EPYC".into());
        machine.microarchitecture = Fact::known("Zen 4".into());
        machine.cpu_signature =
            Fact::known(CpuSignature::X86 { family: 25, model: 17, stepping: 1 });
        insta::assert_snapshot!(records_text(&machine));
        machine.cpu_model = Fact::known("QEMU Virtual CPU version 2.5+".into());
        insta::assert_snapshot!(records_text(&machine));
    }
}
