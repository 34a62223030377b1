//! The report of a campaign whose hosts are known.

use crate::lab::Fleet;
use crate::support::{has, json};

#[test]
fn fleet_report_leaves_out_a_host_that_is_not_in_the_campaign() {
    let fleet = Fleet::new("hosts = ['n1', 'n2']");
    fleet.run_line("submit lab.toml").ok();
    for (number, host) in [(1, "n1"), (2, "n2"), (3, "zz99")] {
        fleet.leave_document(number, host, |_| {});
    }
    fleet.0.write("queue", "");
    fleet.run_line("collect lab").ok();
    fleet.0.keep(3, &json(&fleet.0.read_file("lab.fleet/results/zz99.1.1.3.json")));
    let text = fleet.run_line("report lab").ok().out;
    has(
        &text,
        [
            "2 hosts, 2 runs",
            "yes: all 2 hosts have their runs",
            "unexpected  zz99: not in the campaign",
        ],
    );
    let report = json(&fleet.run_line("report lab --json").ok().out);
    assert_eq!(report["not_expected"], serde_json::json!(["zz99"]));
    for row in report["rows"].as_array().expect("rows") {
        let figures = row["figures"].as_array().expect("figures");
        assert!(figures.len() <= 2, "{row}");
    }
}

#[test]
fn missing_runs_have_the_reason_of_their_own_job() {
    let fleet = Fleet::new("hosts = ['n1', 'n2', 'n3']\nrepetitions = 2");
    fleet.run_line("submit lab.toml").ok();
    fleet.leave_document(1, "n2", |_| {});
    fleet.0.write("queue", "");
    fleet.run_line("collect lab").ended_with(3);
    fleet.leave_document(2, "n3", |_| {});
    let report = json(&fleet.run_line("report lab --json").ended_with(3).out);
    let lost = "lost, it never began, and Slurm has no job for it";
    let stored = "measured, not stored here: run `latlas fleet collect`";
    assert_eq!(
        report["expected"]["missing"],
        serde_json::json!([
            { "host": "n1", "why": format!("repetitions 1-2: {lost}") },
            { "host": "n2", "why": format!("repetition 2: {lost}") },
            { "host": "n3", "why": format!("repetition 1: {stored}; repetition 2: {lost}") },
        ])
    );
}
