//! Comparisons of the synthetic run with changed copies of itself.

use super::operand::Operand;
use super::*;
use crate::references::References;
use model::compare::measure::Measure;
use model::estimate::Verdict;
use model::machine::Fact;
use model::run::{Bound, Outcome};
use model::synthetic::{self, figure, slower};
use model::unit::Unit;

fn usual() -> Options {
    Options {
        margin: 0.05,
        fail_above: None,
        normalize: None,
    }
}

fn set(a: &Run, b: &Run, options: &Options) -> Comparison {
    let [a, b] = [("a", a), ("b", b)].map(|(name, run)| Operand::run(name, run.clone()));
    compare(&a, &b, &[], &|_| true, options).expect("shared rows")
}

/// The same beside other kept runs.
fn compare_with_kept(a: &Run, b: &Run, kept: Vec<Run>, options: &Options) -> Comparison {
    let [a, b] = [("a", a), ("b", b)].map(|(name, run)| Operand::run(name, run.clone()));
    compare(&a, &b, &[kept], &|_| true, options).expect("shared rows")
}

/// Its rows that are single figures.
fn singles(run: &Run) -> Vec<&str> {
    let single = run.rows.iter().filter(|row| row.estimate().is_some());
    single.map(|row| row.id.as_str()).collect()
}

/// Kept runs like this one in which these rows come and go together.
fn drifting(run: &Run, ids: &[&str]) -> Vec<Run> {
    let run_of = |factor: &f64| {
        let each = ids
            .iter()
            .fold(run.clone(), |run, id| slower(&run, id, *factor));
        Run {
            id: format!("{factor}"),
            ..each
        }
    };
    [1.0, 1.2, 0.9, 1.1].iter().map(run_of).collect()
}

fn row<'a>(c: &'a Comparison, name: &str) -> &'a ComparedRow {
    let found = c.rows.iter().find(|row| row.name() == name);
    found.unwrap_or_else(|| panic!("{name} is not compared"))
}

/// What came of a row that takes so many times as long.
fn answer(id: &str, factor: f64) -> ComparedRow {
    let run = synthetic::run();
    row(&set(&run, &slower(&run, id, factor), &usual()), id).clone()
}

fn with_bandwidth(ns: f64) -> Run {
    let mut run = synthetic::run();
    let mut row = run.row("cpu.add_i32").expect("there").clone();
    row.id = "memory.made_up".into();
    row.unit = Unit::Bandwidth { bytes_per_op: 8.0 };
    row.bound = Bound::Memory;
    row.outcome = figure(ns, ns * 0.01);
    run.rows.push(row);
    run
}

#[test]
fn a_run_differs_from_itself_nowhere() {
    let run = synthetic::run();
    let c = set(&run, &run, &usual());
    assert!(c.rows.len() > 20 && c.points.len() > 100);
    for row in c.rows.iter().chain(&c.points) {
        assert_ne!(row.finding, Finding::Different, "{}", row.name());
        assert!(row.ratio.is_none_or(|r| (r.value - 1.0).abs() < 1e-9));
        assert_eq!(row.direction, None);
    }
    assert!(c.count(Finding::SameWithinNoise) > 10 && c.has_findings());
    assert!(c.only_in_a.is_empty() && c.only_in_b.is_empty());
    assert!(c.differences.is_empty(), "{:?}", c.differences);
}

#[test]
fn a_slower_row_is_found_and_the_others_are_not() {
    let run = synthetic::run();
    let c = set(&run, &slower(&run, "cpu.add_i32", 1.3), &usual());
    let add = row(&c, "cpu.add_i32");
    assert_eq!(
        (add.finding, add.direction),
        (Finding::Different, Some(Direction::Slower))
    );
    let ratio = add.ratio.expect("both");
    assert!(
        (ratio.value - 1.3).abs() < 1e-9 && ratio.low > Some(1.2),
        "{ratio:?}"
    );
    assert_eq!(c.count(Finding::Different), 1);
    let faster = answer("cpu.add_i32", 0.7);
    assert_eq!(faster.direction, Some(Direction::Faster));
}

