//! The page of a made-up run, as text; `tests/browser` looks at a real one.

use super::*;
use crate::chart::svg::inline;
use crate::chart::{Body, Chart, pictures, tables};
use crate::render::ProbeText;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use compare::references::{ComparisonRule, References};
use model::estimate::Verdict;
use model::run::{Bound, Outcome, Regime, Run, Scale};
use model::synthetic;
use model::unit::Unit;

use sha2::{Digest, Sha256};
use store::Store;
use store::index::Index;

/// The page of a run, with a probe and a document that are called so.
fn page_of(run: &Run, called: &str) -> String {
    let probe = ProbeText {
        id: run.rows[0].id.clone(),
        rows: vec![run.rows[0].id.clone()],
        title: called.into(),
        operation: called.into(),
        method: called.into(),
        source: called.into(),
        unit: Unit::Time,
        bound: Bound::Core,
        regime: Regime::Gated,
        long_from: None,
        by_shared_part: false,
        since: Scale::Quick,
        axes: Vec::new(),
        levels: false,
        points: Vec::new(),
    };
    page_with(run, called, &[probe])
}

fn page_with(run: &Run, called: &str, probes: &[ProbeText]) -> String {
    let references = References::embedded().expect("references");
    let (drawn, left_out) = pictures(run, &references, &[]);
    report_html(&Content {
        shown: TitledRun { name: called, run },
        others: &[],
        references: &references,
        probes,
        pictures: &drawn,
        left_out: &left_out,
        comparisons: &[],
        offered: &[Offered { file: called.into(), what: called.into(), bytes: 7 }],
        link: None,
        all_runs: None,
    })
}

/// What stands in an element of a page, found by its opening tag.
fn inside<'p>(page: &'p str, tag: &str, end: &str) -> &'p str {
    let from = page.find(tag).unwrap_or_else(|| panic!("no {tag}")) + tag.len();
    let to = page[from..].find(end).expect("its end");
    &page[from..from + to]
}

/// A run whose rows the catalogue does not know has no methods, as one of commands or of a suite.
#[test]
fn links_lead_to_parts_that_are_there() {
    let run = synthetic::run();
    for (page, has_methods) in [(page_of(&run, "x"), true), (page_with(&run, "x", &[]), false)] {
        let bar = inside(&page, "<nav", "</nav>");
        assert_eq!(bar.contains("#methods"), has_methods);
        for link in bar.split("href=\"#").skip(1) {
            let part = link.split('"').next().unwrap_or_default();
            assert!(page.contains(&format!("id=\"{part}\"")), "no {part}");
        }
    }
}

/// An axis of nothing would invent its ends.
#[test]
fn operations_without_a_figure_are_named_below_the_ladder() {
    let mut run = synthetic::run();
    let first_screen =
        |run: &Run| inside(&page_of(run, "x"), "id=\"overview\"", "</section>").to_owned();
    let steps = |page: &str| page.matches("class=\"cost").count();
    let (all, mut invalid) = (steps(&first_screen(&run)), 0);
    for row in run.rows.iter_mut() {
        if let Outcome::Figure(estimate) | Outcome::Level { estimate, .. } = &mut row.outcome {
            estimate.verdict = Verdict::Invalid;
            invalid += 1;
        }
    }
    let page = first_screen(&run);
    assert!(all > 0 && invalid >= all && page.contains("Invalid: "), "{all} of {invalid}");
    assert!(steps(&page) == 0 && !page.contains("class=\"scale"), "no axis of nothing");
    run.rows.clear();
    let page = page_with(&run, "x", &[]);
    assert!(page.contains("This run has no row.") && !page.contains("A square is a figure"));
}

#[test]
fn every_row_has_a_line_and_every_picture_its_place() {
    let run = synthetic::run();
    let page = page_of(&run, "x");
    for row in &run.rows {
        assert!(page.contains(&row.id), "{}", row.id);
    }
    assert_eq!(page.matches("<tr data-at=").count(), run.rows.len());
    let references = References::embedded().expect("references");
    let (drawn, _) = pictures(&run, &references, &[]);
    let charts: Vec<&Chart> = drawn
        .iter()
        .map(|p| &p.chart)
        .filter(|c| !["overview", "ladder"].contains(&c.id.as_str()))
        .collect();
    assert!(charts.len() >= 8, "{}", charts.len());
    for chart in charts {
        let place = format!("data-chart=\"{}\"", chart.id);
        assert_eq!(page.matches(&place).count(), 1, "{}", chart.id);
    }
}

