//! One visit to one cell, in this process: for a trace of it, and where no worker
//! processes can be started.

mod marks;
mod watch;

use crate::conduct::{CALIBRATION, ConductError, with_scratch};
use crate::placement::quietest_cpu;
use crate::plan::Plan;
use crate::probe::{Event, Probe, WorkStep};
use crate::rounds::setup;
use crate::scratch::Scratch;
use crate::wire::{Reply, VisitRequest};
use crate::worker::Worker;
pub use marks::NoMarks;
use model::machine::Machine;
use model::trace::row::Watch;
use std::time::Duration;
use sys::clock::{Anchor, Counter, OnRaw};
use sys::pages::{Buffer, PageKind, base_page_bytes};
use watch::{InterruptReader, watched};

/// What came of the visit.
#[derive(Debug)]
pub struct OneVisit {
    /// What a worker would answer.
    pub reply: Reply,
    /// Its operations, if it is to stamped work.
    pub events: Vec<Event>,
    /// What lay within them, unless slow ones are to be explained.
    pub steps: Vec<WorkStep>,
    /// When it began and ended, on CLOCK_MONOTONIC_RAW, in ns.
    pub stretch_ns: (u64, u64),
    /// The stamps of the events on that clock.
    pub on_raw: OnRaw,
    /// What a spinning thread lost time to right before.
    pub spun: Option<Spun>,
    /// What the kernel counted during the visit, if a thread span before.
    pub watch: Option<Watch>,
}

/// What is found out for the slow operations of a visit.
#[derive(Clone, Copy, Debug)]
pub struct Explain {
    /// How long the thread spins before, for the price of interrupts.
    pub spin: Duration,
    /// Whether the interrupts of its CPU are counted during the visit: nothing records them.
    pub interrupts: bool,
}

/// What the calling thread lost time to while it span, and what a page fault took.
#[derive(Clone, Debug, Default)]
pub struct Spun {
    /// Stretches in which it did not get on, by the counter.
    pub detours: Vec<(u64, u64)>,
    /// The median of many page faults.
    pub fault_ticks: u64,
    /// Interrupts of its CPU, in the order of `InterruptKind::ALL`.
    pub interrupts: [u32; 4],
}

impl Spun {
    fn spin(counter: &Counter, span: Duration, ns_per_tick: f64, cpu: Option<u32>) -> Spun {
        /// Two readings further apart hold something else.
        const LEAST_NS: f64 = 500.0;
        const PAGES: usize = 512;
        let page_bytes = base_page_bytes();
        let least = (LEAST_NS / ns_per_tick) as u64;
        let mut detours = Vec::new();
        let mut counted = cpu.and_then(InterruptReader::open_for_cpu);
        let first = counted.as_mut().and_then(InterruptReader::read).unwrap_or_default();
        let began = counter.stop();
        let mut before = began;
        while before.wrapping_sub(began) as f64 * ns_per_tick < span.as_nanos() as f64 {
            let now = counter.stop();
            if now.wrapping_sub(before) > least {
                detours.push((before, now));
            }
            before = now;
        }
        let last = counted.as_mut().and_then(InterruptReader::read).unwrap_or(first);
        let mut faults: Vec<u64> = Vec::new();
        if let Ok(mut pages) = Buffer::untouched(PAGES * page_bytes, PageKind::Base) {
            for page in pages.as_mut_slice().chunks_mut(page_bytes) {
                let start = counter.start();
                page[0] = std::hint::black_box(1);
                faults.push(counter.stop().wrapping_sub(start));
            }
        }
        faults.sort_unstable();
        Spun {
            detours,
            fault_ticks: faults.get(faults.len() / 2).copied().unwrap_or(0),
            interrupts: std::array::from_fn(|at| last[at].saturating_sub(first[at]) as u32),
        }
    }
}