#[test]
fn a_speed_that_falls_is_slower() {
    let c = set(&with_bandwidth(1.0), &with_bandwidth(1.5), &usual());
    let made_up = row(&c, "memory.made_up");
    assert_eq!(made_up.unit, "GB/s");
    assert_eq!(made_up.direction, Some(Direction::Slower));
    let ratio = made_up.ratio.expect("both");
    assert!(
        (ratio.value - 1.0 / 1.5).abs() < 1e-9,
        "of the figures as shown"
    );
    assert!(ratio.low < Some(ratio.value) && ratio.high > Some(ratio.value));
    assert!((made_up.a.value.expect("a figure") - 8.0).abs() < 1e-9);
    assert!(made_up.a.low < made_up.a.value && made_up.a.value < made_up.a.high);
}

#[test]
fn more_events_or_bytes_are_not_slower_and_cross_no_gate_on_time() {
    let a = synthetic::run_of_commands();
    let mut b = slower(&a, "exec.grep/faults", 2.0);
    b = slower(&b, "exec.rg/peak_memory", 0.5);
    b = slower(&b, "exec.grep/wall", 2.0);
    let gate = Options {
        fail_above: Some(0.1),
        ..usual()
    };
    let c = set(&a, &b, &gate);
    let of = |id: &str| row(&c, id).direction;
    assert_eq!(of("exec.grep/faults"), Some(Direction::More));
    assert_eq!(of("exec.rg/peak_memory"), Some(Direction::Less));
    assert_eq!(of("exec.grep/wall"), Some(Direction::Slower));
    assert_eq!(c.crossed, ["exec.grep/wall"]);
    // Time that is taken out of them would make others of them.
    let over = |id: &str| Options {
        normalize: Some(Normalize::Row(id.into())),
        ..usual()
    };
    let kept = drifting(&a, &singles(&a));
    let normalized = compare_with_kept(&a, &b, kept, &over("exec.grep/wall"));
    let faults = row(&normalized, "exec.grep/faults").ratio.expect("both");
    assert!(
        (faults.value - 2.0).abs() < 1e-9 && !faults.normalized,
        "{faults:?}"
    );
    let [a, b] = [a, b].map(|run| Operand::run("x", run));
    let refused = compare(&a, &b, &[], &|_| true, &over("exec.grep/faults"));
    let why = refused.expect_err("a count").to_string();
    assert!(why.contains("does not time anything"), "{why}");
}

#[test]
fn points_that_can_not_be_told_tell_nothing() {
    let a = synthetic::run();
    let points_alone = |b: &Run| {
        let [a, b] = [&a, b].map(|run| Operand::run("x", run.clone()));
        let c = compare(&a, &b, &[], &|id| id == "memory.latency", &usual());
        let c = c.expect("points");
        assert!(c.rows.is_empty() && !c.points.is_empty());
        c.has_findings()
    };
    assert!(points_alone(&a));
    let mut b = a.clone();
    for row in b.rows.iter_mut().filter(|row| row.id == "memory.latency") {
        let Outcome::Curve { points, .. } = &mut row.outcome else {
            panic!("a curve");
        };
        for point in points {
            point.estimate.verdict = Verdict::Invalid;
        }
    }
    assert!(!points_alone(&b));
}

#[test]
fn of_an_import_its_own_time_is_told_and_not_how_it_was_built() {
    let mut run = synthetic::run();
    run.program.profile = "unknown".into();
    run.imported = Some(synthetic::imported());
    let facts = |run: &Run| set(run, run, &usual()).a.runs[0].clone();
    let at_import = facts(&run);
    assert_eq!(at_import.warnings, [""; 0]);
    assert_eq!(at_import.started_unix_ms, None);
    let imported = at_import.imported.expect("words");
    assert!(imported.starts_with("imported 2026-"), "{imported}");
    if let Some(origin) = &mut run.imported {
        origin.measured_at = Some("2021-05-06".into());
    }
    let imported = facts(&run).imported.expect("words");
    assert!(
        imported.starts_with("measured 2021-05-06, imported 2026-"),
        "{imported}"
    );
    run.imported = None;
    assert_eq!(facts(&run).warnings, ["built as unknown, not release"]);
    assert_eq!(facts(&run).started_unix_ms, Some(run.started_unix_ms));
}

