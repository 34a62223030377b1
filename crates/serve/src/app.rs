//! State of all requests, and a bounded pool of threads that query the index.

use crate::cached::CachedDocument;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::token::Token;
use crate::upload::limits::{Memory, UploadLimits};
use compare::references::References;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use store::Store;
use store::index::Index;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use view::render::ProbeText;

/// Default of [`Options::timeout`].
pub const TIMEOUT: Duration = Duration::from_secs(20);
/// Queries at once; the others wait.
const QUERIES: usize = 8;
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
    queries: Arc<Semaphore>,
    uploads: Arc<Semaphore>,
    openapi: CachedDocument,
    upload_memory: Memory,
    /// Held while a run is looked up and stored.
    storing: Mutex<()>,
}

/// An open index.
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
            upload_memory: Memory::new(options.upload.memory_bytes),
            options,
            metrics: Metrics::default(),
            idle: Mutex::default(),
            queries: Arc::new(Semaphore::new(QUERIES)),
            uploads: Arc::new(Semaphore::new(CHECKED_UPLOADS)),
            storing: Mutex::default(),
        }))
    }

    /// The description of the API.
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

    /// Memory for unfinished uploads.
    pub(crate) fn upload_memory(&self) -> &Memory {
        &self.0.upload_memory
    }

    /// Permission to unpack and check an upload that has arrived whole, so that
    /// no slow sender holds one.
    pub(crate) async fn upload_permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.permit(&self.0.uploads).await
    }

    /// Queries the index in a thread that may block.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Index, &App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = self.permit(&self.0.queries).await?;
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

    async fn permit(&self, of: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(of).acquire_owned();
        match tokio::time::timeout(self.0.options.timeout, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Problem::Busy),
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
