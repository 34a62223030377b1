//! What people see, whatever a document holds.

use crate::common::{Atlas, ID, With, document, form, id};
use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};

/// Would be a script, an image, or the end of an attribute.
const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\u{202e}\u{0}";

#[test]
fn every_page_is_there_and_leads_on() {
    let atlas = Atlas::of_three();
    let mut todo = vec!["/".to_owned()];
    let mut seen: Vec<String> = Vec::new();
    // Every way of every page, as long as it stays here.
    while let Some(path) = todo.pop() {
        if seen.contains(&path) || seen.len() > 150 {
            continue;
        }
        let answer = atlas.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        if answer.header("content-type").starts_with("text/html") {
            // The report leads within itself, and to the document beside it.
            if path.ends_with("/report") {
                assert!(answer.text().contains("href=\"./document\""));
                seen.push(path);
                continue;
            }
            for href in answer.text().split("href=\"").skip(1) {
                let href = href
                    .split('"')
                    .next()
                    .expect("an end")
                    .replace("&amp;", "&");
                assert!(
                    href.starts_with('/') || href.starts_with('#'),
                    "{path} leads to {href}"
                );
                if href.starts_with('/') && !href.starts_with("//") {
                    todo.insert(0, href);
                }
            }
        }
        seen.push(path);
    }
    for part in [
        "/",
        "/runs",
        "/rows",
        "/compare",
        "/upload",
        "/style.css",
        "/metrics",
    ] {
        assert!(
            seen.iter().any(|path| path == part),
            "{part} is not reached"
        );
    }
    assert_eq!(atlas.get("/compare?a=last&b=2012").status, 404);
    let machine = seen.iter().any(|path| path.starts_with("/machines/"));
    let row = seen.iter().any(|path| path.starts_with("/row?"));
    let run = seen.iter().any(|path| *path == format!("/runs/{}", id(2)));
    assert!(machine && row && run, "{seen:?}");
}

#[test]
fn a_runs_page_shows_the_figures_of_its_document() {
    let atlas = Atlas::of_three();
    let page = atlas.get(&format!("/runs/{}", id(1))).text();
    let run = atlas::store::from_bytes(&document(&id(1), 1, "lab")).expect("a run");
    let mut shown = 0;
    for row in &run.rows {
        assert!(page.contains(&row.id), "{}", row.id);
        let Some(ns) = row
            .estimate()
            .filter(|e| e.below_ns.is_none())
            .and_then(|e| e.ns())
        else {
            continue;
        };
        let figure = model::figure::figure(&ns, &row.unit);
        let cell = format!(
            "<td class=\"number\">{}</td>",
            format!("{} {}", figure.value, figure.unit).trim_end()
        );
        assert!(page.contains(&cell), "{cell} of {}", row.id);
        shown += 1;
    }
    assert!(shown > 5, "{shown}");
    // Two figures of one machine are a picture.
    let row = run
        .rows
        .iter()
        .find(|row| row.estimate().is_some_and(|e| e.ns().is_some()))
        .expect("a row");
    let page = atlas.get(&format!("/row?row={}", row.id)).text();
    assert_eq!(page.matches("<svg").count(), 1, "one machine has two runs");
    assert_eq!(page.matches("<circle").count(), 2);
}

#[test]
fn quiet_and_typical_figures_are_no_one_line() {
    let atlas = Atlas::empty();
    for number in 1..=4_u32 {
        let sent = document(&id(number), number.into(), "lab");
        let mut run: Value = serde_json::from_slice(&sent).expect("JSON");
        if number == 2 {
            for row in run["rows"].as_array_mut().expect("rows") {
                if row["id"] == "cpu.add_i32" {
                    row["outcome"]["figure"]["quiet"] = Value::Null;
                }
            }
        }
        atlas.keep(run.to_string().as_bytes());
    }
    let page = atlas.get("/row?row=cpu.add_i32").text();
    let line = page.split("<polyline").nth(1).expect("a line");
    let line = line
        .split("points=\"")
        .nth(1)
        .and_then(|l| l.split('"').next());
    assert_eq!(line.expect("points").split(' ').count(), 3, "{page}");
    assert_eq!(page.matches("class=\"other\"").count(), 1);
    assert_eq!(page.matches("typical, not quiet").count(), 1);
    let figures = atlas.get(&format!("/api/runs/{}", id(2))).json();
    let all = figures["figures"].as_array().expect("figures");
    let add = all.iter().find(|figure| figure["row"] == "cpu.add_i32");
    assert_eq!(add.expect("the row")["quiet"], false);
}

