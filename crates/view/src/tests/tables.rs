use crate::render::{PublishedOptions, published};
use crate::terminal::{COLUMNS, plain};
use compare::references::{ReferenceRow, References};
use compare::tables::*;
use model::estimate::Verdict;
use model::imported::Imported;
use model::machine::{Fact, Presence};
use model::run::Outcome;
use model::run::Run;
use model::synthetic::{self, ok_outcome, stamped_figure};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn options() -> PublishedOptions<'static> {
    PublishedOptions { columns: COLUMNS, ..PublishedOptions::default() }
}

fn references() -> References {
    References::embedded().expect("references")
}

fn filled(key: &str, run: &Run) -> PublishedTable {
    let references = references();
    let layout = references.layout(key).expect("a table");
    fill_in(layout, &references, Some(run), true)
}

/// A machine on which the originals run too, as they do on a Mac.
fn with_originals() -> Run {
    let mut run = compare::synthetic::published_run();
    for row in &mut run.rows {
        if row.id.starts_with("objc.") {
            row.outcome = ok_outcome(5_000.0, 10.0);
        }
    }
    run.program.target = "aarch64-apple-darwin".into();
    run
}

/// A machine with the pack of Objective-C on GNUstep: three operations are not those of the
/// publication there, and the pack has others in their place.
fn with_gnustep() -> Run {
    let mut run = with_originals();
    run.program.target = "x86_64-unknown-linux-gnu".into();
    let others = [
        ("objc.retain_release", "messages", 14.0, 0.4),
        ("objc.zero_delay", "gnustep", 101_000.0, 200_000.0),
        ("objc.task_spawn", "gnustep", 100_000_000.0, 50_000.0),
    ];
    for (id, variant, ns, half) in others {
        let at = run.rows.iter().position(|row| row.id == id).expect(id);
        let reason = format!("other code here: see {id}/{variant}");
        run.rows[at].outcome = Outcome::Unavailable { reason };
        let other = run.rows[at].clone();
        run.rows.push(model::run::Row {
            id: format!("{id}/{variant}"),
            outcome: ok_outcome(ns, half),
            ..other
        });
    }
    run
}

fn page(key: &str, run: &Run) -> String {
    plain(&published(&filled(key, run), Some(run), &options()))
}

#[test]
fn where_the_originals_run_the_portable_rows_stand_below_them() {
    insta::assert_snapshot!(page("ash", &with_originals()));
}

#[test]
fn rows_of_gnustep_are_marked_and_stand_in_for_what_it_does_in_another_way() {
    let table = filled("ash", &with_gnustep());
    let row = |id: &str| table.rows().find(|row| row.id == id).expect("the row");
    let counting = row("objc.retain_release");
    assert_eq!(counting.shown_like().map(|like| &*like.id), Some("objc.retain_release/messages"));
    assert_eq!(counting.published[0].as_ref().and_then(|figure| figure.ratio), None);
    let json = row("objc.json_encode");
    assert_eq!((json.library, json.shown_like()), (Some("GNUstep"), None));
    assert!(json.published[0].as_ref().is_some_and(|figure| figure.ratio.is_some()));
    assert_eq!(row("call.virtual").library, None);
    let text = page("ash", &with_gnustep());
    let (mac, _) = text.split_once("\niPhone\n").expect("two tables");
    insta::assert_snapshot!(mac);
}

/// Levels and points that are not there, a point from before it was a row of its
/// own, rows that were not measured or can't be, a curve that did not fit.
#[test]
fn what_is_missing_says_which_kind_of_missing_it_is() {
    let mut run = compare::synthetic::published_run();
    let missing = [
        "memory.latency_as_kurkin/L2",
        "memory.latency_as_kurkin/64MiB",
        "file.create",
        "file.create/1KiB",
        "thread.lifecycle/end",
    ];
    run.rows.retain(|row| !missing.contains(&&row.id[..]));
    let curve_of = |run: &Run| run.rows.iter().position(|row| row.id == "file.read_open");
    let at = curve_of(&run).expect("the row");
    let Outcome::Curve { points, .. } = &mut run.rows[at].outcome else {
        panic!("a curve");
    };
    points.retain(|p| p.x == 1 << 10);
    let mut did_not_fit = run.clone();
    did_not_fit.rows[at].notes = vec![
        "Served by the page cache.".into(),
        "not available here at 512KiB, 1MiB: 120 MiB are free".into(),
    ];
    did_not_fit.complete();
    for row in &mut run.rows {
        if row.id == "file.open_close" {
            row.outcome = Outcome::Unavailable { reason: "no directory to write in".into() };
        }
    }
    let mut without_curve = run.clone();
    without_curve.rows[at].outcome = Outcome::Unavailable { reason: "a full disk".into() };
    assert_eq!(
        filled("kurkin", &run).missing_rows(),
        ["thread.lifecycle/end", "file.create/1KiB", "file.read_open/1MiB"]
    );
    let pages = [run, did_not_fit, without_curve].map(|run| page("kurkin", &run));
    insta::assert_snapshot!(pages.join("\n"));
}

