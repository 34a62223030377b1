//! `latlas explain` of more than a row.

use super::Home;

#[test]
fn a_group_and_a_level_are_explained_by_their_rows() {
    let home = Home::new();
    for (name, row) in [("memory", "memory.latency"), ("L2", "memory.latency/L2")] {
        let done = home.run(&["explain", name]);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{name}");
        let line = done
            .out
            .lines()
            .find(|line| line.split_whitespace().next() == Some(row));
        assert!(
            line.is_some_and(|line| line.len() > row.len() + 3),
            "{}",
            done.out
        );
        let json = home.run(&["explain", name, "--json"]);
        let listed: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
        let rows = listed["rows"].as_array().expect("rows");
        assert!(rows.iter().any(|known| known["row"] == row), "{}", json.out);
    }
    let done = home.run(&["explain", "memry"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("did you mean memory?"), "{}", done.err);
}
