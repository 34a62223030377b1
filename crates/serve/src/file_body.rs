//! A file as a body: read piece by piece while it is sent, in threads that may
//! block. Whole documents of many readers would fill the memory.

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::JoinHandle;

/// Bytes that are read at once.
const PIECE: u64 = 64 << 10;

/// What one reading hands back: the file, and what was read.
type Piece = Result<(File, Vec<u8>)>;

struct OfFile {
    /// Here while nobody reads.
    file: Option<File>,
    reading: Option<JoinHandle<Piece>>,
    left: u64,
}

/// The file from where it stands to its end, as long as that is now.
pub(crate) fn of_file(mut file: File) -> Result<Body> {
    let left = file
        .metadata()?
        .len()
        .saturating_sub(file.stream_position()?);
    Ok(Body::new(OfFile {
        file: Some(file),
        reading: None,
        left,
    }))
}

fn piece(mut file: File, left: u64) -> Piece {
    let mut bytes = Vec::new();
    let read = (&mut file).take(left.min(PIECE)).read_to_end(&mut bytes)?;
    // Its length was promised.
    match read {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok((file, bytes)),
    }
}

impl hyper::body::Body for OfFile {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        let left = this.left;
        if left > 0
            && let Some(file) = this.file.take()
        {
            this.reading = Some(tokio::task::spawn_blocking(move || piece(file, left)));
        }
        let Some(reading) = this.reading.as_mut() else {
            return Poll::Ready(None);
        };
        let read = ready!(Pin::new(reading).poll(context));
        this.reading = None;
        let (file, bytes) = match read.map_err(Error::other) {
            Ok(Ok(read)) => read,
            Ok(Err(error)) | Err(error) => return Poll::Ready(Some(Err(error))),
        };
        this.left -= bytes.len() as u64;
        this.file = Some(file);
        Poll::Ready(Some(Ok(Frame::data(bytes.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use std::io::{SeekFrom, Write};

    #[test]
    fn a_file_comes_whole_and_in_its_order() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime");
        let mut file = tempfile::tempfile().expect("a file");
        let bytes: Vec<u8> = (0..3 * PIECE + 7).map(|n| (n % 251) as u8).collect();
        file.write_all(&bytes).expect("written");
        for from in [0, 5, bytes.len()] {
            let mut file = file.try_clone().expect("the same");
            file.seek(SeekFrom::Start(from as u64)).expect("there");
            let body = of_file(file).expect("its length");
            let came = runtime.block_on(body.collect()).expect("all").to_bytes();
            assert!(came == bytes[from..], "from {from}: {}", came.len());
        }
        // It becomes shorter than was promised.
        file.seek(SeekFrom::Start(0)).expect("there");
        let body = of_file(file.try_clone().expect("the same")).expect("its length");
        file.set_len(10).expect("cut");
        assert!(runtime.block_on(body.collect()).is_err());
    }
}
