//! `latlas report` on the real binary: what it writes, and what it leaves alone.

#[path = "atlas/home.rs"]
#[allow(dead_code, reason = "the tests of the atlas need more of it")]
mod home;

use assert_cmd::Command;
use home::Home;
use std::path::Path;
use tempfile::TempDir;

/// A kept run of a few rows, and a directory for pages.
struct Trial {
    dir: TempDir,
}

impl Trial {
    fn new() -> Trial {
        let trial = Trial {
            dir: tempfile::tempdir().expect("tempdir"),
        };
        trial.keep(&["cpu.add_i32", "cpu.mul_i32", "--seed", "1"]);
        trial
    }

    /// A run of these rows, quiet or not: 3 says that the machine was busy.
    fn keep(&self, rows: &[&str]) {
        let mut arguments = vec!["run", "--quick", "--budget", "2s"];
        arguments.extend(rows);
        let done = self.latlas(&arguments).output().expect("it runs");
        assert!(
            matches!(done.status.code(), Some(0 | 3)),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    fn latlas(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("latlas").expect("binary");
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env("LATLAS_DATA_DIR", self.dir.path().join("data"))
            .env("XDG_CACHE_HOME", self.dir.path().join("cache"));
        command
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    /// Files in the working directory that begin so, in order.
    fn files(&self, prefix: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).expect("directory");
        let names = entries.map(|e| e.expect("entry").file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
        names.sort();
        names
    }

    /// One line on stderr, exit code 2.
    fn refused(&self, arguments: &[&str]) -> String {
        let assert = self.latlas(arguments).assert().code(2);
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert_eq!(told.lines().count(), 1, "{told}");
        told
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn a_page_and_the_document_beside_it() {
    let trial = Trial::new();
    trial.latlas(&["report"]).assert().success();
    let files = trial.files("latlas-report.");
    assert_eq!(files.len(), 2, "{files:?}");
    let (document, page) = (&files[0], text(&trial.path("latlas-report.html")));
    assert!(document.ends_with(".run.json.zst"), "{document}");
    assert!(
        page.contains(&format!("href=\"./{document}\"")),
        "the page leads to it"
    );
    // The document is the kept one, byte for byte.
    let kept = std::fs::read_dir(trial.path("data/runs")).expect("store");
    let kept = kept.map(|e| e.expect("entry").path());
    let kept = kept
        .filter(|p| p.to_string_lossy().ends_with(".json.zst"))
        .last()
        .expect("a run");
    let bytes = |path: &Path| std::fs::read(path).expect("readable");
    assert!(bytes(&kept) == bytes(&trial.path(document)));
    // A second time both are there already, and are ours.
    trial.latlas(&["report"]).assert().success();
    assert_eq!(trial.files("latlas-report.").len(), 2);
}

#[test]
fn what_is_no_report_stays() {
    let trial = Trial::new();
    let mine = trial.path("mine.html");
    std::fs::write(&mine, "<title>my letters</title>").expect("file");
    let told = trial.refused(&["report", "-o", "mine.html"]);
    assert!(
        told.contains("mine.html") && told.contains("--force"),
        "{told}"
    );
    assert_eq!(text(&mine), "<title>my letters</title>");
    assert_eq!(trial.files("mine.").len(), 1, "nothing beside it either");
    trial
        .latlas(&["report", "-o", "mine.html", "--force"])
        .assert()
        .success();
    assert!(text(&mine).contains("latlas report"));
    // A document of that name that is another one.
    let document = trial.files("mine.").remove(0);
    std::fs::write(trial.path(&document), "something else").expect("file");
    let told = trial.refused(&["report", "-o", "mine.html"]);
    assert!(told.contains(&document), "{told}");
    assert_eq!(text(&trial.path(&document)), "something else");
}

#[test]
fn on_standard_output_and_without_documents() {
    let trial = Trial::new();
    let assert = trial.latlas(&["report", "-o", "-"]).assert().success();
    let page = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    assert!(!page.contains(".run.json"), "no link to what is not there");
    trial
        .latlas(&["report", "-o", "p.html", "--no-documents"])
        .assert()
        .success();
    assert_eq!(trial.files("p."), ["p.html"]);
    assert_eq!(page, text(&trial.path("p.html")), "the same page");
    trial.refused(&["report", "-o", "-", "--json"]);
}

#[test]
fn what_was_written_as_json() {
    let trial = Trial::new();
    let assert = trial.latlas(&["report", "--json"]).assert().success();
    let told: serde_json::Value =
        serde_json::from_slice(&assert.get_output().stdout).expect("JSON");
    let page = std::fs::metadata(trial.path("latlas-report.html")).expect("page");
    assert_eq!(told["bytes"], page.len());
    assert_eq!(told["documents"].as_array().map(Vec::len), Some(1));
    assert!(
        told["left_out"]
            .as_array()
            .is_some_and(|all| !all.is_empty()),
        "{told}"
    );
}

#[test]
fn two_runs_and_one_twice() {
    let trial = Trial::new();
    trial.keep(&["cpu.add_i32", "--seed", "9"]);
    trial
        .latlas(&["report", "last", "last~1", "-o", "two.html"])
        .assert()
        .success();
    let page = text(&trial.path("two.html"));
    assert!(page.contains("id=\"comparison\"") && page.contains("data-finding="));
    assert_eq!(trial.files("two.").len(), 3, "a page and two documents");
    let told = trial.refused(&["report", "last", "last"]);
    assert!(told.contains("named before"), "{told}");
}

#[test]
fn a_pipe_gets_the_page_and_no_documents() {
    let trial = Trial::new();
    let pipe = trial.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).expect("readable")
    });
    trial
        .latlas(&["report", "-o", "pipe"])
        .timeout(std::time::Duration::from_secs(120))
        .assert()
        .success();
    let page = reader.join().expect("the reader");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    assert!(!page.contains(".run.json"), "no link to what is not there");
    assert_eq!(trial.files("pipe"), ["pipe"]);
}

/// Made-up runs: whether a real one has a quiet figure is up to the machine.
#[test]
fn rows_over_time_once_there_are_three_runs() {
    let home = Home::with(&[1, 2]);
    let page = || {
        let done = home.run(&["report", "-o", "t.html", "--no-documents"]);
        assert_eq!(done.code, 0, "{}", done.err);
        text(&home.path("t.html"))
    };
    let place = "data-chart=\"history.memory.latency-L1\"";
    assert!(!page().contains(place));
    let mut third = home.template();
    third["id"] = home::id(3).into();
    let rows = third["rows"].as_array_mut().expect("rows");
    let mut once = rows
        .iter()
        .find(|row| row["id"] == "memory.latency/L1")
        .cloned();
    let once = once.as_mut().expect("the row");
    once["id"] = "call.syscall".into();
    rows.push(once.clone());
    home.keep_by_hand(&third);
    let page = page();
    assert!(page.contains(place) && page.contains("id=\"history\""));
    assert!(
        !page.contains("data-chart=\"history.call.syscall\""),
        "one run has it"
    );
    let done = home.run(&["plot", "history:memory.latency/L1"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(text(&home.path("history.memory.latency-L1.svg")).contains("over time"));
    home.run(&["plot", "history:memory.latncy/L1"])
        .refused("memory.latency/L1");
}

#[test]
fn what_can_not_be_done_is_one_line() {
    let trial = Trial::new();
    for (arguments, words) in [
        (vec!["report", "nonesuch"], "nonesuch"),
        (vec!["report", "-o", "absent/page.html"], "absent"),
        (vec!["report", "-o", "data"], "is a directory"),
        (vec!["report", "last~7"], "too far"),
    ] {
        let told = trial.refused(&arguments);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
}