/// The first screen of a run with a row of each topic.
#[test]
fn the_first_screen_is_the_documents_figures() {
    let mut run = synthetic::run();
    let figure =
        |id: &str, ns: f64| synthetic::row_of_times(id, synthetic::ok_outcome(ns, ns / 1e3));
    run.rows.push(figure("cpu.add_i64", 0.25));
    run.rows.push(figure("call.syscall", 150.0));
    let page = page_of(&run, "x");
    let first = inside(&page, "id=\"overview\"", "id=\"ladder\"");
    let lines = model::overview::overview_lines(&run);
    let is_drawn = |verdict: Verdict| verdict != Verdict::Invalid;
    let drawn = lines.iter().filter(|line| line.verdict.is_some_and(is_drawn)).count();
    assert_eq!(first.matches("<li ").count(), drawn);
    let named = lines.len() - drawn;
    assert_eq!(first.matches("class=\"missing").count() > 0, named > 0);
    for ratio in model::overview::ratios(&run) {
        assert!(page.contains(&format!("<b>{}</b> {}", ratio.amount(), ratio.time())));
    }
    let add = inside(first, "href=\"#row-cpu.add_i64\"", "</li>");
    assert!(add.contains("class=\"cost\">0.250 ns</span>"), "{add}");
    assert!(page.contains("id=\"row-cpu.add_i64\""), "its row can be linked to");
    let tally = model::tally::tally(&run);
    let hold = format!("<b>{}</b>", tally.rows.ok_text());
    assert!(page.contains(&hold), "{hold}");
    let squares = inside(first, "<dl class=\"squares\">", "</dl>");
    assert_eq!(squares.matches("<i ").count(), tally.rows.total() as usize);
    // Of the switch between threads: the published time is of one mode only.
    let of_mode = |words: &str| inside(first, &format!("{words}</a>"), "</li>");
    assert!(of_mode("wake a thread, same CPU").contains("class=\"with "));
    assert!(!of_mode("wake a thread, other CPU").contains("class=\"with "));
}

#[test]
fn a_page_names_no_directory() {
    let mut run = synthetic::run();
    let mut filesystem = run.files_on.clone().expect("synthetic");
    filesystem.directory = "/home/alice/.cache".into();
    run.files_on = Some(filesystem.clone());
    let page = page_of(&run, "x");
    assert!(!page.contains("alice"));
    assert!(page.contains(&filesystem.one_line()), "{}", filesystem.one_line());
}

#[test]
fn published_tables_stand_on_the_page_with_our_figures() {
    let page = page_of(&synthetic::run(), "x");
    let section = inside(&page, "id=\"published\"", "</section>");
    for title in ["Mike Ash", "Dmitry Kurkin"] {
        assert!(section.contains(title), "{title}");
    }
    // A published figure, and ours of the same row.
    let semaphore = inside(section, ">semaphore<", "<tr");
    for figure in ["3.2 µs", "2.93 µs"] {
        assert!(semaphore.contains(figure), "{figure}: {semaphore}");
    }
    let commands = page_of(&synthetic::run_of_commands(), "x");
    assert!(!commands.contains("id=\"published\""));
}

#[test]
fn the_only_pair_of_cpus_is_a_sentence_on_the_page() {
    let mut run = synthetic::run();
    run.rows.retain(|row| row.id != core_to_core::PROBE);
    run.rows.push(synthetic::core_to_core_row(2, |_, _| 27.6));
    let page = page_of(&run, "x");
    let threads = inside(&page, "id=\"threads\"", "<figure");
    assert!(threads.contains("CPUs 0 and 1 hand over a cache line in 27.6 ns"));
    assert!(!page.contains("id=\"p-memory.core_to_core\""));
}

#[test]
fn a_run_without_common_operations_has_no_ladder_of_them() {
    let run = synthetic::run_of_commands();
    let page = page_of(&run, "x");
    assert!(page.contains("What things cost") && page.contains("h-trust"));
    assert!(!page.contains("h-overview") && !page.contains("h-stairs"));
}

