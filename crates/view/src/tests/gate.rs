use crate::render;
use compare::gate::*;
use compare::references::References;
use compare::{MEMORY_REFERENCE, Operand};
use model::estimate::Verdict;
use model::run::Run;
use model::synthetic;
use std::convert::Infallible;
use store::baseline::baseline;
use store::{Store, Taken};

const ROW: &str = "cpu.add_i32";

/// Several kept runs that differ by a little, the newest first.
fn kept() -> Vec<Run> {
    let little = [0.0, 0.002, -0.002, 0.001, -0.001];
    let runs = little.iter().enumerate().map(|(number, wander)| {
        let mut run = synthetic::slower(&synthetic::run(), ROW, 1.0 + wander);
        run.id = format!("000{number}0000-0000-4000-8000-000000000001");
        run
    });
    runs.collect()
}

fn slower(factor: f64) -> Run {
    let mut run = synthetic::slower(&synthetic::run(), ROW, factor);
    run.id = "ffff0000-0000-4000-8000-000000000001".into();
    run
}

/// The gate's answer where the row comes out so in the runs that are made,
/// and which rows were measured again, run by run.
fn judged(baseline: &Operand, factors: &[f64], share: f64) -> (Gate, Vec<Vec<String>>) {
    let mut asked: Vec<Vec<String>> = Vec::new();
    let mut again = |rows: &[String]| -> Result<Run, Infallible> {
        asked.push(rows.to_vec());
        let mut run = slower(factors[asked.len()]);
        run.rows.retain(|row| rows.contains(&row.id));
        Ok(run)
    };
    let gate = judge(baseline, slower(factors[0]), &kept(), share, &mut again);
    (gate.expect("judged"), asked)
}

fn of_runs() -> Operand {
    Operand::of_runs("main", kept())
}

#[test]
fn what_is_as_before_is_measured_once() {
    let (gate, asked) = judged(&of_runs(), &[1.02], 0.05);
    assert_eq!((gate.runs, asked.len()), (1, 0));
    assert!(gate.crossed.is_empty() && gate.rows.len() > 5);
    assert_eq!(gate.baseline_runs, 5);
    let page = render::gate(&gate, false);
    assert!(page.contains("No regression above "), "{page}");
}

#[test]
fn two_of_three_runs_decide() {
    let (gate, asked) = judged(&of_runs(), &[1.10, 1.11, 1.09], 0.05);
    assert_eq!(asked, [[ROW], [ROW]], "that row alone");
    assert_eq!(gate.crossed, [ROW]);
    let row = gate.rows.iter().find(|row| row.row == ROW).expect("judged");
    let ratios: Vec<f64> = [1.10, 1.11, 1.09].to_vec();
    for (ratio, true_ratio) in row.time_ratios.iter().flatten().zip(ratios) {
        assert!((ratio - true_ratio).abs() < 0.01, "{row:?}");
    }
    let page = render::gate(&gate, false);
    for part in ["SLOWER", "REGRESSION: 1 of ", ROW, "main"] {
        assert!(page.contains(part), "{part:?} is missing in\n{page}");
    }
    assert!(render::keeps_to(&page, render::COLUMNS), "{page}");
    // One odd run is no witness, whichever it is.
    for odd in [[1.3, 1.0, 1.0], [1.10, 1.0, 1.0]] {
        assert!(judged(&of_runs(), &odd, 0.05).0.crossed.is_empty());
    }
    let (late, _) = judged(&of_runs(), &[1.10, 1.0, 1.10], 0.05);
    assert_eq!(late.crossed, [ROW], "two of the three");
    // Surely slower, and not by as much as the gate allows.
    let (within, _) = judged(&of_runs(), &[1.045, 1.045, 1.045], 0.05);
    assert!(within.crossed.is_empty());
    let (wide, asked) = judged(&of_runs(), &[1.10, 1.11, 1.09], 0.25);
    assert!(wide.crossed.is_empty() && asked.is_empty());
}

