//! `thread.lifecycle`: the phases of one thread's life, and whether they add up
//! to what the thread costs as a whole.

use super::{Block, Cell, Table, left, right};
use crate::compare::finding;
use crate::estimate::{CANNOT_TELL_ABOVE, Estimate, Verdict};
use crate::figure::{half_at, magnitude, time, time_scale};
use crate::run::Run;
use crate::stats::{self, Interval};

/// The probe.
pub const PROBE: &str = "thread.lifecycle";
/// The phases in the order of a life; each begins where the one before ended.
pub const PHASES: [&str; 5] = ["create", "start", "procedure", "end", "join"];
/// The phase that the thread is for: not a cost of the thread.
const PROCEDURE: usize = 2;
/// Characters of the bars.
const WIDTH: usize = 64;

/// The phases to scale and the check of their sum; empty where a phase was not
/// measured.
pub fn story(run: &Run) -> Vec<Block> {
    let phases = phases(run);
    if phases.len() < PHASES.len() {
        return Vec::new();
    }
    let mut story = vec![
        Block::Heading(format!("{PROBE}: the life of one thread, to scale (medians)")),
        Block::Table(picture(&phases.iter().map(|(_, ns)| *ns).collect::<Vec<_>>())),
    ];
    story.extend(conclusions(run).into_iter().map(Block::note));
    story
}

/// A bar for each phase, beginning where the one before ended.
fn picture(phases: &[Interval]) -> Table {
    let spans = spans(phases);
    let from = spans.iter().map(|s| s.0.min(s.1)).fold(0.0, f64::min);
    let to = spans.iter().map(|s| s.0.max(s.1)).fold(0.0, f64::max);
    let share = |ns: f64| {
        if to > from { (ns - from) / (to - from) } else { 0.0 }
    };
    let mut table = Table::new([left(""), right(""), left("")]);
    for ((name, ns), (begin, end)) in PHASES.iter().zip(phases).zip(spans) {
        table.row([
            format!("  {name}").into(),
            Cell::time(Some(*ns)),
            Cell::bar(share(begin), share(end), WIDTH),
        ]);
    }
    table
}

/// Begin and end of each phase, ns from the beginning of the first.
fn spans(phases: &[Interval]) -> Vec<(f64, f64)> {
    let mut now = 0.0;
    let spans = phases.iter().map(|ns| {
        let begin = now;
        now += ns.value;
        (begin, now)
    });
    spans.collect()
}

fn row_figure<'r>(run: &'r Run, name: &str) -> Option<(&'r Estimate, Interval)> {
    let estimate = run.row(&format!("{PROBE}/{name}"))?.estimate()?;
    Some((estimate, estimate.ns()?))
}

fn phases(run: &Run) -> Vec<(&Estimate, Interval)> {
    PHASES.iter().filter_map(|name| row_figure(run, name)).collect()
}

/// What follows from the phases, in sentences; empty where one is missing.
pub fn conclusions(run: &Run) -> Vec<String> {
    let phases = phases(run);
    if phases.len() < PHASES.len() {
        return Vec::new();
    }
    let figures: Vec<Interval> = phases.iter().map(|(_, ns)| *ns).collect();
    let mut texts = Vec::new();
    texts.extend((figures[1].value < 0.0).then(|| negative_start(&figures[1])));
    let (sum, whole) = (row_figure(run, "parts"), row_figure(run, "overhead"));
    let Some((whole_estimate, whole)) = whole else {
        return texts;
    };
    let names = PHASES.iter().copied().chain(["parts", "overhead"]);
    let estimates = phases.iter().map(|(e, _)| Some(*e));
    let estimates = estimates.chain([sum.map(|(e, _)| e), Some(whole_estimate)]);
    let invalid =
        names.zip(estimates).find(|(_, e)| e.is_some_and(|e| e.verdict == Verdict::Invalid));
    match invalid {
        Some((name, _)) => texts.push(format!("Sum not checked: {name} is invalid.")),
        None => {
            texts.push(Sum::from_phases(sum.map(|(_, ns)| ns), &figures, whole).sum_text());
            texts.push(procedures(&figures[PROCEDURE], inline_ns(run)));
        }
    }
    texts
}

fn negative_start(start: &Interval) -> String {
    let doubt = if start.excludes_zero() { "" } else { " (not distinguishable from 0)" };
    format!(
        "start is negative{doubt}: the thread typically ran {} before the create call returned.",
        time(-start.value)
    )
}

