//! The process that `tails` traces: one visit to a row, into which it may inject causes of slow
//! operations itself. It tells what its stamps mark, and when it injected what.

use anyhow::Context;
use meter::one_visit::{Explain, one_visit};
use meter::plan::{self, plan};
use meter::probe::{CounterOrigin, Effort, Event, Probe, Work, WorkError};
use model::run::Regime;
use model::trace::row::Marks;
use rustix::thread::{MembarrierCommand, clock_nanosleep_absolute, membarrier};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use sys::clock::Counter;
use sys::monotonic_raw_ns;
use sys::role::frame;
use trace::record::INTERRUPTS_RECORDED;

/// A row of this program: a thread that computes.
pub const SPIN: &str = "bench.spin";

/// A row of this program: a thread that sleeps until a time of CLOCK_REALTIME.
pub const SLEEP: &str = "bench.sleep";

/// From and to, in ns of CLOCK_MONOTONIC_RAW.
pub type Stretches = Vec<(u64, u64)>;

/// What the process tells.
pub type ProcessReport = (Marks, Stretches);

#[derive(clap::Args)]
pub struct Arguments {
    #[arg(long)]
    row: String,
    #[arg(long)]
    operations: u32,
    /// The CPU of the row's first thread
    #[arg(long)]
    cpu: u32,
    /// All CPUs that its threads may have
    #[arg(long, value_delimiter = ',')]
    allowed: Vec<u32>,
    /// About how long an operation computes, in µs
    #[arg(long)]
    operation_us: u32,
    /// Fresh pages in an operation now and then
    #[arg(long)]
    faults: bool,
    /// Interrupts from this CPU
    #[arg(long)]
    interrupts_from: Option<u32>,
    /// The control group to join
    #[arg(long)]
    group: Option<PathBuf>,
}

/// Makes the visit, and writes the answer to standard output.
///
/// # Errors
/// If there is no such row, or the visit fails.
pub fn visit(arguments: &Arguments) -> anyhow::Result<()> {
    // The one that records may be kept off the CPU of the operations.
    sys::pin_to(&arguments.allowed)?;
    if let Some(group) = &arguments.group {
        std::fs::write(group.join("cgroup.procs"), "0").context("can't join the group")?;
    }
    let truth = Arc::new(Mutex::new(Vec::new()));
    let mut catalogue = probes::catalogue();
    catalogue.push(spin(arguments.operation_us, arguments.faults, &truth));
    catalogue.push(sleep(arguments.operation_us));
    let machine = sys::machine_facts(Path::new("/"));
    let (row, point) = match arguments.row.rsplit_once('/') {
        Some((row, point)) if point.parse::<u64>().is_ok() => (row, point.parse().ok()),
        _ => (&*arguments.row, None),
    };
    let request = plan::Request {
        rows: vec![row.to_owned()],
        pin: Some(arguments.cpu),
        ..plan::Request::default()
    };
    let plan = plan(&catalogue, &request, &machine)?;
    let is_meant = |at: &[u64]| point.is_none() || at.last() == point.as_ref();
    let cell = plan.cells.iter().position(|cell| is_meant(&cell.at));
    let cell = cell.with_context(|| format!("no cell of {}", arguments.row))?;
    let stop = AtomicBool::new(false);
    let marks = std::thread::scope(|scope| {
        if let Some(cpu) = arguments.interrupts_from {
            let (stop, truth) = (&stop, &truth);
            scope.spawn(move || interrupt(cpu, stop, truth));
        }
        let explain = Explain {
            spin: Duration::from_millis(200),
            interrupts: std::env::var_os(INTERRUPTS_RECORDED).is_none(),
        };
        let visit =
            one_visit(&catalogue, &plan, &machine, cell, arguments.operations, Some(explain));
        stop.store(true, Ordering::Relaxed);
        anyhow::Ok(visit?.marks(&catalogue[plan.cells[cell].probe])?)
    })?;
    let truth = std::mem::take(&mut *truth.lock().unwrap_or_else(PoisonError::into_inner));
    let answer: ProcessReport = (marks, truth);
    Ok(frame::send(&mut std::io::stdout().lock(), &answer)?)
}

