use super::*;
use compare::judged::{BenchmarkAnswer, JudgedOutcome, Judgment};
use model::judged::evidence::{ArmCounts, ChangeEvidence};
use model::judged::{Judged, JudgedBuild};
use model::recording::{About, Recording};
use model::run::Run;
use model::synthetic::slots::SlotNoise;
use std::cell::Cell;
use std::rc::Rc;

/// Time, as the script lets it pass.
#[derive(Clone, Default)]
struct Scripted {
    now: Rc<Cell<Duration>>,
    /// Slots after which the user wants no more.
    stop_after: Option<usize>,
    taken: Rc<Cell<usize>>,
}

impl Surroundings for Scripted {
    fn elapsed(&self) -> Duration {
        self.now.get()
    }

    fn is_stopped(&self) -> bool {
        self.stop_after.is_some_and(|most| self.taken.get() >= most)
    }

    fn show(&mut self, progress: &ExperimentProgress) {
        assert!(!progress.benchmark.is_empty());
    }
}

/// A suite whose slots are made up.
struct Suite {
    benchmarks: Vec<Benchmark>,
    /// What an operation takes in base and head.
    true_ns: Vec<[f64; 2]>,
    noise: SlotNoise,
    slot: Duration,
    fails: Option<(usize, Arm)>,
    seeds: Vec<(Arm, Option<u64>)>,
    time: Scripted,
}

impl Suite {
    fn new(noise: SlotNoise, true_ns: &[[f64; 2]]) -> Suite {
        let named = |at: usize| Benchmark {
            name: format!("Bench/{at}"),
            harness: "scripted".into(),
            presence: Presence::Both,
            equal_program: false,
            can_relink: at.is_multiple_of(2),
        };
        Suite {
            benchmarks: (0..true_ns.len()).map(named).collect(),
            true_ns: true_ns.to_vec(),
            noise,
            slot: Duration::from_millis(50),
            fails: None,
            seeds: Vec::new(),
            time: Scripted::default(),
        }
    }

    fn measured(&mut self, budget: Duration) -> MeasuredSuite {
        let mut time = self.time.clone();
        measure(self, ExperimentPlan::new(budget, 5), &mut time)
    }

    fn verdict(&mut self, budget: Duration) -> (Run, Judgment) {
        let run = run_of(self.measured(budget));
        let judgment = Judgment::from_run(&run).expect("a suite");
        (run, judgment)
    }
}

fn run_of(measured: MeasuredSuite) -> Run {
    let synthetic = model::synthetic::run();
    let about = About {
        id: synthetic.id,
        started_unix_ms: synthetic.started_unix_ms,
        wall_ms: 1000,
        program: synthetic.program,
        machine: synthetic.machine,
    };
    measured.to_run(about, Default::default(), Judged::default())
}

impl Slots for Suite {
    fn benchmarks(&self) -> &[Benchmark] {
        &self.benchmarks
    }

    fn measure(&mut self, request: &SlotRequest) -> Result<SlotSamples, SlotError> {
        let at = self.benchmarks.iter().position(|own| own.name == request.benchmark);
        let at = at.expect("one of the suite");
        self.time.now.set(self.time.now.get() + self.slot);
        self.time.taken.set(self.time.taken.get() + 1);
        self.seeds.push((request.arm, request.layout_seed));
        if self.fails == Some((at, request.arm)) {
            return Err(SlotError::Nothing);
        }
        let true_ns = self.true_ns[at][usize::from(request.arm == Arm::Head)];
        let samples = request.samples.clamp(1, 100);
        let ns = self.noise.samples_ns(true_ns, samples);
        let iterations = vec![request.iterations.unwrap_or(10); ns.len()];
        Ok(SlotSamples { ns, iterations, wall_ns: self.slot.as_nanos() as u64 })
    }
}

const TEN_MINUTES: Duration = Duration::from_secs(600);

#[test]
fn an_unchanged_suite_has_no_alarm_and_changes_are_found_beside_it() {
    let mut true_ns = vec![[100.0, 100.0]; 6];
    true_ns.push([100.0, 105.0]);
    true_ns.push([2e6, 1.9e6]);
    let mut suite = Suite::new(SlotNoise::of_shared_machine(3), &true_ns);
    let (run, judgment) = suite.verdict(TEN_MINUTES);
    let answers: Vec<BenchmarkAnswer> = judgment.rows.iter().map(|row| row.answer).collect();
    assert_eq!(answers[..6], [BenchmarkAnswer::NotShown; 6], "{judgment:#?}");
    assert_eq!(answers[6..], [BenchmarkAnswer::Slower, BenchmarkAnswer::Faster]);
    assert_eq!(judgment.outcome, JudgedOutcome::Regression);
    let ratio = judgment.rows[6].ratio.expect("an interval");
    assert!(ratio.low < 1.05 && ratio.high > 1.05 && ratio.high < 1.07, "{ratio:?}");
    assert!(suite.time.elapsed() < TEN_MINUTES);
    // The same samples, written and read.
    let read: Run =
        serde_json::from_str(&serde_json::to_string(&run).expect("JSON")).expect("a run");
    let again = Judgment::from_run(&read).expect("a suite");
    assert_eq!(format!("{again:?}"), format!("{judgment:?}"));
}

