//! What a machine could tell now, as text.

use crate::chart::{Chart, of_comparison};
use compare::obstacle::brief;
use compare::selftest::{Detectable, SelfTest};
use model::share::{limit, percent};
use model::story::{Block, Cell, Table, Tone, left, right};

/// Sizes of change that the verdict counts rows for.
const SIZES: [f64; 5] = [0.01, 0.02, 0.05, 0.10, 0.20];

/// The table of what each row could detect, and the machine's verdict.
pub(super) fn selftest(test: &SelfTest) -> Vec<Block> {
    let mut table = Table::new([
        left("row"),
        right("one run ±"),
        right("sets differ"),
        right("alone"),
        right("among all"),
        left(""),
    ]);
    for row in &test.rows {
        let share = |share: Option<f64>, none: &str| share.map_or(none.into(), percent).into();
        table.row([
            row.row.as_str().into(),
            share(row.half_width, ""),
            share(row.sets_differ, ""),
            share(row.alone, "-"),
            share(row.among_all, "-"),
            Cell::from(remark(row, test)).toned(tone(row)),
        ]);
    }
    let legend = format!(
        "alone: the smallest change between two single runs that is detected in {} of cases at \
         a two-sided level of {}, if only this row is watched; among all: if it is the one of \
         {} rows that changed (level over their number, the first step of the correction). Both \
         hold once these sets are kept (--keep). one run ±: half of its own 95 % interval; sets \
         differ: standard deviation of {} sets. With few sets the assumed variation between runs \
         counts too (`latlas help compare`).",
        limit(test.power),
        limit(test.level),
        test.among,
        test.order.len()
    );
    let chart = of_comparison(&test.comparison, &test.comparison.rows);
    let chart = Block::chart(Chart { id: "selftest".into(), ..chart });
    vec![
        Block::text(verdict(test)),
        Block::text(alarms(test)),
        Block::empty_line(),
        chart,
        Block::empty_line(),
        Block::Table(table),
        Block::empty_line(),
        Block::text(legend),
    ]
}

fn verdict(test: &SelfTest) -> String {
    let told: Vec<String> = SIZES
        .iter()
        .map(|&size| (size, test.detecting(size)))
        .filter(|&(_, rows)| rows > 0)
        // A size that no more rows detect says nothing new.
        .scan(0, |before, (size, rows)| Some((size, rows, rows > std::mem::replace(before, rows))))
        .filter_map(|(size, rows, is_more)| is_more.then_some((size, rows)))
        .map(|(size, rows)| format!("{} on {rows} rows", limit(size)))
        .collect();
    let all = test.rows.len();
    match told.is_empty() {
        true => {
            format!("No change of 20 % or less is detectable on any of {all} rows.")
        }
        false => format!("Smallest detectable change (of {all} rows): {}.", told.join(", ")),
    }
}

fn alarms(test: &SelfTest) -> String {
    let c = &test.comparison;
    let of = format!("sets {} of the same machine, {} rows", test.order, c.rows.len());
    match test.false_alarms.as_slice() {
        [] => format!(
            "False alarms: none ({of}; expected in at most {} of tests).",
            limit(test.level)
        ),
        some => format!(
            "FALSE ALARMS: {} called different ({of}): something changed during the measurement; don't \
             rely on comparisons made now.",
            some.join(", ")
        ),
    }
}

fn remark(row: &Detectable, test: &SelfTest) -> String {
    if test.false_alarms.contains(&row.row) {
        return "FALSE ALARM".into();
    }
    brief(&row.why).unwrap_or_default().to_owned()
}

fn tone(row: &Detectable) -> Tone {
    match row.alone {
        Some(size) if size <= 0.05 => Tone::Good,
        Some(_) => Tone::Doubtful,
        None => Tone::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{COLUMNS, layout, plain};
    use compare::selftest as judged;
    use model::synthetic;

    fn test(factors: [f64; 4]) -> SelfTest {
        let sets: Vec<_> = "ABBA"
            .chars()
            .zip(factors)
            .map(|(letter, f)| (letter, synthetic::slower(&synthetic::run(), "cpu.add_i32", f)))
            .collect();
        judged::selftest(&sets, 0.05).expect("sets")
    }

    #[test]
    fn the_table_of_a_selftest() {
        let text = plain(&selftest(&test([1.0, 1.01, 0.99, 1.0])));
        assert!(text.contains("once these sets are"), "{text}");
        insta::assert_snapshot!(text);
        let widest = text.lines().map(layout::width).max();
        assert!(widest <= Some(COLUMNS), "{widest:?} columns");
    }

    #[test]
    fn a_false_alarm_is_not_overlooked() {
        let text = plain(&selftest(&test([1.0, 1.5, 1.5, 1.0])));
        assert!(text.contains("FALSE ALARMS: cpu.add_i32 called different"), "{text}");
    }
}
