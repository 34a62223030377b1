//! Uploads that trickle in: they keep no other waiting, and are ended.

use crate::common::{Atlas, ID, document, other_id};
use crate::sockets::{Listening, rest};
use serve::{ClientTimeouts, UploadLimits};
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

fn start_slow(limits: UploadLimits) -> (Atlas, Listening) {
    let atlas = Atlas::with(|options| options.upload = limits);
    let server = Listening::listen(&atlas, 64, ClientTimeouts::default());
    (atlas, server)
}

#[test]
fn senders_that_trickle_do_not_keep_others_from_uploading() {
    let (_atlas, server) = start_slow(patient());
    // More than are checked at once; each waits for its next byte.
    let mut slow: Vec<TcpStream> = (0..6).map(|_| server.begin_upload(1000, b"{")).collect();
    let response = server.upload(&document(ID, 0, "lab"));
    assert!(response.starts_with("HTTP/1.1 201 Created"), "{response}");
    // None of them was ended for it.
    for stream in &mut slow {
        stream.set_nonblocking(true).expect("set");
        let waits = std::io::Read::read(stream, &mut [0]).expect_err("no response yet");
        assert_eq!(waits.kind(), std::io::ErrorKind::WouldBlock);
    }
}

#[test]
fn a_sender_that_trickles_after_a_burst_gets_408() {
    let slack = Duration::from_millis(500);
    let (atlas, server) = start_slow(UploadLimits { slack, ..UploadLimits::default() });
    // At 4096 bytes a second on average it would be late only after 64 s.
    let mut stream = server.begin_upload(1 << 20, &vec![b' '; 256 << 10]);
    let ended = (0..7200).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        stream.write_all(b" ").is_err() || has_response(&stream)
    });
    assert!(ended, "three minutes at 40 bytes a second");
    let response = rest(&mut stream);
    assert!(response.starts_with("HTTP/1.1 408"), "{response:?}");
    assert!(response.contains("connection: close"), "{response}");
    let rule = "at least 4096 bytes a second, and all of it within 120 s";
    assert!(response.contains(rule), "{response}");
    assert_eq!(atlas.files(), Vec::<String>::new());
}

fn has_response(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("set");
    let peeked = stream.peek(&mut [0]).is_ok();
    stream.set_nonblocking(false).expect("set");
    peeked
}

#[test]
fn a_silent_sender_and_one_that_takes_too_long_get_408() {
    let mut silent = patient();
    silent.slack = Duration::from_millis(300);
    let mut long = patient();
    long.whole = Duration::from_millis(300);
    for limits in [silent, long] {
        let (_atlas, server) = start_slow(limits);
        let response = rest(&mut server.begin_upload(1000, b"{"));
        assert!(response.starts_with("HTTP/1.1 408"), "{limits:?}: {response:?}");
    }
}

#[test]
fn unfinished_uploads_share_a_bounded_memory() {
    let sent = document(ID, 0, "lab");
    let (_atlas, server) = start_slow(UploadLimits {
        // One and a half of them.
        memory_bytes: sent.len() as u64 * 3 / 2,
        ..patient()
    });
    let most = sent.len() - 1;
    let mut first = server.begin_upload(sent.len(), &sent[..most]);
    // What has arrived counts: the first one's may still be on its way.
    let refused = (0..7200).find_map(|number| {
        let response = server.upload(&document(&other_id(number), 0, "lab"));
        std::thread::sleep(Duration::from_millis(25));
        (!response.starts_with("HTTP/1.1 201")).then_some(response)
    });
    let refused = refused.expect("the memory is full");
    assert!(refused.starts_with("HTTP/1.1 429 Too Many Requests"), "{refused:?}");
    assert!(refused.contains("retry-after: 2"), "{refused}");
    // The first one finishes and returns its memory.
    first.write_all(&sent[most..]).expect("sent");
    let response = rest(&mut first);
    assert!(response.starts_with("HTTP/1.1 201 Created"), "{response}");
    let response = server.upload(&document(&other_id(1), 0, "lab"));
    assert!(response.starts_with("HTTP/1.1 20"), "{response}");
}
