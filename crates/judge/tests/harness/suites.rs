//! Each harness: detected, built, listed, every benchmark run, results read, linked again.

use crate::support::{TestProject, has_all, names_in, slot};
use judge::counting::CountError;
use judge::harness::{SuiteOptions, Suites};
use judge::slot::{Arm, Slots};

/// Every benchmark gives samples in every arm, as many operations each, of layouts that differ.
fn measures_all(place: &TestProject, mut suites: Suites, relinks: bool) {
    counts_all(&mut suites);
    let all: Vec<(String, bool)> =
        suites.benchmarks().iter().map(|one| (one.name.clone(), one.can_relink)).collect();
    for (name, can_relink) in &all {
        assert_eq!(*can_relink, relinks, "{name}");
        for (arm, seed) in [(Arm::Base, 7), (Arm::Head, 8), (Arm::BaseAgain, 9)] {
            let seed = relinks.then_some(seed);
            let samples =
                slot(&mut suites, name, arm, seed).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(samples.ns.len(), samples.iterations.len());
            assert!(!samples.ns.is_empty() && samples.ns.iter().all(|ns| *ns > 0.0), "{samples:?}");
            println!(
                "{name} {arm:?}: {:?} x {:?}",
                &samples.ns[..3.min(samples.ns.len())],
                samples.iterations[0]
            );
        }
    }
    let layouts = place.layouts_of_base();
    assert_eq!(layouts.len() > 1, relinks, "of the trial, and of two seeds of the base");
    assert!(layouts.windows(2).all(|two| two[0] != two[1]), "functions in the same order");
}

