//! `latlas table`: without a run, of a file, and of the store.

use crate::support::{Done, Home, SYNTHETIC, has, json, synthetic};
use serde_json::{Value, json};

const NOT_MEASURED: &str = "not measured yet";

#[test]
fn without_a_run_the_published_figures_are_printed() {
    let home = Home::new();
    let tables = home.run("table").ok();
    assert_eq!(tables.out.lines().count(), 4, "{}", tables.out);
    assert_eq!(home.json("table --json")[0]["key"], "ash");
    for key in ["ash", "kurkin", "2012"] {
        tables.line_with(key);
        let done = home.run(format!("table {key}")).ended_with(3);
        has(&done.out, [NOT_MEASURED, &format!("latlas table {key} --measure")]);
    }
    assert!(!home.path("data").exists(), "nothing is written");
}

#[test]
fn a_file_fills_the_table_in() {
    let home = Home::new();
    let done = home.run(format!("table ash {SYNTHETIC} --2008")).silent();
    insta::assert_snapshot!(done.out);
    let plain = home.out(format!("table ash {SYNTHETIC}"));
    assert!(plain.lines().all(|line| line.chars().count() <= 100));
    home.run("table ash .").refused("is a directory");
}

#[test]
fn of_kept_runs_the_one_with_most_rows_is_printed() {
    let home = Home::new();
    let mut run = synthetic();
    let mut keep = |second: u32, digit: &str, change: &dyn Fn(&mut Value)| {
        change(&mut run);
        run["id"] = "dddddddd-2222-4333-8444-555555555555".replace('d', digit).into();
        home.keep(second, &run)
    };
    // Newer, with all of its rows, and of another machine.
    keep(8, "5", &|_| ());
    has(&home.run("table ash").ended_with(3).out, [NOT_MEASURED]);
    home.run("table ash last").ok();
    // As if it were of this one.
    let machine =
        serde_json::to_value(sys::machine_facts(std::path::Path::new("/"))).expect("JSON");
    keep(1, "1", &|run| {
        for fact in ["hostname", "cpu_model", "emulated"] {
            run["machine"][fact] = machine[fact].clone();
        }
    });
    // Newer, and without a row of the table.
    keep(9, "9", &|run| run["rows"] = serde_json::json!([]));
    has(&home.out("table ash"), ["run             11111111"]);
    // Named by its id it is printed, though it is never `last`; without a figure.
    has(&home.run("table ash 99999999").ended_with(3).out, ["run             99999999"]);
    // One that can't be read is skipped with a warning.
    let name = "20261121T000010Z-aaaaaaaa-2222-4333-8444-555555555555.json.zst";
    home.write(&format!("data/runs/{name}"), "{");
    let err = home.run("table ash").ok().err;
    has(&err, ["latlas: ", name]);
    assert_eq!(err.lines().count(), 1, "{err}");
}

#[test]
fn the_document_of_a_table_is_json() {
    let table = Home::new().json(format!("table ash {SYNTHETIC} --json --2008"));
    let rows = table["parts"][0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 34);
    assert_eq!(table["columns"][3]["key"], "iphone-2008");
    assert_eq!(table["run"]["quiet"], "");
    let division = rows.iter().find(|row| row["id"] == "cpu.div_f64_as_ash");
    let division = division.expect("the row");
    assert_eq!(division["here"]["ns"]["value"], 1.32);
    assert_eq!(division["published"][0]["ns"], 3.7);
}

#[test]
fn what_the_table_needs_is_measured_and_kept() {
    let home = Home::new();
    let done = home.run("table 2012 --measure --quick").measured();
    let run = home.json("show last --document");
    let rows = run["rows"].as_array().expect("rows").iter();
    let ids: Vec<_> = rows.map(|row| row["id"].as_str().expect("an id")).collect();
    for id in ["memory.latency", "cpu.branch_mispredict", "sync.mutex_uncontended"] {
        assert!(ids.contains(&id), "{id} in {ids:?}");
    }
    assert!(!ids.contains(&"cpu.add_i32"), "{ids:?}");
    // Printed again, it is the same table.
    let again = home.run("table 2012");
    assert_eq!((again.code, again.out), (done.code, done.out));
    // One that can't be kept is printed all the same.
    let mut command = home.command("table 2012 --measure --quick");
    let done = Done::from_command(command.env("LATLAS_DATA_DIR", "/dev/null/x")).ended_with(3);
    has(&done.err, ["the run will not be stored"]);
    has(&done.out, ["ns"]);
    json(&home.out("table --json"));
}

/// A run as an app on a phone writes it. Made up, and it says so.
fn made_up_phone() -> Value {
    let mut run = synthetic();
    run["id"] = "f0000000-2222-4333-8444-555555555555".into();
    run["program"] = json!({"name": "latlas-core", "version": "0.1.0", "commit": null,
        "target": "aarch64-ios", "profile": "release", "emulated": null});
    let machine = &mut run["machine"];
    for unknown in ["cpu_model", "cpu_signature", "microarchitecture", "allowed_cpus"] {
        machine[unknown] = json!({"unknown": "Apple systems don't say"});
    }
    machine["device"] = json!({"value": "iPhone99,9 (made up)"});
    machine["os"] = json!({"value": "iOS 99.0"});
    machine["kernel"] = json!({"value": "Darwin 99.0.0"});
    machine["arch"] = "aarch64".into();
    machine["hypervisor"] = json!({"value": "absent"});
    run["plan"]["in_process"] = true.into();
    run["conditions"]["pinned_cpus"] = json!([]);
    run["conditions"]["remarks"] = json!(["made up for a test: nothing was measured"]);
    for row in run["rows"].as_array_mut().expect("rows") {
        let reason = "the end of a thread can't be observed: Apple systems do not have a record of the end of threads";
        if ["thread.lifecycle/end", "thread.lifecycle/join"].iter().any(|id| row["id"] == *id) {
            row["outcome"] = json!({"unavailable": {"reason": reason}});
        }
    }
    run
}

#[test]
fn a_phones_imported_run_stands_beside_the_published_phones() {
    let home = Home::new();
    let document = home.path("phone.json");
    std::fs::write(&document, made_up_phone().to_string()).expect("written");
    let id = home.run(["import", document.to_str().expect("text")]).ok();
    assert_eq!(id.out.trim(), made_up_phone()["id"]);
    let done = home.run(format!("table kurkin {SYNTHETIC} --with f0000000")).silent();
    insta::assert_snapshot!(done.out);
    // By itself it is the machine of the table.
    let own = home.out("table kurkin f0000000");
    has(&own, ["this machine    iPhone99,9 (made up), 4 CPUs", "iPhone X"]);
    has(&home.out("show f0000000 --all"), ["nothing was measured", "IN ONE PROCESS: intervals"]);
    home.run(format!(
        "report {SYNTHETIC} f0000000 -o {page}",
        page = home.path("page.html").display()
    ))
    .ok();
    let page = std::fs::read_to_string(home.path("page.html")).expect("a page");
    let (_, published) = page.split_once("id=\"published\"").expect("the tables");
    has(published, ["iPhone99,9 (made up)", "made up for a test: nothing was measured"]);
    home.run("table kurkin --with nothing").refused("nothing");
}
