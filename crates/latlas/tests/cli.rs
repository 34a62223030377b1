//! The real binary, without measuring: bad input, kept runs, and what a
//! reader or a program sees.

#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/table.rs"]
mod table;

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A home of its own for one test.
struct Home {
    dir: TempDir,
}

/// What a command did.
struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Home {
        Home {
            dir: tempfile::tempdir().expect("tempdir"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("latlas").expect("the binary");
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env("LATLAS_DATA_DIR", self.path("data"))
            .env_remove("NO_COLOR");
        command
    }

    fn run(&self, arguments: &[&str]) -> Done {
        done(&mut self.command(arguments))
    }

    /// Puts the fixture into the store, with another id and time.
    fn keep(&self, id: &str, second: u32) {
        let runs = self.path("data/runs");
        std::fs::create_dir_all(&runs).expect("runs");
        let text = fixture().replace("5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b", id);
        // The reader goes by content: a plain document under the kept name.
        let name = format!("20261121T0000{second:02}Z-{id}.json.zst");
        std::fs::write(runs.join(name), text).expect("kept");
    }
}

fn done(command: &mut Command) -> Done {
    let output = command.output().expect("the binary runs");
    Done {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn fixture_path() -> &'static Path {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/synthetic.json"
    ))
}

fn fixture() -> String {
    std::fs::read_to_string(fixture_path()).expect("the fixture")
}

impl Done {
    /// The request was refused: nothing on stdout, one line on stderr.
    fn refused(&self, why: &str) {
        assert_eq!(self.code, 2, "{}", self.err);
        assert_eq!(self.out, "");
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(self.err.contains(why), "{} not in {}", why, self.err);
    }
}

#[test]
fn an_unknown_row_suggests_the_nearest() {
    let home = Home::new();
    for command in ["run", "list", "explain"] {
        home.run(&[command, "cpu.dvi_i32"])
            .refused("no row \"cpu.dvi_i32\"; did you mean cpu.div_i32? (latlas list shows all)");
    }
    home.run(&["run", "xyzzy.*"])
        .refused("no row \"xyzzy.*\" (");
}

#[test]
fn a_nonsense_budget_is_answered_with_an_example() {
    let home = Home::new();
    for budget in ["soon", "30", "-1s"] {
        let done = home.run(&["run", &format!("--budget={budget}")]);
        assert_eq!((done.code, done.out.as_str()), (2, ""));
        assert!(done.err.contains("such as 30s or 2m"), "{}", done.err);
    }
    home.run(&["run", "--budget", "0s"])
        .refused("no time to measure");
}

