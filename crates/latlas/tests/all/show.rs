//! `latlas show`, `list`, `explain` and `machine`, and where they print.

use crate::support::{Done, Home, SYNTHETIC, has, json, lacks, synthetic};

#[test]
fn runs_are_shown_by_name() {
    let home = Home::with(&[1, 2]);
    for (name, id) in [("last", "00000002"), ("00000001", "00000001"), ("0000000", "")] {
        let done = home.run(format!("show {name}"));
        match id {
            "" => done.refused("2 runs"),
            id => has(&done.ok().out, [id]),
        }
    }
    home.run("show cccc").refused("begins with \"cccc\"");
}

#[test]
fn showing_an_interrupted_run_is_no_failure() {
    let home = Home::new();
    let mut run = synthetic();
    run["partial"] = "interrupted in round 2 of 9".into();
    home.write("half.json", run.to_string());
    has(&home.out("show half.json"), ["PARTIAL: interrupted in round 2 of 9"]);
}

#[test]
fn no_output_has_the_figure_of_an_invalid_row() {
    let home = Home::new();
    let mut run = synthetic();
    let row = run["rows"].as_array().expect("rows").iter().position(|row| {
        row["id"] == "call.syscall" || row["outcome"]["figure"]["quiet"].is_object()
    });
    let estimate = &mut run["rows"][row.expect("a figure")]["outcome"]["figure"];
    let figure = serde_json::json!({"value": 7.7125, "low": 7.7124, "high": 7.7126});
    estimate["quiet"]["ns"] = figure.clone();
    estimate["quiet"]["cycles"] = figure.clone();
    estimate["typical"]["ns"] = figure;
    let outputs = [
        "show a.json",
        "show a.json --all",
        "show a.json --wide",
        "show a.json --document",
        "export a.json --format csv",
        "export a.json --format jsonl",
        "export a.json --format markdown",
        "export a.json --format google-benchmark",
        "export a.json --format hyperfine",
        "export a.json --format bencher",
        "report a.json -o -",
        "plot ladder a.json -o -",
        "compare a.json a.json",
    ];
    // Of formats with every sample, some may have these digits, too.
    let counts = |home: &Home| outputs.map(|line| home.run(line).out.matches("7.71").count());
    home.write("a.json", synthetic().to_string());
    let before = counts(&home);
    let holding = |home: &Home| -> Vec<&str> {
        let now = counts(home);
        let more = (0..outputs.len()).filter(|&n| now[n] > before[n]);
        more.map(|n| outputs[n]).collect()
    };
    home.write("a.json", run.to_string());
    assert!(holding(&home).len() > 6, "ok: {:?}", holding(&home));
    let estimate = &mut run["rows"][row.expect("a figure")]["outcome"]["figure"];
    estimate["verdict"] = "invalid".into();
    home.write("a.json", run.to_string());
    assert_eq!(holding(&home), Vec::<&str>::new());
}

#[test]
fn a_file_is_shown_with_the_options_of_a_run() {
    let home = Home::new();
    let show = |more: &str| home.out(format!("show {SYNTHETIC} {more}"));
    has(&show(""), ["latency/DRAM"]);
    has(&show("--wide"), ["memory.latency at 1KiB"]);
    has(&show("--human --frames --vs iphone-x"), ["1ns=1s", "iphone-x"]);
    let kept = std::fs::read_to_string(SYNTHETIC).expect("the fixture");
    assert_eq!(json(&show("--document")), json(&kept));
    let rows: Vec<_> = show("--json").lines().map(json).collect();
    let exported = home.out(format!("export {SYNTHETIC} --format jsonl"));
    assert!(rows.iter().cloned().eq(exported.lines().map(json)), "one form, one writer");
    let dram = rows.iter().find(|row| row["row"] == "memory.latency/DRAM").expect("a level");
    assert_eq!(
        (&dram["machines"], &dram["population"], &dram["population_rule"]),
        (&1811.into(), &"cloud types".into(), &"same".into())
    );
    let add = rows.iter().find(|row| row["row"] == "cpu.add_i32").expect("a row");
    assert!(add["low_ns"].as_f64() < add["ns_per_op"].as_f64(), "{add}");
}

#[test]
fn colours_are_for_terminals_and_for_color_always() {
    let home = Home::new();
    for line in ["show", "table ash"] {
        let coloured = |more: &str, no_color: bool| {
            let mut command = home.command(format!("{line} {SYNTHETIC} {more}"));
            if no_color {
                command.env("NO_COLOR", "1");
            }
            Done::from_command(&mut command).out.contains('\x1b')
        };
        assert!(!coloured("", false), "stdout is no terminal here");
        assert!(!coloured("", true));
        assert!(coloured("--color always", false));
        assert!(!coloured("--color never", false));
    }
}

#[test]
fn the_list_has_every_row() {
    let home = Home::new();
    let all = home.out("list");
    let listed: Vec<_> = all.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let probes = home.json("list --json");
    let probes = probes.as_array().expect("probes").iter();
    let rows: Vec<_> = probes.flat_map(|probe| probe["rows"].as_array().expect("rows")).collect();
    assert!(rows.len() > 50, "{}", rows.len());
    for row in rows {
        assert!(listed.contains(&row.as_str().expect("an id")), "{row} is missing");
    }
    let cpu = home.out("list cpu.*");
    has(&cpu, ["cpu.div_i32"]);
    lacks(&cpu, ["memory."]);
}

#[test]
fn a_row_is_explained_with_what_was_published() {
    let home = Home::new();
    let level = home.out("explain memory.latency/L2");
    has(&level, ["7 ns", "latency-numbers-2012"]);
    lacks(&level, ["100 ns"]);
    let page = home.json("explain memory.latency/L2 --json");
    assert_eq!(
        (&page["id"], &page["asked"]),
        (&"memory.latency".into(), &"memory.latency/L2".into())
    );
    let mut tables = page["published"].as_array().expect("tables").iter();
    let table = tables.find(|t| t["key"] == "latency-numbers-2012");
    assert_eq!(table.expect("2012")["rows"][0]["ns"], 7.0);
    insta::assert_snapshot!(home.out("explain cpu.div_u64_as_ash"));
}

#[test]
fn a_group_and_a_level_are_explained_by_their_rows() {
    let home = Home::new();
    for (name, row) in [("memory", "memory.latency"), ("L2", "memory.latency/L2")] {
        let done = home.run(format!("explain {name}")).silent();
        assert!(done.line_with(row).len() > row.len() + 3, "{}", done.out);
        let listed = home.json(format!("explain {name} --json"));
        let mut rows = listed["rows"].as_array().expect("rows").iter();
        assert!(rows.any(|known| known["row"] == row), "{listed}");
    }
}

#[test]
fn every_fact_of_the_machine_has_a_value_or_a_reason() {
    let home = Home::new();
    let out = home.out("machine");
    has(&out, ["kernel", std::env::consts::ARCH]);
    for line in out.lines().filter(|line| line.starts_with("  ")) {
        let value: String = line.chars().skip(22).collect();
        assert!(!["", "unknown:"].contains(&value.trim()), "{line:?}");
    }
    let machine = home.json("machine --json");
    let machine: model::machine::Machine = serde_json::from_value(machine).expect("a machine");
    assert_eq!(machine.arch, std::env::consts::ARCH);
}