/// The only published speed is doubtful: one that is not.
#[test]
fn a_time_is_set_next_to_a_speed_by_the_bytes_of_its_name() {
    let speed = ReferenceRow { mb_per_s: Some(200.0), ..ReferenceRow::default() };
    let run = compare::synthetic::published_run();
    let of = |id: &str| published_figure(&speed, &here(Some(&run), id)).ratio;
    // 1 MiB in 93 µs, beside 5.24 ms at 200 MB/s.
    let ratio = of("file.read_open/1MiB").expect("a ratio");
    assert!((ratio - 93_000.0 / (1_048_576.0 / 0.2)).abs() < 1e-12, "{ratio}");
    assert_eq!(of("file.open_close"), None, "no bytes in its name");
}

#[test]
fn only_what_this_program_can_measure_is_advised() {
    let table = filled("ash", &synthetic::run());
    let advice = |measurable: &[&str]| {
        let known: Vec<String> = measurable.iter().map(|id| id.to_string()).collect();
        let options = PublishedOptions { measurable: Some(&known), ..PublishedOptions::default() };
        let text = plain(&published(&table, None, &options));
        let line = text.lines().find(|line| line.starts_with("more: "));
        line.map(str::to_owned)
    };
    let one = advice(&["codec.json_encode", "cpu.memcpy/16B"]).expect("advice");
    assert!(one.ends_with("latlas run codec.json_encode"), "{one}");
    assert_eq!(advice(&["cpu.memcpy/16B"]), None, "it has a figure");
    assert_eq!(advice(&[]), None);
}

#[test]
fn the_file_system_stands_next_to_rows_of_files() {
    let mut run = compare::synthetic::published_run();
    let shows = |key: &str, run: &Run| {
        let table = filled(key, run);
        let text = plain(&published(&table, Some(run), &options()));
        let json = serde_json::to_value(&table).expect("JSON");
        assert_eq!(json["run"]["files_on"]["kind"], "ext4");
        text.contains("files on        ext4 on ")
    };
    for key in ["ash", "kurkin", "2012"] {
        assert!(shows(key, &run), "{key}");
    }
    // A table none of whose figures is of a file.
    run.rows.retain(|row| !is_of_files(&row.id));
    for key in ["ash", "kurkin", "2012"] {
        assert!(!shows(key, &run), "{key}");
    }
}

#[test]
fn operations_and_their_time_are_those_of_the_samples() {
    let run = compare::synthetic::published_run();
    let samples = |id: &str| {
        let cell = run.cells.iter().find(|cell| cell.row == id).expect(id);
        (cell, cell.samples.samples().expect("whole"))
    };
    let seconds = |ticks: u64| ticks as f64 * run.clock.ns_per_tick * 1e-9;
    // Paired: a U loop and one of twice as many operations.
    let (cell, paired) = samples("call.virtual");
    let turns: u64 = paired.iter().map(|s| s.turns).sum();
    let ticks = paired.iter().map(|s| s.first_ticks + s.second_ticks.expect("paired"));
    let found = counted(&run, "call.virtual").expect("whole").expect("cells");
    assert_eq!(found.operations as f64, 3.0 * turns as f64 * cell.ops_per_turn);
    assert!((found.seconds / seconds(ticks.sum()) - 1.0).abs() < 1e-12);
    // Stamped: what lies between the two stamps.
    let (cell, stamped) = samples("process.spawn_wait");
    let turns: u64 = stamped.iter().map(|s| s.turns).sum();
    let ticks = stamped.iter().map(|s| s.second_ticks.expect("stamped") - s.first_ticks);
    let found = counted(&run, "process.spawn_wait").expect("whole").expect("cells");
    assert_eq!(found.operations as f64, turns as f64 * cell.ops_per_turn);
    assert!((found.seconds / seconds(ticks.sum()) - 1.0).abs() < 1e-12);
    // Plain.
    let mut plain = run.clone();
    let cell = plain.cells.iter_mut().find(|c| c.row == "call.virtual");
    cell.expect("a cell").samples.second_ticks.clear();
    let ticks: u64 = paired.iter().map(|s| s.first_ticks).sum();
    let found = counted(&plain, "call.virtual").expect("whole").expect("cells");
    assert!((found.seconds / seconds(ticks) - 1.0).abs() < 1e-12);
    // A point of a curve has its own cell, another row none.
    let point = counted(&run, "file.read_open/1KiB").expect("whole").expect("cells");
    let curve = counted(&run, "file.read_open").expect("whole").expect("cells");
    assert_eq!(2 * point.operations, curve.operations);
    assert_eq!(counted(&run, "no.such_row"), Ok(None));
}

