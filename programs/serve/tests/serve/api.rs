//! The API: reading runs and what follows from them.

use crate::common::{Atlas, ID, LOCALHOST, document, other_id, served_run, small};
use axum::http::Method;
use serde_json::{Value, json};

/// Every operation that reads, on three small runs of two machines. Facts of a
/// machine are those of its document, and shown once.
#[test]
fn responses() {
    let atlas = Atlas::empty();
    for (number, host) in [(1, "lab"), (2, "desk"), (3, "lab")] {
        atlas.store(&small(number, host));
    }
    let key = atlas.key();
    let one = other_id(1);
    let mut all = String::new();
    for path in [
        "/healthz",
        "/api/machines",
        "/api/rows",
        "/api/runs?offset=1&limit=1",
        &format!("/api/runs?machine={key}&limit=1"),
        &format!("/api/runs/{one}"),
        "/api/percentiles?row=cpu.add_i32",
        "/api/percentiles?row=memory.latency&at=1024",
        &format!("/api/machines/{key}/percentiles"),
        &format!("/api/history?machine={key}&row=cpu.add_i32"),
        &format!("/api/compare?a=2012&b={one}"),
        &format!("/api/compare?a=@desk&b={one}"),
    ] {
        let answer = atlas.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body_text());
        let mut json = answer.json();
        if let Some(facts) = json.get_mut("facts") {
            assert_eq!(*facts, small(1, "lab")["machine"]);
            *facts = json!("as in the document");
        }
        all += &format!("GET {path}\n{}\n\n", compact(&json, 0));
    }
    insta::assert_snapshot!(all);
}

