//! Samples that what the kernel counted contradicts.

use super::*;

/// Work of 50 cycles a turn that the kernel contradicts or not.
struct Doubted(Rc<SimulatedMachine>, Option<String>);

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
            let machine = Rc::new(SimulatedMachine::default());
            let mut work = Doubted(machine.clone(), why.clone());
            let order = VisitOrder { regime, ..order(3) };
            let visited = visitor(&machine).visit(&mut work, &order);
            assert_eq!(visited.samples.len(), 3);
            let marked = |sample: &Sample| sample.has(flag::CONTRADICTED) == why.is_some();
            assert!(visited.samples.iter().all(marked), "{regime:?} {why:?}");
        }
    }
}
