//! Comparisons of the synthetic run with changed copies of itself.

use super::operand::Operand;
use super::*;
use crate::references::References;
use model::compare::measure::Measure;
use model::estimate::{Estimate, Verdict};
use model::machine::Fact;
use model::run::{Bound, Outcome};
use model::synthetic::{self, figure, slower};
use model::unit::Unit;

const USUAL: Options = Options {
    margin: 0.05,
    fail_above: None,
    normalize: None,
};

fn normalized(normalize: Normalize) -> Options {
    Options {
        normalize: Some(normalize),
        ..USUAL
    }
}

fn try_with_kept(
    a: &Run,
    b: &Run,
    kept: &[Vec<Run>],
    options: &Options,
) -> Result<Comparison, CompareError> {
    let [a, b] = [("a", a), ("b", b)].map(|(name, run)| Operand::run(name, run.clone()));
    compare(&a, &b, kept, &|_| true, options)
}

fn set(a: &Run, b: &Run, options: &Options) -> Comparison {
    try_with_kept(a, b, &[], options).expect("shared rows")
}

/// The same beside other kept runs.
fn compare_with_kept(a: &Run, b: &Run, kept: Vec<Run>, options: &Options) -> Comparison {
    try_with_kept(a, b, &[kept], options).expect("shared rows")
}

/// Why it is refused.
fn refused(a: &Run, b: &Run, kept: &[Vec<Run>], options: &Options) -> String {
    let refused = try_with_kept(a, b, kept, options).expect_err("refused");
    refused.to_string()
}

