//! Ratios and places on synthetic figures, with records of the program and made-up ones.

use model::estimate::Estimate;
use model::machine::{CpuSignature, Fact, Machine};
use model::run::{Outcome, Row, Run};
use model::synthetic;
use references::comparison::{
    Agreement, PopulationName, PublishedUnit, RowAgainstPublished, RowName, place_strips,
    published_figures, published_populations, published_rows,
};
use references::machine::{MachineIdentity, MachineRecords, MatchCertainty, find_records};
use references::record::{ComparisonRule, HybridCore};

/// A Zen 4 server, which has a record of its own without memory.
fn genoa() -> MachineRecords {
    records_of([25, 17, 1], "Zen 4")
}

fn records_of(signature: [u32; 3], design: &str) -> MachineRecords {
    records_of_vendor("AuthenticAMD", signature, design)
}

fn records_of_intel(signature: [u32; 3], design: &str) -> MachineRecords {
    records_of_vendor("GenuineIntel", signature, design)
}

fn records_of_vendor(
    vendor: &str,
    [family, model, stepping]: [u32; 3],
    design: &str,
) -> MachineRecords {
    let mut machine = Machine::unknown("x86_64", "not read");
    machine.cpu_vendor = Fact::known(vendor.into());
    machine.cpu_signature = Fact::known(CpuSignature::X86 { family, model, stepping });
    machine.microarchitecture = Fact::known(design.into());
    find_records(&MachineIdentity::shown_by(&machine)).expect("whole")
}

/// Cycles of a row in a run whose clock is of 3 GHz, with a half width of 1 %.
fn cycles(cycles: f64) -> Outcome {
    synthetic::ok_outcome(cycles * 0.33, cycles * 0.0033)
}

fn run_with(rows: &[(&str, Outcome)]) -> Run {
    let mut run = synthetic::run();
    for (id, outcome) in rows {
        let row = synthetic::row_of_times(id, outcome.clone());
        run.rows.retain(|known| known.id != *id);
        run.rows.push(row);
    }
    run
}

fn compared(run: &Run, records: &MachineRecords, id: &str) -> Option<RowAgainstPublished> {
    let figures = published_figures(records, HybridCore::Performance);
    let rows = published_rows(run, &figures, &published_populations().expect("whole"));
    rows.into_iter().find(|row| row.row == id)
}

#[test]
fn cycles_are_compared_whatever_the_clock() {
    // 7.6 cycles; published are 7.67. At another clock the ns would be others.
    for clock in [1.0, 0.5] {
        let mut run = run_with(&[("sync.atomic_add", cycles(7.6))]);
        let row = run.rows.iter_mut().find(|row| row.id == "sync.atomic_add").expect("the row");
        let Outcome::Figure(estimate) = &mut row.outcome else { panic!("a figure") };
        let quiet = estimate.quiet.as_mut().expect("quiet");
        quiet.ns = quiet.ns.scaled(clock);
        let ratio = compared(&run, &genoa(), "sync.atomic_add")
            .and_then(|row| row.ratio)
            .expect("published");
        assert_eq!(
            (ratio.agreement, ratio.published.unit, ratio.published.certainty),
            (Agreement::Agrees, PublishedUnit::Cycles, MatchCertainty::Sure)
        );
        assert!((ratio.ratio.value - 7.6 / 7.67).abs() < 1e-9, "{ratio:?}");
        assert!((ratio.ratio.low - 7.6 * 0.99 / (7.67 * 1.02)).abs() < 1e-9, "{ratio:?}");
    }
    // Without cycles there is nothing to compare: the record's clock was another.
    let mut run = run_with(&[("sync.atomic_add", cycles(7.6))]);
    let row = run.rows.iter_mut().find(|row| row.id == "sync.atomic_add").expect("the row");
    let Outcome::Figure(Estimate { quiet: Some(quiet), .. }) = &mut row.outcome else {
        panic!("quiet")
    };
    quiet.cycles = None;
    assert_eq!(compared(&run, &genoa(), "sync.atomic_add"), None);
}

