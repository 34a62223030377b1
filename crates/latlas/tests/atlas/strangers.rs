//! Documents that strangers made, and paths that are no files.

use crate::home::{Home, id};
use crate::json;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const EVIL: &str = "=1+1\u{1b}]0;owned\u{7}\u{1b}[2J\nrow: forged\u{202e}\u{9b}31m";

/// Whether a terminal would show all of a text as it is.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| {
        c == '\n'
            || !(c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{e000}'..='\u{f8ff}'))
    })
}

#[test]
fn nothing_of_a_document_drives_a_terminal_or_forges_a_line() {
    let home = Home::new();
    let mut run = home.template();
    run["id"] = id(1).into();
    run["program"]["name"] = EVIL.into();
    run["machine"]["hostname"] = serde_json::json!({"value": EVIL});
    run["conditions"]["remarks"] = serde_json::json!([EVIL]);
    run["partial"] = EVIL.into();
    for row in run["rows"].as_array_mut().expect("rows") {
        row["notes"] = serde_json::json!([EVIL]);
    }
    std::fs::write(home.path("evil.json"), run.to_string()).expect("written");
    for arguments in [
        &["show", "evil.json"][..],
        &["show", "--wide", "evil.json"],
        &["export", "--format", "csv", "evil.json"],
        &["export", "--format", "markdown", "evil.json"],
        &["export", "--format", "jsonl", "evil.json"],
        &["export", "--format", "google-benchmark", "evil.json"],
        &["table", "ash", "evil.json"],
        &["compare", "evil.json", "evil.json"],
    ] {
        let done = home.run(arguments);
        let out = done.out.replace("\r\n", "\n");
        assert!(
            is_plain(&out) && is_plain(&done.err),
            "{arguments:?}\n{out}{}",
            done.err
        );
        let forged = out
            .lines()
            .find(|line| line.trim_start().starts_with("row: forged"));
        assert_eq!(forged, None, "{arguments:?}");
    }
    // For programs every character stays, as an escape.
    let shown = home.run(&["show", "--json", "evil.json"]);
    assert!(is_plain(&shown.out), "{}", shown.out);
    assert_eq!(json(&shown.out)["partial"], EVIL);
}

#[test]
fn pipes_and_devices_are_refused_in_time() {
    let home = Home::new();
    let made = Command::new("mkfifo").arg(home.path("pipe")).status();
    assert!(made.expect("mkfifo runs").success());
    let commands = [
        &["show", "PATH"][..],
        &["export", "--format", "csv", "PATH"],
        &["report", "PATH", "-o", "page.html"],
        &["import", "PATH"],
        &["machine", "--config", "PATH"],
        &["config", "show", "--config", "PATH"],
        &["serve", "--listen", "127.0.0.1:0", "--token-file", "PATH"],
    ];
    let began = Instant::now();
    std::thread::scope(|scope| {
        for path in ["pipe", "/dev/zero"] {
            for command in commands {
                let words = command
                    .iter()
                    .map(|word| if *word == "PATH" { path } else { word });
                let words: Vec<&str> = words.collect();
                let home = &home;
                scope.spawn(move || {
                    let done = home.run(&words);
                    assert_eq!(
                        (done.code, done.out.as_str()),
                        (2, ""),
                        "{words:?}: {}",
                        done.err
                    );
                    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
                    let why = match path {
                        "pipe" => "nothing came through this pipe",
                        _ => "it is a device",
                    };
                    assert!(done.err.contains(why), "{words:?}: {}", done.err);
                });
            }
        }
    });
    // It ends at all; a busy machine takes what it takes.
    assert!(began.elapsed() < Duration::from_secs(300));
}

#[test]
fn a_pipe_among_the_kept_runs_is_not_waited_for() {
    let home = Home::with(&[1]);
    let name = format!("20260101T000000.000Z-{}.json.zst", id(2));
    let made = Command::new("mkfifo")
        .arg(home.path("data/runs").join(name))
        .status();
    assert!(made.expect("mkfifo runs").success());
    let listed = home.run(&["atlas", "list", "--json"]);
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert_eq!(json(&listed.out).as_array().map(Vec::len), Some(1));
    assert!(
        listed.err.contains("1 document can't be read"),
        "{}",
        listed.err
    );
}

/// What latlas makes of the first run's document on a pipe.
fn piped(home: &Home, arguments: &str) -> Output {
    let latlas = assert_cmd::cargo::cargo_bin("latlas");
    let line = format!("cat run-1.json | {} {arguments}", latlas.display());
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(home.path(""))
        .env("LATLAS_DATA_DIR", home.path("data"))
        .output();
    output.expect("sh runs")
}

#[test]
fn what_a_shell_pipes_in_is_read() {
    let home = Home::with(&[1]);
    let shown = piped(&home, "show --json /dev/stdin");
    let err = String::from_utf8_lossy(&shown.stderr);
    assert!(shown.status.success(), "{err}");
    assert_eq!(json(&String::from_utf8_lossy(&shown.stdout))["id"], id(1));
}

#[test]
fn a_report_of_a_pipe_reads_it_once_and_writes_its_document() {
    let home = Home::with(&[1]);
    let shown = piped(&home, "report -o page.html /dev/stdin");
    let err = String::from_utf8_lossy(&shown.stderr);
    assert!(shown.status.success(), "{err}");
    let written = home.path(&format!("page.{}.run.json", &id(1)[..8]));
    let read = |path| std::fs::read(path).expect("a document");
    assert!(read(written) == read(home.path("run-1.json")));
}

#[test]
fn the_reading_of_many_documents_is_said() {
    let home = Home::new();
    let text = home.template().to_string();
    let old = home.template()["id"].as_str().expect("an id").to_owned();
    std::fs::create_dir_all(home.path("data/runs")).expect("made");
    for n in 0..210 {
        let name = format!("20200101T000000.{n:03}Z-{}.json.zst", id(n));
        let run = text.replace(&old, &id(n));
        std::fs::write(home.path("data/runs").join(name), run).expect("written");
    }
    let listed = home.run(&["atlas", "list", "--limit", "1"]);
    assert_eq!(listed.code, 0, "{}", listed.err);
    let lines: Vec<&str> = listed.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", listed.err);
    assert!(lines[0].contains("reading 210 documents"), "{}", listed.err);
    assert!(
        lines[1].contains("read 210 documents in ") && lines[1].contains(" per second"),
        "{lines:?}"
    );
    assert_eq!(
        home.run(&["atlas", "list", "--limit", "1"]).err,
        "",
        "the second time there is nothing new"
    );
}