fn with_verdict(mut run: Run, verdict: Verdict) -> Run {
    let row = run
        .rows
        .iter_mut()
        .find(|row| row.id == ROW)
        .expect("the row");
    let model::run::Outcome::Figure(estimate) = &mut row.outcome else {
        panic!("a figure");
    };
    estimate.verdict = verdict;
    run
}

#[test]
fn what_one_run_could_not_tell_is_no_end() {
    // One spoilt run among the baseline's.
    let mut runs = kept();
    runs[2] = with_verdict(runs[2].clone(), Verdict::CannotTell);
    let spoilt = Operand::of_runs("main", runs);
    let (gate, _) = judged(&spoilt, &[1.10, 1.11, 1.09], 0.05);
    assert_eq!(gate.crossed, [ROW]);
    // And the run itself: it is measured again, and both others must speak.
    let first = with_verdict(slower(1.10), Verdict::Invalid);
    let gate = |again: f64| {
        let mut again = |_: &[String]| -> Result<Run, Infallible> { Ok(slower(again)) };
        judge(&of_runs(), first.clone(), &kept(), 0.05, &mut again).expect("judged")
    };
    assert_eq!(gate(1.10).crossed, [ROW]);
    let calm = gate(1.0);
    assert!(calm.crossed.is_empty());
    assert_eq!(calm.runs, 2, "no need of a third");
}

#[test]
fn what_is_not_there_again_is_no_witness() {
    let mut asked = 0;
    let mut again = |_: &[String]| -> Result<Run, Infallible> {
        asked += 1;
        let mut run = slower(1.10);
        // Its probe can't be made this time.
        run.rows.retain(|row| row.id != ROW || asked > 1);
        Ok(run)
    };
    let gate = judge(&of_runs(), slower(1.10), &kept(), 0.05, &mut again).expect("judged");
    let row = gate.rows.iter().find(|row| row.row == ROW).expect("judged");
    assert_eq!((gate.runs, row.p_values[1]), (3, 1.0));
    // What each run said stands in its place.
    let told: Vec<bool> = row.time_ratios.iter().map(Option::is_some).collect();
    assert_eq!(told, [true, false, true]);
    assert_eq!(gate.crossed, [ROW], "two of three");
    let line = render::gate(&gate, false);
    let line = line.lines().find(|line| line.starts_with(ROW));
    let line = line.unwrap_or_default();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[5], "-", "{line}");
}

const MEMORY: &str = "memory.latency/L3";

/// A run in which the reference and a row of memory came out so.
fn of_memory(reference: f64, row: f64) -> Run {
    let run = synthetic::slower(&slower(1.0), MEMORY_REFERENCE, reference);
    in_ns(synthetic::slower(&run, MEMORY, row))
}

/// The run with latencies that the memory's pace sets, and not the core's.
fn in_ns(mut run: Run) -> Run {
    for row in &mut run.rows {
        if row.id.starts_with("memory.latency/") {
            row.bound = model::run::Bound::Memory;
        }
    }
    run
}

/// In which memory as a whole comes and goes: its reference takes that out.
fn kept_in_ns() -> Vec<Run> {
    let factors = [1.0, 1.003, 0.997, 1.002, 0.998];
    let all = kept().into_iter().zip(factors);
    all.map(|(run, factor)| {
        let single = run.rows.iter().filter(|row| row.estimate().is_some());
        let ids: Vec<String> = single.map(|row| row.id.clone()).collect();
        let of_memory = ids.iter().filter(|id| id.starts_with("memory."));
        in_ns(of_memory.fold(run, |run, id| synthetic::slower(&run, id, factor)))
    })
    .collect()
}

fn judged_over(baseline: &Operand, runs: &[Run]) -> Gate {
    let mut made = 0;
    let mut again = |_: &[String]| -> Result<Run, Infallible> {
        made += 1;
        Ok(runs[made].clone())
    };
    // Others than the baseline's, which have no say in whether the reference helps.
    let mut kept = kept_in_ns();
    kept.iter_mut()
        .for_each(|run| run.id.replace_range(..1, "1"));
    judge(baseline, runs[0].clone(), &kept, 0.05, &mut again).expect("judged")
}

