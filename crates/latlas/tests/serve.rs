//! `latlas serve` as it is started and ended: the real program, over real
//! sockets. What it answers in detail is tested in its own crate.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Long against anything that should happen.
const PATIENCE: Duration = Duration::from_secs(30);
const ID: &str = "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn fixture() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/synthetic.json");
    let text = std::fs::read_to_string(path).expect("the fixture");
    // Long ago: whatever this machine's clock says, a run that is to come is
    // refused.
    let before = "\"started_unix_ms\":1795225964000";
    assert!(text.contains(before));
    text.replace(before, "\"started_unix_ms\":1577836800000")
        .into_bytes()
}

fn command(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latlas"));
    command
        .arg("serve")
        .args(arguments)
        .env("LATLAS_DATA_DIR", home.path().join("data"))
        .env_remove("LATLAS_TOKEN")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// It is refused with one line that says so.
fn refused(command: &mut Command, why: &str) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the binary runs");
    let said = String::from_utf8(stderr).expect("UTF-8");
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(stdout.is_empty());
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(why), "{why} not in {said}");
    assert!(!said.contains(TOKEN), "the token is told: {said}");
}

struct Serving {
    child: Child,
    address: SocketAddr,
    stderr: BufReader<ChildStderr>,
}

impl Serving {
    fn start(command: &mut Command) -> Serving {
        let mut child = command.spawn().expect("the binary");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a line");
        let address = line
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let address = address.and_then(|a| a.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}"));
        Serving {
            child,
            address,
            stderr,
        }
    }

    /// Sends a request as it is, and takes all that comes.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        // It may answer and close before all of it is sent.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let answer = self.raw(&[head.as_bytes(), body].concat());
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        (
            status.unwrap_or_else(|| panic!("no status: {answer:?}")),
            answer,
        )
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, "", b"")
    }

    /// Sends a signal; how it ended and what it said.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([signal, &id])
            .status()
            .expect("kill");
        assert!(sent.success());
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).expect("UTF-8");
        (self.child.wait().expect("ended").code(), said)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn runs(home: &TempDir) -> Vec<PathBuf> {
    match std::fs::read_dir(home.path().join("data/runs")) {
        Ok(entries) => entries
            .map(|entry| entry.expect("an entry").path())
            .collect(),
        Err(_) => Vec::new(),
    }
}

#[test]
fn it_serves_takes_a_run_and_ends_when_it_is_told_to() {
    let home = tempfile::tempdir().expect("tempdir");
    for signal in ["-TERM", "-INT"] {
        let serving = Serving::start(&mut command(&home, &["--listen", "127.0.0.1:0"]));
        assert!(serving.address.ip().is_loopback());
        let (status, page) = serving.get("/");
        assert_eq!(status, 200);
        assert!(
            page.contains("content-security-policy: default-src 'none'"),
            "{page}"
        );
        let json = "Content-Type: application/json\r\n";
        let (status, answer) = serving.ask("POST", "/api/runs", json, &fixture());
        assert!(
            status == if signal == "-TERM" { 201 } else { 200 },
            "{answer}"
        );
        assert!(answer.contains(ID));
        assert_eq!(serving.get(&format!("/runs/{ID}")).0, 200);
        let (code, said) = serving.end(signal);
        assert_eq!(code, Some(0), "{said}");
        assert!(
            said.contains("requests may finish") && said.ends_with("latlas: ended\n"),
            "{said}"
        );
    }
    assert_eq!(runs(&home).len(), 1);
    let show = Command::new(env!("CARGO_BIN_EXE_latlas"))
        .args(["show", ID, "--json"])
        .env("LATLAS_DATA_DIR", home.path().join("data"))
        .output()
        .expect("the binary runs");
    assert!(show.status.success());
}

#[test]
fn what_it_can_not_listen_on_is_refused() {
    let home = tempfile::tempdir().expect("tempdir");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    refused(
        &mut command(&home, &["--listen", &address]),
        "the port is taken",
    );
    refused(&mut command(&home, &["--listen", "8080"]), "give HOST:PORT");
    refused(
        &mut command(&home, &["--listen", "0.0.0.0:0"]),
        "--token-file",
    );
    refused(&mut command(&home, &["--listen", "[::]:0"]), "--token-file");
    // 192.0.2.0/24 is nobody's (RFC 5737).
    let mut nobodys = command(&home, &["--listen", "192.0.2.1:8080"]);
    refused(nobodys.env("LATLAS_TOKEN", TOKEN), "can't listen on");
    let mut nowhere = command(&home, &[]);
    nowhere
        .env_remove("LATLAS_DATA_DIR")
        .env_remove("HOME")
        .env_remove("XDG_DATA_HOME");
    refused(&mut nowhere, "LATLAS_DATA_DIR");
    assert_eq!(runs(&home), Vec::<PathBuf>::new());
}

