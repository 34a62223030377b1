//! Who may send requests.

use crate::common::{Atlas, ID, LOCALHOST, TOKEN, document, other_id};
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn without_the_token_only_health_is_served() {
    let atlas = Atlas::with_token();
    atlas.store(&crate::common::served_run(ID, 0, "lab"));
    let basic = |text: String| format!("Basic {}", STANDARD.encode(text));
    // Behind a proxy the name is not this machine's.
    let host = ("host", "atlas.example.com");
    let get = |path: &str, authorization: &str| {
        let headers = [host, ("authorization", authorization)];
        atlas.send(Method::GET, path, &headers, "")
    };
    let run = format!("/api/runs/{ID}/document");
    let all = ["/", "/runs", "/style.css", "/metrics", "/api/machines", "/nowhere", &run];
    for path in all {
        for wrong in [
            "",
            "Bearer",
            &format!("Bearer {TOKEN}x"),
            &format!("Bearer {}", TOKEN.to_uppercase()),
            &basic("me:password".into()),
        ] {
            let answer = get(path, wrong);
            answer.problem(401);
            assert!(!answer.body_text().contains("lab"));
            assert_eq!(answer.headers.get_all("www-authenticate").iter().count(), 2);
        }
    }
    atlas.send(Method::GET, "/runs", &[host], "").problem(401);
    assert_eq!(atlas.send(Method::GET, "/healthz", &[], "").status, 200);
    for right in [format!("Bearer {TOKEN}"), basic(format!("anybody:{TOKEN}"))] {
        assert_eq!(get(&run, &right).status, 200);
    }
    let sent = document(&other_id(2), 0, "lab");
    atlas.send(Method::POST, "/api/runs", &[JSON], sent).problem(401);
}

#[test]
fn without_a_token_the_host_must_be_this_machine() {
    let atlas = Atlas::of_three();
    let get = |path: &str, hosts: &[&str]| {
        let headers: Vec<_> = hosts.iter().map(|host| ("host", *host)).collect();
        atlas.send(Method::GET, path, &headers, "")
    };
    for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "LOCALHOST"] {
        assert_eq!(get("/", &[host]).status, 200, "{host}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", ""] {
        for path in ["/", "/api/runs", "/metrics", "/healthz"] {
            get(path, &[host]).problem(421);
        }
    }
    get("/", &[]).problem(421);
    get("/", &["localhost", "evil.example"]).problem(400);
}

#[test]
fn a_page_of_another_origin_can_not_upload() {
    let atlas = Atlas::empty();
    for foreign in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:8081"),
        ("origin", "http://127.0.0.1"),
        ("origin", ""),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        for path in ["/api/runs", "/upload"] {
            let headers = [LOCALHOST, JSON, foreign];
            let refused = atlas.send(Method::POST, path, &headers, document(ID, 0, "lab"));
            assert_eq!(refused.status, 403, "{foreign:?} {path}");
        }
    }
    assert_eq!(atlas.files(), Vec::<String>::new());
    let own = ("origin", "http://127.0.0.1:8080");
    let headers = [LOCALHOST, JSON, own, ("sec-fetch-site", "same-origin")];
    let stored = atlas.send(Method::POST, "/api/runs", &headers, document(ID, 0, "lab"));
    assert_eq!(stored.status, 201);
}

#[test]
fn every_response_has_the_headers_that_protect_it() {
    let atlas = Atlas::of_three();
    for path in [
        "/",
        "/rows",
        "/style.css",
        "/api/runs",
        "/metrics",
        "/healthz",
        "/nowhere",
        "/api/runs?limit=0",
    ] {
        let answer = atlas.get(path);
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
            (
                "content-security-policy",
                "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                 base-uri 'none'; frame-ancestors 'none'",
            ),
        ] {
            assert_eq!(answer.header(name), value, "{path}");
        }
    }
}
