//! Which run is `last`: whole ones only, by the time at which they can have
//! been made.

use crate::home::{Home, id};
use crate::json;

#[test]
fn an_interrupted_or_empty_run_is_never_the_last() {
    let home = Home::with(&[1]);
    let keep = |n: u32, change: fn(&mut serde_json::Value)| {
        let mut run = json(&std::fs::read_to_string(home.document(n)).expect("a document"));
        change(&mut run);
        let path = home.path("changed.json");
        std::fs::write(&path, run.to_string()).expect("written");
        let done = home.run(&["import", "changed.json"]);
        assert_eq!(done.code, 0, "{}", done.err);
    };
    keep(2, |run| run["partial"] = "interrupted by the test".into());
    keep(3, |run| {
        run["rows"] = serde_json::json!([]);
        run["cells"] = serde_json::json!([]);
    });
    let shown = home.run(&["show", "last", "--json"]);
    assert_eq!(json(&shown.out)["id"], id(1), "{}", shown.err);
    for told in [
        "00000002 is not `last`: interrupted",
        "00000003 is not `last`: empty",
    ] {
        assert_eq!(shown.err.matches(told).count(), 1, "{}", shown.err);
    }
    let own = home.run(&["show", "00000002"]);
    assert_eq!((own.code, own.err.as_str()), (0, ""));
    assert!(own.out.contains("PARTIAL"), "{}", own.out);
    let words = own.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("never `last`: latlas show 00000002"),
        "{words}"
    );
    home.run(&["show", "last~1"]).refused("1 run is kept");
    home.run(&["atlas", "delete", &id(1), "--yes"]);
    home.run(&["show", "last"]).refused("no whole run is kept");
}

#[test]
fn a_run_of_the_future_is_not_the_last_for_good() {
    let home = Home::with(&[1, 2]);
    let mut run = home.template();
    run["id"] = id(9).into();
    run["started_unix_ms"] = 32_503_680_000_000_u64.into();
    let name = format!("30000101T000000.000Z-{}.json.zst", id(9));
    let path = home.path("data/runs").join(name);
    std::fs::write(&path, run.to_string()).expect("written");
    // As the clock was when it was measured and kept.
    let ahead = std::time::UNIX_EPOCH + std::time::Duration::from_secs(32_503_680_000);
    let file = std::fs::File::options()
        .write(true)
        .open(&path)
        .expect("there");
    file.set_modified(ahead).expect("a time");
    for _ in 0..2 {
        let shown = home.run(&["show", "last", "--json"]);
        assert_eq!(json(&shown.out)["id"], id(2));
        assert!(
            shown
                .err
                .contains("00000009 says that it began in the future"),
            "{}",
            shown.err
        );
        assert_eq!(shown.err.lines().count(), 1, "{}", shown.err);
        // Made anew, the index changes nothing of it.
        assert_eq!(home.run(&["atlas", "rebuild"]).code, 0);
    }
    let shown = home.run(&["show", "last~2", "--json"]);
    assert_eq!(json(&shown.out)["id"], id(9));
}
