//! Which records are found for machines that were seen, and for some that are not what they show.

use model::machine::{CoreKind, CpuSignature, Fact, Machine, Presence};
use references::machine::{
    IdentityDoubt, MachineIdentity, MachineRecords, MatchCertainty, MatchedBy, find_records,
};
use references::record::HybridCore;

fn x86(vendor: &str, name: &str, [family, model, stepping]: [u32; 3], design: &str) -> Machine {
    let mut machine = Machine::unknown("x86_64", "not read");
    machine.cpu_vendor = Fact::known(vendor.into());
    machine.cpu_model = Fact::known(name.into());
    machine.cpu_signature = Fact::known(CpuSignature::X86 { family, model, stepping });
    if !design.is_empty() {
        machine.microarchitecture = Fact::known(design.into());
    }
    machine
}

fn arm(part: u32, design: &str) -> Machine {
    let mut machine = Machine::unknown("aarch64", "not read");
    machine.cpu_vendor = Fact::known("Arm".into());
    let signature = CpuSignature::Arm { implementer: 0x41, variant: 1, part, revision: 0 };
    machine.cpu_signature = Fact::known(signature);
    machine.microarchitecture = Fact::known(design.into());
    machine
}

fn found(machine: &Machine) -> MachineRecords {
    find_records(&MachineIdentity::shown_by(machine)).expect("whole")
}

/// How each source's records were found, how many there are, and the name of the first.
fn in_short(
    records: &MachineRecords,
) -> Vec<(&'static str, MatchedBy, MatchCertainty, usize, String)> {
    let short = records.summaries().into_iter();
    short
        .map(|one| (one.source, one.matched_by, one.certainty, one.count, one.names[0].clone()))
        .collect()
}

use MatchCertainty::{Likely, Sure, Weak};
use MatchedBy::{BoardName, CloudTypeName, CpuName, Design, ProviderAndSize, Signature};

#[test]
fn a_guest_whose_cpu_names_no_model_has_its_signature() {
    let mut guest = x86("AuthenticAMD", "AMD EPYC", [25, 17, 1], "Zen 4");
    guest.hypervisor = Fact::known(Presence::Present("KVM".into()));
    guest.online_cpus = Fact::known(vec![0, 1]);
    let records = found(&guest);
    assert_eq!(
        in_short(&records),
        [
            ("instructions", Signature, Sure, 1, "K19_Genoa_01".into()),
            ("cloud", Signature, Likely, 206, "ecs.c8a.12xlarge".into()),
        ]
    );
    assert_eq!(records.doubts, [IdentityDoubt::GenericName { name: "AMD EPYC".into() }]);
}

#[test]
fn a_hybrid_client_has_both_kinds_of_cores() {
    let name = "12th Gen Intel(R) Core(TM) i9-12900K";
    let client = x86("GenuineIntel", name, [6, 151, 2], "Alder Lake (Golden Cove and Gracemont)");
    let records = found(&client);
    assert_eq!(
        in_short(&records),
        [
            ("instructions", Signature, Sure, 2, "AlderLake_01".into()),
            ("core_to_core", CpuName, Sure, 1, "Intel Core i9-12900K".into()),
        ]
    );
    let cores: Vec<_> =
        records.instructions.expect("found").records.iter().map(|one| one.core).collect();
    assert_eq!(cores, [Some(HybridCore::Performance), Some(HybridCore::Efficiency)]);
    assert_eq!(records.doubts, []);
}

#[test]
fn a_server_is_its_cloud_type_and_has_no_instructions_of_its_own() {
    let mut server = x86(
        "GenuineIntel",
        "Intel(R) Xeon(R) Platinum 8488C",
        [6, 143, 8],
        "Sapphire Rapids (Golden Cove)",
    );
    server.online_cpus = Fact::known(vec![0, 1]);
    server.product = Fact::known("Amazon EC2 m7i.large".into());
    assert_eq!(in_short(&found(&server)), [("cloud", CloudTypeName, Sure, 1, "m7i.large".into())]);
    // A type that no record has: others of this provider and size, then of any.
    server.product = Fact::known("Amazon EC2 m99i.large".into());
    let (_, matched_by, certainty, count, _) = in_short(&found(&server)).remove(0);
    assert_eq!((matched_by, certainty), (ProviderAndSize, Likely));
    server.product = Fact::known("Dell Inc. PowerEdge R660".into());
    let (_, matched_by, certainty, of_all, _) = in_short(&found(&server)).remove(0);
    assert_eq!((matched_by, certainty), (Signature, Likely));
    assert!(1 < count && count < of_all, "{count} of {of_all}");
}

#[test]
fn a_signature_without_a_record_has_those_of_its_microarchitecture() {
    let milan = x86("AuthenticAMD", "AMD EPYC 7763 64-Core Processor", [25, 1, 1], "Zen 3");
    let records = found(&milan);
    let (_, matched_by, certainty, _, name) = in_short(&records).remove(0);
    assert_eq!((matched_by, certainty, name.as_str()), (Design, Weak, "K19_Vermeer2"));
    let group = records.instructions.expect("found");
    assert!(group.records.iter().all(|one| one.fms[..2] == [25, 33]), "Zen 3 only");
}

