//! `latlas fit` on stored runs: what is learned, each verdict, and files that are refused.

use crate::support::{Done, Home, PROGRAM, has, lacks, synthetic};
use serde_json::Value;

/// A prolog for slurmd.
const PROLOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/slurm/prolog.sh");

/// The made-up run on a quiet host of this name.
fn host(name: &str) -> Value {
    let mut run = synthetic();
    run["id"] =
        crate::support::made_up_id(name.bytes().fold(7, |n, byte| n * 31 + u32::from(byte))).into();
    run["machine"]["hostname"]["value"] = name.into();
    for when in ["before", "after"] {
        run["conditions"]["gaps"][when]["lost_ns"] = 1_000.into();
    }
    run
}

/// The same with this row slower.
fn slower(mut run: Value, row: &str, factor: f64) -> Value {
    let rows = run["rows"].as_array_mut().expect("rows");
    let row = rows.iter_mut().find(|own| own["id"] == row).expect(row);
    let estimate = &mut row["outcome"]["level"]["estimate"];
    for path in ["/quiet/ns", "/quiet/cycles"] {
        let figure = estimate.pointer_mut(path).expect(path);
        for end in ["value", "low", "high"] {
            figure[end] = (figure[end].as_f64().expect(end) * factor).into();
        }
    }
    run
}

/// A home with `fleet.json`, learned from six hosts.
fn fleet() -> Home {
    let home = Home::new();
    for n in 1..=6 {
        home.write(&format!("n{n}.json"), host(&format!("n{n}")).to_string());
    }
    let done = home.run("fit --learn fleet.json n1.json n2.json n3.json n4.json n5.json n6.json");
    has(&done.ok().out, ["learned from 6 runs of 6 hosts"]);
    home
}

fn judged(home: &Home, run: &Value, more: &str) -> Done {
    home.write("here.json", run.to_string());
    home.run(format!("fit --expect fleet.json --run here.json {more}"))
}

#[test]
fn each_verdict_has_its_exit_code() {
    let home = fleet();
    let fits = judged(&home, &host("n7"), "");
    has(&fits.ok().out, ["n7: fits 6 runs of 6 hosts", "load from L1"]);

    let mut other = host("n7");
    other["machine"]["cpu_model"]["value"] = "Xeon 6".into();
    let other = judged(&home, &other, "");
    assert_eq!(other.code, 1);
    has(&other.out, ["n7: another machine", "CPU model Xeon 6, expected"]);

    let slow = slower(host("n7"), "memory.latency/DRAM", 1.3);
    let out = judged(&home, &slow, "");
    assert_eq!(out.code, 1);
    has(&out.out, ["n7: out of range", "(1.30x)", "differs"]);

    let mut loaded = slow.clone();
    for when in ["before", "after"] {
        let spin = &mut loaded["conditions"]["gaps"][when];
        spin["lost_ns"] = (spin["span_ns"].as_u64().expect("a span") / 2).into();
    }
    let noisy = judged(&home, &loaded, "");
    assert_eq!(noisy.code, 3);
    has(&noisy.out, ["n7: not quiet now", "of CPU time lost"]);

    let document = judged(&home, &slow, "--json");
    assert_eq!(document.code, 1);
    let document = crate::support::json(&document.out);
    assert_eq!(document["verdict"], "out_of_range");
    assert_eq!((&document["hosts"], &document["runs"]), (&6.into(), &6.into()));
}

#[test]
fn the_reason_is_one_line() {
    let home = fleet();
    let slow = slower(host("n7"), "memory.latency/DRAM", 1.3);
    let done = judged(&home, &slow, "--drain-reason");
    assert_eq!((done.code, done.out.lines().count()), (1, 1), "{}", done.out);
    has(&done.out, ["latlas fit: out of range; load from memory"]);
}

#[test]
fn what_can_not_be_measured_is_not_compared() {
    let home = fleet();
    let done = judged(&home, &host("n7"), "");
    has(&done.out, ["system call: not compared: the run has no row call.syscall"]);
    let mut few = host("n7");
    let rows = few["rows"].as_array_mut().expect("rows");
    rows.retain(|row| !row["id"].as_str().is_some_and(|id| id.starts_with("memory.")));
    let done = judged(&home, &few, "--drain-reason").ended_with(3);
    has(&done.out, ["latlas fit: not quiet now; only "]);
}

