//! What all requests share, and the way to the index: a bounded number of
//! threads that may block, each with an index of its own while it asks.

use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::received::Memory;
use crate::routes::Options;
use atlas::index::Index;
use atlas::references::References;
use atlas::store::Store;
use axum::http::StatusCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Questions that are worked on at once; the others wait.
const AT_ONCE: usize = 8;
/// An index that is so old is opened anew: its file may have been replaced.
const OPEN: Duration = Duration::from_secs(60);
/// So often an index looks for documents that others have added or removed.
const LOOK: Duration = Duration::from_secs(1);
/// Uploads that are unpacked and checked at once.
const UPLOADS_AT_ONCE: usize = 4;

/// Shared by all requests.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

struct Shared {
    store: Store,
    references: References,
    options: Options,
    metrics: Metrics,
    /// Indexes that nobody asks at the moment.
    idle: Mutex<Vec<Opened>>,
    questions: Arc<Semaphore>,
    uploads: Arc<Semaphore>,
    upload_memory: Memory,
    /// Held while a run is looked for and saved.
    saving: Mutex<()>,
}

impl App {
    pub(crate) fn new(store: Store, references: References, options: Options) -> App {
        let upload_memory = Memory::new(options.upload.held_bytes);
        App(Arc::new(Shared {
            store,
            references,
            options,
            metrics: Metrics::default(),
            idle: Mutex::default(),
            questions: Arc::new(Semaphore::new(AT_ONCE)),
            uploads: Arc::new(Semaphore::new(UPLOADS_AT_ONCE)),
            upload_memory,
            saving: Mutex::default(),
        }))
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

    /// Tells the one who runs the server.
    pub(crate) fn log(&self, line: &str) {
        (self.0.options.log)(line);
    }

    /// One at a time: two uploads of one id must not both find it free.
    pub(crate) fn saving(&self) -> &Mutex<()> {
        &self.0.saving
    }

    /// Memory for uploads that are still arriving.
    pub(crate) fn upload_memory(&self) -> &Memory {
        &self.0.upload_memory
    }

    /// A place among the uploads that are unpacked and checked: for a document
    /// that has arrived, so that nobody's network holds it.
    pub(crate) async fn place_for_upload(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.turn(&self.0.uploads).await
    }

    /// Asks the index, in a thread that may block.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Index, &App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.turn(&self.0.questions).await?;
        let app = self.clone();
        let work = tokio::task::spawn_blocking(move || {
            // Held until the work is done, even if nobody waits any longer.
            let _turn = turn;
            let opened = app.opened()?;
            let answer = question(&opened.index, &app);
            for line in opened.index.told() {
                app.log(&line);
            }
            app.put_back(opened);
            answer
        });
        match tokio::time::timeout(self.0.options.patience, work).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => Err(Problem::ours(
                StatusCode::INTERNAL_SERVER_ERROR,
                "latlas failed at this: a bug",
                format!("a request failed: {panic} (this is a bug in latlas)"),
            )),
            // The work goes on.
            Err(_) => Err(Problem::late()),
        }
    }

    /// A turn among those that ask at once.
    async fn turn(&self, of: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Problem> {
        let turn = Arc::clone(of).acquire_owned();
        match tokio::time::timeout(self.0.options.patience, turn).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Problem::busy()),
        }
    }

    /// An index that knows what other processes have kept meanwhile.
    fn opened(&self) -> Result<Opened, Problem> {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|opened| opened.since.elapsed() < OPEN);
        let found = idle.pop();
        drop(idle);
        let now = Instant::now();
        match found {
            Some(mut opened) if opened.looked.elapsed() >= LOOK => {
                opened.index.refresh()?;
                opened.looked = now;
                Ok(opened)
            }
            Some(opened) => Ok(opened),
            None => Ok(Opened {
                index: Index::open(self.0.store.clone())?,
                since: now,
                looked: now,
            }),
        }
    }

    fn put_back(&self, opened: Opened) {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < AT_ONCE {
            idle.push(opened);
        }
    }
}

/// An open index.
struct Opened {
    index: Index,
    since: Instant,
    /// When it last looked at the documents themselves.
    looked: Instant,
}
