use super::*;
use crate::references::References;
use model::run::{Outcome, Row};
use model::synthetic::{self, judged as estimate, ok_outcome, row_of_times, stamped_figure};

/// A run with these rows only.
fn run_of(rows: Vec<Row>) -> Run {
    Run { rows: rows.into(), ..synthetic::run() }
}

fn row(id: &str, ns: f64, half: f64) -> Row {
    row_of_times(id, ok_outcome(ns, half))
}

fn rule(at_least: Option<f64>, at_most: Option<f64>) -> ClaimRatio {
    let (of, over) = ("my.of/10kB".into(), "my.over/1kB".into());
    ClaimRatio { of, over, at_least, at_most, ..ClaimRatio::default() }
}

/// A ratio of 2, from 1.97 to 2.03.
fn two() -> Run {
    run_of(vec![row("my.of/10kB", 20.0, 0.1), row("my.over/1kB", 10.0, 0.1)])
}

fn judgement(rule: &ClaimRatio, run: &Run) -> Judgement {
    judged_ratio(rule, &[], Some(run)).judgement
}

#[test]
fn an_interval_holds_between_the_limits_and_not_beyond_them() {
    for (least, most, expected) in [
        (Some(1.9), None, Judgement::Holds),
        (Some(2.0), None, Judgement::CannotTell),
        (Some(2.1), None, Judgement::DoesNotHold),
        (None, Some(2.1), Judgement::Holds),
        (None, Some(2.0), Judgement::CannotTell),
        (None, Some(1.9), Judgement::DoesNotHold),
        (Some(1.0), Some(4.0), Judgement::Holds),
        (Some(2.5), Some(4.0), Judgement::DoesNotHold),
        (Some(1.0), Some(1.5), Judgement::DoesNotHold),
        (Some(1.99), Some(2.01), Judgement::CannotTell),
    ] {
        assert_eq!(judgement(&rule(least, most), &two()), expected, "{least:?} {most:?}");
    }
    let ratio = judged_ratio(&rule(Some(1.0), None), &[], Some(&two())).here.expect("a ratio");
    assert_eq!((ratio.value, ratio.low, ratio.high), (2.0, 19.9 / 10.1, 20.1 / 9.9));
}

#[test]
fn what_is_missing_or_uncertain_is_named() {
    let rule = rule(Some(1.0), None);
    let obstacle = |run: Option<&Run>| {
        let ratio = judged_ratio(&rule, &[], run);
        assert_eq!((ratio.judgement, ratio.here), (Judgement::CannotTell, None));
        ratio.obstacle.expect("an obstacle")
    };
    let row_named = "my.over/1kB".to_owned();
    let none = run_of(vec![row("my.of/10kB", 20.0, 0.1)]);
    let missing = RatioObstacle::Missing {
        row: row_named.clone(),
        reason: "not measured in this run".into(),
    };
    assert_eq!(obstacle(Some(&none)), missing);
    assert!(matches!(obstacle(None), RatioObstacle::Missing { row, .. } if row == "my.of/10kB"));
    let with = |over: Outcome| {
        run_of(vec![row("my.of/10kB", 20.0, 0.1), row_of_times("my.over/1kB", over)])
    };
    for verdict in [Verdict::CannotTell, Verdict::Biased, Verdict::Invalid] {
        let run = with(Outcome::Figure(estimate(10.0, 0.1, verdict, "why")));
        let reason = "why".into();
        let expected = RatioObstacle::Uncertain { row: row_named.clone(), verdict, reason };
        assert_eq!(obstacle(Some(&run)), expected);
    }
    let noisy = with(Outcome::Figure(estimate(10.0, 1.0, Verdict::Noisy, "wide")));
    assert_eq!(judgement(&rule, &noisy), Judgement::Holds, "its interval is wide and decides");
    let negative = with(Outcome::Figure(stamped_figure(0.5, 0.6)));
    assert_eq!(obstacle(Some(&negative)), RatioObstacle::TooSmall { row: row_named });
}

#[test]
fn a_figure_of_two_states_reaches_from_one_to_the_other() {
    let mut over = stamped_figure(10.0, 0.1);
    over.verdict = Verdict::TwoStates;
    let of_states = |states: &[f64]| {
        let mode = |&ns: &f64| Mode {
            name: String::new(),
            share: 0.5,
            typical: stamped_figure(ns, 0.1).typical.expect("typical"),
        };
        let modes = states.iter().map(mode).collect();
        let over = Outcome::Figure(Estimate { modes, ..over.clone() });
        run_of(vec![row("my.of/10kB", 20.0, 0.1), row_of_times("my.over/1kB", over)])
    };
    let both = of_states(&[5.0, 10.0]);
    assert_eq!(judgement(&rule(Some(1.9), None), &both), Judgement::Holds);
    assert_eq!(judgement(&rule(Some(2.5), None), &both), Judgement::CannotTell);
    assert_eq!(judgement(&rule(Some(5.0), None), &both), Judgement::DoesNotHold);
    assert_eq!(judgement(&rule(Some(1.0), None), &of_states(&[])), Judgement::CannotTell);
}

