//! Which run is `last`: complete ones only, by a time at which they can have been made.

use crate::support::{Home, has, json, made_up_id, synthetic, unwrapped};

#[test]
fn an_interrupted_or_empty_run_is_never_the_last() {
    let home = Home::with(&[1]);
    let keep = |n: u32, change: fn(&mut serde_json::Value)| {
        home.document(n);
        let mut run = json(&home.read_file(&format!("run-{n}.json")));
        change(&mut run);
        home.write("changed.json", run.to_string());
        home.run("import changed.json").ok();
    };
    keep(2, |run| run["partial"] = "interrupted by the test".into());
    keep(3, |run| {
        run["rows"] = serde_json::json!([]);
        run["cells"] = serde_json::json!([]);
    });
    let shown = home.run("show last --document").ok();
    assert_eq!(shown.json()["id"], made_up_id(1), "{}", shown.err);
    for warning in ["00000002 is not `last`: interrupted", "00000003 is not `last`: empty"] {
        assert_eq!(shown.err.matches(warning).count(), 1, "{}", shown.err);
    }
    let own = home.run("show 00000002").silent();
    has(&unwrapped(&own.out), ["PARTIAL", "show it with `latlas show 00000002`"]);
    home.run("show last~1").refused("1 run is stored");
    home.run(format!("atlas delete {} --yes", made_up_id(1))).ok();
    home.run("show last").refused("no complete run in");
}

#[test]
fn a_run_of_the_future_is_not_the_last_for_good() {
    let home = Home::with(&[1, 2]);
    let mut run = synthetic();
    run["id"] = made_up_id(9).into();
    run["started_unix_ms"] = 32_503_680_000_000_u64.into();
    let name = format!("data/runs/30000101T000000.000Z-{}.json.zst", made_up_id(9));
    home.write(&name, run.to_string());
    // As the clock was when it was measured and kept.
    let ahead = std::time::UNIX_EPOCH + std::time::Duration::from_secs(32_503_680_000);
    let file = std::fs::File::options().write(true).open(home.path(&name));
    file.expect("there").set_modified(ahead).expect("a time");
    for _ in 0..2 {
        let shown = home.run("show last --document").ok();
        assert_eq!(shown.json()["id"], made_up_id(2));
        has(&shown.err, ["00000009", "in the future"]);
        assert_eq!(shown.err.lines().count(), 1, "{}", shown.err);
        // Made anew, the index changes nothing of it.
        home.run("atlas rebuild").ok();
    }
    assert_eq!(home.json("show last~2 --document")["id"], made_up_id(9));
}

#[test]
fn a_report_is_of_the_last_run_of_rows_and_a_list_says_what_ran() {
    let home = Home::new();
    let long =
        "exit 0 # a command line that is much longer than what a line of a list has room for";
    let exec = ["exec", "-r", "2", "--warmup", "0", "--", "sh", "-c", long];
    home.run(exec).measured();
    for table in ["table 2012 last", "fit --run last"] {
        home.run(table).refused("no run of rows");
    }
    // It shows any run, and there is no other.
    home.run("report --no-documents -o of-command.html").ok();
    has(&home.read_file("of-command.html"), ["exec.sh"]);
    home.run("show").ok();
    let page = format!("import --format run {}", home.document(1).display());
    home.run(page).ok();
    home.run(exec).measured();
    let done = home.run("report --no-documents").ok();
    has(&unwrapped(&done.err), ["`last` is the last run of rows here, not the newer"]);
    assert!(home.path("latlas-report.html").is_file());
    let list = home.out("atlas list");
    has(&list, ["sh -c exit 0 # a command"]);
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
}
