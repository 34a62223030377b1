//! Names of references: what each finds, and what is refused with what to type.

use compare::references::{ComparisonRule, Reference, References};
use references::{
    ReferenceNameError, board_reports, cloud_types, core_matrices, find_reference,
    instruction_timings, reference_names,
};

fn tables() -> References {
    References::embedded().expect("tables")
}

fn referenced(name: &str) -> Reference {
    find_reference(&tables(), name).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(name: &str) -> ReferenceNameError {
    find_reference(&tables(), name).expect_err(name)
}

#[test]
fn one_list_has_tables_cloud_types_boards_and_cpus() {
    for (name, key) in [
        ("2012", "latency-numbers-2012"),
        ("iPhone X", "iphone-x"),
        ("m7i.large", "m7i.large"),
        ("AWS/M7i.large", "m7i.large"),
        ("Standard D2s v5", "Standard_D2s_v5"),
        ("d2s_v5", "Standard_D2s_v5"),
        ("rock-5b", "rock-5b"),
        ("Radxa ROCK 5B", "rock-5b"),
        ("raspberry pi 5 b", "raspberry-pi-5b"),
        ("ryzen-9-5900x", "ryzen-9-5900x"),
        ("AMD Ryzen 9 5900X 12-Core Processor", "ryzen-9-5900x"),
        ("Intel Core i9-12900K", "i9-12900k"),
        ("k19 vermeer2", "ryzen-9-5900x"),
        ("epyc-9r14", "epyc-9r14"),
    ] {
        assert_eq!(referenced(name).key, key, "{name}");
    }
}

#[test]
fn a_cloud_type_has_the_timings_of_its_cpu_and_no_ratio_where_other_means_were_used() {
    let measured = referenced("ecs.c4.2xlarge");
    let rule = |table: &Reference, id: &str| table.row(id).map(|row| row.rule);
    assert_eq!(rule(&measured, "memory.latency/DRAM"), Some(ComparisonRule::Same));
    assert_eq!(rule(&measured, "call.vdso"), Some(ComparisonRule::Near));
    // Another host of the type, or another day, differs by 20 %; another CPU of the signature hardly.
    let error = |table: &Reference, id: &str| table.row(id).map_or(0.0, |row| row.error_ln);
    assert!((error(&measured, "memory.latency/DRAM") - 1.25_f64.ln()).abs() < 1e-9);
    assert!((0.01..0.05).contains(&error(&referenced("m7a.large"), "cpu.add_i64")));
    // Only its bandwidth was measured: what others with its CPU have is no figure of its own.
    let type_of_2 = referenced("m7i.large");
    assert_eq!(rule(&type_of_2, "memory.latency/DRAM"), Some(ComparisonRule::Near));
    assert!(type_of_2.note.as_deref().is_some_and(|note| note.contains("with its CPU signature")));
    assert_eq!(
        type_of_2.row("memory.read_all_cores/largest").and_then(|row| row.mb_per_s),
        Some(13800.0)
    );
    // Sapphire Rapids has no timings of its own: those of another CPU are not taken.
    assert!(type_of_2.row("cpu.add_i64").is_none());
    let genoa = referenced("m7a.large");
    let add = genoa.row("cpu.add_i64").expect("the signature's timings");
    assert_eq!((add.cycles, add.ns), (Some(1.0), None), "cycles are not made into ns");
    assert!(genoa.source.contains("InstLatX64") && genoa.source.contains("Spare Cores"));
}

#[test]
fn a_board_has_its_reports_median() {
    let board = referenced("rock-5b");
    let l1 = board.row("memory.latency/L1").expect("L1");
    assert_eq!((l1.rule, l1.cycles.map(f64::round)), (ComparisonRule::Same, Some(4.0)));
    assert_eq!(board.row("memory.latency/1MiB").expect("1 MiB").rule, ComparisonRule::Near);
    assert!(board.row("memory.copy/largest").expect("memcpy").mb_per_s.is_some());
    assert!(referenced("ryzen-9-5900x").rows.iter().any(|row| !row.pair_groups.is_empty()));
}

#[test]
fn another_machine_never_stands_in() {
    let ReferenceNameError::Unknown { nearest, .. } = refusal("ryzen-7-5800x") else {
        panic!("5800X is not recorded");
    };
    assert!(nearest.contains(&"ryzen-7-5800x3d".to_owned()), "{nearest:?}");
    assert!(nearest.len() <= 5);
    let both = refusal("ecs.g7nexlarge").to_string();
    assert!(
        both.contains("alicloud/ecs.g7ne.xlarge") && both.contains("alicloud/ecs.g7nex.large"),
        "{both}"
    );
    let generic = refusal("Intel(R) Xeon(R) Processor").to_string();
    assert!(generic.contains("names no model (5 CPUs show it)"), "{generic}");
    assert_ne!(referenced("odroid-n2+").title, referenced("odroid-n2").title);
    let lite = referenced("rock-5c");
    assert!(!lite.title.contains("Lite"), "{}", lite.title);
}

#[test]
fn every_name_is_its_own_or_several_machines() {
    let tables = tables();
    let names = reference_names(&tables).expect("whole");
    assert!(names.len() > 3900, "{}", names.len());
    let total = cloud_types().expect("whole").len() + board_reports().expect("whole").len();
    let total =
        total + instruction_timings().expect("whole").len() + core_matrices().expect("whole").len();
    assert!(names.len() < total + 20);
    // Every seventh: all take a second without optimisation.
    for name in names.iter().step_by(7) {
        match find_reference(&tables, name) {
            Ok(_) | Err(ReferenceNameError::Ambiguous { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
