//! Visits on a simulated machine: a clock, canaries and losses that follow a
//! script, so that what the meter makes of them can be asserted to the digit.

mod machine;

use machine::*;
use meter::probe::{Event, Work, WorkError};
use meter::visit::{self, Order, Visited};
use model::context::Context;
use model::estimate::{Estimate, Verdict};
use model::estimator::estimate;
use model::gate::{Gate, GateState};
use model::machine_readings::MachineReadings;
use model::run::{Bound, Regime};
use model::sample::{Sample, flag};
use std::rc::Rc;

fn order(samples: u32) -> Order<'static> {
    Order {
        regime: Regime::Gated,
        samples,
        last_level_canary: false,
        wait_for_quiet: None,
        turns: None,
        double_first: false,
    }
}

fn visit_with(machine: &Rc<Machine>, work: &mut Op, order: &Order) -> Visited {
    visitor(machine).visit(work, order)
}

/// Eight workers, some visits each.
fn run(machine: &Rc<Machine>, per_op: f64, paired: bool) -> Vec<Sample> {
    (0..8)
        .flat_map(|worker| {
            let mut work = Op {
                machine: machine.clone(),
                per_op,
                paired,
            };
            let visited = visit_with(machine, &mut work, &order(12));
            let at_ms = (machine.now.get() as f64 * TICK_NS / 1e6) as u32;
            visited.samples.into_iter().map(move |mut sample| {
                sample.worker = worker;
                sample.at_ms = at_ms;
                sample
            })
        })
        .collect()
}

/// Among other rows, whose visits read the multiplications too.
fn judge(samples: &[Sample]) -> Estimate {
    let gate = Gate {
        multiply_ratio: Some(NONE.multiply),
        ..MachineReadings::of(samples).gate(None)
    };
    judged_by(&gate, samples)
}

fn judged_by(gate: &Gate, samples: &[Sample]) -> Estimate {
    let clock = MachineReadings::of(samples).core_clock();
    estimate(
        samples,
        &Context {
            contradiction: None,
            gate,
            core_clock: clock.as_ref(),
            ns_per_tick: TICK_NS,
            resolution_ns: TICK_NS,
            ops_per_turn: 16.0,
            bound: Bound::Core,
            regime: Regime::Gated,
            workers: 8,
            modes: &[],
        },
    )
}

#[test]
fn an_exact_clock_gives_the_exact_cost_without_the_loop() {
    let estimate = judge(&run(&machine(), 3.0, true));
    let quiet = estimate.quiet.expect("quiet throughout");
    let cycles = quiet.cycles.expect("the clock is known");
    assert!((cycles.value - 3.0).abs() < 1e-3, "{cycles:?}");
    assert!((quiet.ns.value - 1.5).abs() < 1e-3);
    assert_eq!(estimate.verdict, Verdict::Ok);
    assert_eq!(estimate.quiet_share, Some(1.0));
}

#[test]
fn no_row_is_ok_on_the_word_of_the_canaries_alone() {
    let samples = run(&machine(), 3.0, true);
    let gate = MachineReadings::of(&samples).gate(None);
    assert_eq!((gate.state, gate.multiply_ratio), (GateState::Usable, None));
    let estimate = judged_by(&gate, &samples);
    assert_eq!(estimate.verdict, Verdict::CannotTell);
    assert!(estimate.reason.contains("multiply/add"), "{estimate:?}");
    assert!(estimate.quiet.is_some());
}

#[test]
fn a_plain_loop_keeps_its_overhead() {
    // 3 cycles over 16 operations: the difference method's reason to exist.
    let quiet = judge(&run(&machine(), 3.0, false)).quiet.expect("quiet");
    assert!((quiet.ns.value - (3.0 + 3.0 / 16.0) * 0.5).abs() < 1e-3);
}

#[test]
fn an_empty_body_is_below_resolution_and_never_clamped() {
    let estimate = judge(&run(&machine(), 0.0, true));
    assert!(estimate.below_ns.is_some(), "{estimate:?}");
    assert_eq!(estimate.verdict, Verdict::Ok);
}

