//! State of all requests, and a bounded pool of threads that query the index.

use crate::cached::CachedDocument;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::share::{Client, Held, Shares};
use crate::token::Token;
use crate::upload::limits::{UploadLimits, UploadMemory};
use compare::references::References;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use store::Store;
use store::index::Index;
use view::render::ProbeText;

/// Default of [`Options::timeout`].
pub const TIMEOUT: Duration = Duration::from_secs(20);
/// Queries at once; the others wait.
pub(crate) const QUERIES: usize = 8;
/// Whole documents that are read and drawn at once: queries do not wait for them.
pub(crate) const DRAWINGS: usize = 4;
/// Memory for responses that are being sent, KiB: slow readers must not fill it.
const PAGES_KIB: usize = 256 << 10;
/// An index this old is opened again: its file may have been replaced.
const REOPEN: Duration = Duration::from_secs(60);
/// How often an index looks for documents that other processes added or removed.
const REFRESH: Duration = Duration::from_secs(1);
/// Uploads that are unpacked and checked at once.
const CHECKED_UPLOADS: usize = 4;

/// The system clock, ms since 1970 UTC; 0 before that.
pub fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// How to serve.
#[derive(Clone)]
pub struct Options {
    /// Token that clients must send; without one only this machine is served.
    pub token: Option<Token>,
    /// Largest upload, bytes as sent.
    pub max_upload_bytes: u64,
    /// Rate and memory of uploads.
    pub upload: UploadLimits,
    /// [`now_unix_ms`], or a fixed time in tests.
    pub now_unix_ms: fn() -> u64,
    /// Disable uploads.
    pub read_only: bool,
    /// How long a request waits for its turn, and then for its response, before
    /// it gets 503.
    pub timeout: Duration,
    /// The catalogue's texts for reports.
    pub probes: Vec<ProbeText>,
    /// Takes a line for each failure of the server itself.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Shared by all requests.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

struct Shared {
    store: Store,
    references: References,
    options: Options,
    metrics: Metrics,
    /// Indexes that no query uses now.
    idle: Mutex<Vec<PooledIndex>>,
    queries: Shares,
    drawings: Shares,
    uploads: Shares,
    pages: Shares,
    openapi: CachedDocument,
    upload_memory: UploadMemory,
    /// Held while a run is looked up and stored.
    storing: Mutex<()>,
}

struct PooledIndex {
    index: Index,
    opened: Instant,
    refreshed: Instant,
}

impl App {
    pub(crate) fn new(
        store: Store,
        references: References,
        options: Options,
        openapi: CachedDocument,
    ) -> App {
        App(Arc::new(Shared {
            store,
            references,
            openapi,
            upload_memory: UploadMemory::new(options.upload.memory_bytes),
            options,
            metrics: Metrics::default(),
            idle: Mutex::default(),
            queries: Shares::new(QUERIES),
            drawings: Shares::new(DRAWINGS),
            uploads: Shares::new(CHECKED_UPLOADS),
            pages: Shares::new(PAGES_KIB),
            storing: Mutex::default(),
        }))
    }

    pub(crate) fn openapi(&self) -> &CachedDocument {
        &self.0.openapi
    }

