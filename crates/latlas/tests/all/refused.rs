//! Requests that can't be carried out: known before anything is measured, in one line.

use crate::support::{Done, Home, SYNTHETIC, has, json};
use std::process::Command;

#[test]
fn bad_requests_are_refused_with_what_to_do() {
    let home = Home::new();
    insta::assert_snapshot!(home.refusals(
        "run cpu.dvi_i32
         run cpu.dvi
         run div
         run CPU.DVI_i32
         list cpu.dvi_i32
         list xyzzy
         explain cpu.dvi_i32
         explain memry
         shwo
         cpu.add_i32
         noise mesure
         show lsat
         table ASH
         run xyzzy.*
         run --budget=soon
         run --budget=30
         run --dry-run --budget 999999999999h
         noise ab --dry-run --budget 25h
         run --budget=-1s
         run --budget 0s
         --quick --full
         --quick list
         run --vs iphone-y
         run --out absent/run.json
         run --out .
         run --out /
         show
         show absent.json
         show .
         history cpu.add_i32
         selftest cpu.dvi_i32
         selftest --rounds 0
         completions cmd
         table kurkn
         table mac-pro-2013
         table 2012 --2008
         table ash last --measure
         table ash --quick
         table ash --dir .
         table --measure
         table ash last more
         table ash absent.json
         table kurkin --measure --quick --dir absent
         import
         import absent.json
         import - -
         import -
         import .
         export --format csv
         export absent --format csv
         echo --listen 0.0.0.0:0
         echo --listen nonsense
         echo --idle 0s
         man /dev/null/pages"
    ));
    assert!(!home.path("data").exists(), "nothing was measured or kept");
    // Which CPUs there are depends on the machine.
    for command in ["run", "selftest", "exec -- true"] {
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        home.run(format!("{name} --pin 4095 {rest}")).refused("CPU 4095 can't be used");
    }
}

/// An option that would change nothing is refused, with what it needs or contradicts.
#[test]
fn options_without_effect_are_refused() {
    let home = Home::new();
    home.document(1);
    insta::assert_snapshot!(home.refusals(
        "exec --margin 3% -- true
         exec --warmup 0 --check true -- true
         exec --warm --cold -- true
         exec --name a --name b -- true
         trace --tails -- true
         trace --operations 3 -- true
         trace --no-wait -- true
         trace --pack x.so -- true
         trace --last 1s --stacks -- true
         trace sched.pool --usdt
         trace sched.pool --tails --scheduler-only
         trace export t.zst -o t.pftrace --from 1us
         history cpu.add_i32 --every 1s
         history cpu.add_i32 --cycles --ns
         history cpu.add_i32 --at 1,2,3
         noise ab pin --busy 2 --load none
         noise ab pin --job 1ms -- true
         noise measure --cpu 0 --all-cpus
         qos --codec lz4 --compression 3
         plot memory.latency run-1.json -o x.svg --dpi 300
         plot memory.latency run-1.json -o x.png --scale 2 --dpi 300
         plot memory.latency run-1.json --json --theme dark
         fit --no-wait --run run-1.json
         fit --json --drain-reason
         table ash --quick
         table --2008
         run cpu.add_i32 --no-controls --pin 0
         run cpu.add_i32 --out -
         run cpu.add_i32 --config x --no-config"
    ));
    assert!(!home.path("data").exists(), "nothing was measured or kept");
}

/// Damaged documents, named with what is wrong.
#[test]
fn a_broken_document_is_refused() {
    let home = Home::new();
    let whole = std::fs::read_to_string(SYNTHETIC).expect("the fixture");
    let schema = format!("\"schema\":{}", model::run::SCHEMA_VERSION);
    for (name, text) in [
        ("empty", ""),
        ("text", "hello"),
        ("half", &whole[..whole.len() / 2]),
        ("newer", &whole.replacen(&schema, "\"schema\":99", 1)),
        ("other", "{\"schema\":1}"),
        ("columns", &whole.replacen("\"first_ticks\":[80000,", "\"first_ticks\":[", 1)),
    ] {
        home.write(name, text);
    }
    let lines = "show empty\nshow text\nshow half\nshow newer\nshow other\nshow columns";
    insta::assert_snapshot!(home.refusals(lines));
}

