//! The report of a campaign whose hosts are known.

use super::Fleet;
use crate::support::{has, json};

#[test]
fn fleet_report_leaves_out_a_host_that_is_not_in_the_campaign() {
    let fleet = Fleet::new("hosts = ['n1', 'n2']");
    fleet.run("submit lab.toml").ok();
    for (number, host) in [(1, "n1"), (2, "n2"), (3, "zz99")] {
        fleet.document(number, host, |_| {});
    }
    fleet.0.write("queue", "");
    fleet.run("collect lab").ok();
    let import = "import --format run lab.fleet/results/zz99.1.1.3.json";
    fleet.0.run(import).ok();
    let text = fleet.run("report lab").ok().out;
    has(
        &text,
        [
            "2 hosts, 2 runs",
            "yes: all 2 hosts have their runs",
            "unexpected  zz99: not in the campaign",
        ],
    );
    let report = json(&fleet.run("report lab --json").ok().out);
    assert_eq!(report["not_expected"], serde_json::json!(["zz99"]));
    for row in report["rows"].as_array().expect("rows") {
        let figures = row["figures"].as_array().expect("figures");
        assert!(figures.len() <= 2, "{row}");
    }
}
