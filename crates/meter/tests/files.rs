//! The plan and the rows of probes that keep files on a disk.

extern crate latlas_meter as meter;

use meter::disk_room::NoRoom;
use meter::plan::{Plan, PlanError, Request, plan};
use meter::probe::{Derive, OnDisk, Probe, Shape, Site, Work};
use meter::scratch::{self, ScratchError};
use model::run::{Axis, Outcome, Regime, Row};
use std::path::{Path, PathBuf};
use std::time::Duration;

const POINTS: [u64; 3] = [1, 1 << 20, 1 << 62];

/// Making a file.
const ONCE: Duration = Duration::from_secs(1000);

struct Nothing;
impl Work for Nothing {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, _turns: u64, _double: bool) {}
}

fn on_disk(site: &Site) -> Option<OnDisk> {
    Some(OnDisk {
        shared: format!("{:?}", site.at),
        bytes: site.at.first().copied().unwrap_or(1 << 62),
        files: 1,
        once: ONCE,
        ..OnDisk::default()
    })
}

fn catalogue() -> Vec<Probe> {
    let curve = Probe {
        variants: vec!["".into(), "other".into()],
        long_from: Some(1 << 20),
        shape: Shape::Curve(Axis::FileBytes, |_, _| POINTS.to_vec()),
        derive: Derive::Points(&[("1B", 1), ("1MiB", 1 << 20), ("7B", 7), ("large", 1 << 62)]),
        on_disk,
        make: Box::new(|bench, _| {
            bench.scratch()?;
            Ok(Box::new(Nothing))
        }),
        ..Probe::blank("my.curve")
    };
    let figure = Probe { on_disk, ..Probe::blank("my.figure") };
    let optional = Probe {
        on_disk: |site| on_disk(site).map(|room| OnDisk { optional: true, ..room }),
        ..Probe::blank("my.optional")
    };
    vec![curve, figure, Probe::blank("my.other"), optional]
}

fn planned(dir: Option<PathBuf>, rows: &[&str]) -> Result<Plan, PlanError> {
    let machine = sys::machine_facts(Path::new("/"));
    plan(&catalogue(), &request(dir, rows), &machine)
}

fn request(dir: Option<PathBuf>, rows: &[&str]) -> Request {
    Request {
        rows: rows.iter().map(ToString::to_string).collect(),
        // The visits that a budget adds must not come to a refused cell.
        budget: Some(Duration::from_secs(60)),
        dir,
        ..Request::default()
    }
}

#[test]
fn what_does_not_fit_is_refused_point_by_point() {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = planned(Some(dir.path().into()), &[]).expect("a plan");
    let of_curve: Vec<_> = plan.cells.iter().filter(|c| c.row == "my.curve").collect();
    let wants: Vec<bool> = of_curve.iter().map(|cell| cell.wants_disk()).collect();
    assert_eq!(wants, [true, true, false]);
    let why = &of_curve[2].refused;
    assert!(matches!(why, Some(NoRoom::Bytes { .. })), "{why:?}");
    assert_eq!((of_curve[2].visits, of_curve[2].allotment.as_nanos()), (0, 0));
    let regimes: Vec<Regime> = of_curve.iter().map(|cell| cell.regime).collect();
    let long = Regime::Distribution;
    assert_eq!(regimes, [Regime::Gated, long, long]);
    // A row without any point that fits is not available.
    let [(row, .., why)] = &plan.unavailable[..] else {
        panic!("{:?}", plan.unavailable);
    };
    assert!(row == "my.figure" && why.starts_with("needs "), "{why}");
    let other = plan.cells.iter().find(|cell| cell.row == "my.other");
    assert!(!other.expect("planned").wants_disk());
    // What can do without is measured all the same.
    let optional = plan.cells.iter().find(|cell| cell.row == "my.optional");
    let optional = optional.expect("planned");
    assert!(!optional.wants_disk() && optional.visits > 0);
    assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), 0);
}

#[test]
fn files_that_stay_are_counted_for_all_visits_and_their_end_is_planned() {
    let dir = tempfile::tempdir().expect("a directory");
    let of = |kept: u64, budget: Option<u64>| {
        let keeps = Probe {
            on_disk: match kept {
                0 => |_| Some(OnDisk::default()),
                100 => |_| Some(OnDisk { kept: 100, ..OnDisk::default() }),
                _ => |_| Some(OnDisk { kept: 1 << 40, ..OnDisk::default() }),
            },
            extra_visits: false,
            ..Probe::blank("my.keeps")
        };
        let request = Request {
            budget: budget.map(Duration::from_secs),
            ..request(Some(dir.path().into()), &[])
        };
        plan(&[keeps], &request, &sys::machine_facts(Path::new("/"))).expect("a plan")
    };
    for budget in [None, Some(600)] {
        let (plain, keeping) = (of(0, budget), of(100, budget));
        let cell = &keeping.cells[0];
        let files = u64::from(cell.visits * cell.workers) * 100;
        let removing = keeping.time.end - plain.time.end;
        let each = removing.as_nanos() as u64 / files;
        assert!((10_000..60_000).contains(&each), "{removing:?} for {files} files");
        let refused = of(1 << 40, budget).unavailable;
        assert!(refused[0].3.starts_with("needs "), "{refused:?}");
    }
}

