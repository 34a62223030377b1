//! What a gate says of made-up runs, page by page.

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

fn of_runs() -> Operand {
    Operand::of_runs("main", kept())
}

/// The page of a gate over these runs, the first and those that are measured
/// again, with the rows that were asked for again.
fn page(what: &str, baseline: &Operand, kept: &[Run], runs: &[Run], share: f64) -> String {
    let mut asked: Vec<String> = Vec::new();
    let mut again = |rows: &[String]| -> Result<Run, Infallible> {
        asked.push(rows.join(" "));
        Ok(runs[asked.len()].clone())
    };
    let gate = judge_run(baseline, runs[0].clone(), kept, share, &mut again).expect("judged");
    let page = crate::terminal::plain(&render::gate(&gate));
    assert_eq!(gate.runs, asked.len() + 1);
    let asked = asked.join(", ");
    format!("== {what} (again: {asked})\n{page}")
}

fn with_verdict(mut run: Run, verdict: Verdict) -> Run {
    let row = run.rows.iter_mut().find(|row| row.id == ROW);
    let model::run::Outcome::Figure(estimate) = &mut row.expect("the row").outcome else {
        panic!("a figure");
    };
    estimate.verdict = verdict;
    run
}

/// The run without this row, or with it alone.
fn holding(mut run: Run, id: &str, alone: bool) -> Run {
    run.rows.retain(|row| (row.id == id) == alone);
    run
}

#[test]
fn two_of_three_runs_decide() {
    let mut pages = String::new();
    let mut add = |what: &str, baseline: &Operand, runs: &[Run], share| {
        pages += &page(what, baseline, &kept(), runs, share);
    };
    for (what, factors, share) in [
        ("as before", [1.02, 0.0, 0.0], 0.05),
        ("slower in all three", [1.10, 1.11, 1.09], 0.05),
        ("one odd run", [1.3, 1.0, 1.0], 0.05),
        ("in the first and the third", [1.10, 1.0, 1.10], 0.05),
        ("slower, but not by as much", [1.045, 1.045, 1.045], 0.05),
        ("within a wide gate", [1.10, 1.11, 1.09], 0.25),
    ] {
        add(what, &of_runs(), &factors.map(slower), share);
    }
    let mut runs = kept();
    runs[2] = with_verdict(runs[2].clone(), Verdict::CannotTell);
    let spoilt = Operand::of_runs("main", runs);
    add("one run of the baseline is spoilt", &spoilt, &[1.10, 1.11, 1.09].map(slower), 0.05);
    let invalid = with_verdict(slower(1.10), Verdict::Invalid);
    let [slow, calm] = [1.10, 1.0].map(slower);
    let first_invalid = "the first is invalid";
    add(first_invalid, &of_runs(), &[invalid.clone(), slow.clone(), slow.clone()], 0.05);
    add(first_invalid, &of_runs(), &[invalid.clone(), calm.clone(), calm], 0.05);
    let missing = holding(slow.clone(), ROW, false);
    add("not there the second time", &of_runs(), &[slow.clone(), missing, slow], 0.05);
    let only = holding(invalid, ROW, true);
    add("nothing can be judged", &of_runs(), &[only.clone(), only.clone(), only], 0.05);
    assert!(crate::terminal::layout::keeps_to(&pages, crate::terminal::COLUMNS));
    insta::assert_snapshot!(pages);
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

#[test]
fn memory_is_judged_over_its_reference() {
    let baseline = Operand::of_runs("main", kept_in_ns());
    // Others than the baseline's, which have no say in whether the reference helps.
    let mut kept = kept_in_ns();
    kept.iter_mut().for_each(|run| run.id.replace_range(..1, "1"));
    let own = of_memory(1.0, 1.3);
    let without = holding(own.clone(), MEMORY_REFERENCE, false);
    let pages = [
        ("the reference became faster", vec![of_memory(0.8, 1.0); 3]),
        ("all memory became slower", vec![of_memory(1.25, 1.25); 3]),
        ("one row by itself", vec![own.clone(); 3]),
        ("then without the reference", vec![own, without.clone(), without]),
    ]
    .map(|(what, runs)| page(what, &baseline, &kept, &runs, 0.05));
    insta::assert_snapshot!(pages.concat());
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
    assert_eq!(found, ids, "all of the newest one's kernel, the newest first");
    assert_eq!(of("last", &rows).expect("a run").runs().len(), 1);
    let line = |name: &str, rows: &[String]| of(name, rows).expect_err(name).to_string();
    assert!(line("2012", &rows).contains("published table"));
    assert!(line("last", &["net.nothing".to_owned()]).contains("no figure of the rows"));
    assert!(line("nosuch", &rows).contains("unknown run, table or machine"));
    // A level is a row that the curve's measuring makes.
    assert!(of("last", &["memory.latency".to_owned()]).is_ok());
    let curve = line("last", &["memory.read/sequential".to_owned()]);
    assert!(curve.contains("the gate ignores points of curves and maps"), "{curve}");
}
