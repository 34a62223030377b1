//! A run of a machine that measures nearly every row of the published tables:
//! portable rows, files, disks; no Objective-C, no views.

use crate::references::References;
use crate::tables;
use model::estimate::Verdict;
use model::run::{Axis, CurvePoint, Outcome, Regime, Row, Run};
use model::synthetic::{
    KIB, MIB, cell, curve, judged, ok_outcome, row_of_times, run, stamped_figure,
};

/// What would provide the rows of the groups that a machine lacks.
const LACKING: [(&str, &str); 3] = [
    ("objc", "no Objective-C runtime was found (GNUstep would provide one)"),
    ("ui", "no window system's views here"),
    ("dispatch", "libdispatch not found (Debian 13's libswiftlang has one)"),
];

/// Points that claims are judged by: they hold, fail, and come too near to a limit.
const OF_CLAIMS: [(&str, f64); 4] = [
    ("memory.read/sequential/16KiB", 0.31),
    ("memory.read/sequential/64MiB", 0.36),
    ("memory.read/every_4th/16KiB", 0.32),
    ("memory.read/every_4th/64MiB", 0.48),
];

/// The run, with every row that a published table has a place for.
pub fn published_run() -> Run {
    let mut run = run();
    let references = References::embedded().expect("references");
    for layout in &references.layouts {
        for id in tables::row_ids(layout, &references) {
            if run.row(&id).is_none() && !is_of_curve(&id) && !is_of_pack(&id) {
                let place = run.rows.len();
                run.rows.push(row_of(&id, place, &references));
                run.cells.push(cell_of(&id, place + 1));
            }
        }
    }
    run.rows.push(row_of_times("memory.latency_as_kurkin", curve(model::synthetic::latency)));
    let (level_1, mut level_2) = (
        model::synthetic::level("L1", KIB, 32 * KIB),
        model::synthetic::level("L2", 48 * KIB, 448 * KIB),
    );
    level_2.id = "memory.latency_as_kurkin/L2".into();
    run.rows.push(Row { id: "memory.latency_as_kurkin/L1".into(), ..level_1 });
    run.rows.push(level_2);
    run.rows.push(reading());
    run.rows.extend(OF_CLAIMS.map(|(id, ns)| row_of_times(id, ok_outcome(ns, ns * 0.01))));
    for (at, ops) in [(KIB, 1.0), (MIB, 1.0)] {
        let mut cell = cell("file.read_open");
        (cell.at, cell.ops_per_turn) = (vec![at], ops);
        run.cells.push(cell);
    }
    run
}

/// Rows that only a pack has.
fn is_of_pack(id: &str) -> bool {
    ["objc.retain_release/", "objc.zero_delay/", "objc.task_spawn/"]
        .iter()
        .any(|p| id.starts_with(p))
}

/// Rows that are levels or points of a curve.
fn is_of_curve(id: &str) -> bool {
    id.starts_with("memory.latency_as_kurkin/") || id.starts_with("file.read_open/")
}

fn row_of(id: &str, at: usize, references: &References) -> Row {
    let group = id.split('.').next().unwrap_or_default();
    if let Some((_, reason)) = LACKING.iter().find(|(lacking, _)| *lacking == group) {
        return row_of_times(id, Outcome::Unavailable { reason: (*reason).into() });
    }
    // Of the order of what was published, and another one for each row.
    let known = references.published(id).find_map(|(_, row)| row.ns);
    let ns = known.unwrap_or(1e5) * (0.211 + 0.0137 * at as f64 % 1.1);
    match id {
        "alloc.refcount" => row_of_times(
            id,
            Outcome::Figure(judged(
                ns,
                ns * 0.08,
                Verdict::Noisy,
                "worker processes disagree by ±8 %",
            )),
        ),
        "process.spawn_wait" | "file.write_whole/16MiB" => {
            row_of_times(id, Outcome::Figure(stamped_figure(ns, ns * 0.03)))
        }
        "event_loop.zero_delay" => row_of_times(
            id,
            Outcome::Unavailable { reason: "no run loop of CoreFoundation here".into() },
        ),
        _ => row_of_times(id, ok_outcome(ns, ns * 0.004)),
    }
}

fn cell_of(id: &str, at: usize) -> model::run::Cell {
    let mut cell = cell(id);
    cell.ops_per_turn = 1.0 + at as f64;
    if id == "process.spawn_wait" {
        cell.regime = Regime::Stamped;
    }
    cell
}

/// Reads of a file that stays open.
fn reading() -> Row {
    let points = [(KIB, 412.0), (MIB, 93_000.0)].map(|(x, ns)| CurvePoint {
        x,
        bound: None,
        estimate: stamped_figure(ns, ns * 0.01),
    });
    row_of_times("file.read_open", Outcome::Curve { axis: Axis::FileBytes, points: points.into() })
}
