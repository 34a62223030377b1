//! Any bytes as an upload: refused in one line and nothing kept, or a run that
//! every page shows.
#![no_main]

use compare::references::References;
use store::Store;
use std::sync::Arc;

#[path = "../../programs/serve/tests/anything/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let dir = tempfile::tempdir().expect("a directory");
    let options = serve::Options {
        token: None,
        max_upload_bytes: 1 << 20,
        upload: serve::UploadLimits::default(),
        now_unix_ms: || 1_795_250_000_000,
        timeout: serve::TIMEOUT,
        read_only: false,
        probes: Vec::new(),
        log: Arc::new(|line: &str| assert!(!line.contains("bug in latlas"), "{line}")),
    };
    let references = References::embedded().expect("references");
    let router = serve::router(Store::in_directory(dir.path()), references, options);
    invariants::upload_anything(&router, bytes);
});
