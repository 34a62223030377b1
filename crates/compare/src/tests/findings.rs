//! What is found of a row, and what keeps it from more.

use super::*;

/// What came of a row that takes so many times as long.
fn answer(id: &str, factor: f64) -> String {
    let run = synthetic::run();
    let c = set(&run, &slower(&run, id, factor), &USUAL);
    let others = c.rows.iter().filter(|row| row.id != id);
    let mut others = others.map(|row| row.finding);
    assert!(others.all(|finding| finding != finding::Verdict::Different), "{id}");
    described(&format!("{id} times {factor}"), row(&c, id))
}

#[test]
fn a_run_differs_from_itself_nowhere() {
    let run = synthetic::run();
    let c = set(&run, &run, &USUAL);
    assert!(c.rows.len() > 20 && c.points.len() > 100);
    for row in c.rows.iter().chain(&c.points) {
        assert_ne!(row.finding, finding::Verdict::Different, "{}", row.name());
        assert!(row.ratio.is_none_or(|r| (r.value - 1.0).abs() < 1e-9));
        assert_eq!(row.direction, None);
    }
    assert!(c.count_findings(finding::Verdict::SameWithinNoise) > 10 && c.has_findings());
    assert!(c.only_in_a.is_empty() && c.only_in_b.is_empty());
    assert!(c.differences.is_empty(), "{:?}", c.differences);
}

#[test]
fn a_slower_row_is_found_and_verdicts_keep_it_from_saying_too_much() {
    let mut text = String::new();
    for (id, factor) in [
        ("cpu.add_i32", 1.3),
        ("cpu.add_i32", 0.7),
        // Two states, which overlap or don't.
        ("cpu.div_f64_from_int_as_ash", 1.15),
        ("cpu.div_f64_from_int_as_ash", 3.0),
        // Noisy: far off, or not.
        ("cpu.div_i32", 3.0),
        ("cpu.div_i32", 1.1),
        // Invalid, below resolution, below 0.
        ("cpu.branch_mispredict", 3.0),
        ("cpu.memcpy/16B", 3.0),
        ("thread.lifecycle/start", 2.0),
    ] {
        text += &answer(id, factor);
    }
    let c = set(&with_bandwidth(1.0), &with_bandwidth(1.5), &USUAL);
    text += &described("a speed that falls", row(&c, "memory.made_up"));
    insta::assert_snapshot!(text);
}

#[test]
fn more_events_or_bytes_are_not_slower_and_cross_no_gate_on_time() {
    let a = synthetic::run_of_commands();
    let mut b = slower(&a, "exec.grep/faults", 2.0);
    b = slower(&b, "exec.rg/peak_memory", 0.5);
    b = slower(&b, "exec.grep/wall", 2.0);
    let gate = Options { fail_above: Some(0.1), ..USUAL };
    let c = set(&a, &b, &gate);
    let rows = ["exec.grep/faults", "exec.rg/peak_memory", "exec.grep/wall"];
    let mut text = rows.map(|id| described("plain", row(&c, id))).concat();
    text += &format!("crossed: {:?}\n", c.crossed);
    // Time that is taken out of them would make others of them.
    let over = |id: &str| normalized(Normalize::Row(id.into()));
    let kept = drifting(&a, &singles(&a));
    let c = compare_with_kept(&a, &b, kept, &over("exec.grep/wall"));
    text += &described("normalized by wall", row(&c, rows[0]));
    text += &refused(&a, &b, &[], &over("exec.grep/faults"));
    insta::assert_snapshot!(text);
}

#[test]
fn invalid_points_have_no_findings() {
    let a = synthetic::run();
    let points_alone = |b: &Run| {
        let [a, b] = [&a, b].map(|run| Operand::from_run("x", run.clone()));
        let c = compare(&a, &b, &[], &|id| id == "memory.latency", &USUAL);
        let c = c.expect("points");
        assert!(c.rows.is_empty() && !c.points.is_empty());
        c.has_findings()
    };
    assert!(points_alone(&a));
    let mut b = a.clone();
    change(&mut b, "memory.latency", |e| e.verdict = Verdict::Invalid);
    assert!(!points_alone(&b));
}

#[test]
fn a_clock_that_wandered_is_no_difference_between_alike_cpus() {
    let a = synthetic::run();
    let mut b = slower(&a, "cpu.add_i32", 2.0);
    // As many cycles as before, each of them longer.
    change(&mut b, "cpu.add_i32", |e| {
        if let Some(q) = &mut e.quiet {
            q.cycles = q.cycles.map(|c| c.scaled(0.5));
        }
    });
    let mut text = described("one CPU model", row(&set(&a, &b, &USUAL), "cpu.add_i32"));
    b.machine.cpu_model = Fact::known("another".into());
    text += &described("two CPU models", row(&set(&a, &b, &USUAL), "cpu.add_i32"));
    let c = set(&a, &b, &normalized(Normalize::Usual));
    text += &described("the clock taken out", row(&c, "cpu.add_i32"));
    insta::assert_snapshot!(text);
}

#[test]
fn the_gate_is_crossed_by_rows_that_surely_are_slower() {
    let gate = |a: &Run, b: &Run, share: f64| {
        let options = Options { fail_above: Some(share), ..USUAL };
        set(a, b, &options).crossed
    };
    let a = with_bandwidth(1.0);
    let mut b = with_bandwidth(2.0);
    for (id, factor) in [
        ("cpu.add_i32", 1.3),
        ("cpu.div_i32", 1.2),
        ("memory.latency/L1", 0.5),
        ("cpu.branch_mispredict", 9.0),
    ] {
        b = slower(&b, id, factor);
    }
    assert_eq!(gate(&a, &b, 0.1), ["cpu.add_i32", "memory.made_up"]);
    assert_eq!(gate(&a, &b, 0.4), ["memory.made_up"]);
    assert!(gate(&a, &a, 0.01).is_empty());
    assert!(set(&a, &b, &USUAL).crossed.is_empty(), "no gate was set");
}

#[test]
fn every_row_says_which_change_it_could_have_found() {
    let run = synthetic::run();
    let c = set(&run, &run, &USUAL);
    for row in &c.rows {
        let interval = row.ratio.is_some() && row.a.verdicts == [Verdict::Ok];
        assert!(!interval || row.mode.is_some() || row.detectable.is_some(), "{row:?}");
    }
    // A change of that size is found where it is the only one.
    let add = row(&c, "cpu.add_i32").detectable.expect("known");
    let c = set(&run, &slower(&run, "cpu.add_i32", (1.0 + add) * 1.02), &USUAL);
    assert_eq!(row(&c, "cpu.add_i32").finding, finding::Verdict::Different);
    assert_eq!(c.count_findings(finding::Verdict::Different), 1);
}
