//! Many readers over connections that stay open, while one uploads: what each
//! request took, and every answer that was none. Only `tokio`'s sockets, so
//! that the client costs little beside the server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Barrier;

/// What to do.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) readers: usize,
    /// Requests of each reader.
    pub(crate) requests: usize,
    /// Asked by turns.
    pub(crate) paths: Vec<String>,
    /// Sent one after the other while the readers read, from the first again
    /// when they are through.
    pub(crate) documents: Vec<Vec<u8>>,
    pub(crate) token: Option<String>,
}

/// What a server is known to have, so that the pages that cost most are asked
/// for too.
pub(crate) struct Known<'a> {
    /// A row with a reliable figure.
    pub(crate) row: &'a str,
    /// A machine with that row.
    pub(crate) machine: &'a str,
    /// Two runs that can be compared.
    pub(crate) runs: [&'a str; 2],
}

/// What is asked by turns: light pages and heavy ones, and now and then a
/// comparison, which reads many documents.
pub(crate) fn paths(known: &Known) -> Vec<String> {
    let Known { row, machine, runs } = known;
    let usual = [
        "/".into(),
        "/api/machines".into(),
        format!("/api/percentiles?row={row}"),
        "/api/runs?limit=20".into(),
        format!("/api/history?machine={machine}&row={row}"),
        "/rows".into(),
        format!("/row?row={row}"),
        "/metrics".into(),
        format!("/runs/{}", runs[0]),
    ];
    let mut all = vec![format!("/compare?a={}&b={}", runs[0], runs[1])];
    for _ in 0..5 {
        all.extend_from_slice(&usual);
    }
    all
}

/// What came of it.
#[derive(Default)]
pub(crate) struct Outcome {
    /// What each request took, rising.
    pub(crate) took: Vec<Duration>,
    /// Uploads that were kept, now or before.
    pub(crate) kept: usize,
    pub(crate) errors: Vec<String>,
}

impl Outcome {
    /// The smallest time that such a share of requests did not exceed.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let place = (share * self.took.len() as f64).ceil() as usize;
        let taken = self.took.get(place.saturating_sub(1));
        taken.copied().unwrap_or_default()
    }
}

/// Runs it.
pub(crate) async fn run(load: Load) -> Outcome {
    let load = Arc::new(load);
    // All are connected before anybody asks.
    let together = Arc::new(Barrier::new(load.readers + 1));
    let readers: Vec<_> = (0..load.readers)
        .map(|number| tokio::spawn(read(Arc::clone(&load), number, Arc::clone(&together))))
        .collect();
    together.wait().await;
    let (done, mut ended) = tokio::sync::oneshot::channel::<()>();
    let writing = tokio::spawn({
        let load = Arc::clone(&load);
        async move {
            let mut outcome = Outcome::default();
            for document in load.documents.iter().cycle() {
                upload(&load, document, &mut outcome).await;
                if ended.try_recv() != Err(tokio::sync::oneshot::error::TryRecvError::Empty) {
                    break;
                }
            }
            outcome
        }
    });
    let mut all = Outcome::default();
    for reader in readers {
        match reader.await {
            Ok(mut one) => {
                all.took.append(&mut one.took);
                all.errors.append(&mut one.errors);
            }
            Err(e) => all.errors.push(format!("a reader: {e}")),
        }
    }
    let _ = done.send(());
    match writing.await {
        Ok(mut one) => {
            all.kept = one.kept;
            all.errors.append(&mut one.errors);
        }
        Err(e) => all.errors.push(format!("the writer: {e}")),
    }
    all.took.sort_unstable();
    all
}

async fn read(load: Arc<Load>, number: usize, together: Arc<Barrier>) -> Outcome {
    let mut outcome = Outcome::default();
    let connected = TcpStream::connect(load.address).await;
    together.wait().await;
    let mut stream = match connected {
        Ok(stream) => stream,
        Err(e) => {
            outcome.errors.push(format!("can't connect: {e}"));
            return outcome;
        }
    };
    for turn in 0..load.requests {
        let path = &load.paths[(number + turn) % load.paths.len()];
        let began = Instant::now();
        let request = head(&load, "GET", path, 0);
        match asked(&mut stream, request.as_bytes()).await {
            Ok(200) => outcome.took.push(began.elapsed()),
            Ok(status) => outcome.errors.push(format!("{path}: {status}")),
            Err(e) => {
                outcome.errors.push(format!("{path}: {e}"));
                return outcome;
            }
        }
    }
    outcome
}

async fn upload(load: &Load, document: &[u8], outcome: &mut Outcome) {
    let mut request = head(load, "POST", "/api/runs", document.len()).into_bytes();
    request.extend_from_slice(document);
    let sent = async {
        let mut stream = TcpStream::connect(load.address).await?;
        asked(&mut stream, &request).await
    };
    match sent.await {
        Ok(200 | 201) => outcome.kept += 1,
        Ok(status) => outcome.errors.push(format!("an upload: {status}")),
        Err(e) => outcome.errors.push(format!("an upload: {e}")),
    }
}

fn head(load: &Load, method: &str, path: &str, length: usize) -> String {
    let token = match &load.token {
        Some(token) => format!("Authorization: Bearer {token}\r\n"),
        None => String::new(),
    };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {length}\r\n{token}\r\n",
        load.address
    )
}

/// Sends a request and takes the whole answer; its status.
async fn asked(stream: &mut TcpStream, request: &[u8]) -> std::io::Result<u16> {
    stream.write_all(request).await?;
    let mut bytes = Vec::new();
    loop {
        if let Some((status, length)) = answered(&bytes)
            && bytes.len() >= length
        {
            return Ok(status);
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Status and whole length of an answer, once its head is there.
fn answered(bytes: &[u8]) -> Option<(u16, usize)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    })?;
    Some((status, end + length))
}