#[test]
fn parts_of_one_operation_are_compared_state_by_state() {
    let in_states = |id: &str, states: [(&str, f64); 2]| {
        let mut estimate = stamped_figure(states[0].1, 0.1);
        estimate.verdict = Verdict::TwoStates;
        let state = |(name, ns): (&str, f64)| Mode {
            name: name.into(),
            share: 0.5,
            typical: stamped_figure(ns, ns * 0.01).typical.expect("typical"),
        };
        estimate.modes = states.map(state).into();
        row_of_times(id, Outcome::Figure(estimate))
    };
    let between = |of: &str, over: &str, states: [(&str, f64); 2]| {
        let of_states = [("same CPU", 20.0), ("other CPU", 400.0)];
        let run = run_of(vec![in_states(of, of_states), in_states(over, states)]);
        let limits = rule(Some(1.5), Some(2.5));
        judgement(&ClaimRatio { of: of.into(), over: over.into(), ..limits }, &run)
    };
    let halves = [("other CPU", 200.0), ("same CPU", 10.0)];
    assert_eq!(between("my.life/end", "my.life/create", halves), Judgement::Holds);
    let other_names = [("away", 200.0), ("same CPU", 10.0)];
    assert_eq!(between("my.life/end", "my.life/create", other_names), Judgement::CannotTell);
    assert_eq!(between("my.life/end", "other.row/create", halves), Judgement::CannotTell);
    let one_differs = [("other CPU", 50.0), ("same CPU", 10.0)];
    assert_eq!(between("my.life/end", "my.life/create", one_differs), Judgement::CannotTell);
}

#[test]
fn bytes_and_a_second_row_are_taken_into_account() {
    let per_byte = ClaimRatio { per_byte: true, ..rule(None, Some(0.21)) };
    assert_eq!(judgement(&per_byte, &two()), Judgement::Holds, "20 / 10000 over 10 / 1000");
    let less = Some("my.less".to_owned());
    let difference = ClaimRatio { of_less: less.clone(), over_less: less, ..rule(Some(2.0), None) };
    let mut rows = two().rows.iter().cloned().collect::<Vec<Row>>();
    assert_eq!(judgement(&difference, &two()), Judgement::CannotTell);
    rows.push(row("my.less", 5.0, 0.1));
    let ratio = judged_ratio(&difference, &[], Some(&run_of(rows)));
    let here = ratio.here.expect("a ratio");
    assert_eq!((here.value, ratio.judgement), (3.0, Judgement::Holds));
    assert!((here.low - 14.8 / 5.2).abs() < 1e-9 && (here.high - 15.2 / 4.8).abs() < 1e-9);
}

#[test]
fn one_ratio_refutes_a_claim_and_all_make_it_hold() {
    use Judgement::{CannotTell, DoesNotHold, Holds};
    for (all, expected) in [
        (vec![Holds, Holds], Holds),
        (vec![Holds, CannotTell], CannotTell),
        (vec![CannotTell, Holds], CannotTell),
        (vec![CannotTell, DoesNotHold, Holds], DoesNotHold),
    ] {
        assert_eq!(together(all.into_iter()), expected);
    }
}

/// The claims of the study on a machine of which every figure is known: this many ns.
fn judged_at(figures: &[(&str, f64)]) -> Vec<(String, Judgement)> {
    let references = References::embedded().expect("references");
    let layout = references.layout("kurkin").expect("a table");
    let rows = figures.iter().map(|(id, ns)| row(id, *ns, ns * 0.01)).collect();
    let claims = judged(&layout.claims, &[], Some(&run_of(rows)));
    claims.into_iter().map(|claim| (claim.says, claim.judgement)).collect()
}

