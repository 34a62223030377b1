//! The experiment: rounds of new processes of both builds and of the base again, all benchmarks in one random order.
//! First of all benchmarks; then fresh rounds of those that may have changed, by which alone these are judged. The
//! budget is kept: what it has no room for is not measured, and said.

mod kept;
mod stages;

pub use kept::layout_seed;

use crate::slot::{Arm, Benchmark, Presence, SlotError, SlotRequest, SlotSamples, Slots};
use model::judged::BenchmarkState;
use std::time::Duration;

/// Length of a sample: short enough to be left alone by the host in one of them.
const SAMPLE: Duration = Duration::from_micros(400);
/// Length of all samples of a slot.
const SLOT: Duration = Duration::from_millis(40);
/// Samples of a slot whose operation is longer than a sample should be.
const LEAST_SAMPLES: u32 = 3;
/// Samples of short operations that show the low end, where each costs much besides,
const ENOUGH_SAMPLES: u32 = 20;
/// and how long all of them may take then.
const MOST_SLOT: Duration = Duration::from_millis(150);
/// Slots of a benchmark that fail before it is given up.
const MOST_LOST: u32 = 3;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExperimentPlan {
    /// Time for all slots.
    pub budget: Duration,
    /// Of the order and of layouts.
    pub seed: u64,
    /// Fewest and most rounds of all benchmarks.
    pub screening: [u32; 2],
    /// Rounds of those that may have changed: fewest, usual, and most, which a benchmark has whose first rounds differ
    /// much.
    pub again: [u32; 3],
}

impl ExperimentPlan {
    /// As many rounds as were found to suffice.
    pub fn new(budget: Duration, seed: u64) -> ExperimentPlan {
        ExperimentPlan { budget, seed, screening: [15, 30], again: [40, 60, 400] }
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExperimentProgress<'a> {
    /// The benchmark that is measured.
    pub benchmark: &'a str,
    /// Rounds that are whole, of so many that are planned in this stage.
    pub rounds: [u32; 2],
    /// Benchmarks in this stage.
    pub benchmarks: usize,
    /// Whether these are measured again.
    pub again: bool,
}

/// Time, and whether the user wants no more. Real in the program, simulated in tests.
pub trait Surroundings {
    /// Time since the beginning.
    fn elapsed(&self) -> Duration;

    /// Whether it should end now.
    fn is_stopped(&self) -> bool;

    /// Shows how far it is.
    fn show(&mut self, progress: &ExperimentProgress);
}

/// One slot that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredSlot {
    /// Which build.
    pub arm: Arm,
    /// In which round.
    pub round: u32,
    /// When it began, ms since the beginning.
    pub at_ms: u64,
    /// What it measured.
    pub samples: SlotSamples,
}

/// A benchmark with its slots.
#[derive(Clone, Debug)]
pub struct MeasuredBenchmark {
    /// What it is.
    pub benchmark: Benchmark,
    /// What was done with it.
    pub state: BenchmarkState,
    /// It was measured again.
    pub again: bool,
    /// Its slots, in the order measured.
    pub slots: Vec<MeasuredSlot>,
    /// Slots that failed, and why the first did.
    pub lost: u32,
    /// Why the first of them did.
    pub lost_because: Option<String>,
    /// Samples of a slot, and iterations of a sample where one is too short.
    work: (u32, Option<u64>),
    /// What a slot took.
    slot: Duration,
}

/// All of it.
#[derive(Clone, Debug)]
pub struct MeasuredSuite {
    /// As it was planned.
    pub plan: ExperimentPlan,
    /// The benchmarks in the suite's order.
    pub benchmarks: Vec<MeasuredBenchmark>,
    /// Rounds of all benchmarks; later ones are of those that were measured again.
    pub screening_rounds: u32,
    /// Rounds of these, at most.
    pub again_rounds: u32,
    /// The user ended it.
    pub interrupted: bool,
}