#[test]
fn operations_of_a_level_are_those_of_its_points() {
    let mut run = compare::synthetic::published_run();
    let cell = run.cells[0].clone();
    for x in [16 << 10, 64 << 10, 128 << 10, 1 << 20] {
        let mut cell = cell.clone();
        (cell.row, cell.at) = ("memory.latency_as_kurkin".into(), vec![x]);
        run.cells.push(cell);
    }
    let of = |id: &str| counted(&run, id).expect("whole").expect("cells").operations;
    // 48 to 448 KiB: two of the four.
    let level = of("memory.latency_as_kurkin/L2");
    assert_eq!(2 * level, of("memory.latency_as_kurkin"));
}

#[test]
fn of_kept_runs_the_fullest_is_taken_and_of_several_the_newest() {
    let references = references();
    let ids = row_ids(references.layout("ash").expect("ash"), &references);
    let run = |id: &str, rows: usize| {
        let mut run = with_gnustep();
        run.id = id.into();
        let held: Vec<String> = ids.iter().take(rows).cloned().collect();
        run.rows.retain(|row| held.contains(&row.id));
        assert_eq!(rows_held(&run, &ids), rows);
        run
    };
    let of = |runs: Vec<Run>| fullest(runs.into_iter(), &ids).map(|run| run.id);
    let runs = vec![run("newest", 3), run("newer", 10), run("old", 10), run("oldest", 8)];
    assert_eq!(of(runs).as_deref(), Some("newer"));
    assert_eq!(of(vec![run("empty", 0)]), None);
    // Nothing is read behind one that holds all.
    let all = [run("all", ids.len())].into_iter();
    let behind = std::iter::from_fn(|| -> Option<Run> { panic!("read too far") });
    let found = fullest(all.chain(behind), &ids);
    assert_eq!(found.map(|run| run.id).as_deref(), Some("all"));
}

#[test]
fn a_run_of_elsewhere_is_not_of_this_machine() {
    let run = compare::synthetic::published_run();
    let machine = run.machine.clone();
    assert!(is_of(&run, &machine, None));
    assert!(!is_of(&run, &machine, Some("QEMU")), "run natively");
    let changed = |change: fn(&mut Run)| {
        let mut run = run.clone();
        change(&mut run);
        run
    };
    for other in [
        changed(|r| r.machine.hostname = Fact::known("elsewhere".into())),
        changed(|r| r.machine.hostname = Fact::unknown("not said")),
        changed(|r| r.machine.cpu_model = Fact::known("Z80".into())),
        changed(|r| r.program.emulated = Some("QEMU".into())),
        changed(|r| r.machine.emulated = Fact::known(Presence::Present("QEMU".into()))),
        changed(|r| r.commands = synthetic::run_of_commands().commands),
        changed(|r| {
            r.imported = Some(Imported {
                format: "criterion".into(),
                from: Vec::new(),
                measured_at: None,
                by: "latlas".into(),
            });
        }),
    ] {
        assert!(!is_of(&other, &machine, None));
    }
    let emulated = changed(|r| r.program.emulated = Some("QEMU".into()));
    assert!(is_of(&emulated, &machine, Some("QEMU")));
}

#[test]
fn only_rows_that_one_machine_can_measure_are_asked_for() {
    let references = references();
    let ids = |key: &str| row_ids(references.layout(key).expect(key), &references);
    assert!(!ids("2012").iter().any(|id| id == "disk.seek"));
    assert!(ids("2012").iter().any(|id| id == "net.round_trip_peer"));
    let ash = ids("ash");
    for id in ["objc.json_encode", "codec.json_encode", "ui.window_create"] {
        assert!(ash.iter().any(|known| known == id), "{id}");
    }
}

