//! `latlas atlas`: names, tags, deleting, and stores that are damaged, full, read-only
//! or used by several at once.

#[cfg(target_os = "linux")]
mod bad_disk;
mod kills;
mod last;
mod strangers;

use crate::support::{Home, has, json, made_up_id, skip, synthetic};
use std::io::Write;
use std::process::Stdio;

#[test]
fn an_empty_atlas_is_no_error() {
    let home = Home::new();
    let done = home.run("atlas list").ok();
    assert_eq!(done.out, "");
    has(&done.err, ["no run"]);
    assert_eq!(home.run("atlas list --json").silent().out.trim(), "[]");
    home.run("atlas verify").ok();
    has(&home.run("atlas rebuild").silent().out, ["no stored runs"]);
    for command in ["atlas show", "atlas percentiles"] {
        home.run(command).refused("no run");
    }
    assert!(!home.path("data").exists(), "looking makes nothing");
}

#[test]
fn runs_are_listed_filtered_and_shown() {
    let home = Home::with(&[1, 2, 3]);
    let out = home.out("atlas list");
    let at: Vec<_> = [3, 2, 1].map(|n| out.find(&made_up_id(n)[..8])).into();
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let all = home.json("atlas list --json");
    assert_eq!(all[0]["id"], made_up_id(3));
    let key = all[0]["machine"].as_str().expect("a key");
    for (filter, count) in [
        ("--limit 2", 2),
        ("--machine EXAMPLE", 3),
        (&format!("--machine {}", &key[..6]), 3),
        ("--tag", 0),
    ] {
        let listed = home.json(format!("atlas list --json {filter}"));
        assert_eq!(listed.as_array().map(Vec::len), Some(count), "{filter}");
    }
    home.run("atlas list --machine exampel").refused("did you mean example");
    has(&home.out("atlas show last~1"), [&made_up_id(2), "example", key, "figures"]);
    let shown = home.json("atlas show last --json");
    let path = shown["run"]["path"].as_str().expect("a path");
    assert_eq!(shown["bytes"], std::fs::metadata(path).expect("the document").len());
    // As the document has it.
    let run = home.json("show last --document");
    let rows = run["rows"].as_array().expect("rows");
    let ok = rows.iter().filter(|row| {
        let outcome = &row["outcome"];
        outcome["figure"]["verdict"] == "ok" || outcome["level"]["estimate"]["verdict"] == "ok"
    });
    assert_eq!(shown["tally"]["rows"]["ok"], ok.count(), "{shown}");
    assert!(shown["tally"]["rows"]["ok"].as_u64() > Some(0));
    assert_eq!(shown["run"]["rows"], rows.len());
}

#[test]
fn a_machine_is_compared_with_all_others() {
    let home = Home::with(&[1, 2]);
    let all = json(&home.run("atlas percentiles example --json").silent().out);
    let mut all = all.as_array().expect("an array").iter();
    let add = all.find(|p| p["row"] == "cpu.add_i32" && p["at"] == serde_json::json!([]));
    let add = add.expect("the row");
    assert_eq!((&add["results"], &add["machines"]), (&2.into(), &1.into()));
    assert_eq!(add["percentile"], 0.0, "no other machine is slower");
    let listed = home.out("atlas percentiles EXAMPLE");
    has(&listed, ["cpu.add_i32"]);
    let points = home.out("atlas percentiles example --points");
    assert!(points.lines().count() > listed.lines().count());
    home.run("atlas percentiles unknown-host").refused("no stored run of a machine named");
}

#[test]
fn percentiles_are_of_this_machine_unless_another_is_named() {
    let home = Home::with(&[3]);
    home.run("atlas percentiles").refused(
        "no stored run of this machine: run `latlas run`; or name a stored machine (example)",
    );
    let facts = home.json("machine --json");
    let mut own = synthetic();
    own["id"] = made_up_id(1).into();
    for (name, fact) in own["machine"].as_object_mut().expect("facts") {
        if let Some(here) = facts.get("machine").unwrap_or(&facts).get(name) {
            *fact = here.clone();
        }
    }
    own["rows"].as_array_mut().expect("rows").retain(|row| row["id"] == "cpu.add_i32");
    // Older than the run of the other machine.
    home.keep(0, &own);
    let all = home.json("atlas percentiles --json");
    let rows: Vec<_> = all.as_array().expect("rows").iter().collect();
    assert_eq!(rows.len(), 1, "{all}");
    assert_eq!((&rows[0]["row"], &rows[0]["machines"]), (&"cpu.add_i32".into(), &2.into()));
}

