//! The simulated machine that visits run on.

use meter::clock::Clock;
use meter::environment::{CoreFigures, Environment, Losses};
use meter::probe::Work;
use meter::visit::Visitor;
use model::gate::CanaryReading;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How a broken clock reads the true time.
pub(crate) type BrokenClock = fn(u64) -> u64;
/// Length of a core cycle in ns at a time in ns.
pub(crate) type CycleAt = fn(f64) -> f64;
/// Ratio of the n-th canary.
pub(crate) type RatioOf = Box<dyn Fn(u64) -> f64>;

/// What happens in a visit that its samples could tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    Figures,
    Canary,
    /// A system call asks what was lost.
    Losses,
    Restore,
    Run,
}

/// What a neighbour on the core's other hardware thread does to the canaries and
/// to the work.
#[derive(Clone, Copy)]
pub(crate) struct Neighbour {
    pub(crate) branch: f64,
    pub(crate) capacity: f64,
    pub(crate) multiply: f64,
    pub(crate) slowdown: f64,
}

pub(crate) const NONE: Neighbour =
    Neighbour { branch: 1.003, capacity: 1.006, multiply: 2.998, slowdown: 1.0 };

/// Cycles of work that run slower after a system call has had the branch
/// predictors, and by how much: assumed, so tests show that the untimed part
/// covers this much and not that this is all.
pub(crate) const AFTER_A_CALL: (f64, f64) = (30_000.0, 0.4);
/// Cycles that the next work pays for the lines that the canary evicted.
pub(crate) const AFTER_A_CANARY: f64 = 2_000.0;

/// The simulated machine: time in ticks of 0.5 ns, a core clock, neighbours.
#[derive(Default)]
pub(crate) struct SimulatedMachine {
    pub(crate) now: Cell<u64>,
    /// Reads the clock through this.
    pub(crate) broken: Cell<Option<BrokenClock>>,
    /// Length of a core cycle in ns, as a function of the time in ns.
    pub(crate) cycle_ns: Cell<Option<CycleAt>>,
    /// Canary ratio as a function of the number of the canary.
    pub(crate) ratio: RefCell<Option<RatioOf>>,
    pub(crate) canaries: Cell<u64>,
    pub(crate) neighbour: Cell<Option<Neighbour>>,
    pub(crate) calls: RefCell<Vec<Call>>,
    /// Cycles of work that will run slower.
    pub(crate) slow_cycles: Cell<f64>,
    pub(crate) evicted: Cell<bool>,
    /// Losses that the next samples suffer, ns.
    pub(crate) preemptions: RefCell<Vec<u64>>,
    pub(crate) pending_loss: Cell<u64>,
}

pub(crate) const TICK_NS: f64 = 0.5;

impl SimulatedMachine {
    pub(crate) fn cycle(&self) -> f64 {
        let now_ns = self.now.get() as f64 * TICK_NS;
        self.cycle_ns.get().map_or(0.5, |f| f(now_ns))
    }
    pub(crate) fn note_call(&self, call: Call) {
        self.calls.borrow_mut().push(call);
    }
    pub(crate) fn neighbour(&self) -> Neighbour {
        self.neighbour.get().unwrap_or(NONE)
    }
    /// Work as what came before it makes it.
    pub(crate) fn work_cycles(&self, cycles: f64) {
        let slow = self.slow_cycles.get().min(cycles);
        self.slow_cycles.set(self.slow_cycles.get() - slow);
        let missing = f64::from(u8::from(self.evicted.replace(false))) * AFTER_A_CANARY;
        self.spend_cycles(cycles * self.neighbour().slowdown + slow * AFTER_A_CALL.1 + missing);
    }
    pub(crate) fn spend_cycles(&self, cycles: f64) {
        let ticks = cycles * self.cycle() / TICK_NS;
        self.now.set(self.now.get() + ticks.round() as u64);
    }
}

#[derive(Clone)]
pub(crate) struct SimClock(pub(crate) Rc<SimulatedMachine>);
impl Clock for SimClock {
    fn start(&self) -> u64 {
        let now = self.0.now.get();
        self.0.broken.get().map_or(now, |f| f(now))
    }
    fn stop(&self) -> u64 {
        self.start()
    }
}

pub(crate) struct SimEnvironment(pub(crate) Rc<SimulatedMachine>);
impl Environment for SimEnvironment {
    fn core_figures(&mut self) -> CoreFigures {
        self.0.note_call(Call::Figures);
        CoreFigures {
            multiply_ratio: self.0.neighbour().multiply,
            l1_load_ns: Some(4.0 * self.0.cycle()),
        }
    }
    fn canary(&mut self) -> CanaryReading {
        let m = &self.0;
        m.note_call(Call::Canary);
        m.canaries.set(m.canaries.get() + 1);
        m.spend_cycles(16_000.0);
        m.evicted.set(true);
        let ratio = m.ratio.borrow();
        CanaryReading {
            ratio: match ratio.as_ref() {
                Some(f) => f(m.canaries.get()),
                None => m.neighbour().branch,
            },
            capacity: Some(m.neighbour().capacity),
            cycle_ns: m.cycle(),
        }
    }
    fn last_level(&mut self) -> Option<f64> {
        Some(15.0)
    }
    fn losses(&mut self) -> Losses {
        self.0.note_call(Call::Losses);
        self.0.slow_cycles.set(AFTER_A_CALL.0);
        Losses { lost_ns: self.0.pending_loss.replace(0), ..Losses::default() }
    }
    fn losses_of_visit(&mut self) -> Losses {
        self.losses()
    }
}

/// Costs `per_op` cycles an operation, 16 a turn, 32 in the double loop, and
/// 3 cycles for the loop itself.
pub(crate) struct Op {
    pub(crate) machine: Rc<SimulatedMachine>,
    pub(crate) per_op: f64,
    pub(crate) paired: bool,
}
impl Work for Op {
    fn ops_per_turn(&self) -> f64 {
        16.0
    }
    fn paired(&self) -> bool {
        self.paired
    }
    fn restore(&mut self) {
        self.machine.note_call(Call::Restore);
    }
    fn run(&mut self, turns: u64, double: bool) {
        self.machine.note_call(Call::Run);
        let ops = if double { 32.0 } else { 16.0 };
        self.machine.work_cycles(turns as f64 * (ops * self.per_op + 3.0));
        if let Some(loss_ns) = self.machine.preemptions.borrow_mut().pop()
            && loss_ns > 0
        {
            let m = &self.machine;
            m.now.set(m.now.get() + (loss_ns as f64 / TICK_NS) as u64);
            m.pending_loss.set(m.pending_loss.get() + loss_ns);
        }
    }
}

pub(crate) fn machine() -> Rc<SimulatedMachine> {
    Rc::new(SimulatedMachine { now: Cell::new(1_000), ..SimulatedMachine::default() })
}

pub(crate) fn visitor(machine: &Rc<SimulatedMachine>) -> Visitor<SimClock, SimEnvironment> {
    Visitor {
        clock: SimClock(machine.clone()),
        ns_per_tick: TICK_NS,
        min_sample_ticks: 100,
        environment: SimEnvironment(machine.clone()),
    }
}
