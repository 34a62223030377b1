//! What holds for any bytes that are sent to be kept. Shared with the fuzz
//! target, which lies outside the workspace.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

/// Sends bytes to an atlas without runs. Either they are refused in one line
/// and nothing is kept, or the run can be looked at on every page. Says which.
pub(crate) fn upload_anything(router: &Router, bytes: &[u8]) -> bool {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let post = request(Method::POST, "/api/runs", bytes.to_vec());
        let (status, body) = asked(router, post).await;
        assert!(status < 500, "{status}: {body:?}");
        let told: Value = serde_json::from_slice(&body).expect("JSON");
        let total = |runs: &[u8]| {
            let runs: Value = serde_json::from_slice(runs).expect("JSON");
            runs["total"].as_u64().expect("a total")
        };
        let (_, runs) = asked(router, request(Method::GET, "/api/runs", vec![])).await;
        if status != 201 {
            assert!((400..500).contains(&status), "{status}");
            let detail = told["detail"].as_str().expect("a detail");
            assert!(!detail.is_empty() && !detail.contains('\n'), "{detail:?}");
            assert_eq!(total(&runs), 0, "refused, and kept nevertheless");
            return false;
        }
        assert_eq!(total(&runs), 1);
        look_at_all(router, told["id"].as_str().expect("an id")).await;
        true
    })
}

async fn look_at_all(router: &Router, id: &str) {
    let mut paths = vec![
        "/".to_owned(),
        "/runs".into(),
        "/rows".into(),
        "/api/machines".into(),
        "/api/rows".into(),
        "/metrics".into(),
        format!("/runs/{id}"),
        format!("/runs/{id}/report"),
        format!("/api/runs/{id}"),
        format!("/api/runs/{id}/document"),
        format!("/compare?a={id}&b={id}"),
        format!("/compare?a=2012&b={id}"),
    ];
    let (_, figures) =
        asked(router, request(Method::GET, &format!("/api/runs/{id}"), vec![])).await;
    let run: Value = serde_json::from_slice(&figures).expect("JSON");
    for figure in run["figures"].as_array().expect("figures").iter().take(20) {
        let row = figure["row"].as_str().expect("a row");
        let row: String = row.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let at = figure["at"].as_array().expect("a point");
        let at: Vec<String> = at.iter().map(Value::to_string).collect();
        paths.push(format!("/row?row={row}&at={}", at.join(",")));
    }
    for path in paths {
        let (status, body) = asked(router, request(Method::GET, &path, vec![])).await;
        assert!(status < 500, "{path}: {status}: {}", String::from_utf8_lossy(&body));
    }
}

fn request(method: Method, path: &str, body: Vec<u8>) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("content-type", "application/octet-stream")
        .body(Body::from(body))
        .expect("a request")
}

async fn asked(router: &Router, request: Request<Body>) -> (u16, Vec<u8>) {
    let response = router.clone().oneshot(request).await.expect("infallible");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body");
    (status, body.to_bytes().to_vec())
}
