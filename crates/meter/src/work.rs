//! The work of a cell: what a worker runs, and why it may fail.

use crate::scratch::ScratchError;
use crate::worker_memory::{MemoryError, WorkerMemory};
use std::io;
use std::sync::Arc;

/// Why the work of a cell can't be made, or a visit to it can't be used. Its
/// text becomes the row's reason.
#[derive(thiserror::Error, Debug, Clone)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum WorkError {
    /// The worker's memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The directory for files, or a file in it.
    #[error(transparent)]
    Files(#[from] ScratchError),
    #[error("{call}: {error}")]
    Call { call: &'static str, error: Arc<io::Error> },
    /// [`Probe::make`](crate::probe::Probe::make) was left out.
    #[error("this probe has no work")]
    NoWork,
    /// [`Work::stamped`] was called on work that is not stamped.
    #[error("this work does not stamp its operations")]
    NoStamps,
    #[error("the worker's catalogue differs from the parent's")]
    OtherCatalogue,
    /// Any other reason, as text.
    #[error("{0}")]
    Other(String),
}

impl WorkError {
    /// For `map_err` after a system call.
    pub fn call(call: &'static str) -> impl FnOnce(io::Error) -> WorkError {
        move |error| WorkError::Call { call, error: Arc::new(error) }
    }
}

/// Equal where they read the same: an error of the system can't be compared.
impl PartialEq for WorkError {
    fn eq(&self, other: &WorkError) -> bool {
        self.to_string() == other.to_string()
    }
}

impl From<String> for WorkError {
    fn from(reason: String) -> WorkError {
        WorkError::Other(reason)
    }
}

impl From<&str> for WorkError {
    fn from(reason: &str) -> WorkError {
        WorkError::Other(reason.into())
    }
}

/// One operation between two stamps that the work took itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Variant of the probe that it belongs to, as a place in
    /// [`Probe::variants`](crate::probe::Probe::variants); 0 unless they are measured together.
    pub series: usize,
    /// First stamp, in ticks of the bench's counter since the operation (or
    /// the chain of them that this one belongs to) began.
    pub from_ticks: u64,
    /// Second stamp. It may be the earlier one where two threads race: the
    /// time is negative then, and stays so.
    pub to_ticks: u64,
    /// Operations between the stamps.
    pub ops: u64,
    /// Which of [`Work::modes`] it ran in.
    pub mode: u8,
    /// Where it lies on the counter, for a trace; `None` if it is no stretch of
    /// time but a difference of two.
    pub place: Option<CounterOrigin>,
}

/// Where an event lies on the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterOrigin {
    /// The counter where the event's ticks are 0.
    pub zero_ticks: u64,
    /// The thread that it belongs to: the one that ends it, if there are two.
    /// `None` where the system does not number threads.
    pub thread: Option<u32>,
}

/// A part of an operation of stamped work, for a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkStep {
    /// What was done.
    pub name: &'static str,
    /// The counter before it,
    pub from_ticks: u64,
    /// and after it.
    pub to_ticks: u64,
    /// The thread that did it.
    pub thread: u32,
}

/// The work of one cell, in a worker. Nothing in it reads the clock, but for
/// stamped work.
pub trait Work {
    /// Operations in one turn (of the U loop, for a difference).
    fn ops_per_turn(&self) -> f64 {
        1.0
    }

    /// Whether the loop exists unrolled U and 2U times, so that the difference
    /// of the two leaves the loop's own cost out.
    fn paired(&self) -> bool {
        false
    }

    /// Whether the two loops of paired work hold the same body U and 2U times:
    /// U's time less that of U operations is then the loop's own, which is
    /// checked ([`model::loop_cost`]). Not so where `single` carries a helper
    /// twice, or the two are different operations.
    fn loops_alike(&self) -> bool {
        false
    }

    /// Brings the working set back to the state that the row speaks of, after
    /// other rows had the caches.
    fn restore(&mut self) {}

    /// How long, in ns, that state lasts at most: the visit ends then.
    fn lasts_ns(&self) -> u64 {
        u64::MAX
    }

    /// Prepares the next sample, outside the time: fresh pages, fresh random
    /// data. Called before each bracket, after the canary.
    fn ready(&mut self) {}

    /// Performs `turns` turns; of the 2U loop if `double`. Stamped work has
    /// none.
    fn run(&mut self, _turns: u64, _double: bool) {}

    /// Performs this many operations and stamps each ([`Regime::Stamped`]
    /// only, whose work leaves [`Work::run`] empty). Threads of the work are
    /// started and ended within it.
    ///
    /// [`Regime::Stamped`]: model::run::Regime::Stamped
    ///
    /// # Errors
    /// Why it could not; nothing of this visit is kept then.
    fn stamped(&mut self, _operations: u32) -> Result<Vec<Event>, WorkError> {
        Err(WorkError::NoStamps)
    }

    /// Before a visit that is traced: what lies within an operation is to be stamped, too.
    fn mark_steps(&mut self) {}

    /// Asked after such a visit: what lay within its operations.
    fn marked_steps(&mut self) -> Vec<WorkStep> {
        Vec::new()
    }

    /// Names of the modes that its events may have; none for a single one.
    fn modes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Asked after a visit: what the kernel counted during it, if that
    /// contradicts what the method assumes. The visit's samples are marked,
    /// and the row is invalid if most are.
    fn contradiction(&self) -> Option<String> {
        None
    }

    /// Asked after a visit to stamped work: how long the threads of this
    /// series' operations waited during it for CPUs that others had, ns, which is `own_ns` if the
    /// thread that called [`Work::stamped`] is the only one; `None` where they were not watched.
    fn run_delay_ns(&self, _series: usize, _own_ns: u64) -> Option<u64> {
        None
    }

    /// Turns must be a multiple of this.
    fn turn_step(&self) -> u64 {
        1
    }

    /// Turns that one sample has at least and at most.
    fn turn_limits(&self) -> (u64, u64) {
        (1, u64::MAX)
    }

    /// Whether page faults are part of the operation, rather than a sign that
    /// its working set does not stay in memory.
    fn faults_belong(&self) -> bool {
        false
    }

    /// Asked after a visit: why its samples are not what the row says, if so.
    ///
    /// # Errors
    /// The reason; the row is then reported as not available.
    fn verify(&self) -> Result<(), WorkError> {
        Ok(())
    }

    /// What a reader must know with the figure, such as the kind of pages
    /// that were really had.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Which cell of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Variant, or empty.
    pub variant: String,
    /// Point: empty, `[x]` on a curve, `[y, x]` on a map.
    pub at: Vec<u64>,
}

/// Makes the work of one cell on a worker's bench, or says why it can't.
pub type Make =
    Box<dyn for<'a> Fn(&'a mut WorkerMemory, &Site) -> Result<Box<dyn Work + 'a>, WorkError>>;