#[test]
fn strings_of_a_document_do_nothing() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><!--";
    let mut run = synthetic::run();
    run.machine.hostname.value = Some(evil.into());
    run.machine.cpu_model.value = Some(evil.into());
    run.partial = Some(evil.into());
    run.conditions.remarks = vec![evil.into()];
    for row in &mut run.rows {
        row.notes = vec![evil.into()];
    }
    if let Some(row) = run.rows.iter_mut().find(|row| row.estimate().is_none()) {
        row.outcome = model::run::Outcome::Unavailable { reason: evil.into() };
    }
    let (good, page) = (page_of(&synthetic::run(), "x"), page_of(&run, evil));
    assert!(page.contains("&lt;img"), "it is shown");
    for what in ["<script", "</script", "<img", "<!--", "onerror=alert(2)>"] {
        assert_eq!(page.matches(what).count(), good.matches(what).count(), "{what}");
    }
    // No attribute was left, either: every quote of it is written otherwise.
    assert!(!page.contains("\"'>"), "a quote ends an attribute");
    let href = inside(&page, "<a href=\"./", "\"");
    assert!(!href.contains(['<', '>', '\'', '"', ':', '/']), "{href}");
}

#[test]
fn nothing_that_turns_text_around_gets_through() {
    let mut run = synthetic::run();
    run.machine.hostname.value = Some("a\u{202e}b\u{7}c".into());
    let page = page_of(&run, "x");
    assert!(!page.contains(['\u{202e}', '\u{7}']));
}

#[test]
fn the_policy_names_exactly_the_script() {
    let page = page_of(&synthetic::run(), "x");
    let policy = inside(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert_eq!(page.matches("<script").count(), 1);
    let own = inside(&page, "<script>", "</script>");
    assert_eq!(own, script(), "what was hashed is what stands there");
    let hash = STANDARD.encode(Sha256::digest(own));
    assert!(policy.contains(&format!("script-src 'sha256-{hash}';")), "{policy}");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!policy.contains("http") && !policy.contains("'unsafe-eval'"), "{policy}");
}

#[test]
fn nothing_outside_the_page_is_named_as_a_source() {
    let page = page_of(&synthetic::run(), "x").replace("clip-path=\"url(#", "");
    for what in [" src=", "@import", "url(", "<link", "<iframe", "<object", "<use", " onclick"] {
        assert!(!page.contains(what), "{what}");
    }
}

/// What a pointer over a mark shows is the row of the table that it names.
#[test]
fn marks_name_the_rows_of_their_figures() {
    let run = synthetic::run();
    let references = References::embedded().expect("references");
    let (drawn, _) = pictures(&run, &references, &[]);
    let mut checked = 0;
    for chart in drawn.iter().map(|picture| &picture.chart) {
        let rows = tables(chart)[0].rows.clone();
        let svg = inline(chart, 520, "a").svg;
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
        let mut of_series = std::collections::BTreeMap::<usize, Vec<usize>>::new();
        for node in document.descendants() {
            let Some(row) = node.attribute("data-n") else {
                continue;
            };
            let row: usize = row.parse().expect("a number");
            assert!(row < rows.len(), "{}: row {row}", chart.id);
            let series = node.ancestors().find_map(|n| n.attribute("data-s"));
            let series = series.map_or(0, |series| series.parse().expect("a number"));
            of_series.entry(series).or_default().push(row);
            checked += 1;
        }
        if let Body::Lines(lines) = &chart.body {
            for (series, marked) in of_series {
                let line = &lines.series[series];
                assert!(marked.is_sorted(), "{}", chart.id);
                assert!(marked.iter().all(|&row| rows[row].texts()[0] == line.name));
            }
        }
    }
    assert!(checked > 300, "{checked} marks");
}

