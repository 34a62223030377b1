//! Verdicts, what is learned, and what is refused, by values.

use super::expectation::{ElementGroup, Expectation, Unusable};
use super::identity::Identity;
use super::judge::{
    ANOTHER_MACHINE, FITS, NOT_QUIET, OUT_OF_RANGE, Tested, VerdictWithReason, judge_host,
};
use super::learn::{NothingLearned, learn};
use super::noise::Noise;
use super::{Element, Vector};
use crate::machine::Fact;
use crate::noise::osnoise::Cause;
use crate::repeatable_random::Xorshift;
use crate::synthetic;

/// A good host: 4 GHz, L1 4 cycles, memory 90 ns.
const USUAL: [(Element, f64); 10] = [
    (Element::Clock, 4.0),
    (Element::Multiply, 3.0),
    (Element::L1, 4.0),
    (Element::L2, 14.0),
    (Element::L3, 12.0),
    (Element::Dram, 90.0),
    (Element::CoreToCore, 40.0),
    (Element::Syscall, 400.0),
    (Element::Disk, 400e3),
    (Element::Share, 0.99),
];

fn usual(host: &str) -> Vector {
    Vector {
        host: host.into(),
        identity: Identity {
            cpu_model: Some("EPYC 9965".into()),
            cpu_signature: Some("family 0x1a".into()),
            microcode: Some("0xb00215a".into()),
            cpus: Some(64),
            cpu_quota: None,
        },
        elements: USUAL.map(|(element, value)| (element, Fact::known(value))).into(),
        noise: Vec::new(),
        throttled_share: None,
    }
}

fn multiplied(mut vector: Vector, element: Element, factor: f64) -> Vector {
    for (own, value) in &mut vector.elements {
        if *own == element {
            *value = value.clone().map(|value| value * factor);
        }
    }
    vector
}

/// Three runs on each of so many hosts: they differ by 1 %, their runs by 0.5 %.
fn fleet(hosts: usize) -> Vec<Vector> {
    let mut bits = Xorshift(2026);
    let mut runs = Vec::new();
    for host in 0..hosts {
        let name = format!("n{host:02}");
        let mut own = usual(&name);
        for element in Element::ALL {
            own = multiplied(own, element, (0.01 * bits.normals()[0]).exp());
        }
        for _ in 0..3 {
            let mut run = own.clone();
            for element in Element::ALL {
                run = multiplied(run, element, (0.005 * bits.normals()[0]).exp());
            }
            runs.push(run);
        }
    }
    runs
}

fn expected() -> Expectation {
    learn(&fleet(20)).expect("runs")
}

/// The verdict, and the elements that differ.
fn verdict(vector: &Vector) -> (VerdictWithReason, Vec<Element>) {
    let judged = judge_host(vector, &expected());
    let differs = judged.tests.iter().filter(|test| test.differs);
    let elements = differs.filter_map(|test| match test.of {
        Tested::Element(element) => Some(element),
        Tested::Group(_) => None,
    });
    (judged.verdict, elements.collect())
}

#[test]
fn a_host_of_the_fleet_fits() {
    assert_eq!(verdict(&usual("new")), (FITS, vec![]));
}

#[test]
fn another_core_is_named_by_its_cycles_on_a_loaded_host_too() {
    let mut other = multiplied(usual("new"), Element::L2, 12.0 / 14.0);
    let named = (ANOTHER_MACHINE, vec![Element::L2]);
    assert_eq!(verdict(&other), named);
    other.noise = vec![Noise::Lost { share: 0.5, cause: Some(Cause::Scheduler) }];
    assert_eq!(verdict(&other), named);
    // A shared core has no cycles to trust.
    other.noise = vec![Noise::Contended];
    assert_eq!(verdict(&other).0, NOT_QUIET);
}

#[test]
fn cycles_are_known_no_better_than_the_clock_that_they_are_counted_in() {
    let mut expected = expected();
    let of = |factor: f64, expected: &Expectation| {
        let host = multiplied(usual("n99"), Element::Multiply, factor);
        judge_host(&host, expected).verdict
    };
    assert_eq!(of(0.948, &expected), ANOTHER_MACHINE);
    for own in &mut expected.elements {
        if own.element == Element::Clock {
            own.spread.within = Some(0.036);
        }
    }
    assert_eq!(of(0.948, &expected), FITS);
    assert_eq!(of(1.08, &expected), ANOTHER_MACHINE);
}

#[test]
fn another_cpu_by_name_is_another_machine_whatever_it_measures() {
    let mut other = usual("new");
    other.identity.cpu_model = Some("Xeon 6".into());
    let judged = judge_host(&other, &expected());
    assert_eq!(judged.verdict, ANOTHER_MACHINE);
    assert_eq!(judged.identity[0].what, "CPU model");
    // A fact that is not known does not differ, and microcode is only named.
    other.identity.cpu_model = None;
    other.identity.microcode = Some("0xb00216b".into());
    assert_eq!(judge_host(&other, &expected()).identity[0].what, "microcode");
    assert_eq!(verdict(&other).0, FITS);
}

