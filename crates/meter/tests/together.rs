//! The plan of rows that the same operations measure, and of maps over pairs.

use meter::plan::{Plan, Request, plan};
use meter::probe::{Effort, Probe, Shape};
use model::run::{Axis, Regime, Scale};
use std::path::Path;

fn catalogue() -> Vec<Probe> {
    let together = Probe {
        variants: vec!["all".into(), "first".into(), "second".into()],
        regime: Regime::Stamped,
        together: true,
        effort: Effort {
            visits: 2,
            samples: 5,
            ..Effort::SCALAR
        },
        ..Probe::blank("my.whole")
    };
    let pairs = Probe {
        regime: Regime::Distribution,
        shape: Shape::Pairs(Axis::Cpu, |_, _| vec![0, 1, 5]),
        ..Probe::blank("my.pairs")
    };
    vec![together, pairs]
}

fn planned(rows: &[&str]) -> Plan {
    let request = Request {
        scale: Scale::Default,
        rows: rows.iter().map(ToString::to_string).collect(),
        asked: Vec::new(),
        seed: 1,
        budget: None,
        pin: None,
        peer: None,
        core_kind: None,
    };
    plan(&catalogue(), &request, &sys::machine(Path::new("/"))).expect("a plan")
}

#[test]
fn one_cell_has_the_visits_of_all() {
    let plan = planned(&["my.whole/all", "my.whole/first", "my.whole/second"]);
    let visits: Vec<(u32, Option<usize>)> =
        plan.cells.iter().map(|c| (c.visits, c.follows)).collect();
    assert_eq!(visits, [(2, None), (0, Some(0)), (0, Some(0))]);
    assert_eq!(plan.together(0), [0, 1, 2]);
    // Asked for alone, a variant leads itself.
    let alone = planned(&["my.whole/second"]);
    assert_eq!((alone.cells[0].visits, alone.cells[0].follows), (2, None));
}

#[test]
fn pairs_are_unordered() {
    let plan = planned(&["my.pairs"]);
    let at: Vec<&[u64]> = plan.cells.iter().map(|c| c.at.as_slice()).collect();
    assert_eq!(at, [[1, 0], [5, 0], [5, 1]]);
}
