//! An atlas of a few runs, asked without a network.

use atlas::references::References;
use atlas::store::{self, Store};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use serve::{Options, Token, UploadLimits, router};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::ServiceExt;

/// A run made up for tests, as a document.
pub(crate) const FIXTURE: &str = include_str!("../../../latlas/tests/fixtures/synthetic.json");
/// Its id.
pub(crate) const ID: &str = "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Some hours after the made-up run began.
pub(crate) const NOW_MS: u64 = 1_795_250_000_000;

/// Another id in the same form.
pub(crate) fn id(number: u32) -> String {
    format!("{number:08x}-3c4d-4e5f-8a9b-0c1d2e3f4a5b")
}

/// The made-up run under another id, so many seconds later, on a host.
pub(crate) fn document(id: &str, later_s: u64, host: &str) -> Vec<u8> {
    let mut run: Value = serde_json::from_str(FIXTURE).expect("JSON");
    run["id"] = id.into();
    let began = run["started_unix_ms"].as_u64().expect("a time");
    run["started_unix_ms"] = (began + later_s * 1000).into();
    run["machine"]["hostname"] = serde_json::json!({ "value": host });
    serde_json::to_vec(&run).expect("JSON")
}

pub(crate) struct Atlas {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) router: Router,
    pub(crate) told: Arc<Mutex<Vec<String>>>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |v| v.to_str().expect("text"))
    }

    /// It is a problem of this status, with one line to read.
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let json = self.json();
        assert_eq!(json["status"], status);
        assert_eq!(json["type"], "about:blank");
        let detail = json["detail"].as_str().expect("a detail").to_owned();
        assert!(!detail.is_empty() && !detail.contains('\n'), "{detail}");
        detail
    }
}

/// Which options differ from the usual ones.
#[derive(Default)]
pub(crate) struct With {
    pub(crate) token: bool,
    pub(crate) read_only: bool,
    pub(crate) max_upload_bytes: Option<u64>,
    pub(crate) upload: UploadLimits,
}

impl Atlas {
    pub(crate) fn empty() -> Atlas {
        Atlas::with(With::default())
    }

    pub(crate) fn with(with: With) -> Atlas {
        let dir = tempfile::tempdir().expect("tempdir");
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&told);
        let options = Options {
            token: with.token.then(|| Token::new(TOKEN).expect("a token")),
            max_upload_bytes: with.max_upload_bytes.unwrap_or(8 << 20),
            upload: with.upload,
            // Fixed, as the runs that tests make up are.
            now_unix_ms: || NOW_MS,
            read_only: with.read_only,
            // A test says when it waits too long, a loaded machine must not.
            patience: Duration::from_secs(600),
            probes: Vec::new(),
            log: Arc::new(move |line: &str| hears.lock().expect("told").push(line.into())),
        };
        let references = References::embedded().expect("references");
        let router = router(Store::in_directory(dir.path()), references, options);
        Atlas { dir, router, told }
    }

    /// Three runs of two machines.
    pub(crate) fn of_three() -> Atlas {
        let atlas = Atlas::empty();
        for (number, host) in [(1, "lab"), (2, "desk"), (3, "lab")] {
            atlas.keep(&document(&id(number), u64::from(number), host));
        }
        atlas
    }

    pub(crate) fn keep(&self, document: &[u8]) -> PathBuf {
        let run = store::from_bytes(document).expect("a run");
        let store = Store::in_directory(self.dir.path());
        store.save(&run).expect("kept")
    }

    /// All files below the data directory that are documents, or remains.
    pub(crate) fn files(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.dir.path().join("runs")) else {
            return Vec::new();
        };
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    pub(crate) fn ask(&self, request: Request<Body>) -> Answer {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let router = self.router.clone();
        runtime.block_on(async {
            let response = router.oneshot(request).await.expect("infallible");
            let (parts, body) = response.into_parts();
            let body = body.collect().await.expect("a body").to_bytes().to_vec();
            Answer {
                status: parts.status,
                headers: parts.headers,
                body,
            }
        })
    }

    pub(crate) fn request(method: Method, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:8080")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let request = Atlas::request(Method::GET, path).body(Body::empty());
        self.ask(request.expect("a request"))
    }

    pub(crate) fn post(&self, body: impl Into<Body>, kind: &str) -> Answer {
        let request = Atlas::request(Method::POST, "/api/runs").header("content-type", kind);
        self.ask(request.body(body.into()).expect("a request"))
    }

    pub(crate) fn upload(&self, body: impl Into<Body>) -> Answer {
        self.post(body, "application/json")
    }
}

/// A form of one file, as browsers send it.
pub(crate) fn form(field: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    let mut body = format!(
        "--XyZ\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"../../x\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--XyZ--\r\n");
    ("multipart/form-data; boundary=XyZ".into(), body)
}