/// Measures a suite.
pub fn measure(
    slots: &mut dyn Slots,
    plan: ExperimentPlan,
    surroundings: &mut dyn Surroundings,
) -> MeasuredSuite {
    let benchmarks = slots.benchmarks().iter().map(MeasuredBenchmark::unmeasured).collect();
    let random = fastrand::Rng::with_seed(plan.seed);
    let measured = MeasuredSuite {
        plan,
        benchmarks,
        screening_rounds: 0,
        again_rounds: 0,
        interrupted: false,
    };
    stages::Stages { slots, surroundings, random, measured }.run()
}

impl MeasuredSuite {
    /// Whether anything was measured.
    pub fn has_slots(&self) -> bool {
        self.benchmarks.iter().any(|benchmark| !benchmark.slots.is_empty())
    }
}

impl MeasuredBenchmark {
    fn unmeasured(benchmark: &Benchmark) -> MeasuredBenchmark {
        let state = match benchmark.presence {
            Presence::OnlyBase => BenchmarkState::OnlyInBase,
            Presence::OnlyHead => BenchmarkState::OnlyInHead,
            Presence::Both if benchmark.equal_program => BenchmarkState::SameProgram,
            Presence::Both => BenchmarkState::Measured,
        };
        MeasuredBenchmark {
            benchmark: benchmark.clone(),
            state,
            again: false,
            slots: Vec::new(),
            lost: 0,
            lost_because: None,
            work: (1, None),
            slot: Duration::ZERO,
        }
    }

    /// One slot of an arm.
    fn request(&self, arm: Arm, seed: Option<u64>) -> SlotRequest<'_> {
        let (samples, iterations) = self.work;
        SlotRequest {
            benchmark: &self.benchmark.name,
            arm,
            samples,
            sample_length: SAMPLE,
            iterations,
            layout_seed: seed.filter(|_| self.benchmark.can_relink),
        }
    }

    /// Chooses how much a slot does, by one that was measured.
    fn size_slots(&mut self, found: &SlotSamples) {
        let shortest = found.ns.iter().copied().fold(f64::INFINITY, f64::min);
        let sample_ns = SAMPLE.as_nanos() as f64;
        let wanted = SLOT.as_nanos() as f64 / sample_ns.max(shortest);
        let samples = (wanted as u32).max(LEAST_SAMPLES);
        let iterations = ((sample_ns / shortest) as u64).max(1);
        self.work = (samples, shortest.is_finite().then_some(iterations));
    }

    /// Takes fewer samples where each costs far more than it lasts (a garbage collection before it, say), by a slot of
    /// few and one of all; so it is known what a slot takes.
    fn limit_samples(&mut self, few: &SlotSamples, all: &SlotSamples) {
        let wall = |slot: &SlotSamples| Duration::from_nanos(slot.wall_ns);
        let more = all.ns.len().saturating_sub(few.ns.len()) as u32;
        let each = wall(all).saturating_sub(wall(few)).checked_div(more).unwrap_or_default();
        self.slot = wall(all);
        if each > 2 * SAMPLE && each * self.work.0 > MOST_SLOT {
            let room = (MOST_SLOT.as_secs_f64() / each.as_secs_f64()) as u32;
            let fewer = room.max(ENOUGH_SAMPLES).min(self.work.0);
            self.slot = self.slot.saturating_sub(each * (self.work.0 - fewer));
            self.work.0 = fewer;
        }
    }

    fn lose(&mut self, arm: Arm, error: &SlotError) {
        self.lost += 1;
        self.lost_because.get_or_insert_with(|| error.to_string());
        if self.lost > MOST_LOST {
            let arm = kept::arm_id(arm).into();
            self.state = BenchmarkState::Failed { arm, why: error.to_string() };
        }
    }

    fn is_measured(&self) -> bool {
        self.state == BenchmarkState::Measured
    }
}

#[cfg(test)]
mod tests;
