//! What may be wrong with a suite or a checkout: one line each, and nothing left.

use crate::own::{SUITE, options, project};
use crate::support::{TestProject, slot};
use judge::checkout::{CheckoutError, Checkouts};
use judge::harness::{HarnessError, SuiteOptions, Suites};
use judge::process::Processes;
use judge::slot::{Arm, SlotError};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// The line of a suite that can't be opened; nothing of it is left.
fn refused_line(place: &TestProject, base: &str, head: &str) -> String {
    let line = place.opened(base, head, options(place)).expect_err("refused").line();
    assert_eq!(place.left(), [""; 0]);
    line
}

#[test]
fn a_base_that_does_not_build() {
    let place = project("echo 'tiny.c:3: error: x' >&2; exit 2", SUITE);
    place.write("build.sh", "true");
    place.commit("mended");
    let line = refused_line(&place, "HEAD~1", "HEAD");
    assert_eq!(line, "HEAD~1 doesn't build: /bin/sh build.sh: tiny.c:3: error: x");
}

#[test]
fn a_build_that_needs_the_network_or_room() {
    let place = project("echo 'fatal: Could not resolve host: x.invalid' >&2; exit 1", SUITE);
    let line = refused_line(&place, "HEAD", "HEAD");
    assert!(line.starts_with("HEAD doesn't build without the network: "), "{line}");
    place.write("build.sh", "echo 'write: No space left on device' >&2; exit 1");
    place.commit("full");
    assert!(refused_line(&place, "HEAD", "HEAD").starts_with("no room on the disk"));
}

#[test]
fn a_suite_that_is_empty_or_does_not_list() {
    let place = project("true", "true");
    let line = refused_line(&place, "HEAD", "HEAD");
    assert_eq!(line, "HEAD: own lists no benchmark");
    place.write("suite.sh", "echo broken >&2; exit 1");
    place.commit("broken");
    let line = refused_line(&place, "HEAD", "HEAD");
    assert_eq!(line, "HEAD: can't list the benchmarks: /bin/sh suite.sh list: broken");
}

#[test]
fn a_suite_that_lists_only_some() {
    let place = project("true", "[ $1 = run ] || { echo one; echo 'E  no module x' >&2; exit 1; }");
    let suites = place.opened("HEAD", "HEAD", options(&place)).expect("opened");
    let remark = "HEAD: some benchmarks may not be listed: no module x";
    assert_eq!(suites.remarks(), [remark, remark]);
}

#[test]
fn the_reasons_of_a_failure_come_before_its_last_words() {
    let place =
        project("true", "printf 'E  no x\nE  no x\nE  no y\nE  no z\n4 errors\n' >&2; exit 1");
    let line = refused_line(&place, "HEAD", "HEAD");
    assert!(line.ends_with("suite.sh list: no x (and 2 other errors)"), "{line}");
}

