//! Uploads that trickle in: they hold up nobody and are ended.

use crate::common::{Atlas, ID, With, document, id};
use crate::sockets::{Listening, UPLOAD, goes_on, rest};
use serve::{Limits, UploadLimits};
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

/// No sender is slow.
fn patient() -> UploadLimits {
    UploadLimits {
        slack: Duration::from_secs(1000),
        whole: Duration::from_secs(1000),
        ..UploadLimits::default()
    }
}

/// An upload that has begun and sends no more than its first bytes.
fn begun(server: &Listening, length: usize, first: &[u8]) -> TcpStream {
    let mut stream = server.connect();
    let head = format!("{UPLOAD}Connection: close\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("taken");
    goes_on(&mut stream);
    stream.write_all(first).expect("taken");
    stream
}

fn whole(server: &Listening, document: &[u8]) -> String {
    let mut stream = server.connect();
    let head = format!(
        "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n",
        document.len()
    );
    stream.write_all(head.as_bytes()).expect("taken");
    stream.write_all(document).expect("taken");
    rest(&mut stream)
}

#[test]
fn senders_that_trickle_do_not_keep_others_from_uploading() {
    let atlas = Atlas::with(With {
        upload: patient(),
        ..With::default()
    });
    let server = Listening::start(&atlas, 64, Limits::default());
    // More than are unpacked at once; each waits for its next byte.
    let mut slow: Vec<TcpStream> = (0..6).map(|_| begun(&server, 1000, b"{")).collect();
    let answer = whole(&server, &document(ID, 0, "lab"));
    assert!(answer.starts_with("HTTP/1.1 201 Created"), "{answer}");
    // None of them was ended for it.
    for stream in &mut slow {
        stream.set_nonblocking(true).expect("set");
        let waiting = std::io::Read::read(stream, &mut [0]).expect_err("no answer yet");
        assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
    }
}

#[test]
fn a_sender_that_trickles_after_a_burst_is_answered_408_though_it_never_falls_silent() {
    let atlas = Atlas::with(With {
        upload: UploadLimits {
            slack: Duration::from_millis(500),
            ..UploadLimits::default()
        },
        ..With::default()
    });
    let server = Listening::start(&atlas, 8, Limits::default());
    // At 4096 bytes a second on average it would be behind after 64 s only.
    let mut stream = begun(&server, 1 << 20, &vec![b' '; 256 << 10]);
    let ended = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        stream.write_all(b" ").is_err() || answered(&stream)
    });
    assert!(ended, "15 s at 40 bytes a second");
    let answer = rest(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer:?}");
    assert!(answer.contains("connection: close"), "{answer}");
    assert!(
        answer.contains("at least 4096 bytes a second, and all of it within 120 s"),
        "{answer}"
    );
    assert_eq!(atlas.files(), Vec::<String>::new());
}

fn answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("set");
    let peeked = stream.peek(&mut [0]).is_ok();
    stream.set_nonblocking(false).expect("set");
    peeked
}

#[test]
fn a_body_is_ended_when_it_falls_silent_and_when_it_takes_too_long_in_all() {
    let short = Duration::from_millis(300);
    for limits in [
        UploadLimits {
            slack: short,
            ..patient()
        },
        UploadLimits {
            whole: short,
            ..patient()
        },
    ] {
        let atlas = Atlas::with(With {
            upload: limits,
            ..With::default()
        });
        let server = Listening::start(&atlas, 8, Limits::default());
        let answer = rest(&mut begun(&server, 1000, b"{"));
        assert!(answer.starts_with("HTTP/1.1 408"), "{limits:?}: {answer:?}");
    }
}

#[test]
fn unfinished_uploads_share_a_bounded_memory() {
    let sent = document(ID, 0, "lab");
    let atlas = Atlas::with(With {
        upload: UploadLimits {
            // One and a half of them.
            held_bytes: sent.len() as u64 * 3 / 2,
            ..patient()
        },
        ..With::default()
    });
    let server = Listening::start(&atlas, 8, Limits::default());
    let most = sent.len() - 1;
    let mut first = begun(&server, sent.len(), &sent[..most]);
    // What has arrived counts: the first one's may still be on its way.
    let other = document(&id(1), 0, "lab");
    let refused = (0..600).find_map(|number| {
        let answer = whole(&server, &document(&id(number), 0, "lab"));
        std::thread::sleep(Duration::from_millis(25));
        (!answer.starts_with("HTTP/1.1 201")).then_some(answer)
    });
    let refused = refused.expect("the memory is full");
    assert!(
        refused.starts_with("HTTP/1.1 429 Too Many Requests"),
        "{refused:?}"
    );
    assert!(refused.contains("retry-after: 2"), "{refused}");
    assert!(refused.contains("try again in a few seconds"), "{refused}");
    // The first finishes, and gives its memory back.
    first.write_all(&sent[most..]).expect("taken");
    let answer = rest(&mut first);
    assert!(answer.starts_with("HTTP/1.1 201 Created"), "{answer}");
    let answer = whole(&server, &other);
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
}