/// Median of the procedure run inline, ns: the first stamp of each operation
/// of /overhead.
fn inline_ns(run: &Run) -> Option<f64> {
    let id = format!("{PROBE}/overhead");
    let cell = run.cells.with_id(&id).next()?;
    let ticks = cell.samples.first_ticks.iter().map(|&t| t as f64);
    Some(stats::median(ticks)? * run.clock.ns_per_tick)
}

/// What the two sides of the check are known to differ by.
fn procedures(threaded: &Interval, inline_ns: Option<f64>) -> String {
    let in_brackets = |ns: f64| format!(" ({})", time(ns));
    let threaded = inline_ns.map_or(String::new(), |_| in_brackets(threaded.value));
    let inline = inline_ns.map_or(String::new(), in_brackets);
    format!(
        "The first excludes the procedure as run in the thread{threaded}, the second subtracts it \
         as run inline{inline}."
    )
}

/// What a thread costs besides its procedure: by its own stamps, and by the
/// whole less the procedure run inline, which was measured separately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// Create, start, end and join, ns.
    pub phases: Interval,
    /// Whether `phases` were added up life by life; else they are the sum of
    /// the medians, which is not the median of the sum.
    pub of_each_life: bool,
    /// The whole less the procedure run inline, ns.
    pub whole: Interval,
}

impl Sum {
    fn from_phases(each_life: Option<Interval>, phases: &[Interval], whole: Interval) -> Sum {
        let costs = phases.iter().enumerate().filter(|&(k, _)| k != PROCEDURE);
        let medians = costs.fold(Interval::about(0.0, 0.0), |sum, (_, ns)| sum.plus(ns));
        Sum { phases: each_life.unwrap_or(medians), of_each_life: each_life.is_some(), whole }
    }

    /// By how much both sides differ, and whether they do.
    pub fn compare_sides(&self) -> (Interval, finding::Verdict) {
        let apart = self.phases.minus(&self.whole);
        (apart, finding::Verdict::of_difference(&apart, CANNOT_TELL_ABOVE * self.whole.value.abs()))
    }

    fn sum_text(&self) -> String {
        let both = [&self.phases, &self.whole];
        let [phases, whole] = both.map(|ns| precise(&both, ns.value, ns.half_width()));
        let name = match self.of_each_life {
            true => "create + start + end + join of each life",
            false => "medians of create + start + end + join",
        };
        let answer = match self.compare_sides() {
            (_, finding::Verdict::SameWithinNoise) => "they agree".to_owned(),
            (apart, finding::Verdict::Different) => format!(
                "they differ by {}, significantly",
                precise(&both, apart.value.abs(), apart.half_width())
            ),
            (_, finding::Verdict::CannotTell) => "intervals too wide to compare".to_owned(),
        };
        format!("{name} = {phases}; total minus the procedure run inline = {whole}: {answer}.")
    }
}

/// A figure to be compared with others: in their common unit, with one more
/// digit than usual, so that the difference is seen.
fn precise(all: &[&Interval], value: f64, half: f64) -> String {
    let most = all.iter().map(|i| i.value.abs()).fold(0.0, f64::max);
    let (scale, unit) = time_scale(most);
    let halves = all.iter().map(|i| i.half_width() / scale);
    let narrowest = halves.fold(f64::INFINITY, f64::min);
    let places = match narrowest.is_finite() && narrowest > 0.0 {
        true => (1 - magnitude(narrowest)).clamp(0, 2) as usize,
        false => 2,
    };
    format!("{:.places$} {unit} ±{:.places$}", value / scale, half_at(half / scale, places))
}

#[cfg(test)]
mod tests {
    use super::super::{Row, Value};
    use super::*;
    use crate::run::Outcome;
    use crate::synthetic::{self, stamped_figure};

    /// 40 - 4 + 20 + 10 = 66 µs besides the procedure's 100. Half of the sum:
    /// the root of 1.2² + 0.3² + 1.6² + 0.1² is 2.02.
    fn figures() -> [Interval; 5] {
        [(40e3, 1.2e3), (-4e3, 0.3e3), (100e3, 9e3), (20e3, 1.6e3), (10e3, 0.1e3)]
            .map(|(value, half)| Interval::about(value, half))
    }

    fn sum(whole: f64, half: f64) -> Sum {
        Sum::from_phases(None, &figures(), Interval::about(whole, half))
    }

