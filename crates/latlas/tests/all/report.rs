//! `latlas report`: what it writes, and what it leaves alone.

use crate::support::{Done, Home, entries, has, lacks, made_up_id, synthetic};
use std::process::Command;

/// Files in the working directory that begin with this, in order.
fn files(home: &Home, prefix: &str) -> Vec<String> {
    let name = |path: std::path::PathBuf| path.file_name()?.to_str().map(str::to_owned);
    let names = entries(&home.path("")).into_iter().filter_map(name);
    names.filter(|name| name.starts_with(prefix)).collect()
}

fn is_page(text: &str) {
    assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"));
    // No link to what is not there.
    lacks(text, [".run.json"]);
}

#[test]
fn a_page_and_its_document() {
    let home = Home::with(&[1]);
    let report = home.json("report --json");
    let files_now = || files(&home, "latlas-report.");
    let [document, page] = &files_now()[..] else {
        panic!("{:?}", files_now());
    };
    assert!(document.ends_with(".run.json.zst"), "{document}");
    let text = home.read_file(page);
    has(&text, [&format!("href=\"./{document}\"")]);
    assert_eq!(report["bytes"], text.len());
    assert_eq!(report["documents"].as_array().map(Vec::len), Some(1));
    assert!(report["left_out"].as_array().is_some_and(|all| !all.is_empty()), "{report}");
    // The document is the kept one, byte for byte.
    let kept = entries(&home.path("data/runs"));
    let bytes = |path| std::fs::read(path).expect("readable");
    assert!(kept.iter().any(|kept| bytes(kept.clone()) == bytes(home.path(document))));
    // A second time both are there already, and are ours.
    home.run("report").ok();
    assert_eq!(files_now().len(), 2);
}

#[test]
fn links_to_a_page_have_a_picture() {
    let home = Home::with(&[1]);
    let refused = home.run("report --url example.org").ended_with(2);
    has(&refused.err, ["https://"]);
    home.run("report --no-documents --url https://example.org/a/b.html").ok();
    let text = home.read_file("latlas-report.html");
    has(
        &text,
        [
            "property=\"og:url\" content=\"https://example.org/a/b.html\"",
            "property=\"og:image\" content=\"https://example.org/a/latlas-report.png\"",
            "property=\"og:description\" content=\"",
        ],
    );
    let picture = std::fs::read(home.path("latlas-report.png")).expect("the picture");
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 10_000);
    assert_eq!(size(&picture), [1200, 630]);
    // Again, as it is this report's; but no other file of that name.
    home.run("report --no-documents --url https://example.org/").ok();
    home.write("x.png", "mine");
    let done = home.run("report -o x.html --no-documents --url https://example.org/");
    done.refused("x.png");
    assert_eq!(home.read_file("x.png"), "mine");
    assert!(!home.path("x.html").exists());
}

/// Width and height as a PNG says.
fn size(picture: &[u8]) -> [u32; 2] {
    [16, 20].map(|at| u32::from_be_bytes(picture[at..at + 4].try_into().expect("four bytes")))
}

#[test]
fn a_page_to_share_names_nobody() {
    let home = Home::new();
    let mut run = synthetic();
    run["machine"]["hostname"] = serde_json::json!({ "value": "anna-laptop" });
    run["rows"][0]["notes"] = serde_json::json!(["file: /home/anna/x at 192.168.7.9"]);
    home.write("run.json", run.to_string());
    let done =
        home.run("report --share run.json -o page.html --url https://example.org/page.html").ok();
    has(&done.err, ["omitted: the name of the host", "omitted: notes of rows"]);
    let page = home.read_file("page.html");
    assert!(page.len() <= 500_000, "{} bytes", page.len());
    has(&page, ["The exchange rate", "https://example.org/page.png", "summary_large_image"]);
    lacks(&page, ["anna", "192.168", "/home", ".run.json"]);
    assert_eq!(files(&home, "page."), ["page.html", "page.png"]);
    assert_eq!(size(&std::fs::read(home.path("page.png")).expect("the picture")), [1200, 630]);
    has(&home.run("report --share run.json run.json").ended_with(2).err, ["twice"]);
}

#[test]
fn a_file_that_is_no_report_is_not_overwritten() {
    let home = Home::with(&[1]);
    home.write("mine.html", "<title>my letters</title>");
    let done = home.run("report -o mine.html");
    done.refused("mine.html");
    has(&done.err, ["--force"]);
    assert_eq!(home.read_file("mine.html"), "<title>my letters</title>");
    assert_eq!(files(&home, "mine."), ["mine.html"]);
    home.run("report -o mine.html --force").ok();
    has(&home.read_file("mine.html"), ["latlas report"]);
    // A document of that name that is another one.
    let document = files(&home, "mine.").remove(0);
    home.write(&document, "something else");
    home.run("report -o mine.html").refused(&document);
    assert_eq!(home.read_file(&document), "something else");
}

#[test]
fn on_standard_output_and_on_a_pipe_there_are_no_documents() {
    let home = Home::with(&[1]);
    let page = home.out("report -o -");
    is_page(&page);
    home.run("report -o p.html --no-documents").ok();
    assert_eq!(files(&home, "p."), ["p.html"]);
    assert_eq!(page, home.read_file("p.html"), "the same page");
    home.run("report -o - --json").ended_with(2);
    let made = Command::new("mkfifo").arg(home.path("pipe")).status();
    assert!(made.expect("mkfifo").success());
    let pipe = home.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).expect("readable"));
    home.run("report -o pipe").ok();
    is_page(&reader.join().expect("the reader"));
    assert_eq!(files(&home, "pipe"), ["pipe"]);
}

#[test]
fn two_runs_are_compared() {
    let home = Home::with(&[1, 2]);
    home.run("report last last~1 -o two.html").ok();
    has(&home.read_file("two.html"), ["id=\"comparison\"", "<th scope=\"col\">finding<"]);
    assert_eq!(files(&home, "two.").len(), 3, "a page and two documents");
    insta::assert_snapshot!(home.refusals(
        "report last last
         report last~7
         report nonesuch
         report -o absent/page.html
         report -o data"
    ));
}

#[test]
fn a_measured_run_is_reported() {
    let home = Home::new();
    let line = "run --quick --budget 2s cpu.add_i32 cpu.mul_i32 --seed 1";
    Done::from_command(&mut home.command(line)).measured();
    is_page(&home.out("report -o -"));
}

#[test]
fn rows_over_time_once_there_are_three_runs() {
    let home = Home::with(&[1, 2]);
    let page = || home.out("report -o -");
    let chart = "data-chart=\"history.memory.latency-L1\"";
    lacks(&page(), [chart]);
    let mut third = synthetic();
    third["id"] = made_up_id(3).into();
    let rows = third["rows"].as_array_mut().expect("rows");
    let row = rows.iter().find(|row| row["id"] == "memory.latency/L1");
    let mut once = row.expect("the row").clone();
    once["id"] = "call.syscall".into();
    rows.push(once);
    home.keep(3, &third);
    let page = page();
    has(&page, [chart, "id=\"history\""]);
    // One run has it.
    lacks(&page, ["data-chart=\"history.call.syscall\""]);
    home.run("plot history:memory.latency/L1").ok();
    has(&home.read_file("history.memory.latency-L1.svg"), ["over time"]);
    home.run("plot history:memory.latncy/L1").refused("memory.latency/L1");
}
