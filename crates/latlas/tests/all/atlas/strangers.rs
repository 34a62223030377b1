//! Documents that strangers made, and paths that are no files.

use crate::support::{Done, Home, PROGRAM, SYNTHETIC_ID, has, json, made_up_id, synthetic};
use std::process::Command;

const EVIL: &str = "=1+1\u{1b}]0;owned\u{7}\u{1b}[2J\nrow: forged\u{202e}\u{9b}31m";

/// Whether a terminal would show all of a text as it is.
pub(super) fn is_plain(text: &str) -> bool {
    let invisible = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{e000}'..='\u{f8ff}');
    text.chars().all(|c| c == '\n' || !(c.is_control() || invisible(c)))
}

#[test]
fn nothing_of_a_document_drives_a_terminal_or_forges_a_line() {
    let home = Home::new();
    let mut run = synthetic();
    run["id"] = made_up_id(1).into();
    run["program"]["name"] = EVIL.into();
    run["machine"]["hostname"] = serde_json::json!({"value": EVIL});
    run["conditions"]["remarks"] = serde_json::json!([EVIL]);
    run["partial"] = EVIL.into();
    for row in run["rows"].as_array_mut().expect("rows") {
        row["notes"] = serde_json::json!([EVIL]);
    }
    home.write("evil.json", run.to_string());
    home.keep(1, &run);
    for line in [
        "show evil.json",
        "show --wide evil.json",
        "export --format csv evil.json",
        "export --format markdown evil.json",
        "export --format jsonl evil.json",
        "export --format google-benchmark evil.json",
        "table ash evil.json",
        "compare evil.json evil.json",
        "history cpu.add_i32 --machine nowhere",
    ] {
        let done = home.run(line);
        let out = done.out.replace("\r\n", "\n");
        assert!(is_plain(&out) && is_plain(&done.err), "{line}\n{out}{}", done.err);
        let mut lines = out.lines();
        let forged = lines.find(|line| line.trim_start().starts_with("row: forged"));
        assert_eq!(forged, None, "{line}");
    }
    // For programs every character stays, as an escape.
    let shown = home.run("show --document evil.json");
    assert!(is_plain(&shown.out), "{}", shown.out);
    assert_eq!(shown.json()["partial"], EVIL);
}

/// A named pipe without a writer.
fn pipe(home: &Home, name: &str) {
    let made = Command::new("mkfifo").arg(home.path(name)).status();
    assert!(made.expect("mkfifo runs").success());
}

#[test]
fn pipes_and_devices_are_refused() {
    let home = Home::new();
    pipe(&home, "pipe");
    std::thread::scope(|scope| {
        for (path, why) in
            [("pipe", "nothing came through this pipe"), ("/dev/zero", "is a device")]
        {
            for command in [
                "show PATH",
                "export --format csv PATH",
                "report PATH -o page.html",
                "import PATH",
                "machine --config PATH",
                "config show --config PATH",
            ] {
                let home = &home;
                scope.spawn(move || home.run(command.replace("PATH", path)).refused(why));
            }
        }
    });
}

#[test]
fn a_pipe_among_the_kept_runs_is_not_waited_for() {
    let home = Home::with(&[1]);
    pipe(&home, &format!("data/runs/20260101T000000.000Z-{}.json.zst", made_up_id(2)));
    let listed = home.run("atlas list --json").ok();
    assert_eq!(listed.json().as_array().map(Vec::len), Some(1));
    has(&listed.err, ["1 document can't be read"]);
}

#[test]
fn a_document_on_a_pipe_is_read_once() {
    let home = Home::with(&[1]);
    let piped = |line: &str| {
        let line = format!("cat run-1.json | {PROGRAM} {line}");
        Done::from_command(&mut home.launch(["sh", "-c", &line])).ok()
    };
    assert_eq!(piped("show --document /dev/stdin").json()["id"], made_up_id(1));
    piped("report -o page.html /dev/stdin");
    let written = home.read_file(&format!("page.{}.run.json", &made_up_id(1)[..8]));
    assert!(written == home.read_file("run-1.json"));
}

#[test]
fn reading_many_documents_is_announced() {
    let home = Home::new();
    let text = synthetic().to_string();
    for n in 0..210 {
        let name = format!("data/runs/20200101T000000.{n:03}Z-{}.json.zst", made_up_id(n));
        home.write(&name, text.replace(SYNTHETIC_ID, &made_up_id(n)));
    }
    let listed = home.run("atlas list --limit 1").ok();
    let lines: Vec<&str> = listed.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", listed.err);
    has(lines[0], ["reading 210 documents"]);
    has(lines[1], ["read 210 documents in ", " per second"]);
    assert_eq!(
        json(&home.run("atlas list --limit 1 --json").silent().out).as_array().map(Vec::len),
        Some(1)
    );
}