#[test]
fn a_slow_host_of_the_same_model_is_out_of_range() {
    for element in [Element::Clock, Element::L3, Element::Dram, Element::Syscall] {
        let factor = if element == Element::Clock { 1.0 / 1.1 } else { 1.1 };
        let slow = multiplied(usual("new"), element, factor);
        assert_eq!(verdict(&slow), (OUT_OF_RANGE, vec![element]));
    }
}

#[test]
fn slow_memory_is_named_together_before_each_alone() {
    let mut memory = usual("new");
    for element in [Element::L3, Element::Dram] {
        memory = multiplied(memory, element, 1.07);
    }
    let mut expected = expected();
    for own in &mut expected.elements {
        // Each alone may be 9 % slower, both together 6 %.
        if matches!(own.element, Element::L3 | Element::Dram) {
            own.spread.deviation = 0.03;
        }
    }
    let judged = judge_host(&memory, &expected);
    let differs = judged.tests.iter().filter(|test| test.differs);
    let differs: Vec<Tested> = differs.map(|test| test.of).collect();
    assert_eq!(differs, [Tested::Group(ElementGroup::Memory)]);
    assert_eq!(judged.verdict, OUT_OF_RANGE);
}

#[test]
fn a_faster_host_fits_until_it_must_be_another() {
    let faster = |factor: f64| multiplied(usual("new"), Element::Dram, 1.0 / factor);
    let test = |judged: super::judge::Judged| judged.tests[5];
    let dram = test(judge_host(&usual("new"), &expected()));
    assert_eq!(dram.of, Tested::Element(Element::Dram));
    let [least, most] = dram.allowed;
    assert!((least * most * most - 1.0).abs() < 1e-9, "twice as far: {dram:?}");
    assert_eq!(verdict(&faster(most * 1.02)).0, FITS);
    assert_eq!(verdict(&faster(1.2)), (OUT_OF_RANGE, vec![Element::Dram]));
    // The clock counts the other way around.
    let [least, most] = judge_host(&usual("new"), &expected()).tests[0].allowed;
    assert!((least * least * most - 1.0).abs() < 1e-9);
}

#[test]
fn half_the_share_is_the_machines_under_a_quota_and_noise_under_a_load() {
    let mut half = multiplied(usual("new"), Element::Share, 0.5);
    half.noise = vec![Noise::Lost { share: 0.5, cause: Some(Cause::Scheduler) }];
    assert_eq!(verdict(&half), (NOT_QUIET, vec![Element::Share]));
    half.noise = Vec::new();
    half.throttled_share = Some(0.5);
    assert_eq!(verdict(&half), (OUT_OF_RANGE, vec![Element::Share]));
    // A quota that is set differs, even if it stopped nothing.
    let mut quota = usual("new");
    quota.identity.cpu_quota = Some(0.5);
    assert_eq!(verdict(&quota), (OUT_OF_RANGE, vec![]));
}

#[test]
fn a_busy_disk_says_nothing_of_the_machine() {
    let disk = multiplied(usual("new"), Element::Disk, 30.0);
    assert_eq!(verdict(&disk), (NOT_QUIET, vec![Element::Disk]));
    let both = multiplied(disk, Element::Dram, 1.3);
    assert_eq!(verdict(&both).0, OUT_OF_RANGE);
}

#[test]
fn what_is_missing_is_not_compared_and_too_little_says_nothing() {
    let mut blind = usual("new");
    for (_, value) in &mut blind.elements[3..7] {
        *value = Fact::unknown("not available: no memory");
    }
    let judged = judge_host(&blind, &expected());
    assert_eq!(judged.verdict, FITS);
    assert_eq!(judged.tests.len(), 6, "no group without its elements");
    assert_eq!(judged.not_compared.len(), 4);
    assert_eq!(judged.not_compared[0].why, "not available: no memory");
    for (_, value) in &mut blind.elements[..7] {
        *value = Fact::unknown("not available");
    }
    assert_eq!(judged.too_few(), None);
    let judged = judge_host(&blind, &expected());
    assert_eq!((judged.verdict, judged.too_few()), (NOT_QUIET, Some(3)));
}

#[test]
fn the_spread_is_that_between_hosts_and_from_run_to_run() {
    let learned = learn(&fleet(400)).expect("runs");
    for own in &learned.elements {
        let within = own.spread.within.expect("three runs each");
        assert!((within - 0.005).abs() < 0.0006, "{own:?}");
        assert_eq!(own.hosts, 400);
    }
    // 1 % and 0.5 %: 1.12 % for one run on one more host; never below what is assumed.
    let deviation = |element| learned.element(element).expect("all have it").spread.deviation;
    assert!((deviation(Element::L1) / 0.0112 - 1.0).abs() < 0.12);
    assert!((deviation(Element::Dram) / 0.015 - 1.0).abs() < 0.01);
    assert_eq!((learned.hosts.len(), learned.runs), (400, 1200));
}

