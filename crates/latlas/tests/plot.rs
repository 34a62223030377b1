//! `latlas plot` as a user runs it.

use assert_cmd::Command;
use std::path::PathBuf;
use tempfile::TempDir;

const SYNTHETIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/synthetic.json");

struct Home(TempDir);

struct Done {
    code: i32,
    out: Vec<u8>,
    err: String,
}

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().expect("tempdir"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn plot(&self, arguments: &[&str]) -> Done {
        let output = Command::cargo_bin("latlas")
            .expect("the binary")
            .arg("plot")
            .args(arguments)
            .current_dir(self.0.path())
            .env("LATLAS_DATA_DIR", self.path("data"))
            .output()
            .expect("it runs");
        Done {
            code: output.status.code().expect("an exit code"),
            out: output.stdout,
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    fn files(&self) -> Vec<String> {
        let all = std::fs::read_dir(self.0.path()).expect("a directory");
        let names = all.map(|file| file.expect("a file").file_name().into_string());
        let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
        names.sort();
        names
    }
}

impl Done {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("UTF-8")
    }

    fn done(&self) {
        assert_eq!(self.code, 0, "{}", self.err);
    }

    fn refused(&self, why: &str) {
        assert_eq!((self.code, self.text()), (2, ""), "{}", self.err);
        assert_eq!(self.err.trim_end().lines().count(), 1, "{}", self.err);
        assert!(self.err.contains(why), "{why} not in {}", self.err);
    }
}

#[test]
fn a_picture_goes_where_it_is_sent() {
    let home = Home::new();
    let done = home.plot(&["memory.latency", SYNTHETIC]);
    done.done();
    assert_eq!(done.text(), "");
    assert_eq!(home.files(), ["memory.latency.svg"]);
    assert!(done.err.contains("memory.latency.svg"), "{}", done.err);
    let own = std::fs::read_to_string(home.path("memory.latency.svg")).expect("the picture");
    // Which machine it is of stands on it.
    assert!(
        own.starts_with("<svg ") && own.contains("AMD EPYC 7B13"),
        "{own}"
    );

    let done = home.plot(&["memory.latency", SYNTHETIC, "-o", "-"]);
    done.done();
    assert_eq!(done.text(), own);
    assert_eq!(done.err, "");

    let done = home.plot(&[
        "memory.latency",
        SYNTHETIC,
        "--out",
        "a.PNG",
        "--theme",
        "dark",
        "--width",
        "500",
        "--height",
        "400",
        "--scale",
        "2",
    ]);
    done.done();
    let png = std::fs::read(home.path("a.PNG")).expect("the picture");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((size(16), size(20)), (1000, 800));
    assert_eq!(home.files(), ["a.PNG", "memory.latency.svg"]);

    let done = home.plot(&["memory.latency", SYNTHETIC, "-o", "-", "--format", "png"]);
    done.done();
    assert!(done.out.starts_with(b"\x89PNG"));
}

#[test]
fn the_figures_of_a_picture_are_those_of_the_document() {
    let home = Home::new();
    let done = home.plot(&["memory.latency/L2", SYNTHETIC, "--json"]);
    done.done();
    let picture: serde_json::Value = serde_json::from_str(done.text()).expect("JSON");
    let document = std::fs::read_to_string(SYNTHETIC).expect("the run");
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["id"] == "memory.latency/L2");
    let ns = &row.expect("the row")["outcome"]["level"]["estimate"]["quiet"]["ns"];
    let dot = &picture["body"]["rows"][0];
    assert!(ns["value"].is_f64());
    for (name, of) in [("value", "value"), ("low", "low"), ("high", "high")] {
        assert_eq!(dot[name], ns[of], "{picture}");
    }
}

#[test]
fn other_runs_and_tables_stand_beside() {
    let home = Home::new();
    let names = |arguments: &[&str]| -> String {
        let mut all = vec!["ladder", SYNTHETIC, "--json"];
        all.extend(arguments);
        let done = home.plot(&all);
        done.done();
        done.text().to_owned()
    };
    let all = names(&[]);
    assert!(all.contains("iphone-6s") && all.contains("latency-numbers-2012"));
    let one = names(&["--vs", "2012", "--rows", "memory.*"]);
    assert!(!one.contains("iphone-6s") && one.contains("latency-numbers-2012"));
    assert!(one.contains("memory.latency/L1") && !one.contains("cpu.add_i32"));
    let run = names(&["--vs", SYNTHETIC]);
    assert!(run.contains("example 2026-11-21"), "{run}");
    home.plot(&["comparison", SYNTHETIC, "--vs", SYNTHETIC, "-o", "c.svg"])
        .done();
    home.plot(&["ladder", SYNTHETIC, "--vs", "nothing"])
        .refused("nothing");
}