#[test]
fn a_move_that_stops_says_how_far_it_came() {
    let home = Home::with(&[1, 2, 3]);
    home.run("atlas tag last newest").ok();
    home.write("other/tags", "no directory");
    let done = home.run("atlas move data other");
    done.refused("stopped after 2 of 3 documents: can't ");
    assert_eq!(home.kept_documents(), 1);
}

#[test]
fn a_tag_is_a_name_wherever_a_run_is_named() {
    let home = Home::with(&[1, 2, 3]);
    let id_of = |name: &str| home.json(format!("show {name} --document"))["id"].clone();
    has(&home.run("atlas tag last~2 base-6.19").silent().out, [&made_up_id(1)]);
    assert_eq!(id_of("base-6.19"), made_up_id(1));
    for line in [
        "export --format csv base-6.19",
        "table ash base-6.19",
        "compare base-6.19 last",
        "atlas show base-6.19",
    ] {
        let done = home.run(line);
        assert!(done.code != 2 && !done.out.is_empty(), "{line}: {}", done.err);
    }
    // A file of that name comes first.
    std::fs::copy(home.document(9), home.path("base-6.19")).expect("a file");
    assert_eq!(id_of("base-6.19"), made_up_id(9));
    home.run("atlas show base-6.19").refused("is not in the store");
    std::fs::remove_file(home.path("base-6.19")).expect("removed");
    insta::assert_snapshot!(home.refusals(
        "atlas tag last base-6.19
         atlas tag last cafe
         atlas tag last last-good
         atlas tag last iphone-x
         atlas tag last ../x
         atlas tag last 'a b'
         atlas tag --remove absent"
    ));
    let moved = home.json("atlas tag last base-6.19 --move --json");
    assert_eq!(
        (&moved["run"], &moved["moved_from"]),
        (&made_up_id(3).into(), &vec![made_up_id(1)].into())
    );
    assert_eq!(home.out("atlas list --tag").lines().count(), 2);
    has(&home.out("atlas tag --remove base-6.19"), [&made_up_id(3)]);
    home.run("show base-6.19").refused("no such file");
}

#[test]
fn several_runs_may_have_a_tag() {
    let home = Home::with(&[1, 2, 3]);
    for run in ["last~1", "last~2"] {
        home.run(format!("atlas tag {run} main --add")).silent();
    }
    home.run("atlas tag last main").refused("--add");
    home.run("atlas tag last main --add --move").ended_with(2);
    let listed = home.json("atlas list --tag --json");
    assert_eq!(
        (listed.as_array().map(Vec::len), &listed[0]["id"]),
        (Some(2), &made_up_id(2).into())
    );
    assert_eq!(home.json("show main --document")["id"], made_up_id(2));
    // The tag goes with one run, and stays with the other.
    assert_eq!(home.json("atlas delete main --yes --json")[0]["tags"][0], "main");
    assert_eq!(home.json("show main --document")["id"], made_up_id(1));
    home.run("atlas verify").ok();
    let removed = home.json("atlas tag --remove main --json");
    assert_eq!(removed["runs"], serde_json::json!([made_up_id(1)]));
    home.run("show main").refused("no such file");
}

#[test]
fn deleting_needs_a_yes() {
    let home = Home::with(&[1, 2, 3]);
    home.run("atlas tag last base").ok();
    home.run("atlas delete last").refused("--yes");
    home.run("atlas delete last ffff --yes").refused("no run");
    assert_eq!(home.kept_documents(), 3, "nothing goes where one is not known");
    let deleted = home.json("atlas delete base last --yes --json");
    assert_eq!(deleted.as_array().map(Vec::len), Some(1), "one run by two names");
    assert_eq!(
        (&deleted[0]["id"], &deleted[0]["tags"][0]),
        (&made_up_id(3).into(), &"base".into())
    );
    assert_eq!(home.kept_documents(), 2);
    home.run("show base").refused("no such file");
    home.run("atlas verify").ok();
}

