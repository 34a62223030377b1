//! Real connections: slow, silent, too many, many readers, and the end.

use crate::common::{Atlas, ID, document, other_id, small};
use serve::{ClientTimeouts, Server, ServerEnd};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Longer than anything that should happen.
const TIMEOUT: Duration = Duration::from_secs(180);

const PATIENT: ClientTimeouts =
    ClientTimeouts { head: TIMEOUT, life: Duration::from_secs(600), grace: TIMEOUT };

pub(crate) struct Listening {
    address: SocketAddr,
    stop: tokio::sync::oneshot::Sender<()>,
    ended: JoinHandle<ServerEnd>,
}

impl Listening {
    pub(crate) fn listen(atlas: &Atlas, connections: usize, limits: ClientTimeouts) -> Listening {
        let router = atlas.router.clone();
        let (sender, address) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let ended = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime.block_on(async {
                let any = [SocketAddr::from(([127, 0, 0, 1], 0))];
                let server = Server::bind("127.0.0.1:0", &any, connections, limits).await;
                let server = server.expect("a port");
                sender.send(server.address()).expect("received");
                let stop = async { stopped.await.unwrap_or(()) };
                server.serve_requests(router, stop, |line| panic!("{line}")).await
            })
        });
        Listening { address: address.recv().expect("an address"), stop, ended }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream
    }

    /// Sends this and returns what comes until the server closes.
    pub(crate) fn send(&self, request: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        // It may respond and close before it has read all of it.
        let _ = stream.write_all(request.as_ref());
        rest(&mut stream)
    }

    /// An upload that has begun: its head was read, and its first bytes sent.
    pub(crate) fn begin_upload(&self, length: usize, first: &[u8]) -> TcpStream {
        const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        let mut stream = self.connect();
        let head = upload_head(length) + "Expect: 100-continue\r\n\r\n";
        stream.write_all(head.as_bytes()).expect("sent");
        let mut response = [0; CONTINUE.len()];
        stream.read_exact(&mut response).expect("a response");
        assert_eq!(response, CONTINUE, "{}", String::from_utf8_lossy(&response));
        stream.write_all(first).expect("sent");
        stream
    }

    pub(crate) fn upload(&self, document: &[u8]) -> String {
        let head = upload_head(document.len()) + "\r\n";
        self.send([head.as_bytes(), document].concat())
    }

    fn stop_server(self) -> ServerEnd {
        self.stop.send(()).expect("it runs");
        self.ended.join().expect("ended")
    }
}

fn upload_head(length: usize) -> String {
    format!(
        "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {length}\r\n"
    )
}

/// What comes until the server closes.
pub(crate) fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::ConnectionReset => {}
        Err(e) => panic!("it was not closed: {e}"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n")
}

fn get_and_close(path: &str) -> String {
    get(path) + "Connection: close\r\n\r\n"
}