#[test]
fn a_clock_that_wandered_is_no_difference_between_alike_cpus() {
    let a = synthetic::run();
    let mut b = slower(&a, "cpu.add_i32", 2.0);
    for row in b.rows.iter_mut().filter(|row| row.id == "cpu.add_i32") {
        let Outcome::Figure(e) = &mut row.outcome else {
            panic!("a figure");
        };
        // As many cycles as before, each of them longer.
        if let Some(q) = &mut e.quiet {
            q.cycles = q.cycles.map(|c| c.scaled(0.5));
        }
    }
    let alike = set(&a, &b, &usual());
    let add = row(&alike, "cpu.add_i32");
    assert_eq!(
        (add.measure, add.unit),
        (Some(Measure::QuietCycles), "cycles")
    );
    assert_eq!(add.finding, Finding::SameWithinNoise);
    b.machine.cpu_model = Fact::known("another".into());
    let other = set(&a, &b, &usual());
    let add = row(&other, "cpu.add_i32");
    assert_eq!((add.measure, add.unit), (Some(Measure::QuietNs), "ns"));
    assert_eq!(add.direction, Some(Direction::Slower));
    // Unless the clock is to be taken out.
    let normalize = Options {
        normalize: Some(Normalize::Usual),
        ..usual()
    };
    let add = row(&set(&a, &b, &normalize), "cpu.add_i32").clone();
    assert_eq!(add.finding, Finding::SameWithinNoise);
}

#[test]
fn verdicts_keep_a_row_from_saying_too_much() {
    let states = "cpu.div_f64_from_int_as_ash";
    assert_eq!(
        answer(states, 1.15).finding,
        Finding::CannotTell,
        "they overlap"
    );
    assert_eq!(
        answer(states, 3.0).finding,
        Finding::Different,
        "they don't"
    );
    assert_eq!(
        answer("cpu.div_i32", 3.0).finding,
        Finding::Different,
        "noisy, and far off"
    );
    assert_eq!(
        answer("cpu.div_i32", 1.1).finding,
        Finding::CannotTell,
        "noisy"
    );
    let invalid = answer("cpu.branch_mispredict", 3.0);
    assert_eq!(
        (invalid.finding, invalid.ratio),
        (Finding::CannotTell, None)
    );
    let below = answer("cpu.memcpy/16B", 3.0);
    assert_eq!(
        (below.finding, below.ratio, below.a.value),
        (Finding::CannotTell, None, None)
    );
    let negative = answer("thread.lifecycle/start", 2.0);
    assert_eq!(
        (negative.finding, negative.ratio),
        (Finding::CannotTell, None)
    );
    for row in [invalid, below, negative] {
        assert!(!row.why.is_empty(), "{row:?}");
    }
}

#[test]
fn states_that_overlap_are_never_called_different() {
    const ID: &str = "cpu.div_f64_from_int_as_ash";
    let mut a = synthetic::run();
    for row in a.rows.iter_mut().filter(|row| row.id == ID) {
        let Outcome::Figure(e) = &mut row.outcome else {
            panic!("a figure");
        };
        // A tenth of its samples take four times as long: more than B's.
        if let Some(t) = &mut e.typical {
            t.p90_ns *= 4.0;
        }
    }
    let b = slower(&synthetic::run(), ID, 3.0);
    for c in [set(&a, &b, &usual()), set(&b, &a, &usual())] {
        assert_eq!(row(&c, ID).finding, Finding::CannotTell);
    }
}

#[test]
fn rows_in_several_modes_are_compared_mode_by_mode() {
    const ID: &str = "sync.semaphore_switch/free";
    let a = synthetic::run();
    let mut b = a.clone();
    let mut change = |shares: [f64; 2], same_cpu: f64| {
        for row in b.rows.iter_mut().filter(|row| row.id == ID) {
            let Outcome::Figure(e) = &mut row.outcome else {
                panic!("a figure");
            };
            for (mode, share) in e.modes.iter_mut().zip(shares) {
                mode.share = share;
                if mode.name == "same CPU" {
                    mode.typical.ns = mode.typical.ns.scaled(same_cpu);
                }
            }
        }
        set(&a, &b, &usual())
    };
    let slower_alone = change([0.7, 0.3], 2.0);
    let whole = row(&slower_alone, ID);
    assert_eq!(whole.by_mode.as_deref(), Some("same CPU"));
    assert_eq!(whole.direction, Some(Direction::Slower));
    let of = |c: &Comparison, mode: &str| row(c, &format!("{ID} ({mode})")).clone();
    assert_eq!(
        of(&slower_alone, "same CPU").direction,
        Some(Direction::Slower)
    );
    assert_ne!(of(&slower_alone, "other CPU").finding, Finding::Different);
    // Another mix of the same modes is said, and is no difference of theirs.
    let shifted = change([0.4, 0.6], 0.5);
    let whole = row(&shifted, ID);
    assert_eq!(whole.finding, Finding::CannotTell);
    assert!(
        whole.why[0].contains("between 40 and 70 %"),
        "{:?}",
        whole.why
    );
    assert_ne!(of(&shifted, "same CPU").finding, Finding::Different);
    // A row that runs in one mode has no lines for modes.
    assert!(
        !shifted
            .rows
            .iter()
            .any(|r| r.id == "sync.handoff/pipe" && r.mode.is_some())
    );
}