#[test]
fn a_token_is_a_secret_or_none() {
    let home = tempfile::tempdir().expect("tempdir");
    let file = home.path().join("token");
    let path = file.to_str().expect("UTF-8");
    refused(
        &mut command(&home, &["--token-file", path]),
        "can't read the token",
    );
    for (text, why) in [
        ("", "16 at least"),
        ("short\n", "16 at least"),
        ("with a space inside it", "letters"),
    ] {
        std::fs::write(&file, text).expect("written");
        refused(&mut command(&home, &["--token-file", path]), why);
        refused(command(&home, &[]).env("LATLAS_TOKEN", text), why);
    }
    std::fs::write(&file, format!("{TOKEN}\n")).expect("written");
    let any = ["--listen", "0.0.0.0:0", "--token-file", path];
    // The file is asked first.
    let mut serving =
        Serving::start(command(&home, &any).env("LATLAS_TOKEN", "another-token-of-16"));
    serving.address.set_ip([127, 0, 0, 1].into());
    assert_eq!(serving.get("/").0, 401);
    assert_eq!(serving.get("/healthz").0, 200);
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    assert_eq!(
        serving
            .ask("GET", "/", &bearer("another-token-of-16"), b"")
            .0,
        401
    );
    assert_eq!(serving.ask("GET", "/", &bearer(TOKEN), b"").0, 200);
    let (code, said) = serving.end("-TERM");
    assert_eq!(code, Some(0));
    assert!(!said.contains(TOKEN), "{said}");
}

#[test]
fn strange_requests_are_answered_and_change_nothing() {
    let home = tempfile::tempdir().expect("tempdir");
    let arguments = ["--listen", "127.0.0.1:0", "--max-upload", "1MiB"];
    let serving = Serving::start(&mut command(&home, &arguments));
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/runs/..%2f..%2f..%2fetc%2fpasswd/document",
        "/runs/../../../../etc/passwd",
        "/style.css/../../../etc/passwd",
        "//etc/passwd",
        "/api/compare?a=/etc/passwd&b=2012",
        "/api/compare?a=..%2f..%2fetc%2fpasswd&b=2012",
    ] {
        let (status, answer) = serving.get(path);
        assert!((400..500).contains(&status), "{path}: {status}");
        assert!(!answer.contains("root:"), "{path}");
    }
    let (status, answer) = serving.ask("DELETE", "/api/runs", "", b"");
    assert_eq!(status, 405);
    assert!(
        answer.to_ascii_lowercase().contains("\r\nallow: "),
        "{answer}"
    );
    let (status, answer) = serving.ask("HEAD", "/", "", b"");
    assert_eq!(status, 200);
    assert!(answer.ends_with("\r\n\r\n"), "HEAD has no body: {answer}");
    let huge = format!("X-Huge: {}\r\n", "x".repeat(1 << 20));
    let answer = serving.raw(format!("GET / HTTP/1.1\r\nHost: localhost\r\n{huge}\r\n").as_bytes());
    assert!(
        !answer.contains(" 200 "),
        "{}",
        &answer[..answer.len().min(200)]
    );
    let json = "Content-Type: application/json\r\n";
    assert_eq!(
        serving
            .ask("POST", "/api/runs", json, &vec![b' '; (1 << 20) + 1])
            .0,
        413
    );
    assert_eq!(serving.ask("POST", "/api/runs", json, b"{}").0, 422);
    let foreign = format!("{json}Origin: https://evil.example\r\n");
    assert_eq!(
        serving.ask("POST", "/api/runs", &foreign, &fixture()).0,
        403
    );
    let rebound = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(serving.raw(rebound.as_bytes()).starts_with("HTTP/1.1 421"));
    assert_eq!(serving.get("/healthz").0, 200);
    assert_eq!(runs(&home), Vec::<PathBuf>::new());
    let (code, said) = serving.end("-TERM");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_store_that_can_not_be_read_is_told_at_the_start() {
    let home = tempfile::tempdir().expect("tempdir");
    std::fs::create_dir_all(home.path().join("data")).expect("made");
    std::fs::write(home.path().join("data/runs"), b"in the way").expect("written");
    // Root reads everything, but no file as a directory.
    refused(
        &mut command(&home, &["--listen", "127.0.0.1:0"]),
        "data/runs",
    );
}