#[test]
fn quick_and_full_contradict_each_other() {
    let done = Home::new().run(&["--quick", "--full"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("cannot be used with"), "{}", done.err);
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    Home::new()
        .run(&["run", "--pin", "4095"])
        .refused("CPU 4095");
}

#[test]
fn an_unknown_published_table_suggests_the_nearest() {
    let done = Home::new().run(&["run", "--vs", "iphone-y"]);
    done.refused("did you mean iphone-x?");
    assert!(done.err.contains("latency-numbers-2012"), "{}", done.err);
}

#[test]
fn a_file_that_can_not_be_written_is_found_before_measuring() {
    let home = Home::new();
    let started = std::time::Instant::now();
    home.run(&["run", "--out", "absent/run.json"])
        .refused("can't write absent/run.json");
    home.run(&["run", "--out", "."]).refused("can't write .");
    home.run(&["run", "--out", "/"]).refused("can't write /");
    // Far more than refusing takes, and less than a default run.
    assert!(started.elapsed().as_secs() < 10);
    assert!(!home.path("data").exists(), "nothing was measured or kept");
}

#[test]
fn a_dry_run_measures_nothing() {
    let home = Home::new();
    let done = home.run(&["run", "--dry-run", "cpu.add_i32", "memory.latency"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let rows: Vec<&str> = done
        .out
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(
        rows.contains(&"cpu.add_i32") && rows.contains(&"memory.latency"),
        "{rows:?}"
    );
    assert_eq!(rows.last(), Some(&"sum"));
    let seconds = |line: &str| -> f64 {
        let text = line.split_whitespace().nth(1).expect("a time");
        text.parse().expect("a number")
    };
    let lines: Vec<f64> = done.out.lines().map(seconds).collect();
    let (sum, parts) = lines.split_last().expect("lines");
    assert!(
        *sum > 0.0 && (parts.iter().sum::<f64>() - sum).abs() < 0.01,
        "{}",
        done.out
    );
    let json = home.run(&[
        "run",
        "--dry-run",
        "--json",
        "cpu.add_i32",
        "memory.latency",
    ]);
    let plan: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    let rows = plan["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3, "a probe with all its rows: {plan}");
    assert!(rows.iter().all(|row| row["seconds"].as_f64() > Some(0.0)));
    assert!(plan["rows"][0]["points"].as_u64() > Some(10), "{plan}");
    assert!(plan["seconds"].as_f64() > Some(0.0) && plan["unavailable"].is_array());
    assert!(!home.path("data").exists());
}

#[test]
fn the_last_run_is_shown() {
    let home = Home::new();
    home.run(&["show"]).refused("no run is kept in");
    home.keep("aaaa1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b", 2);
    home.keep("bbbb1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b", 1);
    for (name, id) in [
        ("last", "aaaa1a2b"),
        ("bbbb", "bbbb1a2b"),
        ("AAAA", "aaaa1a2b"),
    ] {
        let done = home.run(&["show", name]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(done.out.contains(id), "{name}: {}", done.out);
    }
    home.run(&["show", "cccc"]).refused("begins with \"cccc\"");
}

#[test]
fn showing_an_interrupted_run_is_no_failure() {
    let home = Home::new();
    let mut run: serde_json::Value = serde_json::from_str(&fixture()).expect("JSON");
    run["partial"] = "interrupted in round 2 of 9".into();
    std::fs::write(home.path("half.json"), run.to_string()).expect("file");
    let done = home.run(&["show", "half.json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("PARTIAL: interrupted in round 2 of 9"));
}

/// The fixture with another id, and a row that takes so many times as long.
fn slower(id: &str, row: &str, factor: f64) -> String {
    let text = fixture().replace("5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b", id);
    let mut run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rows = run["rows"].as_array_mut().expect("rows");
    let row = rows.iter_mut().find(|r| r["id"] == row).expect(row);
    let estimate = &mut row["outcome"]["figure"];
    for at in ["/quiet/ns", "/quiet/cycles", "/typical/ns"] {
        for end in ["value", "low", "high"] {
            let number = &mut estimate.pointer_mut(at).expect(at)[end];
            *number = (number.as_f64().expect("a number") * factor).into();
        }
    }
    run.to_string()
}

#[test]
fn runs_are_compared_by_name_and_by_file() {
    let home = Home::new();
    home.keep("aaaa1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b", 1);
    home.keep("bbbb1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b", 2);
    let file = slower("cccc1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b", "cpu.add_i32", 1.5);
    std::fs::write(home.path("new.json"), file).expect("file");
    let same = home.run(&["compare", "last~1", "last"]);
    assert_eq!(same.code, 0, "{}", same.err);
    assert!(same.out.contains("0 different"), "{}", same.out);
    assert!(same.out.contains("aaaa1a2b") && same.out.contains("bbbb1a2b"));
    let changed = home.run(&["compare", "aaaa", "new.json", "--rows", "cpu.add*"]);
    assert_eq!(changed.code, 0, "a difference alone is no failure");
    let line = changed.out.lines().find(|l| l.contains(" add_i32 "));
    assert!(
        line.expect("a row").ends_with("different: slower"),
        "{line:?}"
    );
    assert!(!changed.out.contains("div_i32"), "not asked for");
    // Two others, one after the other; a published one among them.
    let both = home.run(&["compare", "2012", "aaaa", "last"]);
    assert_eq!(
        both.out.matches("2012: Latency Numbers").count(),
        2,
        "{}",
        both.out
    );
    let json = home.run(&["compare", "aaaa", "new.json", "last", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let add = |n: usize| {
        let rows = all[n]["rows"].as_array().expect("rows");
        rows.iter()
            .find(|r| r["id"] == "cpu.add_i32")
            .expect("a row")["finding"]
            .clone()
    };
    assert_eq!([add(0), add(1)], ["different", "same_within_noise"]);
}

#[test]
fn a_gate_is_crossed_by_code_1_and_only_surely() {
    let home = Home::new();
    let old = fixture_path().to_str().expect("path");
    for (factor, gate, code) in [
        ("1.5", "10%", 1),
        ("1.5", "60%", 0),
        ("1.11", "10%", 0),
        ("0.5", "10%", 0),
    ] {
        let id = "cccc1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";
        let file = slower(id, "cpu.add_i32", factor.parse().expect("a number"));
        std::fs::write(home.path("new.json"), file).expect("file");
        let done = home.run(&["compare", old, "new.json", "--fail-above", gate]);
        assert_eq!(done.code, code, "{factor} {gate}: {}", done.out);
        let named = done
            .out
            .contains("surely more than 10 % slower (Holm, 5 %): cpu.add_i32");
        assert_eq!(named, code == 1, "{}", done.out);
        let without = home.run(&["compare", old, "new.json"]);
        assert_eq!(without.code, 0, "no gate was set");
    }
}

#[test]
fn what_can_not_be_compared_is_refused_in_a_line() {
    let home = Home::new();
    let run = fixture_path().to_str().expect("path");
    home.run(&["compare", run, "last"])
        .refused("no run is kept");
    home.keep("aaaa1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b", 1);
    for (other, why) in [
        ("last~1", "goes back too far"),
        ("last~99999999999999999999", "nothing to compare is called"),
        ("ffff", "nothing to compare is called"),
        ("iphone-y", "did you mean iphone-x?"),
        ("@nowhere", "machine called \"nowhere\""),
        (".", "is a directory"),
    ] {
        home.run(&["compare", run, other]).refused(why);
    }
    std::fs::write(home.path("cut.json"), &fixture()[..9000]).expect("file");
    home.run(&["compare", run, "cut.json"])
        .refused("cut.json is not a run");
    for (options, why) in [
        (vec!["--rows", "cpu.absent"], "have no row in common"),
        (
            vec!["--rows", "cpu.*", "--rows", "gpu.*"],
            "no row \"gpu.*\"",
        ),
        (vec!["--normalize=cpu.absent"], "can't normalize by"),
    ] {
        let arguments = [vec!["compare", run, "last"], options].concat();
        home.run(&arguments).refused(why);
    }
    for bad in ["--margin=0", "--margin=-5%", "--fail-above=ten"] {
        let done = home.run(&["compare", run, "last", bad]);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{bad}");
        assert!(done.err.contains("such as 10%"), "{}", done.err);
    }
    let alone = home.run(&["compare", run]);
    assert_eq!(alone.code, 2, "one side alone");
}

/// A file of hyperfine's with thirty runs of one command of about so long.
fn hyperfine(ms: f64) -> String {
    let times = (0..30).map(|k| (ms + 0.1 * (f64::from(k * 7 % 30) / 14.5 - 1.0)) / 1e3);
    let times: Vec<f64> = times.collect();
    let codes = vec![0; times.len()];
    let result = serde_json::json!({
        "command": "work", "mean": ms / 1e3, "median": ms / 1e3,
        "times": times, "exit_codes": codes,
    });
    serde_json::json!({ "results": [result] }).to_string()
}

#[test]
fn imports_are_compared_and_cross_a_gate() {
    let home = Home::new();
    let gate = |names: [&str; 2]| {
        let options = ["--fail-above", "7%", "--margin", "30%"];
        home.run(&[&["compare"], &names[..], &options].concat())
    };
    for (name, ms) in [
        ("slow.json", 20.0),
        ("again.json", 10.0),
        ("old.json", 10.0),
    ] {
        std::fs::write(home.path(name), hyperfine(ms)).expect("file");
    }
    let imported = |name: &str| {
        let done = home.run(&["import", name]);
        assert_eq!(done.code, 0, "{}", done.err);
        done.out.trim().to_owned()
    };
    let [old, again, slow] = ["old.json", "again.json", "slow.json"].map(imported);
    let slower = gate([&old, &slow]);
    assert_eq!(slower.code, 1, "{}{}", slower.out, slower.err);
    for text in [
        "different: slower",
        "surely more than 7 % slower",
        "unknown on both sides, and may differ: host, CPU, kernel",
        ", imported 20",
    ] {
        assert!(slower.out.contains(text), "{text}: {}", slower.out);
    }
    for text in ["not release", "are the same", "7.0000"] {
        assert!(!slower.out.contains(text), "{text}: {}", slower.out);
    }
    let same = gate([&old, &again]);
    assert_eq!(same.code, 0, "{}", same.out);
    assert!(!same.out.contains("no spread"), "{}", same.out);
}

#[test]
fn nothing_to_tell_is_said_by_code_3() {
    let help = Home::new().run(&["compare", "--help"]);
    assert!(help.out.contains("Exit codes: 0 done"), "{}", help.out);
    let done = Home::new().run(&["compare", "iphone-6s", "mac-pro-2013"]);
    assert_eq!(done.code, 3, "{}", done.err);
    assert!(done.out.contains("no spread"), "{}", done.out);
}

#[test]
fn without_a_home_files_are_compared_all_the_same() {
    let home = Home::new();
    let run = fixture_path().to_str().expect("path");
    let mut homeless = home.command(&["compare", run, run]);
    for name in ["LATLAS_DATA_DIR", "XDG_DATA_HOME", "HOME"] {
        homeless.env_remove(name);
    }
    assert_eq!(done(&mut homeless).code, 0);
    let mut homeless = home.command(&["compare", run, "last"]);
    for name in ["LATLAS_DATA_DIR", "XDG_DATA_HOME", "HOME"] {
        homeless.env_remove(name);
    }
    done(&mut homeless).refused("LATLAS_DATA_DIR");
}

#[test]
fn a_selftest_is_refused_before_measuring() {
    let home = Home::new();
    home.run(&["selftest", "cpu.dvi_i32"])
        .refused("did you mean cpu.div_i32?");
    home.run(&["selftest", "--pin", "4095"]).refused("CPU 4095");
    let none = home.run(&["selftest", "--rounds", "0"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""));
    assert!(!home.path("data").exists(), "nothing was measured or kept");
}

#[test]
fn a_data_directory_that_can_not_be_read_is_named() {
    let home = Home::new();
    std::fs::write(home.path("data"), "a file").expect("file");
    home.run(&["show"]).refused("can't read");
    let mut homeless = home.command(&["show"]);
    for name in ["LATLAS_DATA_DIR", "XDG_DATA_HOME", "HOME"] {
        homeless.env_remove(name);
    }
    done(&mut homeless).refused("LATLAS_DATA_DIR");
}

#[test]
fn a_file_is_shown_with_the_options_of_a_run() {
    let home = Home::new();
    let path = fixture_path().to_str().expect("path");
    let plain = home.run(&["show", path]);
    assert_eq!(plain.code, 0, "{}", plain.err);
    assert!(plain.out.contains("latency/DRAM"));
    let wide = home.run(&["show", path, "--wide"]);
    assert!(wide.out.contains("memory.latency at 1KiB"), "{}", wide.out);
    let human = home.run(&["show", path, "--human", "--frames", "--vs", "iphone-x"]);
    assert!(human.out.contains("1ns=1s") && human.out.contains("iphone-x"));
    let json = home.run(&["show", path, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    let kept: serde_json::Value = serde_json::from_str(&fixture()).expect("JSON");
    assert_eq!(shown, kept);
}

#[test]
fn a_broken_file_is_refused_in_one_line() {
    let home = Home::new();
    let whole = fixture();
    for (name, text, why) in [
        ("empty", "", "is empty"),
        ("text", "hello", "not JSON"),
        ("half", &whole[..whole.len() / 2], "truncated"),
        (
            "newer",
            &whole.replacen(
                &format!("\"schema\":{}", model::run::SCHEMA_VERSION),
                "\"schema\":99",
                1,
            ),
            "newer latlas",
        ),
        ("other", "{\"schema\":1}", "not a run document"),
        (
            "columns",
            &whole.replacen("\"first_ticks\":[80000,", "\"first_ticks\":[", 1),
            "column",
        ),
    ] {
        std::fs::write(home.path(name), text).expect("file");
        let done = home.run(&["show", name]);
        done.refused(why);
        assert!(done.err.contains(name), "{}", done.err);
    }
    home.run(&["show", "absent.json"])
        .refused("can't read absent.json");
    home.run(&["show", "."]).refused("is a directory");
}

#[test]
fn escape_sequences_are_only_printed_where_they_are_asked_for() {
    let home = Home::new();
    let path = fixture_path().to_str().expect("path");
    let show = |arguments: &[&str], no_color: bool| {
        let mut command = home.command(arguments);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        done(&mut command).out.contains('\x1b')
    };
    assert!(!show(&["show", path], false), "stdout is no terminal here");
    assert!(!show(&["show", path], true));
    assert!(show(&["show", path, "--color", "always"], false));
    assert!(!show(&["show", path, "--color", "never"], false));
}

#[test]
fn the_list_holds_every_row() {
    let home = Home::new();
    let all = home.run(&["list"]);
    assert_eq!(all.code, 0, "{}", all.err);
    let json: serde_json::Value =
        serde_json::from_str(&home.run(&["list", "--json"]).out).expect("JSON");
    let rows: Vec<&str> = json
        .as_array()
        .expect("probes")
        .iter()
        .flat_map(|probe| probe["rows"].as_array().expect("rows"))
        .map(|row| row.as_str().expect("an id"))
        .collect();
    assert!(rows.len() > 50, "{}", rows.len());
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let printed: Vec<String> = all.out.lines().filter_map(first).collect();
    for row in rows {
        assert!(printed.iter().any(|p| p == row), "{row} is missing");
    }
    let cpu = home.run(&["list", "cpu.*"]);
    assert!(
        cpu.out.contains("cpu.div_i32") && !cpu.out.contains("memory."),
        "{}",
        cpu.out
    );
}

#[test]
fn a_row_is_explained_with_what_was_published() {
    let home = Home::new();
    let done = home.run(&["explain", "memory.latency/L2"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("7 ns") && done.out.contains("latency-numbers-2012"));
    assert!(
        !done.out.contains("100 ns"),
        "only the level that was asked for"
    );
    let json = home.run(&["explain", "memory.latency/L2", "--json"]);
    let page: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(page["id"], "memory.latency");
    assert_eq!(page["asked"], "memory.latency/L2");
    let published = page["published"].as_array().expect("tables");
    let of_2012 = published
        .iter()
        .find(|t| t["key"] == "latency-numbers-2012");
    assert_eq!(of_2012.expect("2012")["rows"][0]["ns"], 7.0);
    let done = home.run(&["explain", "cpu.div_u64_as_ash"]);
    for text in [
        "6.2 ns",
        "mac-pro-2013",
        "2.1 ns",
        "iphone-6s",
        "without optimisation",
    ] {
        assert!(done.out.contains(text), "{text} not in {}", done.out);
    }
    assert!(
        done.out.lines().all(|line| line.chars().count() <= 100),
        "{}",
        done.out
    );
}

#[test]
fn every_fact_of_the_machine_has_a_value_or_a_reason() {
    let home = Home::new();
    let done = home.run(&["machine"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("kernel") && done.out.contains(std::env::consts::ARCH));
    for line in done.out.lines().filter(|line| line.starts_with("  ")) {
        let value = line.chars().skip(22).collect::<String>();
        assert!(
            !value.trim().is_empty() && value.trim() != "unknown:",
            "{line:?}"
        );
    }
    let json = home.run(&["machine", "--json"]);
    let machine: model::machine::Machine = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(machine.arch, std::env::consts::ARCH);
}

/// `latlas list | head -1` must not panic: a reader that has seen enough.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_latlas"))
        .args(["show", "--wide", fixture_path().to_str().expect("path")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// A full disk behind stdout is one: the result is lost.
#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_is_a_failure() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_latlas"))
        .args(["list"])
        .stdout(full)
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        err.contains("standard output") && err.lines().count() == 1,
        "{err}"
    );
}
