//! The plan and the rows of probes that keep files on a disk.

use meter::plan::{Plan, PlanError, Request, plan};
use meter::probe::{Derive, OnDisk, Probe, Shape, Site, Work};
use meter::scratch;
use model::run::{Axis, Outcome, Regime, Scale};
use std::path::{Path, PathBuf};

const POINTS: [u64; 3] = [1, 1 << 20, 1 << 62];

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
    })
}

fn catalogue() -> Vec<Probe> {
    let curve = Probe {
        variants: vec!["".into(), "other".into()],
        long_from: Some(1 << 20),
        shape: Shape::Curve(Axis::FileBytes, |_, _| POINTS.to_vec()),
        derive: Derive::Points(&[("1B", 1), ("1MiB", 1 << 20), ("7B", 7)]),
        on_disk,
        make: Box::new(|bench, _| {
            bench.scratch()?;
            Ok(Box::new(Nothing))
        }),
        ..Probe::blank("my.curve")
    };
    let figure = Probe {
        on_disk,
        ..Probe::blank("my.figure")
    };
    vec![curve, figure, Probe::blank("my.other")]
}

fn planned(dir: Option<PathBuf>, rows: &[&str]) -> Result<Plan, PlanError> {
    let request = Request {
        scale: Scale::Default,
        rows: rows.iter().map(ToString::to_string).collect(),
        asked: Vec::new(),
        seed: 1,
        // The visits that a budget adds must not come to a refused cell.
        budget: Some(std::time::Duration::from_secs(60)),
        pin: None,
        peer: None,
        core_kind: None,
        dir,
    };
    plan(&catalogue(), &request, &sys::machine(Path::new("/")))
}

#[test]
fn what_does_not_fit_is_refused_point_by_point() {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = planned(Some(dir.path().into()), &[]).expect("a plan");
    let of_curve: Vec<_> = plan.cells.iter().filter(|c| c.row == "my.curve").collect();
    let wants: Vec<bool> = of_curve.iter().map(|cell| cell.wants_disk()).collect();
    assert_eq!(wants, [true, true, false]);
    let why = of_curve[2]
        .refused
        .as_deref()
        .expect("2^62 bytes fit nowhere");
    assert!(
        why.starts_with("needs ") && why.contains(" free in "),
        "{why}"
    );
    assert_eq!(
        (of_curve[2].visits, of_curve[2].allotment.as_nanos()),
        (0, 0)
    );
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
    assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), 0);
}

#[test]
fn a_named_directory_must_be_there() {
    let error = planned(Some("/nowhere/at/all".into()), &["my.other"]).expect_err("not there");
    let PlanError::Scratch(why) = &error else {
        panic!("{error}");
    };
    assert!(
        why.contains("/nowhere/at/all") && why.contains("--dir"),
        "{why}"
    );
}

#[test]
fn published_points_are_rows_and_missing_ones_are_said() {
    use meter::assemble::{Common, rows};
    use meter::found::Found;
    let dir = tempfile::tempdir().expect("a directory");
    let plan = planned(Some(dir.path().into()), &["my.curve", "my.curve/other"]).expect("a plan");
    let found: Vec<Found> = plan
        .cells
        .iter()
        .map(|cell| match &cell.refused {
            Some(why) => Found::refused(why),
            None => Found::default(),
        })
        .collect();
    let common = Common::learn(None, &[], 1.0, 1.0);
    let rows = rows(&catalogue(), &plan, &found, &common);
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let expected = ["my.curve", "my.curve/1B", "my.curve/1MiB", "my.curve/other"];
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
    let missing = format!(
        "not available here at {}: needs ",
        model::size::text(1 << 62)
    );
    assert!(
        rows[0].notes.iter().any(|note| note.starts_with(&missing)),
        "{:?}",
        rows[0].notes
    );
}

#[test]
fn the_default_place_is_not_memory() {
    // What it is depends on the machine; that it is said, and no memory, not.
    match scratch::by_default() {
        Ok(place) => assert_ne!(
            place.filesystem.device,
            model::filesystem::DeviceKind::Memory
        ),
        Err(why) => assert!(why.contains("--dir"), "{why}"),
    }
}
