//! `latlas ci`: two builds compared by commands run in both.

use crate::support::{Home, has, json};

const CI: &str = "ci --base base --head head";

#[test]
fn what_is_wrong_is_refused_and_nothing_is_kept() {
    let home = Home::with_builds(["0", "x"]);
    home.write("none", "# nothing\n\n");
    insta::assert_snapshot!(home.refusals(
        r#"ci --base base {}/prog
           ci --base base --head absent {}/prog
           ci --base base --head head
           ci --base base --head head ./prog
           ci --base base --head head "{}/prog 'x"
           ci --base base --head head --commands none
           ci --base base --head head --commands absent
           ci --base base --head head --markdown absent/x "sh {}/prog"
           ci --base base --head head --markdown - --json "sh {}/prog"
           ci --base base --head head -o page.txt "sh {}/prog"
           ci --base base --head head -o absent/page.html "sh {}/prog"
           ci --base base --head head --fail-above x "sh {}/prog"
           ci --base base --head head -r 6 "sh {}/absent"
           ci --base base --head head --criterion "sh {}/prog"
           ci --base base --head head --criterion --commands none
           ci --base base --head head --criterion -r 6
           ci --base base --head head --criterion --pin 0
           ci --base base --head head --criterion --no-wait
           ci --base base --head head --criterion --nice 5
           ci --base base --head head --criterion --out-dir runs
           ci --base base --head head --criterion --markdown - --json
           ci --base absent --head head --criterion"#
    ));
    assert_eq!(home.kept_documents(), 0);
}

// Ten times as long is more than twice, and the same is not, however busy the machine is.
#[test]
fn a_head_that_sleeps_ten_times_as_long_fails_and_one_alike_passes() {
    let home = Home::with_builds(["0.1", "1"]);
    home.write("commands", "# the program\nsh {}/prog\n");
    let line = format!("{CI} -r 12 --fail-above 100% --commands commands");
    let slow =
        home.run(format!("{line} -o page.html --markdown said.md --out-dir runs")).ended_with(1);
    has(&slow.out, ["SLOWER", "REGRESSION above 100 % in 1 of", "`sh {}/prog` (wall time)"]);
    has(
        &home.read_file("said.md"),
        [
            "### latlas: +",
            "in `sh {}/prog` (",
            "REGRESSION above 100 %",
            "**SLOWER**",
            "12 runs of each",
        ],
    );
    let page = home.read_file("page.html");
    has(
        &page,
        ["<h1>latlas: +", "REGRESSION above 100 %", "<svg", "sh {}/prog (wall time)", "SLOWER"],
    );
    assert!(home.path("runs/1.json.zst").is_file());
    assert_eq!(home.kept_documents(), 1);

    home.write("head/prog", "sleep 0.1\n");
    let same = home.run(format!("{line} --document")).ended_with(0).json();
    assert_eq!(same["rows"][0]["answer"], "not_slower", "{same}");
}

#[test]
fn a_shell_gets_the_directory_as_one_word() {
    let home = Home::new();
    for directory in ["old build", "new build"] {
        std::fs::create_dir(home.path(directory)).expect("a directory");
        home.write(&format!("{directory}/prog"), "exit 0\n");
    }
    let words = ["ci", "--base", "old build", "--head", "new build", "-r", "6", "--shell"];
    let line: Vec<&str> = words.into_iter().chain(["sh {}/prog | cat", "--json"]).collect();
    let done = home.run(line);
    let wall = json(done.out.lines().next().expect("a row"));
    assert_eq!((&wall["row"], &wall["rounds"]), (&"wall".into(), &6.into()), "{}", done.out);
    assert_eq!(wall["command"], "sh {}/prog | cat");
}

#[test]
fn documents_that_cannot_be_written_are_refused_before_anything_is_measured() {
    let home = Home::with_builds(["0", "0"]);
    std::fs::create_dir_all(home.path("runs/2.json.zst")).expect("a directory");
    let line = format!(r#"{CI} -r 6 --out-dir runs "sh {{}}/prog" "sh {{}}/prog 2""#);
    home.run(line).refused("runs/2.json.zst");
    assert_eq!(home.kept_documents(), 0);
    assert!(!home.path("runs/1.json.zst").exists());
}

#[test]
fn a_file_of_commands_may_begin_with_a_byte_order_mark() {
    let home = Home::with_builds(["0", "0"]);
    home.write("commands", "\u{feff}sh {}/prog\n");
    let done = home.run(format!("{CI} -r 6 --commands commands --markdown -"));
    let page = &done.measured().out;
    assert!(page.starts_with("### latlas: "), "{page}");
    has(page, ["`sh {}/prog`", "base `base`, head `head`; 6 runs of each"]);
    assert!(!home.path("-").exists());
}

/// What criterion writes of a benchmark: 20 samples of a hundred iterations, each of which takes about this long.
fn criterion_results(home: &Home, build: &str, benchmarks: [(&str, f64); 2]) {
    for (name, ns) in benchmarks {
        let directory = format!("{build}/target/criterion/{name}/new");
        std::fs::create_dir_all(home.path(&directory)).expect("a directory");
        // Within 1 %, in no order.
        let times = (0..20).map(|k| 100.0 * ns * (1.0 + 0.001 * f64::from(k * 7 % 10)));
        let sample = serde_json::json!({
            "sampling_mode": "Flat", "iters": vec![100.0; 20], "times": times.collect::<Vec<_>>(),
        });
        let id = serde_json::json!({"group_id": name, "function_id": null, "title": name});
        for (file, content) in [("sample", sample), ("benchmark", id)] {
            home.write(&format!("{directory}/{file}.json"), content.to_string());
        }
    }
}

#[test]
fn results_of_criterion_are_judged_without_a_run() {
    let home = Home::with_builds(["0", "0"]);
    home.run(format!("{CI} --criterion")).refused("no results of criterion");
    assert_eq!(home.kept_documents(), 0);

    criterion_results(&home, "base", [("sort", 2000.0), ("parse", 80.0)]);
    criterion_results(&home, "head", [("sort", 3000.0), ("parse", 80.0)]);
    let line = format!("{CI} --criterion --fail-above 10%");
    let slower = home.run(format!("{line} --markdown said.md")).ended_with(1);
    has(&slower.out, ["sort", "parse"]);
    has(
        &home.read_file("said.md"),
        [
            "### latlas: REGRESSION above 10 % in 1 of 2 rows",
            "base `base`, head `head`; results of criterion",
        ],
    );
    assert_eq!(home.kept_documents(), 2);
    let rows = home.run(format!("{line} --json")).ended_with(1).out;
    assert_eq!(
        rows.lines().map(|row| json(row)["id"].clone()).collect::<Vec<_>>(),
        ["criterion.parse", "criterion.sort"]
    );

    criterion_results(&home, "head", [("sort", 2000.0), ("parse", 80.0)]);
    // One run of each does not show that they are the same within 5 %.
    let equal = home.run(format!("{line} --document --markdown said.md")).ended_with(3).json();
    assert_eq!(equal["crossed"], serde_json::json!([]));
    has(
        &home.read_file("said.md"),
        ["### latlas: inconclusive", "no row significantly more than 10 % slower"],
    );
    // Folders of results, too.
    let folders = "ci --criterion --base base/target/criterion --head head/target/criterion";
    has(&home.run(folders).ended_with(3).out, ["no row significantly more than 5 % slower"]);
}
