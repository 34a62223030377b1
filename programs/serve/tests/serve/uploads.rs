//! Uploads by programs and by the form: stored once, or refused with a reason.

use crate::common::{Answer, Atlas, ID, LOCALHOST, NOW_MS, document, other_id, served_run};
use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use store::exchange::export::{ExportFormat, export};

#[test]
fn a_run_is_stored_once_and_never_changed() {
    let atlas = Atlas::empty();
    let sent = document(ID, 0, "lab");
    let first = atlas.upload_json(sent.clone());
    assert_eq!(first.status, 201);
    let location = format!("/api/runs/{ID}");
    assert_eq!(first.header("location"), location);
    let stored = json!({"id": ID, "location": location, "already": false});
    assert_eq!(first.json(), stored);
    let packed = zstd::bulk::compress(&sent, 1).expect("packed");
    let again = atlas.upload(packed, "application/zstd");
    assert_eq!((again.status.as_u16(), &again.json()["already"]), (200, &json!(true)));
    atlas.upload_json(document(ID, 0, "desk")).problem(409);
    // Another time is another file name, but the same id.
    atlas.upload_json(document(ID, 5, "lab")).problem(409);
    assert_eq!(atlas.files().len(), 1);
    assert_eq!(atlas.get(&location).json()["run"]["host"], "lab");
    // At once: one of them is stored.
    let upload = |number: u32| {
        let document = document(&other_id(9), number.into(), "lab");
        atlas.upload_json(document).status.as_u16()
    };
    let mut statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || upload(n))).collect();
        threads.into_iter().map(|thread| thread.join().expect("joined")).collect()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(atlas.files().len(), 2);
}

#[test]
fn records_without_samples_are_stored_and_ranked() {
    let atlas = Atlas::empty();
    for number in 0..3 {
        let run = document(&other_id(number), u64::from(number), "lab");
        let run = store::from_bytes(&run).expect("a run");
        let record = export(&run, ExportFormat::Reference, &[]).expect("a record").text;
        assert_eq!(atlas.upload_json(record).status, 201);
    }
    let ranked = atlas.get("/api/percentiles?row=cpu.add_i32").json();
    let machines = ranked["machines"].as_array().expect("a list");
    let hosts = machines.iter().map(|machine| machine["host"].as_str().expect("named"));
    let mut hosts: Vec<&str> = hosts.collect();
    hosts.sort_unstable();
    // Not one of them is "lab", and each is a machine of its own.
    assert_eq!(hosts, ["record-00000000", "record-00000001", "record-00000002"]);
}

#[test]
fn a_damaged_document_is_replaced() {
    let atlas = Atlas::empty();
    let path = atlas.store(&served_run(ID, 0, "lab"));
    std::fs::write(&path, b"broken").expect("written");
    assert_eq!(atlas.upload_json(document(ID, 0, "lab")).status, 201);
    assert_eq!(atlas.get(&format!("/api/runs/{ID}")).status, 200);
    std::fs::write(&path, b"{\"schema\":99}").expect("written");
    atlas.upload_json(document(ID, 0, "lab")).problem(409);
}

#[test]
fn refusals() {
    let atlas = Atlas::with(|options| options.max_upload_bytes = 1 << 20);
    let sent = document(ID, 0, "lab");
    let with = |field: &str, value: Value| {
        let mut run = served_run(ID, 0, "lab");
        run[field] = value;
        run.to_string().into_bytes()
    };
    let bomb = zstd::bulk::compress(&vec![b' '; 64 << 20], 3).expect("packed");
    assert!(bomb.len() < 100_000);
    let json = [("content-type", "application/json")].as_slice();
    let zstd = [("content-type", "application/zstd")].as_slice();
    let gzip = [json[0], ("content-encoding", "gzip")];
    let long = [json[0], ("content-length", "99999999999")];
    let mut details = String::new();
    for (status, what, headers, body) in [
        (400, "empty", json, vec![]),
        (400, "text", json, b"hello".to_vec()),
        (400, "half", json, sent[..sent.len() / 2].to_vec()),
        (422, "no run", json, b"{}".to_vec()),
        (422, "newer", json, b"{\"schema\":99}".to_vec()),
        (422, "an id that is a path", json, with("id", "../../../../tmp/x".into())),
        (
            422,
            "of a campaign",
            json,
            with(
                "job",
                json!({
                    "campaign": "lab", "digest": "00", "host": "n1", "repetition": 1, "attempt": 1,
                    "nonce": "0",
                }),
            ),
        ),
        (422, "no time", json, with("started_unix_ms", u64::MAX.into())),
        // Clocks differ, but not by two days.
        (422, "the future", json, with("started_unix_ms", (NOW_MS + 2 * 86_400_000).into())),
        (415, "HTML", &[("content-type", "text/html")], sent.clone()),
        (415, "no type", &[("content-type", "")], sent.clone()),
        (415, "gzip", &gzip, sent.clone()),
        // Without Content-Length: counted while it arrives.
        (413, "too large", json, vec![b' '; (1 << 20) + 1]),
        (413, "said to be too large", &long, vec![]),
        (413, "too large unpacked", zstd, bomb),
    ] {
        let headers = [&[LOCALHOST], headers].concat();
        let answer = atlas.send(Method::POST, "/api/runs", &headers, body);
        details += &format!("{status} {what}\n    {}\n", answer.problem(status));
    }
    assert_eq!(atlas.files(), Vec::<String>::new());
    let closed = Atlas::with(|options| options.read_only = true);
    details += &format!("403 read-only\n    {}\n", closed.upload_json(sent).problem(403));
    assert_eq!(closed.files(), Vec::<String>::new());
    insta::assert_snapshot!(details);
}

/// A form with one file, as browsers send it.
fn submit(atlas: &Atlas, field: &str, bytes: &[u8]) -> Answer {
    let mut body = format!(
        "--XyZ\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"../../x\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--XyZ--\r\n");
    let headers = [
        LOCALHOST,
        ("accept", "text/html,*/*;q=0.8"),
        ("content-type", "multipart/form-data; boundary=XyZ"),
        ("origin", "http://127.0.0.1:8080"),
        ("sec-fetch-site", "same-origin"),
    ];
    atlas.send(Method::POST, "/upload", &headers, Body::from(body))
}

#[test]
fn a_form_uploads_as_a_program_does() {
    let atlas = Atlas::empty();
    let sent = document(ID, 0, "lab");
    let stored = submit(&atlas, "document", &sent);
    assert_eq!(stored.status, 200);
    assert!(stored.body_text().contains(&format!("/runs/{ID}")));
    let again = submit(&atlas, "document", &sent);
    assert!(again.body_text().contains("<h1>Already stored</h1>"));
    let other = document(ID, 0, "desk");
    for (field, bytes, status) in [
        ("document", b"hello".as_slice(), 400),
        ("document", b"", 400),
        ("other", &sent, 400),
        ("document", b"{}", 422),
        ("document", &other, 409),
    ] {
        let answer = submit(&atlas, field, bytes);
        assert_eq!(answer.status, status, "{}", answer.body_text());
        assert!(answer.header("content-type").starts_with("text/html"));
        assert!(answer.body_text().contains("<h1>"));
    }
    let headers = [LOCALHOST, ("content-type", "text/plain")];
    let answer = atlas.send(Method::POST, "/upload", &headers, sent.clone());
    assert_eq!(answer.status, 400);
    assert_eq!(atlas.files().len(), 1);
    let closed = Atlas::with(|options| options.read_only = true);
    assert_eq!(submit(&closed, "document", &sent).status, 403);
    assert!(!closed.get("/upload").body_text().contains("<form"));
}
