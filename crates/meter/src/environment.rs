//! What a worker can tell of the machine around a sample: the canaries, and
//! the operating system's word on what the thread lost.

use crate::clock::Clock;
use crate::worker_memory::{ChaseOrder, LINE_BYTES};
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

/// Size of the chase that stays in L1 whatever a neighbour does.
const NEAR_BYTES: usize = 4096;
/// Laps of it in a reading: about 1 µs.
const NEAR_LAPS: u64 = 16;

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

/// What the canaries are measured by, once a visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreFigures {
    /// Dependent multiplications over dependent adds.
    pub multiply_ratio: f64,
    /// A load of the chase through 4 KiB, ns; `None` where there is none.
    pub l1_load_ns: Option<f64>,
}

/// What is around a sample. Scripted in tests.
pub trait Environment {
    /// Takes the figures that the canaries of a visit are measured by.
    fn core_figures(&mut self) -> CoreFigures;
    /// Runs the canaries. They leave the L1 data cache full of their own lines.
    fn canary(&mut self) -> CanaryReading;
    /// Runs the last-level canary; ns a load. `None` where there is none.
    fn last_level(&mut self) -> Option<f64>;
    /// Losses since the last time, cheap enough for each operation of a
    /// distribution. A system call: what runs next runs slower (malloc by a
    /// third, over a whole sample), so never between short samples.
    fn losses(&mut self) -> Losses;
    /// The same with all that is known of a visit.
    fn losses_of_visit(&mut self) -> Losses;
}

/// The real environment of a worker.
pub struct RealEnvironment<C = Counter> {
    counter: C,
    ns_per_tick: f64,
    watch: ThreadWatch,
    run_delay_ns: u64,
    cpu: Option<u32>,
    faults: u64,
    throttled_us: u64,
    last_level: LastLevelCanary,
    capacity: Option<CapacityCanary>,
}

impl<C: Clock> RealEnvironment<C> {
    /// Opens the sources. `l1_bytes` is the size of the L1 data cache,
    /// `last_level_bytes` that of the chase of the last-level canary: well above
    /// L2, well below the last level.
    pub fn new(counter: C, ns_per_tick: f64, l1_bytes: u64, last_level_bytes: usize) -> Self {
        let mut environment = RealEnvironment {
            counter,
            ns_per_tick,
            watch: ThreadWatch::for_this_thread(),
            run_delay_ns: 0,
            cpu: None,
            faults: 0,
            throttled_us: 0,
            last_level: LastLevelCanary::Unbuilt(last_level_bytes),
            capacity: CapacityCanary::build(l1_bytes),
        };
        environment.losses_of_visit();
        environment
    }

    fn timed(&self, work: impl FnOnce()) -> f64 {
        let start = self.counter.start();
        work();
        self.counter.stop().saturating_sub(start) as f64 * self.ns_per_tick
    }
}

impl<C: Clock> Environment for RealEnvironment<C> {
    fn core_figures(&mut self) -> CoreFigures {
        let bracket_ns = self.timed(|| ());
        let turns = CANARY_TURNS / u64::from(kernels::ADDS_PER_TURN);
        // A third as many, which take as long on most cores.
        let multiplies = turns / 3;
        // Both once before: a visit begins with cold code, and what is wanted is
        // known to less than a hundredth.
        kernels::dependent_adds(turns / 4);
        kernels::dependent_multiplies(multiplies / 4);
        let adds_ns = self.timed(|| kernels::dependent_adds(turns)) - bracket_ns;
        let multiplies_ns = self.timed(|| kernels::dependent_multiplies(multiplies)) - bracket_ns;
        let of_add = adds_ns / (turns * u64::from(kernels::ADDS_PER_TURN)) as f64;
        let of_multiply =
            multiplies_ns / (multiplies * u64::from(kernels::MULTIPLIES_PER_TURN)) as f64;
        let mut capacity = self.capacity.take();
        let l1_load_ns = capacity.as_mut().and_then(|canary| {
            let loads = NEAR_LAPS * canary.near.elements() as u64;
            canary.near.follow(loads);
            // The better of two: an interruption would make every reading of
            // the visit look quiet.
            let one = self.timed(|| canary.near.follow(loads));
            let ns = one.min(self.timed(|| canary.near.follow(loads))) - bracket_ns;
            canary.near_ns = ns / loads as f64;
            (canary.near_ns > 0.0).then_some(canary.near_ns)
        });
        self.capacity = capacity;
        CoreFigures { multiply_ratio: of_multiply / of_add, l1_load_ns }
    }

