//! `latlas judge`: two builds of a suite, here of commands.

use crate::support::processes::{running, signal, wait_until};
use crate::support::{Done, Home, entries, has, unwrapped};
use std::process::Command;

const JUDGE: &str = "judge --base base --head head";

#[test]
fn what_is_wrong_is_refused_and_nothing_is_kept() {
    let home = Home::with_builds(["0", "0"]);
    insta::assert_snapshot!(home.refusals(
        r#"judge
           judge --base base
           judge --base base --head head -- ./prog
           judge --base base --head head --explain
           judge --base base --head head
           judge --base base --head head --budget x -- {}/prog
           judge --base base --head head -o page.csv -- {}/prog
           judge --base base --head head -o absent/page.md -- {}/prog
           judge --base base --head head --harness absent
           judge --base absent --head head -- {}/prog
           judge --again last --base base
           judge --again 99999999"#
    ));
    assert_eq!(home.kept_documents(), 0);
}

// Ten times as long is a change, however busy the machine is.
#[test]
fn a_head_that_sleeps_ten_times_as_long_fails_and_fails_again_from_the_kept_samples() {
    let home = Home::with_builds(["0.005", "0.05"]);
    let line = format!(r#"{JUDGE} --budget 5m -o said.md -o plot.svg -- "sh {{}}/prog""#);
    let judged = home.run(line).ended_with(1);
    has(&judged.out, ["REGRESSION: 1 of 1 benchmark slower", "sh {}/prog", "base base, head head"]);
    has(&home.read_file("said.md"), ["### latlas: +", "in `sh {}/prog`", "REGRESSION"]);
    has(&home.read_file("plot.svg"), ["<svg", "sh {}/prog", "head over base"]);
    assert_eq!(home.kept_documents(), 1);
    let again = home.run("judge --again last").ended_with(1);
    assert_eq!(again.out, judged.out);
    let json = home.run("judge --again last --json").ended_with(1).json();
    assert_eq!(
        (&json["outcome"], &json["rows"][0]["answer"]),
        (&"regression".into(), &"slower".into())
    );
    has(&home.run("show last").ended_with(0).out, ["REGRESSION"]);
}

#[test]
fn a_budget_that_is_too_short_says_so() {
    let home = Home::with_builds(["0.05", "0.05"]);
    let short = home.run(format!(r#"{JUDGE} --budget 1s -- "sh {{}}/prog""#)).ended_with(3);
    has(&short.out, ["Inconclusive", "Beyond the budget"]);
}

#[test]
fn the_suites_of_a_folder_are_explained_and_nothing_runs() {
    let home = Home::new();
    std::fs::create_dir(home.path("suite")).expect("a directory");
    home.write("suite/go.mod", "module example.com/suite\n");
    home.write("suite/sum_test.go", "package suite\nfunc BenchmarkSum(b *testing.B) {}\n");
    let told = home.run("judge --head suite --explain").ended_with(0);
    has(&told.out, ["go test", "sum_test.go", "-test.bench"]);
    assert_eq!(home.kept_documents(), 0);
}

const HARNESS: &str = r#"{
  "name": "own",
  "list": {"run": ["/bin/sh", "suite.sh", "list"], "line": "{name}"},
  "run": [["/bin/sh", "suite.sh", "run", "{name}"]],
  "results": {"line": "{name}: {us} us"}
}"#;

/// A repository of two commits with a suite, which is a script: `$2` is the benchmark, `$n` the how manieth run of it.
fn with_suite(names: &str, run: &str) -> Home {
    let home = Home::new();
    home.write("own.json", HARNESS);
    let suite = format!(
        "[ $1 = list ] && exec printf '%s\\n' {names}\n\
         echo >>ran.$2\nn=$(wc -l <ran.$2)\nvalue=\"$2: 1.5 us\"\n{run}\n"
    );
    std::fs::create_dir(home.path("project")).expect("a directory");
    git(&home, "init -q");
    for text in [suite.clone(), suite + "# as before\n"] {
        home.write("project/suite.sh", text);
        git(&home, "add suite.sh");
        git(&home, "-c user.name=t -c user.email=t@t commit -q -m suite");
    }
    home
}

fn git(home: &Home, line: &str) -> String {
    let words = shlex::split(line).expect("words");
    let mut command = Command::new("git");
    let output = command.current_dir(home.path("project")).args(words).output().expect("git");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn judge_suite(home: &Home, more: &str) -> Command {
    let line = format!("judge --base HEAD~1 --head HEAD --harness ../own.json {more}");
    let mut command = home.command(line);
    command.current_dir(home.path("project"));
    command
}

/// The checkout is as it was, and no tree is left.
fn is_untouched(home: &Home) -> bool {
    let left = entries(&home.path("data/judging"));
    let left: Vec<_> = left.iter().filter(|path| !path.ends_with("lock")).collect();
    let trees = git(home, "worktree list").lines().count();
    assert_eq!(git(home, "status --porcelain --ignored"), "");
    left.is_empty() && trees == 1
}

#[test]
fn benchmarks_that_fail_are_named_with_the_reason_and_the_others_are_judged() {
    let run = "case $2 in\n\
               fails) echo why >&2; exit 3 ;;\n\
               twice) echo \"$value\" ;;\n\
               odd) [ $n = 20 ] && exit 4 ;;\n\
               esac\necho \"$value\"";
    let home = with_suite("good fails twice odd", run);
    let done = Done::from_command(&mut judge_suite(&home, "--budget 5m")).ended_with(3);
    let words = unwrapped(&done.out);
    let failed = "Failed (2): fails, twice; the first, in base: it ended with code 3: why.";
    let lost = "Left out: 2 failed runs of odd; the first: it ended with code 4.";
    has(&words, ["Inconclusive", failed, lost, "No change shown in 2 benchmarks"]);
    assert!(is_untouched(&home), "{words}");
}

#[test]
fn what_is_interrupted_or_killed_leaves_nothing_running_and_no_tree() {
    let sleep = format!("sleep 9{}", std::process::id());
    let run = format!("[ $n = 30 ] && exec {sleep}\necho \"$value\"");
    let home = with_suite("one two", &run);
    let hang = || {
        let child = judge_suite(&home, "--budget 5m").spawn().expect("it starts");
        wait_until("a benchmark that hangs", || !running(&sleep).is_empty());
        child
    };
    let child = hang();
    signal(child.id(), "INT");
    let done = Done::after(child).ended_with(3);
    has(&done.out, ["INTERRUPTED", "Inconclusive"]);
    assert_eq!((home.kept_documents(), running(&sleep).len()), (1, 0));
    assert!(is_untouched(&home), "{}", done.out);
    let mut child = hang();
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
    wait_until("the end of the benchmark", || running(&sleep).is_empty());
    assert!(!is_untouched(&home), "a killed process leaves its worktrees");
    // The next one does, whatever it does itself.
    Done::from_command(&mut judge_suite(&home, "none*")).refused("no benchmark matches none*");
    assert!(is_untouched(&home));
    assert_eq!(home.kept_documents(), 1);
}
