//! A store with some runs, served without a network.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use compare::references::References;
use http_body_util::BodyExt;
use serde_json::Value;
use serve::{Options, Token, UploadLimits, router};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::{self, Store};
use tower::ServiceExt;

const FIXTURE: &str = include_str!("../../../../crates/latlas/tests/fixtures/synthetic.json");
pub(crate) const ID: &str = "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// Some hours after the synthetic run started.
pub(crate) const NOW_MS: u64 = 1_795_250_000_000;

/// Another id in the same form.
pub(crate) fn other_id(number: u32) -> String {
    format!("{number:08x}-3c4d-4e5f-8a9b-0c1d2e3f4a5b")
}

/// The synthetic run under another id, so many seconds later, on a host.
pub(crate) fn served_run(id: &str, later_s: u64, host: &str) -> Value {
    let mut run: Value = serde_json::from_str(FIXTURE).expect("JSON");
    let started = run["started_unix_ms"].as_u64().expect("a time");
    run["id"] = id.into();
    run["started_unix_ms"] = (started + later_s * 1000).into();
    run["machine"]["hostname"] = serde_json::json!({ "value": host });
    run
}

pub(crate) fn document(id: &str, later_s: u64, host: &str) -> Vec<u8> {
    served_run(id, later_s, host).to_string().into_bytes()
}

pub(crate) struct Atlas {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) router: Router,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn body_text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body_text()))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().expect("text"))
    }

    /// Its detail, after checks that it is a problem of this status in one line.
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.body_text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let json = self.json();
        assert_eq!(json["status"], status);
        assert_eq!(json["type"], "about:blank");
        let detail = json["detail"].as_str().expect("a detail").to_owned();
        assert!(!detail.is_empty() && !detail.contains('\n'), "{detail}");
        detail
    }
}

impl Atlas {
    pub(crate) fn empty() -> Atlas {
        Atlas::with(|_| ())
    }

    /// An empty store, served with other options.
    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Atlas {
        let dir = tempfile::tempdir().expect("tempdir");
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let mut options = Options {
            token: None,
            max_upload_bytes: 8 << 20,
            upload: UploadLimits::default(),
            now_unix_ms: || NOW_MS,
            read_only: false,
            // A loaded machine must not fail a test.
            timeout: Duration::from_secs(600),
            probes: Vec::new(),
            log: Arc::new(move |line: &str| lines.lock().expect("log").push(line.into())),
        };
        change(&mut options);
        let references = References::embedded().expect("references");
        let router = router(Store::in_directory(dir.path()), references, options);
        Atlas { dir, router, log }
    }

    pub(crate) fn with_token() -> Atlas {
        Atlas::with(|options| options.token = Some(Token::new(TOKEN).expect("a token")))
    }

    /// Three runs of two machines.
    pub(crate) fn of_three() -> Atlas {
        let atlas = Atlas::empty();
        for (number, host) in [(1, "lab"), (2, "desk"), (3, "lab")] {
            atlas.store(&served_run(&other_id(number), number.into(), host));
        }
        atlas
    }

    /// Stores a run as another process does.
    pub(crate) fn store(&self, run: &Value) -> PathBuf {
        let run = store::from_bytes(run.to_string().as_bytes()).expect("a run");
        let store = Store::in_directory(self.dir.path());
        store.save(&run).expect("stored")
    }

    /// Names of the stored files, temporary ones included.
    pub(crate) fn files(&self) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(self.dir.path().join("runs")) else {
            return Vec::new();
        };
        let name = |file: std::io::Result<std::fs::DirEntry>| {
            let name = file.expect("a file").file_name();
            name.into_string().expect("UTF-8")
        };
        let mut names: Vec<String> = files.map(name).collect();
        names.sort();
        names
    }

    /// Key of the machine with the newest run.
    pub(crate) fn key(&self) -> String {
        let machines = self.get("/api/machines").json();
        let key = machines["machines"][0]["key"].as_str();
        key.expect("a key").to_owned()
    }

    /// Sends a request with exactly these headers.
    pub(crate) fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).expect("a request");
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await;
            let (parts, body) = response.expect("infallible").into_parts();
            let body = body.collect().await.expect("a body").to_bytes().to_vec();
            Answer { status: parts.status, headers: parts.headers, body }
        })
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[LOCALHOST], Body::empty())
    }

    pub(crate) fn upload(&self, body: impl Into<Body>, kind: &str) -> Answer {
        let headers = [LOCALHOST, ("content-type", kind)];
        self.send(Method::POST, "/api/runs", &headers, body)
    }

    pub(crate) fn upload_json(&self, body: impl Into<Body>) -> Answer {
        self.upload(body, "application/json")
    }
}

pub(crate) const LOCALHOST: (&str, &str) = ("host", "127.0.0.1:8080");

/// The synthetic run with a row of each kind and two points of a curve.
pub(crate) fn small(number: u32, host: &str) -> Value {
    const ROWS: [&str; 7] = [
        "memory.latency",
        "memory.latency/L1",
        "cpu.add_i32",
        "cpu.memcpy/16B",
        "cpu.memcpy/1MiB",
        "cpu.timer/counter",
        "sync.handoff/pipe",
    ];
    let mut run = served_run(&other_id(number), number.into(), host);
    for (list, name) in [("rows", "id"), ("cells", "row")] {
        let list = run[list].as_array_mut().expect("a list");
        list.retain(|item| ROWS.iter().any(|row| item[name] == *row));
    }
    let curve = &mut run["rows"][0]["outcome"]["curve"]["points"];
    curve.as_array_mut().expect("points").truncate(2);
    run
}
