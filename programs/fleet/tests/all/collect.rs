//! What is stored, and what is named instead.

use crate::lab::Fleet;
use crate::support::{has, json};
use std::time::Duration;

#[test]
fn results_are_stored_once_and_what_is_odd_is_named() {
    let fleet = Fleet::new("hosts = ['n1', 'n2']");
    fleet.run_line("submit lab.toml").ok();
    fleet.leave_document(1, "n1", |_| {});
    fleet.leave_document(2, "n1", |_| {});
    fleet.leave_document(3, "n9", |_| {});
    fleet.leave_document(4, "n2", |run| run["job"]["digest"] = "0".into());
    fleet.leave_document(5, "n2", |run| run["program"]["version"] = "0.0.9".into());
    fleet.0.write("lab.fleet/results/half.json", "{\"schema\": 5");
    fleet.0.write("queue", "");
    for stored in [2, 0] {
        let found = json(&fleet.run_line("collect lab.toml --json").ended_with(3).out);
        assert_eq!(found["stored"], stored);
        assert_eq!(fleet.0.kept_documents(), 2);
        assert_eq!(found["counts"], serde_json::json!({"done": 1, "refused": 1}));
        assert_eq!(found["jobs"][0]["twice"].as_array().map(Vec::len), Some(1));
        assert_eq!(found["jobs"][1]["refusal"], "program");
        assert_eq!(found["foreign"].as_array().map(Vec::len), Some(2));
        assert_eq!(found["unreadable"][0]["file"], "half.json");
    }
    fleet.leave_document(6, "n2", |_| {});
    let found = json(&fleet.run_line("collect lab.toml --json").ok().out);
    assert_eq!((&found["complete"], &found["stored"]), (&true.into(), &1.into()));
    let foreign = found["foreign"].as_array().expect("foreign");
    assert_eq!(foreign[2]["file"], "n2.1.1.5.json", "also of a job that is done");
    // Its line has the commit of this build.
    std::fs::remove_file(fleet.0.path("lab.fleet/results/n2.1.1.5.json")).expect("removed");
    insta::assert_snapshot!(fleet.0.plain(&fleet.run_line("status lab").ok().out));
}

#[test]
fn another_document_of_a_stored_run_is_named_and_the_rest_is_stored() {
    let fleet = Fleet::new("hosts = ['n1', 'n2']");
    fleet.run_line("submit lab.toml").ok();
    fleet.leave_document(1, "n1", |_| {});
    fleet.run_line("collect lab").ended_with(3);
    fleet.leave_document(1, "n1", |run| run["wall_ms"] = 1.into());
    fleet.leave_document(2, "n2", |_| {});
    for stored in [1, 0] {
        let done = fleet.run_line("collect lab --json").ended_with(3);
        let found = json(&done.out);
        assert_eq!(found["complete"], true);
        assert_eq!(
            (&found["stored"], &found["stored_before"]),
            (&stored.into(), &(1 - stored).into())
        );
        let id = crate::support::made_up_id(1);
        let not_stored = &found["not_stored"];
        assert_eq!(not_stored.as_array().map(Vec::len), Some(1));
        assert_eq!(not_stored[0]["run"], *id);
        assert_eq!(not_stored[0]["file"], "n1.1.1.1.json");
        let line = "latlas: results/n1.1.1.1.json is not stored: ";
        has(&done.err, [line, &format!("`latlas atlas delete {id}`")]);
        assert_eq!(done.err.lines().count(), 1);
    }
    // As the line says.
    let delete = format!("atlas delete {} --yes", crate::support::made_up_id(1));
    fleet.0.latlas(&delete).ok();
    let found = json(&fleet.run_line("collect lab --json").ok().out);
    assert_eq!((&found["stored"], &found["not_stored"]), (&1.into(), &serde_json::json!([])));
}

#[test]
fn a_document_with_the_id_of_another_job_is_named_once() {
    let fleet = Fleet::new("hosts = ['n1', 'n2']");
    fleet.run_line("submit lab.toml").ok();
    fleet.leave_document(1, "n1", |_| {});
    fleet.leave_document(2, "n2", |run| run["id"] = crate::support::made_up_id(1).into());
    let found = json(&fleet.run_line("collect lab --json").ended_with(3).out);
    assert_eq!(found["foreign"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["not_stored"], serde_json::json!([]));
    assert_eq!((&found["stored"], fleet.0.kept_documents()), (&1.into(), 1));
}

#[test]
fn a_killed_collection_is_repeated_until_all_is_stored() {
    let hosts: Vec<String> = (0..40).map(|n| format!("'n{n}'")).collect();
    let fleet = Fleet::new(&format!("hosts = [{}]", hosts.join(",")));
    fleet.run_line("submit lab.toml").ok();
    for n in 0..40 {
        fleet.leave_document(n, &format!("n{n}"), |_| {});
    }
    let mut killed = 0;
    for round in 0..12_u64 {
        let mut child = fleet.command("collect lab").spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(15 * round));
        // Gone already is as good.
        let _ = child.kill();
        killed += u32::from(child.wait().expect("ended").code().is_none());
    }
    assert!(killed > 0, "none was killed");
    let found = json(&fleet.run_line("collect lab --json").ok().out);
    let stored = |key: &str| found[key].as_u64().expect("a count");
    assert_eq!(stored("stored") + stored("stored_before"), 40);
    assert_eq!(fleet.0.kept_documents(), 40);
    fleet.0.latlas("atlas verify").ok();
}
