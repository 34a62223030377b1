//! `latlas table`: from nothing, from a file, from the store.

use super::{Home, fixture, fixture_path};

fn fixture_name() -> &'static str {
    fixture_path().to_str().expect("path")
}

#[test]
fn without_a_name_the_tables_are_listed() {
    let home = Home::new();
    let done = home.run(&["table"]);
    assert_eq!(
        (done.code, done.out.lines().count()),
        (0, 3),
        "{}",
        done.err
    );
    for key in ["ash", "kurkin", "2012"] {
        assert!(
            done.out.lines().any(|line| line.starts_with(key)),
            "{}",
            done.out
        );
    }
    let json: serde_json::Value =
        serde_json::from_str(&home.run(&["table", "--json"]).out).expect("JSON");
    assert_eq!(json[0]["key"], "ash");
}

#[test]
fn an_unknown_table_lists_those_that_exist() {
    let home = Home::new();
    home.run(&["table", "kurkn"]).refused(
        "no published table \"kurkn\"; did you mean kurkin? (there are ash, kurkin, 2012)",
    );
    home.run(&["table", "mac-pro-2013"])
        .refused("there are ash, kurkin, 2012");
}

#[test]
fn without_a_run_the_published_figures_stand_alone() {
    let home = Home::new();
    for key in ["ash", "kurkin", "2012"] {
        let done = home.run(&["table", key]);
        assert_eq!(done.code, 3, "{}", done.err);
        assert!(done.out.contains("not measured yet"), "{}", done.out);
        assert!(
            done.out.contains(&format!("latlas table {key} --measure")),
            "{}",
            done.out
        );
        assert!(!home.path("data").exists(), "nothing is written");
    }
}

#[test]
fn a_file_fills_the_table_in() {
    let home = Home::new();
    let done = home.run(&["table", "ash", fixture_name()]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.err, "");
    let line = done
        .out
        .lines()
        .find(|line| line.starts_with("pthread create/join"));
    let line = line.expect("the row");
    assert!(line.contains("48300") && line.contains("1.7x"), "{line}");
    assert!(done.out.lines().all(|line| line.chars().count() <= 100));
    home.run(&["table", "ash", "absent.json"])
        .refused("can't read absent.json");
    home.run(&["table", "ash", "."]).refused("is a directory");
}