    pub(crate) fn references(&self) -> &References {
        &self.0.references
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn log(&self, line: &str) {
        (self.0.options.log)(line);
    }

    /// One at a time: two uploads of one id must not both see it unused.
    pub(crate) fn storing(&self) -> &Mutex<()> {
        &self.0.storing
    }

    pub(crate) fn upload_memory(&self) -> &UploadMemory {
        &self.0.upload_memory
    }

    /// Permission to unpack and check an upload that has arrived whole, so that
    /// no slow sender holds one.
    pub(crate) async fn upload_permit(&self, client: Client) -> Result<Held, Problem> {
        self.0.uploads.wait(client, self.0.options.timeout).await
    }

    /// Queries the index in a thread that may block.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        client: Client,
        query: impl FnOnce(&Index, &App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.work(&self.0.queries, client, query).await
    }

    /// The same of a query that reads whole documents.
    pub(crate) async fn draw_whole<T: Send + 'static>(
        &self,
        client: Client,
        query: impl FnOnce(&Index, &App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.work(&self.0.drawings, client, query).await
    }

    /// Memory for responses that are being sent.
    pub(crate) fn pages(&self) -> &Shares {
        &self.0.pages
    }

    async fn work<T: Send + 'static>(
        &self,
        of: &Shares,
        client: Client,
        query: impl FnOnce(&Index, &App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = of.wait(client, self.0.options.timeout).await?;
        let app = self.clone();
        let work = tokio::task::spawn_blocking(move || {
            // Held until the work is done, even after a timeout.
            let _permit = permit;
            let pooled = app.take_index()?;
            let answer = query(&pooled.index, &app);
            for line in pooled.index.messages() {
                app.log(&line);
            }
            app.return_index(pooled);
            answer
        });
        match tokio::time::timeout(self.0.options.timeout, work).await {
            Ok(answer) => answer?,
            Err(_) => Err(Problem::TimedOut),
        }
    }

    /// An index that knows what other processes have stored.
    fn take_index(&self) -> Result<PooledIndex, Problem> {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|pooled| pooled.opened.elapsed() < REOPEN);
        let pooled = idle.pop();
        drop(idle);
        let now = Instant::now();
        let Some(mut pooled) = pooled else {
            return Ok(PooledIndex {
                index: Index::open(self.0.store.clone())?,
                opened: now,
                refreshed: now,
            });
        };
        if pooled.refreshed.elapsed() >= REFRESH {
            pooled.index.refresh()?;
            pooled.refreshed = now;
        }
        Ok(pooled)
    }

    fn return_index(&self, pooled: PooledIndex) {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < QUERIES {
            idle.push(pooled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upload::limits::UploadLimits;
    use std::net::Ipv4Addr;
    use std::sync::mpsc::{Receiver, channel};

    fn client(number: u8) -> Client {
        Client(Ipv4Addr::new(127, 0, 0, number).into())
    }

    fn app(dir: &std::path::Path) -> App {
        let options = Options {
            token: None,
            max_upload_bytes: 1 << 20,
            upload: UploadLimits::default(),
            now_unix_ms,
            read_only: false,
            timeout: Duration::from_millis(200),
            probes: Vec::new(),
            log: Arc::new(|_| {}),
        };
        let openapi = CachedDocument::new("{}");
        let store = Store::in_directory(dir);
        App::new(store, References::default(), options, openapi)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn drawings_of_one_client_keep_neither_queries_nor_other_clients_waiting() {
        let dir = tempfile::tempdir().expect("a directory");
        let app = app(dir.path());
        let (began, begun) = channel();
        let mut ends = Vec::new();
        for _ in 0..DRAWINGS - 1 {
            let (end, ended): (_, Receiver<()>) = channel();
            let (app, began) = (app.clone(), began.clone());
            // Longer than the timeout: the client has its answer, and the work goes on.
            tokio::spawn(async move {
                let draw = move |_: &Index, _: &App| {
                    began.send(()).expect("heard");
                    Ok(ended.recv().is_ok())
                };
                let _ = app.draw_whole(client(1), draw).await;
            });
            ends.push(end);
        }
        for _ in 0..DRAWINGS - 1 {
            tokio::task::block_in_place(|| begun.recv()).expect("it draws");
        }
        let more = app.draw_whole(client(1), |_, _| Ok(())).await;
        assert!(matches!(more, Err(Problem::Busy)), "{more:?}");
        app.draw_whole(client(2), |_, _| Ok(())).await.expect("its share");
        app.query(client(1), |_, _| Ok(())).await.expect("a query");
        drop(ends);
    }
}