/// Visits this cell of the plan for so many samples, in the calling thread, which
/// is pinned to the quietest CPU for the visit; it spins there first where its slow operations are to be explained. What
/// the plan sets for workers beyond that is left out.
///
/// # Errors
/// If the clock is of no use, or there is no directory for files.
pub fn one_visit(
    catalogue: &[Probe],
    plan: &Plan,
    machine: &Machine,
    cell: usize,
    samples: u32,
    explain: Option<Explain>,
) -> Result<OneVisit, ConductError> {
    let counter = Counter::best();
    let no_clock = || ConductError::NoClock(counter.name().to_string());
    let calibration = sys::clock::calibrate(&counter, CALIBRATION);
    if !calibration.is_usable() {
        return Err(no_clock());
    }
    let cpus = &plan.machine_shape.cpus;
    let cpu = plan.pin.or_else(|| {
        quietest_cpu(cpus, machine, &counter, &calibration, plan.kept_quiet_ratio).ok()
    });
    let planned = plan.cells.get(cell).ok_or(ConductError::NothingToDo)?;
    let request = VisitRequest {
        cell: 0,
        probe: u32::try_from(planned.probe).unwrap_or(u32::MAX),
        pack: planned.pack.clone(),
        variant: planned.variant.clone(),
        at: planned.at.clone(),
        regime: planned.regime,
        samples,
        last_level_canary: planned.last_level_canary,
        steps: explain.is_none(),
        wait_for_quiet: None,
    };
    let (scratch, machine_shape) = with_scratch(plan)?;
    let setup = setup(plan, planned.first_worker, &calibration, &machine_shape);
    let home = sys::affinity::allowed_cpus().unwrap_or_default();
    if let Some(cpu) = cpu {
        // Unpinned it is a visit, too.
        let _ = sys::affinity::pin_to(&[cpu]);
    }
    let mut worker = Worker::new(catalogue, &setup);
    let mut events = Vec::new();
    let first = Anchor::narrowest(&counter);
    let spun = explain.map(|e| Spun::spin(&counter, e.spin, calibration.ns_per_tick, cpu));
    let mut visit = || {
        let began_ns = sys::clock::monotonic_raw_ns();
        let reply = worker.visit(&request, &mut events);
        (reply, (began_ns, sys::clock::monotonic_raw_ns()))
    };
    let ((reply, stretch_ns), watch) = match (explain, cpu) {
        (Some(Explain { interrupts, .. }), Some(cpu)) => {
            let others: Vec<u32> = home.iter().copied().filter(|&other| other != cpu).collect();
            watched(cpu, &others, interrupts, visit)
        }
        _ => (visit(), None),
    };
    let on_raw = OnRaw::between(first, Anchor::narrowest(&counter));
    let _ = sys::affinity::pin_to(&home);
    // What it left is the next run's to sweep.
    let _ = scratch.map(Scratch::remove);
    let steps = std::mem::take(&mut worker.steps);
    let on_raw = on_raw.ok_or_else(no_clock)?;
    Ok(OneVisit { reply, events, steps, stretch_ns, on_raw, spun, watch })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use crate::probe::{CounterOrigin, Work, WorkError};
    use model::run::Regime;
    use std::path::Path;

    struct Three;

    impl Work for Three {
        fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
            let counter = Counter::best();
            let event = |_| Event {
                series: 0,
                from_ticks: 0,
                to_ticks: 7,
                ops: 1,
                mode: 0,
                place: Some(CounterOrigin {
                    zero_ticks: counter.start(),
                    thread: sys::thread::current_id(),
                }),
            };
            Ok((0..operations).map(event).collect())
        }
    }

    #[test]
    fn the_operations_lie_within_the_visit() {
        let probe = Probe {
            regime: Regime::Stamped,
            make: Box::new(|_, _| Ok(Box::new(Three))),
            ..Probe::blank("my.row")
        };
        let catalogue = [probe];
        let machine = sys::machine_facts(Path::new("/"));
        let plan = plan::plan(&catalogue, &plan::Request::default(), &machine).expect("a plan");
        let visit = one_visit(
            &catalogue,
            &plan,
            &machine,
            0,
            3,
            Some(Explain { spin: Duration::from_millis(1), interrupts: true }),
        )
        .expect("a visit");
        let Reply::Visited { parts, .. } = &visit.reply else {
            panic!("{:?}", visit.reply);
        };
        assert_eq!((parts.len(), parts[0].samples.len()), (1, 3));
        assert_eq!(visit.events.len(), 3);
        let spun = visit.spun.expect("it span");
        assert!(spun.fault_ticks > 0);
        assert!(spun.detours.iter().all(|(from, to)| from < to));
        let (began_ns, ended_ns) = visit.stretch_ns;
        let error_ns = visit.on_raw.error_ns();
        for event in &visit.events {
            let place = event.place.expect("a stretch");
            let at_ns = visit.on_raw.ns(place.zero_ticks);
            assert!(began_ns <= at_ns + error_ns && at_ns <= ended_ns + error_ns);
            assert_eq!(place.thread, sys::thread::current_id());
        }
    }
}
