//! Pages, whatever a document says.

use crate::common::{Answer, Atlas, ID, LOCALHOST, other_id, served_run, small};
use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};

/// Would be a script, an image, or the end of an attribute.
const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\u{202e}\u{0}";

const BROWSER: [(&str, &str); 2] = [LOCALHOST, ("accept", "text/html,*/*;q=0.8")];

/// What a browser gets.
fn visit(atlas: &Atlas, path: &str) -> Answer {
    atlas.send(Method::GET, path, &BROWSER, Body::empty())
}

/// Text of a page: a line for each row or paragraph, `text <path>` for a link.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut link = "";
    let mut is_first = false;
    let end_line = |text: &mut String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    let main = page.split_once("<main").expect("content").1;
    let mut rest = main.split_once('>').expect("a tag").1;
    while let Some((before, after)) = rest.split_once('<') {
        let (tag, next) = after.split_once('>').expect("a tag");
        text += before;
        rest = next;
        let name = tag.split(' ').next().unwrap_or("");
        match name {
            "/main" => break,
            "svg" => {
                text += "(picture)";
                rest = rest.split_once("</svg>").expect("its end").1;
            }
            "a" => link = tag.split('"').nth(1).expect("a path"),
            "/a" => text += &format!(" <{link}>"),
            // The end tags of these are left out.
            "tr" => {
                end_line(&mut text);
                is_first = true;
            }
            "th" | "td" if is_first => is_first = false,
            "th" | "td" | "dd" => text += " | ",
            "dt" | "/tbody" | "/table" | "/dl" => end_line(&mut text),
            "/p" | "/h1" | "/h2" | "/h3" | "/li" | "/option" | "/summary" | "/label"
            | "/button" | "/figure" => {
                text.push('\n');
            }
            _ => {}
        }
    }
    text.lines().map(|line| line.trim_end_matches(" | ").to_owned() + "\n").collect()
}