#[test]
fn a_row_of_one_mode_each_is_no_difference_of_the_operation() {
    const ID: &str = "sync.handoff/pipe";
    let a = synthetic::run();
    let mut b = slower(&a, ID, 4.0);
    for row in b.rows.iter_mut().filter(|row| row.id == ID) {
        let Outcome::Figure(e) = &mut row.outcome else {
            panic!("a figure");
        };
        e.modes
            .iter_mut()
            .for_each(|mode| mode.share = 1.0 - mode.share);
    }
    let c = set(&a, &b, &usual());
    let pipe = row(&c, ID);
    assert_eq!(pipe.finding, Finding::CannotTell);
    assert!(pipe.why[0].contains("different modes"), "{:?}", pipe.why);
}

#[test]
fn published_figures_have_the_ratio_that_they_may_have() {
    let references = References::embedded().expect("references");
    let against_table = |key: &str, run: &Run| {
        let table = references.find(key).expect(key).clone();
        let published = Operand {
            name: key.into(),
            source: Source::Published(table),
        };
        let run = Operand::run("last", run.clone());
        compare(&published, &run, &[], &|_| true, &usual()).expect("shared rows")
    };
    let list = against_table("2012", &synthetic::run());
    let l2 = row(&list, "memory.latency/L2");
    assert_eq!((l2.a.value, l2.a.low), (Some(7.0), None));
    assert_eq!((l2.unit, l2.direction), ("ns", Some(Direction::Faster)));
    let measured = l2.ratio.expect("both");
    assert!(measured.standard_error > 0.0, "measured alone");
    assert!(list.points.is_empty() && list.differences.is_empty());
    // Marked figures stand there, and no ratio beside them.
    let mut run = synthetic::run();
    let mut marked = 0;
    for table in &references.tables {
        for published in &table.rows {
            let id = published.like.as_ref().unwrap_or(&published.id);
            let mut row = run.rows[0].clone();
            row.id = id.clone();
            row.unit = Unit::Time;
            row.outcome = figure(100.0, 1.0);
            run.rows.retain(|r| r.id != *id);
            run.rows.push(row);
        }
    }
    for table in &references.tables {
        let c = against_table(&table.key, &run);
        for row in &c.rows {
            let may = table.counterpart(&row.id).expect("shared").comparable();
            if !may {
                marked += 1;
                assert_eq!(
                    (row.ratio, row.finding),
                    (None, Finding::CannotTell),
                    "{}",
                    row.id
                );
                assert!(!row.why.is_empty());
            }
        }
    }
    assert!(marked > 3, "{marked}");
}

#[test]
fn what_only_a_published_table_has_is_named() {
    let references = References::embedded().expect("references");
    let mut run = synthetic::run();
    // Rows that do the same job as a published one through other code.
    let published = references.tables.iter().flat_map(|table| &table.rows);
    for id in published.filter_map(|row| row.like.as_ref()) {
        if run.row(id).is_none() {
            let mut row = run.rows[0].clone();
            row.id = id.clone();
            row.outcome = figure(100.0, 1.0);
            run.rows.push(row);
        }
    }
    let run = Operand::run("last", run);
    let mut left_over = 0;
    for table in &references.tables {
        let published = Operand {
            name: table.key.clone(),
            source: Source::Published(table.clone()),
        };
        let Ok(c) = compare(&published, &run, &[], &|_| true, &usual()) else {
            continue;
        };
        let is_counterpart = |id: &String| {
            let own = c.rows.iter().filter_map(|row| table.counterpart(&row.id));
            own.into_iter().any(|counterpart| counterpart.row.id == *id)
        };
        for row in table.rows.iter().filter(|row| row.has_figure()) {
            let only = c.only_in_a.contains(&row.id);
            assert_ne!(only, is_counterpart(&row.id), "{}: {}", table.key, row.id);
            left_over += usize::from(only);
        }
        let back = compare(&run, &published, &[], &|_| true, &usual()).expect("the same");
        assert_eq!(back.only_in_b, c.only_in_a, "{}", table.key);
    }
    assert!(left_over > 20, "{left_over}");
}