/// A barrier on one CPU for all threads of the process: an interrupt of the CPU on which
/// another one runs. Unmapping memory interrupts it too, but in some guests the hypervisor
/// does that, and no interrupt is there to be seen.
fn interrupt(cpu: u32, stop: &AtomicBool, truth: &Mutex<Stretches>) {
    const TIMES: usize = 200;
    const PAUSE: Duration = Duration::from_millis(50);
    let _ = sys::pin_to(&[cpu]);
    let _ = membarrier(MembarrierCommand::RegisterPrivateExpedited);
    while !stop.load(Ordering::Relaxed) {
        let from_ns = monotonic_raw_ns();
        for _ in 0..TIMES {
            let _ = membarrier(MembarrierCommand::PrivateExpedited);
        }
        let mut truth = truth.lock().unwrap_or_else(PoisonError::into_inner);
        truth.push((from_ns, monotonic_raw_ns()));
        drop(truth);
        std::thread::sleep(PAUSE);
    }
}

fn spin(operation_us: u32, faults: bool, truth: &Arc<Mutex<Stretches>>) -> Probe {
    let truth = Arc::clone(truth);
    Probe {
        regime: Regime::Stamped,
        effort: Effort::stamped(1, 100, f64::from(operation_us) * 1e3),
        make: Box::new(move |_, _| {
            Ok(Box::new(Spin { turns: turns(operation_us), faults, truth: Arc::clone(&truth) }))
        }),
        ..Probe::blank(SPIN)
    }
}

fn sleep(operation_us: u32) -> Probe {
    Probe {
        regime: Regime::Stamped,
        effort: Effort::stamped(1, 100, f64::from(operation_us) * 1e3),
        make: Box::new(move |_, _| Ok(Box::new(Sleep(operation_us)))),
        ..Probe::blank(SLEEP)
    }
}

struct Sleep(u32);

impl Work for Sleep {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        let counter = Counter::best();
        let operation = |_| {
            let from = counter.start();
            self.run(1, false);
            event(from, counter.stop())
        };
        Ok((0..operations).map(operation).collect())
    }

    fn run(&mut self, turns: u64, _: bool) {
        for _ in 0..turns {
            let now = clock_gettime(ClockId::Realtime);
            let ns = now.tv_nsec + i64::from(self.0) * 1000;
            let until =
                Timespec { tv_sec: now.tv_sec + ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
            let _ = clock_nanosleep_absolute(ClockId::Realtime, &until);
        }
    }
}

/// An operation of the first series.
fn event(from: u64, to: u64) -> Event {
    Event {
        series: 0,
        from_ticks: 0,
        to_ticks: to.wrapping_sub(from),
        ops: 1,
        mode: 0,
        place: Some(CounterOrigin { zero_ticks: from, thread: sys::thread::current_id() }),
    }
}

struct Spin {
    turns: u64,
    faults: bool,
    truth: Arc<Mutex<Stretches>>,
}

/// As many as take about so long.
fn turns(us: u32) -> u64 {
    const TRIED: u64 = 1_000_000;
    let each_ns = || {
        let began = Instant::now();
        turn(TRIED);
        began.elapsed().as_nanos().max(1) as f64 / TRIED as f64
    };
    // What is injected may lengthen some.
    let each_ns = (0..5).map(|_| each_ns()).fold(f64::MAX, f64::min);
    (f64::from(us) * 1e3 / each_ns) as u64
}

fn turn(turns: u64) {
    let mut sum = 1_u64;
    for _ in 0..turns {
        sum = black_box(sum.wrapping_mul(3));
    }
}

impl Work for Spin {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        /// One operation in so many has faults, of so many pages.
        const EVERY: u32 = 500;
        const PAGES: usize = 256;
        let counter = Counter::best();
        let page = sys::base_page_bytes();
        let mut truth = Vec::new();
        let mut events = Vec::with_capacity(operations as usize);
        for number in 0..operations {
            let has_faults = self.faults && number % EVERY == EVERY / 2;
            let mut fresh = has_faults
                .then(|| sys::Mapping::new(PAGES * page))
                .transpose()
                .map_err(|_| WorkError::NoWork)?;
            let from = counter.start();
            turn(self.turns);
            if let Some(fresh) = &mut fresh {
                let from_ns = monotonic_raw_ns();
                for page in fresh.as_mut_slice().chunks_mut(page) {
                    page[0] = black_box(1);
                }
                truth.push((from_ns, monotonic_raw_ns()));
            }
            events.push(event(from, counter.stop()));
        }
        let mut all = self.truth.lock().unwrap_or_else(PoisonError::into_inner);
        all.append(&mut truth);
        Ok(events)
    }

    fn run(&mut self, turns: u64, _: bool) {
        turn(turns * self.turns);
    }
}
