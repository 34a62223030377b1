//! Figures beside published ones, and in units for people.

use compare::references::{ComparisonRule, Reference, ReferenceRow};
use compare::tables::stand_in;
use model::estimate::Estimate;
use model::figure::{decimals, figure_in_unit, magnitude, time_scale, without_zeros};
use model::run::{Row, Run};
use model::stats::Interval;
use model::unit::Unit;

pub(crate) use model::figure::number_of_digits;
pub(super) use model::phrases::counted;
pub(crate) use model::shown::{
    Shown, cycle_count, cycles, interval_figure, number_parts, quiet_half, shown_figure, typical,
    typical_half,
};

/// One frame at 60 Hz, ns: the budget that rows are set against.
const FRAME_NS: f64 = 1e9 / 60.0;

/// A time with 1 ns scaled to 1 s: `1.4 s`, `3 min`, `1.5 d`. Nothing for one
/// that ended before it began.
pub(crate) fn human(ns: f64) -> String {
    if ns < 0.0 {
        return String::new();
    }
    const STEPS: [(f64, f64, &str); 5] = [
        (60.0, 1.0, "s"),
        (3_600.0, 60.0, "min"),
        (86_400.0, 3_600.0, "h"),
        (31_557_600.0, 86_400.0, "d"),
        (f64::INFINITY, 31_557_600.0, "y"),
    ];
    let (_, scale, name) =
        STEPS.into_iter().find(|&(below, _, _)| ns.abs() < below).unwrap_or(STEPS[4]);
    format!("{} {name}", two_digits(ns / scale))
}

/// How many operations fit into a frame at 60 Hz: `4.6 M`.
pub(crate) fn frames(ns: f64) -> String {
    if ns <= 0.0 {
        return String::new();
    }
    let count = FRAME_NS / ns;
    let (scale, name) = match count {
        c if c >= 1e9 => (1e9, " G"),
        c if c >= 1e6 => (1e6, " M"),
        c if c >= 1e3 => (1e3, " k"),
        _ => (1.0, ""),
    };
    format!("{}{name}", two_digits(count / scale))
}

/// Two significant digits, more only where they stand before the point.
fn two_digits(value: f64) -> String {
    format!("{value:.*}", (1 - magnitude(value)).clamp(0, 6) as usize)
}

/// A published figure as it was published: `7 ns`, `20 MB/s`, `4 cycles`.
pub(crate) fn published(row: &ReferenceRow) -> String {
    match (row.ns, row.mb_per_s, row.cycles) {
        (Some(ns), ..) => published_time(ns),
        (None, Some(speed), _) => format!("{speed} MB/s"),
        (None, None, Some(cycles)) => {
            let text = format!("{cycles:.*}", decimals(cycles, 0.0));
            format!("{} cycles", without_zeros(&text))
        }
        (None, None, None) => String::new(),
    }
}

/// `100 ns`, not `100.0 ns`: no digits that were not published.
pub(crate) fn published_time(ns: f64) -> String {
    let (scale, name) = time_scale(ns);
    let value = ns / scale;
    let text = format!("{value:.*}", decimals(value, 0.0));
    format!("{} {name}", without_zeros(&text))
}

/// A table's figure for one of our rows, and how much faster or slower ours is, with `~` where ours is
/// of another library under the same calls; a mark where nothing can be said: `~` another operation that
/// does the same job, `?` doubtful. The figure is padded, so that a column of them lines up.
pub(super) fn versus(run: &Run, row: &Row, estimate: &Estimate, table: &Reference) -> String {
    let Some(counterpart) = table.counterpart(&row.id) else {
        return String::new();
    };
    let mark = if counterpart.row.doubtful.is_some() {
        "?".to_owned()
    } else if counterpart.rule == ComparisonRule::Near {
        "~".to_owned()
    } else {
        let other_code = if stand_in(run, &row.id).is_some() { "~" } else { "" };
        let ratio = counterpart.ratio(estimate, &row.unit);
        ratio.map_or(String::new(), |ratio| format!("{other_code}{}", faster_or_slower(ratio)))
    };
    format!("{:>7} {mark}", published(counterpart.row)).trim_end().to_owned()
}

/// `0.53x`, to two or three digits.
pub(crate) fn ratio_text(ratio: f64) -> String {
    format!("{}x", ratio_digits(ratio))
}

/// `2.1x slower`, `1.9x faster` than what ours is divided by.
pub(crate) fn faster_or_slower(ratio: f64) -> String {
    match ratio {
        r if r >= ALIKE => format!("{} slower", ratio_text(r)),
        r if 1.0 / r >= ALIKE => format!("{} faster", ratio_text(1.0 / r)),
        _ => "the same".into(),
    }
}