#[test]
fn what_lies_apart_is_slower_or_faster() {
    let agreement = |measured: f64| {
        let run = run_with(&[("cpu.div_f64", cycles(measured))]);
        compared(&run, &genoa(), "cpu.div_f64")
            .and_then(|row| row.ratio)
            .expect("published")
            .agreement
    };
    assert_eq!(agreement(13.2), Agreement::Agrees);
    assert_eq!(agreement(15.0), Agreement::Slower);
    assert_eq!(agreement(12.0), Agreement::Faster);
}

#[test]
fn rules_that_forbid_a_ratio_are_kept() {
    let rows = [
        "cpu.div_i64",
        "cpu.div_i64/throughput",
        "cpu.div_f64/throughput",
        "alloc.malloc_free/16B",
    ];
    let run = run_with(&rows.map(|id| (id, cycles(7.0))));
    // Latency of divisions: other operands. Throughput: this signature has the old ones, but another Zen 4 the new.
    assert_eq!(compared(&run, &genoa(), "cpu.div_i64"), None);
    assert_eq!(compared(&run, &genoa(), "alloc.malloc_free/16B"), None);
    for id in ["cpu.div_i64/throughput", "cpu.div_f64/throughput"] {
        let ratio = compared(&run, &genoa(), id).and_then(|row| row.ratio).expect("of the design");
        assert_eq!(ratio.published.certainty, MatchCertainty::Weak, "{id}");
    }
    // `process.fork_exit` is near: a place, no ratio.
    let run = run_with(&[("process.fork_exit", synthetic::ok_outcome(215_000.0, 500.0))]);
    let row = compared(&run, &genoa(), "process.fork_exit").expect("populations");
    assert_eq!(row.ratio, None);
    assert_eq!(
        row.places.iter().map(|place| place.rule).collect::<Vec<_>>(),
        [ComparisonRule::Near; 2]
    );
    assert_eq!(
        (row.places[0].machines, &row.places[0].population),
        (2066, &PopulationName::CloudTypes)
    );
}

#[test]
fn levels_outside_of_the_core_are_not_taken_from_another_processor() {
    let run = run_with(&[("memory.latency/L2", cycles(14.0)), ("memory.latency/L3", cycles(50.0))]);
    let l2 = compared(&run, &genoa(), "memory.latency/L2")
        .and_then(|row| row.ratio)
        .expect("of the design");
    assert_eq!((l2.published.certainty, l2.published.records), (MatchCertainty::Weak, 2));
    let row = compared(&run, &genoa(), "memory.latency/L3").expect("a place among CPUs");
    assert_eq!((row.ratio, &row.places[0].population), (None, &PopulationName::CpuSignatures));
    assert!((30..=42).contains(&row.places[0].machines), "{:?}", row.places);
    // A server has another L2 than a client, and a desktop other memory than a cloud type.
    let skylake = records_of_intel([6, 85, 3], "Skylake");
    assert_eq!(
        skylake.instructions.as_ref().map(|group| group.certainty),
        Some(MatchCertainty::Weak)
    );
    assert_eq!(compared(&run, &skylake, "memory.latency/L2").and_then(|row| row.ratio), None);
    let cezanne = records_of([25, 80, 0], "Zen 3");
    let dram = run_with(&[("memory.latency/DRAM", synthetic::ok_outcome(80.0, 1.0))]);
    assert!(cezanne.cloud.is_some());
    assert_eq!(compared(&dram, &cezanne, "memory.latency/DRAM").and_then(|row| row.ratio), None);
    let vermeer = records_of([25, 33, 0], "Zen 3");
    let l3 =
        compared(&run, &vermeer, "memory.latency/L3").and_then(|row| row.ratio).expect("its own");
    assert_eq!(
        (l3.published.certainty, l3.published.expected.value),
        (MatchCertainty::Sure, 51.35)
    );
}