#[test]
fn an_arm_guest_is_found_by_its_type_and_its_cores_design() {
    let mut graviton = arm(0xd40, "Neoverse V1");
    graviton.online_cpus = Fact::known(vec![0, 1]);
    graviton.product = Fact::known("Amazon EC2 c7g.large".into());
    assert_eq!(
        in_short(&found(&graviton)),
        [
            ("cloud", CloudTypeName, Sure, 1, "c7g.large".into()),
            ("core_to_core", CpuName, Sure, 1, "AWS Graviton3".into()),
        ]
    );
    let mut m1 = Machine::unknown("aarch64", "not read");
    m1.cpu_model = Fact::known("Apple M1".into());
    m1.cpu_vendor = Fact::known("Apple".into());
    m1.microarchitecture = Fact::known("Firestorm".into());
    assert_eq!(in_short(&found(&m1)), [("core_to_core", CpuName, Sure, 1, "Apple M1 Air".into())]);
}

#[test]
fn two_reports_of_one_board_are_both_its_own() {
    let mut board = arm(0xd0b, "Cortex-A76");
    board.device = Fact::known("Raspberry Pi 5 Model B Rev 1.1".into());
    let (source, matched_by, certainty, count, _) = in_short(&found(&board)).remove(0);
    assert_eq!((source, matched_by, certainty, count), ("boards", BoardName, Sure, 8));
    // A core that cloud types have, too: they are other machines.
    let mut pi4 = arm(0xd08, "Cortex-A72");
    pi4.device = Fact::known("Raspberry Pi 4 Model B Rev 1.4".into());
    assert_eq!(
        in_short(&found(&pi4)),
        [
            ("cloud", Design, Weak, 6, "a1.2xlarge".into()),
            ("boards", BoardName, Sure, 14, "Raspberry Pi 4 B (BCM2711)".into()),
            (
                "core_to_core",
                BoardName,
                Sure,
                1,
                "Broadcom BCM2711 Quad core Cortex-A72 (ARM v8) 64-bit SoC 1.8GHz (Raspberry Pi 4B)".into()
            ),
        ]
    );
    // No report of this board: those of its core, which are other boards.
    board.device = Fact::known("Unheard Board".into());
    let (source, matched_by, certainty, count, _) = in_short(&found(&board)).remove(0);
    assert_eq!((source, matched_by, certainty), ("boards", Design, Weak));
    assert!(count > 8, "{count}");
    board.core_kinds = Fact::known(vec![
        CoreKind { name: "Cortex-A76".into(), cpus: vec![4], capacity: None, max_hz: None },
        CoreKind { name: "Cortex-A55".into(), cpus: vec![0], capacity: None, max_hz: None },
    ]);
    assert_eq!(MachineIdentity::shown_by(&board).designs, ["Cortex-A76", "Cortex-A55"]);
    let twice = x86("AuthenticAMD", "AMD Ryzen 9 3900X 12-Core Processor", [23, 113, 0], "Zen 2");
    let (source, matched_by, certainty, count, _) = in_short(&found(&twice)).remove(2);
    assert_eq!((source, matched_by, certainty, count), ("core_to_core", CpuName, Sure, 2));
}

#[test]
fn a_cpu_that_lies_or_is_not_known_has_no_neighbours() {
    let name = "Intel Xeon Processor (Skylake, IBRS)";
    let mut guest = x86("GenuineIntel", name, [6, 85, 4], "Skylake");
    let records = found(&guest);
    assert_eq!(in_short(&records), []);
    assert_eq!(records.doubts, [IdentityDoubt::VirtualModel { name: name.into() }]);
    // A provider shows the same on all hosts of a type.
    guest.product = Fact::known("Hetzner vServer".into());
    guest.online_cpus = Fact::known(vec![0, 1]);
    let (source, matched_by, certainty, _, name) = in_short(&found(&guest)).remove(0);
    assert_eq!((source, matched_by, certainty), ("cloud", ProviderAndSize, Likely));
    assert!(name.starts_with("cx") || name.starts_with("ccx"), "{name}");
    // AMX on a Skylake: `sys` gives no microarchitecture.
    let contradicted = x86("GenuineIntel", "Intel(R) Xeon(R) Gold 6130", [6, 85, 4], "");
    assert_eq!(found(&contradicted).doubts, [IdentityDoubt::Contradicted]);
    assert_eq!(in_short(&found(&contradicted)), []);
    let unknown = x86("GenuineIntel", "Intel(R) Core(TM) i99", [6, 250, 0], "");
    assert_eq!(found(&unknown).doubts, [IdentityDoubt::UnknownSignature]);
    assert_eq!(in_short(&found(&unknown)), []);
    let mut emulated =
        x86("AuthenticAMD", "AMD Ryzen 9 5900X 12-Core Processor", [25, 33, 0], "Zen 3");
    emulated.emulated = Fact::known(Presence::Present("QEMU".into()));
    assert_eq!(found(&emulated).instructions, None);
    let nothing = Machine::unknown("riscv64", "not read");
    assert_eq!(found(&nothing), MachineRecords::default());
}
