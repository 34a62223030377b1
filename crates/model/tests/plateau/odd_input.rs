//! Odd input, and the form in documents.

use super::*;

#[test]
fn too_few_points_have_no_levels() {
    let points = curve(&[level(KIB, 32 * KIB, 1.4)]);
    for count in 0..4 {
        assert_eq!(found_levels(&points[..count]), []);
    }
    assert_eq!(plateau_names(&found_levels(&points[..4])), ["L1"]);
    // Four points, but of one size.
    assert_eq!(found_levels(&[points[0]; 4]), []);
}

#[test]
fn points_that_are_no_figures_are_ignored() {
    let clean = curve(&intel().iter().map(|l| l.1).collect::<Vec<_>>());
    let mut points = clean.clone();
    for (index, ns) in
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0].into_iter().enumerate()
    {
        points.push(point(3 * KIB + 17 * index as u64, ns));
        points.push(point(30 * MIB + 17 * index as u64, ns));
    }
    points.push(point(0, 1.0));
    assert_eq!(found_levels(&points), found_levels(&clean));
    for ns in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
        let points: Vec<Point> = clean.iter().map(|p| point(p.bytes, ns)).collect();
        assert_eq!(found_levels(&points), [], "{ns}");
    }
    // An interval that is not known says nothing against its point.
    for p in &mut points {
        (p.low, p.high) = (f64::NAN, f64::INFINITY);
    }
    assert_eq!(found_levels(&points), found_levels(&clean));
}

#[test]
fn several_points_of_one_size_are_one() {
    let clean = curve(&intel().iter().map(|l| l.1).collect::<Vec<_>>());
    let mut thrice = clean.clone();
    for p in &clean {
        thrice.push(point(p.bytes, p.ns * 1.04));
        thrice.push(point(p.bytes, p.ns / 1.04));
    }
    assert_eq!(found_levels(&thrice), found_levels(&clean));
}

#[test]
fn a_level_as_json() {
    let found = found_levels(&curve(&[level(KIB, 4 * KIB, 1.5)]));
    let text = serde_json::to_string(&found).expect("writes");
    assert_eq!(
        text,
        r#"[{"name":"L1","from_bytes":1024,"to_bytes":4096,"ns":1.5,"low_ns":1.5,"high_ns":1.5,"certain":true,"reason":null}]"#
    );
    assert_eq!(serde_json::from_str::<Vec<Plateau>>(&text).expect("reads"), found);
}