fn homeless(command: &mut Command) -> Done {
    for name in ["LATLAS_DATA_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME"] {
        command.env_remove(name);
    }
    Done::from_command(command)
}

#[test]
fn without_a_store_files_are_read_all_the_same() {
    let home = Home::new();
    homeless(&mut home.command(format!("compare {SYNTHETIC} {SYNTHETIC}"))).ok();
    for line in ["show", &format!("compare {SYNTHETIC} last")] {
        homeless(&mut home.command(line)).refused("LATLAS_DATA_DIR");
    }
    home.write("data", "a file");
    home.run("show").refused("can't read");
}

#[test]
fn a_run_that_could_not_be_kept_is_refused_before_it_is_measured() {
    let home = Home::new();
    let line = "run cpu.add_i32 --quick";
    let nowhere =
        |line: &str| Done::from_command(home.command(line).env("LATLAS_DATA_DIR", "/dev/null/x"));
    let out = format!("{line} --out=run.json");
    for (refused, kept) in [
        (homeless(&mut home.command(line)), homeless(&mut home.command(&out))),
        (nowhere(line), nowhere(&out)),
    ] {
        refused.refused("--out FILE");
        has(&refused.err, ["LATLAS_DATA_DIR"]);
        // With a file it is measured, and the warning comes first.
        let err = kept.measured().err;
        assert_eq!(err.matches("will not be stored").count(), 1, "{err}");
        assert!(home.run_json().row("cpu.add_i32").is_some());
    }
}

#[test]
fn a_run_whose_store_went_away_ends_with_3() {
    let home = Home::new();
    // Enough runs for a row that is ok.
    let away = "rm -rf data; : > data; sleep 0.1";
    let done = home.run(["exec", "--runs", "20", "--", "sh", "-c", away]).ended_with(3);
    has(&done.err, ["the run was not stored"]);
    has(&done.out, ["wall"]);
}

#[test]
fn a_dry_run_prints_the_plan_and_measures_nothing() {
    let home = Home::new();
    let line = "run --dry-run cpu.add_i32 memory.latency";
    let done = home.run(line).ok();
    let columns = |line: &str| -> (String, f64) {
        let mut words = line.split_whitespace();
        let name = words.next().expect("a row").to_owned();
        (name, words.next().expect("a time").parse().expect("a number"))
    };
    let mut lines: Vec<_> = done.out.lines().map(columns).collect();
    let (name, sum) = lines.pop().expect("the sum");
    let parts: f64 = lines.iter().map(|(_, seconds)| seconds).sum();
    assert!(name == "sum" && sum > 0.0 && (parts - sum).abs() < 0.01, "{}", done.out);
    for row in ["cpu.add_i32", "memory.latency"] {
        assert!(lines.iter().any(|(name, _)| name == row), "{}", done.out);
    }
    let plan = json(&home.out(format!("{line} --json")));
    let rows = plan["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3, "a probe with all its rows: {plan}");
    assert!(rows.iter().all(|row| row["seconds"].as_f64() > Some(0.0)));
    assert!(plan["rows"][0]["points"].as_u64() > Some(10), "{plan}");
    assert!(plan["seconds"].as_f64() > Some(0.0) && plan["unavailable"].is_array());
    // A budget that these rows can't be measured in.
    let short = |more: &str| home.out(format!("run memory.* --quick --dry-run {more}"));
    has(&short("--budget 1s"), ["these rows need"]);
    crate::support::lacks(&short(""), ["these rows need"]);
    assert!(!home.path("data").exists());
}

/// One kind of cores is nothing to choose from.
#[test]
fn a_kind_of_core_that_is_not_there_is_refused() {
    let home = Home::new();
    let machine = sys::machine_facts(std::path::Path::new("/"));
    let kinds = machine.core_kinds.get().map_or(0, Vec::len);
    for kind in ["performance", "efficiency"] {
        let done = home.run(format!("run cpu.add_i64 --dry-run --core-kind {kind}"));
        if kinds > 1 { drop(done.ok()) } else { done.refused("leave --core-kind out") }
    }
}