#[test]
fn work_that_is_counted_after_the_verdict_is_in_the_verdict_from_the_kept_run() {
    let mut suite = Suite::new(SlotNoise::of_quiet_machine(4, 0.003), &[[100.0, 110.0]; 2]);
    let (mut run, mut judgment) = suite.verdict(TEN_MINUTES);
    let base = ArmCounts { instructions: 1000.0, ..ArmCounts::default() };
    let counts = [base, ArmCounts { instructions: 1100.0, ..base }];
    assert_eq!(judgment.rows[0].evidence, Some(ChangeEvidence::Time));
    judgment.rows[0].count_work(&counts);
    let work = ChangeEvidence::Work { instructions: 1.1, system_calls: 0.0 };
    assert_eq!(judgment.rows[0].evidence, Some(work));
    let [Recording::Judged(judged)] = &mut run.recordings[..] else { panic!("one suite") };
    judged.benchmarks[0].counts = Some(counts);
    let again = Judgment::from_run(&run).expect("a suite");
    assert_eq!(format!("{again:?}"), format!("{judgment:?}"));
}

#[test]
fn each_slot_has_a_layout_where_it_can_be_linked_again() {
    let mut suite = Suite::new(SlotNoise::of_quiet_machine(1, 0.003), &[[100.0, 100.0]; 2]);
    let measured = suite.measured(Duration::from_secs(60));
    let slots: usize = measured.benchmarks.iter().map(|one| one.slots.len()).sum();
    assert_eq!(slots, 2 * 3 * measured.screening_rounds as usize);
    let seeds: Vec<u64> = suite.seeds.iter().filter_map(|(_, seed)| *seed).collect();
    let mut different = seeds.clone();
    different.sort_unstable();
    different.dedup();
    // Of one of the two.
    assert_eq!((seeds.len(), different.len()), (slots / 2, slots / 2));
    let first = measured.benchmarks[0].slots[0].clone();
    assert!(seeds.contains(&layout_seed(5, first.arm, first.round)), "they follow from the run's");
    // A sample is 0.4 ms long, a slot 40 ms.
    assert_eq!(first.samples.ns.len(), 100);
    assert!((3800..4200).contains(&first.samples.iterations[0]), "{first:?}");
}

#[test]
fn an_operation_that_is_longer_than_a_sample_is_one() {
    let mut suite = Suite::new(SlotNoise::of_quiet_machine(1, 0.003), &[[8e6, 8e6], [90e6, 90e6]]);
    let measured = suite.measured(TEN_MINUTES);
    let of = |at: usize| &measured.benchmarks[at].slots[0].samples;
    assert_eq!((of(0).ns.len(), of(0).iterations[0]), (5, 1));
    assert_eq!((of(1).ns.len(), of(1).iterations[0]), (3, 1));
}

#[test]
fn the_budget_is_kept_and_what_it_has_no_room_for_is_said() {
    // Fifteen rounds of a benchmark take 2.25 s, which leaves no room for the last of them.
    let mut suite = Suite::new(SlotNoise::of_shared_machine(2), &[[100.0, 130.0]; 12]);
    let (_, judgment) = suite.verdict(Duration::from_secs(40));
    assert!(suite.time.elapsed() <= Duration::from_secs(41), "{:?}", suite.time.elapsed());
    let beyond = judgment.others.iter().filter_map(|one| match one.state {
        BenchmarkState::BeyondBudget { needed_ms } => Some(needed_ms),
        _ => None,
    });
    let beyond: Vec<u64> = beyond.collect();
    assert!(!beyond.is_empty() && beyond.iter().all(|ms| *ms == 75 * 150), "{beyond:?}");
    let [found, open] = [BenchmarkAnswer::Slower, BenchmarkAnswer::Inconclusive]
        .map(|answer| judgment.rows_with(answer).len());
    assert!(found >= 2 && open >= 1, "{found} {open}");
    assert_eq!(found + open + beyond.len(), 12);
}

