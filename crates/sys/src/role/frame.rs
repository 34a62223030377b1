//! Frames of a length and a JSON message, so that what a child sent before it was killed can be
//! kept, and half a frame is known for what it is.

use model::limits::{Counter, DocumentLimits};
use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};

/// A longer frame than this is not ours.
const LONGEST_FRAME: u32 = 64 << 20;

/// Sends one message.
pub fn send<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len())
        .ok()
        .filter(|&n| n <= LONGEST_FRAME)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "message too long"))?;
    let mut frame = Vec::with_capacity(body.len() + 4);
    frame.extend(length.to_le_bytes());
    frame.extend(body);
    to.write_all(&frame)?;
    to.flush()
}

/// Receives one message. `Ok(None)` at the end of the stream between frames;
/// an error where it ends inside one, or holds something else.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    receive_frame(from)?.map(|body| parse_body(&body)).transpose()
}

/// The message in a frame's body.
pub fn parse_body<T: DeserializeOwned>(body: &[u8]) -> io::Result<T> {
    serde_json::from_slice(body).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

/// The message in a frame's body that keeps to limits, which are checked before anything is made
/// of it.
///
/// # Errors
/// What there is too much of; `InvalidData` where it is no such message.
pub fn open_within<T: DeserializeOwned>(body: &[u8], limits: &DocumentLimits) -> io::Result<T> {
    let counted = Counter::new(limits).feed(body);
    counted.map_err(|excess| io::Error::new(io::ErrorKind::FileTooLarge, excess))?;
    parse_body(body)
}

/// Receives the body of one frame, unopened: a listener whose CPU matters to
/// what is being measured opens it later.
pub fn receive_frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0_u8; 4];
    match fill(from, &mut length)? {
        0 => return Ok(None),
        4 => {}
        _ => return Err(io::ErrorKind::UnexpectedEof.into()),
    }
    let length = u32::from_le_bytes(length);
    if length > LONGEST_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame of {length} bytes is not one of ours"),
        ));
    }
    let mut body = vec![0_u8; length as usize];
    match fill(from, &mut body)? {
        got if got == body.len() => Ok(Some(body)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Fills a buffer as far as the stream goes. Gives how far that was.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match from.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_frames_survive_a_cut_stream() {
        let mut stream = Vec::new();
        for cell in 0..3 {
            send(&mut stream, &(cell, "no such thing")).expect("a vector takes all");
        }
        let whole = stream.len();
        stream.truncate(whole - 5);
        let mut from = &stream[..];
        for wanted in 0..2 {
            let reply: Option<(u32, String)> = receive(&mut from).expect("a whole frame");
            assert_eq!(reply, Some((wanted, "no such thing".into())));
        }
        let cut = receive::<(u32, String)>(&mut from).expect_err("the third is cut");
        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof);
        assert!(receive::<u32>(&mut &b""[..]).expect("a clean end").is_none());
    }

    #[test]
    fn foreign_bytes_are_refused() {
        assert!(receive::<u32>(&mut &b"GET / HTTP/1.1\r\n"[..]).is_err());
        assert!(receive::<u32>(&mut &b"\x02\0\0\0{]"[..]).is_err());
    }
}