#[test]
fn memory_is_compared_with_its_types_in_ns_and_has_a_place() {
    let mut run = run_with(&[]);
    let dram = |ns: f64| {
        let mut row: Row =
            synthetic::row_of_times("memory.latency/DRAM", synthetic::ok_outcome(ns, 1.0));
        row.bound = model::run::Bound::Memory;
        row
    };
    run.rows.retain(|row| row.id != "memory.latency/DRAM");
    run.rows.push(dram(130.0));
    let row = compared(&run, &genoa(), "memory.latency/DRAM").expect("both");
    let ratio = row.ratio.expect("of the signature's types");
    assert_eq!(
        (ratio.published.unit, ratio.published.certainty),
        (PublishedUnit::Ns, MatchCertainty::Likely)
    );
    assert!(
        ratio.published.records > 100
            && ratio.published.expected.low < ratio.published.expected.value,
        "{ratio:?}"
    );
    assert_eq!(
        row.places.iter().map(|place| place.machines).collect::<Vec<_>>(),
        [1811, 338, 246, 460]
    );
    // Slower machines are the fewer, the slower this one is.
    let mut shares = Vec::new();
    for ns in [80.0, 120.0, 200.0, 5000.0] {
        run.rows.retain(|row| row.id != "memory.latency/DRAM");
        run.rows.push(dram(ns));
        let place =
            compared(&run, &genoa(), "memory.latency/DRAM").expect("placed").places.remove(0);
        assert!(
            place.slower.low <= place.slower.value && place.slower.value <= place.slower.high,
            "{place:?}"
        );
        shares.push(place.slower.value);
        // Clopper and Pearson: of 1,811 machines none is slower, so at most 0.2 % of all are.
        assert!(ns < 5000.0 || (place.slower.high - 0.002_04).abs() < 1e-5, "{place:?}");
    }
    assert!(shares.is_sorted_by(|a, b| a > b), "{shares:?}");
    assert_eq!(shares[3], 0.0);
    assert!(shares[0] > 0.97, "{shares:?}");
}

#[test]
fn a_round_trip_is_two_hand_offs_and_a_bandwidth_a_time() {
    let all = published_populations().expect("whole");
    let of = |row: &str, name: &str| {
        let named = |one: &PopulationName| matches!(one, PopulationName::TestResults(test) if test.starts_with(name));
        all.iter().find(|one| one.row == RowName::row(row) && named(&one.name)).expect("a test")
    };
    assert_eq!(of("sync.handoff/pipe", "perf-bench").rule, ComparisonRule::Factor);
    assert_eq!(of("cpu.memcpy/1MiB", "perf-bench").unit, PublishedUnit::NsPerByte);
    // A copy at the median has half of the results on either side.
    let records = references::test_populations().expect("whole");
    let copy = records.iter().find(|one| one.what.contains("Memcpy")).expect("a test");
    // Ours takes 0.887 to 0.910 of the time of perf's copy on one machine.
    let ns = 1_048_576.0 / copy.percentiles[49] * (0.887_f64 * 0.910).sqrt();
    let run = run_with(&[("cpu.memcpy/1MiB", synthetic::ok_outcome(ns, ns * 1e-4))]);
    let place = compared(&run, &genoa(), "cpu.memcpy/1MiB").expect("placed").places.remove(0);
    assert!((place.slower.value - 0.5).abs() < 0.03, "{place:?}");
    assert_eq!((place.machines, place.rule), (162, ComparisonRule::Near));
    assert!(place.slower.low < 0.44 && place.slower.high > 0.56, "162 results: {place:?}");
    let pipe = records.iter().find(|one| one.what.contains("Sched Pipe")).expect("a test");
    let one_way = pipe.percentiles[49] / 2.0 * (0.118_f64 * 0.985).sqrt();
    let run = run_with(&[("sync.handoff/pipe", synthetic::ok_outcome(one_way, one_way * 1e-4))]);
    let row = compared(&run, &genoa(), "sync.handoff/pipe").expect("placed");
    let place =
        row.places.iter().find(|place| place.rule == ComparisonRule::Factor).expect("perf's");
    assert!((place.slower.value - 0.5).abs() < 0.03, "{place:?}");
}