#[test]
fn samples_aim_at_a_tenth_of_a_millisecond() {
    for (per_op, paired) in [(0.3, true), (40.0, true), (3.0, false), (90_000.0, false)] {
        let m = machine();
        let mut work = Op {
            machine: m.clone(),
            per_op,
            paired,
        };
        let visited = visit_with(&m, &mut work, &order(3));
        let sample = visited.samples[0];
        let ticks = sample.first_ticks + sample.second_ticks.unwrap_or(0);
        let ns = ticks as f64 * TICK_NS;
        let one_turn_ns = 16.0 * per_op * 0.5;
        assert!(
            (60_000.0..170_000.0).contains(&ns) || one_turn_ns > 60_000.0,
            "{per_op} {paired}: {ns} ns"
        );
    }
}

#[test]
fn a_stopped_clock_makes_the_row_invalid() {
    let m = machine();
    let mut samples = run(&m, 3.0, true);
    m.broken.set(Some(|_| 77));
    let mut work = Op {
        machine: m.clone(),
        per_op: 3.0,
        paired: true,
    };
    let mut order = order(2);
    order.turns = Some(100);
    let visited = visit_with(&m, &mut work, &order);
    assert!(visited.samples.iter().all(|s| s.has(flag::COUNTER_BROKEN)));
    samples.extend(visited.samples);
    assert_eq!(judge(&samples).verdict, Verdict::Invalid);
}

#[test]
fn a_clock_that_runs_backwards_makes_the_row_invalid() {
    let m = machine();
    m.broken.set(Some(|now| u64::MAX / 2 - now));
    let mut work = Op {
        machine: m.clone(),
        per_op: 3.0,
        paired: true,
    };
    let mut order = order(3);
    order.turns = Some(100);
    let samples = visit_with(&m, &mut work, &order).samples;
    assert!(samples.iter().all(|s| s.has(flag::COUNTER_BROKEN)));
    assert_eq!(judge(&samples).verdict, Verdict::Invalid);
}

#[test]
fn preempted_visits_are_kept_as_typical_and_kept_out_of_quiet() {
    let m = machine();
    // One of 200 loops loses 3 ms; a visit has some 60.
    *m.preemptions.borrow_mut() = [vec![0; 199], vec![3_000_000]].concat().repeat(4);
    let samples = run(&m, 3.0, true);
    let lost = samples.iter().filter(|s| s.evidence.lost_ns > 0).count();
    assert_eq!(lost % 12, 0, "whole visits: {lost}");
    assert!((24..=48).contains(&lost), "{lost}");
    let estimate = judge(&samples);
    let quiet = estimate.quiet.expect("most are whole");
    assert!((quiet.ns.value - 1.5).abs() < 1e-2, "{quiet:?}");
    assert!(estimate.quiet_share.expect("asked") < 0.95);
    let typical = estimate.typical.expect("all of them");
    assert_eq!(typical.samples, 96);
}

#[test]
fn a_visits_loss_falls_to_its_samples_by_duration() {
    let m = machine();
    let mut work = Op {
        machine: m.clone(),
        per_op: 3.0,
        paired: false,
    };
    let mut order = order(4);
    order.turns = Some(4_000);
    // The third run is the second sample's untimed part; the fourth it itself.
    *m.preemptions.borrow_mut() = vec![0, 0, 0, 0, 1_000_000, 0, 0, 0, 0];
    let samples = visit_with(&m, &mut work, &order).samples;
    let all: u64 = samples.iter().map(|s| s.evidence.lost_ns).sum();
    assert!((900_000..=1_000_000).contains(&all), "{all}");
    let share = |s: &Sample| s.evidence.lost_ns as f64 / s.first_ticks as f64;
    let shares: Vec<f64> = samples.iter().map(share).collect();
    assert!(
        shares.iter().all(|s| (s / shares[0] - 1.0).abs() < 1e-3),
        "{shares:?}"
    );
}

#[test]
fn a_row_that_lost_its_cpu_in_most_samples_is_invalid() {
    let m = machine();
    *m.preemptions.borrow_mut() = vec![3_000_000; 2_000];
    let estimate = judge(&run(&m, 3.0, true));
    assert_eq!(estimate.verdict, Verdict::Invalid, "{estimate:?}");
    assert!(estimate.reason.contains("lost its CPU"));
}

#[test]
fn a_drifting_core_clock_cancels_in_cycles() {
    let m = machine();
    // From 0.40 to 0.52 ns a cycle and back, over 5 ms.
    m.cycle_ns.set(Some(|ns| {
        0.46 + 0.06 * (ns / 5e6 * std::f64::consts::TAU).sin()
    }));
    let estimate = judge(&run(&m, 3.0, true));
    let cycles = estimate
        .quiet
        .and_then(|q| q.cycles)
        .expect("the clock is known");
    assert!((cycles.value / 3.0 - 1.0).abs() < 0.01, "{cycles:?}");
    let typical = estimate.typical.expect("all");
    assert!(typical.p90_ns / typical.p10_ns > 1.15, "{typical:?}");
}