#[test]
fn slow_silent_and_malformed_requests_are_closed() {
    let atlas = Atlas::of_three();
    let head = Duration::from_millis(400);
    let server = Listening::listen(&atlas, 64, ClientTimeouts { head, ..PATIENT });
    let health = get("/healthz");
    for begin in ["", "GET", &health, &format!("{health}X: ")] {
        let response = server.send(begin);
        assert!(!response.contains("200 OK"), "{begin:?}: {response}");
    }
    // A byte now and then is as slow as none.
    let mut slow = server.connect();
    let closed = health.bytes().cycle().take(7200).any(|byte| {
        std::thread::sleep(Duration::from_millis(25));
        slow.write_all(&[byte]).is_err()
    });
    assert!(closed, "three minutes for a head");
    let long = format!("{health}X: {}\r\n\r\n", "x".repeat(1 << 20));
    for garbage in ["\x16\x03\x01\x02\0", "hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", &long] {
        let response = server.send(garbage);
        assert!(!response.contains("200 OK"), "{response}");
    }
    assert_eq!(server.stop_server(), ServerEnd { cut_off: 0 });
    // Well-formed ones may be later on a loaded machine.
    let server = Listening::listen(&atlas, 64, PATIENT);
    let many = format!("{health}{}\r\n", "X: y\r\n".repeat(500));
    for (request, status) in [
        (many, 431),
        (get_and_close("/../../../etc/passwd"), 404),
        (get_and_close("/healthz"), 200),
    ] {
        let response = server.send(&request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{response}");
    }
    assert_eq!(server.stop_server(), ServerEnd { cut_off: 0 });
}

#[test]
fn a_refused_sender_gets_the_response() {
    let atlas = Atlas::empty();
    let server = Listening::listen(&atlas, 8, ClientTimeouts::default());
    let sent = vec![b' '; 9 << 20];
    for (headers, status) in [
        ("Host: localhost\r\nContent-Type: application/json", "413"),
        ("Host: localhost\r\nContent-Type: text/plain", "415"),
        ("Host: evil.example\r\nContent-Type: application/json", "421"),
        ("Host: localhost\r\nOrigin: null\r\nContent-Type: application/json", "403"),
    ] {
        let mut stream = server.connect();
        let head = format!(
            "POST /api/runs HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            sent.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(&sent).expect("sent to the end");
        let response = rest(&mut stream);
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{headers}: {response}");
    }
}

#[test]
fn further_connections_wait() {
    let atlas = Atlas::empty();
    let server = Listening::listen(&atlas, 2, PATIENT);
    let first = server.connect();
    let _second = server.connect();
    // Connections are accepted in order.
    let mut third = server.connect();
    third.write_all(get_and_close("/healthz").as_bytes()).expect("sent");
    let short = Some(Duration::from_millis(500));
    third.set_read_timeout(short).expect("a timeout");
    let waits = third.read(&mut [0]).expect_err("not accepted yet").kind();
    assert!(matches!(waits, ErrorKind::WouldBlock | ErrorKind::TimedOut), "{waits}");
    drop(first);
    third.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    assert!(rest(&mut third).starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn one_address_leaves_connections_to_others() {
    let atlas = Atlas::empty();
    let server = Listening::listen(&atlas, 4, PATIENT);
    let _idle: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
    // More than its share are closed unanswered.
    let health = get_and_close("/healthz");
    assert_eq!(server.send(&health), "");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let response = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        let other = SocketAddr::from(([127, 0, 0, 2], 0));
        socket.bind(other).expect("an address of this machine");
        let mut stream = socket.connect(server.address).await.expect("it listens");
        stream.write_all(health.as_bytes()).await.expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).await.expect("closed");
        response
    });
    assert!(response.starts_with("HTTP/1.1 200 OK"), "{response}");
}

#[test]
fn requests_finish_at_the_end() {
    let atlas = Atlas::empty();
    let server = Listening::listen(&atlas, 8, PATIENT);
    let sent = document(ID, 0, "lab");
    let (one, two) = sent.split_at(sent.len() / 2);
    let mut upload = server.begin_upload(sent.len(), one);
    let mut idle = server.connect();
    idle.write_all(format!("{}\r\n", get("/healthz")).as_bytes()).expect("sent");
    idle.read_exact(&mut [0; 15]).expect("a response");
    let address = server.address;
    let ended = std::thread::spawn(|| server.stop_server());
    rest(&mut idle);
    let refused = (0..9000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        TcpStream::connect(address).is_err()
    });
    assert!(refused, "it still listens");
    upload.write_all(two).expect("sent");
    let response = rest(&mut upload);
    assert!(response.starts_with("HTTP/1.1 201 Created"), "{response}");
    assert_eq!(ended.join().expect("joined"), ServerEnd { cut_off: 0 });
    assert_eq!(atlas.files().len(), 1);
}

#[test]
fn requests_that_do_not_finish_are_cut_off_and_counted() {
    let atlas = Atlas::empty();
    let grace = Duration::from_millis(300);
    let server = Listening::listen(&atlas, 8, ClientTimeouts { grace, ..PATIENT });
    let mut upload = server.begin_upload(1000, b"half");
    assert_eq!(server.stop_server(), ServerEnd { cut_off: 1 });
    assert!(!rest(&mut upload).contains("201"));
    assert_eq!(atlas.files(), Vec::<String>::new());
}

/// .ci/serve does it with a thousand, against the release build.
#[test]
fn a_hundred_readers_and_a_writer_all_get_responses() {
    const READERS: usize = 100;
    let files = sys::process::allow_open_files(4096).expect("a limit");
    if files < 2 * READERS as u64 + 100 {
        println!("SKIPPED: only {files} files may be open at once");
        return;
    }
    let atlas = Atlas::empty();
    for number in 1..=3 {
        atlas.store(&small(number, "lab"));
    }
    let (one, three, key) = (other_id(1), other_id(3), atlas.key());
    let paths = [
        "/",
        "/api/machines",
        "/api/percentiles?row=cpu.add_i32",
        "/api/runs?limit=20",
        &format!("/api/history?machine={key}&row=cpu.add_i32"),
        "/rows",
        "/row?row=cpu.add_i32",
        "/metrics",
        &format!("/runs/{one}"),
        &format!("/compare?a={one}&b={three}"),
    ];
    let server = Listening::listen(
        &atlas,
        2048,
        ClientTimeouts { head: Duration::from_secs(600), ..PATIENT },
    );
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                let (paths, server) = (&paths, &server);
                scope.spawn(move || {
                    let mut stream = server.connect();
                    let timeout = Some(Duration::from_secs(600));
                    stream.set_read_timeout(timeout).expect("a timeout");
                    // On one connection, each reader in another order.
                    let mut requests: Vec<String> =
                        paths.iter().map(|path| get(path) + "\r\n").collect();
                    requests.rotate_left(reader % paths.len());
                    let last = paths[(reader + paths.len() - 1) % paths.len()];
                    *requests.last_mut().expect("one") = get_and_close(last);
                    stream.write_all(requests.concat().as_bytes()).expect("sent");
                    rest(&mut stream).matches("HTTP/1.1 200 OK\r\n").count()
                })
            })
            .collect();
        for number in 10..20 {
            let response = server.upload(small(number, "lab").to_string().as_bytes());
            assert!(response.starts_with("HTTP/1.1 201"), "{response}");
        }
        for reader in readers {
            assert_eq!(reader.join().expect("joined"), paths.len());
        }
    });
}