#[test]
fn the_table_as_json_says_what_the_text_says() {
    let table = filled("ash", &compare::synthetic::published_run());
    let json = serde_json::to_value(&table).expect("JSON");
    let rows = json["parts"][0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 34);
    let find = |id: &str| rows.iter().find(|row| row["id"] == id).expect("the row");
    let json = find("objc.json_encode");
    assert_eq!(json["here"]["state"], "unavailable");
    assert_eq!(json["likes"][0]["here"]["state"], "measured");
    assert_eq!(json["published"][0]["iterations"], 1_000_000);
    let memcpy = find("cpu.memcpy/1MiB");
    assert_eq!(memcpy["here"]["figure"], "typical");
    assert_eq!(memcpy["here"]["verdict"], "inconclusive");
}

/// What may come of a row: nothing, a reason, or a figure as a multiple of the
/// published one, with its relative half width, verdict, and whether it is
/// below resolution.
#[derive(Clone, Debug)]
enum Came {
    Of(Option<String>),
    Figure(f64, f64, Verdict, bool),
}

fn any_came() -> impl Strategy<Value = Came> {
    let verdict = prop_oneof![
        Just(Verdict::Ok),
        Just(Verdict::Noisy),
        Just(Verdict::TwoStates),
        Just(Verdict::CannotTell),
        Just(Verdict::Invalid),
    ];
    let figure = (-3.4..3.4_f64, 0.0..0.5_f64, verdict, any::<bool>())
        .prop_map(|(e, half, verdict, below)| Came::Figure(e.exp(), half, verdict, below));
    let unavailable = "[a-z]{3,9}( [a-z]{1,12}){0,20}".prop_map(|reason| Came::Of(Some(reason)));
    prop_oneof![3 => figure, 2 => unavailable, 2 => Just(Came::Of(None))]
}

impl Came {
    /// `odd` stands for the published figure where it is not one to expect.
    fn outcome(&self, id: &str, odd: Option<f64>, references: &References) -> Option<Outcome> {
        match self {
            Came::Of(reason) => reason.clone().map(|reason| Outcome::Unavailable { reason }),
            Came::Figure(factor, half, verdict, below) => {
                let known = references.published(id).find_map(|(_, row)| row.ns);
                let ns = odd.or(known).unwrap_or(1e5) * factor;
                let mut estimate = stamped_figure(ns, ns.abs() * half);
                estimate.verdict = *verdict;
                estimate.below_ns = below.then_some(0.01);
                estimate.reason = "samples disagree".into();
                Some(Outcome::Figure(estimate))
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_row_stands_in_the_table_once_whatever_the_run_holds(
        came in proptest::collection::vec(any_came(), 60),
        key in prop_oneof![Just("ash"), Just("kurkin"), Just("2012")],
        odd in prop_oneof![
            3 => Just(None), 1 => Just(Some(-9e3)), 1 => Just(Some(f64::NAN)),
            1 => Just(Some(1e12)), 1 => Just(Some(1e-6)),
        ],
    ) {
        let references = references();
        let layout = references.layout(key).expect("a table");
        let mut run = compare::synthetic::published_run();
        let ids = row_ids(layout, &references);
        run.rows.retain(|row| !ids.contains(&row.id));
        for (id, came) in ids.iter().zip(came) {
            if let Some(outcome) = came.outcome(id, odd, &references) {
                let mut row = run.rows[0].clone();
                (row.id, row.outcome) = (id.clone(), outcome);
                run.rows.push(row);
            }
        }
        let table = fill_in(layout, &references, Some(&run), false);
        let shown: Vec<&str> = table.rows().map(|row| row.id.as_str()).collect();
        for part in &table.parts {
            let once: BTreeSet<&str> = part.rows.iter().map(|row| row.id.as_str()).collect();
            prop_assert_eq!(part.rows.len(), once.len());
        }
        let expected = match key { "ash" => 34 + 32, "kurkin" => 19, _ => 14 };
        prop_assert_eq!(shown.len(), expected);
        // In the publication's order, whatever was measured.
        let unfilled = fill_in(layout, &references, None, false);
        let published_order: Vec<&str> = unfilled.rows().map(|row| row.id.as_str()).collect();
        prop_assert_eq!(&shown, &published_order);

        let text = plain(&published(&table, Some(&run), &options()));
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for row in table.rows() {
            let first = row.name.split(' ').next().expect("a name");
            prop_assert!(text.contains(first), "{} is not drawn", row.name);
            if let Here::Unavailable { reason } = &row.here {
                prop_assert!(flat.contains(reason.as_str()), "{}: {reason}", row.id);
            }
            for figure in row.published.iter().flatten().filter(|f| f.ratio.is_some()) {
                prop_assert!(figure.doubtful.is_none() && row.shown_like().is_none());
            }
        }
        // Figures as one may expect them keep to the page.
        prop_assert!(odd.is_some() || crate::terminal::layout::keeps_to(&text, 100), "{text}");
    }
}