#[test]
fn what_can_not_be_drawn_is_refused_and_leaves_nothing() {
    let home = Home::new();
    home.plot(&["memory.latenzy", SYNTHETIC])
        .refused("did you mean memory.latency");
    home.plot(&["memory.latency", "no.run"]).refused("no.run");
    home.plot(&["memory.latency"]).refused("no run is kept");
    home.plot(&["memory.latency", SYNTHETIC, "-o", "a.jpg"])
        .refused(".svg or a .png");
    home.plot(&["memory.latency", SYNTHETIC, "-o", "no/where/a.svg"])
        .refused("no/where/a.svg");
    home.plot(&["memory.loaded_latency", SYNTHETIC])
        .refused("not measured in this run");
    home.plot(&["ladder", SYNTHETIC, "--rows", "cpu.nothing"])
        .refused("cpu.nothing");
    home.plot(&["memory.latency", SYNTHETIC, "--rows", "cpu.*"])
        .refused("no row");
    let huge = ["-o", "a.png", "--width", "10000", "--scale", "10"];
    home.plot(&[&["memory.latency", SYNTHETIC], &huge[..]].concat())
        .refused("pixels can't be drawn");
    assert_eq!(home.files(), [] as [&str; 0]);
    for wrong in [["--width", "10"], ["--scale", "0"], ["--theme", "pink"]] {
        let done = home.plot(&["memory.latency", SYNTHETIC, wrong[0], wrong[1]]);
        assert_eq!(done.code, 2, "{wrong:?}");
    }
}

#[test]
fn the_list_names_pictures_and_reasons() {
    let home = Home::new();
    let done = home.plot(&["--list", SYNTHETIC]);
    done.done();
    let line = |id: &str| {
        let mut lines = done.text().lines();
        lines
            .find(|line| line.split_whitespace().next() == Some(id))
            .unwrap_or_else(|| panic!("no {id} in {}", done.text()))
    };
    assert!(line("memory.latency").ends_with("Memory latency over working set"));
    assert!(line("memory.loaded_latency").contains("not measured in this run"));
    let done = home.plot(&["--list", SYNTHETIC, "--json"]);
    done.done();
    let list: serde_json::Value = serde_json::from_str(done.text()).expect("JSON");
    let ids: Vec<&str> = list["pictures"]
        .as_array()
        .expect("pictures")
        .iter()
        .filter_map(|picture| picture["id"].as_str())
        .collect();
    assert!(ids.contains(&"sched.wakeup"), "{ids:?}");
    // Each that is named can be drawn.
    for id in ids {
        home.plot(&[id, SYNTHETIC, "-o", "-"]).done();
    }
}

#[test]
fn a_run_beside_a_picture_is_drawn_or_refused() {
    let home = Home::new();
    let beside = |what: &str| home.plot(&[what, SYNTHETIC, "--vs", SYNTHETIC, "-o", "-"]);
    // A curve and the ladder, also that of one row, show the other run.
    for what in [
        "memory.latency",
        "ladder",
        "thread.create_join",
        "comparison",
    ] {
        beside(what).done();
    }
    // The samples of one row, a map and a history show one run.
    beside("sched.pool.single").refused("shows nothing of --vs");
    // A published table that the picture has of itself, too; each --vs counts.
    let two = |more: &str| {
        let vs = ["--vs", SYNTHETIC, "--vs", more, "-o", "-"];
        home.plot(&[&["memory.latency", SYNTHETIC], &vs[..]].concat())
    };
    let table = [
        "memory.read_sequential_1MB",
        SYNTHETIC,
        "--vs",
        "2012",
        "-o",
        "-",
    ];
    home.plot(&table).done();
    two("iphone-6s").refused("shows nothing of --vs iphone-6s");
    beside("history:memory.latency/DRAM").refused("no place for --vs");
    assert_eq!(home.files(), [""; 0]);
}