/// What is less than this apart reads as 1.0x.
const ALIKE: f64 = 1.05;

pub(super) fn ratio_digits(ratio: f64) -> String {
    match ratio.abs() {
        r if r >= 9_999.5 => format!("{ratio:.0e}"),
        r if r >= 100.0 => format!("{ratio:.0}"),
        r if r >= 0.995 => format!("{ratio:.1}"),
        r if r >= 0.01 => format!("{ratio:.2}"),
        r if r >= 0.001 => format!("{ratio:.3}"),
        _ => "<0.001".into(),
    }
}

/// An interval in GHz from one in ns a cycle.
pub(super) fn clock(cycle_ns: &Interval) -> String {
    figure_in_unit(cycle_ns, &Unit::Frequency).number_and_half().join(" ")
}

/// A stretch of time in words for headers: `31.2 s`.
pub(in crate::render) fn elapsed(ms: u64) -> String {
    format!("{:.1} s", ms as f64 / 1e3)
}

/// A ratio with as many digits as its interval supports, three behind the
/// point at most.
pub(crate) fn digits(ratio: f64, half: f64) -> String {
    if ratio >= 1000.0 {
        // So wide that the figure itself means nothing.
        return ">1000".into();
    }
    match half > 0.0 && half.is_finite() && (0.01..100.0).contains(&ratio) {
        // One digit more than the half width's first: the ends must show
        // which side of 1 they are on.
        true => {
            let places = (1 - magnitude(half)).clamp(1, 3) as usize;
            format!("{ratio:.places$}")
        }
        false => ratio_digits(ratio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use compare::references::References;
    use model::synthetic;

    #[test]
    fn a_ratio_of_another_librarys_code_is_marked() {
        let references = References::embedded().expect("references");
        let table = references.find("mac-pro-2013").expect("a table");
        let of_objc = |row: &&ReferenceRow| row.id.starts_with("objc.") && row.comparable();
        let published = table.rows.iter().find(of_objc).expect("Ash's figures");
        let mut run = synthetic::run();
        let row =
            Row { id: published.id.clone(), ..run.row("cpu.add_i32").expect("a row").clone() };
        let estimate = row.estimate().expect("a figure");
        let ratio = |run: &Run| {
            let cell = versus(run, &row, estimate, table);
            let (_, words) = cell.split_once(" ns").expect("a figure and words");
            words.trim().to_owned()
        };
        let gnustep = ratio(&run);
        assert!(gnustep.ends_with(" faster") || gnustep.ends_with(" slower"), "{gnustep}");
        run.program.target = "aarch64-apple-darwin".into();
        assert_eq!(gnustep, format!("~{}", ratio(&run)));
    }

    #[test]
    fn ratios_say_which_way() {
        let texts = [2.06, 1.04, 0.96, 0.5, 156.0].map(faster_or_slower);
        let expected = ["2.1x slower", "the same", "the same", "2.0x faster", "156x slower"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn one_nanosecond_is_one_second() {
        let texts: Vec<String> = [0.412, 1.4, 100.0, 5_000.0, 129_600.0, 1e8].map(human).to_vec();
        assert_eq!(texts, ["0.41 s", "1.4 s", "1.7 min", "1.4 h", "1.5 d", "3.2 y"]);
    }

    #[test]
    fn operations_per_frame() {
        assert_eq!((human(-3_140.0), frames(-3_140.0)), (String::new(), String::new()));
        assert_eq!(frames(3.61), "4.6 M");
        assert_eq!(frames(0.01), "1.7 G");
        assert_eq!(frames(1e6), "17");
        assert_eq!(frames(1e9), "0.017");
        assert_eq!(frames(-1.0), "");
    }

    #[test]
    fn published_figures_gain_no_digits() {
        let of = |ns| published(&ReferenceRow { ns: Some(ns), ..ReferenceRow::default() });
        assert_eq!([of(0.5), of(100.0), of(250_000.0)], ["0.5 ns", "100 ns", "250 µs"]);
        assert_eq!(of(104_137_671.1), "104 ms");
    }

    #[test]
    fn ratios_have_two_or_three_digits() {
        let texts = [0.0001, 0.0012, 0.5234, 0.999, 14.24, 1234.5, 571_013.0].map(ratio_digits);
        assert_eq!(texts, ["<0.001", "0.001", "0.52", "1.0", "14.2", "1234", "6e5"]);
    }
}