#[test]
fn a_busy_neighbour_leaves_no_quiet_figure() {
    let m = machine();
    *m.ratio.borrow_mut() = Some(Box::new(|_| 2.1));
    let estimate = judge(&run(&m, 3.0, true));
    assert_eq!(estimate.quiet, None);
    assert_eq!(estimate.verdict, Verdict::CannotTell);
    let why = "no reference timings for this CPU";
    assert!(estimate.reason.starts_with(why), "{}", estimate.reason);
    assert!(estimate.typical.is_some());
}

#[test]
fn a_sample_carries_the_canaries_of_both_its_ends() {
    let m = machine();
    // The machine turns busy with the third canary: after the second sample.
    *m.ratio.borrow_mut() = Some(Box::new(|n| if n < 3 { 1.0 } else { 2.0 }));
    let mut work = Op {
        machine: m.clone(),
        per_op: 3.0,
        paired: true,
    };
    let samples = visit_with(&m, &mut work, &order(4)).samples;
    let canaries = samples.iter().map(|s| s.evidence.canaries.expect("read"));
    let canaries: Vec<_> = canaries.collect();
    let branch: Vec<_> = canaries.iter().map(|c| c.branch_permille).collect();
    assert_eq!(
        branch,
        [[1000, 1000], [1000, 2000], [2000, 2000], [2000, 2000]]
    );
    for one in canaries {
        assert_eq!(one.capacity_permille, Some([1006, 1006]));
        assert_eq!((one.multiply_permille, one.l1_load_ps), (2998, 2000));
    }
}

/// Visits of eight workers, every third one on the quiet machine.
fn beside(neighbour: Neighbour) -> (Gate, Estimate) {
    let m = machine();
    let mut samples = Vec::new();
    for visit in 0..24_u32 {
        let quiet = visit % 3 == 0;
        m.neighbour.set(Some(if quiet { NONE } else { neighbour }));
        let mut work = Op {
            machine: m.clone(),
            per_op: 3.0,
            paired: true,
        };
        let taken = visit_with(&m, &mut work, &order(6)).samples;
        samples.extend(taken.into_iter().map(|sample| Sample {
            worker: visit / 3,
            at_ms: visit * 10,
            ..sample
        }));
    }
    let gate = MachineReadings::of(&samples).gate(None);
    let estimate = judged_by(&gate, &samples);
    (gate, estimate)
}

const SLOW: Neighbour = Neighbour {
    slowdown: 1.4,
    ..NONE
};

#[test]
fn a_neighbour_that_one_canary_sees_never_reaches_the_quiet_figure() {
    let branches_only = Neighbour {
        // The hump that 15 % would pass.
        branch: 1.09,
        ..SLOW
    };
    let capacity_only = Neighbour {
        capacity: 1.7,
        ..SLOW
    };
    let both = Neighbour {
        branch: 1.09,
        capacity: 1.7,
        multiply: 2.91,
        ..SLOW
    };
    for (neighbour, state) in [
        (branches_only, GateState::Usable),
        (capacity_only, GateState::Usable),
        (both, GateState::MostlyContended),
    ] {
        let (gate, estimate) = beside(neighbour);
        assert_eq!(gate.state, state, "{gate:?}");
        let quiet = estimate.quiet.expect("a third was quiet");
        let cycles = quiet.cycles.expect("the clock is known").value;
        assert!((cycles - 3.0).abs() < 0.01, "{cycles}: {gate:?}");
        let typical = estimate.typical.expect("all").ns.value;
        assert!(typical > 2.0, "the neighbour's: {typical}");
    }
}

#[test]
fn a_neighbour_that_only_the_multiplications_see_leaves_no_figure() {
    let (gate, estimate) = beside(Neighbour {
        multiply: 2.91,
        ..SLOW
    });
    assert_eq!(gate.state, GateState::NeverQuiet);
    assert_eq!(estimate.quiet, None);
    assert_eq!(estimate.verdict, Verdict::CannotTell);
}

