//! The exchange rate of costs: every operation of a run in the time of one of them.

use super::{Block, Cell, Table, left, right};
use crate::estimate::{Estimate, Verdict};
use crate::figure::{number_of_digits, time};
use crate::overview::{OPERATIONS, Topic, overview_lines};
use crate::run::{Outcome, Row, Run};
use crate::stats::Interval;
use crate::unit::Unit;

/// Operations in the order of preference as the unit where none was chosen.
const UNITS: [&str; 3] = ["memory.latency/L1", "cpu.add_i64", "call.syscall"];
/// A smaller share of a unit is said the other way round.
const SHARE: f64 = 0.1;
/// Half of an interval below this share is not said: the digits say it.
const SAID: f64 = 0.01;

/// Operations with their times, and the one that is the unit.
#[derive(Clone, Debug, PartialEq)]
pub struct ExchangeRate {
    /// Well-known operations, the cheapest first, then all other rows that are times.
    pub lines: Vec<RateLine>,
    /// Which is the unit; `None` where none has a time that can be divided by.
    pub unit: Option<usize>,
    /// Rows that are no time of one operation: curves, maps, speeds, counts.
    pub left_out: usize,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub struct RateLine {
    /// Its row, with the mode where it ran in several: what names it.
    pub key: String,
    /// What it is.
    pub words: String,
    /// What it is mostly about; `None` of rows that are not well known.
    pub topic: Option<Topic>,
    /// Its time in this run, ns.
    pub ns: Option<Interval>,
    /// How far to trust it; `None` where it is not available.
    pub verdict: Option<Verdict>,
    /// Why it has no time, or why that is uncertain.
    pub reason: String,
}

impl RateLine {
    /// A time that can be divided and divided by.
    pub fn usable(&self) -> Option<Interval> {
        let is_known =
            self.verdict.is_some_and(|v| !matches!(v, Verdict::CannotTell | Verdict::Invalid));
        self.ns.filter(|ns| is_known && ns.low > 0.0 && ns.value.is_finite() && ns.high.is_finite())
    }

    /// Whether it has a time that is not to be relied on.
    pub fn is_uncertain(&self) -> bool {
        self.usable().is_some() && self.verdict != Some(Verdict::Ok)
    }

    /// Why it can't be the unit.
    pub fn why_not(&self) -> String {
        match (self.ns, self.verdict) {
            (Some(_), Some(Verdict::CannotTell | Verdict::Invalid)) | (None, _)
                if !self.reason.is_empty() =>
            {
                self.reason.clone()
            }
            (Some(_), Some(Verdict::CannotTell | Verdict::Invalid)) => {
                self.verdict.map_or(String::new(), |verdict| verdict.text().to_owned())
            }
            (Some(_), _) => "its interval reaches 0".to_owned(),
            (None, _) => "no figure".to_owned(),
        }
    }
}

impl ExchangeRate {
    /// That of a run.
    pub fn of_run(run: &Run) -> ExchangeRate {
        let known = overview_lines(run).into_iter().map(|line| {
            let estimate = line.row.estimate();
            let of_run = estimate.and_then(Estimate::ns_of_run).filter(|_| line.is_of_row());
            RateLine {
                key: match line.mode.filter(|_| !line.is_of_row()) {
                    Some(mode) => format!("{}@{mode}", line.row.id),
                    None => line.row.id.clone(),
                },
                words: line.words(),
                topic: Some(line.operation.topic),
                ns: of_run.or(line.ns),
                verdict: line.verdict,
                reason: reason(line.row),
            }
        });
        let mut lines: Vec<RateLine> = known.collect();
        lines.sort_by(|a, b| cost_ns(a).total_cmp(&cost_ns(b)));
        let is_known = |row: &&Row| OPERATIONS.iter().any(|operation| operation.row == row.id);
        let others = run.rows.iter().filter(|row| !is_known(row) && row.unit == Unit::Time);
        let others = others
            .filter(|row| !matches!(row.outcome, Outcome::Curve { .. } | Outcome::Map { .. }));
        let before = lines.len();
        lines.extend(others.map(|row| {
            let estimate = row.estimate();
            let above = estimate.filter(|estimate| estimate.below_ns.is_none());
            RateLine {
                key: row.id.clone(),
                words: row.id.clone(),
                topic: None,
                ns: above.and_then(Estimate::ns_of_run),
                verdict: estimate.map(|estimate| estimate.verdict),
                reason: reason(row),
            }
        }));
        let others = lines.len() - before;
        let known = run.rows.iter().filter(is_known).count();
        let place = |id: &&str| lines.iter().position(|l| l.key == **id && l.usable().is_some());
        let usual = UNITS.iter().find_map(place);
        let unit = usual.or_else(|| lines.iter().position(|line| line.usable().is_some()));
        let left_out = run.rows.len() - known.min(run.rows.len()) - others;
        ExchangeRate { lines, unit, left_out }
    }