#[test]
fn two_published_tables_have_no_spread_and_so_no_finding() {
    let references = References::embedded().expect("references");
    let [a, b] = ["iphone-6s", "mac-pro-2013"].map(|key| Operand {
        name: key.into(),
        source: Source::Published(references.find(key).expect(key).clone()),
    });
    let c = compare(&a, &b, &[], &|_| true, &usual()).expect("shared rows");
    assert!(c.rows.len() > 10 && !c.has_findings());
    let with_ratio: Vec<_> = c.rows.iter().filter_map(|r| r.ratio).collect();
    assert!(with_ratio.len() > 10);
    assert!(
        with_ratio
            .iter()
            .all(|r| r.low.is_none() && r.p_value.is_none())
    );
}

#[test]
fn a_reference_workload_takes_the_machines_drift_out() {
    let mut a = synthetic::run();
    a.machine.cpu_model = Fact::known("one".into());
    let mut b = synthetic::run();
    b.machine.cpu_model = Fact::known("another".into());
    let drifted = ["memory.latency/DRAM", "memory.latency/L3", "cpu.add_i32"];
    for id in drifted {
        b = slower(&b, id, 1.6);
    }
    b = slower(&b, "cpu.div_f64_as_ash", 4.0);
    let by = |row: Option<&str>| Options {
        normalize: row.map(|row| Normalize::Row(row.into())),
        ..usual()
    };
    let plain = set(&a, &b, &by(None));
    let every = singles(&a);
    let kept = drifting(&a, &every);
    let normalized = compare_with_kept(&a, &b, kept, &by(Some("memory.latency/DRAM")));
    let ratio = |c: &Comparison, id: &str| row(c, id).ratio.expect("both");
    assert!((ratio(&plain, "cpu.add_i32").value - 1.6).abs() < 1e-9);
    let of_add = ratio(&normalized, "cpu.add_i32");
    assert!((of_add.value - 1.0).abs() < 1e-9 && of_add.normalized);
    assert!(of_add.standard_error > ratio(&plain, "cpu.add_i32").standard_error);
    assert!((ratio(&normalized, "cpu.div_f64_as_ash").value - 2.5).abs() < 1e-9);
    let own = ratio(&normalized, "memory.latency/DRAM");
    assert!(
        (own.value - 1.6).abs() < 1e-9 && !own.normalized,
        "stays as it is"
    );
    assert!(
        normalized.method.normalized[0].contains("1.600"),
        "{:?}",
        normalized.method
    );

    let refused = |id: &str| {
        let [a, b] = [&a, &b].map(|run| Operand::run("x", run.clone()));
        compare(&a, &b, &[], &|_| true, &by(Some(id)))
            .expect_err(id)
            .to_string()
    };
    assert!(refused("cpu.absent").contains("can't normalize by \"cpu.absent\": neither"));
    assert!(refused("cpu.branch_mispredict").contains("no figure to rely on"));
    assert!(
        refused("memory.latency").contains("single figure"),
        "a curve"
    );
}

#[test]
fn the_usual_reference_is_for_memory_and_says_where_it_is_missing() {
    let [mut a, mut b] = [with_bandwidth(1.0), with_bandwidth(1.6)];
    b = slower(&b, "memory.latency/DRAM", 1.6);
    b = slower(&b, "thread.create_join", 1.6);
    let options = Options {
        normalize: Some(Normalize::Usual),
        ..usual()
    };
    // In ns, as where memory is not bound by the core.
    for run in [&mut a, &mut b] {
        for row in run
            .rows
            .iter_mut()
            .filter(|r| r.id.starts_with("memory.latency"))
        {
            row.bound = Bound::Memory;
        }
    }
    let every = singles(&a);
    let c = compare_with_kept(&a, &b, drifting(&a, &every), &options);
    let ratio = |id: &str| row(&c, id).ratio.expect("both");
    assert!((ratio("memory.made_up").value - 1.0).abs() < 1e-9);
    assert!(
        (ratio("thread.create_join").value - 1.6).abs() < 1e-9,
        "not of memory"
    );
    let loops = ratio("memory.naive_xor/50kB");
    assert!(!loops.normalized, "in cycles already");
    b.rows.retain(|row| row.id != MEMORY_REFERENCE);
    let without = set(&a, &b, &options);
    assert!(without.method.normalized[1].contains("not normalized by memory.latency/DRAM"));
    assert!(
        !row(&without, "memory.made_up")
            .ratio
            .expect("both")
            .normalized
    );
}

