//! Visits on a simulated machine: a clock, canaries and losses that follow a
//! script, so that what the meter makes of them can be asserted to the digit.

use meter::clock::Clock;
use meter::probe::{Event, Work};
use meter::surroundings::{Losses, Surroundings};
use meter::visit::{self, Order, Visited, Visitor};
use model::estimate::{Context, Estimate, Verdict, core_clock, estimate};
use model::gate::{CanaryReading, Gate};
use model::run::{Bound, Regime};
use model::sample::{Sample, flag};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How a broken clock reads the true time.
type Reading = fn(u64) -> u64;
/// Length of a core cycle in ns at a time in ns.
type CycleAt = fn(f64) -> f64;
/// Ratio of the n-th canary.
type RatioOf = Box<dyn Fn(u64) -> f64>;

/// The simulated machine: time in ticks of 0.5 ns, a core clock, neighbours.
#[derive(Default)]
struct Machine {
    now: Cell<u64>,
    /// Reads the clock through this.
    broken: Cell<Option<Reading>>,
    /// Length of a core cycle in ns, as a function of the time in ns.
    cycle_ns: Cell<Option<CycleAt>>,
    /// Canary ratio as a function of the number of the canary.
    ratio: RefCell<Option<RatioOf>>,
    canaries: Cell<u64>,
    /// Losses that the next samples suffer, ns.
    preemptions: RefCell<Vec<u64>>,
    pending_loss: Cell<u64>,
}

const TICK_NS: f64 = 0.5;

impl Machine {
    fn cycle(&self) -> f64 {
        let now_ns = self.now.get() as f64 * TICK_NS;
        self.cycle_ns.get().map_or(0.5, |f| f(now_ns))
    }
    fn spend_cycles(&self, cycles: f64) {
        let ticks = cycles * self.cycle() / TICK_NS;
        self.now.set(self.now.get() + ticks.round() as u64);
    }
}

#[derive(Clone)]
struct SimClock(Rc<Machine>);
impl Clock for SimClock {
    fn start(&self) -> u64 {
        let now = self.0.now.get();
        self.0.broken.get().map_or(now, |f| f(now))
    }
    fn stop(&self) -> u64 {
        self.start()
    }
}

struct SimSurroundings(Rc<Machine>);
impl Surroundings for SimSurroundings {
    fn canary(&mut self) -> CanaryReading {
        let m = &self.0;
        m.canaries.set(m.canaries.get() + 1);
        m.spend_cycles(16_000.0);
        let ratio = m.ratio.borrow();
        CanaryReading {
            ratio: ratio.as_ref().map_or(1.0, |f| f(m.canaries.get())),
            cycle_ns: m.cycle(),
        }
    }
    fn last_level(&mut self) -> Option<f64> {
        Some(15.0)
    }
    fn losses(&mut self) -> Losses {
        Losses {
            lost_ns: self.0.pending_loss.replace(0),
            ..Losses::default()
        }
    }
    fn losses_of_visit(&mut self) -> Losses {
        self.losses()
    }
}

/// Costs `per_op` cycles an operation, 16 a turn, 32 in the double loop, and
/// 3 cycles for the loop itself.
struct Op {
    machine: Rc<Machine>,
    per_op: f64,
    paired: bool,
}
impl Work for Op {
    fn ops_per_turn(&self) -> f64 {
        16.0
    }
    fn paired(&self) -> bool {
        self.paired
    }
    fn run(&mut self, turns: u64, double: bool) {
        let ops = if double { 32.0 } else { 16.0 };
        self.machine
            .spend_cycles(turns as f64 * (ops * self.per_op + 3.0));
        if let Some(loss_ns) = self.machine.preemptions.borrow_mut().pop()
            && loss_ns > 0
        {
            let m = &self.machine;
            m.now.set(m.now.get() + (loss_ns as f64 / TICK_NS) as u64);
            m.pending_loss.set(m.pending_loss.get() + loss_ns);
        }
    }
}

