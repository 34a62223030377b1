//! The configuration file, and the command line over it.

use crate::support::{Done, Home, SYNTHETIC, has, lacks};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

const FILE: &str = "config/latlas/config";

/// With this text in the default configuration file.
fn with(text: &str) -> Home {
    let home = Home::new();
    home.write(FILE, text);
    home
}

/// Without `LATLAS_DATA_DIR`, which would beat the file.
fn command(home: &Home, line: &str) -> Command {
    let mut command = home.command(line);
    command.env_remove("LATLAS_DATA_DIR");
    command
}

fn run_line(home: &Home, line: &str) -> Done {
    Done::from_command(&mut command(home, line))
}

fn measured(home: &Home, options: &str) -> Value {
    let done = run_line(home, &format!("run {options} --document cpu.add_i32"));
    done.measured().json()
}

#[test]
fn a_long_word_is_not_printed_whole() {
    let long = "y".repeat(200_000);
    let shown = "y".repeat(60) + "...";
    for text in [
        format!("{long}\n"),
        format!("--{long}\n"),
        format!("run -{long}\n"),
        format!("run --budget {long}\n"),
        format!("--store {long}\n"),
    ] {
        let done = run_line(&with(&text), "list");
        assert_eq!(done.code, 2, "{}", &text[..20]);
        has(&done.err, [&shown[4..]]);
        assert!(done.err.len() < 1000, "{}", &done.err[..1000]);
    }
}

#[test]
fn a_run_follows_the_file_and_what_is_typed_beats_it() {
    let home = with("--quick\n# nothing\nrun --pin 0 --budget=2s\n");
    let done = home.run("run --document cpu.add_i32").measured();
    has(&done.err, ["config/latlas/config: --quick --pin 0 --budget 2s\n"]);
    let run = done.json();
    assert_eq!(run["plan"]["scale"], "quick");
    assert_eq!(run["plan"]["budget_ms"], 2000);
    assert_eq!(run["conditions"]["pinned_cpus"].to_string(), "[0]");
    let other = measured(&home, "--budget 1s");
    assert_eq!(other["plan"]["budget_ms"], 1000);
    assert_eq!(other["plan"]["scale"], "quick", "nothing typed contradicts it");
    // What contradicts an option replaces it.
    let none = home.run("run --no-controls --dry-run");
    lacks(&none.err, ["--pin"]);
    has(&none.err, ["--budget"]);
    let full = home.run("run --full --dry-run");
    lacks(&full.err, ["--quick"]);
    let quick = home.run("run --dry-run").out;
    assert!(full.out.lines().count() > quick.lines().count());
    let without = home.run("--no-config run --dry-run").silent();
    assert!(without.out.lines().count() > quick.lines().count());
    // Without a command an option of all counts, too, and not what is a command's.
    let plain = home.run("--dry-run --budget 1s");
    has(&plain.err, ["config: --quick\n"]);
}

#[test]
fn a_line_of_the_command_precedes_one_of_all_and_a_later_line_an_earlier() {
    let home = with("run --full\nrun --seed 3\n--quick\n--seed 1\nrun --seed 2\n");
    let err = home.run("run --dry-run cpu.add_i32").err;
    has(&err, ["config: --full --seed 2\n"]);
    let err = home.run("--dry-run").err;
    has(&err, ["config: --quick --seed 1\n"]);
    // Values of an option that may be given several times add up.
    let home = with("--vs iphone-x\nshow --vs 2012\n");
    has(&home.run(format!("show {SYNTHETIC}")).silent().out, ["iphone-x", "2012"]);
}

#[test]
fn runs_are_kept_where_the_file_says_unless_the_environment_does() {
    let home = Home::new();
    let kept = home.path("kept");
    home.write("own", format!("--store '{}'\n--quick\n", kept.display()));
    let count = |directory: PathBuf| crate::support::entries(&directory.join("runs")).len();
    let line = "--config own run cpu.add_i32";
    run_line(&home, line).measured();
    assert_eq!((count(kept.clone()), count(home.path("share/latlas"))), (1, 0));
    let show = "show last --config own";
    run_line(&home, show).ok();
    // An empty variable names nothing.
    Done::from_command(command(&home, show).env("LATLAS_DATA_DIR", "")).ok();
    home.run(line).measured();
    assert_eq!((count(kept), home.kept_documents()), (1, 1));
}