#[test]
fn the_gate_is_crossed_by_rows_that_surely_are_slower() {
    let gate = |a: &Run, b: &Run, share: f64| {
        let options = Options {
            fail_above: Some(share),
            ..usual()
        };
        set(a, b, &options).crossed
    };
    let a = with_bandwidth(1.0);
    let mut b = slower(&with_bandwidth(2.0), "cpu.add_i32", 1.3);
    b = slower(&b, "cpu.div_i32", 1.2);
    b = slower(&b, "memory.latency/L1", 0.5);
    b = slower(&b, "cpu.branch_mispredict", 9.0);
    assert_eq!(gate(&a, &b, 0.1), ["cpu.add_i32", "memory.made_up"]);
    assert_eq!(gate(&a, &b, 0.4), ["memory.made_up"]);
    assert!(gate(&a, &a, 0.01).is_empty());
    assert!(set(&a, &b, &usual()).crossed.is_empty(), "no gate was set");
}

#[test]
fn kept_runs_say_what_runs_differ_by() {
    let a = synthetic::run();
    let b = slower(&a, "cpu.add_i32", 1.1);
    let with = |factors: &[f64]| {
        let kept: Vec<Run> = factors
            .iter()
            .map(|&f| slower(&a, "cpu.add_i32", f))
            .collect();
        let [a, b] = [&a, &b].map(|run| Operand::run("x", run.clone()));
        let c = compare(&a, &b, &[kept], &|_| true, &usual()).expect("shared rows");
        (row(&c, "cpu.add_i32").clone(), c.method.kept_runs)
    };
    let calm = with(&[1.0, 1.001, 0.999, 1.0]);
    assert_eq!(
        (calm.0.finding, &calm.1[..]),
        (Finding::Different, &[4][..])
    );
    let rough = with(&[1.0, 1.1, 0.9, 1.05]);
    assert_eq!(rough.0.finding, Finding::CannotTell);
    assert!(rough.0.ratio.expect("both").dispersion > 10.0);
    assert_eq!(set(&a, &b, &usual()).method.kept_runs, [0; 0]);
}

#[test]
fn kept_runs_of_other_rows_are_not_counted() {
    let run = synthetic::run();
    let mut other = run.clone();
    other.rows.retain(|row| row.id.starts_with("memory."));
    let kept = [run.clone(), run.clone(), run.clone(), other];
    let counted = |wanted: &dyn Fn(&str) -> bool| {
        let [a, b] = [&run, &run].map(|run| Operand::run("x", run.clone()));
        let c = compare(&a, &b, &[kept.to_vec()], wanted, &usual()).expect("shared rows");
        c.method.kept_runs
    };
    assert_eq!(counted(&|_| true), [4]);
    assert_eq!(counted(&|id| id.starts_with("cpu.")), [3]);
}

#[test]
fn several_runs_of_a_side_are_their_mean() {
    let run = synthetic::run();
    let runs = [1.0, 1.21].map(|f| slower(&run, "cpu.add_i32", f)).to_vec();
    let pooled = Operand::of_runs("@lab", runs);
    let one = Operand::run("one", run);
    let c = compare(&one, &pooled, &[], &|_| true, &usual()).expect("shared rows");
    let add = row(&c, "cpu.add_i32");
    assert!(
        (add.ratio.expect("both").value - 1.1).abs() < 1e-9,
        "the geometric mean"
    );
    assert_eq!(add.b.verdicts, [Verdict::Ok; 2]);
    assert_eq!(
        c.method.kept_runs,
        [2],
        "they say themselves what they differ by"
    );
    assert_eq!(add.finding, Finding::CannotTell);
}

#[test]
fn rows_of_one_side_are_named() {
    let a = synthetic::run();
    let mut b = a.clone();
    b.rows
        .retain(|row| !["cpu.add_i32", "memory.latency"].contains(&row.id.as_str()));
    let c = set(&a, &b, &usual());
    assert_eq!(c.only_in_a, ["memory.latency", "cpu.add_i32"]);
    assert!(c.only_in_b.is_empty());
    assert_eq!(
        set(&b, &a, &usual()).only_in_b,
        ["memory.latency", "cpu.add_i32"]
    );
    b.rows.clear();
    let [a, b] = [a, b].map(|run| Operand::run("x", run));
    let nothing = compare(&a, &b, &[], &|_| true, &usual()).expect_err("no row");
    assert!(nothing.to_string().contains("no row in common"));
}

