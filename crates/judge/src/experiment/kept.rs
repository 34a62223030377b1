//! What is kept: a Run document with a row for each benchmark and arm, every slot's samples, and the plan.

use super::{MeasuredBenchmark, MeasuredSlot, MeasuredSuite};
use crate::slot::Arm;
use model::experiment::{Arm as ExperimentArm, Experiment, Order};
use model::judged::{ARMS, Judged, JudgedBenchmark, JudgedBuild};
use model::recording::{About, Recording};
use model::repeats;
use model::run::{Bound, Cell, Outcome, Regime, Row, Run};
use model::sample::{Evidence, Sample};
use model::stats;
use model::unit::Unit;

/// Ticks of a ns: samples are kept in ps.
const TICKS_OF_NS: f64 = 1000.0;

/// The layout of an arm's slots in a round: SplitMix64 of the run's seed, arm and round.
pub fn layout_seed(seed: u64, arm: Arm, round: u32) -> u64 {
    let place = seed.wrapping_add(3 * u64::from(round) + arm as u64);
    let mut z = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // Linkers want a positive number.
    ((z ^ (z >> 31)) >> 33).max(1)
}

/// An arm's name in documents.
pub(super) fn arm_id(arm: Arm) -> &'static str {
    ARMS[arm as usize]
}

/// The samples of the slots of each arm, in rounds that have all three.
pub(super) fn slots_of(slots: &[MeasuredSlot]) -> [Vec<Vec<f64>>; 3] {
    let mut all: [Vec<Vec<f64>>; 3] = Default::default();
    let rounds = slots.iter().map(|slot| slot.round + 1).max().unwrap_or(0) as usize;
    let mut found: Vec<[Option<&MeasuredSlot>; 3]> = vec![[None; 3]; rounds];
    for slot in slots {
        found[slot.round as usize][slot.arm as usize] = Some(slot);
    }
    for round in &found {
        if let [Some(base), Some(head), Some(again)] = round {
            for (arm, slot) in all.iter_mut().zip([base, head, again]) {
                arm.push(slot.samples.ns.clone());
            }
        }
    }
    all
}

impl MeasuredSuite {
    /// The document. The machine's state before and after is the caller's to add.
    pub fn to_run(&self, about: About, builds: [JudgedBuild; 2], judged: Judged) -> Run {
        let benchmarks = self.benchmarks.iter().map(MeasuredBenchmark::kept).collect();
        let judged = Judged {
            builds,
            budget_ms: self.plan.budget.as_millis() as u64,
            screening_rounds: self.screening_rounds,
            benchmarks,
            ..judged
        };
        let partial = self.interrupted.then(|| "interrupted: slots until then are kept".into());
        let mut run = Run::recorded(about, Recording::Judged(Box::new(judged)), partial);
        run.plan.seed = self.plan.seed;
        run.plan.budget_ms = self.plan.budget.as_millis() as u64;
        run.clock.ns_per_tick = 1.0 / TICKS_OF_NS;
        run.clock.source = "the harnesses'".into();
        run.experiment = Some(Experiment {
            arms: ARMS.map(ExperimentArm::named).to_vec(),
            rounds: self.screening_rounds + self.again_rounds,
            order: Order::Shuffled,
            seed: self.plan.seed,
        });
        let (mut rows, mut cells) = (Vec::new(), Vec::new());
        for benchmark in self.benchmarks.iter().filter(|benchmark| !benchmark.slots.is_empty()) {
            for arm in [Arm::Base, Arm::Head, Arm::BaseAgain] {
                let own: Vec<&MeasuredSlot> =
                    benchmark.slots.iter().filter(|slot| slot.arm == arm).collect();
                let id = benchmark.kept().row_id(arm_id(arm));
                rows.push(summary_row(&id, arm, &own));
                cells.push(cell(id, &own));
            }
        }
        run.rows = rows.into();
        run.cells = cells.into();
        run
    }
}

impl MeasuredBenchmark {
    fn kept(&self) -> JudgedBenchmark {
        JudgedBenchmark {
            name: self.benchmark.name.clone(),
            harness: self.benchmark.harness.clone(),
            state: self.state.clone(),
            relinked: self.benchmark.can_relink,
            measured_again: self.again,
            lost_slots: self.lost,
            lost_because: self.lost_because.clone(),
            counts: None,
        }
    }
}

/// What a process takes typically: the median of its samples, and over processes of these.
fn summary_row(id: &str, arm: Arm, slots: &[&MeasuredSlot]) -> Row {
    let medians = slots.iter().filter_map(|slot| stats::median(slot.samples.ns.iter().copied()));
    let medians: Vec<f64> = medians.collect();
    let outcome = Outcome::Figure(repeats::estimate(&medians, &Unit::Time, 0.0));
    let row = Row::new(id, Unit::Time, Bound::Memory, outcome);
    Row { arm: Some(arm_id(arm).into()), ..row }
}

/// Every sample; those of a slot have its round as their worker.
fn cell(row: String, slots: &[&MeasuredSlot]) -> Cell {
    let samples: Vec<Sample> = slots
        .iter()
        .flat_map(|slot| {
            let both = slot.samples.ns.iter().zip(&slot.samples.iterations);
            both.map(|(&ns, &turns)| Sample {
                worker: slot.round,
                at_ms: u32::try_from(slot.at_ms).unwrap_or(u32::MAX),
                turns,
                first_ticks: (ns * turns as f64 * TICKS_OF_NS).round() as u64,
                second_ticks: None,
                evidence: Evidence::default(),
            })
        })
        .collect();
    Cell {
        row,
        at: Vec::new(),
        ops_per_turn: 1.0,
        regime: Regime::Distribution,
        modes: Vec::new(),
        wall_ms: slots.iter().map(|slot| slot.samples.wall_ns as f64).sum::<f64>() / 1e6,
        samples: (&samples[..]).into(),
    }
}