#[test]
fn looks_follow_the_file_where_the_option_means_the_same() {
    let home = with("--vs iphone-x\n--human\n--color always\n--margin 5%\n");
    let show = format!("show {SYNTHETIC}");
    // Nothing is measured, so nothing is announced.
    has(&home.run(&show).silent().out, ["iphone-x", "1ns=1s", "\u{1b}["]);
    let plain = home.run(format!("{show} --color never --vs 2012")).out;
    lacks(&plain, ["\u{1b}", "iphone-x"]);
    let no_color = Done::from_command(home.command(&show).env("NO_COLOR", "1")).out;
    lacks(&no_color, ["\u{1b}"]);
    // To exec, --vs is another command.
    let exec = "exec -r 2 --document -- true";
    let done = home.run(exec).measured();
    lacks(&done.out, ["iphone-x"]);
    lacks(&done.err, ["--margin"]);
    home.write(FILE, "--margin 5%\nexec --vs 'sleep 0'\n");
    has(&home.run(exec).measured().err, ["config: --margin '5%' --vs 'sleep 0'\n"]);
}

#[test]
fn what_needs_a_row_is_not_for_commands() {
    let home = with("--no-wait\ntrace --tails\ntrace --operations 3\n");
    let refused = "trace --from 30ms --to 20ms";
    let row = home.run(format!("{refused} sched.pool")).ended_with(2);
    has(&row.err, ["config: --no-wait --tails --operations 3\n", "not before --to"]);
    // The pack is not even opened.
    home.write(FILE, "--no-wait\n--pack /nowhere/mine.so\ntrace --tails\ntrace --operations 3\n");
    for target in ["-- true", "--pid 1"] {
        let done = home.run(format!("{refused} {target}")).ended_with(2);
        has(&done.err, ["not before --to"]);
        lacks(&done.err, ["config"]);
    }
}

#[test]
fn errors_show_no_password() {
    for text in [
        "--store = postgres://me:s3cret@h/d",
        "store=\"postgres://me:s3cret@h/d\"",
        "store:postgres://me:s3cret@h/d",
        "store password=s3cret",
        "--postgres://me:s3=cret@h/d",
        "--store=x:postgres://me:s3cret@h/d",
        "run --dir postgres://me:s3cret@h/d",
        "--store me:s3cret@h/d",
        "run # password=s3cret",
    ] {
        let done = with(text).run("list").ended_with(2);
        has(&done.err, ["latlas/config:1: "]);
        lacks(&done.err, ["cret"]);
    }
}

