//! The records that are in the program, by value, and what is refused of others.

use references::record::{
    ComparisonRule, Divisors, HybridCore, MemoryLevel, OperandSet, PopulationUnit, Provider,
    PublishedRecord, TimedOperation, X86Vendor,
};
use references::{
    BoardReport, CloudType, CoreMatrix, DamagedRecords, InstructionTimings, TestPopulation,
    board_reports, checked_records, cloud_types, core_matrices, instruction_timings,
    test_populations,
};
use std::collections::HashSet;

#[test]
fn all_records_are_there() {
    let timings = instruction_timings().expect("whole");
    let signatures: HashSet<_> = timings.iter().map(|one| &one.leaf1_eax).collect();
    let of_vendors: HashSet<_> = timings.iter().map(|one| (one.vendor, &one.leaf1_eax)).collect();
    // Some signatures are of two vendors, six processors have two kinds of cores.
    assert_eq!((timings.len(), of_vendors.len(), signatures.len()), (180, 174, 169));
    assert_eq!(cloud_types().expect("whole").len(), 3609);
    assert_eq!(board_reports().expect("whole").len(), 363);
    assert_eq!(core_matrices().expect("whole").len(), 107);
    assert_eq!(test_populations().expect("whole").len(), 22);
}

#[test]
fn a_cloud_type_has_its_figures() {
    let types = cloud_types().expect("whole");
    let named = |name: &str| types.iter().find(|one| one.type_name == name).expect("a type");
    let c4 = named("ecs.c4.2xlarge");
    assert_eq!(
        (c4.provider, c4.vcpus, c4.cache_kib),
        (Provider::Alicloud, 8, [Some(32), Some(1024), Some(33792)])
    );
    let membench = c4.membench.as_ref().expect("measured");
    assert_eq!(
        (membench.dram, membench.kib.last(), membench.ns.last()),
        (Some(143.6), Some(&131_072), Some(&118.6))
    );
    assert_eq!(membench.unsteady, [32768]);
    assert_eq!(c4.stress.as_ref().expect("measured").fork, Some(215_000.0));
    let m7a = named("m7a.large");
    let signature =
        m7a.signature.as_ref().map(|(vendor, signature)| (*vendor, signature.to_string()));
    assert_eq!(signature, Some((X86Vendor::Amd, "family 0x19, model 0x11, stepping 1".to_owned())));
    assert!(m7a.dmi_is_type && !c4.dmi_is_type);
    assert_eq!(types.iter().filter(|one| one.dmi_is_type).count(), 1093);
    assert_eq!(types.iter().filter(|one| one.signature.is_some()).count(), 3090);
    let drams = types.iter().filter_map(|one| one.membench.as_ref()?.dram);
    assert_eq!(drams.count(), 1811);
}

#[test]
fn instructions_of_a_signature_have_their_cycles() {
    let all = instruction_timings().expect("whole");
    let of = |eax: &str| all.iter().find(|one| one.leaf1_eax == eax).expect("a signature");
    let genoa = of("0A10F11");
    assert_eq!(
        (genoa.vendor, genoa.fms, genoa.operands),
        (X86Vendor::Amd, [25, 17, 1], OperandSet::Old)
    );
    assert_eq!(genoa.latency[&TimedOperation::DivF64], 13.2);
    assert_eq!(genoa.throughput[&TimedOperation::AtomicAdd], 7.67);
    assert_eq!(genoa.div_i64[&Divisors::Bits64By32], [None, Some(14.17)]);
    let vermeer = of("0A20F10");
    assert_eq!(vermeer.memory_cycles[&MemoryLevel::L3], 51.35);
    let efficiency = all.iter().filter(|one| one.core == Some(HybridCore::Efficiency)).count();
    assert_eq!(efficiency, 6);
}

#[test]
fn boards_matrices_and_populations_have_their_figures() {
    let boards = board_reports().expect("whole");
    let minisforum = boards.iter().find(|one| one.id == "1ET4").expect("a report");
    let [big, little, ..] = minisforum.clusters.as_slice() else { panic!("{minisforum:?}") };
    assert_eq!(
        (big.core.as_deref(), big.mhz, big.memcpy),
        (Some("Cortex-A720"), Some(2598.0), Some(17.51))
    );
    assert_eq!((little.core.as_deref(), little.foreseen), (Some("Cortex-A520"), 1));
    let matrices = core_matrices().expect("whole");
    let deck = matrices.iter().find(|one| one.machine.contains("Steam Deck")).expect("a machine");
    assert_eq!((deck.cpus, deck.pairs, deck.groups[3]), (8, 28, [0.857, 41.5]));
    let tests = test_populations().expect("whole");
    let calls = tests.iter().find(|one| one.row == "call.syscall").expect("a test");
    assert_eq!(
        (calls.samples, calls.rule, calls.unit),
        (162, ComparisonRule::Same, PopulationUnit::Ns)
    );
    let reads = tests.iter().find(|one| one.row == "memory.read_all_cores").expect("a test");
    assert_eq!(reads.rule, ComparisonRule::Same, "same, of the largest set");
}

