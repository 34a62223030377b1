//! Who is let in.

use crate::common::{Answer, Atlas, ID, TOKEN, With, document};
use axum::body::Body;
use axum::http::Method;
use base64::Engine;

fn with_headers(atlas: &Atlas, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = axum::http::Request::builder()
        .method(method.clone())
        .uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = match method {
        Method::POST => Body::from(document(ID, 0, "lab")),
        _ => Body::empty(),
    };
    atlas.ask(request.body(body).expect("a request"))
}

#[test]
fn without_the_token_nothing_but_health_is_told() {
    let atlas = Atlas::with(With {
        token: true,
        ..With::default()
    });
    atlas.keep(&document(ID, 0, "lab"));
    let basic = |text: String| {
        format!(
            "Basic {}",
            base64::engine::general_purpose::STANDARD.encode(text)
        )
    };
    let wrong = [
        String::new(),
        "Bearer".into(),
        format!("Bearer {TOKEN}x"),
        format!("Bearer {}", TOKEN.to_uppercase()),
        basic("me:password".into()),
    ];
    let document = format!("/api/runs/{ID}/document");
    let paths = [
        "/",
        "/runs",
        "/style.css",
        "/metrics",
        "/api/machines",
        "/nowhere",
        &document,
    ];
    for path in paths {
        for header in &wrong {
            let given: &[(&str, &str)] = match header.is_empty() {
                true => &[("host", "example.com")],
                false => &[("host", "example.com"), ("authorization", header)],
            };
            let answer = with_headers(&atlas, Method::GET, path, given);
            answer.problem(401);
            assert!(!answer.text().contains("lab"));
            let asked: Vec<_> = answer.headers.get_all("www-authenticate").iter().collect();
            assert_eq!(asked.len(), 2, "{asked:?}");
        }
    }
    assert_eq!(
        with_headers(&atlas, Method::GET, "/healthz", &[]).status,
        200
    );
    for header in [format!("Bearer {TOKEN}"), basic(format!("anybody:{TOKEN}"))] {
        // Behind a proxy the name is not this machine's.
        let given = [
            ("host", "atlas.example.com"),
            ("authorization", header.as_str()),
        ];
        assert_eq!(
            with_headers(&atlas, Method::GET, &document, &given).status,
            200
        );
    }
    let posted = with_headers(
        &atlas,
        Method::POST,
        "/api/runs",
        &[("content-type", "application/json")],
    );
    posted.problem(401);
}

#[test]
fn a_name_that_was_made_to_lead_here_is_not_answered() {
    let atlas = Atlas::of_three();
    for host in [
        "127.0.0.1:8080",
        "localhost:8080",
        "[::1]:8080",
        "LOCALHOST",
    ] {
        assert_eq!(
            with_headers(&atlas, Method::GET, "/", &[("host", host)]).status,
            200,
            "{host}"
        );
    }
    for host in [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "",
    ] {
        for path in ["/", "/api/runs", "/metrics", "/healthz"] {
            with_headers(&atlas, Method::GET, path, &[("host", host)]).problem(421);
        }
    }
    with_headers(&atlas, Method::GET, "/", &[]).problem(421);
    let twice = [("host", "localhost"), ("host", "evil.example")];
    with_headers(&atlas, Method::GET, "/", &twice).problem(400);
}

#[test]
fn another_origins_page_can_not_upload() {
    let atlas = Atlas::empty();
    let host = ("host", "127.0.0.1:8080");
    let kind = ("content-type", "application/json");
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
            let refused = with_headers(&atlas, Method::POST, path, &[host, kind, foreign]);
            assert_eq!(refused.status, 403, "{foreign:?} {path}");
        }
    }
    assert_eq!(atlas.files(), Vec::<String>::new());
    let own = [
        host,
        kind,
        ("origin", "http://127.0.0.1:8080"),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(
        with_headers(&atlas, Method::POST, "/api/runs", &own).status,
        201
    );
}

#[test]
fn every_answer_carries_what_guards_it() {
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
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(
            !policy.contains("script-src") && !policy.contains("unsafe"),
            "{path}: {policy}"
        );
    }
}
