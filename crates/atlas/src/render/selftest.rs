//! What a machine could tell now, as text.

use super::COLUMNS;
use super::comparison::brief;
use super::layout::{Grid, Style, finish, left, right, wrap};
use crate::compare::selftest::{Detectable, SelfTest};

/// Sizes of change that the verdict counts rows for.
const SIZES: [f64; 5] = [0.01, 0.02, 0.05, 0.10, 0.20];

/// The table of what each row could detect, and the machine's verdict.
pub fn selftest(test: &SelfTest, color: bool) -> String {
    let mut grid = Grid::default();
    let heading = ["one run ±", "sets differ", "alone", "among all"];
    let mut line = vec![left("row")];
    line.extend(heading.map(right));
    line.push(left(""));
    grid.entries(line);
    for row in &test.rows {
        let remark = remark(row, test);
        let remark = match remark.is_empty() {
            true => left(""),
            false => left(remark).in_style(style(row)),
        };
        grid.entries(vec![
            left(row.row.clone()),
            right(row.half_width.map_or(String::new(), percent)),
            right(row.sets_differ.map_or(String::new(), percent)),
            right(row.alone.map_or("-".into(), percent)),
            right(row.among_all.map_or("-".into(), percent)),
            remark,
        ]);
    }
    let mut lines = Vec::new();
    let mut say = |text: &str| lines.extend(wrap("", text, COLUMNS));
    say(&verdict(test));
    say(&alarms(test));
    say(&format!(
        "Smallest change between two single runs that is found in {:.0} % of cases at a two-sided \
         level of {:.0} %, once these sets are kept (--keep; a comparison knows less without \
         them): alone, if only this row is watched; among all, if it is the one of {} \
         rows that changed (level over their number, as the first step of the correction). one run \
         ±: half of its own 95 % interval; sets differ: standard deviation of {} sets. Where sets \
         are few, what runs are assumed to differ by counts beside (docs/compare.md).",
        test.power * 100.0,
        test.level * 100.0,
        test.among,
        test.order.len()
    ));
    finish(
        &format!("{}\n{}\n", grid.render(2), lines.join("\n")),
        color,
    )
}

fn verdict(test: &SelfTest) -> String {
    let told: Vec<String> = SIZES
        .iter()
        .map(|&size| (size, test.tell(size)))
        .filter(|&(_, rows)| rows > 0)
        .map(|(size, rows)| format!("{:.0} % on {rows}", size * 100.0))
        .collect();
    let all = test.rows.len();
    match told.is_empty() {
        true => {
            format!("This machine can tell no change of 20 % or less now, on none of {all} rows.")
        }
        false => format!(
            "Of {all} rows this machine can tell now: {}.",
            told.join(", ")
        ),
    }
}

fn alarms(test: &SelfTest) -> String {
    let c = &test.comparison;
    let of = format!(
        "sets {} of the same machine, {} rows",
        test.order,
        c.rows.len()
    );
    match test.false_alarms.as_slice() {
        [] => format!(
            "False alarms: none ({of}; expected at most {:.0} % of the time: any).",
            test.level * 100.0
        ),
        some => format!(
            "FALSE ALARMS: {} called different ({of}): something changed while it was measured, and \
             comparisons made now are not to be relied on.",
            some.join(", ")
        ),
    }
}

fn remark(row: &Detectable, test: &SelfTest) -> String {
    if test.false_alarms.contains(&row.row) {
        return "FALSE ALARM".into();
    }
    // The reason's own figures stand in the document.
    let why = row
        .why
        .iter()
        .map(|why| format!(" {why}"))
        .collect::<Vec<_>>();
    brief(&why).unwrap_or_default().to_owned()
}

fn style(row: &Detectable) -> Style {
    match row.alone {
        Some(size) if size <= 0.05 => Style::Good,
        Some(_) => Style::Doubtful,
        None => Style::Bad,
    }
}

/// A share in percent: two digits, and never rounded down to nothing.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        v if !v.is_finite() => "?".into(),
        v if v >= 1000.0 => "> 1000 %".into(),
        v if v >= 9.95 => format!("{v:.0} %"),
        v if v >= 0.995 => format!("{v:.1} %"),
        v if v >= 0.01 => format!("{v:.2} %"),
        v if v > 0.0 => "< 0.01 %".into(),
        _ => "0 %".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::selftest as judged;
    use crate::render::{layout, synthetic};

    fn test(factors: [f64; 4]) -> SelfTest {
        let sets: Vec<_> = "ABBA"
            .chars()
            .zip(factors)
            .map(|(letter, f)| {
                (
                    letter,
                    synthetic::slower(&synthetic::run(), "cpu.add_i32", f),
                )
            })
            .collect();
        judged::selftest(&sets, 0.05).expect("sets")
    }

    #[test]
    fn the_table_of_a_selftest() {
        let text = selftest(&test([1.0, 1.01, 0.99, 1.0]), false);
        assert!(text.contains("once these sets are kept (--keep"), "{text}");
        insta::assert_snapshot!(text);
        let widest = text.lines().map(layout::width).max();
        assert!(widest <= Some(COLUMNS), "{widest:?} columns");
    }

    #[test]
    fn a_false_alarm_is_not_overlooked() {
        let text = selftest(&test([1.0, 1.5, 1.5, 1.0]), false);
        assert!(
            text.contains("FALSE ALARMS: cpu.add_i32 called different"),
            "{text}"
        );
    }

    #[test]
    fn shares_are_set_with_two_digits() {
        let texts = [
            0.0,
            0.000_01,
            0.001_234,
            0.012_34,
            0.1234,
            1.5,
            20.0,
            f64::INFINITY,
        ]
        .map(percent);
        let expected = [
            "0 %", "< 0.01 %", "0.12 %", "1.2 %", "12 %", "150 %", "> 1000 %", "?",
        ];
        assert_eq!(texts, expected);
    }
}