#[test]
fn a_change_of_the_level_is_told_and_marked() {
    let atlas = Atlas::empty();
    for number in 1..=12_u32 {
        let sent = document(&id(number), number.into(), "lab");
        let mut run = atlas::store::from_bytes(&sent).expect("a run");
        // A little of noise, and a step of a fifth.
        let factor = 1.0 + 0.001 * f64::from(number % 3) + 0.2 * f64::from(number > 6);
        for row in run.rows.iter_mut().filter(|row| row.id == "cpu.add_i32") {
            let model::run::Outcome::Figure(estimate) = &mut row.outcome else {
                panic!("a figure");
            };
            let quiet = estimate.quiet.as_mut().expect("it was quiet");
            quiet.ns = quiet.ns.scaled(factor);
            quiet.cycles = quiet.cycles.map(|cycles| cycles.scaled(factor));
        }
        atlas.keep(&atlas::store::to_json(&run).expect("JSON"));
    }
    let page = atlas.get("/row?row=cpu.add_i32").text();
    assert_eq!(page.matches("<line class=\"change\"").count(), 1, "{page}");
    let key = atlas.get("/api/machines").json()["machines"][0]["key"].clone();
    let key = key.as_str().expect("a key");
    let history = atlas
        .get(&format!("/api/history?machine={key}&row=cpu.add_i32"))
        .json();
    let levels = history["levels"].as_array().expect("levels");
    let ends: Vec<_> = levels.iter().map(|l| (&l["first"], &l["last"])).collect();
    let [one, six, seven, twelve] = [1, 6, 7, 12].map(|n| Value::from(id(n)));
    assert_eq!(ends, [(&one, &six), (&seven, &twelve)]);
    assert_eq!(levels[0]["ratio"], Value::Null);
    let ratio = levels[1]["ratio"]["value"].as_f64().expect("a ratio");
    assert!((ratio - 1.2).abs() < 0.01, "{ratio}");
    let said = history["said"].as_str().expect("words");
    assert!(page.contains(said), "{said}");
}

#[test]
fn rows_of_another_program_lead_nowhere() {
    let atlas = Atlas::of_three();
    let mut run = atlas::store::from_bytes(&document(ID, 9, "lab")).expect("a run");
    run.imported = Some(model::imported::Imported {
        format: "hyperfine".into(),
        from: vec!["a.json".into()],
        measured_at: None,
        by: "latlas 0.1.0".into(),
    });
    for row in &mut run.rows {
        row.id = format!("theirs.{}", row.id);
    }
    atlas.keep(&atlas::store::to_json(&run).expect("JSON"));
    let page = atlas.get(&format!("/runs/{ID}")).text();
    assert!(page.contains("theirs.cpu.add_i32"), "it is shown");
    assert!(!page.contains("/row?row=theirs"), "it leads to no page");
    let rows = atlas.get("/rows").text();
    assert!(!rows.contains("theirs."), "{rows}");
    let detail = atlas
        .get("/api/percentiles?row=theirs.cpu.add_i32")
        .problem(404);
    assert!(detail.contains("imported"), "{detail}");
}

#[test]
fn machines_with_the_row_are_drawn_and_the_others_counted() {
    let atlas = Atlas::empty();
    for number in 0..25_u32 {
        let host = format!("host-{number}");
        let sent = document(&id(number), number.into(), &host);
        let mut run: Value = serde_json::from_slice(&sent).expect("JSON");
        if number >= 22 {
            // The newest have no rows at all.
            run["rows"] = json!([]);
        }
        atlas.keep(run.to_string().as_bytes());
    }
    let page = atlas.get("/row?row=cpu.add_i32").text();
    assert_eq!(page.matches("<h2>On ").count(), 20);
    assert!(page.contains("2 more machines"), "{page}");
}