#[test]
fn few_hosts_and_hosts_left_out_are_named() {
    let home = fleet();
    let mut busy = host("busy");
    busy["partial"] = "interrupted".into();
    home.write("busy.json", busy.to_string());
    let done = home.run("fit --learn few.json n1.json busy.json");
    has(
        &done.ok().out,
        ["learned from 1 run of 1 host", "left out: busy (1 run): not quiet", "below 5 hosts"],
    );
    let done = home.run("fit --expect few.json --run n2.json");
    has(&done.ok().out, ["note: learned from 1 host"]);
    let none = home.run("fit --learn none.json busy.json");
    none.refused("no quiet and complete run among 1 run");
    assert!(!home.path("none.json").exists());
}

#[test]
fn a_run_given_twice_counts_once() {
    let home = fleet();
    let done = home.run("fit --learn twice.json n1.json n2.json n1.json n1.json");
    has(&done.err, ["2 runs given more than once: each counts once"]);
    has(&done.out, ["learned from 2 runs of 2 hosts"]);
    assert_eq!(done.code, 0);
}

#[test]
fn files_that_are_no_expectation_are_refused_in_one_line() {
    let home = fleet();
    let good = crate::support::json(&home.read_file("fleet.json"));
    let changed = |path: &str, value: Value| {
        let mut file = good.clone();
        *file.pointer_mut(path).expect(path) = value;
        file.to_string()
    };
    let twice = Value::from(vec![good["elements"][0].clone(), good["elements"][0].clone()]);
    for (content, why) in [
        (String::new(), "it is truncated"),
        ("{}".into(), "\"schema\" is missing"),
        ("[1, 2".into(), "is needed, not 2"),
        ("\u{1b}[31m".into(), "it is not JSON"),
        ("[".repeat(100_000), "nested more than 64 deep"),
        (
            changed("/schema", 7.into()),
            "its schema is 7 and this latlas reads 1: use a newer latlas",
        ),
        (
            "{\"schema\":99999}".into(),
            "its schema is 99999 and this latlas reads 1: use a newer latlas",
        ),
        (changed("/elements", Value::Array(vec![])), "no elements"),
        (
            changed("/elements/0/median", (-1).into()),
            "the median of core clock is not a usable number",
        ),
        (changed("/elements/0/element", "soul".into()), "elements[0].element: unknown: \"soul\""),
        (changed("/elements", twice), "core clock is there twice"),
        (changed("/limit", 0.into()), "the limit is not a usable number"),
        (changed("/limit", "\u{1b}[2J".into()), "limit: a number is needed, not"),
    ] {
        home.write("bad.json", content);
        let done = home.run("fit --expect bad.json --run n1.json");
        done.refused(why);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
        lacks(&done.err, ["\u{1b}"]);
    }
    home.run("fit --expect absent.json --run n1.json").refused("absent.json");
    home.run("fit --learn x.json iphone-x").refused("published table");
    assert_eq!(home.run("fit --learn x.json").code, 2, "no run");
}

#[test]
fn without_an_expectation_earlier_runs_of_the_machine_are_it() {
    let home = Home::new();
    for n in 1..=4_u32 {
        let mut run = host("n1");
        run["id"] = crate::support::made_up_id(n).into();
        run["plan"]["asked"] = Value::from(vec!["fit"]);
        home.keep(n, &run);
    }
    let done = home.run(format!("fit --run {}", crate::support::made_up_id(4))).ok();
    has(&done.out, ["n1: fits 3 runs of 1 host"]);
    lacks(&done.out, ["note:"]);
    home.write("other.json", host("n2").to_string());
    let done = home.run("fit --run other.json");
    has(&done.ok().out, ["nothing to compare with"]);
}

/// The made-up run on a quiet guest of Google's, whose CPU 47 published hosts have.
fn published_host(name: &str) -> Value {
    let mut run = host(name);
    run["machine"]["cpu_vendor"] = serde_json::json!({ "value": "AuthenticAMD" });
    run["machine"]["product"] = serde_json::json!({ "value": "Google Google Compute Engine" });
    run
}

fn unseen(home: &Home, run: &Value, more: &str) -> Done {
    home.write("here.json", run.to_string());
    home.run(format!("fit --run here.json {more}"))
}