#[test]
fn the_page_tells_every_key_of_the_document() {
    let page = include_str!("../../../docs/compare.md");
    let run = with_bandwidth(1.0);
    let mut other = slower(&run, "cpu.add_i32", 2.0);
    other.program.emulated = Some("qemu".into());
    let document = serde_json::to_value(set(&run, &other, &usual())).expect("JSON");
    let sets: Vec<(char, Run)> = "ABBA".chars().map(|l| (l, run.clone())).collect();
    let test = selftest::selftest(&sets, 0.05).expect("sets");
    let selftest = serde_json::to_value(test).expect("JSON");
    let mut missing = Vec::new();
    for document in [document, selftest] {
        keys_of(&document, &mut |key| {
            if !page.contains(&format!("`{key}`")) && !missing.contains(&key.to_owned()) {
                missing.push(key.to_owned());
            }
        });
    }
    assert!(
        missing.is_empty(),
        "docs/compare.md does not tell {missing:?}"
    );
}

fn keys_of(value: &serde_json::Value, each: &mut dyn FnMut(&str)) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                each(key);
                keys_of(value, each);
            }
        }
        serde_json::Value::Array(all) => all.iter().for_each(|value| keys_of(value, each)),
        _ => {}
    }
}

#[test]
fn a_reference_that_takes_no_error_out_is_refused() {
    let run = {
        let mut run = with_bandwidth(1.0);
        for row in run
            .rows
            .iter_mut()
            .filter(|r| r.id.starts_with("memory.latency"))
        {
            row.bound = Bound::Memory;
        }
        run
    };
    let by = |normalize| Options {
        normalize: Some(normalize),
        ..usual()
    };
    // The reference wanders, and nothing else does.
    let kept = drifting(&run, &[MEMORY_REFERENCE]);
    let c = compare_with_kept(&run, &run, kept.clone(), &by(Normalize::Usual));
    let said = &c.method.normalized[1];
    assert!(
        said.contains("not normalized by memory.latency/DRAM"),
        "{said}"
    );
    assert!(said.contains("it takes too little error out"), "{said}");
    assert!(!row(&c, "memory.made_up").ratio.expect("both").normalized);
    let refused = |kept: Vec<Run>| {
        let [a, b] = [&run, &run].map(|run| Operand::run("x", run.clone()));
        let by = by(Normalize::Row(MEMORY_REFERENCE.into()));
        let why = compare(&a, &b, &[kept], &|_| true, &by).expect_err("refused");
        why.to_string()
    };
    assert!(refused(kept).contains("it takes too little error out"));
    assert!(refused(Vec::new()).contains("too few kept runs"));
    // Where memory as a whole comes and goes, it helps.
    let every = singles(&run);
    let c = compare_with_kept(&run, &run, drifting(&run, &every), &by(Normalize::Usual));
    assert!(row(&c, "memory.made_up").ratio.expect("both").normalized);
    // A tenth less may be chance.
    let others: Vec<&str> = every
        .iter()
        .copied()
        .filter(|id| *id != MEMORY_REFERENCE)
        .collect();
    let hardly = [1.0, 1.02, 0.99, 1.01]
        .into_iter()
        .zip(drifting(&run, &others));
    let hardly = hardly.map(|(factor, run)| slower(&run, MEMORY_REFERENCE, factor));
    let c = compare_with_kept(&run, &run, hardly.collect(), &by(Normalize::Usual));
    let said = &c.method.normalized[1];
    assert!(said.contains("it takes too little error out"), "{said}");
    // Runs that are compared have no say in it.
    let side = Operand::of_runs("main", drifting(&run, &every));
    let b = Operand::run("x", run.clone());
    let c = compare(&side, &b, &[], &|_| true, &by(Normalize::Usual)).expect("shared rows");
    let said = &c.method.normalized[1];
    assert!(said.contains("too few kept runs"), "{said}");
}

#[test]
fn a_row_that_the_run_can_not_tell_is_not_different_beside_a_published_one() {
    let references = References::embedded().expect("references");
    let published = Operand {
        name: "2012".into(),
        source: Source::Published(references.find("2012").expect("2012").clone()),
    };
    let finding = |verdict: Verdict| {
        let mut run = synthetic::run();
        for row in run.rows.iter_mut().filter(|r| r.id == "memory.latency/L2") {
            let (Outcome::Figure(e) | Outcome::Level { estimate: e, .. }) = &mut row.outcome else {
                panic!("a figure");
            };
            e.verdict = verdict;
        }
        let run = Operand::run("last", run);
        let c = compare(&published, &run, &[], &|_| true, &usual()).expect("shared rows");
        row(&c, "memory.latency/L2").finding
    };
    assert_eq!(finding(Verdict::Ok), Finding::Different);
    assert_eq!(finding(Verdict::CannotTell), Finding::CannotTell);
}