fn in_memory() -> Operand {
    Operand::of_runs("main", kept_in_ns())
}

#[test]
fn a_reference_that_became_faster_makes_no_row_slower() {
    let faster = vec![of_memory(0.8, 1.0); 3];
    let gate = judged_over(&in_memory(), &faster);
    let row = gate.rows.iter().find(|row| row.row == MEMORY);
    let row = row.expect("judged");
    assert!(row.normalized, "{row:?}");
    assert!(row.time_ratios[0].is_some_and(|ratio| ratio > 1.2));
    assert!(row.raw_time_ratios[0].is_some_and(|ratio| ratio < 1.01));
    assert!(gate.crossed.is_empty(), "{:?}", gate.crossed);
    // The whole memory became slower, and one row by itself.
    let all = vec![of_memory(1.25, 1.25); 3];
    assert!(
        !judged_over(&in_memory(), &all)
            .crossed
            .contains(&MEMORY.to_owned())
    );
    let own = vec![of_memory(1.0, 1.3); 3];
    let gate = judged_over(&in_memory(), &own);
    assert_eq!(gate.crossed, [MEMORY]);
    let page = render::gate(&gate, false);
    assert!(page.contains(MEMORY_REFERENCE), "{page}");
}

#[test]
fn a_ratio_of_another_kind_is_no_witness() {
    let first = of_memory(1.0, 1.3);
    let mut without = first.clone();
    without.rows.retain(|row| row.id != MEMORY_REFERENCE);
    let gate = judged_over(&in_memory(), &[first, without.clone(), without]);
    let row = gate.rows.iter().find(|row| row.row == MEMORY);
    assert_eq!(row.expect("judged").p_values[1..], [1.0, 1.0]);
    assert!(gate.crossed.is_empty());
}

#[test]
fn a_tag_names_its_runs_that_are_alike() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Ok(Store::in_directory(dir.path()));
    let references = References::embedded().expect("references");
    let rows = [ROW.to_owned()];
    let of =
        |name: &str, rows: &[String]| baseline(name, &store, &references, rows, &mut Vec::new());
    let keep = |number: u64, mut run: Run| {
        let own = store.as_ref().expect("store");
        run.started_unix_ms += number * 1000;
        own.save(&run).expect("saved");
        own.tag("main", &run.id, Taken::Shared).expect("tagged");
        run.id
    };
    let mut ids = Vec::new();
    for (number, mut run) in kept().into_iter().enumerate() {
        if number == 2 {
            run.machine.kernel = model::machine::Fact::known("6.99".to_string());
            keep(2, run);
        } else {
            ids.insert(0, keep(number as u64, run));
        }
    }
    let tagged = of("main", &rows).expect("a tag");
    let found: Vec<&str> = tagged.runs().iter().map(|run| &run.id[..]).collect();
    assert_eq!(
        found, ids,
        "all of the newest one's kernel, the newest first"
    );
    assert_eq!(of("last", &rows).expect("a run").runs().len(), 1);
    let line = |name: &str, rows: &[String]| of(name, rows).expect_err(name).to_string();
    assert!(line("2012", &rows).contains("published table"));
    assert!(line("last", &["net.nothing".to_owned()]).contains("no figure of the rows"));
    assert!(line("nosuch", &rows).contains("unknown run, table or machine"));
    // A level is a row that the curve's measuring makes.
    assert!(of("last", &["memory.latency".to_owned()]).is_ok());
    let curve = line("last", &["memory.read/sequential".to_owned()]);
    assert!(
        curve.contains("the gate ignores points of curves and maps"),
        "{curve}"
    );
}

#[test]
fn where_nothing_can_be_told_nothing_is_said_to_be_well() {
    let mut first = slower(1.0);
    first.rows.retain(|row| row.id == ROW);
    let first = with_verdict(first, Verdict::Invalid);
    let gate = judged_over(&of_runs(), &[first.clone(), first.clone(), first]);
    assert_eq!((gate.rows.len(), gate.judged()), (1, 0));
    let page = render::gate(&gate, false);
    assert!(page.contains("Nothing could be judged"), "{page}");
}
