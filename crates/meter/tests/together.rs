//! The plan of rows that the same operations measure, and of maps over pairs.

extern crate latlas_meter as meter;

use meter::plan::{Plan, Request, plan};
use meter::probe::{Effort, Probe, Shape, WorkingSet};
use model::run::{Axis, Regime};
use std::path::Path;

fn catalogue() -> Vec<Probe> {
    let together = Probe {
        variants: vec!["all".into(), "first".into(), "second".into()],
        regime: Regime::Stamped,
        together: true,
        effort: Effort { visits: 2, samples: 5, ..Effort::SCALAR },
        ..Probe::blank("my.whole")
    };
    let pairs = Probe {
        regime: Regime::Distribution,
        shape: Shape::Pairs(Axis::Cpu, |_, _| vec![0, 1, 5]),
        ..Probe::blank("my.pairs")
    };
    let own = Probe {
        regime: Regime::Stamped,
        shape: Shape::Curve(Axis::Threads, |_, _| vec![1, 100_000]),
        effort: Effort {
            working_set: WorkingSet::Own(10 << 20),
            restore_ns_per_byte: 1.0,
            ..Effort::SCALAR
        },
        ..Probe::blank("my.own")
    };
    vec![together, pairs, own]
}

fn planned(rows: &[&str]) -> Plan {
    let request =
        Request { rows: rows.iter().map(ToString::to_string).collect(), ..Request::default() };
    plan(&catalogue(), &request, &sys::machine_facts(Path::new("/"))).expect("a plan")
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
fn memory_of_the_work_costs_time_and_no_buffer() {
    let plan = planned(&["my.own"]);
    let [one, many] = &plan.cells[..] else {
        panic!("no point is left out: {:?}", plan.cells);
    };
    assert_eq!((one.workers, many.workers), (8, 8));
    assert_eq!((many.working_set_bytes, plan.large_bytes), (0, 0));
    let visits = f64::from(one.visits * one.workers);
    let apart = many.allotment.as_secs_f64() - one.allotment.as_secs_f64();
    let expected = visits * 99_999.0 * f64::from(10 << 20) * 1e-9;
    // Visits take a little more than their parts come to.
    assert!((1.0..1.5).contains(&(apart / expected)), "{apart} {expected}");
}

#[test]
fn pairs_are_unordered() {
    let plan = planned(&["my.pairs"]);
    let at: Vec<&[u64]> = plan.cells.iter().map(|c| c.at.as_slice()).collect();
    assert_eq!(at, [[1, 0], [5, 0], [5, 1]]);
}