    fn canary(&mut self) -> CanaryReading {
        // The bracket's own 30 to 40 ns are a hundredth of what it holds here:
        // enough to spoil a cycle count.
        let bracket_ns = self.timed(|| ());
        let branches_ns = self.timed(|| kernels::taken_branches(CANARY_TURNS)) - bracket_ns;
        let turns = CANARY_TURNS / u64::from(kernels::ADDS_PER_TURN);
        let adds_ns = self.timed(|| kernels::dependent_adds(turns)) - bracket_ns;
        let mut capacity = self.capacity.take();
        let loads_ns = capacity.as_mut().map(|canary| {
            let lap = canary.most.elements() as u64;
            // The pass brings in what a row of the last level or of memory has
            // evicted, the lap what the pass left in the wrong ways.
            canary.most.linear_pass();
            canary.most.follow(lap);
            let ns = self.timed(|| canary.most.follow(lap)) - bracket_ns;
            ns / lap as f64 / canary.near_ns
        });
        self.capacity = capacity;
        CanaryReading {
            ratio: branches_ns / adds_ns,
            capacity: loads_ns.filter(|ratio| ratio.is_finite()),
            cycle_ns: adds_ns / CANARY_TURNS as f64,
        }
    }

    fn last_level(&mut self) -> Option<f64> {
        let mut canary = std::mem::replace(&mut self.last_level, LastLevelCanary::Unavailable);
        canary.build();
        let reading = canary
            .warm()
            .map(|ring| self.timed(|| ring.follow(LAST_LEVEL_LOADS)) / LAST_LEVEL_LOADS as f64);
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
                let mut order = ChaseOrder::default();
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
        ring.follow(64);
        Some(ring)
    }
}

/// Two chases in one buffer: through 5/6 of L1, which a neighbour on the same
/// core evicts, and through 4 KiB, which stay.
struct CapacityCanary {
    most: Ring<'static>,
    near: Ring<'static>,
    /// A load of the near one, ns, as it was last taken.
    near_ns: f64,
}

impl CapacityCanary {
    /// `None` where there is no memory for it.
    fn build(l1_bytes: u64) -> Option<CapacityCanary> {
        let most = most_of_l1(l1_bytes);
        // One huge page, so that the lines spread evenly over the sets even
        // where the cache is indexed by bits above the base page's.
        let buffer = Buffer::new(most + NEAR_BYTES, PageKind::Huge).ok()?;
        // Never given back: a process has one till its end.
        let memory = Box::leak(Box::new(buffer)).as_mut_slice();
        let (most_of_it, near) = memory.split_at_mut(most);
        let mut order = ChaseOrder::default();
        let mut ring = |memory: &'static mut [u8]| {
            order.shuffle((memory.len() / LINE_BYTES) as u32, 1);
            Ring::link(memory, order.offsets(LINE_BYTES))
        };
        Some(CapacityCanary { most: ring(most_of_it), near: ring(near), near_ns: f64::NAN })
    }
}

/// 5/6 of L1 in whole turns of the chase, so that a lap is a lap.
fn most_of_l1(l1_bytes: u64) -> usize {
    let turn = kernels::CHASE_UNROLL as usize * LINE_BYTES;
    let bytes = usize::try_from(l1_bytes).unwrap_or(usize::MAX / 8);
    (bytes / 6 * 5 / turn).max(1) * turn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ScriptedClock;

    const BRACKET: u64 = 30;

    /// A clock of which each bracket takes so many ticks, besides its own.
    fn taking<const N: usize>(ticks: [u64; N]) -> ScriptedClock {
        let brackets = (0..).step_by(1 << 30).zip(ticks);
        ScriptedClock::new(brackets.flat_map(|(from, ticks)| [from, from + BRACKET + ticks]))
    }

    #[test]
    fn canary_readings_exclude_the_brackets_own_time() {
        let turns = CANARY_TURNS / u64::from(kernels::ADDS_PER_TURN);
        let adds = turns * u64::from(kernels::ADDS_PER_TURN);
        let multiplies = turns / 3 * u64::from(kernels::MULTIPLIES_PER_TURN);
        let (near, lap) = (NEAR_LAPS * 64, 640);
        let once_a_visit = [0, 2 * adds, 6 * multiplies, 5 * near, 4 * near];
        let [b, a, m, one, two] = once_a_visit;
        let clock = taking([b, a, m, one, two, 0, 8 * CANARY_TURNS, 4 * CANARY_TURNS, 12 * lap]);
        let mut around = RealEnvironment::new(clock, 0.5, 48 << 10, 0);
        let core = around.core_figures();
        assert_eq!(core.multiply_ratio, 3.0);
        // The better of two, 2 ns.
        assert_eq!(core.l1_load_ns, Some(2.0));
        let canary = around.canary();
        assert_eq!(canary.ratio, 2.0);
        assert_eq!(canary.cycle_ns, 2.0);
        assert_eq!(canary.capacity, Some(3.0));
    }

    #[test]
    fn a_lap_of_the_capacity_canary_is_a_whole_one_and_fits() {
        for (l1_kib, kib) in [(32, 24), (48, 40), (64, 52), (128, 104), (1, 4)] {
            assert_eq!(most_of_l1(l1_kib << 10), kib << 10, "{l1_kib} KiB");
        }
        let mut canary = CapacityCanary::build(48 << 10).expect("memory");
        assert_eq!(canary.most.elements(), 640);
        assert_eq!(canary.near.elements(), 64);
        let (at, lap) = (canary.most.offset(), canary.most.elements() as u64);
        canary.most.follow(lap);
        assert_eq!(canary.most.offset(), at);
    }
}
