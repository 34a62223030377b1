//! What a worker can tell of the machine around a sample: the canaries, and
//! the operating system's word on what the thread lost.

use crate::bench::{LINE_BYTES, Order};
use crate::clock::Clock;
use kernels::ring::Ring;
use model::gate::CanaryReading;
use sys::clock::Counter;
use sys::evidence::ThreadWatch;
use sys::pages::{Buffer, PageKind};

/// Turns of each half of the canary: about 3 µs each, long against the
/// clock's own 30 ns and short against a scheduler tick.
const CANARY_TURNS: u64 = 8192;

/// Loads of one last-level canary reading.
const LAST_LEVEL_LOADS: u64 = 512;

/// The operating system's word on the thread, since the last time it was
/// asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Time ready to run and not running, ns.
    pub lost_ns: u64,
    /// The thread was moved to another CPU.
    pub migrated: bool,
    /// The quota of its control group stopped it.
    pub throttled: bool,
    /// Page faults taken.
    pub faults: u64,
}

/// What is around a sample. Scripted in tests.
pub trait Surroundings {
    /// Runs the canary.
    fn canary(&mut self) -> CanaryReading;
    /// Runs the last-level canary; ns a load. `None` where there is none.
    fn last_level(&mut self) -> Option<f64>;
    /// Losses within a visit, cheap enough for each sample.
    fn losses(&mut self) -> Losses;
    /// Losses at the end of a visit, with what is too dear for each sample.
    fn losses_of_visit(&mut self) -> Losses;
}

/// The real surroundings of a worker.
pub struct RealSurroundings {
    counter: Counter,
    ns_per_tick: f64,
    watch: ThreadWatch,
    run_delay_ns: u64,
    cpu: Option<u32>,
    faults: u64,
    throttled_us: u64,
    last_level: LastLevelCanary,
}

impl RealSurroundings {
    /// Opens the sources. `last_level_bytes` is the size of the chase of the
    /// last-level canary: well above L2, well below the last level.
    pub fn new(counter: Counter, ns_per_tick: f64, last_level_bytes: usize) -> Self {
        let mut surroundings = RealSurroundings {
            counter,
            ns_per_tick,
            watch: ThreadWatch::open(),
            run_delay_ns: 0,
            cpu: None,
            faults: 0,
            throttled_us: 0,
            last_level: LastLevelCanary::Unbuilt(last_level_bytes),
        };
        surroundings.losses_of_visit();
        surroundings
    }

    fn timed(&self, work: impl FnOnce()) -> f64 {
        let start = Clock::start(&self.counter);
        work();
        Clock::stop(&self.counter).saturating_sub(start) as f64 * self.ns_per_tick
    }
}

impl Surroundings for RealSurroundings {
    fn canary(&mut self) -> CanaryReading {
        // The bracket's own 30 to 40 ns are a hundredth of what it holds here:
        // enough to spoil a cycle count.
        let bracket_ns = self.timed(|| ());
        let branches_ns = self.timed(|| kernels::taken_branches(CANARY_TURNS)) - bracket_ns;
        let turns = CANARY_TURNS / u64::from(kernels::ADDS_PER_TURN);
        let adds_ns = self.timed(|| kernels::dependent_adds(turns)) - bracket_ns;
        CanaryReading {
            ratio: branches_ns / adds_ns,
            cycle_ns: adds_ns / CANARY_TURNS as f64,
        }
    }

    fn last_level(&mut self) -> Option<f64> {
        let mut canary = std::mem::replace(&mut self.last_level, LastLevelCanary::Unavailable);
        canary.build();
        let reading = canary
            .warm()
            .map(|ring| self.timed(|| ring.run(LAST_LEVEL_LOADS)) / LAST_LEVEL_LOADS as f64);
        self.last_level = canary;
        reading
    }

    fn losses(&mut self) -> Losses {
        let reading = self.watch.read_cheap();
        let run_delay_ns = reading.run_delay_ns.unwrap_or(self.run_delay_ns);
        let losses = Losses {
            lost_ns: run_delay_ns.saturating_sub(self.run_delay_ns),
            migrated: self.cpu.is_some() && reading.cpu.is_some() && reading.cpu != self.cpu,
            ..Losses::default()
        };
        self.run_delay_ns = run_delay_ns;
        self.cpu = reading.cpu.or(self.cpu);
        losses
    }

    fn losses_of_visit(&mut self) -> Losses {
        let reading = self.watch.read();
        let run_delay_ns = reading.run_delay_ns.unwrap_or(self.run_delay_ns);
        let faults =
            reading.minor_faults.unwrap_or(self.faults) + reading.major_faults.unwrap_or(0);
        let throttled_us = reading.throttled_us.unwrap_or(self.throttled_us);
        let losses = Losses {
            lost_ns: run_delay_ns.saturating_sub(self.run_delay_ns),
            migrated: self.cpu.is_some() && reading.cpu.is_some() && reading.cpu != self.cpu,
            throttled: throttled_us > self.throttled_us,
            faults: faults.saturating_sub(self.faults),
        };
        self.run_delay_ns = run_delay_ns;
        self.cpu = reading.cpu.or(self.cpu);
        self.faults = faults;
        self.throttled_us = throttled_us;
        losses
    }
}

/// A chase just beyond L2, warmed by linear passes right before it is timed:
/// reads the last level's latency, and rises when neighbours crowd it.
enum LastLevelCanary {
    Unbuilt(usize),
    Built(Box<Ring<'static>>),
    Unavailable,
}

impl LastLevelCanary {
    fn build(&mut self) {
        let LastLevelCanary::Unbuilt(bytes) = *self else {
            return;
        };
        *self = match Buffer::new(bytes, PageKind::Huge) {
            Ok(buffer) => {
                // Never given back: a worker process keeps it till its end.
                let memory = Box::leak(Box::new(buffer)).as_mut_slice();
                let mut order = Order::default();
                order.shuffle((bytes / LINE_BYTES) as u32, 1);
                LastLevelCanary::Built(Box::new(Ring::link(memory, order.offsets(LINE_BYTES))))
            }
            Err(_) => LastLevelCanary::Unavailable,
        };
    }

    /// The chase, its lines just brought in.
    fn warm(&mut self) -> Option<&mut Ring<'static>> {
        let LastLevelCanary::Built(ring) = self else {
            return None;
        };
        ring.linear_pass();
        ring.linear_pass();
        // The first loads may still hit what the pass left in L2.
        ring.run(64);
        Some(ring)
    }
}