#[test]
fn rows_whose_level_changed_have_their_history_first() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    let mut newest = synthetic::run();
    let keep = |number: u64| {
        let little = [0.0, 0.004, -0.003, 0.002, -0.004, 0.003, -0.001][(number * 5 % 7) as usize];
        let factor = if number >= 10 { 1.2 } else { 1.0 };
        let mut run = synthetic::slower(&synthetic::run(), "cpu.add_i32", factor * (1.0 + little));
        run.id = format!("{number:04x}0000-0000-4000-8000-000000000001");
        run.started_unix_ms += number * 86_400_000;
        store.save(&run).expect("saved");
        run
    };
    let of = |run: &Run| {
        let index = Index::open(store.clone()).expect("open");
        let pictures = histories(&index, run).expect("readable");
        pictures.into_iter().map(|p| p.chart.id).collect::<Vec<_>>()
    };
    for number in 0..2 {
        newest = keep(number);
    }
    assert_eq!(of(&newest), [""; 0], "two runs are no history");
    for number in 2..16 {
        newest = keep(number);
    }
    let found = of(&newest);
    assert_eq!(found[0], "history.cpu.add_i32", "{found:?}");
    assert_eq!(found[1], "history.memory.latency-L1", "{found:?}");
    assert_eq!(found.len(), 6, "{found:?}");
    newest.machine.hostname.value = Some("elsewhere".into());
    assert_eq!(of(&newest), [""; 0], "another machine's are not shown");
}

#[test]
fn a_typical_figure_is_not_shown_as_a_quiet_one() {
    let mut run = synthetic::run();
    let row = run.rows.iter_mut().find(|row| row.id == "cpu.add_i32");
    let row = row.expect("the row");
    let model::run::Outcome::Figure(estimate) = &mut row.outcome else {
        panic!("a figure");
    };
    let before = page_of(&synthetic::run(), "x");
    let cell = |page: &str| {
        let line = inside(page, "id=\"row-cpu.add_i32\"", "<tr").to_owned();
        inside(&line, "class=\"n c-value\"", "<td").to_owned()
    };
    assert!(cell(&before).contains("data-sort"), "{}", cell(&before));
    estimate.quiet = None;
    assert!(estimate.typical.is_some());
    let cell = cell(&page_of(&run, "x"));
    assert!(cell.contains("<span class=\"none\">-</span>") && cell.contains("typical "), "{cell}");
}

#[test]
fn only_comparable_published_figures_are_drawn() {
    let references = References::embedded().expect("references");
    let run = synthetic::run();
    for table in &references.tables {
        for row in &run.rows {
            let Some(counterpart) = table.counterpart(&row.id) else {
                continue;
            };
            let drawn = table.comparable_ns(&row.id);
            if counterpart.row.doubtful.is_some() || counterpart.rule == ComparisonRule::Near {
                assert_eq!(drawn, None, "{} {}", table.key, row.id);
            } else {
                assert_eq!(drawn, counterpart.row.ns, "{} {}", table.key, row.id);
            }
        }
    }
}

#[test]
fn an_interval_without_an_end_is_reported() {
    let mut run = synthetic::run();
    let speeds = run.rows.iter_mut().filter(|row| row.unit.inverted());
    for row in speeds {
        let estimates: Vec<_> = match &mut row.outcome {
            model::run::Outcome::Curve { points, .. } => {
                points.iter_mut().map(|p| &mut p.estimate).collect()
            }
            model::run::Outcome::Map { points, .. } => {
                points.iter_mut().map(|p| &mut p.estimate).collect()
            }
            _ => continue,
        };
        // A time whose interval holds 0 is as fast as one likes.
        for estimate in estimates {
            let quiet = estimate.quiet.as_mut().map(|quiet| &mut quiet.ns);
            let typical = estimate.typical.as_mut().map(|typical| &mut typical.ns);
            for ns in quiet.into_iter().chain(typical) {
                ns.low = -1.0;
            }
        }
    }
    let reported = |run: &Run| page_of(run, "x").matches(", no upper end<td").count();
    assert_eq!(reported(&synthetic::run()), 0);
    assert!(reported(&run) > 5, "{}", reported(&run));
}

#[test]
fn a_page_is_known_for_ours() {
    let page = page_of(&synthetic::run(), "x");
    assert!(is_ours(&page.as_bytes()[..4096]));
    assert!(!is_ours(b"<!DOCTYPE html><title>latlas report</title>"));
    assert!(!is_ours(b""));
}

#[test]
fn places_among_many_machines_stand_with_the_published_tables() {
    let page = page_of(&model::synthetic::run(), "run");
    let published = inside(&page, "<section id=\"published\"", "</section>");
    assert!(published.contains("This CPU and many machines"), "{published}");
    assert!(published.contains("67 to 80 % of 1811 cloud types"), "{published}");
}