/// JSON with an object or list on one line where it fits.
fn compact(json: &Value, indent: usize) -> String {
    let line = json.to_string();
    let pad = " ".repeat(indent + 1);
    let all: Vec<String> = match json {
        _ if line.len() + indent < 120 => return line,
        Value::Array(items) => items.iter().map(|item| compact(item, indent + 1)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{name:?}:{}", compact(value, indent + 1)))
            .collect(),
        _ => return line,
    };
    format!("{}\n{pad}{}", &line[..1], all.join(&format!(",\n{pad}"))) + &line[line.len() - 1..]
}

#[test]
fn a_document_comes_back_as_it_was_sent() {
    let atlas = Atlas::empty();
    let sent = document(ID, 0, "lab");
    assert_eq!(atlas.upload_json(sent.clone()).status, 201);
    let path = format!("/api/runs/{ID}/document");
    let back = atlas.get(&path);
    assert_eq!(back.header("content-type"), "application/zstd");
    let name = format!("attachment; filename=\"{ID}.json.zst\"");
    assert_eq!(back.header("content-disposition"), name);
    assert_eq!(back.header("content-length"), back.body.len().to_string());
    let run = |bytes: &[u8]| store::from_bytes(bytes).expect("a run");
    assert!(run(&back.body) == run(&sent));
    // A store may hold plain JSON, which is longer than one piece.
    assert!(sent.len() > (3 * 64) << 10);
    let file = atlas.dir.path().join("runs").join(&atlas.files()[0]);
    std::fs::write(file, &sent).expect("written");
    let back = atlas.get(&path);
    assert_eq!(back.header("content-type"), "application/json");
    assert!(back.body == sent);
}

#[test]
fn a_run_is_found_if_another_file_has_its_id() {
    let atlas = Atlas::of_three();
    let runs = atlas.dir.path().join("runs");
    let file = atlas.files().into_iter().find(|name| name.contains(&other_id(2)));
    let copy = format!("20200101T000000.000Z-{}.json.zst", other_id(2));
    std::fs::copy(runs.join(file.expect("stored")), runs.join(copy)).expect("copied");
    let run = atlas.get(&format!("/api/runs/{}", other_id(2)));
    assert_eq!(run.status, 200, "{}", run.body_text());
    assert_eq!(atlas.upload_json(document(&other_id(2), 2, "desk")).status, 200);
}

#[test]
fn only_stored_runs_are_read_whatever_the_name() {
    let atlas = Atlas::of_three();
    let outside = atlas.dir.path().join("outside.json");
    std::fs::write(&outside, document(ID, 0, "secret-host")).expect("written");
    let outside = outside.to_str().expect("UTF-8");
    let escaped = outside.replace('/', "%2F");
    let names = [outside, &escaped, "../outside.json", "..%2Foutside.json", "last", "%00", "", "@"];
    let compared = names.map(|name| format!("/api/compare?a={name}&b={}", other_id(1)));
    let paths = [
        "/api/runs/..%2Foutside.json",
        "/api/runs/..%2Foutside.json/document",
        "/api/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd/document",
        "/runs/..%2F..%2F..%2Fetc%2Fpasswd",
        "/api/runs/00000001/document",
        "/api/runs/%00",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/runs/%ff%fe",
    ];
    for path in paths.into_iter().chain(compared.iter().map(String::as_str)) {
        let answer = atlas.get(path);
        let bad_utf8 = path.ends_with("%ff%fe");
        assert_eq!(answer.status, if bad_utf8 { 400 } else { 404 }, "{path}");
        let text = answer.body_text();
        assert!(!text.contains("root:") && !text.contains("secret-host"), "{path}");
    }
}

#[test]
fn malformed_requests_are_refused() {
    let atlas = Atlas::of_three();
    let key = atlas.key();
    let mut bare = served_run(ID, 9, "bare");
    bare["rows"] = json!([]);
    atlas.store(&bare);
    let none = other_id(9);
    let mut details = String::new();
    for (status, path) in [
        (400, "/api/runs?limit=0"),
        (400, "/api/runs?limit=1001"),
        (400, "/api/runs?limit=many"),
        (400, "/api/runs?offset=-1"),
        (400, "/api/runs?page=2"),
        (400, "/api/runs?limit=1&limit=2"),
        (400, "/api/machines?x=1"),
        (400, "/api/percentiles"),
        (400, "/api/percentiles?row=a&at=x"),
        (400, "/api/history?row=a"),
        (400, "/api/compare?a=2012"),
        (400, "/api/rows?%ff=1"),
        (404, "/api/runs/no-such"),
        (404, &format!("/api/runs/{none}")),
        (404, "/nowhere"),
        (404, "/api/machines/0/percentiles"),
        (404, "/api/percentiles?row=no.such"),
        (404, "/api/percentiles?row=cpu.add_i32&at=7"),
        (404, "/api/history?machine=0&row=cpu.add_i32"),
        (404, &format!("/api/history?machine={key}&row=no.such")),
        (404, "/api/compare?a=@nowhere&b=2012"),
        (404, "/api/compare?a=no-such&b=2012"),
        (422, &format!("/api/compare?a={ID}&b=2012")),
    ] {
        details += &format!("{status} {path}\n    {}\n", atlas.get(path).problem(status));
    }
    for (method, path) in [
        (Method::DELETE, "/api/runs"),
        (Method::PUT, "/api/machines"),
        (Method::POST, "/metrics"),
        (Method::PATCH, "/"),
        (Method::DELETE, "/api/runs/x"),
    ] {
        let answer = atlas.send(method.clone(), path, &[LOCALHOST], "");
        let allow = answer.header("allow");
        details += &format!("405 {method} {path} (allow: {allow})\n    {}\n", answer.problem(405));
    }
    insta::assert_snapshot!(details);
    let head = atlas.send(Method::HEAD, "/api/machines", &[LOCALHOST], "");
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
}

#[test]
fn changes_by_other_processes_are_noticed_and_failures_are_logged() {
    let atlas = Atlas::of_three();
    assert_eq!(atlas.get("/api/runs").json()["total"], 3);
    let path = atlas.store(&served_run(ID, 9, "lab"));
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(atlas.get("/api/runs").json()["total"], 4);
    std::fs::write(&path, b"broken").expect("written");
    let directory = atlas.dir.path().to_str().expect("UTF-8");
    let detail = atlas.get(&format!("/api/runs/{ID}")).problem(500);
    assert!(!detail.contains(directory), "{detail}");
    let log = atlas.log.lock().expect("log").join("\n");
    assert!(log.contains(path.to_str().expect("UTF-8")), "{log}");
    // Not even root can write here.
    let runs = atlas.dir.path().join("runs");
    std::fs::rename(&runs, atlas.dir.path().join("away")).expect("moved");
    std::fs::write(&runs, b"a file").expect("written");
    let refused = atlas.upload_json(document(&other_id(7), 1, "lab"));
    assert!(refused.status.is_server_error(), "{}", refused.status);
    let detail = refused.problem(refused.status.as_u16());
    assert!(!detail.contains(directory), "{detail}");
}

#[test]
fn a_level_change_is_found() {
    let atlas = Atlas::empty();
    for number in 1..=12_u32 {
        let mut run = small(number, "lab");
        // Some noise, and a step of a fifth.
        let factor = 1.0 + 0.001 * f64::from(number % 3) + 0.2 * f64::from(number > 6);
        for part in ["ns", "cycles"] {
            for end in ["value", "low", "high"] {
                let value = &mut run["rows"][2]["outcome"]["figure"]["quiet"][part][end];
                *value = (value.as_f64().expect("a number") * factor).into();
            }
        }
        atlas.store(&run);
    }
    let path = format!("/api/history?machine={}&row=cpu.add_i32", atlas.key());
    let history = atlas.get(&path).json();
    let levels = history["levels"].as_array().expect("levels");
    let ends: Vec<_> = levels.iter().map(|l| (&l["first"], &l["last"])).collect();
    let [one, six, seven, twelve] = [1, 6, 7, 12].map(|n| Value::from(other_id(n)));
    assert_eq!(ends, [(&one, &six), (&seven, &twelve)]);
    assert_eq!(levels[0]["ratio"], Value::Null);
    let ratio = levels[1]["ratio"]["value"].as_f64().expect("a ratio");
    assert!((ratio - 1.2).abs() < 0.01, "{ratio}");
    let page = atlas.get("/row?row=cpu.add_i32").body_text();
    // The picture says what was seen; what could have been stands in its notes.
    let said = history["said"].as_str().expect("words");
    let seen = said.split(". ").next().expect("a sentence");
    assert!(page.contains(seen), "{seen}");
    // The mark in the picture, which has one width everywhere, and in its table.
    let mark = format!(">{:+.1} %<", (ratio - 1.0) * 100.0);
    assert_eq!(page.matches(&mark).count(), 2, "{mark}");
}

#[test]
fn the_openapi_document_describes_every_operation() {
    let atlas = Atlas::of_three();
    let document = atlas.get("/api/openapi.json").json();
    let served: Value = serde_json::from_str(serve::OPENAPI).expect("JSON");
    assert_eq!(document, served);
    let key = atlas.key();
    let mut names = std::collections::BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            assert!(names.insert(operation["operationId"].as_str()), "{operation}");
            let mut query = String::new();
            for parameter in operation["parameters"].as_array().expect("parameters") {
                let description = parameter["description"].as_str().expect("a description");
                assert!(!description.is_empty(), "{parameter}");
                if parameter["in"] == "query" && parameter["required"] == true {
                    query += &format!("{}=2012&", parameter["name"].as_str().expect("a name"));
                }
            }
            let path = path.replace("{id}", &other_id(1)).replace("{key}", &key);
            let uri = format!("{path}?{}", query.trim_end_matches('&'));
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let status = atlas.send(method, &uri, &[LOCALHOST], "").status.as_u16();
            let described = operation["responses"].get(status.to_string());
            assert!(described.is_some() && status != 405, "{uri}: {status}");
        }
    }
    // Every reference leads somewhere.
    let text = document.to_string();
    let references: Vec<&str> = text.split("\"$ref\":\"#").skip(1).collect();
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.split('"').next().expect("a pointer");
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    // What is omitted when empty is not required.
    let row = &document["components"]["schemas"]["ComparedRow"];
    assert!(row["properties"]["at"].is_object());
    let required = row["required"].as_array().expect("names");
    assert!(!required.contains(&json!("at")));
}

#[test]
fn the_openapi_document_is_not_sent_again_to_a_client_that_has_it() {
    const PATH: &str = "/api/openapi.json";
    let atlas = Atlas::empty();
    let first = atlas.get(PATH);
    assert_eq!(first.header("content-type"), "application/json");
    assert_eq!(first.header("cache-control"), "private, no-cache");
    let tag = first.header("etag");
    assert!(tag.starts_with('"') && tag.len() == 34, "{tag}");
    let with = |tags: &str| {
        let headers = [LOCALHOST, ("if-none-match", tags)];
        atlas.send(Method::GET, PATH, &headers, "")
    };
    for same in [tag, &format!("W/{tag}"), &format!("\"other\", {tag}"), "*"] {
        let again = with(same);
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{same}");
        assert_eq!(again.header("etag"), tag);
        assert_eq!(again.header("x-content-type-options"), "nosniff");
    }
    for other in ["\"other\"", "", tag.trim_matches('"')] {
        assert_eq!(with(other).body, first.body, "{other:?}");
    }
}
