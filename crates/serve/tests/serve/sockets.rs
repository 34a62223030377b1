//! Real connections: slow ones, silent ones, too many, and the end.

use crate::common::{Atlas, ID, document};
use serve::{Ended, Limits, Server};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Long against anything that should happen.
const PATIENCE: Duration = Duration::from_secs(30);

const SHORT: Limits = Limits {
    head: Duration::from_millis(400),
    life: Duration::from_secs(600),
    grace: Duration::from_secs(20),
};

pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    ended: JoinHandle<Ended>,
}

impl Listening {
    pub(crate) fn start(atlas: &Atlas, connections: usize, limits: Limits) -> Listening {
        let router = atlas.router.clone();
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let ended = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime.block_on(async {
                let any = [SocketAddr::from(([127, 0, 0, 1], 0))];
                let server = Server::bind("127.0.0.1:0", &any, connections).await;
                let server = server.expect("a port").within(limits);
                tell.send(server.address()).expect("heard");
                let stop = async {
                    let _ = stopped.await;
                };
                server.run(router, stop, |line| panic!("{line}")).await
            })
        });
        Listening {
            address: told.recv().expect("an address"),
            stop: Some(stop),
            ended,
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    fn asked(&self, request: &str) -> String {
        let mut stream = self.connect();
        // It may answer and close before it has read all of it.
        let _ = stream.write_all(request.as_bytes());
        rest(&mut stream)
    }

    fn stop(&mut self) {
        let stop = self.stop.take().expect("once");
        stop.send(()).expect("heard");
    }
}