#[test]
fn what_a_document_says_is_never_markup() {
    let atlas = Atlas::empty();
    for (number, id_) in [(1, id(1)), (2, id(2))] {
        let mut run: Value = serde_json::from_slice(&document(&id_, number, "lab")).expect("JSON");
        for fact in ["hostname", "kernel", "cpu_model", "os", "governor"] {
            run["machine"][fact] = json!({ "value": HOSTILE });
        }
        for fact in ["version", "commit", "profile", "name"] {
            run["program"][fact] = HOSTILE.into();
        }
        run["partial"] = HOSTILE.into();
        for row in run["rows"].as_array_mut().expect("rows") {
            row["id"] = format!("{HOSTILE}{}", row["id"].as_str().expect("an id")).into();
            row["notes"] = json!([HOSTILE]);
            for outcome in ["figure", "unavailable"] {
                if row["outcome"][outcome].is_object() {
                    row["outcome"][outcome]["reason"] = HOSTILE.into();
                }
            }
        }
        assert_eq!(atlas.upload(run.to_string()).status, 201);
    }
    let rows = atlas.get("/api/rows").json();
    let row = rows["rows"][0]["row"].as_str().expect("a row").to_owned();
    assert!(row.contains("<script>"), "JSON has it as it is");
    let mut in_query = String::new();
    for byte in row.bytes() {
        in_query += &format!("%{byte:02X}");
    }
    let key = atlas.get("/api/machines").json()["machines"][0]["key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let (one, two) = (id(1), id(2));
    let paths = [
        "/".to_owned(),
        "/runs".into(),
        "/rows".into(),
        "/compare".into(),
        format!("/machines/{key}"),
        format!("/runs/{one}"),
        format!("/row?row={in_query}"),
        format!("/compare?a={one}&b={two}"),
        format!("/compare?a={in_query}&b={two}"),
    ];
    for path in paths {
        let answer = atlas.get(&path);
        // A side of that name there is not; the page says so in its words.
        let known = !path.contains(&format!("a={in_query}"));
        assert_eq!(answer.status, if known { 200 } else { 404 }, "{path}");
        let page = answer.text();
        for bad in ["<script", "<img", "'><", "\"'>"] {
            assert!(!page.contains(bad), "{bad} in {path}");
        }
    }
    assert!(atlas.get("/rows").text().contains("&lt;script&gt;"));
}

#[test]
fn a_report_runs_its_own_scripts_only_and_apart() {
    let atlas = Atlas::empty();
    let mut run: Value = serde_json::from_slice(&document(ID, 0, "lab")).expect("JSON");
    run["machine"]["hostname"] = json!({ "value": HOSTILE });
    run["machine"]["cpu_model"] = json!({ "value": "</script><script>alert(3)</script>" });
    run["rows"][0]["id"] = format!("</script>{HOSTILE}").into();
    assert_eq!(atlas.upload(run.to_string()).status, 201);
    let answer = atlas.get(&format!("/runs/{ID}/report"));
    assert_eq!(answer.status, 200);
    let policy = answer.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    assert!(
        policy.ends_with("sandbox allow-scripts allow-downloads"),
        "{policy}"
    );
    assert!(!policy.contains("script-src 'unsafe") && !policy.contains("allow-same-origin"));
    let page = answer.text();
    for bad in ["<script>alert", "<img src=x"] {
        assert!(!page.contains(bad), "{bad}");
    }
    let back = atlas.get(&format!("/runs/{ID}/document"));
    assert_eq!(
        (back.status.as_u16(), back.header("content-type")),
        (200, "application/zstd")
    );
    assert_eq!(atlas.get("/runs/x/report").status, 404);
}

#[test]
fn a_report_has_rows_over_time_where_its_machine_has_three_runs() {
    let atlas = Atlas::of_three();
    atlas.keep(&document(&id(4), 4, "lab"));
    let place = "data-chart=\"history.memory.latency-L1\"";
    let page = |number| atlas.get(&format!("/runs/{}/report", id(number))).text();
    assert!(page(1).contains(place));
    let of_one = page(2);
    assert!(!of_one.contains(place));
    assert!(of_one.contains("three or more runs of this machine"), "why");
}

#[test]
fn a_form_uploads_as_a_program_does() {
    let atlas = Atlas::empty();
    let post = |atlas: &Atlas, field: &str, bytes: &[u8]| {
        let (kind, body) = form(field, bytes);
        let request = Atlas::request(Method::POST, "/upload")
            .header("content-type", kind)
            .header("origin", "http://127.0.0.1:8080")
            .header("sec-fetch-site", "same-origin");
        atlas.ask(request.body(Body::from(body)).expect("a request"))
    };
    let sent = document(ID, 0, "lab");
    let kept = post(&atlas, "document", &sent);
    assert_eq!(kept.status, 200);
    assert!(kept.text().contains(&format!("/runs/{ID}")));
    assert!(
        post(&atlas, "document", &sent)
            .text()
            .contains("Kept already")
    );
    for (field, bytes, status) in [
        ("document", b"hello".as_slice(), 400),
        ("document", b"", 400),
        ("other", &sent, 400),
        ("document", b"{}", 422),
        ("document", &document(ID, 0, "desk"), 409),
    ] {
        let answer = post(&atlas, field, bytes);
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(answer.header("content-type").starts_with("text/html"));
        assert!(answer.text().contains("<h1>"));
    }
    let request = Atlas::request(Method::POST, "/upload").header("content-type", "text/plain");
    let answer = atlas.ask(request.body(Body::from(sent)).expect("a request"));
    assert_eq!(answer.status, 400);
    assert_eq!(atlas.files().len(), 1);

    let closed = Atlas::with(With {
        read_only: true,
        ..With::default()
    });
    assert_eq!(
        post(&closed, "document", &document(ID, 0, "lab")).status,
        403
    );
    assert!(!closed.get("/upload").text().contains("<form"));
}

#[test]
fn an_empty_atlas_says_so() {
    let atlas = Atlas::empty();
    for path in ["/", "/runs", "/rows", "/compare"] {
        assert_eq!(atlas.get(path).status, 200, "{path}");
    }
    assert!(atlas.get("/").text().contains("No run is kept yet"));
    for path in ["/runs/x", "/machines/x", "/row?row=x"] {
        let answer = atlas.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains("<h1>Not Found</h1>"), "{path}");
    }
    assert_eq!(atlas.files(), Vec::<String>::new(), "looking makes nothing");
}
