//! Any path, query and header of a request to a server with a run: never a fault of the server.
#![no_main]

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use compare::references::References;
use http_body_util::BodyExt;
use std::sync::{Arc, LazyLock};
use store::Store;
use tower::ServiceExt;

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
});

static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory").keep();
    let store = Store::in_directory(&dir);
    store.save(&model::synthetic::run()).expect("kept");
    let options = serve::Options {
        token: None,
        max_upload_bytes: 1 << 20,
        upload: serve::UploadLimits::default(),
        now_unix_ms: || 1_795_250_000_000,
        timeout: serve::TIMEOUT,
        read_only: true,
        probes: Vec::new(),
        log: Arc::new(|line: &str| assert!(!line.contains("bug in latlas"), "{line}")),
    };
    serve::router(store, References::embedded().expect("references"), options)
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(3, |&byte| byte == b'\n');
    let mut next = || parts.next().unwrap_or_default();
    let (uri, header, value) = (next(), next(), next());
    let Ok(uri) = std::str::from_utf8(uri) else {
        return;
    };
    let mut request = Request::builder().uri(uri).header("host", "localhost");
    if !header.is_empty() {
        request = request.header(header, value);
    }
    let Ok(request) = request.body(Body::empty()) else {
        return;
    };
    RUNTIME.block_on(async {
        let response = ROUTER.clone().oneshot(request).await.expect("infallible");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        assert!(status < 500, "{uri:?}: {status} {}", String::from_utf8_lossy(&body));
    });
});