/// What the importer would do again.
fn recheck<R: PublishedRecord>(name: &str) -> Vec<R> {
    let path = format!("{}/data/{name}.jsonl.zst", env!("CARGO_MANIFEST_DIR"));
    let text = zstd::decode_all(std::fs::File::open(path).expect("a file")).expect("whole");
    checked_records(std::str::from_utf8(&text).expect("UTF-8")).expect("passes")
}

#[test]
fn the_programs_records_pass_the_importers_checks() {
    assert_eq!(recheck::<CloudType>("cloud"), cloud_types().expect("whole"));
    assert_eq!(recheck::<BoardReport>("boards"), board_reports().expect("whole"));
    assert_eq!(
        recheck::<InstructionTimings>("instructions"),
        instruction_timings().expect("whole")
    );
    assert_eq!(recheck::<CoreMatrix>("core_to_core"), core_matrices().expect("whole"));
    assert_eq!(recheck::<TestPopulation>("populations"), test_populations().expect("whole"));
}

#[test]
fn they_take_half_a_megabyte_at_most() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).expect("a folder");
    let bytes: u64 =
        folder.map(|file| file.and_then(|file| file.metadata()).expect("readable").len()).sum();
    assert!(bytes <= 500_000, "{bytes}");
}

const CLOUD: &str = r#"{"provider":"aws","type":"x.large","cpu":"C","vcpus":2,"tpc":1,"cache":[32,1024,null],"membench":{"kib":[16,65536],"ns":[1.2,90.0],"dram":120.0}}"#;

fn cloud_refusal(text: &str) -> String {
    checked_records::<CloudType>(text).expect_err("refused").to_string()
}

#[test]
fn other_units_names_twice_and_foreign_lines_are_refused_with_their_line() {
    assert_eq!(checked_records::<CloudType>(CLOUD).expect("a record").len(), 1);
    let microseconds = CLOUD.replace("[1.2,90.0]", "[0.0012,0.09]");
    assert_eq!(
        cloud_refusal(&microseconds),
        "cloud.jsonl:1: Aws x.large: ns is 0.0012, outside of 0.5 to 2000: another unit?"
    );
    let picoseconds = CLOUD.replace("120.0", "120000");
    assert!(
        cloud_refusal(&picoseconds)
            .ends_with("dram is 120000, outside of 60 to 4000: another unit?")
    );
    assert_eq!(
        cloud_refusal(&format!("{CLOUD}\n{CLOUD}")),
        "cloud.jsonl:2: Aws x.large is there twice: keep one"
    );
    let misspelt = cloud_refusal(&CLOUD.replace("\"tpc\"", "\"threads\""));
    assert!(
        misspelt.starts_with("cloud.jsonl:1: not a record of latlas: unknown field `threads`"),
        "{misspelt}"
    );
    assert!(cloud_refusal("PNG").starts_with("cloud.jsonl:1: not a record"));
    assert!(cloud_refusal(&CLOUD.replace("aws", "nobody")).contains("unknown variant `nobody`"));
    assert!(cloud_refusal(&CLOUD.replace("[16,", "[99999,")).ends_with("kib must rise"));
    let unpaired = cloud_refusal(&CLOUD.replace("[16,", "[8,16,"));
    assert!(unpaired.ends_with("kib and ns differ in length"), "{unpaired}");
    let signature = CLOUD.replace("\"vcpus\"", "\"sig\":\"amd 25\",\"vcpus\"");
    assert!(
        cloud_refusal(&signature).contains("\"amd 25\" is no x86 signature"),
        "{}",
        cloud_refusal(&signature)
    );
}

#[test]
fn a_signature_and_its_numbers_must_agree() {
    let line = r#"{"vendor":"GenuineIntel","signature":"00906A4","fms":[6,154,3],"name":"n","files":1,"build":"0","operands":"new","latency":{"add_i32":1.0},"throughput":{"add_i32":0.25}}"#;
    let refused = |text: &str| checked_records::<InstructionTimings>(text).expect_err("refused");
    assert!(refused(line).to_string().ends_with("signature and fms differ"));
    let right = line.replace("154,3", "154,4");
    assert_eq!(checked_records::<InstructionTimings>(&right).expect("a record").len(), 1);
    assert!(matches!(refused(&right.replace("0.25", "25")), DamagedRecords::Implausible { .. }));
}