fn machine() -> Rc<Machine> {
    Rc::new(Machine {
        now: Cell::new(1_000),
        ..Machine::default()
    })
}

fn visitor(machine: &Rc<Machine>) -> Visitor<SimClock, SimSurroundings> {
    Visitor {
        clock: SimClock(machine.clone()),
        ns_per_tick: TICK_NS,
        min_sample_ticks: 100,
        surroundings: SimSurroundings(machine.clone()),
    }
}

fn order(samples: u32) -> Order<'static> {
    Order {
        regime: Regime::Gated,
        samples,
        last_level_canary: false,
        hunt: None,
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

fn judge(samples: &[Sample]) -> Estimate {
    let gate = Gate::learn(Some("Zen 3"), samples);
    let clock = core_clock(samples);
    estimate(
        samples,
        &Context {
            gate: &gate,
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
fn preempted_samples_are_kept_as_typical_and_kept_out_of_quiet() {
    let m = machine();
    // Every third loop loses 3 ms.
    *m.preemptions.borrow_mut() = [0, 0, 3_000_000].repeat(70);
    let samples = run(&m, 3.0, true);
    let lost = samples.iter().filter(|s| s.evidence.lost_ns > 0).count();
    assert!(lost > samples.len() / 4, "{lost}");
    let m = machine();
    *m.preemptions.borrow_mut() = [0, 0, 0, 0, 0, 0, 0, 0, 0, 3_000_000].repeat(20);
    let estimate = judge(&run(&m, 3.0, true));
    let quiet = estimate.quiet.expect("most are whole");
    assert!((quiet.ns.value - 1.5).abs() < 1e-2, "{quiet:?}");
    assert!(estimate.quiet_share.expect("asked") < 0.95);
    let typical = estimate.typical.expect("all of them");
    assert_eq!(typical.samples, 96);
}

#[test]
fn a_row_that_lost_its_cpu_in_most_samples_is_invalid() {
    let m = machine();
    *m.preemptions.borrow_mut() = vec![3_000_000; 400];
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
    assert!(estimate.reason.contains("quiet"), "{}", estimate.reason);
    assert!(estimate.typical.is_some());
}

#[test]
fn a_sample_is_as_good_as_its_worse_canary() {
    let m = machine();
    // The machine turns busy with the third canary: after the second sample.
    *m.ratio.borrow_mut() = Some(Box::new(|n| if n < 3 { 1.0 } else { 2.0 }));
    let mut work = Op {
        machine: m.clone(),
        per_op: 3.0,
        paired: true,
    };
    let samples = visit_with(&m, &mut work, &order(4)).samples;
    let percent: Vec<_> = samples.iter().map(|s| s.evidence.canary_percent).collect();
    assert_eq!(percent, [Some(100), Some(200), Some(200), Some(200)]);
}

#[test]
fn an_extra_visit_waits_for_quiet_and_gives_up() {
    let gate = Gate {
        quiet_ratio: 1.0,
        calibrated: true,
        fastest_cycle_ns: None,
        quiet_last_level_ns: None,
    };
    let m = machine();
    *m.ratio.borrow_mut() = Some(Box::new(|n| if n < 40 { 2.0 } else { 1.0 }));
    let mut work = Op {
        machine: m.clone(),
        per_op: 3.0,
        paired: true,
    };
    let mut hunting = order(2);
    hunting.hunt = Some(&gate);
    let samples = visit_with(&m, &mut work, &hunting).samples;
    assert_eq!(samples.len(), 2);
    assert!(samples.iter().all(|s| s.has(flag::HUNTED)));
    assert!(samples.iter().all(|s| gate.is_quiet(s)));

    *m.ratio.borrow_mut() = Some(Box::new(|_| 2.0));
    assert_eq!(visit_with(&m, &mut work, &hunting).samples, []);
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
    assert_eq!(work.0, [false, true, true, false, false, true]);
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
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, String> {
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
