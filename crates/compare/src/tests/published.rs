//! Comparison with published tables.

use super::*;

fn published(key: &str) -> Operand {
    let references = References::embedded().expect("references");
    Operand {
        name: key.into(),
        source: FigureSource::Published(references.find(key).expect(key).clone()),
    }
}

#[test]
fn published_figures_have_the_ratio_that_they_may_have() {
    let references = References::embedded().expect("references");
    let against_table = |key: &str, run: &Run| {
        let run = Operand::from_run("last", run.clone());
        compare(&published(key), &run, &[], &|_| true, &USUAL).expect("shared rows")
    };
    const L2: &str = "memory.latency/L2";
    let mut run = synthetic::run();
    let list = against_table("2012", &run);
    assert!(list.points.is_empty() && list.differences.is_empty());
    let mut text = described("2012", row(&list, L2));
    change(&mut run, L2, |e| e.verdict = Verdict::CannotTell);
    text += &described("2012, our verdict inconclusive", row(&against_table("2012", &run), L2));
    insta::assert_snapshot!(text);
    // Marked figures are shown without a ratio.
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
                assert_eq!(found, (None, finding::Verdict::CannotTell, false), "{}", row.id);
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
    let run = Operand::from_run("last", run);
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
