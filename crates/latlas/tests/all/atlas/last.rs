//! Which run is `last`: complete ones only, by a time at which they can have been made.

use crate::support::{Home, has, id, json, synthetic, unwrapped};

#[test]
fn an_interrupted_or_empty_run_is_never_the_last() {
    let home = Home::with(&[1]);
    let keep = |n: u32, change: fn(&mut serde_json::Value)| {
        home.document(n);
        let mut run = json(&home.read(&format!("run-{n}.json")));
        change(&mut run);
        home.write("changed.json", run.to_string());
        home.run("import changed.json").ok();
    };
    keep(2, |run| run["partial"] = "interrupted by the test".into());
    keep(3, |run| {
        run["rows"] = serde_json::json!([]);
        run["cells"] = serde_json::json!([]);
    });
    let shown = home.run("show last --json").ok();
    assert_eq!(shown.json()["id"], id(1), "{}", shown.err);
    for warning in ["00000002 is not `last`: interrupted", "00000003 is not `last`: empty"] {
        assert_eq!(shown.err.matches(warning).count(), 1, "{}", shown.err);
    }
    let own = home.run("show 00000002").silent();
    has(&unwrapped(&own.out), ["PARTIAL", "show it with `latlas show 00000002`"]);
    home.run("show last~1").refused("1 run is stored");
    home.run(format!("atlas delete {} --yes", id(1))).ok();
    home.run("show last").refused("no complete run in");
}

#[test]
fn a_run_of_the_future_is_not_the_last_for_good() {
    let home = Home::with(&[1, 2]);
    let mut run = synthetic();
    run["id"] = id(9).into();
    run["started_unix_ms"] = 32_503_680_000_000_u64.into();
    let name = format!("data/runs/30000101T000000.000Z-{}.json.zst", id(9));
    home.write(&name, run.to_string());
    // As the clock was when it was measured and kept.
    let ahead = std::time::UNIX_EPOCH + std::time::Duration::from_secs(32_503_680_000);
    let file = std::fs::File::options().write(true).open(home.path(&name));
    file.expect("there").set_modified(ahead).expect("a time");
    for _ in 0..2 {
        let shown = home.run("show last --json").ok();
        assert_eq!(shown.json()["id"], id(2));
        has(&shown.err, ["00000009", "in the future"]);
        assert_eq!(shown.err.lines().count(), 1, "{}", shown.err);
        // Made anew, the index changes nothing of it.
        home.run("atlas rebuild").ok();
    }
    assert_eq!(home.json("show last~2 --json")["id"], id(9));
}
