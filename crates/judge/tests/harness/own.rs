//! A harness of a user's own, in a file of ten lines, whose suite is a shell script: what goes well.

use crate::support::{TestProject, names_in, slot};
use judge::counting::CountError;
use judge::harness::{Adapter, AdapterError, Explanation, SuiteOptions};
use judge::slot::{Arm, Benchmark, Presence, Slots};

const HARNESS: &str = r#"{
  "name": "own",
  "build": [["/bin/sh", "build.sh"]],
  "list": {"run": ["/bin/sh", "suite.sh", "list"], "line": "{name}"},
  "failure": "E  {reason}",
  "run": [["/bin/sh", "suite.sh", "run", "{name}", "{k}"]],
  "results": {"line": "{name}: {us} us of {iterations}"}
}"#;

/// Prints each of its names when asked for the list, and one time of the name that it is to run.
pub(crate) const SUITE: &str = r#"
case $1 in
  list) printf 'one\ntwo words\n' ;;
  run) echo "begin"; echo "$2: 1.5 us of 4" ;;
esac
"#;

pub(crate) fn adapter(place: &TestProject) -> Result<Adapter, AdapterError> {
    let file = place.folder.path().join("own.json");
    std::fs::write(&file, HARNESS).expect("written");
    Adapter::from_file(&file)
}

pub(crate) fn options(place: &TestProject) -> SuiteOptions {
    SuiteOptions { harness: Some(adapter(place).expect("a harness")), ..SuiteOptions::default() }
}

/// A project with such a suite, committed.
pub(crate) fn project(build: &str, suite: &str) -> TestProject {
    let place = TestProject::empty();
    place.write("build.sh", build);
    place.write("suite.sh", suite);
    place.commit("first");
    place
}

#[test]
fn a_harness_in_ten_lines() {
    let place = project("true", SUITE);
    let mut suites = place.opened("HEAD", "HEAD", options(&place)).expect("opened");
    assert_eq!(names_in(&suites), ["one", "two words"]);
    let samples = slot(&mut suites, "two words", Arm::Head, None).expect("measured");
    assert_eq!((samples.ns, samples.iterations), (vec![1500.0], vec![4]));
    drop(suites);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn explained_without_running_anything() {
    let place = project("touch ran", SUITE);
    let explained = Explanation::of_folder(&place.project(), &options(&place)).expect("named");
    assert_eq!(
        explained[0].to_lines(),
        [
            "own (named)",
            "  build     /bin/sh build.sh",
            "  list      /bin/sh suite.sh list",
            "  run       /bin/sh suite.sh run {name} {k}",
        ]
    );
    assert!(!place.project().join("ran").exists());
    let error = Explanation::of_folder(&place.project(), &SuiteOptions::default());
    let line = error.expect_err("no suite").to_string();
    assert!(line.contains("go test, criterion") && line.contains("--harness"), "{line}");
}

#[test]
fn the_seven_by_their_files() {
    for (suite, harness, file) in [
        ("go", "go test", "tiny_test.go"),
        ("criterion", "criterion", "Cargo.toml"),
        ("divan", "divan", "Cargo.toml"),
        ("google", "Google Benchmark", "CMakeLists.txt"),
        ("pytest", "pytest-benchmark", "test_tiny.py"),
        ("jmh", "JMH", "pom.xml"),
    ] {
        let place = TestProject::with_suite(suite);
        let all = Explanation::of_folder(&place.project(), &SuiteOptions::default());
        let all = all.expect("detected");
        let detected: Vec<_> =
            all.iter().map(|one| (&*one.harness, one.detected_by.as_deref())).collect();
        assert_eq!(detected, [(harness, Some(file))]);
    }
}

#[test]
fn whole_commands_and_directories_in_place() {
    let place = TestProject::empty();
    for (side, pause) in [("old", "0"), ("new", "0.01")] {
        place.write(&format!("{side}/prog"), &format!("#!/bin/sh\nsleep {pause}\n"));
        let file = place.project().join(side).join("prog");
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(file, all).expect("executable");
    }
    let commands = vec!["{}/prog".to_owned(), "exit 3".into()];
    let options = SuiteOptions { commands: commands.clone(), ..SuiteOptions::default() };
    let mut suites = place.opened("old", "new", options).expect("opened");
    assert_eq!(names_in(&suites), commands);
    let mut of = |arm| slot(&mut suites, "{}/prog", arm, None).expect("runs");
    let (base, head) = (of(Arm::Base), of(Arm::Head));
    assert_eq!((base.ns.len(), base.iterations), (1, vec![1]));
    assert!(head.ns[0] > 1e7, "it sleeps for 10 ms: {head:?}");
    // A shell starts it, beside which the emulator sees nothing: the shell's own work would be called the command's.
    let counted = suites.count("{}/prog", Arm::Base).expect_err("not counted");
    let why = "command runs its work in a child process, which is not emulated".to_owned();
    assert_eq!(counted, CountError::NotAvailable(why));
    let failed = slot(&mut suites, "exit 3", Arm::Base, None).expect_err("it fails");
    assert_eq!(failed.to_string(), "it ended with code 3");
}

#[test]
fn names_that_one_side_has_alone() {
    let place = project("true", SUITE);
    place.write("suite.sh", &SUITE.replace(r"one\n", r"three\n"));
    place.commit("renamed");
    let options = SuiteOptions { only: vec!["t*".into(), "one".into()], ..options(&place) };
    let suites = place.opened("HEAD~1", "HEAD", options).expect("opened");
    let found: Vec<(&str, Presence)> = suites
        .benchmarks()
        .iter()
        .map(|Benchmark { name, presence, .. }| (&**name, *presence))
        .collect();
    let all =
        [("one", Presence::OnlyBase), ("two words", Presence::Both), ("three", Presence::OnlyHead)];
    assert_eq!(found, all);
}