#[test]
fn a_file_that_is_made_once_is_planned_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let rows = ["my.curve".to_string(), "my.curve/other".to_string()];
    let request =
        Request { rows: rows.to_vec(), budget: None, ..request(Some(dir.path().into()), &[]) };
    let machine = sys::machine_facts(Path::new("/"));
    let plan = plan(&catalogue(), &request, &machine).expect("a plan");
    let with_making: Vec<(&str, u64)> = plan
        .cells
        .iter()
        .filter(|cell| cell.allotment > ONCE)
        .map(|cell| (cell.row.as_str(), cell.at[0]))
        .collect();
    assert_eq!(with_making, [("my.curve", 1), ("my.curve", 1 << 20)]);
}

#[test]
fn a_named_directory_must_be_there() {
    let error = planned(Some("/nowhere/at/all".into()), &["my.other"]).expect_err("not there");
    assert_eq!(
        error.to_string(),
        "can't put files in /nowhere/at/all: no such directory; name another directory \
         with --dir"
    );
}

#[test]
fn published_points_are_rows_and_missing_ones_are_named() {
    use meter::assemble;
    use meter::cell_state::{CellState, VisitFailure};
    use meter::run_context::RunContext;
    use model::machine_readings::MachineReadings;
    let dir = tempfile::tempdir().expect("a directory");
    let plan = planned(Some(dir.path().into()), &["my.curve", "my.curve/other"]).expect("a plan");
    let states: Vec<CellState> = plan
        .cells
        .iter()
        .map(|cell| match &cell.refused {
            Some(why) => CellState::without_visits(VisitFailure::Refused(why.clone())),
            None => CellState::default(),
        })
        .collect();
    let context = RunContext::from_readings(&MachineReadings::default(), None, 1.0, 1.0);
    let rows = assemble::assemble_rows(&catalogue(), &plan, &states, &context);
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let expected = ["my.curve", "my.curve/1B", "my.curve/1MiB", "my.curve/large", "my.curve/other"];
    assert_eq!(ids, expected, "points of the row without a variant alone");
    let Outcome::Curve { axis, points } = &rows[0].outcome else {
        panic!("{:?}", rows[0].outcome);
    };
    assert_eq!((*axis, points.len()), (Axis::FileBytes, 2));
    for (row, point) in rows[1..3].iter().zip(points) {
        let Outcome::Figure(estimate) = &row.outcome else {
            panic!("{:?}", row.outcome);
        };
        assert_eq!(*estimate, point.estimate);
    }
    let unavailable = |row: &Row| match &row.outcome {
        Outcome::Unavailable { reason } => reason.clone(),
        other => panic!("{}: {other:?}", row.id),
    };
    let why = unavailable(&rows[3]);
    assert!(why.starts_with("needs "), "{why}");
    let missing = format!("not available here at {}: needs ", model::size::format_size(1 << 62));
    assert!(rows[0].notes.iter().any(|note| note.starts_with(&missing)), "{:?}", rows[0].notes);
    // Nothing of the curve: neither of its points, with the same reason.
    let states: Vec<CellState> = plan
        .cells
        .iter()
        .map(|_| CellState::without_visits(VisitFailure::Work("no such disk".into())))
        .collect();
    let rows = assemble::assemble_rows(&catalogue(), &plan, &states, &context);
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| unavailable(row) == "no such disk"));
    let mut nowhere = plan.clone();
    nowhere.cells.clear();
    for row in ["my.curve", "my.curve/other"] {
        let other = plan.cells.iter().find(|cell| cell.row == row);
        let (unit, bound) = other.map(|cell| (cell.unit, cell.bound)).expect("planned");
        let why = "no place".to_string();
        nowhere.unavailable.push((row.into(), unit, bound, why));
    }
    let rows = assemble::assemble_rows(&catalogue(), &nowhere, &[], &context);
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let points = ["1B", "1MiB", "7B", "large"].map(|name| format!("my.curve/{name}"));
    assert_eq!(ids[0], "my.curve");
    assert_eq!(ids[1..5], points);
    assert_eq!(ids[5..], ["my.curve/other"]);
    assert!(rows.iter().all(|row| unavailable(row) == "no place"));
}

#[test]
fn the_default_place_is_not_memory() {
    // What it is depends on the machine; that it is said, and no memory, not.
    match scratch::by_default() {
        Ok(place) => assert_ne!(place.filesystem.device, model::filesystem::DeviceKind::Memory),
        Err(why) => assert!(matches!(why, ScratchError::NoDefault(_)), "{why}"),
    }
}
