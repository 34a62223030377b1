//! The meter for a program's own functions: ten lines, same care, same table. [`Session::benchmark`] has a command line
//! with a baseline and a gate.
//!
//! ```no_run
//! use latlas_meter::function::Session;
//! let run = Session::new()
//!     .function("my.parse", || "12.5".parse::<f64>())
//!     .run()
//!     .expect("measured");
//! print!("{run}");
//! ```

mod benchmark;

pub use benchmark::{BenchmarkError, BenchmarkRun};

use crate::conduct::{self, ConductError, Observer, Silent};
use crate::plan::{self, PlanError, Request};
use crate::probe::{Probe, Site, Work};
use crate::program::program;
use crate::worker;
use crate::worker_memory::WorkerMemory;
use model::run::{Regime, Run};
use std::cell::RefCell;
use std::hint::black_box;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Why a session gave no run.
#[derive(thiserror::Error, Debug)]
pub enum SessionError {
    /// No plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No run.
    #[error(transparent)]
    Conduct(#[from] ConductError),
}

/// Functions to measure, and how.
///
/// The program starts itself again as worker processes: what stands before
/// [`Session::run`] happens in each of them too, so keep it short and
/// repeatable, and don't read standard input.
pub struct Session {
    probes: Vec<Probe>,
    request: Request,
}

impl Default for Session {
    fn default() -> Self {
        Session::new()
    }
}

impl Session {
    /// An empty session.
    pub fn new() -> Session {
        Session { probes: Vec::new(), request: Request { seed: 1, ..Request::default() } }
    }

    /// Adds a function; one operation is one call. Its result is kept from
    /// the optimiser; its inputs are the caller's to hide
    /// ([`std::hint::black_box`]).
    pub fn function<R>(self, id: &str, mut function: impl FnMut() -> R + 'static) -> Session {
        self.turns(id, move |turns| {
            for _ in 0..turns {
                black_box(function());
            }
        })
    }

    /// Adds a loop: called with a number of turns, it performs as many
    /// operations. For operations that need their own loop.
    pub fn turns(self, id: &str, work: impl FnMut(u64) + 'static) -> Session {
        self.add_probe(id, Regime::Gated, work)
    }

    /// Adds a function that takes longer than 1 ms or runs on several CPUs:
    /// no gate, but the distribution of its times.
    pub fn long<R>(self, id: &str, mut function: impl FnMut() -> R + 'static) -> Session {
        self.add_probe(id, Regime::Distribution, move |turns| {
            for _ in 0..turns {
                black_box(function());
            }
        })
    }

    /// Limits the measuring.
    pub fn budget(mut self, budget: Duration) -> Session {
        self.request.budget = Some(budget);
        self
    }

    /// Seeds the order of visits.
    pub fn seed(mut self, seed: u64) -> Session {
        self.request.seed = seed;
        self
    }

    /// Measures on this CPU.
    pub fn pin(mut self, cpu: u32) -> Session {
        self.request.pin = Some(cpu);
        self
    }

    /// Measures in this process, which starts no others. Intervals then don't include the
    /// variation between processes, and a function that crashes takes the program with it.
    pub fn in_process(mut self) -> Session {
        self.request.in_process = true;
        self
    }

    /// Measures, or in a worker process does the worker's part and ends.
    ///
    /// # Errors
    /// When nothing was added, the budget is too short, or no worker process
    /// can be started.
    pub fn run(self) -> Result<Run, SessionError> {
        self.run_watched(&mut Silent)
    }

    /// The same, heard by an observer.
    pub fn run_watched(self, observer: &mut dyn Observer) -> Result<Run, SessionError> {
        worker::enter_if_worker(&self.probes);
        crate::osnoise::brief::enter_if_child();
        let machine = sys::machine_facts(Path::new("/"));
        let plan = plan::plan(&self.probes, &self.request, &machine)?;
        let program = program(&program_name(), env!("CARGO_PKG_VERSION"), &machine);
        let never = AtomicBool::new(false);
        Ok(conduct::conduct(&self.probes, &plan, machine, program, observer, &never)?)
    }

    fn add_probe(mut self, id: &str, regime: Regime, work: impl FnMut(u64) + 'static) -> Session {
        let work: Rc<RefCell<dyn FnMut(u64)>> = Rc::new(RefCell::new(work));
        self.probes.push(Probe {
            title: "a function of this program".into(),
            operation: "One call.".into(),
            method: "A plain loop around the call; the loop itself is not taken off.".into(),
            source: "This program itself.".into(),
            regime,
            make: Box::new(move |_: &mut WorkerMemory, _: &Site| {
                Ok(Box::new(Called(work.clone())))
            }),
            ..Probe::blank(id.to_string())
        });
        self
    }
}

struct Called(Rc<RefCell<dyn FnMut(u64)>>);

impl Work for Called {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn restore(&mut self) {
        // A few calls bring code and data back after other rows.
        (self.0.borrow_mut())(4);
    }
    fn faults_belong(&self) -> bool {
        // Nothing is known of it.
        true
    }
    fn run(&mut self, turns: u64, _double: bool) {
        (self.0.borrow_mut())(turns);
    }
}

fn program_name() -> String {
    std::env::current_exe()
        .ok()
        .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "unknown".into())
}
