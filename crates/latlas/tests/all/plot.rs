//! `latlas plot`.

use crate::support::{Home, SYNTHETIC, entries, has, json, lacks};

fn files(home: &Home) -> Vec<String> {
    let name = |path: std::path::PathBuf| path.file_name()?.to_str().map(str::to_owned);
    entries(&home.path("")).into_iter().filter_map(name).collect()
}

#[test]
fn a_picture_goes_where_it_is_sent() {
    let home = Home::new();
    let plot = |more: &str| home.run(format!("plot memory.latency {SYNTHETIC} {more}")).ok();
    let done = plot("");
    assert_eq!((&*done.out, files(&home)), ("", vec!["memory.latency.svg".to_owned()]));
    has(&done.err, ["memory.latency.svg"]);
    let own = home.read_file("memory.latency.svg");
    // Which machine it is of stands on it.
    assert!(own.starts_with("<svg ") && own.contains("AMD EPYC 7B13"), "{own}");
    let done = plot("-o -");
    assert_eq!((done.out, &*done.err), (own, ""));
    plot("--out a.PNG --theme dark --width 600 --height 500 --scale 2");
    let png = std::fs::read(home.path("a.PNG")).expect("the picture");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((size(16), size(20)), (1200, 1000));
    // On paper: 300 pixels an inch of 85 mm, and 11811 a metre, which the file says.
    plot("--out b.png --width 85mm --bare");
    let png = std::fs::read(home.path("b.png")).expect("the picture");
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    let density = png.windows(4).position(|chunk| chunk == b"pHYs");
    assert_eq!((size(16), density.map(|at| size(at + 4))), (1004, Some(11_811)));
    plot("--out c.pdf --width 85mm");
    let pdf = std::fs::read(home.path("c.pdf")).expect("the picture");
    assert!(pdf.starts_with(b"%PDF-"));
    let svg = plot("-o - --width 85mm --bare").out;
    has(&svg, ["width=\"240.94pt\""]);
    lacks(&svg, [">Memory latency over working set</text>", "AMD EPYC 7B13</text>"]);
    assert_eq!(files(&home), ["a.PNG", "b.png", "c.pdf", "memory.latency.svg"]);
    assert!(plot("-o - --format png").out.starts_with("\u{fffd}PNG"));
    let wrong = home.run(format!("plot memory.latency {SYNTHETIC} --format png -o z.svg"));
    let message =
        "latlas: can't write z.svg: --format png writes .png: change the name or the format\n";
    assert_eq!((wrong.code, &*wrong.err), (2, message));
    assert!(!home.path("z.svg").exists());
}

#[test]
fn the_figures_of_a_picture_are_those_of_the_document() {
    let picture = Home::new().json(format!("plot memory.latency/L2 {SYNTHETIC} --json"));
    let document = json(&std::fs::read_to_string(SYNTHETIC).expect("the run"));
    let mut rows = document["rows"].as_array().expect("rows").iter();
    let row = rows.find(|row| row["id"] == "memory.latency/L2");
    let ns = &row.expect("the row")["outcome"]["level"]["estimate"]["quiet"]["ns"];
    let dot = &picture["body"]["rows"][0];
    assert!(ns["value"].is_f64());
    for name in ["value", "low", "high"] {
        assert_eq!(dot[name], ns[name], "{picture}");
    }
}

#[test]
fn other_runs_and_tables_are_drawn_too() {
    let home = Home::new();
    let ladder = |more: &str| home.out(format!("plot ladder {SYNTHETIC} --json {more}"));
    has(&ladder(""), ["iphone-6s", "2012 list"]);
    let one = ladder("--vs 2012 --rows memory.*");
    has(&one, ["2012 list", "memory.latency/L1"]);
    lacks(&one, ["iphone-6s", "cpu.add_i32"]);
    has(&ladder(&format!("--vs {SYNTHETIC}")), ["example 2026-11-21"]);
    // A curve and the ladder, also that of one row, show the other run; the samples of
    // one row, a map and a history show one run and refuse (below).
    for what in ["memory.latency", "ladder", "thread.create_join", "comparison"] {
        home.run(format!("plot {what} {SYNTHETIC} --vs {SYNTHETIC} -o -")).ok();
    }
    home.run(format!("plot memory.read_sequential_1MB {SYNTHETIC} --vs 2012 -o -")).ok();
    assert_eq!(files(&home), [""; 0]);
}

#[test]
fn what_can_not_be_drawn_is_refused_and_leaves_nothing() {
    let home = Home::new();
    let run = SYNTHETIC;
    insta::assert_snapshot!(home.refusals(&format!(
        "plot memory.latenzy {run}
         plot memory.latency no.run
         plot memory.latency
         plot memory.latency {run} -o a.jpg
         plot memory.latency {run} -o no/where/a.svg
         plot memory.loaded_latency {run}
         plot ladder {run} --rows cpu.nothing
         plot memory.latency {run} --rows cpu.*
         plot memory.latency {run} -o a.png --width 10000 --scale 10
         plot memory.latency {run} --width 10
         plot memory.latency {run} --width 30mm
         plot memory.latency {run} --width 85miles
         plot memory.latency {run} --scale 2 --dpi 300
         plot memory.latency {run} --scale 0
         plot memory.latency {run} --theme pink
         plot ladder {run} --vs nothing
         plot ladder {run} --vs iphone-y
         plot sched.pool.single {run} --vs {run} -o -
         plot memory.latency {run} --vs {run} --vs iphone-6s -o -
         plot history:memory.latency/DRAM {run} --vs {run} -o -"
    )));
    assert_eq!(files(&home), [""; 0]);
}

#[test]
fn the_list_names_pictures_and_reasons() {
    let home = Home::new();
    let done = home.run(format!("plot --list {SYNTHETIC}")).ok();
    assert!(done.line_with("memory.latency").ends_with("Memory latency over working set"));
    has(done.line_with("memory.loaded_latency"), ["not measured in this run"]);
    let list = home.json(format!("plot --list {SYNTHETIC} --json"));
    let pictures = list["pictures"].as_array().expect("pictures").iter();
    let ids: Vec<&str> = pictures.filter_map(|picture| picture["id"].as_str()).collect();
    assert!(ids.contains(&"sched.wakeup"), "{ids:?}");
    for id in ids {
        home.run(format!("plot {id} {SYNTHETIC} -o -")).ok();
    }
}