#[test]
fn what_needs_no_measuring_is_not_measured() {
    let mut suite = Suite::new(SlotNoise::of_quiet_machine(1, 0.003), &[[100.0, 100.0]; 4]);
    suite.benchmarks[0].equal_program = true;
    suite.benchmarks[1].presence = Presence::OnlyBase;
    suite.benchmarks[2].presence = Presence::OnlyHead;
    let (run, judgment) = suite.verdict(TEN_MINUTES);
    let states: Vec<&BenchmarkState> = judgment.others.iter().map(|one| &one.state).collect();
    use BenchmarkState::{OnlyInBase, OnlyInHead, SameProgram};
    assert_eq!(states, [&SameProgram, &OnlyInBase, &OnlyInHead]);
    assert_eq!(judgment.rows.len(), 1);
    assert_eq!(run.rows.len(), 3, "a row for each arm");
    assert_eq!(judgment.outcome, JudgedOutcome::NoRegression);
    let mut same = Suite::new(SlotNoise::of_quiet_machine(1, 0.003), &[[100.0, 100.0]]);
    same.benchmarks[0].equal_program = true;
    assert_eq!(same.verdict(TEN_MINUTES).1.outcome, JudgedOutcome::NoRegression);
    let mut gone = Suite::new(SlotNoise::of_quiet_machine(1, 0.003), &[[100.0, 100.0]]);
    gone.benchmarks[0].presence = Presence::OnlyBase;
    assert_eq!(gone.verdict(TEN_MINUTES).1.outcome, JudgedOutcome::Inconclusive);
}

#[test]
fn a_benchmark_that_fails_on_one_side_is_named_and_the_others_are_judged() {
    let mut suite = Suite::new(SlotNoise::of_quiet_machine(1, 0.003), &[[100.0, 100.0]; 2]);
    suite.fails = Some((1, Arm::Head));
    let (_, judgment) = suite.verdict(TEN_MINUTES);
    let failed = BenchmarkState::Failed { arm: "head".into(), why: "it measured nothing".into() };
    assert_eq!(judgment.others[0].state, failed);
    assert_eq!(judgment.rows[0].answer, BenchmarkAnswer::NotShown);
    assert_eq!(judgment.outcome, JudgedOutcome::Inconclusive);
}

#[test]
fn what_was_measured_before_an_interruption_is_kept() {
    let mut suite = Suite::new(SlotNoise::of_quiet_machine(1, 0.003), &[[100.0, 100.0]; 2]);
    suite.time.stop_after = Some(50);
    let (run, judgment) = suite.verdict(TEN_MINUTES);
    assert!(run.partial.is_some() && judgment.interrupted);
    // Two slots of each were to find out how long they are.
    let kept: usize = run.cells.iter().map(|cell| cell.samples.first_ticks.len()).sum();
    assert_eq!(kept, (50 - 4) * 100);
    assert_eq!(judgment.outcome, JudgedOutcome::Inconclusive);
    assert_eq!(judgment.rows.len(), 2);
}

#[test]
fn a_machine_that_differs_from_itself_is_no_finding() {
    // Base and base again run apart from each other by as much as the head from both.
    struct Drifting(Suite);
    impl Slots for Drifting {
        fn benchmarks(&self) -> &[Benchmark] {
            self.0.benchmarks()
        }

        fn measure(&mut self, request: &SlotRequest) -> Result<SlotSamples, SlotError> {
            let again = request.arm == Arm::BaseAgain;
            let mut found = self.0.measure(request)?;
            found.ns.iter_mut().filter(|_| again).for_each(|ns| *ns *= 1.06);
            Ok(found)
        }
    }
    let suite = Suite::new(SlotNoise::of_shared_machine(4), &[[100.0, 105.0]]);
    let mut time = suite.time.clone();
    let plan = ExperimentPlan::new(TEN_MINUTES, 1);
    let judgment = Judgment::from_run(&run_of(measure(&mut Drifting(suite), plan, &mut time)));
    let row = &judgment.expect("a suite").rows[0];
    assert_eq!(row.answer, BenchmarkAnswer::Inconclusive);
    assert_eq!(row.evidence, Some(ChangeEvidence::Machine));
    assert!(row.needed.is_some_and(|needed| needed.rounds > Some(row.rounds as u64)), "{row:?}");
}

#[test]
fn what_differs_much_from_round_to_round_has_more_rounds() {
    let rounds = |deviation: f64| {
        let mut suite = Suite::new(SlotNoise::of_quiet_machine(2, deviation), &[[100.0, 125.0]]);
        suite.verdict(TEN_MINUTES).1.rows[0].rounds
    };
    let [usual, more] = [rounds(0.003), rounds(0.08)];
    assert!(usual == 60 && (200..=400).contains(&more), "{usual} {more}");
}

#[test]
fn the_builds_are_named() {
    let mut suite = Suite::new(SlotNoise::of_quiet_machine(1, 0.003), &[[100.0, 100.0]]);
    let builds = ["main", "HEAD"].map(|label| JudgedBuild { label: label.into(), commit: None });
    let synthetic = run_of(suite.measured(TEN_MINUTES));
    let measured = suite.measured(2 * TEN_MINUTES);
    let about = About {
        id: synthetic.id,
        started_unix_ms: 0,
        wall_ms: 0,
        program: synthetic.program,
        machine: synthetic.machine,
    };
    let run = measured.to_run(about, builds.clone(), Judged::default());
    assert_eq!(run.recordings[0].judged_suite().expect("a suite").builds, builds);
    assert!(run.check_arms().is_ok());
}