#[test]
fn the_place_in_the_visit_does_not_change_the_figure() {
    for (per_op, paired) in [(3.0, true), (3.0, false), (60.0, false)] {
        let m = machine();
        let samples = run(&m, per_op, paired);
        let at = |place: usize| {
            let own = samples.iter().skip(place).step_by(12);
            let ns = own.map(|s| s.ns_per_op(16.0, TICK_NS));
            model::stats::median(ns).expect("eight visits")
        };
        let places: Vec<f64> = (0..12).map(at).collect();
        let off = places.iter().map(|ns| (ns / places[11] - 1.0).abs());
        assert!(
            off.fold(0.0, f64::max) < 1e-3,
            "{per_op} {paired}: {places:?}"
        );
    }
}

/// One turn that takes a sample, on memory that `ready` writes.
struct OneTurn(Rc<Machine>);
impl Work for OneTurn {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn ready(&mut self) {
        self.0.spend_cycles(5_000.0);
        self.0.slow_cycles.set(0.0);
        self.0.evicted.set(false);
    }
    fn run(&mut self, turns: u64, _double: bool) {
        self.0.calls.borrow_mut().push(Call::Run);
        self.0.work_cycles(turns as f64 * 100_000.0);
    }
}

#[test]
fn work_of_one_turn_is_made_ready_after_the_canary_of_each_sample() {
    let m = machine();
    let visited = visitor(&m).visit(&mut OneTurn(m.clone()), &order(4));
    let ticks = visited.samples.iter().map(|s| s.first_ticks);
    assert_eq!(ticks.collect::<Vec<_>>(), [100_000; 4]);
}

#[test]
fn work_of_one_turn_runs_once_untimed_before_the_first_sample() {
    let m = machine();
    let mut order = order(4);
    order.turns = Some(1);
    visitor(&m).visit(&mut OneTurn(m.clone()), &order);
    let runs = m.calls.borrow().iter().filter(|c| **c == Call::Run).count();
    assert_eq!(runs, 1 + 4);
    // Beyond L2 a turn may be longer than the samples of other rows.
    m.calls.borrow_mut().clear();
    order.last_level_canary = true;
    visitor(&m).visit(&mut OneTurn(m.clone()), &order);
    let runs = m.calls.borrow().iter().filter(|c| **c == Call::Run).count();
    assert_eq!(runs, 4);
}

#[test]
fn evidence_that_takes_a_system_call_is_read_outside_the_samples() {
    let m = machine();
    let mut work = Op {
        machine: m.clone(),
        per_op: 3.0,
        paired: false,
    };
    let mut order = order(3);
    order.turns = Some(1_000);
    visit_with(&m, &mut work, &order);
    use Call::{Canary, Figures, Losses, Restore, Run};
    let sample = [Run, Run, Canary];
    let visit = [
        &[Figures, Losses, Restore, Run, Canary][..],
        &sample,
        &sample,
        &sample,
        &[Losses],
    ];
    assert_eq!(*m.calls.borrow(), visit.concat());
}

#[test]
fn an_extra_visit_waits_for_two_quiet_readings_and_gives_up() {
    let gate = Gate {
        quiet_ratio: Some(1.0),
        state: GateState::Usable,
        ..Gate::default()
    };
    let m = machine();
    // A single quiet reading, then from the 40th on.
    *m.ratio.borrow_mut() = Some(Box::new(|n| if n == 20 || n >= 40 { 1.0 } else { 2.0 }));
    let mut work = Op {
        machine: m.clone(),
        per_op: 3.0,
        paired: true,
    };
    let mut waiting = order(2);
    waiting.wait_for_quiet = Some(&gate);
    let samples = visit_with(&m, &mut work, &waiting).samples;
    assert_eq!(samples.len(), 2);
    // 41 to wait, then one at each end of both samples.
    assert_eq!(m.canaries.get(), 41 + 3);
    assert!(samples.iter().all(|s| s.has(flag::WAITED_FOR_QUIET)));
    assert!(samples.iter().all(|s| gate.is_quiet(s)));

    *m.ratio.borrow_mut() = Some(Box::new(|_| 2.0));
    assert_eq!(visit_with(&m, &mut work, &waiting).samples, []);
}