#[test]
fn a_host_never_seen_is_held_against_published_ones() {
    let home = Home::new();
    let fits = unseen(&home, &published_host("n1"), "").ok();
    has(
        &fits.out,
        [
            "n1: fits published figures of this CPU",
            "load from memory",
            "up to 1.",
            "published: 47 cloud types with AMD EPYC 7B13 of Google Cloud",
        ],
    );
    let slow = slower(published_host("n1"), "memory.latency/DRAM", 1.5);
    let out = unseen(&home, &slow, "");
    assert_eq!(out.code, 1);
    has(&out.out, ["n1: slow, by published figures", "differs"]);
    let document = crate::support::json(&unseen(&home, &slow, "--json").out);
    assert_eq!(document["verdict"], "slow");
    assert_eq!(document["basis"]["published"]["types"], 47);
    let line = unseen(&home, &slow, "--drain-reason");
    has(&line.out, ["latlas fit: slow; load from memory"]);

    let mut noisy = slow.clone();
    noisy["partial"] = "interrupted".into();
    let noisy = unseen(&home, &noisy, "").ended_with(3);
    has(&noisy.out, ["n1: not quiet now"]);

    // Of no provider that is known: those of all providers vary too much to say that it fits.
    let mut anywhere = published_host("n1");
    anywhere["machine"]["product"] = serde_json::json!({ "unknown": "not shown" });
    let done = unseen(&home, &anywhere, "").ended_with(3);
    has(&done.out, ["n1: inconclusive: only a memory slower by", "of 1 provider"]);
    let document = crate::support::json(&unseen(&home, &anywhere, "--json").out);
    assert_eq!(document["verdict"], "inconclusive");
}

#[test]
fn runs_come_first_and_a_contradiction_is_noted() {
    let home = Home::new();
    for n in 1..=3 {
        let slow = slower(published_host(&format!("n{n}")), "memory.latency/DRAM", 1.5);
        home.write(&format!("n{n}.json"), slow.to_string());
    }
    home.run("fit --learn slow.json n1.json n2.json n3.json").ok();
    let done = home.run("fit --expect slow.json --run n1.json").ok();
    has(
        &done.out,
        ["n1: fits 3 runs of 3 hosts", "n1: slow, by published", "published figures disagree"],
    );
    let document = home.run("fit --expect slow.json --run n1.json --json").ok();
    let document = crate::support::json(&document.out);
    assert_eq!(
        (&document["verdict"], &document["published"]["verdict"]),
        (&"fits".into(), &"slow".into())
    );
    let line = home.run("fit --expect slow.json --run n1.json --drain-reason").ok();
    has(&line.out, ["latlas fit: fits", "published figures disagree: slow"]);
}

#[test]
fn the_prolog_drains_a_bad_node_with_the_reason_and_no_other() {
    let home = fleet();
    home.write("bin/scontrol", "#!/bin/sh\nfor word; do echo \"$word\"; done >> drained\n");
    home.write(
        "bin/latlas",
        format!("#!/bin/sh\necho x >> measured\nexec {PROGRAM} \"$@\" --run here.json\n"),
    );
    for name in ["bin/scontrol", "bin/latlas"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(home.path(name), mode).expect("a mode");
    }
    let slow = slower(host("n7"), "memory.latency/DRAM", 1.3);
    let mut noisy = slow.clone();
    noisy["partial"] = "interrupted".into();
    let prolog = |run: &Value, drain_noisy: &str, expect: &str| {
        for file in ["drained", "measured"] {
            let _ = std::fs::remove_file(home.path(file));
        }
        home.write("here.json", run.to_string());
        let mut command = home.launch(["sh", PROLOG]);
        let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
        command
            .env("PATH", path)
            .env("LATLAS", home.path("bin/latlas"))
            .env("LATLAS_EXPECT", home.path(expect))
            .env("LATLAS_DRAIN_NOISY", drain_noisy)
            .env("SLURMD_NODENAME", "n7");
        let code = Done::from_command(&mut command).code;
        let drained = std::fs::read_to_string(home.path("drained")).unwrap_or_default();
        (code, drained, home.read_file("measured").lines().count())
    };
    let (code, drained, measured) = prolog(&slow, "0", "fleet.json");
    assert_eq!((code, measured), (1, 1));
    let words: Vec<&str> = drained.lines().collect();
    assert_eq!(words[..3], ["update", "NodeName=n7", "State=DRAIN"]);
    has(words[3], ["Reason=latlas fit: out of range; load from memory"]);
    let none = String::new;
    assert_eq!(prolog(&host("n7"), "0", "fleet.json"), (0, none(), 1));
    assert_eq!(prolog(&noisy, "0", "fleet.json"), (0, none(), 3));
    let (code, drained, measured) = prolog(&noisy, "1", "fleet.json");
    assert_eq!((code, measured), (1, 3));
    has(&drained, ["Reason=latlas fit: not quiet now"]);
    assert_eq!(prolog(&slow, "1", "absent.json"), (0, none(), 1));
}
