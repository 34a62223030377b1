//! What kept runs say about the variation between runs.

use super::*;

#[test]
fn kept_runs_say_what_runs_differ_by() {
    const ID: &str = "cpu.add_i32";
    let a = synthetic::run();
    let b = slower(&a, ID, 1.1);
    let of = |factors: [f64; 4]| factors.map(|factor| slower(&a, ID, factor)).to_vec();
    let mut text = described("alone", row(&set(&a, &b, &USUAL), ID));
    for (what, kept) in
        [("calm", of([1.0, 1.001, 0.999, 1.0])), ("rough", of([1.0, 1.1, 0.9, 1.05]))]
    {
        let c = compare_with_kept(&a, &b, kept, &USUAL);
        text += &described(&format!("{what}: {:?}", c.method.kept_runs), row(&c, ID));
    }
    // Several runs of a side are their (geometric) mean, and say it themselves.
    let pooled = [1.0, 1.21].map(|factor| slower(&a, ID, factor)).to_vec();
    let [one, pooled] = [Operand::from_run("one", a.clone()), Operand::of_runs("@lab", pooled)];
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
        let [a, b] = [&run, &run].map(|run| Operand::from_run("x", run.clone()));
        let c = compare(&a, &b, &[kept.to_vec()], wanted, &USUAL).expect("shared rows");
        c.method.kept_runs
    };
    assert_eq!(counted(&|_| true), [4]);
    assert_eq!(counted(&|id| id.starts_with("cpu.")), [3]);
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
        both.map(|(median, low)| with_distribution(median, low)).collect()
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
    assert_eq!(row(&set(&a, &b, &USUAL), ID).measure, Some(Measure::TypicalNs));
}