/// Output of a command on a terminal of its own, by util-linux's script(1), where this
/// is typed.
fn on_a_terminal(home: &Home, line: &str, answer: &str) -> Option<String> {
    let line = format!("COLUMNS=80 {} {line}", crate::support::PROGRAM);
    let mut command = home.launch(["script", "-qec", &line, "/dev/null"]);
    let mut child = command.stdin(Stdio::piped()).spawn().ok()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(answer.as_bytes()).expect("answered");
    let output = child.wait_with_output().expect("ended");
    drop(stdin);
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn deleting_asks_on_a_terminal() {
    let home = Home::with(&[1, 2]);
    for (answer, left) in [("n\n", 2), ("\n", 2), ("y\n", 1)] {
        let Some(printed) = on_a_terminal(&home, "atlas delete last", answer) else {
            return skip("there is no script(1)");
        };
        has(&printed, ["?", &made_up_id(2)[..8]]);
        assert_eq!(home.kept_documents(), left, "{answer:?}: {printed}");
    }
}

#[test]
fn a_terminal_gets_a_brief_page_and_anything_else_the_whole() {
    let home = Home::with(&[1]);
    let Some(brief) = on_a_terminal(&home, "show --no-pager", "") else {
        return skip("there is no script(1)");
    };
    has(&brief, ["branch_mispredict", "more rows: memory 7, cpu 3", "show --all"]);
    assert!(brief.lines().count() <= 60, "{brief}");
    for whole in [
        home.out("show"),
        on_a_terminal(&home, "show --no-pager --human", "").expect("script"),
        on_a_terminal(&home, "show --no-pager --all", "").expect("script"),
    ] {
        has(&whole, ["levels found in memory.latency", "95 % interval"]);
        assert!(!whole.contains("more rows: "), "{whole}");
    }
}

#[test]
fn verify_names_what_is_damaged_and_changes_nothing() {
    let home = Home::with(&[1, 2, 3]);
    let mut paths = crate::support::entries(&home.path("data/runs")).into_iter();
    let broken = paths.find(|path| path.to_string_lossy().contains(&made_up_id(2)));
    let broken = broken.expect("kept");
    let bytes = std::fs::read(&broken).expect("bytes");
    std::fs::write(&broken, &bytes[..bytes.len() - 100]).expect("cut");
    let damage = home.run("atlas verify --json").ended_with(3).json();
    assert_eq!(damage["documents"], 2);
    assert_eq!(damage["damaged"][0]["path"], broken.display().to_string());
    has(&home.run("atlas verify").ended_with(3).out, ["truncated", &made_up_id(2)]);
    assert_eq!(home.kept_documents(), 3);
    // The others are as good as ever, in spite of a rebuild.
    let rebuilt = home.json("atlas rebuild --json");
    assert_eq!((&rebuilt["documents"], &rebuilt["unreadable"]), (&2.into(), &1.into()));
    home.run("atlas show last").ok();
    home.run(format!("atlas show {}", made_up_id(2))).refused("truncated");
    // It can be deleted; the store's tests replace it.
    home.run(format!("atlas delete {} --yes", made_up_id(2))).ok();
    assert_eq!(home.kept_documents(), 2);
    home.run("atlas verify").ok();
}

#[test]
fn the_store_without_a_terminal_prints_no_escape() {
    let home = Home::new();
    let mut run = synthetic();
    run["machine"]["hostname"]["value"] = "evil\u{1b}[2J\u{202e}host".into();
    run["program"]["version"] = "1\r\n2".into();
    home.keep(1, &run);
    for command in ["list", "show"] {
        let out = home.out(format!("atlas {command}"));
        assert!(strangers::is_plain(&out), "{out:?}");
    }
}