#[test]
fn of_kept_runs_the_fullest_is_printed() {
    let home = Home::new();
    let runs = home.path("data/runs");
    std::fs::create_dir_all(&runs).expect("runs");
    let keep = |id: &str, second: u32, run: &serde_json::Value| {
        let name = format!("20261121T0000{second:02}Z-{id}.json.zst");
        std::fs::write(runs.join(name), run.to_string()).expect("kept");
    };
    let mut run: serde_json::Value = serde_json::from_str(&fixture()).expect("JSON");
    run["id"] = "55555555-2222-4333-8444-555555555555".into();
    // Newer, with all of its rows, and of another machine.
    keep("55555555-2222-4333-8444-555555555555", 8, &run);
    let done = home.run(&["table", "ash"]);
    assert_eq!(done.code, 3, "{}", done.err);
    assert!(done.out.contains("not measured yet"), "{}", done.out);
    let by_name = home.run(&["table", "ash", "last"]);
    assert_eq!(by_name.code, 0, "{}", by_name.err);
    // As if it were of this one.
    let machine = serde_json::to_value(sys::machine(std::path::Path::new("/"))).expect("JSON");
    for fact in ["hostname", "cpu_model", "emulated"] {
        run["machine"][fact] = machine[fact].clone();
    }
    run["id"] = "11111111-2222-4333-8444-555555555555".into();
    keep("11111111-2222-4333-8444-555555555555", 1, &run);
    // Newer, and without a row of the table.
    let mut little = run.clone();
    little["id"] = "99999999-2222-4333-8444-555555555555".into();
    little["rows"] = serde_json::json!([]);
    let name = "20261121T000009Z-99999999-2222-4333-8444-555555555555.json.zst";
    std::fs::write(runs.join(name), little.to_string()).expect("kept");
    let done = home.run(&["table", "ash"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out.contains("run             11111111"),
        "{}",
        done.out
    );
    // By its id it is the newer one that is meant, which is never `last`.
    let done = home.run(&["table", "ash", "99999999"]);
    assert!(
        done.out.contains("run             99999999"),
        "{}",
        done.out
    );
    assert_eq!(done.code, 3, "no figure in it");
    // One that can't be read is said and passed over.
    let name = "20261121T000010Z-aaaaaaaa-2222-4333-8444-555555555555.json.zst";
    std::fs::write(runs.join(name), "{").expect("kept");
    let done = home.run(&["table", "ash"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.starts_with("latlas: passed over: ") && done.err.contains(name),
        "{}",
        done.err
    );
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
}

#[test]
fn the_document_of_a_table_is_json() {
    let home = Home::new();
    let done = home.run(&["table", "ash", fixture_name(), "--json", "--2008"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let table: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    let rows = table["parts"][0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 34);
    assert_eq!(table["columns"][3]["key"], "iphone-2008");
    assert_eq!(table["run"]["quiet"], "");
    let division = rows
        .iter()
        .find(|row| row["id"] == "cpu.div_f64_as_ash")
        .expect("the row");
    assert_eq!(division["here"]["ns"]["value"], 1.32);
    assert_eq!(division["published"][0]["ns"], 3.7);
}

#[test]
fn the_figures_of_2008_belong_to_ash() {
    let home = Home::new();
    let done = home.run(&["table", "ash", fixture_name(), "--2008"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let line = done
        .out
        .lines()
        .find(|line| line.starts_with("pthread create/join"));
    assert!(
        line.expect("the row").contains("100 µs 0.48x"),
        "{}",
        done.out
    );
    assert!(
        done.out
            .contains("mac-2008, Autorelease pool push/pop; pthread create/join: more than"),
        "{}",
        done.out
    );
    home.run(&["table", "2012", "--2008"])
        .refused("latlas table ash --2008");
}

#[test]
fn contradictions_are_refused() {
    let home = Home::new();
    for arguments in [
        &["table", "ash", "last", "--measure"][..],
        &["table", "ash", "--quick"],
        &["table", "ash", "--dir", "."],
        &["table", "--measure"],
        &["table", "ash", "last", "more"],
    ] {
        let done = home.run(arguments);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{arguments:?}");
        assert!(done.err.contains("error:"), "{}", done.err);
    }
}

#[test]
fn the_directory_for_files_is_passed_on() {
    let home = Home::new();
    home.run(&["table", "kurkin", "--measure", "--quick", "--dir", "absent"])
        .refused("absent");
}

#[test]
fn a_table_whose_run_is_kept_nowhere_ends_with_3() {
    let home = Home::new();
    let mut command = home.command(&["table", "2012", "--measure", "--quick"]);
    let done = super::done(command.env("LATLAS_DATA_DIR", "/dev/null/x"));
    assert_eq!(done.code, 3, "{}", done.err);
    assert!(
        done.err.contains("the run will not be kept"),
        "{}",
        done.err
    );
    assert!(done.out.contains("ns"), "the table is there: {}", done.out);
}

/// The rows that are measured are those of the table; the run is kept.
#[test]
fn what_the_table_needs_is_measured() {
    let home = Home::new();
    let done = home.run(&["table", "2012", "--measure", "--quick"]);
    assert!(matches!(done.code, 0 | 3), "{}", done.err);
    let json: serde_json::Value =
        serde_json::from_str(&home.run(&["show", "last", "--json"]).out).expect("a kept run");
    let rows = json["rows"].as_array().expect("rows");
    let ids: Vec<&str> = rows
        .iter()
        .map(|row| row["id"].as_str().expect("an id"))
        .collect();
    for id in [
        "memory.latency",
        "cpu.branch_mispredict",
        "sync.mutex_uncontended",
    ] {
        assert!(ids.contains(&id), "{id} in {ids:?}");
    }
    assert!(!ids.contains(&"cpu.add_i32"), "{ids:?}");
    // Printed again, it is the same table.
    let again = home.run(&["table", "2012"]);
    assert_eq!((again.code, again.out), (done.code, done.out));
}

#[test]
fn colours_are_only_where_they_are_asked_for() {
    let home = Home::new();
    let escapes = |color: &str| {
        let done = home.run(&["table", "ash", fixture_name(), "--color", color]);
        done.out.contains('\x1b')
    };
    assert!(!escapes("auto"), "stdout is no terminal here");
    assert!(escapes("always"));
    assert!(!escapes("never"));
}