#[test]
fn a_small_file_has_a_place_and_the_closest_rule_comes_first() {
    // osbench writes 32 bytes: nearest is the smallest size that is not empty.
    let ns = 15_950.0 * (0.041_f64 * 0.444).sqrt();
    let run = run_with(&[
        ("file.create/1KiB", synthetic::ok_outcome(ns, 10.0)),
        ("sync.handoff/pipe", synthetic::ok_outcome(1_000.0, 1.0)),
    ]);
    let row = compared(&run, &genoa(), "file.create/1KiB").expect("placed");
    assert_eq!((row.ratio, row.places[0].rule), (None, ComparisonRule::Near));
    assert!((row.places[0].slower.value - 0.5).abs() < 0.03, "{:?}", row.places);
    // Fewer machines that measured the same come before many that did something like it.
    let rules: Vec<_> = compared(&run, &genoa(), "sync.handoff/pipe")
        .expect("placed")
        .places
        .iter()
        .map(|place| (place.rule, place.machines))
        .collect();
    assert_eq!(rules, [(ComparisonRule::Factor, 159), (ComparisonRule::Near, 2064)]);
}

#[test]
fn the_machines_at_the_quartiles_are_named_where_they_have_names() {
    let mut run = run_with(&[("call.syscall", synthetic::ok_outcome(65.0, 0.1))]);
    run.machine.online_cpus = Fact::known(vec![0, 1]);
    let strips = place_strips(&run).expect("whole");
    let strip = |row: &str| strips.iter().find(|strip| strip.row == row).expect("a strip");
    let quartiles = strip("memory.latency/DRAM").quartiles.expect("1811 types");
    assert!(quartiles.iter().all(|quartile| quartile.machine.is_some()), "{quartiles:?}");
    let costs = quartiles.map(|quartile| quartile.cost);
    assert!(costs.is_sorted_by(|slow, fast| slow > fast), "the slow quarter first: {costs:?}");
    let types = references::cloud_types().expect("whole");
    for quartile in quartiles {
        let of_name = types.iter().filter(|one| Some(&*one.type_name) == quartile.machine);
        let drams =
            of_name.filter(|one| one.vcpus == 2).filter_map(|one| one.membench.as_ref()?.dram);
        let near = drams.map(|dram| (dram / quartile.cost).ln().abs()).fold(f64::MAX, f64::min);
        assert!(near < 0.1, "{quartile:?}");
    }
    let calls = strip("call.syscall").quartiles.expect("percentiles");
    assert!(calls.iter().all(|quartile| quartile.machine.is_none()), "results have no names");
}

#[test]
fn figures_that_say_too_little_are_compared_with_nothing() {
    let mut estimate = synthetic::judged(2.5, 0.01, model::estimate::Verdict::CannotTell, "busy");
    let run = run_with(&[("sync.atomic_add", Outcome::Figure(estimate.clone()))]);
    assert_eq!(compared(&run, &genoa(), "sync.atomic_add"), None);
    estimate.verdict = model::estimate::Verdict::Noisy;
    let run = run_with(&[("sync.atomic_add", Outcome::Figure(estimate.clone()))]);
    assert!(compared(&run, &genoa(), "sync.atomic_add").is_some());
    estimate.below_ns = Some(3.0);
    let run = run_with(&[("sync.atomic_add", Outcome::Figure(estimate))]);
    assert_eq!(compared(&run, &genoa(), "sync.atomic_add"), None);
    // No record, and a population only.
    let nothing = MachineRecords::default();
    let run = run_with(&[("sync.atomic_add", cycles(7.6)), ("call.syscall", cycles(200.0))]);
    assert_eq!(compared(&run, &nothing, "sync.atomic_add"), None);
    assert_eq!(compared(&run, &nothing, "call.syscall").expect("placed").places[0].machines, 162);
}