#[test]
fn one_host_knows_its_own_runs_and_few_hosts_say_that_they_are_few() {
    let own = learn(&fleet(1)).expect("runs");
    assert!(!judge_host(&usual("n00"), &own).few_hosts);
    assert!(judge_host(&usual("other"), &own).few_hosts);
    let few = learn(&fleet(3)).expect("runs");
    assert!(judge_host(&usual("other"), &few).few_hosts);
    assert!(!judge_host(&usual("other"), &expected()).few_hosts);
    // Of few hosts more is assumed: the same test reaches further.
    let allowed = |expected: &Expectation| judge_host(&usual("x"), expected).tests[4].allowed[1];
    assert!(allowed(&few) > allowed(&expected()));
}

#[test]
fn what_is_no_example_is_left_out_and_named() {
    let mut runs = fleet(12);
    let clean = learn(&runs).expect("runs");
    let mut disturbed = multiplied(usual("busy"), Element::Dram, 3.0);
    disturbed.noise = vec![Noise::Steal(0.3)];
    let mut other = usual("other");
    other.identity.cpus = Some(8);
    let slow = multiplied(usual("slow"), Element::Clock, 0.7);
    runs.extend([disturbed, other, slow]);
    let learned = learn(&runs).expect("runs");
    let out: Vec<&str> = learned.left_out.iter().map(|out| &*out.host).collect();
    assert_eq!(out, ["busy", "other", "slow"]);
    assert_eq!(learned.left_out[1].why, "CPUs 8, not 64");
    assert_eq!(learned.elements, clean.elements);
    // Two revisions of the microcode are one kind of host.
    runs[0].identity.microcode = Some("0xb00216b".into());
    let mixed = learn(&runs).expect("runs");
    assert_eq!((mixed.hosts.len(), mixed.identity.microcode), (12, None));
    assert_eq!(learn(&[]), Err(NothingLearned::NoRun));
    let mut noisy = usual("a");
    noisy.noise = vec![Noise::Contended];
    assert_eq!(learn(&[noisy]), Err(NothingLearned::NoneQuiet(1)));
}

#[test]
fn the_file_has_all_of_it() {
    let expected = expected();
    let text = serde_json::to_string(&expected).expect("serialises");
    let back: Expectation = serde_json::from_str(&text).expect("parses");
    // Digits of JSON are those of the number but for the last.
    assert_eq!(format!("{back:.12?}"), format!("{expected:.12?}"));
    assert_eq!(back.check(), Ok(()));
}

#[test]
fn a_file_that_no_latlas_wrote_is_refused() {
    let refused = |change: fn(&mut Expectation)| {
        let mut file = expected();
        change(&mut file);
        file.check().expect_err("refused")
    };
    let number = |name: &str| Unusable::Number(name.into());
    assert_eq!(refused(|f| f.schema = 2), Unusable::Version(2));
    assert_eq!(refused(|f| f.elements.clear()), Unusable::Empty);
    assert_eq!(refused(|f| f.limit = f64::NAN), number("the limit"));
    let zero = refused(|f| f.elements[0].median = 0.0);
    assert_eq!(zero, number("the median of core clock"));
    let negative = refused(|f| f.elements[1].spread.deviation = -1.0);
    assert_eq!(negative, number("the deviation of multiply"));
    let twice = refused(|f| f.elements.push(f.elements[0]));
    assert_eq!(twice, Unusable::Twice("core clock".into()));
}

#[test]
fn a_run_gives_each_element_or_the_reason_why_not() {
    let run = synthetic::run();
    let vector = Vector::from_run(&run);
    assert_eq!(vector.host, "example");
    let clock = run.core_clock.as_ref().expect("a clock").cycle_ns.value;
    assert_eq!(vector.value(Element::Clock), Some(1.0 / clock));
    let l1 = run.row("memory.latency/L1").and_then(|row| row.estimate()?.quiet);
    let cycles = l1.and_then(|quiet| quiet.cycles).expect("cycles").value;
    assert_eq!(vector.value(Element::L1), Some(cycles));
    let missing: Vec<String> = vector
        .elements
        .iter()
        .filter_map(|(element, value)| Some(format!("{element:?}: {}", value.unknown.as_ref()?)))
        .collect();
    assert_eq!(
        missing,
        [
            "Multiply: the run has no row cpu.mul_i64",
            "Syscall: the run has no row call.syscall",
            "Disk: the run has no row file.write_durable/16B"
        ]
    );
}

#[test]
fn with_few_elements_or_broken_off_it_is_too_little() {
    let whole = usual("n01");
    assert!(!whole.is_too_little());
    for (measured, expected) in [(0, true), (3, true), (4, false)] {
        let mut few = whole.clone();
        for (_, value) in few.elements.iter_mut().skip(measured) {
            *value = Fact::unknown("not measured");
        }
        assert_eq!(few.is_too_little(), expected, "{measured}");
    }
    let broken_off = Vector { noise: vec![Noise::Partial("interrupted".into())], ..whole.clone() };
    assert!(broken_off.is_too_little());
    let shared = Vector { noise: vec![Noise::Contended], ..whole };
    assert!(!shared.is_too_little());
}