#[test]
fn what_the_file_says_precedes_what_quick_decides() {
    let home = with("qos --rounds 1\nqos --size 1MiB\nqos --levels default\nqos --cases alone\n");
    std::fs::create_dir(home.path("scratch")).expect("a directory");
    let line = "qos --quick --block 64KiB --dir scratch --document";
    // One round has no interval.
    let run = home.run(line).ended_with(3).json();
    let qos = &run["recordings"][0]["qos"];
    assert_eq!(qos["how"]["rounds"], 1);
    assert_eq!(qos["how"]["file_bytes"], 1 << 20);
    assert_eq!(qos["cases"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_value_may_be_left_out_as_on_the_command_line() {
    let home = with("exec --pin --shell\nexec --ignore-failure\n");
    let done = home.run("exec -r 2 --document -- true").measured();
    has(&done.err, ["config: --pin quietest --shell sh --ignore-failure all\n"]);
}

#[test]
fn options_of_measuring_are_announced_only_where_something_is_measured() {
    let home = with("--quick\n--dir /nowhere\n--no-wait\n");
    let table = home.run(format!("table 2012 {SYNTHETIC}"));
    assert_eq!(table.err, "");
    has(&table.out, ["L1"]);
    let measured = home.run("table 2012 --measure").ended_with(2);
    has(&measured.err, ["config: --quick --dir /nowhere --no-wait\n"]);
}

#[test]
fn the_gate_of_the_file_is_for_runs_with_a_baseline() {
    let home = with("--fail-above 400%\n");
    home.run("run --dry-run cpu.add_i32").silent();
    // Whether anything can be judged depends on the machine; what would be is printed.
    let line = format!("run --quick --document --baseline {SYNTHETIC} cpu.add_i32");
    let fail_above =
        |more: &str| home.run(format!("{line} {more}")).json()["gate"]["fail_above"].clone();
    assert_eq!(fail_above(""), 4.0);
    assert_eq!(fail_above("--fail-above 300%"), 3.0);
}

#[test]
fn controls_are_those_of_the_file() {
    let home = with("--nice 5\n--quick\n");
    has(&measured(&home, "")["conditions"].to_string(), ["\"nice\":5"]);
    let done = home.run("exec -r 2 --document -- true");
    has(&done.err, ["--nice 5"]);
    has(&done.out, ["\"nice\":5"]);
}

#[test]
fn mistakes_are_errors_with_their_line_except_where_nothing_is_read() {
    let mut errors = String::new();
    for text in [
        "run 'a\n",
        "# nothing\n\nrun --pinn 2\n",
        "rum --pin 1\n",
        "run\n",
        "--pinn 2\n",
        "run -q\n",
        "run cpu.add_i32 --pin 1\n",
        "run --pin 1 cpu.add_i32\n",
        "\nrun --budget soon\n",
        "--nice 99\n",
        "--nice\n",
        "--wide=1\n",
        "--store kept\n",
        "--config other\n",
        "--help\n",
        "run --pin one\n",
        "--dir here\n",
        "--margin 0%\n",
        "--color blue\n",
        "--budget 2m\n",
        "--keep\n",
        "trace --usdt\n",
        "--cpus 2-3\n",
        "export --format csv\n",
    ] {
        errors += &format!("{text}{}", with(text).refusals("list"));
    }
    for text in ["run 'a\n", "run --pinn 2\n", "--nice 99\n"] {
        let home = with(text);
        errors += &home.refusals("config show\nnoise tune --dry-run");
        for line in [
            "--no-config list",
            "config path",
            "man",
            "completions bash",
            "--help",
            "--version",
            "noise restore --help",
        ] {
            home.run(line).ok();
        }
        // What was set can be put back and seen.
        home.write("tree/proc/sys/kernel/random/boot_id", "boot-1\n");
        for line in ["noise restore --root tree", "noise show --root tree"] {
            let done = home.run(line).measured();
            assert!(!done.out.is_empty(), "{line} {}", done.err);
            assert_eq!(done.err.lines().count(), 1, "{}", done.err);
            has(&done.err, ["latlas: warning: ", "latlas/config:"]);
        }
    }
    insta::assert_snapshot!(errors);
}

#[test]
fn the_file_of_an_earlier_latlas_is_named_and_not_read() {
    let home = Home::new();
    home.write("config/latlas/config.toml", "[look]\ncolor = \"always\"\n");
    let done = home.run(format!("show {SYNTHETIC}"));
    let warning = "config.toml is of an earlier latlas and is not read";
    has(&done.err, [warning]);
    lacks(&done.out, ["\u{1b}"]);
    has(&home.run("config show").err, [warning]);
    home.write(FILE, "");
    home.run(format!("show {SYNTHETIC}")).silent();
}

#[test]
fn a_file_that_is_named_must_be_there_and_one_that_is_there_must_be_readable() {
    let home = Home::new();
    for nowhere in ["/dev/null", "/nonexistent"] {
        let mut command = home.command("list cpu.add_i32");
        Done::from_command(command.env("XDG_CONFIG_HOME", nowhere)).silent();
    }
    insta::assert_snapshot!(home.refusals(
        "--config absent list
         --config . list
         list --config a --no-config
         config init --no-config
         config init --config /dev/null/x"
    ));
    std::fs::create_dir_all(home.path(FILE)).expect("a directory");
    home.run("list").refused("can't read the configuration");
}

#[test]
fn show_prints_each_option_with_its_line() {
    let file = "--store /d\n\n# a comment\nrun --pin 3 --quick\nshow --vs 2012 --wide\n\
                --store 'postgres://me:s3cret@h/d'\nexec --nice=-3\n";
    let home = Home::new();
    let line = "config show";
    let mut text = run_line(&home, line).ok().out;
    home.write(FILE, file);
    text += &run_line(&home, line).ok().out;
    let environment = Done::from_command(command(&home, line).env("LATLAS_DATA_DIR", "/elsewhere"));
    text += &environment.ok().out;
    lacks(&text, ["s3cret"]);
    insta::assert_snapshot!(home.plain(&text));
    let all = run_line(&home, "config show --json").ok().json();
    let pin = serde_json::json!({ "line": 4, "command": "run", "option": "pin", "values": ["3"] });
    assert_eq!(all[1], pin);
}

#[test]
fn init_writes_an_example_once() {
    let home = Home::new();
    let path = home.path(FILE);
    assert_eq!(home.out("config init").trim_end(), path.to_str().expect("UTF-8"));
    has(&home.read_file(FILE), ["#: --pin "]);
    home.write(FILE, "# mine\n");
    home.run("config init").refused(FILE);
    assert_eq!(home.read_file(FILE), "# mine\n");
}