    #[test]
    fn phases_and_whole_agree_within_both_intervals() {
        let agree = sum(68.4e3, 1.5e3);
        assert_eq!(agree.compare_sides().1, finding::Verdict::SameWithinNoise);
        assert_eq!(
            agree.sum_text(),
            "medians of create + start + end + join = 66.0 µs ±2.1; total minus the procedure run \
             inline = 68.4 µs ±1.5: they agree."
        );
        // With 1.5 of the whole half of the difference is 2.52.
        assert_eq!(sum(68.6e3, 1.5e3).compare_sides().1, finding::Verdict::Different);
        let text = sum(60e3, 1.5e3).sum_text();
        assert!(text.ends_with("they differ by 6.0 µs ±2.6, significantly."), "{text}");
        assert_eq!(sum(60e3, 30e3).compare_sides().1, finding::Verdict::CannotTell);
        let mut long = figures();
        long[PROCEDURE] = Interval::about(5e6, 1e6);
        let whole = Interval::about(66e3, 1.5e3);
        assert_eq!(
            Sum::from_phases(None, &long, whole).compare_sides().1,
            finding::Verdict::SameWithinNoise
        );
    }

    #[test]
    fn the_sum_per_life_precedes_the_sum_of_medians() {
        let each_life = Some(Interval::about(75e3, 1e3));
        let sum = Sum::from_phases(each_life, &figures(), Interval::about(68.4e3, 1.5e3));
        let (apart, finding::Verdict::Different) = sum.compare_sides() else {
            panic!("a difference");
        };
        assert!((apart.value - 6.6e3).abs() < 1e-6 && (apart.half_width() - 1.8e3).abs() < 5.0);
        let mut run = synthetic::run();
        let first = |run: &Run| conclusions(run)[1].clone();
        assert!(first(&run).starts_with("create + start + end + join of each life = 54.9 µs"));
        run.rows.retain(|row| row.id != "thread.lifecycle/parts");
        assert!(first(&run).starts_with("medians of create"));
    }

    #[test]
    fn conclusions_are_drawn_of_a_whole_and_valid_life() {
        let mut run = synthetic::run();
        let texts = conclusions(&run);
        assert!(texts[0].starts_with("start is negative: the thread typically ran 3.10 µs"));
        assert!(texts[2].contains("thread (121 µs)") && texts[2].contains("inline (118 µs)"));
        assert!(negative_start(&Interval::about(-100.0, 200.0)).contains("not distinguishable"));
        run.cells.clear();
        assert!(conclusions(&run)[2].contains("run in the thread, the second"));
        for name in ["end", "parts", "overhead"] {
            let mut run = synthetic::run();
            let id = format!("{PROBE}/{name}");
            let row = run.rows.iter_mut().find(|row| row.id == id);
            row.expect("the row").outcome =
                Outcome::Figure(Estimate { verdict: Verdict::Invalid, ..stamped_figure(1.0, 0.1) });
            let said = format!("Sum not checked: {name} is invalid.");
            assert!(conclusions(&run).contains(&said));
        }
        run.rows.retain(|row| row.id != "thread.lifecycle/overhead");
        assert_eq!(conclusions(&run).len(), 1);
        run.rows.retain(|row| row.id != "thread.lifecycle/join");
        assert_eq!(story(&run), []);
    }

    #[test]
    fn each_phase_begins_where_the_one_before_ended() {
        let expected = [(0.0, 40e3), (40e3, 36e3), (36e3, 136e3), (136e3, 156e3), (156e3, 166e3)];
        assert_eq!(spans(&figures()), expected);
    }

    #[test]
    fn bars_reach_from_the_earliest_moment_to_the_latest() {
        let ends = |phases: [f64; 5]| -> Vec<[f64; 2]> {
            let rows = picture(&phases.map(|ns| Interval::about(ns, 0.0))).rows;
            let bar = |row: &Row| match row {
                Row::Cells(cells) => match cells[2].value {
                    Value::Bar { from, to, .. } => [from, to],
                    _ => panic!("{row:?}"),
                },
                Row::Note(_) => panic!("{row:?}"),
            };
            rows.iter().map(bar).collect()
        };
        let bars = ends([10.0, 30.0, 20.0, 30.0, 10.0]);
        assert_eq!(bars, [[0.0, 0.1], [0.1, 0.4], [0.4, 0.6], [0.6, 0.9], [0.9, 1.0]]);
        // A start that was seen before its own creation.
        let bars = ends([-4.0, 8.0, 4.0, 4.0, 4.0]);
        assert_eq!(bars[..2], [[0.2, 0.0], [0.0, 0.4]]);
    }
}
