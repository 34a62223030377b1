//! Options and ways of hyperfine, `perf stat` and `time -v`.

use super::value;
use crate::support::{Home, has, lacks};

#[test]
fn each_argument_is_a_command_and_the_faster_one_is_named() {
    let home = Home::new();
    let done = home.run(["exec", "-r", "12", "sleep 0.01", "sleep 0.3", "--document"]).measured();
    let record = done.document().commands.expect("commands");
    let lines: Vec<String> = record.commands.iter().map(|c| c.command_line()).collect();
    assert_eq!(lines, ["sleep 0.01", "sleep 0.3"]);
    assert!(record.commands.iter().all(|command| command.shell.is_none()), "none is needed");
    let said = home.out("show");
    has(&said, ["'sleep 0.01' ran ", " times faster than 'sleep 0.3'"]);
}

#[test]
fn a_comparison_ends_when_it_is_decided() {
    let run = Home::new().measure(["exec", "sleep 0.01", "sleep 0.3", "--document"]);
    let record = run.commands.as_ref().expect("commands");
    assert_eq!(record.ended, model::command::Ended::Decided);
    assert!(record.compared[0].rounds < 40, "{}", record.compared[0].rounds);
    assert!(record.compared[0].ratio.expect("rounds").low > 1.0);
}

#[test]
fn a_line_gets_a_shell_where_it_needs_one() {
    let home = Home::new();
    let of = |words: &[&str]| {
        let words = ["exec", "-r", "6", "--document"].iter().chain(words).copied();
        let run = home.measure(words.collect::<Vec<_>>());
        run.commands.expect("commands").commands.remove(0).words
    };
    assert_eq!(of(&["true | cat"]), ["sh", "-c", "true | cat"]);
    assert_eq!(of(&["-S", "bash --norc", "true"]), ["bash", "--norc", "-c", "true"]);
    assert_eq!(of(&["--shell=default", "true"]), ["sh", "-c", "true"]);
    assert_eq!(of(&["-N", "printf a|b"]), ["printf", "a|b"]);
    assert_eq!(of(&["--shell=none", "printf a|b"]), ["printf", "a|b"]);
    home.run(["exec", "--shell", "bash", "true"]).refused("--shell=bash, or -S bash");
}

#[test]
fn commands_around_the_runs_are_run_and_not_timed() {
    let home = Home::new();
    let run = home.measure([
        "exec",
        "-r",
        "3",
        "-w",
        "1",
        "--document",
        "-s",
        "echo setup >>log",
        "-p",
        "echo before >>log",
        "-C",
        "echo after >>log",
        "-c",
        "echo end >>log",
        "-n",
        "x",
        "echo run >>log",
    ]);
    assert!(value(&run, "exec.x/wall") > 0.0);
    let around = "before\nrun\nafter\n".repeat(4);
    assert_eq!(home.read_file("log"), format!("setup\n{around}end\n"));
    home.run(["exec", "-p", "exit 3", "true"])
        .refused("--prepare \"sh -c exit 3\" ended with exit code 3");
    home.run(["exec", "-p", "a", "-p", "b", "-p", "c", "true", "true"])
        .refused("--prepare: give one");
}

#[test]
fn parameters_make_a_command_of_each_value() {
    let home = Home::new();
    let lines = |words: &[&str]| -> Vec<String> {
        let words = ["exec", "-r", "1", "-i", "--document"].iter().chain(words).copied();
        let done = home.run(words.collect::<Vec<_>>());
        let record = done.document().commands.expect("commands");
        record.commands.iter().map(|c| c.command_line()).collect()
    };
    let both = ["-L", "a", "1,x", "-L", "b", "3,4", "echo {a} {b}"];
    assert_eq!(lines(&both), ["echo 1 3", "echo 1 4", "echo x 3", "echo x 4"]);
    assert_eq!(lines(&["-P", "n", "0", "0.5", "-D", "0.25", "--", "echo", "{n}"]).len(), 3);
    has(&home.run("exec -D 2 true").ended_with(2).err, ["--parameter-scan"]);
}

#[test]
fn files_of_hyperfine_are_written() {
    let home = Home::new();
    let line =
        "exec -r 6 --export-json h.json --export-markdown h.md -n a -n b 'sleep 0.01' 'sleep 0.02'";
    home.run(line).measured();
    let json: serde_json::Value = serde_json::from_str(&home.read_file("h.json")).expect("JSON");
    let results = json["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["command"], "sleep 0.02");
    assert_eq!(results[0]["times"].as_array().map(Vec::len), Some(6));
    has(&home.read_file("h.md"), ["| sleep 0.01", "relative to the first"]);
    home.run("exec --export-json absent/x true").refused("absent/x");
}

#[test]
fn names_that_differ_are_told() {
    let home = Home::new();
    insta::assert_snapshot!(home.refusals(
        "exec --export-csv x true
         exec --reference true false
         exec -u second true
         exec --style none true
         exec --output pipe true
         exec -e cycles true
         exec make -j8
         exec -r 5 -m 3 true
         exec true -- true"
    ));
    // perf stat's -r and time's -v.
    let said = home.run("exec --repeat 6 -v true").measured().out;
    has(&said, ["context-switches", "page-faults", "peak memory", "voluntary"]);
    let shown = home.run("exec -r 6 --show-output --input null 'echo hello'").measured();
    assert_eq!(shown.err, "hello\n".repeat(6));
    lacks(&shown.out, ["\nhello\n"]);
}