fn published(key: &str) -> Operand {
    let references = References::embedded().expect("references");
    Operand {
        name: key.into(),
        source: Source::Published(references.find(key).expect(key).clone()),
    }
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

/// Everything the comparison says about a row, under a line with what was compared.
fn described(what: &str, row: &ComparedRow) -> String {
    let number = |value: f64| format!("{value:.4}");
    let end = |value: Option<f64>| value.map_or("-".into(), number);
    let [a, b] = [&row.a, &row.b].map(|side| {
        let ends = [side.value, side.low, side.high].map(end).join(" ");
        format!("{ends} {:?}", side.verdicts)
    });
    let ratio = row.ratio.map_or("no ratio".into(), |r| {
        let normalized = if r.normalized { ", normalized" } else { "" };
        let ends = [Some(r.value), r.low, r.high, r.p_value].map(end).join(" ");
        format!("ratio {ends}, error {:.4}{normalized}", r.standard_error)
    });
    format!(
        "{what}\n  {}: {:?} by {:?}, {}: {a} | {b}\n  {ratio}, detectable {}: {:?} {:?} {:?}\n",
        row.name(),
        row.measure,
        row.by_mode,
        row.unit,
        end(row.detectable),
        row.finding,
        row.direction,
        row.why.iter().map(ToString::to_string).collect::<Vec<_>>()
    )
}

/// What came of a row that takes so many times as long.
fn answer(id: &str, factor: f64) -> String {
    let run = synthetic::run();
    let c = set(&run, &slower(&run, id, factor), &USUAL);
    let others = c.rows.iter().filter(|row| row.id != id);
    let mut others = others.map(|row| row.finding);
    assert!(others.all(|finding| finding != Finding::Different), "{id}");
    described(&format!("{id} times {factor}"), row(&c, id))
}

/// Changes the estimates of a row.
fn change(run: &mut Run, id: &str, change: impl Fn(&mut Estimate)) {
    for row in run.rows.iter_mut().filter(|row| row.id == id) {
        match &mut row.outcome {
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => change(estimate),
            Outcome::Curve { points, .. } => {
                points
                    .iter_mut()
                    .for_each(|point| change(&mut point.estimate));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A row of the run with another figure, under another name.
fn add_row(run: &mut Run, id: &str, unit: Unit, ns: f64) {
    let mut row = run.row("cpu.add_i32").expect("there").clone();
    row.id = id.into();
    row.unit = unit;
    row.bound = Bound::Memory;
    row.outcome = figure(ns, ns * 0.01);
    run.rows.retain(|row| row.id != id);
    run.rows.push(row);
}

fn with_bandwidth(ns: f64) -> Run {
    let mut run = synthetic::run();
    let unit = Unit::Bandwidth { bytes_per_op: 8.0 };
    add_row(&mut run, "memory.made_up", unit, ns);
    run
}

#[test]
fn a_run_differs_from_itself_nowhere() {
    let run = synthetic::run();
    let c = set(&run, &run, &USUAL);
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
    let gate = Options {
        fail_above: Some(0.1),
        ..USUAL
    };
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
fn points_that_can_not_be_known_tell_nothing() {
    let a = synthetic::run();
    let points_alone = |b: &Run| {
        let [a, b] = [&a, b].map(|run| Operand::run("x", run.clone()));
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
fn of_an_import_its_own_time_is_told_and_not_how_it_was_built() {
    let mut run = synthetic::run();
    run.program.profile = "unknown".into();
    let facts = |run: &Run| {
        let facts = set(run, run, &USUAL).a.runs[0].clone();
        format!(
            "{:?} {:?} {:?}\n",
            facts.started_unix_ms, facts.imported, facts.warnings
        )
    };
    let mut text = facts(&run);
    run.imported = Some(synthetic::imported());
    text += &facts(&run);
    if let Some(origin) = &mut run.imported {
        origin.measured_at = Some("2021-05-06".into());
    }
    text += &facts(&run);
    insta::assert_snapshot!(text);
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
fn states_that_overlap_are_never_called_different() {
    const ID: &str = "cpu.div_f64_from_int_as_ash";
    let mut a = synthetic::run();
    // A tenth of its samples take four times as long: more than B's.
    change(&mut a, ID, |e| {
        if let Some(t) = &mut e.typical {
            t.p90_ns *= 4.0;
        }
    });
    let b = slower(&synthetic::run(), ID, 3.0);
    for c in [set(&a, &b, &USUAL), set(&b, &a, &USUAL)] {
        assert_eq!(row(&c, ID).finding, Finding::CannotTell);
    }
}

#[test]
fn rows_in_several_modes_are_compared_mode_by_mode() {
    const ID: &str = "sync.semaphore_switch/free";
    const PIPE: &str = "sync.handoff/pipe";
    let a = synthetic::run();
    let mut text = String::new();
    let with = |shares: [f64; 2], same_cpu: f64| {
        let mut b = a.clone();
        change(&mut b, ID, |e| {
            for (mode, share) in e.modes.iter_mut().zip(shares) {
                mode.share = share;
                if mode.name == "same CPU" {
                    mode.typical.ns = mode.typical.ns.scaled(same_cpu);
                }
            }
        });
        b
    };
    for (what, b) in [
        ("one mode slower", with([0.7, 0.3], 2.0)),
        ("another mix of the same modes", with([0.4, 0.6], 1.0)),
    ] {
        let c = set(&a, &b, &USUAL);
        for row in c.rows.iter().filter(|row| row.id == ID) {
            text += &described(what, row);
        }
        // A row that runs in one mode has no lines for modes.
        assert_eq!(c.rows.iter().filter(|row| row.id == PIPE).count(), 1);
    }
    let mut b = slower(&a, PIPE, 4.0);
    change(&mut b, PIPE, |e| {
        e.modes
            .iter_mut()
            .for_each(|mode| mode.share = 1.0 - mode.share);
    });
    text += &described("a mode each", row(&set(&a, &b, &USUAL), PIPE));
    let run = |mixture, shares: [f64; 2]| {
        let modes = [("same CPU", shares[0], 4e3), ("other CPU", shares[1], 4e4)];
        let mut modes = modes.to_vec();
        modes.sort_by(|a, b| b.1.total_cmp(&a.1));
        synthetic::with(synthetic::run(), PIPE, synthetic::in_modes(mixture, &modes))
    };
    // The mixture's median moves with the shares; the mode's does not.
    let a = run(5e3, [0.60, 0.40]);
    for (what, b) in [
        ("another mixture", run(9e3, [0.55, 0.45])),
        ("another usual mode: two quantities", run(3e4, [0.46, 0.54])),
    ] {
        text += &described(what, row(&set(&a, &b, &USUAL), PIPE));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn published_figures_have_the_ratio_that_they_may_have() {
    let references = References::embedded().expect("references");
    let against_table = |key: &str, run: &Run| {
        let run = Operand::run("last", run.clone());
        compare(&published(key), &run, &[], &|_| true, &USUAL).expect("shared rows")
    };
    const L2: &str = "memory.latency/L2";
    let mut run = synthetic::run();
    let list = against_table("2012", &run);
    assert!(list.points.is_empty() && list.differences.is_empty());
    let mut text = described("2012", row(&list, L2));
    change(&mut run, L2, |e| e.verdict = Verdict::CannotTell);
    text += &described(
        "2012, our verdict can't tell",
        row(&against_table("2012", &run), L2),
    );
    insta::assert_snapshot!(text);
    // Marked figures stand there, and no ratio beside them.
    for published in references.tables.iter().flat_map(|table| &table.rows) {
        let id = published.like.as_ref().unwrap_or(&published.id);
        add_row(&mut run, id, Unit::Time, 100.0);
    }
    let mut marked = 0;
    for table in &references.tables {
        for row in &against_table(&table.key, &run).rows {
            if !table.counterpart(&row.id).expect("shared").comparable() {
                marked += 1;
                let found = (row.ratio, row.finding, row.why.is_empty());
                assert_eq!(found, (None, Finding::CannotTell, false), "{}", row.id);
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
    let rows = references.tables.iter().flat_map(|table| &table.rows);
    for id in rows.filter_map(|row| row.like.as_ref()) {
        if run.row(id).is_none() {
            add_row(&mut run, id, Unit::Time, 100.0);
        }
    }
    let run = Operand::run("last", run);
    let mut left_over = 0;
    for table in &references.tables {
        let published = published(&table.key);
        let Ok(c) = compare(&published, &run, &[], &|_| true, &USUAL) else {
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
        let back = compare(&run, &published, &[], &|_| true, &USUAL).expect("the same");
        assert_eq!(back.only_in_b, c.only_in_a, "{}", table.key);
    }
    assert!(left_over > 20, "{left_over}");
}

#[test]
fn two_published_tables_have_no_spread_and_so_no_finding() {
    let [a, b] = ["iphone-6s", "mac-pro-2013"].map(published);
    let c = compare(&a, &b, &[], &|_| true, &USUAL).expect("shared rows");
    assert!(c.rows.len() > 10 && !c.has_findings());
    let ratios: Vec<_> = c.rows.iter().filter_map(|r| r.ratio).collect();
    assert!(ratios.len() > 10);
    let mut ratios = ratios.iter();
    assert!(ratios.all(|r| r.low.is_none() && r.p_value.is_none()));
}

#[test]
fn a_reference_workload_takes_the_machines_drift_out() {
    let mut a = synthetic::run();
    a.machine.cpu_model = Fact::known("one".into());
    let mut b = synthetic::run();
    b.machine.cpu_model = Fact::known("another".into());
    let rows = ["memory.latency/DRAM", "cpu.add_i32", "cpu.div_f64_as_ash"];
    for (id, factor) in rows.into_iter().zip([1.6, 1.6, 4.0]) {
        b = slower(&b, id, factor);
    }
    b = slower(&b, "memory.latency/L3", 1.6);
    let by = |row: &str| normalized(Normalize::Row(row.into()));
    let mut text = described("plain", row(&set(&a, &b, &USUAL), "cpu.add_i32"));
    let kept = drifting(&a, &singles(&a));
    let c = compare_with_kept(&a, &b, kept, &by(MEMORY_REFERENCE));
    for id in rows {
        text += &described("normalized", row(&c, id));
    }
    text += &format!("{:?}\n", c.method.normalized);
    for id in ["cpu.absent", "cpu.branch_mispredict", "memory.latency"] {
        text += &(refused(&a, &b, &[], &by(id)) + "\n");
    }
    insta::assert_snapshot!(text);
}

/// With memory in ns, as where it is not bound by the core.
fn of_memory(ns: f64) -> Run {
    let mut run = with_bandwidth(ns);
    let rows = run.rows.iter_mut();
    rows.filter(|row| row.id.starts_with("memory.latency"))
        .for_each(|row| row.bound = Bound::Memory);
    run
}

#[test]
fn the_usual_reference_is_for_memory_and_says_where_it_is_missing() {
    let [a, mut b] = [of_memory(1.0), of_memory(1.6)];
    b = slower(&b, MEMORY_REFERENCE, 1.6);
    b = slower(&b, "thread.create_join", 1.6);
    let options = normalized(Normalize::Usual);
    let c = compare_with_kept(&a, &b, drifting(&a, &singles(&a)), &options);
    let mut text = String::new();
    // The second is not of memory, the third in cycles already.
    for id in [
        "memory.made_up",
        "thread.create_join",
        "memory.naive_xor/50kB",
    ] {
        text += &described("with kept runs", row(&c, id));
    }
    b.rows.retain(|row| row.id != MEMORY_REFERENCE);
    let without = set(&a, &b, &options);
    text += &described("without it", row(&without, "memory.made_up"));
    text += &without.method.normalized[1];
    insta::assert_snapshot!(text);
}

#[test]
fn a_reference_that_takes_no_error_out_is_refused() {
    let run = of_memory(1.0);
    let every = singles(&run);
    let usual = normalized(Normalize::Usual);
    let with = |kept| compare_with_kept(&run, &run, kept, &usual);
    // The reference wanders, and nothing else does.
    let alone = drifting(&run, &[MEMORY_REFERENCE]);
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
    // Where memory as a whole comes and goes, it helps.
    let together = drifting(&run, &every);
    let mut text = String::new();
    for (what, kept) in [
        ("it alone wanders", alone.clone()),
        ("a tenth less", hardly.collect()),
        ("all together", together.clone()),
    ] {
        let c = with(kept);
        let normalized = row(&c, "memory.made_up").ratio.expect("both").normalized;
        text += &format!("{what}: {normalized}: {}\n", c.method.normalized[1]);
    }
    // Runs that are compared have no say in it.
    let side = Operand::of_runs("main", together);
    let b = Operand::run("x", run.clone());
    let c = compare(&side, &b, &[], &|_| true, &usual).expect("shared rows");
    text += &format!("on a side: {}\n", c.method.normalized[1]);
    let by = normalized(Normalize::Row(MEMORY_REFERENCE.into()));
    for kept in [alone, Vec::new()] {
        text += &(refused(&run, &run, &[kept], &by) + "\n");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_gate_is_crossed_by_rows_that_surely_are_slower() {
    let gate = |a: &Run, b: &Run, share: f64| {
        let options = Options {
            fail_above: Some(share),
            ..USUAL
        };
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
fn kept_runs_say_what_runs_differ_by() {
    const ID: &str = "cpu.add_i32";
    let a = synthetic::run();
    let b = slower(&a, ID, 1.1);
    let of = |factors: [f64; 4]| factors.map(|factor| slower(&a, ID, factor)).to_vec();
    let mut text = described("alone", row(&set(&a, &b, &USUAL), ID));
    for (what, kept) in [
        ("calm", of([1.0, 1.001, 0.999, 1.0])),
        ("rough", of([1.0, 1.1, 0.9, 1.05])),
    ] {
        let c = compare_with_kept(&a, &b, kept, &USUAL);
        text += &described(&format!("{what}: {:?}", c.method.kept_runs), row(&c, ID));
    }
    // Several runs of a side are their (geometric) mean, and say it themselves.
    let pooled = [1.0, 1.21].map(|factor| slower(&a, ID, factor)).to_vec();
    let [one, pooled] = [
        Operand::run("one", a.clone()),
        Operand::of_runs("@lab", pooled),
    ];
    let c = compare(&one, &pooled, &[], &|_| true, &USUAL).expect("shared rows");
    text += &described(&format!("pooled: {:?}", c.method.kept_runs), row(&c, ID));
    insta::assert_snapshot!(text);
}

#[test]
fn kept_runs_of_other_rows_are_not_counted() {
    let run = synthetic::run();
    let mut other = run.clone();
    other.rows.retain(|row| row.id.starts_with("memory."));
    let kept = [run.clone(), run.clone(), run.clone(), other];
    let counted = |wanted: &dyn Fn(&str) -> bool| {
        let [a, b] = [&run, &run].map(|run| Operand::run("x", run.clone()));
        let c = compare(&a, &b, &[kept.to_vec()], wanted, &USUAL).expect("shared rows");
        c.method.kept_runs
    };
    assert_eq!(counted(&|_| true), [4]);
    assert_eq!(counted(&|id| id.starts_with("cpu.")), [3]);
}

#[test]
fn rows_of_one_side_are_named() {
    const ABSENT: [&str; 2] = ["memory.latency", "cpu.add_i32"];
    let a = synthetic::run();
    let mut b = a.clone();
    b.rows.retain(|row| !ABSENT.contains(&row.id.as_str()));
    let c = set(&a, &b, &USUAL);
    assert_eq!(
        (&c.only_in_a[..], c.only_in_b.len()),
        (&ABSENT.map(String::from)[..], 0)
    );
    assert_eq!(set(&b, &a, &USUAL).only_in_b, ABSENT);
    b.rows.clear();
    assert!(refused(&a, &b, &[], &USUAL).contains("no row in common"));
}

#[test]
fn the_page_shows_every_key_of_the_document() {
    let page = include_str!("../../../docs/compare.md");
    let run = with_bandwidth(1.0);
    let mut other = slower(&run, "cpu.add_i32", 2.0);
    other.program.emulated = Some("qemu".into());
    let document = serde_json::to_value(set(&run, &other, &USUAL)).expect("JSON");
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

/// A run with a row whose median and 10 % quantile came out so.
fn with_distribution(median: f64, low: f64) -> Run {
    let mut run = synthetic::run();
    change(&mut run, "thread.create_join", |e| {
        e.verdict = Verdict::Ok;
        if let Some(t) = &mut e.typical {
            t.p10_ns *= low;
            t.ns = t.ns.scaled(median);
        }
    });
    run
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
    let c = compare_with_kept(&a, &b, kept(wanders, steady), &USUAL);
    let by_low = row(&c, ID);
    assert_eq!(by_low.measure, Some(Measure::TypicalP10));
    let ratio = by_low.ratio.expect("both");
    assert!((ratio.value - 1.3).abs() < 1e-9, "{ratio:?}");
    assert!(by_low.a.value < row(&set(&a, &b, &USUAL), ID).a.value);
    // What it is compared by does not hang on the two that are compared.
    let c = compare_with_kept(&a, &b, kept(steady, wanders), &USUAL);
    assert_eq!(row(&c, ID).measure, Some(Measure::TypicalNs));
    assert_eq!(
        row(&set(&a, &b, &USUAL), ID).measure,
        Some(Measure::TypicalNs)
    );
}

#[test]
fn every_row_says_which_change_it_could_have_found() {
    let run = synthetic::run();
    let c = set(&run, &run, &USUAL);
    for row in &c.rows {
        let interval = row.ratio.is_some() && row.a.verdicts == [Verdict::Ok];
        assert!(
            !interval || row.mode.is_some() || row.detectable.is_some(),
            "{row:?}"
        );
    }
    // A change of that size is found where it is the only one.
    let add = row(&c, "cpu.add_i32").detectable.expect("known");
    let c = set(
        &run,
        &slower(&run, "cpu.add_i32", (1.0 + add) * 1.02),
        &USUAL,
    );
    assert_eq!(row(&c, "cpu.add_i32").finding, Finding::Different);
    assert_eq!(c.count(Finding::Different), 1);
}
