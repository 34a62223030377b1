use super::super::Quantity;
use super::super::Section;
use super::super::figure::log;
use super::super::svg::{Theme, notes, to_svg};
use super::*;

fn dot(id: &str, value: f64, finding: Verdict) -> Dot {
    let (low, high) = (Some(value / 1.1), Some(value * 1.1));
    let value = Some(value);
    Dot { id: id.into(), value, low, high, finding: Some(finding), ..Dot::default() }
}

fn dots(rows: Vec<Dot>) -> Dots {
    Dots::new(log("B over A", Quantity::Ratio), by_change(rows))
}

fn mixed() -> Dots {
    use Verdict::{CannotTell, Different, SameWithinNoise};
    dots(vec![
        dot("same", 1.01, SameWithinNoise),
        dot("slower", 2.0, Different),
        Dot { value: None, low: None, high: None, ..dot("nothing", 1.0, CannotTell) },
        dot("untold", 5.0, CannotTell),
        dot("faster", 0.25, Different),
        dot("even", 1.0, SameWithinNoise),
    ])
}

fn chart(dots: Dots) -> Chart {
    Chart {
        id: "comparison".into(),
        title: "B over A".into(),
        caption: "Ratios.".into(),
        section: Section::Comparison,
        body: Body::Dots(dots),
        notes: Vec::new(),
    }
}

#[test]
fn the_largest_change_is_first_and_what_has_no_ratio_is_last() {
    let ids: Vec<String> = mixed().rows.into_iter().map(|dot| dot.id).collect();
    // A quarter is a larger change than the double; five times that can't be told comes after both.
    assert_eq!(ids, ["faster", "slower", "untold", "same", "even", "nothing"]);
}

#[test]
fn verdicts_differ_in_colour_and_in_mark() {
    let dots = mixed();
    let svg = to_svg(&chart(dots.clone()), Theme::Light);
    let marks: Vec<&str> = svg.lines().filter(|line| line.contains(r#"class="mark""#)).collect();
    // Three of the legend, and five lines.
    assert_eq!(marks.len(), 3 + drawn(&dots).count());
    let [different, untold, same] = [3, 5, 6].map(|at| marks[at]);
    assert!(different.starts_with("<circle") && different.contains(r##"fill="#d75f03""##));
    assert!(untold.starts_with("<path") && untold.contains(r##"fill="#ffffff""##), "{untold}");
    assert!(same.starts_with("<path") && same.contains(r##"fill="#0f63b4""##), "{same}");
    for said in ["different", "inconclusive", "same within noise", "1 row has no ratio: nothing."] {
        assert!(svg.contains(&format!(">{said}<")), "{said}");
    }
}

#[test]
fn an_interval_stands_where_its_ends_are_and_one_is_marked() {
    let dots = mixed();
    let x = scale(&dots, (0.0, 100.0));
    let slower = &dots.rows[1];
    assert_eq!((slower.low, slower.high), (Some(2.0 / 1.1), Some(2.0 * 1.1)));
    assert!(x.holds(2.0 * 1.1) && x.holds(0.25 / 1.1) && x.holds(1.0));
    assert_eq!(figure(slower), "2.00 [1.82, 2.20]");
}

#[test]
fn a_wide_interval_that_says_nothing_does_not_squeeze_the_others() {
    let mut rows = mixed().rows;
    rows[2].high = Some(1e6);
    let dots = dots(rows);
    assert!(!scale(&dots, (0.0, 1.0)).holds(100.0));
    let said = notes(&chart(dots));
    assert!(said.iter().any(|note| note.contains("cut at its end")), "{said:?}");
}

#[test]
fn more_lines_than_there_is_room_for_are_counted() {
    let many = (0..MOST - 1).map(|at| dot(&at.to_string(), 1.5, Verdict::Different));
    let more = (0..4).map(|at| dot(&format!("m{at}"), 1.0, Verdict::SameWithinNoise));
    let untold = [dot("u1", 1.2, Verdict::CannotTell), dot("u2", 1.3, Verdict::CannotTell)];
    let dots = dots(many.chain(more).chain(untold).collect());
    assert_eq!(drawn(&dots).count(), MOST);
    assert_eq!(not_drawn(&dots), ["5 more rows: 1 inconclusive, 4 same within noise."]);
    // The figures have all.
    assert_eq!(dots.rows.len(), MOST + 5);
}