#[test]
fn pages_of_two_machines() {
    let atlas = Atlas::empty();
    for (number, host) in [(1, "lab"), (2, "desk"), (3, "lab")] {
        let mut run = small(number, host);
        if number == 3 {
            // A typical figure among quiet ones, and a run of another program.
            run["rows"][2]["outcome"]["figure"]["quiet"] = Value::Null;
        }
        atlas.store(&run);
    }
    let mut imported = small(4, "lab");
    imported["imported"] = json!({
        "format": "hyperfine", "from": ["a.json"], "measured_at": null, "by": "latlas 0.1.0",
    });
    for (list, name) in [("rows", "id"), ("cells", "row")] {
        for item in imported[list].as_array_mut().expect("a list") {
            item[name] = format!("theirs.{}", item[name].as_str().expect("a name")).into();
        }
    }
    atlas.store(&imported);
    let (one, imported) = (other_id(1), other_id(4));
    let key = atlas.key();
    let mut all = String::new();
    for path in [
        "/",
        "/runs?limit=2&offset=1",
        "/rows",
        &format!("/machines/{key}"),
        &format!("/runs/{one}"),
        &format!("/runs/{imported}"),
        "/row?row=cpu.add_i32",
        "/row?row=memory.latency",
        "/row?row=memory.latency&at=1024",
        "/row?row=theirs.cpu.add_i32",
        &format!("/compare?a=2012&b={one}"),
        &format!("/compare?a=2012&b={one}&finding=inconclusive"),
        "/compare?a=last&b=2012",
        "/upload",
        "/runs?limit=0",
        "/runs/none",
    ] {
        let answer = visit(&atlas, path);
        let status = answer.status.as_u16();
        all += &format!("=== {status} {path}\n{}\n", text_of(&answer.body_text()));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn an_empty_atlas_says_so() {
    let atlas = Atlas::empty();
    for path in ["/", "/runs", "/rows", "/compare"] {
        assert_eq!(atlas.get(path).status, 200, "{path}");
    }
    assert!(atlas.get("/").body_text().contains("No stored runs."));
    for path in ["/runs/x", "/machines/x", "/row?row=x"] {
        let answer = visit(&atlas, path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body_text().contains("<h1>Not Found</h1>"), "{path}");
    }
    assert_eq!(atlas.files(), Vec::<String>::new(), "reading stores nothing");
}

#[test]
fn every_link_leads_to_a_page() {
    let atlas = Atlas::of_three();
    let mut todo = vec!["/".to_owned()];
    let mut seen: Vec<String> = Vec::new();
    while let Some(path) = todo.pop() {
        if seen.contains(&path) || seen.len() > 150 {
            continue;
        }
        let answer = atlas.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body_text());
        if path.ends_with("/report") {
            // It links within itself, to the document, and back.
            assert!(answer.body_text().contains("href=\"./document\""));
            assert!(answer.body_text().contains("href=\"/runs\">All runs<"));
        } else if answer.header("content-type").starts_with("text/html") {
            for href in answer.body_text().split("href=\"").skip(1) {
                let href = href.split('"').next().expect("an end").replace("&amp;", "&");
                match href.strip_prefix('/') {
                    Some(local) if !local.starts_with('/') => todo.insert(0, href),
                    _ => assert!(href.starts_with('#'), "{path} links to {href}"),
                }
            }
        }
        seen.push(path);
    }
    let run = format!("/runs/{}", other_id(2));
    for start in [
        "/runs",
        "/rows",
        "/compare",
        "/upload",
        "/style.css",
        "/favicon.ico",
        "/metrics",
        "/machines/",
        "/row?",
        &run,
    ] {
        assert!(seen.iter().any(|path| path.starts_with(start)), "{start} is not reached");
    }
}

#[test]
fn twenty_machines_with_the_row_are_shown_and_the_others_counted() {
    let atlas = Atlas::empty();
    for number in 0..25_u32 {
        let mut run = small(number, &format!("host-{number}"));
        if number >= 22 {
            // The newest have no rows at all.
            run["rows"] = json!([]);
        }
        atlas.store(&run);
    }
    let page = atlas.get("/row?row=cpu.add_i32").body_text();
    assert_eq!(page.matches("<h2>On ").count(), 20);
    assert!(page.contains("2 more machines"), "{page}");
}

/// A page without the script of pictures, which its policy allows if it is there.
fn without_our_script(answer: &Answer) -> String {
    let script = format!("<script>{}</script>", view::html::script());
    let page = answer.body_text();
    let count = page.matches(&script).count();
    let allows = view::html::policy::scripts();
    let policy = answer.header("content-security-policy");
    assert_eq!(count, policy.matches(&allows).count(), "{policy}");
    assert_eq!(count, policy.matches("script-src").count(), "{policy}");
    page.replace(&script, "")
}

#[test]
fn a_page_of_a_row_runs_only_the_script_of_pictures() {
    let atlas = Atlas::of_three();
    let answer = atlas.get("/row?row=memory.latency/L1");
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let page = without_our_script(&answer);
    for bad in ["<script", " style=", " onclick", " onload"] {
        assert!(!page.contains(bad), "{bad}");
    }
    // Two machines: ids stay unique, and what describes the keys is there.
    let mut ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{ids:?}");
    assert!(ids.contains(&"keys"), "{ids:?}");
}

#[test]
fn a_browser_gets_a_page_for_what_there_is_not() {
    let atlas = Atlas::empty();
    for path in ["/nowhere", "/runs?limit=0", "/runs/x", "/machines/x"] {
        let answer = visit(&atlas, path);
        assert!(answer.status.is_client_error(), "{path}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert!(answer.body_text().contains("<nav"), "{path}");
    }
    let put = atlas.send(Method::PUT, "/runs", &BROWSER, Body::empty());
    assert_eq!(put.status, 405);
    visit(&atlas, "/api/runs?limit=0").problem(400);
    visit(&atlas, "/api/nowhere").problem(404);
    atlas.get("/nowhere").problem(404);
}

#[test]
fn what_a_document_says_is_never_markup() {
    let atlas = Atlas::empty();
    for number in [1, 2] {
        let mut run = served_run(&other_id(number), number.into(), "lab");
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
        assert_eq!(atlas.upload_json(run.to_string()).status, 201);
    }
    let rows = atlas.get("/api/rows").json();
    let row = rows["rows"][0]["row"].as_str().expect("a row");
    assert!(row.contains("<script>"), "JSON has it as it is");
    let row: String = row.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let (one, two, key) = (other_id(1), other_id(2), atlas.key());
    let unknown = format!("/compare?a={row}&b={two}");
    for path in [
        "/",
        "/runs",
        "/rows",
        "/compare",
        &format!("/machines/{key}"),
        &format!("/runs/{one}"),
        &format!("/row?row={row}"),
        &format!("/compare?a={one}&b={two}"),
        &unknown,
    ] {
        let answer = atlas.get(path);
        assert_eq!(answer.status, if path == unknown { 404 } else { 200 }, "{path}");
        let page = without_our_script(&answer);
        for bad in ["<script", "<img", "'><", "\"'>", "\u{202e}", "\0"] {
            assert!(!page.contains(bad), "{bad:?} in {path}");
        }
    }
    assert!(atlas.get("/rows").body_text().contains("&lt;script&gt;"));
}

#[test]
fn a_report_runs_only_its_own_scripts_in_a_sandbox() {
    let atlas = Atlas::empty();
    let mut run = served_run(ID, 0, "lab");
    run["machine"]["hostname"] = json!({ "value": HOSTILE });
    run["machine"]["cpu_model"] = json!({ "value": "</script><script>alert(3)</script>" });
    run["rows"][0]["id"] = format!("</script>{HOSTILE}").into();
    assert_eq!(atlas.upload_json(run.to_string()).status, 201);
    // What is chosen on the page stands in its address.
    let answer = atlas.get(&format!("/runs/{ID}/report?find=add&sort=-cycles"));
    assert_eq!(answer.status, 200);
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(policy.ends_with("sandbox allow-scripts allow-downloads"), "{policy}");
    assert!(!policy.contains("script-src 'unsafe") && !policy.contains("allow-same-origin"));
    for bad in ["<script>alert", "<img src=x"] {
        assert!(!answer.body_text().contains(bad), "{bad}");
    }
    let document = atlas.get(&format!("/runs/{ID}/document"));
    assert_eq!(document.status, 200);
    assert_eq!(document.header("content-type"), "application/zstd");
    assert_eq!(atlas.get("/runs/x/report").status, 404);
}

#[test]
fn a_report_has_histories_if_its_machine_has_three_runs() {
    let atlas = Atlas::of_three();
    atlas.store(&served_run(&other_id(4), 4, "lab"));
    let chart = "data-chart=\"history.memory.latency-L1\"";
    let page = |number| atlas.get(&format!("/runs/{}/report", other_id(number))).body_text();
    assert!(page(1).contains(chart));
    let of_one = page(2);
    assert!(!of_one.contains(chart));
    assert!(of_one.contains("three or more runs of this machine"), "why");
}
