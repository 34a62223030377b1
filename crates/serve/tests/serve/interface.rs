//! What programs ask, and what they are answered.

use crate::common::{Atlas, ID, NOW_MS, With, document, id};
use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};

#[test]
fn machines_runs_and_figures_are_those_of_the_documents() {
    let atlas = Atlas::of_three();
    let machines = atlas.get("/api/machines").json();
    let machines = machines["machines"].as_array().expect("machines");
    let runs: Vec<&Value> = machines.iter().map(|m| &m["runs"]).collect();
    assert_eq!(runs, [2, 1], "the one with the newest run first");

    let all = atlas.get("/api/runs").json();
    let ids: Vec<&str> = all["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .map(|r| r["id"].as_str().expect("id"))
        .collect();
    assert_eq!(ids, [id(3), id(2), id(1)]);
    assert!(
        all["runs"][0].get("path").is_none(),
        "no path of this machine is told"
    );

    let second = atlas.get("/api/runs?offset=1&limit=1").json();
    assert_eq!(
        (&second["total"], &second["runs"][0]["id"]),
        (&json!(3), &json!(id(2)))
    );
    let key = machines[1]["key"].as_str().expect("a key");
    let of_desk = atlas.get(&format!("/api/runs?machine={key}")).json();
    assert_eq!(
        (&of_desk["total"], &of_desk["runs"][0]["host"]),
        (&json!(1), &json!("desk"))
    );

    let run = atlas.get(&format!("/api/runs/{}", id(1))).json();
    assert_eq!(run["run"]["id"], id(1));
    assert_eq!(run["facts"]["hostname"]["value"], "lab");
    let kept: Value = serde_json::from_slice(&document(&id(1), 1, "lab")).expect("JSON");
    let row = kept["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|row| row["outcome"]["figure"]["quiet"]["ns"].is_object())
        .expect("a quiet figure");
    let figure = run["figures"]
        .as_array()
        .expect("figures")
        .iter()
        .find(|figure| figure["row"] == row["id"])
        .expect("the same row");
    assert_eq!(figure["value"], row["outcome"]["figure"]["quiet"]["ns"]);
    assert_eq!(figure["verdict"], row["outcome"]["figure"]["verdict"]);
}

#[test]
fn a_document_comes_back_as_it_was_sent() {
    let atlas = Atlas::empty();
    let sent = document(ID, 0, "lab");
    assert_eq!(atlas.upload(sent.clone()).status, 201);
    let back = atlas.get(&format!("/api/runs/{ID}/document"));
    assert_eq!(back.header("content-type"), "application/zstd");
    assert_eq!(
        back.header("content-disposition"),
        format!("attachment; filename=\"{ID}.json.zst\"")
    );
    let run = |bytes: &[u8]| atlas::store::from_bytes(bytes).expect("a run");
    assert!(run(&back.body) == run(&sent));
}

#[test]
fn a_row_over_all_machines_and_over_time() {
    let atlas = Atlas::of_three();
    let rows = atlas.get("/api/rows").json();
    let rows = rows["rows"].as_array().expect("rows").clone();
    assert!(rows.len() > 5 && rows.iter().any(|row| row["points"].as_u64() > Some(0)));
    let run = atlas.get(&format!("/api/runs/{}", id(1))).json();
    let ok = run["figures"]
        .as_array()
        .expect("figures")
        .iter()
        .find(|f| {
            f["verdict"] == "ok"
                && f["value"].is_object()
                && f["below_ns"].is_null()
                && f["at"] == json!([])
        })
        .expect("a figure that is ok")
        .clone();
    let row = ok["row"].as_str().expect("a row");
    let p = atlas.get(&format!("/api/percentiles?row={row}")).json();
    assert_eq!(p["results"], 3, "{p}");
    assert_eq!(p["machines"].as_array().expect("machines").len(), 2);
    assert_eq!(p["machines"][0]["value"], ok["value"]["value"]);
    for percent in [5, 25, 50, 75, 95] {
        let told = p["quantiles"]
            .as_array()
            .expect("quantiles")
            .iter()
            .find(|q| q["percent"] == percent);
        assert_eq!(
            told.expect("told")["value"],
            ok["value"]["value"],
            "all three are the same"
        );
    }
    let key = run["run"]["machine"].as_str().expect("a key");
    let history = atlas
        .get(&format!("/api/history?machine={key}&row={row}"))
        .json();
    let moments = history["moments"].as_array().expect("moments");
    let ids: Vec<&Value> = moments.iter().map(|m| &m["run"]["id"]).collect();
    assert_eq!(ids, [&json!(id(1)), &json!(id(3))], "the oldest first");
    assert_eq!(moments[1]["figure"]["value"], ok["value"]);

    let point = run["figures"]
        .as_array()
        .expect("figures")
        .iter()
        .find(|f| f["at"] != json!([]))
        .expect("a point");
    let at: Vec<String> = point["at"]
        .as_array()
        .expect("at")
        .iter()
        .map(Value::to_string)
        .collect();
    let (row, at) = (point["row"].as_str().expect("a row"), at.join(","));
    let p = atlas.get(&format!("/api/percentiles?row={row}&at={at}"));
    assert_eq!((p.status.as_u16(), &p.json()["at"]), (200, &point["at"]));
    let all = atlas
        .get(&format!("/api/machines/{key}/percentiles"))
        .json();
    assert_eq!(all["machine"], key);
    let rows = all["rows"].as_array().expect("rows");
    let own = rows
        .iter()
        .find(|p| p["row"] == ok["row"] && p["at"] == json!([]))
        .expect("the row");
    assert_eq!(own["value"], ok["value"]["value"]);
    assert_eq!((&own["results"], &own["machines"]), (&json!(3), &json!(2)));
    assert_eq!(own["unit"], ok["unit"]);
    atlas.get("/api/machines/0/percentiles").problem(404);
    let page = atlas.get(&format!("/machines/{key}")).text();
    assert!(
        page.contains("Among all machines") && page.contains(own["row"].as_str().expect("a row"))
    );
    atlas.get("/api/percentiles?row=no.such").problem(404);
    atlas
        .get(&format!("/api/percentiles?row={row}&at=7"))
        .problem(404);
    atlas
        .get(&format!("/api/history?machine=0&row={row}"))
        .problem(404);
}

#[test]
fn a_comparison_is_that_of_compare() {
    let atlas = Atlas::of_three();
    let c = atlas
        .get(&format!("/api/compare?a={}&b={}", id(1), id(3)))
        .json();
    assert_eq!(c["a"]["runs"][0]["id"], id(1));
    assert!(!c["rows"].as_array().expect("rows").is_empty());
    for row in c["rows"].as_array().expect("rows") {
        assert_ne!(
            row["finding"], "different",
            "a run differs from itself: {row}"
        );
    }
    let c = atlas
        .get(&format!("/api/compare?a=2012&b={}", id(2)))
        .json();
    assert!(
        c["a"]["published"]
            .as_str()
            .is_some_and(|title| !title.is_empty())
    );
    assert_eq!(
        atlas
            .get(&format!("/api/compare?a=@lab&b={}", id(2)))
            .status,
        200
    );
    let mut without_rows: Value = serde_json::from_slice(&document(ID, 9, "bare")).expect("JSON");
    without_rows["rows"] = json!([]);
    atlas.keep(without_rows.to_string().as_bytes());
    atlas
        .get(&format!("/api/compare?a={ID}&b=2012"))
        .problem(422);
    atlas.get("/api/compare?a=@nowhere&b=2012").problem(404);
}

#[test]
fn a_run_is_found_though_a_file_beside_it_has_its_id() {
    let atlas = Atlas::of_three();
    let runs = atlas.dir.path().join("runs");
    let file = atlas.files().into_iter().find(|name| name.contains(&id(2)));
    let copy = format!("20200101T000000.000Z-{}.json.zst", id(2));
    std::fs::copy(runs.join(file.expect("kept")), runs.join(copy)).expect("copied");
    let run = atlas.get(&format!("/api/runs/{}", id(2)));
    assert_eq!(run.status, 200, "{}", run.text());
    assert_eq!(atlas.upload(document(&id(2), 2, "desk")).status, 200);
}

#[test]
fn what_is_damaged_is_kept_when_it_comes_again() {
    let atlas = Atlas::empty();
    let path = atlas.keep(&document(ID, 0, "lab"));
    std::fs::write(&path, b"broken").expect("written");
    assert_eq!(atlas.upload(document(ID, 0, "lab")).status, 201);
    assert_eq!(atlas.get(&format!("/api/runs/{ID}")).status, 200);
    std::fs::write(&path, b"{\"schema\":99}").expect("written");
    atlas.upload(document(ID, 0, "lab")).problem(409);
}

#[test]
fn nothing_but_kept_runs_is_read_whatever_it_is_called() {
    let atlas = Atlas::of_three();
    let outside = atlas.dir.path().join("outside.json");
    std::fs::write(&outside, document(ID, 0, "secret-host")).expect("written");
    let outside = outside.to_str().expect("UTF-8").to_owned();
    let escaped = outside.replace('/', "%2F");
    for name in [
        outside.as_str(),
        &escaped,
        "../outside.json",
        "..%2Foutside.json",
        "last",
        "%00",
        "",
        "@",
    ] {
        let answer = atlas.get(&format!("/api/compare?a={name}&b={}", id(1)));
        assert!(!answer.text().contains("secret-host"), "{name}");
        answer.problem(404);
    }
    for path in [
        "/api/runs/..%2Foutside.json",
        "/api/runs/..%2Foutside.json/document",
        "/api/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd/document",
        "/runs/..%2F..%2F..%2Fetc%2Fpasswd",
        "/api/runs/00000001/document",
        "/api/runs/%00",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/runs/%ff%fe",
    ] {
        let answer = atlas.get(path);
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
        assert!(
            !answer.text().contains("root:") && !answer.text().contains("secret-host"),
            "{path}"
        );
    }
}

#[test]
fn a_request_that_can_not_be_meant_is_refused() {
    let atlas = Atlas::of_three();
    for path in [
        "/api/runs?limit=0",
        "/api/runs?limit=1001",
        "/api/runs?limit=many",
        "/api/runs?offset=-1",
        "/api/runs?page=2",
        "/api/runs?limit=1&limit=2",
        "/api/machines?x=1",
        "/api/percentiles",
        "/api/percentiles?row=a&at=x",
        "/api/history?row=a",
        "/api/compare?a=2012",
        "/api/rows?%ff=1",
    ] {
        atlas.get(path).problem(400);
    }
    atlas.get("/api/runs/no-such").problem(404);
    atlas.get(&format!("/api/runs/{ID}")).problem(404);
    atlas.get("/nowhere").problem(404);
    for (method, path) in [
        (Method::DELETE, "/api/runs"),
        (Method::PUT, "/api/machines"),
        (Method::POST, "/metrics"),
        (Method::PATCH, "/"),
        (Method::DELETE, "/api/runs/x"),
    ] {
        let request = Atlas::request(method.clone(), path)
            .body(Body::empty())
            .expect("a request");
        let answer = atlas.ask(request);
        answer.problem(405);
        assert!(
            answer.header("allow").contains("GET"),
            "{method} {path}: {:?}",
            answer.headers
        );
    }
    let head = Atlas::request(Method::HEAD, "/api/machines")
        .body(Body::empty())
        .expect("a request");
    let head = atlas.ask(head);
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
}

#[test]
fn a_run_is_kept_once_and_never_changed() {
    let atlas = Atlas::empty();
    let sent = document(ID, 0, "lab");
    let first = atlas.upload(sent.clone());
    assert_eq!(first.status, 201);
    assert_eq!(first.header("location"), format!("/api/runs/{ID}"));
    assert_eq!(
        first.json(),
        json!({"id": ID, "location": format!("/api/runs/{ID}"), "already": false})
    );
    let again = atlas.post(
        zstd::bulk::compress(&sent, 1).expect("packed"),
        "application/zstd",
    );
    assert_eq!(
        (again.status.as_u16(), &again.json()["already"]),
        (200, &json!(true))
    );
    atlas.upload(document(ID, 0, "desk")).problem(409);
    // Another time is another file name, but the same id.
    atlas.upload(document(ID, 5, "lab")).problem(409);
    assert_eq!(atlas.files().len(), 1);
    assert_eq!(
        atlas.get(&format!("/api/runs/{ID}")).json()["run"]["host"],
        "lab"
    );
    // Of one id at once: other times are other file names, and one may be kept.
    let at_once = |number: u32| {
        let document = document(&id(9), u64::from(number), "lab");
        atlas.upload(document).status.as_u16()
    };
    let mut codes: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|n| scope.spawn(move || at_once(n))).collect();
        all.into_iter()
            .map(|one| one.join().expect("joined"))
            .collect()
    });
    codes.sort_unstable();
    assert_eq!(codes, [201, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(atlas.files().len(), 2);
}

#[test]
fn what_can_not_be_kept_says_why_in_its_status() {
    let atlas = Atlas::with(With {
        max_upload_bytes: Some(1 << 20),
        ..With::default()
    });
    assert!(atlas.upload(Body::empty()).problem(400).contains("empty"));
    assert!(atlas.upload("hello").problem(400).contains("not JSON"));
    let sent = document(ID, 0, "lab");
    assert!(
        atlas
            .upload(sent[..sent.len() / 2].to_vec())
            .problem(400)
            .contains("truncated")
    );
    assert!(
        atlas
            .upload("{}")
            .problem(422)
            .contains("not a run document")
    );
    assert!(
        atlas
            .upload("{\"schema\":99}")
            .problem(422)
            .contains("newer latlas")
    );
    let mut run: Value = serde_json::from_slice(&sent).expect("JSON");
    run["id"] = "../../../../tmp/x".into();
    assert!(
        atlas
            .upload(run.to_string())
            .problem(422)
            .contains("not a UUID")
    );
    run["id"] = ID.into();
    run["started_unix_ms"] = u64::MAX.into();
    assert!(
        atlas
            .upload(run.to_string())
            .problem(422)
            .contains("no time")
    );
    // Clocks differ, but not by two days.
    run["started_unix_ms"] = (NOW_MS + 2 * 86_400_000).into();
    assert!(
        atlas
            .upload(run.to_string())
            .problem(422)
            .contains("to come")
    );
    atlas.post(sent.clone(), "text/html").problem(415);
    atlas.post(sent.clone(), "").problem(415);
    let encoded = Atlas::request(Method::POST, "/api/runs")
        .header("content-type", "application/json")
        .header("content-encoding", "gzip")
        .body(Body::from(sent.clone()))
        .expect("a request");
    atlas.ask(encoded).problem(415);
    atlas.upload(vec![b' '; (1 << 20) + 1]).problem(413);
    // A stream that tells no length is counted while it comes.
    let claimed = Atlas::request(Method::POST, "/api/runs")
        .header("content-type", "application/json")
        .header("content-length", "99999999999")
        .body(Body::empty())
        .expect("a request");
    atlas.ask(claimed).problem(413);
    let bomb = zstd::bulk::compress(&vec![b' '; 64 << 20], 3).expect("packed");
    assert!(bomb.len() < 100_000);
    atlas.post(bomb, "application/zstd").problem(413);
    assert_eq!(atlas.files(), Vec::<String>::new());

    let closed = Atlas::with(With {
        read_only: true,
        ..With::default()
    });
    assert!(closed.upload(sent).problem(403).contains("--read-only"));
    assert_eq!(closed.files(), Vec::<String>::new());
}

#[test]
fn what_another_process_keeps_or_breaks_is_noticed() {
    let atlas = Atlas::of_three();
    assert_eq!(atlas.get("/api/runs").json()["total"], 3);
    let path = atlas.keep(&document(ID, 9, "lab"));
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(atlas.get("/api/runs").json()["total"], 4);
    std::fs::write(&path, b"broken").expect("written");
    let detail = atlas.get(&format!("/api/runs/{ID}")).problem(500);
    assert!(
        !detail.contains(atlas.dir.path().to_str().expect("UTF-8")),
        "{detail}"
    );
    let told = atlas.told.lock().expect("told").join("\n");
    assert!(told.contains(path.to_str().expect("UTF-8")), "{told}");
    // Nobody can write here, not even root.
    let runs = atlas.dir.path().join("runs");
    std::fs::rename(&runs, atlas.dir.path().join("away")).expect("moved");
    std::fs::write(&runs, b"a file").expect("written");
    let refused = atlas.upload(document(&id(7), 1, "lab"));
    assert!(refused.status.is_server_error(), "{}", refused.status);
    let detail = refused.problem(refused.status.as_u16());
    assert!(
        !detail.contains(atlas.dir.path().to_str().expect("UTF-8")),
        "{detail}"
    );
}

#[test]
fn the_interface_is_described_as_it_is() {
    let atlas = Atlas::of_three();
    let document = atlas.get("/api/openapi.json").json();
    assert_eq!(document, serve::openapi());
    assert_eq!(document["openapi"], "3.1.0");
    let mut names = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            names.push(
                operation["operationId"]
                    .as_str()
                    .expect("a name")
                    .to_owned(),
            );
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let key = atlas.get("/api/machines").json()["machines"][0]["key"].clone();
            let path = path.replace("{id}", &id(1));
            let path = path.replace("{key}", key.as_str().expect("a key"));
            let mut query = Vec::new();
            for parameter in operation["parameters"].as_array().expect("parameters") {
                assert!(
                    parameter["description"]
                        .as_str()
                        .is_some_and(|d| !d.is_empty()),
                    "{parameter}"
                );
                if parameter["in"] == "query" && parameter["required"] == true {
                    query.push(format!(
                        "{}=2012",
                        parameter["name"].as_str().expect("a name")
                    ));
                }
            }
            let uri = format!("{path}?{}", query.join("&"));
            let request = Atlas::request(method, &uri)
                .body(Body::empty())
                .expect("a request");
            let status = atlas.ask(request).status.as_u16().to_string();
            assert!(
                operation["responses"].get(&status).is_some(),
                "{uri}: {status} is not described"
            );
            assert_ne!(status, "405", "{uri}");
        }
    }
    names.sort();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "names are unique");
    // Every reference leads somewhere.
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().expect("a pointer");
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    assert!(text.contains("#/components/schemas/"));
    // What is left out where it is empty is not promised.
    let row = &document["components"]["schemas"]["ComparedRow"];
    assert!(row["properties"]["at"].is_object());
    assert!(
        !row["required"]
            .as_array()
            .expect("names")
            .contains(&json!("at"))
    );
}