/// What still comes until the other side closes.
pub(crate) fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::ConnectionReset => {}
        Err(e) => panic!("it was not closed: {e}"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An upload that waits until it is asked for its body.
pub(crate) const UPLOAD: &str = "POST /api/runs HTTP/1.1\r\nHost: localhost\r\n\
                      Content-Type: application/json\r\nExpect: 100-continue\r\n";

/// Waits until the server has read the head and wants the body (RFC 9110,
/// 10.1.1): then the request has begun.
pub(crate) fn goes_on(stream: &mut TcpStream) {
    const GO_ON: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut said = [0; GO_ON.len()];
    stream.read_exact(&mut said).expect("an answer");
    assert_eq!(said, GO_ON, "{}", String::from_utf8_lossy(&said));
}

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";

#[test]
fn what_is_slow_silent_or_no_request_is_closed_and_others_are_answered() {
    let atlas = Atlas::of_three();
    let server = Listening::start(&atlas, 64, SHORT);
    for beginning in [
        "",
        "GET",
        HEALTH,
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
    ] {
        let mut stream = server.connect();
        stream.write_all(beginning.as_bytes()).expect("taken");
        let answer = rest(&mut stream);
        assert!(!answer.contains("200 OK"), "{beginning:?}: {answer}");
    }
    // One byte now and then is as slow as none.
    let mut slow = server.connect();
    let mut closed = false;
    for byte in HEALTH.bytes().cycle().take(1200) {
        closed = slow.write_all(&[byte]).is_err();
        if closed {
            break;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    assert!(closed, "thirty seconds for a head");
    for garbage in [
        "\x16\x03\x01\x02\x00",
        "hello\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
    ] {
        let answer = server.asked(garbage);
        assert!(!answer.contains("200 OK"), "{garbage:?}: {answer}");
    }
    let long = format!("{HEALTH}X: {}\r\n\r\n", "x".repeat(1 << 20));
    assert!(!server.asked(&long).contains("200 OK"));
    // Those who ask properly may be late by more than the others are given.
    let patient = Listening::start(
        &atlas,
        64,
        Limits {
            head: PATIENCE,
            ..SHORT
        },
    );
    let many = format!("{HEALTH}{}\r\n", "X: y\r\n".repeat(500));
    assert!(
        patient.asked(&many).starts_with("HTTP/1.1 431"),
        "too many headers"
    );
    let traversal =
        "GET /../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert!(patient.asked(traversal).starts_with("HTTP/1.1 404"));
    let good = patient.asked(&format!("{HEALTH}Connection: close\r\n\r\n"));
    assert!(
        good.starts_with("HTTP/1.1 200 OK") && good.ends_with("{\"status\":\"ok\"}"),
        "{good}"
    );
    for mut one in [server, patient] {
        one.stop();
        assert_eq!(one.ended.join().expect("ended"), Ended { cut_off: 0 });
    }
}

#[test]
fn a_refused_sender_hears_why() {
    let atlas = Atlas::empty();
    let server = Listening::start(&atlas, 8, Limits::default());
    let sent = vec![b' '; 9 << 20];
    for (headers, status) in [
        ("Host: localhost\r\nContent-Type: application/json", "413"),
        ("Host: localhost\r\nContent-Type: text/plain", "415"),
        (
            "Host: evil.example\r\nContent-Type: application/json",
            "421",
        ),
        (
            "Host: localhost\r\nOrigin: null\r\nContent-Type: application/json",
            "403",
        ),
    ] {
        let mut stream = server.connect();
        let head = format!(
            "POST /api/runs HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            sent.len()
        );
        stream.write_all(head.as_bytes()).expect("taken");
        stream.write_all(&sent).expect("taken to the end");
        let answer = rest(&mut stream);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{headers}: {answer:?}"
        );
    }
}

#[test]
fn further_connections_wait_for_a_place() {
    let atlas = Atlas::empty();
    let limits = Limits {
        head: PATIENCE,
        ..SHORT
    };
    let server = Listening::start(&atlas, 2, limits);
    let first = server.connect();
    let _second = server.connect();
    // Connections are accepted in their order.
    let mut third = server.connect();
    third
        .write_all(format!("{HEALTH}Connection: close\r\n\r\n").as_bytes())
        .expect("taken");
    third
        .set_read_timeout(Some(Duration::from_millis(500)))
        .expect("a timeout");
    let mut byte = [0];
    let waiting = third.read(&mut byte).expect_err("no place yet");
    assert!(
        matches!(waiting.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "{waiting}"
    );
    drop(first);
    third.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    assert!(rest(&mut third).starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn a_request_that_has_begun_is_finished_at_the_end() {
    let atlas = Atlas::empty();
    let limits = Limits {
        head: PATIENCE,
        ..SHORT
    };
    let mut server = Listening::start(&atlas, 8, limits);
    let sent = document(ID, 0, "lab");
    let mut upload = server.connect();
    let head = format!("{UPLOAD}Content-Length: {}\r\n\r\n", sent.len());
    let (one, two) = sent.split_at(sent.len() / 2);
    upload.write_all(head.as_bytes()).expect("taken");
    goes_on(&mut upload);
    upload.write_all(one).expect("taken");
    let mut idle = server.connect();
    idle.write_all(format!("{HEALTH}\r\n").as_bytes())
        .expect("taken");
    let mut begin = [0; 15];
    idle.read_exact(&mut begin).expect("an answer");
    server.stop();
    rest(&mut idle);
    let refused = (0..1500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        TcpStream::connect(server.address).is_err()
    });
    assert!(refused, "it still listens");
    upload.write_all(two).expect("taken");
    let answer = rest(&mut upload);
    assert!(answer.starts_with("HTTP/1.1 201 Created"), "{answer}");
    assert_eq!(server.ended.join().expect("ended"), Ended { cut_off: 0 });
    assert_eq!(atlas.files().len(), 1);
}

#[test]
fn what_does_not_finish_is_cut_off_and_counted() {
    let atlas = Atlas::empty();
    let limits = Limits {
        head: PATIENCE,
        grace: Duration::from_millis(300),
        ..SHORT
    };
    let mut server = Listening::start(&atlas, 8, limits);
    let mut upload = server.connect();
    let head = format!("{UPLOAD}Content-Length: 1000\r\n\r\n");
    upload.write_all(head.as_bytes()).expect("taken");
    goes_on(&mut upload);
    upload.write_all(b"half").expect("taken");
    server.stop();
    assert_eq!(server.ended.join().expect("ended"), Ended { cut_off: 1 });
    assert!(!rest(&mut upload).contains("201"));
    assert_eq!(atlas.files(), Vec::<String>::new());
}
