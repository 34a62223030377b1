//! A worker process: the same program, started again, that visits cells as
//! it is asked for and sends the samples back.

use crate::environment::{Environment, RealEnvironment};
use crate::probe::{Event, Probe, Site, WorkError, WorkStep};
use crate::visit::{self, Series, VisitOrder, Visitor};
use crate::wire::{Reply, VariantSamples, VisitRequest, WorkerSetup};
use crate::worker_memory::WorkerMemory;
use model::run::Regime;
use std::collections::HashMap;
use std::io;
use sys::clock::Counter;
use sys::role::{Role, RoleTask};

/// Serves as a worker, and never returns, if this process was started as one.
/// A program that measures calls this first, before it reads its arguments,
/// with the same catalogue as the parent's.
pub fn enter_if_worker(catalogue: &[Probe]) {
    sys::role::enter_if(Role::Worker, |task| serve(catalogue, task));
}

/// Works for its parent until that ends the connection.
///
/// # Errors
/// A parent that has ended, or a broken connection.
pub fn serve(catalogue: &[Probe], task: &RoleTask) -> io::Result<()> {
    // What ends a whole group or service reaches its workers too: their samples
    // are wanted, and their parent ends them.
    sys::stop::outlive_requests()?;
    let ((), mut parent) = task.with_parent()?;
    let Some(setup) = parent.receive::<WorkerSetup>()? else {
        return Ok(());
    };
    // First of all: memory and threads that come later are under them too. A
    // control group sets the CPUs, so it comes before the pinning.
    let refused = sys::controls::apply(&setup.asked.in_order()).err();
    let mut worker = Worker::new(catalogue, &setup);
    let pinned = match sys::affinity::pin_to(&setup.pin) {
        _ if setup.pin.is_empty() => Ok(Vec::new()),
        Ok(()) => Ok(setup.pin.clone()),
        Err(e) => Err(e.into()),
    };
    parent.send(&Reply::Ready {
        pinned,
        granted: sys::controls::granted(),
        refused: refused.map(|refused| refused.to_string()),
    })?;
    while let Some(request) = parent.receive()? {
        parent.send(&worker.visit(&request, &mut Vec::new()))?;
    }
    Ok(())
}

pub(crate) struct Worker<'c> {
    catalogue: &'c [Probe],
    setup: WorkerSetup,
    bench: WorkerMemory,
    visitor: Visitor<Counter, RealEnvironment>,
    turns: HashMap<u32, u64>,
    visits: u64,
    /// Parts of the operations of the last visit, if it was asked for them.
    pub(crate) steps: Vec<WorkStep>,
}

impl<'c> Worker<'c> {
    pub(crate) fn new(catalogue: &'c [Probe], setup: &WorkerSetup) -> Worker<'c> {
        let counter = Counter::best();
        Worker {
            catalogue,
            bench: WorkerMemory::new(
                setup.machine_shape.clone(),
                setup.huge_bytes,
                setup.base_bytes,
                setup.seed,
            ),
            visitor: Visitor {
                min_sample_ticks: counter.min_sample_ticks(),
                ns_per_tick: setup.ns_per_tick,
                environment: RealEnvironment::new(
                    counter,
                    setup.ns_per_tick,
                    setup.machine_shape.l1_bytes,
                    setup.last_level_canary_bytes as usize,
                ),
                clock: counter,
            },
            turns: HashMap::new(),
            visits: 0,
            steps: Vec::new(),
            setup: setup.clone(),
        }
    }

    /// Makes a visit; `events` are the operations of stamped work.
    pub(crate) fn visit(&mut self, request: &VisitRequest, events: &mut Vec<Event>) -> Reply {
        let began_ns = sys::clock::monotonic_raw_ns();
        match self.try_visit(request, began_ns, events) {
            Ok(reply) => reply,
            Err(error) => Reply::Unavailable { cell: request.cell, reason: error.to_string() },
        }
    }

    fn try_visit(
        &mut self,
        request: &VisitRequest,
        began_ns: u64,
        events: &mut Vec<Event>,
    ) -> Result<Reply, WorkError> {
        let (made, probe);
        let (make, variants) = match &request.pack {
            Some(site) => {
                made = site.make();
                (&made, None)
            }
            None => {
                let number = request.probe as usize;
                probe = self.catalogue.get(number).ok_or(WorkError::OtherCatalogue)?;
                (&probe.make, Some(&probe.variants).filter(|_| probe.together))
            }
        };
        let site = Site { variant: request.variant.clone(), at: request.at.clone() };
        let mut work = make(&mut self.bench, &site)?;
        self.visits += 1;
        let series = match request.regime {
            Regime::Stamped => {
                // What the thread waited until now is not this visit's.
                self.visitor.environment.losses();
                if request.steps {
                    work.mark_steps();
                }
                *events = work.stamped(request.samples)?;
                self.steps = work.marked_steps();
                let mut series = visit::series(events, work.as_ref())?;
                let own_ns = self.visitor.environment.losses().lost_ns;
                visit::record_run_delay(&mut series, work.as_ref(), own_ns);
                series
            }
            _ => vec![Series {
                variant: 0,
                samples: {
                    let order = VisitOrder {
                        regime: request.regime,
                        samples: request.samples,
                        last_level_canary: request.last_level_canary
                            && request.regime == Regime::Gated,
                        wait_for_quiet: request.wait_for_quiet.as_ref(),
                        turns: self.turns.get(&request.cell).copied(),
                        double_first: self.visits.is_multiple_of(2),
                    };
                    let visited = self.visitor.visit(work.as_mut(), &order);
                    self.turns.insert(request.cell, visited.turns);
                    visited.samples
                },
            }],
        };
        work.verify()?;
        let at_ms = began_ns.saturating_sub(self.setup.began_ns) / 1_000_000;
        let parts = series.into_iter().map(|mut series| {
            for sample in &mut series.samples {
                sample.worker = self.setup.worker;
                sample.at_ms = u32::try_from(at_ms).unwrap_or(u32::MAX);
            }
            let variant = match variants.and_then(|all| all.get(series.variant)) {
                Some(variant) => variant.to_string(),
                None => request.variant.clone(),
            };
            VariantSamples { variant, samples: series.samples }
        });
        let parts = parts.collect();
        let (ops_per_turn, modes) = (work.ops_per_turn(), work.modes());
        let loops_alike = work.loops_alike();
        let (notes, contradiction) = (work.notes(), work.contradiction());
        // Files and threads that end with it are part of what the visit takes.
        drop(work);
        Ok(Reply::Visited {
            cell: request.cell,
            ops_per_turn,
            parts,
            modes,
            loops_alike,
            notes,
            contradiction,
            wall_ns: sys::clock::monotonic_raw_ns().saturating_sub(began_ns),
        })
    }
}
