//! `latlas fleet report` and `latlas fleet compare` on made-up runs of a campaign.

use crate::support::{Home, has, lacks, synthetic};
use serde_json::{Value, json};

/// A run of a campaign on a host, where `cpu.add_i32` takes so many times as long.
fn campaign_run(campaign: &str, number: u32, factor: f64) -> Value {
    let mut run = synthetic();
    let host = format!("n{:02}", number % 100);
    run["id"] = format!("{number:08x}-3c4d-4e5f-8a9b-0c1d2e3f4a5b").into();
    run["machine"]["hostname"] = json!({ "value": host });
    run["job"] = json!({
        "campaign": campaign, "digest": "d1", "host": host, "repetition": 1, "attempt": 1,
        "nonce": number.to_string(),
    });
    run["cells"] = json!([]);
    let rows = run["rows"].as_array_mut().expect("rows");
    for (at, row) in rows.iter_mut().enumerate() {
        let own = if row["id"] == "cpu.add_i32" { factor } else { 1.0 };
        // Hosts are never quite alike.
        let own = own * (1.0 + f64::from((number * 7 + at as u32 * 3) % 11) * 1e-3);
        for at in ["/quiet/ns", "/typical/ns"] {
            for end in ["value", "low", "high"] {
                let figure = row.pointer_mut(&format!("/outcome/figure{at}/{end}"));
                let Some(number) = figure else { continue };
                *number = (number.as_f64().expect("a number") * own).into();
            }
        }
    }
    run
}

fn home() -> Home {
    let home = Home::new();
    for host in 0..20 {
        let slow = if host == 3 { 1.5 } else { 1.0 };
        home.keep(host, &campaign_run("before", 100 + host, slow));
        home.keep(30 + host, &campaign_run("after", 200 + host, slow * 1.2));
    }
    home
}

#[test]
fn a_campaign_is_reported_over_its_hosts() {
    let home = home();
    let text = home.run("report before");
    // Nothing here says which hosts were expected.
    assert_eq!(text.code, 3, "{}", text.err);
    has(&text.out, ["20 hosts, 20 runs", "└ n03 +49.2 %", "expected hosts unknown"]);
    let all = home.run("report before --json");
    let fleet: Value = serde_json::from_str(&all.out).expect("JSON");
    assert_eq!(fleet["hosts"].as_array().map(Vec::len), Some(20));
    let mut rows = fleet["rows"].as_array().expect("rows").iter();
    let row = rows.find(|row| row["id"] == "cpu.add_i32").expect("the row");
    assert_eq!(row["outliers"][0]["host"], 3);
    assert_eq!(row["figures"].as_array().map(Vec::len), Some(20));

    let page = home.run("report before -o fleet.html");
    assert_eq!((page.code, page.out.trim()), (3, "fleet.html"), "{}", page.err);
    let page = home.read_file("fleet.html");
    has(&page, ["Content-Security-Policy", "href=\"#host-4\"", "id=\"host-4\""]);
    // The name of SVG in the page's script is no address.
    lacks(&page.replace("http://www.w3.org/2000/svg", ""), ["src=", "http://"]);
    home.write("mine.txt", "not a report");
    let refused = home.run("report before -o mine.txt");
    assert_eq!(refused.code, 2);
    has(&refused.err, ["not a latlas report"]);
    let unknown = home.run("report befor");
    assert_eq!(unknown.code, 2);
    has(&unknown.err, ["did you mean before", "campaigns: "]);
}

#[test]
fn a_gate_of_seven_hosts_can_fail_and_one_of_five_cannot_pass() {
    let home = Home::new();
    for host in 0..7 {
        home.keep(host, &campaign_run("before", 100 + host, 1.0));
        let mut slow = campaign_run("after", 200 + host, 10.0);
        home.keep(10 + host, &slow);
        slow["id"] = format!("{:08x}-3c4d-4e5f-8a9b-0c1d2e3f4a5b", 300 + host).into();
        slow["job"]["digest"] = "e2".into();
        slow["started_unix_ms"] = 1.into();
        home.keep(20 + host, &slow);
        if host < 5 {
            home.keep(30 + host, &campaign_run("few", 400 + host, 10.0));
        }
    }
    let gate = home.run("compare before after --fail-above 5%");
    assert_eq!(gate.code, 1, "{}", gate.out);
    has(
        &gate.out,
        [
            "A           @before#d1",
            "B           @after#d1",
            "not shown   @after#e2: the same name",
            "SLOWER than allowed: cpu.add_i32\n",
        ],
    );
    let all = home.run("compare before after --fail-above 5% --json");
    let all: Value = serde_json::from_str(&all.out).expect("JSON");
    assert_eq!(
        (&all[0]["a"], &all[0]["b"], &all[0]["crossed"]),
        (&json!("@before#d1"), &json!("@after#d1"), &json!(["cpu.add_i32"]))
    );
    let five = home.run("compare before few --fail-above 5%");
    assert_eq!(five.code, 3, "{}", five.out);
    has(
        &five.out,
        ["At least 6 common hosts are needed.", "INCONCLUSIVE: no row can cross the gate of 5 %"],
    );
    for (line, why) in [
        ("report after#ffff", "(stored: after#d1, after#e2)"),
        ("report .", ". is not the directory of a submitted campaign"),
    ] {
        let refused = home.run(line);
        assert_eq!(refused.code, 2, "{line}");
        has(&refused.err, [why]);
    }
}

#[test]
fn two_campaigns_are_compared_by_hosts() {
    let home = home();
    let text = home.out("compare before after");
    has(&text, ["20 hosts in both", "slower"]);
    let gate = home.run("compare before after --fail-above 10%");
    assert_eq!(gate.code, 1, "{}", gate.out);
    has(&gate.out, ["SLOWER than allowed: cpu.add_i32"]);
    let all = home.json("compare before after --rows cpu.add_i32 --json");
    let row = &all[0]["rows"][0];
    assert_eq!((&row["id"], &row["finding"]), (&json!("cpu.add_i32"), &json!("different")));
    let ratio = row["ratio"].as_f64().expect("a ratio");
    assert!((ratio - 1.2).abs() < 0.02, "{ratio}");
    for (line, why) in [
        ("compare before nothing", "no stored run of campaign \"nothing\""),
        ("compare before after --rows nix", "no row"),
    ] {
        let refused = home.run(line);
        assert_eq!(refused.code, 2, "{line}");
        has(&refused.err, [why]);
    }
}