#[test]
fn each_claim_of_the_study_can_hold_and_can_fail() {
    const HOLDING: [(&str, f64); 31] = [
        ("memory.latency_as_kurkin/L1", 1.0),
        ("memory.latency_as_kurkin/L2", 4.0),
        ("memory.latency_as_kurkin/64MiB", 100.0),
        ("memory.naive_xor/50kB", 50e3),
        ("memory.naive_xor/5000kB", 5e6),
        ("memory.read/sequential/16KiB", 1.0),
        ("memory.read/sequential/64MiB", 1.1),
        ("memory.read/every_4th/16KiB", 1.0),
        ("memory.read/every_4th/64MiB", 3.0),
        ("memory.write/sequential/16KiB", 1.0),
        ("memory.write/sequential/64MiB", 2.0),
        ("memory.write/every_4th/16KiB", 1.0),
        ("memory.write/every_4th/64MiB", 8.0),
        ("memory.read_write/sequential/16KiB", 1.0),
        ("memory.read_write/sequential/64MiB", 2.0),
        ("memory.read_write/every_4th/16KiB", 1.0),
        ("memory.read_write/every_4th/64MiB", 8.0),
        ("thread.lifecycle/create", 10e3),
        ("thread.lifecycle/end", 20e3),
        ("thread.lifecycle/join", 22e3),
        ("thread.lifecycle/overhead", 50e3),
        ("sync.semaphore_switch/free", 1e3),
        ("sched.pool/16", 1.1e6),
        ("sched.pool/ideal/16", 1.0e6),
        ("file.read_open/1B", 300.0),
        ("file.read_open/1KiB", 310.0),
        ("file.read_open/64KiB", 5e3),
        ("file.read_open/1MiB", 100e3),
        ("file.read_open/10MiB", 2e6),
        ("file.read_with_open/1B", 1300.0),
        ("file.read_with_open/64KiB", 6e3),
    ];
    let of_files = [
        ("file.create/0B", 10e3),
        ("file.create/1KiB", 11e3),
        ("file.create/1MiB", 200e3),
        ("file.delete/1MiB", 150e3),
    ];
    let mut figures: Vec<(&str, f64)> = HOLDING.into_iter().chain(of_files).collect();
    let held = judged_at(&figures);
    assert!(held.len() >= 8);
    for (says, judgement) in &held {
        assert_eq!(*judgement, Judgement::Holds, "{says}");
    }
    // What makes each fail, in the order of the claims.
    let failing = [
        ("memory.latency_as_kurkin/64MiB", 20.0),
        ("memory.latency_as_kurkin/L2", 1.1),
        ("memory.naive_xor/5000kB", 15e6),
        ("memory.read/sequential/64MiB", 2.0),
        ("memory.read/every_4th/64MiB", 1.1),
        ("memory.write/every_4th/64MiB", 80.0),
        ("thread.lifecycle/create", 100e3),
        ("thread.lifecycle/end", 5e3),
        ("thread.lifecycle/join", 5e3),
        ("sync.semaphore_switch/free", 10e3),
        ("sched.pool/16", 2e6),
        ("file.read_open/1KiB", 600.0),
        ("file.read_with_open/64KiB", 9e3),
        ("file.read_open/10MiB", 0.5e6),
        ("file.create/1MiB", 11e3),
        ("file.delete/1MiB", 20e3),
    ];
    assert_eq!(failing.len(), held.len());
    for (at, (id, ns)) in failing.into_iter().enumerate() {
        let known = figures.iter_mut().find(|(known, _)| *known == id).expect(id);
        let before = std::mem::replace(&mut known.1, ns);
        assert_eq!(judged_at(&figures)[at].1, Judgement::DoesNotHold, "{}: {id}", held[at].0);
        figures.iter_mut().find(|(known, _)| *known == id).expect(id).1 = before;
    }
    let none = judged_at(&[]);
    assert!(none.iter().all(|(_, judgement)| *judgement == Judgement::CannotTell));
}

#[test]
fn his_own_figures_have_a_ratio_too() {
    let references = References::embedded().expect("references");
    let layout = references.layout("kurkin").expect("a table");
    let columns =
        ["kurkin-2012", "iphone-5s", "iphone-x"].map(|key| references.find(key).expect(key));
    let claims = judged(&layout.claims, &columns, None);
    let of = |name: &str| {
        let mut ratios = claims.iter().flat_map(|claim| &claim.ratios);
        ratios.find(|ratio| ratio.rule.name == name).expect(name).published.clone()
    };
    assert_eq!(of("memory / L1"), [Some(100.0), Some(240.0 / 7.0), Some(73.0)]);
    assert_eq!(of("end / create"), [None, Some(1.75), None]);
    // The list's semaphore is a mutex: doubtful.
    assert_eq!(of("overhead / semaphore"), [None, Some(28.75), None]);
    let elements = of("element, 5000 / 50 kB")[1].expect("of the 5s");
    assert!((elements - 17.0 / 30.0).abs() < 1e-9);
}
