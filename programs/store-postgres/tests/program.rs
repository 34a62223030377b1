//! The program, talked to over its standard input and output.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What it answers to these requests, after which latlas ends.
fn answers(requests: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_latlas-store-postgres"))
        .env_remove("PGPASSWORD")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut to = program.stdin.take().expect("a pipe");
    to.write_all(requests.as_bytes()).expect("written");
    drop(to);
    let mut said = String::new();
    let mut from = program.stdout.take().expect("a pipe");
    from.read_to_string(&mut said).expect("UTF-8");
    assert!(program.wait().expect("ended").success());
    said
}

#[test]
fn a_server_that_accepts_and_never_answers_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let begun = Instant::now();
    let url = format!("postgres://me@127.0.0.1:{port}/atlas?connect_timeout=1");
    let said = answers(&format!("open 1 {url}\nlist\n"));
    assert_eq!(said, "ok 1 entries\nerror unreachable no answer for 1 s\n");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn no_password_is_in_any_message() {
    // Nothing listens there.
    let url = "postgres://me:s3cret@127.0.0.1:1/atlas?connect_timeout=2&password=s3cret";
    let said = answers(&format!("open 1 {url}\ncheck\nlist\ntags\n"));
    assert!(!said.contains("s3cret"), "{said}");
    assert_eq!(said.matches("error unreachable").count(), 3, "{said}");
}

#[test]
fn another_version_is_answered_with_its_own_and_garbage_with_an_end() {
    assert_eq!(
        answers("open 2 postgres://lab\ncheck\n"),
        "ok 1\nerror settings no store was opened\n"
    );
    assert_eq!(answers("open 1 postgres://lab?sslmode=no\n"), "error settings no sslmode \"no\"\n");
    let mut program = Command::new(env!("CARGO_BIN_EXE_latlas-store-postgres"));
    let program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = program.spawn().expect("started");
    program.stdin.take().expect("a pipe").write_all(b"GET / HTTP/1.1\n").expect("written");
    let done = program.wait_with_output().expect("ended");
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("GET / HTTP/1.1"), "{done:?}");
}