#[test]
fn the_two_loops_take_turns_at_going_first() {
    struct Recorder(Vec<bool>, Rc<Machine>);
    impl Work for Recorder {
        fn ops_per_turn(&self) -> f64 {
            1.0
        }
        fn paired(&self) -> bool {
            true
        }
        fn run(&mut self, turns: u64, double: bool) {
            self.0.push(double);
            self.1.spend_cycles(turns as f64);
        }
    }
    let m = machine();
    let mut work = Recorder(Vec::new(), m.clone());
    let mut order = order(3);
    order.turns = Some(1000);
    visitor(&m).visit(&mut work, &order);
    let parts = [false, true];
    let [first, second, third] = [[false, true], [true, false], [false, true]];
    let all = [parts, parts, first, parts, second, parts, third];
    assert_eq!(work.0, all.concat(), "an untimed part before each");
}

/// Work that stamps what a test wrote down.
struct Stamps {
    events: Vec<Event>,
    contradiction: Option<String>,
}

impl Work for Stamps {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, _turns: u64, _double: bool) {}
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        Ok(self
            .events
            .iter()
            .copied()
            .take(operations as usize)
            .collect())
    }
    fn contradiction(&self) -> Option<String> {
        self.contradiction.clone()
    }
    /// Series 0 is stamped by the calling thread, 1 by one that was watched, 2
    /// by one that was not.
    fn run_delay_ns(&self, series: usize, own_ns: u64) -> Option<u64> {
        [Some(own_ns), Some(70), None][series]
    }
}

fn event(series: usize, from_ticks: u64, to_ticks: u64, mode: u8) -> Event {
    Event {
        series,
        from_ticks,
        to_ticks,
        ops: 2,
        mode,
    }
}

#[test]
fn stamped_operations_go_to_their_variants_with_their_modes_and_sign() {
    let mut work = Stamps {
        events: vec![event(1, 0, 10, 0), event(0, 10, 4, 1), event(1, 0, 14, 1)],
        contradiction: None,
    };
    let series = visit::stamped(&mut work, 3).expect("three events");
    let of = |variant: usize| -> Vec<(f64, u8)> {
        let found = series.iter().find(|s| s.variant == variant);
        let samples = &found.expect("a variant").samples;
        samples
            .iter()
            .map(|s| (s.ns_per_op(1.0, 1.0), s.evidence.mode))
            .collect()
    };
    assert_eq!(of(0), [(-3.0, 1)]);
    assert_eq!(of(1), [(5.0, 0), (7.0, 1)]);
    assert!(series[0].samples.iter().all(|s| s.evidence.flags == 0));
}

#[test]
fn a_visit_that_the_kernel_contradicts_is_marked_and_an_empty_one_refused() {
    let mut work = Stamps {
        events: vec![event(0, 0, 10, 0)],
        contradiction: Some("switches per round trip: 0.1 instead of 2".into()),
    };
    let series = visit::stamped(&mut work, 1).expect("an event");
    assert!(series[0].samples[0].has(flag::CONTRADICTED));
    assert!(visit::stamped(&mut work, 0).is_err());
}

/// Work of 50 cycles a turn that the kernel contradicts or not.
struct Doubted(Rc<Machine>, Option<String>);
impl Work for Doubted {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, turns: u64, _double: bool) {
        self.0.spend_cycles(turns as f64 * 50.0);
    }
    fn contradiction(&self) -> Option<String> {
        self.1.clone()
    }
}

#[test]
fn samples_of_every_regime_are_marked_by_a_contradiction() {
    for regime in [Regime::Gated, Regime::Distribution] {
        for why in [None, Some("the disk was read".to_string())] {
            let machine = Rc::new(Machine::default());
            let mut work = Doubted(machine.clone(), why.clone());
            let order = Order { regime, ..order(3) };
            let visited = visitor(&machine).visit(&mut work, &order);
            assert_eq!(visited.samples.len(), 3);
            let marked = |sample: &Sample| sample.has(flag::CONTRADICTED) == why.is_some();
            assert!(visited.samples.iter().all(marked), "{regime:?} {why:?}");
        }
    }
}

#[test]
fn run_delay_is_that_of_the_thread_that_stamps_and_stands_once_in_a_series() {
    let mut work = Stamps {
        events: [0, 0, 1, 2].map(|series| event(series, 0, 10, 0)).into(),
        contradiction: None,
    };
    let mut series = visit::stamped(&mut work, 4).expect("four events");
    visit::record_run_delay(&mut series, &work, 4_000);
    let lost: Vec<Vec<u64>> = series
        .iter()
        .map(|s| s.samples.iter().map(|s| s.evidence.lost_ns).collect())
        .collect();
    assert_eq!(lost, [vec![4_000, 0], vec![70], vec![0]]);
}