/// A run with a row whose median and 10 % quantile came out so.
fn with_distribution(median: f64, low: f64) -> Run {
    let mut run = synthetic::run();
    for row in run.rows.iter_mut().filter(|r| r.id == "thread.create_join") {
        let Outcome::Figure(e) = &mut row.outcome else {
            panic!("a figure");
        };
        e.verdict = Verdict::Ok;
        if let Some(t) = &mut e.typical {
            t.p10_ns *= low;
            t.ns = t.ns.scaled(median);
        }
    }
    run
}

#[test]
fn a_row_in_modes_is_compared_by_one_of_them() {
    const ID: &str = "sync.handoff/pipe";
    let run = |mixture, shares: [f64; 2]| {
        let modes = [("same CPU", shares[0], 4e3), ("other CPU", shares[1], 4e4)];
        let mut modes = modes.to_vec();
        modes.sort_by(|a, b| b.1.total_cmp(&a.1));
        synthetic::with(synthetic::run(), ID, synthetic::in_modes(mixture, &modes))
    };
    // The mixture's median moves with the shares; the mode's does not.
    let a = run(5e3, [0.60, 0.40]);
    let c = set(&a, &run(9e3, [0.55, 0.45]), &usual());
    let pipe = row(&c, ID);
    assert_eq!(pipe.by_mode.as_deref(), Some("same CPU"));
    assert_eq!([&pipe.a, &pipe.b].map(|side| side.value), [Some(4e3); 2]);
    assert_ne!(pipe.finding, Finding::Different);
    // Two modes are two quantities.
    let c = set(&a, &run(3e4, [0.46, 0.54]), &usual());
    let pipe = row(&c, ID);
    assert_eq!((pipe.measure, pipe.a.value), (None, None));
    assert_eq!(pipe.finding, Finding::CannotTell);
}

#[test]
fn kept_runs_choose_the_quantile_that_is_compared() {
    const ID: &str = "thread.create_join";
    let kept = |medians: [f64; 4], lows: [f64; 4]| -> Vec<Run> {
        let both = medians.into_iter().zip(lows);
        both.map(|(median, low)| with_distribution(median, low))
            .collect()
    };
    let [a, b] = [with_distribution(1.0, 1.0), with_distribution(1.3, 1.3)];
    let (wanders, steady) = ([1.0, 1.4, 0.8, 1.2], [1.0, 1.01, 0.99, 1.0]);
    let c = compare_with_kept(&a, &b, kept(wanders, steady), &usual());
    let by_low = row(&c, ID);
    assert_eq!(by_low.measure, Some(Measure::TypicalP10));
    let ratio = by_low.ratio.expect("both");
    assert!((ratio.value - 1.3).abs() < 1e-9, "{ratio:?}");
    assert!(by_low.a.value < row(&set(&a, &b, &usual()), ID).a.value);
    // What it is compared by does not hang on the two that are compared.
    let c = compare_with_kept(&a, &b, kept(steady, wanders), &usual());
    assert_eq!(row(&c, ID).measure, Some(Measure::TypicalNs));
    assert_eq!(
        row(&set(&a, &b, &usual()), ID).measure,
        Some(Measure::TypicalNs)
    );
}

#[test]
fn every_row_says_which_change_it_could_have_found() {
    let run = synthetic::run();
    let c = set(&run, &run, &usual());
    for row in &c.rows {
        let interval = row.ratio.is_some() && row.a.verdicts == [Verdict::Ok];
        assert!(
            !interval || row.mode.is_some() || row.detectable.is_some(),
            "{row:?}"
        );
    }
    // A change of that size is found where it is the only one.
    let add = row(&c, "cpu.add_i32").detectable.expect("told");
    let c = set(
        &run,
        &slower(&run, "cpu.add_i32", (1.0 + add) * 1.02),
        &usual(),
    );
    assert_eq!(row(&c, "cpu.add_i32").finding, Finding::Different);
    assert_eq!(c.count(Finding::Different), 1);
}