/// The work of the base is the same whichever arm is counted, where it can be counted.
fn counts_all(suites: &mut Suites) {
    // The first and the last: a run under emulation takes seconds.
    let [first, .., last] = suites.benchmarks() else { panic!("one benchmark or none") };
    for name in [first, last].map(|one| one.name.clone()) {
        match [Arm::Base, Arm::BaseAgain].map(|arm| suites.count(&name, arm)) {
            [Ok(base), Ok(again)] => {
                let differs = (again.instructions / base.instructions - 1.0).abs();
                println!("{name}: {base:?}, again {differs:.1e}");
                let noise = 3.0 * base.spread.max(again.spread);
                assert!(differs <= noise.max(0.02), "{name}: {base:?} {again:?}");
                assert!(base.instructions > 0.0 && base.spread < 0.1, "{base:?}");
            }
            [Err(error @ CountError::NotAvailable(_)), _] => println!("SKIPPED: {name}: {error}"),
            [Err(error), _] | [_, Err(error)] => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn go_test() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let place = TestProject::with_suite("go");
    place.replace("tiny.go", "x *= 6364136223846793005", "x = x*6364136223846793005 + 1");
    place.commit("slower");
    let suites = place.opened("HEAD~1", "HEAD", SuiteOptions::default()).expect("opened");
    let all = [
        "example.com/tiny.BenchmarkChain",
        "example.com/tiny.BenchmarkSizes/p(10)*/a_b-16",
        "example.com/tiny.BenchmarkSizes/p(100)*/a_b-16",
    ];
    assert_eq!(names_in(&suites), all);
    assert!(suites.benchmarks().iter().all(|one| one.harness == "go test" && !one.equal_program));
    measures_all(&place, suites, true);
    assert_eq!(place.left(), [""; 0]);

    place.replace("tiny.go", "// Chain", "// A comment\n// of two lines.\n\n// Chain");
    place.replace("tiny_test.go", "var sink", "// Keeps what is computed.\nvar sink");
    place.commit("a comment");
    let suites = place.opened("HEAD~1", "HEAD", SuiteOptions::default()).expect("opened");
    assert!(suites.benchmarks().iter().all(|one| one.equal_program));
    drop(suites);
    // Data that a benchmark may read is a difference, though the program is the same.
    std::fs::write(place.project().join("data.bin"), "x").expect("written");
    place.commit("data");
    let suites = place.opened("HEAD~2", "HEAD", SuiteOptions::default()).expect("opened");
    assert!(suites.benchmarks().iter().all(|one| !one.equal_program));
}

#[test]
fn criterion() {
    if !has_all(&["git", "cargo", "ld.lld"]) {
        return;
    }
    let place = TestProject::with_suite("criterion");
    place.replace("src/lib.rs", "x.wrapping_mul(6364136223846793005)", "x.wrapping_mul(3) ^ 5");
    place.commit("other");
    let suites = place.opened("HEAD~1", "HEAD", SuiteOptions::default()).expect("opened");
    assert_eq!(names_in(&suites), ["chain", "at", "grp (x)/f/[a]/10", "grp (x)/f/[a]/100"]);
    measures_all(&place, suites, true);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn divan() {
    if !has_all(&["git", "cargo", "ld.lld"]) {
        return;
    }
    let place = TestProject::with_suite("divan");
    // Lines of panics move, and nothing else.
    place.replace("src/lib.rs", "/// Panics", "// A comment\n// of two lines.\n\n/// Panics");
    std::fs::write(place.project().join("README.md"), "What it is.\n").expect("written");
    place.commit("a comment");
    let suites = place.opened("HEAD~1", "HEAD", SuiteOptions::default()).expect("opened");
    assert_eq!(
        names_in(&suites),
        ["tiny/at", "tiny/chain", "tiny/group/sized/10", "tiny/group/sized/100"]
    );
    assert!(suites.benchmarks().iter().all(|one| one.equal_program));
    measures_all(&place, suites, false);
}

#[test]
fn google_benchmark() {
    if !has_all(&["git", "cmake", "c++"]) {
        return;
    }
    let place = TestProject::with_suite("google");
    let built = place.opened("HEAD", "HEAD", SuiteOptions::default());
    let suites = match built {
        Err(error) if error.line().contains("benchmark") && error.line().contains("Find") => {
            return println!("SKIPPED: no Google Benchmark here");
        }
        other => other.expect("opened"),
    };
    let all = ["BM_Chain<uint64_t>/100", "BM_Chain<uint64_t>/1000", "BM_Chain<uint32_t>/100"];
    assert_eq!(names_in(&suites), all);
    assert!(suites.benchmarks().iter().all(|one| one.equal_program));
    measures_all(&place, suites, false);
    if has_all(&["ld.lld"]) {
        place.replace("tiny.cpp", "x *= T(6364136223846793005u)", "x = x * T(5) + T(3)");
        place.commit("other");
        let suites = place.opened("HEAD~1", "HEAD", SuiteOptions::default()).expect("opened");
        measures_all(&place, suites, true);
    }
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn pytest_benchmark() {
    if !has_all(&["git", "python3"]) {
        return;
    }
    let asked =
        std::process::Command::new("python3").args(["-c", "import pytest_benchmark"]).output();
    if !asked.is_ok_and(|said| said.status.success()) {
        return println!("SKIPPED: no pytest-benchmark here");
    }
    let place = TestProject::with_suite("pytest");
    place.replace("tiny.py", "x = n | 1", "x = n | 3");
    place.commit("other");
    let suites = place.opened("HEAD~1", "HEAD", SuiteOptions::default()).expect("opened");
    assert_eq!(
        names_in(&suites),
        ["test_tiny.py::test_chain[10]", "test_tiny.py::test_chain[100]", "test_tiny.py::test_few"]
    );
    measures_all(&place, suites, false);
}

#[test]
fn jmh() {
    if !has_all(&["git", "mvn", "java"]) {
        return;
    }
    let place = TestProject::with_suite("jmh");
    let suites = match place.opened("HEAD", "HEAD", SuiteOptions::default()) {
        Err(error) if error.line().contains("without the network") => {
            return println!("SKIPPED: {}", error.line());
        }
        other => other.expect("opened"),
    };
    assert_eq!(names_in(&suites), ["tiny.Chain.chain:n=10", "tiny.Chain.chain:n=100"]);
    assert!(suites.benchmarks().iter().all(|one| one.equal_program));
    measures_all(&place, suites, false);
}
