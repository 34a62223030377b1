//! The work of a page grows as its rows do: the items that rows and cells are handed
//! out as whole lists, which a search for each row would square.

use crate::chart::pictures;
use crate::render::{self, Options};
use crate::report::{Content, Shown, page};
use crate::terminal::plain;
use compare::operand::Operand;
use compare::references::References;
use model::keyed::count;
use model::run::Run;
use model::synthetic;
use store::exchange::export::{Format, export};

/// A run of so many rows, each with its samples.
fn run_of(rows: usize) -> Run {
    let mut run = synthetic::run();
    let row = run.row("cpu.add_i32").expect("a row").clone();
    let cell = run.cell(&row.id, &[]).expect("its samples").clone();
    run.plan.asked = vec!["x".into()];
    let id = |n: usize| format!("group{}.row{n}", n / 2);
    let rows_of = (0..rows).map(|n| {
        let mut row = row.clone();
        row.id = id(n);
        row.notes = vec![format!("of {n}: {n}")];
        row
    });
    run.rows = rows_of.collect();
    let cells_of = (0..rows).map(|n| {
        let mut cell = cell.clone();
        cell.row = id(n);
        cell
    });
    run.cells = cells_of.collect();
    run
}

#[test]
fn no_page_searches_for_each_row() {
    let references = References::embedded().expect("references");
    let [all, wide] = [(true, false), (false, true)].map(|(all, wide)| Options {
        all,
        wide,
        ..Options::default()
    });
    let options = compare::Options { margin: 0.05, fail_above: Some(0.05), normalize: None };
    type Page<'p> = (&'p str, &'p dyn Fn(&Run));
    let pages: [Page; 6] = [
        ("show", &|run| drop(plain(&render::run(run, &references, &Options::default())))),
        ("show --all", &|run| drop(plain(&render::run(run, &references, &all)))),
        ("show --wide", &|run| drop(plain(&render::run(run, &references, &wide)))),
        ("report", &|run| {
            let (drawn, left_out) = pictures(run, &references, &[]);
            drop(page(&Content {
                shown: Shown { name: "last", run },
                others: &[Shown { name: "other", run }],
                references: &references,
                probes: &[],
                pictures: &drawn,
                left_out: &left_out,
                comparisons: &[],
                offered: &[],
                link: None,
                all_runs: None,
            }));
        }),
        ("compare", &|run| {
            let [a, b] = ["a", "b"].map(|name| Operand::run(name, run.clone()));
            let c = compare::compare(&a, &b, &[], &|_| true, &options).expect("compared");
            drop(plain(&render::comparison(&c, true)));
        }),
        ("export", &|run| drop(export(run, Format::Csv, &[]).expect("exported"))),
    ];
    for (name, draw) in pages {
        let [few, many] = [32, 512].map(|rows| {
            let run = run_of(rows);
            count::during(|| draw(&run))
        });
        assert!(many <= 16 * few * 13 / 10, "{name}: {few} items of 32 rows, {many} of 512");
    }
}
