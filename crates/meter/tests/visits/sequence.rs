//! The order of what a visit does.

use super::*;

#[test]
fn the_place_in_the_visit_does_not_change_the_figure() {
    for (per_op, paired) in [(3.0, true), (3.0, false), (60.0, false)] {
        let m = machine();
        let samples = simulated_samples(&m, per_op, paired);
        let at = |place: usize| {
            let own = samples.iter().skip(place).step_by(12);
            let ns = own.map(|s| s.ns_per_op(16.0, TICK_NS));
            model::stats::median(ns).expect("eight visits")
        };
        let places: Vec<f64> = (0..12).map(at).collect();
        let off = places.iter().map(|ns| (ns / places[11] - 1.0).abs());
        assert!(off.fold(0.0, f64::max) < 1e-3, "{per_op} {paired}: {places:?}");
    }
}

/// One turn that takes a sample, on memory that `ready` writes.
struct OneTurn(Rc<SimulatedMachine>);

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
    let mut work = Op { machine: m.clone(), per_op: 3.0, paired: false };
    let mut order = order(3);
    order.turns = Some(1_000);
    visit_with(&m, &mut work, &order);
    use Call::{Canary, Figures, Losses, Restore, Run};
    let sample = [Run, Run, Canary];
    let visit =
        [&[Figures, Losses, Restore, Run, Canary][..], &sample, &sample, &sample, &[Losses]];
    assert_eq!(*m.calls.borrow(), visit.concat());
}

#[test]
fn the_two_loops_alternate_in_going_first() {
    struct Recorder(Vec<bool>, Rc<SimulatedMachine>);
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
