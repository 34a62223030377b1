//! `latlas serve` as it is started and ended, over real sockets. What it answers in detail
//! is tested in `tests/serve`.

use crate::support::{Done, Home, SYNTHETIC_ID as ID, synthetic};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, ChildStderr, Command};
use std::time::Duration;

/// Long against anything that should happen.
const PATIENCE: Duration = Duration::from_secs(180);
const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const JSON: &str = "Content-Type: application/json\r\n";

fn document() -> Vec<u8> {
    synthetic().to_string().into_bytes()
}

/// Refused, and without a word of the token.
fn refused(command: &mut Command, why: &str) {
    let done = Done::from_command(command.env_remove("LATLAS_CONFIG"));
    done.refused(why);
    assert!(!done.err.contains(TOKEN), "{}", done.err);
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
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(' ').next());
        let address = address.and_then(|a| a.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}"));
        Serving { child, address, stderr }
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        // It may answer and close before all of it is sent.
        let _ = stream.write_all(&[head.as_bytes(), body].concat());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("no status: {answer:?}")), answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, "", b"")
    }

    /// Sends a signal; how it ended and what it printed.
    fn end_by_signal(mut self, signal: &str) -> (Option<i32>, String) {
        let line = format!("kill {signal} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &line]).status();
        assert!(sent.expect("sh").success());
        let mut printed = String::new();
        self.stderr.read_to_string(&mut printed).expect("UTF-8");
        (self.child.wait().expect("ended").code(), printed)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_serves_takes_a_run_and_ends_by_a_signal() {
    let home = Home::new();
    for (signal, status) in [("-TERM", 201), ("-INT", 200)] {
        let serving = Serving::start(&mut home.command("serve --listen 127.0.0.1:0"));
        assert!(serving.address.ip().is_loopback());
        let (found, page) = serving.get("/");
        assert_eq!(found, 200);
        crate::support::has(&page, ["content-security-policy: default-src 'none'"]);
        let (found, answer) = serving.ask("POST", "/api/runs", JSON, &document());
        assert_eq!(found, status, "{answer}");
        assert!(answer.contains(ID));
        assert_eq!(serving.get(&format!("/runs/{ID}")).0, 200);
        let (code, printed) = serving.end_by_signal(signal);
        assert_eq!(code, Some(0), "{printed}");
        assert!(printed.ends_with("latlas: stopped\n"), "{printed}");
    }
    assert_eq!(home.kept_documents(), 1);
    home.latlas(format!("show {ID} --document")).ok();
}

#[test]
fn what_it_can_not_listen_on_is_refused() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address");
    refused(&mut home.command(format!("serve --listen {address}")), "port in use");
    // 192.0.2.0/24 is for documentation (RFC 5737): no machine has it.
    let mut foreign = home.command("serve --listen 192.0.2.1:8080");
    refused(foreign.env("LATLAS_TOKEN", TOKEN), "can't listen on");
    // Root reads everything, but no file as a directory.
    home.write("data/runs", "in the way");
    refused(&mut home.command("serve --listen 127.0.0.1:0"), "data/runs");
}

#[test]
fn bad_requests_are_refused_with_what_to_do() {
    let home = Home::new();
    insta::assert_snapshot!(home.refusals(
        "serve --lsten x
         serve --listen 8080
         serve --listen 0.0.0.0:0
         serve --listen [::]:0
         serve --token-file missing
         serve --listen 127.0.0.1:0 --token-file /dev/zero"
    ));
    home.write("token", format!("{TOKEN}\n"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(home.path("token"), mode).expect("a mode");
    let mut open = home.command("serve --listen 127.0.0.1:0 --token-file token");
    refused(&mut open, "token is writable by other users (chmod go-w)");
}

#[test]
fn a_latlas_of_another_version_is_refused() {
    let home = Home::new();
    let mut called = home.limited("export LATLAS_CALLER=\"$$ 0.0.9\"", "serve");
    Done::from_command(&mut called).refused("latlas is version 0.0.9 and latlas-serve is version ");
    // What another process was started by says nothing of this one.
    let mut inherited = home.limited("export LATLAS_CALLER=\"$PPID 0.0.9\"", "serve --listen 8080");
    Done::from_command(&mut inherited).refused("no address \"8080\"");
}

#[test]
fn latlas_serve_is_this_program() {
    let done = Home::new().latlas("serve --listen 8080");
    done.refused("no address \"8080\"");
    let help = Home::new().latlas("serve --help").ok().out;
    crate::support::has(&help, ["Usage: latlas serve [OPTIONS]", "--token-file"]);
}

#[test]
fn a_token_is_a_secret_or_none() {
    let home = Home::new();
    let with_file = "serve --token-file token";
    refused(&mut home.command(with_file), "can't read the token");
    for (text, why) in [("", "16 "), ("short\n", "16 "), ("with a space inside it", "letters")] {
        home.write("token", text);
        refused(&mut home.command(with_file), why);
        refused(home.command("serve").env("LATLAS_TOKEN", text), why);
    }
    let text = std::ffi::OsStr::from_bytes(b"\xff-not-to-be-printed");
    let done = Done::from_command(home.command("serve").env("LATLAS_TOKEN", text));
    done.refused("the token in LATLAS_TOKEN is not UTF-8");
    crate::support::lacks(&done.err, ["printed"]);
    home.write("token", format!("{TOKEN}\n"));
    let mut command = home.command(format!("{with_file} --listen 0.0.0.0:0"));
    // The file beats the variable.
    let other = "another-token-of-16";
    let mut serving = Serving::start(command.env("LATLAS_TOKEN", other));
    serving.address.set_ip([127, 0, 0, 1].into());
    assert_eq!(serving.get("/").0, 401);
    assert_eq!(serving.get("/healthz").0, 200);
    for (token, status) in [(other, 401), (TOKEN, 200)] {
        let bearer = format!("Authorization: Bearer {token}\r\n");
        assert_eq!(serving.ask("GET", "/", &bearer, b"").0, status);
    }
    let (code, printed) = serving.end_by_signal("-TERM");
    assert_eq!(code, Some(0));
    assert!(!printed.contains(TOKEN), "{printed}");
}