#[test]
fn a_suite_that_is_not_there_or_matches_no_pattern() {
    let place = project("true", SUITE);
    let none = place.opened("HEAD", ".", SuiteOptions::default()).expect_err("no suite").line();
    assert!(none.starts_with("no benchmark suite found in HEAD and "), "{none}");
    assert!(!none.contains("judging"), "latlas' own folders mean nothing to a user: {none}");
    let only = SuiteOptions { only: vec!["thr*".into()], ..options(&place) };
    let line = place.opened("HEAD", "HEAD", only).expect_err("no such name").line();
    assert_eq!(line, "no benchmark matches thr*; the suite has one, two words");
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn names_that_are_never_in_both() {
    let place = project("true", "[ $1 = list ] && echo \"of $$\"");
    let line = refused_line(&place, "HEAD", "HEAD");
    assert!(line.starts_with("no benchmark is in both: HEAD has of "), "{line}");
    assert!(line.contains("; HEAD has of "), "{line}");
}

/// What a slot says that runs this.
fn slot_of(run: &str) -> Result<Vec<f64>, SlotError> {
    let suite = format!("case $1 in list) echo one ;; run) {run} ;; esac");
    let place = project("true", &suite);
    let limited = SuiteOptions { slot_limit: Some(Duration::from_secs(2)), ..options(&place) };
    let mut suites = place.opened("HEAD", "HEAD", limited).expect("opened");
    let measured = slot(&mut suites, "one", Arm::Base, None);
    drop(suites);
    assert_eq!(place.left(), [""; 0]);
    measured.map(|samples| samples.ns)
}

#[test]
fn a_slot_counts_only_with_one_named_value() {
    assert_eq!(slot_of("echo 'one: 2 us of 1'"), Ok(vec![2000.0]));
    assert_eq!(slot_of("true"), Err(SlotError::Nothing));
    assert_eq!(
        slot_of("echo 'one: 2 us of 1'; echo 'one: 3 us of 1'"),
        Err(SlotError::SeveralValues)
    );
    let other = SlotError::NotParsed { field: "name: it measured \"two\"".into() };
    assert_eq!(slot_of("echo 'two: 2 us of 1'"), Err(other));
    let no_number = SlotError::NotParsed { field: "us: \"x\" is no number".into() };
    assert_eq!(slot_of("echo 'one: x us of 1'"), Err(no_number));
    let failed = SlotError::Failed { code: Some(7), stderr: "why".into() };
    assert_eq!(slot_of("echo 'one: 2 us of 1'; echo why >&2; exit 7"), Err(failed));
    let killed = SlotError::Failed { code: None, stderr: String::new() };
    assert_eq!(slot_of("kill -9 $$"), Err(killed));
}

/// A number that no other test's sleep has.
fn number() -> String {
    format!("86{}.{}", std::process::id(), Instant::now().elapsed().as_nanos())
}

fn is_running(seconds: &str) -> bool {
    let entries = std::fs::read_dir("/proc").expect("proc").flatten();
    let words = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    words
        .into_iter()
        .any(|words| words.split(|&byte| byte == 0).any(|word| word == seconds.as_bytes()))
}

fn gone_in_time(seconds: &str) {
    let until = Instant::now() + Duration::from_secs(120);
    while is_running(seconds) {
        assert!(Instant::now() < until, "sleep {seconds} still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_that_hangs_is_killed_with_all_that_it_began() {
    let seconds = number();
    assert_eq!(slot_of(&format!("sleep {seconds} & sleep {seconds}")), Err(SlotError::TimedOut));
    gone_in_time(&seconds);
    // And what one leaves running does not run beside the next.
    let left = slot_of(&format!("sleep {seconds} & echo 'one: 2 us of 1'"));
    assert_eq!(left, Ok(vec![2000.0]));
    gone_in_time(&seconds);
}

#[test]
fn interrupted_in_a_slot() {
    let seconds = number();
    let suite = format!("case $1 in list) echo one ;; run) sleep {seconds} ;; esac");
    let place = project("true", &suite);
    let (wake, mut write) = std::io::pipe().expect("a pipe");
    let checkouts = place.checkouts("HEAD", "HEAD").expect("checked out");
    let processes = Processes::new(Some(wake.into())).expect("/dev/null");
    let mut suites = Suites::build(checkouts, options(&place), processes).expect("opened");
    std::thread::scope(|scope| {
        let interrupt = || {
            while !is_running(&seconds) {
                std::thread::sleep(Duration::from_millis(5));
            }
            write.write_all(b"x").expect("into an empty pipe");
        };
        sys::thread::spawn_scoped(scope, std::thread::Builder::new(), interrupt).expect("a thread");
        let error = slot(&mut suites, "one", Arm::Base, None).expect_err("interrupted");
        assert_eq!(error, SlotError::NotRun("interrupted".into()));
    });
    drop(suites);
    assert_eq!(place.left(), [""; 0]);
    gone_in_time(&seconds);
}

#[test]
fn one_that_writes_to_its_checkout() {
    let place = project("echo built > made", &format!("echo ran >> made\n{SUITE}"));
    let before = place.git(&["status", "--porcelain", "--ignored"]);
    let mut suites = place.opened("HEAD", "HEAD", options(&place)).expect("opened");
    slot(&mut suites, "one", Arm::Head, None).expect("measured");
    drop(suites);
    assert_eq!(place.git(&["status", "--porcelain", "--ignored"]), before);
    assert!(!place.project().join("made").exists());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_changed_checkout_is_said_and_may_be_judged() {
    let place = project("true", SUITE);
    place.write("suite.sh", &SUITE.replace("1.5", "2.5"));
    place.write("new file", "");
    let checkouts = place.checkouts("HEAD", "HEAD").expect("checked out");
    assert!(checkouts.remarks[0].contains("changes of 2 files"), "{:?}", checkouts.remarks);
    let lengths = checkouts.sides.each_ref().map(|side| side.root.as_os_str().len());
    assert_eq!(lengths[0], lengths[1]);
    drop(checkouts);
    let mut suites = place.opened("HEAD", ".", options(&place)).expect("opened");
    let ns =
        [Arm::Base, Arm::Head].map(|arm| slot(&mut suites, "one", arm, None).expect("runs").ns);
    assert_eq!(ns, [vec![1500.0], vec![2500.0]]);
    drop(suites);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn no_such_revision_and_no_repository() {
    let place = project("true", SUITE);
    let line = refused_line(&place, "HEAD", "no-such");
    assert!(line.starts_with("no-such is neither a directory nor a revision of "), "{line}");
    let line = refused_line(&place, "HEAD", "--help");
    assert!(line.starts_with("--help is neither a directory nor"), "{line}");
    let bare = TestProject::without_git();
    let error = bare.checkouts("HEAD", "HEAD").expect_err("no repository");
    assert!(matches!(error, CheckoutError::NoRepository(_)), "{error}");
    assert_eq!(bare.left(), [""; 0]);
}

#[test]
fn directories_need_no_git() {
    let place = TestProject::without_git();
    for side in ["old", "new"] {
        place.write(&format!("{side}/build.sh"), "true");
        place.write(&format!("{side}/suite.sh"), SUITE);
        place.write(&format!("{side}/target/CACHEDIR.TAG"), "");
    }
    let mut suites = place.opened("old", "new", options(&place)).expect("opened");
    slot(&mut suites, "one", Arm::Head, None).expect("measured");
    drop(suites);
    assert_eq!(place.left(), [""; 0]);
}

/// Set in a copy of this test that is to be killed: the project that it judges.
const CHILD: &str = "LATLAS_TEST_KILLED_IN";
/// Set in one that finds no git.
const NO_GIT: &str = "LATLAS_TEST_WITHOUT_GIT";

fn again(test: &str, variable: &str, value: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture"]).env(variable, value);
    command
}

#[test]
fn without_git() {
    let Some(folder) = std::env::var_os(NO_GIT) else {
        let place = project("true", SUITE);
        let mut child = again("bad::without_git", NO_GIT, place.folder.path());
        let output = child.env("PATH", place.folder.path()).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("git is not installed"), "{said}");
        return;
    };
    let place = TestProject::in_folder(Path::new(&folder));
    println!("{}", place.checkouts("HEAD", "HEAD").expect_err("no git"));
}

#[test]
fn one_that_was_killed_leaves_nothing_for_long() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let place = TestProject::in_folder(Path::new(&folder));
        let mut suites = place.opened("HEAD", "HEAD", options(&place)).expect("opened");
        let _ = slot(&mut suites, "one", Arm::Base, None);
        return;
    }
    let seconds = number();
    let suite = format!("case $1 in list) echo one ;; run) sleep {seconds} ;; esac");
    let place = project("true", &suite);
    let test = "bad::one_that_was_killed_leaves_nothing_for_long";
    let mut child = again(test, CHILD, place.folder.path()).spawn().expect("it runs");
    let until = Instant::now() + Duration::from_secs(120);
    while !is_running(&seconds) {
        assert!(Instant::now() < until, "it never measured");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_ne!(place.left(), [""; 0], "trees of a process that lives");
    child.kill().expect("its own child");
    child.wait().expect("ended");
    gone_in_time(&seconds);
    // One was killed while it removed its trees: its lock went first.
    let half = place.data().join("judging/whalf0000/base/build");
    std::fs::create_dir_all(&half).expect("a folder");
    std::fs::write(half.join("built"), "x").expect("written");
    // The next one finds what both left.
    drop(place.checkouts("HEAD", "HEAD").expect("checked out"));
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_harness_that_is_none() {
    let place = TestProject::without_git();
    let file = place.folder.path().join("missing.json");
    let error = judge::harness::Adapter::from_file(&file).expect_err("missing");
    let line = HarnessError::from(error).to_string();
    assert!(line.starts_with("can't read the harness "), "{line}");
}

#[test]
fn no_place_for_trees() {
    let place = project("true", SUITE);
    let mut processes = Processes::new(None).expect("/dev/null");
    let source = judge::checkout::Source::Revision("HEAD".into());
    let data = Path::new("/dev/null/data");
    let opened =
        Checkouts::check_out([&source, &source], &place.project(), data, false, &mut processes);
    let line = opened.expect_err("no folder").to_string();
    assert!(line.starts_with("can't use /dev/null/data/judging: "), "{line}");
}