    /// How many of the unit take as long as this operation.
    pub fn count(&self, line: &RateLine) -> Option<Interval> {
        let unit = self.lines.get(self.unit?)?;
        match unit.key == line.key {
            // Of itself, whatever it takes.
            true => line.usable().map(|_| Interval::about(1.0, 0.0)),
            false => line.usable()?.over(&unit.usable()?),
        }
    }

    /// How many lines are of well-known operations; of a run without them, all.
    pub fn shown(&self) -> usize {
        match self.lines.iter().filter(|line| line.topic.is_some()).count() {
            0 => self.lines.len(),
            known => known,
        }
    }

    /// As a table without a choice.
    pub fn table(&self) -> Table {
        let unit = self.unit.map_or("", |unit| &self.lines[unit].words);
        let mut table = Table::new([
            left("operation"),
            right("time"),
            right(format!("x {unit}")),
            right("±"),
            left(""),
        ]);
        for line in &self.lines[..self.shown()] {
            let count = self.count(line);
            table.row([
                Cell::from(line.words.as_str()),
                Cell::from(line.ns.map_or("-".to_owned(), |ns| time(ns.value))),
                Cell::from(count.map_or("-".to_owned(), |count| count_text(&count))),
                Cell::from(count.map_or(String::new(), |count| half_text(&count))),
                Cell::from(
                    line.verdict.filter(|&v| v != Verdict::Ok).map_or("", |verdict| verdict.text()),
                ),
            ]);
        }
        table
    }
}

/// The block of a run.
pub fn story(run: &Run) -> Vec<Block> {
    vec![Block::Rates(Box::new(ExchangeRate::of_run(run)))]
}

fn cost_ns(line: &RateLine) -> f64 {
    line.ns.map_or(f64::INFINITY, |ns| ns.value)
}

fn reason(row: &Row) -> String {
    match (&row.outcome, row.estimate()) {
        (Outcome::Unavailable { reason }, _) => format!("not available here: {reason}"),
        (_, Some(estimate)) => match estimate.below_ns {
            Some(ns) => format!("below resolution: less than {}", time(ns)),
            None => estimate.reason.clone(),
        },
        _ => String::new(),
    }
}

/// `2.13 million`, `616`, `1/12.3 thousand`: three digits, fewer where the interval supports fewer.
pub fn count_text(count: &Interval) -> String {
    if count.value < SHARE && count.value > 0.0 {
        let relative = count.relative_half_width();
        let inverse = Interval::about(1.0 / count.value, relative / count.value);
        return format!("1/{}", count_text(&inverse));
    }
    if count.value == 1.0 && count.half_width() == 0.0 {
        return "1".into();
    }
    const SCALES: [(f64, &str); 3] = [(1e9, " billion"), (1e6, " million"), (1e3, " thousand")];
    // Up to ten thousand things are counted one by one.
    let fits = |(size, _): &&(f64, &str)| count.value >= size.max(1e4) * 0.9995;
    let (size, name) = SCALES.iter().find(fits).copied().unwrap_or((1.0, ""));
    format!("{}{name}", number_of_digits(count.value / size, count.half_width() / size))
}

/// `±8 %`; nothing where the digits of the count say it.
pub fn half_text(count: &Interval) -> String {
    let half = count.relative_half_width();
    if half < SAID { String::new() } else { format!("±{:.0} %", half * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{self, ok_outcome, row_of_times};

    fn of_rows(rows: &[(&str, f64, f64)]) -> Run {
        let mut run = synthetic::run();
        let of = |&(id, ns, half): &(&str, f64, f64)| row_of_times(id, ok_outcome(ns, half));
        run.rows = rows.iter().map(of).collect();
        run
    }

    const ROWS: [(&str, f64, f64); 4] = [
        ("memory.latency/L1", 1.25, 0.0005),
        ("cpu.add_i64", 0.25, 0.0002),
        ("file.write_durable/16B", 2_650_000.0, 212_000.0),
        ("io.own", 5.0, 0.001),
    ];

    #[test]
    fn every_operation_in_the_time_of_the_unit() {
        let mut rate = ExchangeRate::of_run(&of_rows(&ROWS));
        let keys: Vec<&str> = rate.lines.iter().map(|line| line.key.as_str()).collect();
        assert_eq!(keys, ["cpu.add_i64", "memory.latency/L1", "file.write_durable/16B", "io.own"]);
        assert_eq!((rate.unit, rate.shown(), rate.left_out), (Some(1), 3, 0));
        let texts = |rate: &ExchangeRate| -> Vec<String> {
            let texts = rate.lines.iter().map(|line| {
                rate.count(line)
                    .map_or("-".into(), |n| format!("{} {}", count_text(&n), half_text(&n)))
            });
            texts.map(|text| text.trim_end().to_owned()).collect()
        };
        assert_eq!(texts(&rate), ["0.200", "1", "2.1 million ±8 %", "4.00"]);
        let fsync = rate.count(&rate.lines[2]).expect("a count");
        assert!((fsync.value - 2_650_000.0 / 1.25).abs() < 1e-6);
        assert!((fsync.relative_half_width() - 0.08_f64.hypot(0.0004)).abs() < 1e-12);
        rate.unit = Some(2);
        assert_eq!(
            texts(&rate),
            ["1/10.6 million ±8 %", "1/2.1 million ±8 %", "1", "1/530 thousand ±8 %"]
        );
    }

    #[test]
    fn a_run_without_a_figure_has_no_unit() {
        for run in [of_rows(&[]), of_rows(&[("cpu.add_i64", -1.0, 2.0)])] {
            let rate = ExchangeRate::of_run(&run);
            assert_eq!(rate.unit, None);
            assert!(
                rate.lines
                    .iter()
                    .all(|line| rate.count(line).is_none() && !line.why_not().is_empty())
            );
        }
        let mut run = of_rows(&ROWS);
        for verdict in [Verdict::CannotTell, Verdict::Invalid] {
            for row in run.rows.iter_mut() {
                let Outcome::Figure(estimate) = &mut row.outcome else { panic!("a figure") };
                estimate.verdict = verdict;
            }
            assert_eq!(ExchangeRate::of_run(&run).unit, None);
        }
    }

    #[test]
    fn a_unit_below_resolution_is_none() {
        let mut run = of_rows(&ROWS);
        let Outcome::Figure(estimate) = &mut run.rows[0].outcome else { panic!("a figure") };
        estimate.below_ns = Some(0.3);
        let rate = ExchangeRate::of_run(&run);
        let line =
            rate.lines.iter().find(|line| line.key == "memory.latency/L1").expect("the line");
        assert_eq!(
            (line.usable(), line.why_not()),
            (None, "below resolution: less than 0.300 ns".to_owned())
        );
        assert_eq!(rate.lines[rate.unit.expect("another")].key, "cpu.add_i64");
    }

    #[test]
    fn counts_are_words_of_three_digits() {
        let text = |value: f64, half: f64| count_text(&Interval::about(value, half));
        assert_eq!(text(616.04, 0.1), "616");
        assert_eq!(text(9_994.0, 0.1), "9990");
        assert_eq!(text(12_345.0, 0.1), "12.3 thousand");
        assert_eq!(text(2_134_000.0, 200_000.0), "2.1 million");
        assert_eq!(text(7.2e9, 1.0), "7.20 billion");
        assert_eq!(text(0.5, 0.001), "0.500");
        assert_eq!(text(1.0 / 4096.0, 1e-9), "1/4100");
    }
}
