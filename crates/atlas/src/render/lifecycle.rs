//! What `thread.lifecycle` is measured for: one thread's life part by part,
//! and whether the parts come to what the thread costs as a whole.

use super::COLUMNS;
use super::figures::time_with_half;
use super::intervals::{difference, differs_from_nothing, sum};
use super::layout::{Grid, left, right, wrap};
use model::estimate::{CANNOT_TELL_ABOVE, Estimate, Verdict};
use model::figure::{time, time_scale};
use model::run::Run;
use model::stats::{self, Interval};

pub(crate) const PROBE: &str = "thread.lifecycle";
/// In the order of a life; each begins where the one before ended.
pub(crate) const PARTS: [&str; 5] = ["create", "start", "procedure", "end", "join"];
/// The part that the thread is for: not a cost of the thread.
const PROCEDURE: usize = 2;
/// Cells of the picture.
const WIDE: usize = 64;

/// The block; empty where a part was not measured.
pub(super) fn lifecycle(run: &Run) -> String {
    let parts = parts(run);
    if parts.len() < PARTS.len() {
        return String::new();
    }
    let figures: Vec<Interval> = parts.iter().map(|(_, ns)| *ns).collect();
    let mut text = format!("{PROBE}: one thread's life, to scale, from median to median\n");
    text.push_str(&picture(&figures));
    for words in in_words(run) {
        for line in wrap("  ", &words, COLUMNS) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

/// The parts that have a figure, in their order.
fn parts(run: &Run) -> Vec<(&Estimate, Interval)> {
    let part = |name: &str| run.row(&format!("{PROBE}/{name}"))?.estimate();
    PARTS
        .iter()
        .filter_map(|name| part(name).and_then(|e| Some((e, e.ns()?))))
        .collect()
}

/// What is to be said of a life whose parts are all known: whether they come
/// to what the thread costs as a whole.
pub(crate) fn in_words(run: &Run) -> Vec<String> {
    let parts = parts(run);
    if parts.len() < PARTS.len() {
        return Vec::new();
    }
    let figures: Vec<Interval> = parts.iter().map(|(_, ns)| *ns).collect();
    let mut all = Vec::new();
    let mut say = |words: String| all.push(words);
    if figures[1].value < 0.0 {
        say(early(&figures[1]));
    }
    let figure = |name: &str| {
        let estimate = run.row(&format!("{PROBE}/{name}"))?.estimate()?;
        Some((estimate, estimate.ns()?))
    };
    let (added, whole) = (figure("parts"), figure("overhead"));
    let Some((whole_estimate, whole)) = whole else {
        return all;
    };
    let names = PARTS.iter().copied().chain(["parts", "overhead"]);
    let estimates = parts.iter().map(|(e, _)| Some(*e));
    let estimates = estimates.chain([added.map(|(e, _)| e), Some(whole_estimate)]);
    let invalid = names
        .zip(estimates)
        .find(|(_, e)| e.is_some_and(|e| e.verdict == Verdict::Invalid));
    match invalid {
        Some((name, _)) => say(format!("Not checked: {name} is invalid.")),
        None => {
            let costs = Costs::of(added.map(|(_, ns)| ns), &figures);
            say(check(&costs, &whole));
            say(procedures(&figures[PROCEDURE], inline_ns(run)));
        }
    }
    all
}

/// One line a part, each where the one before ended.
fn picture(figures: &[Interval]) -> String {
    let mut grid = Grid::default();
    let spans = spans(figures);
    let from = spans.iter().map(|s| s.0.min(s.1)).fold(0.0, f64::min);
    let to = spans.iter().map(|s| s.0.max(s.1)).fold(0.0, f64::max);
    for ((name, ns), span) in PARTS.iter().zip(figures).zip(spans) {
        let figure = time_with_half(ns);
        let (figure, half) = figure.rsplit_once(' ').unwrap_or((&figure, ""));
        grid.entries(vec![
            left(format!("  {name}")),
            right(figure),
            left(half),
            left(bar(span, from, to)),
        ]);
    }
    grid.render(1)
}

/// Begin and end of each part, ns from the beginning of the first.
fn spans(figures: &[Interval]) -> Vec<(f64, f64)> {
    let mut now = 0.0;
    figures
        .iter()
        .map(|ns| {
            let begin = now;
            now += ns.value;
            (begin, now)
        })
        .collect()
}

/// The stretch of a part; one that ends before it begins is drawn backwards,
/// in a shade of its own. Never less than a cell.
fn bar((begin, end): (f64, f64), from: f64, to: f64) -> String {
    if to <= from {
        return String::new();
    }
    let cell = |ns: f64| ((ns - from) / (to - from) * WIDE as f64).round() as usize;
    let first = cell(begin.min(end)).min(WIDE - 1);
    let last = cell(begin.max(end)).max(first + 1);
    let block = if end < begin { "▒" } else { "█" };
    format!("{}{}", " ".repeat(first), block.repeat(last - first))
}

/// What a negative start means.
fn early(start: &Interval) -> String {
    let before = format!("{} before the create call returned", time(-start.value));
    match differs_from_nothing(start) {
        true => format!("start is negative: typically the thread ran {before}."),
        false => format!(
            "start is negative, but its interval holds 0: typically the thread ran {before}, give \
             or take."
        ),
    }
}

/// What a thread costs beside its procedure, by its own stamps.
struct Costs {
    ns: Interval,
    name: &'static str,
}

impl Costs {
    /// Added up life by life where that was measured; else the sum of the
    /// medians, which is not the median of the sum.
    fn of(added: Option<Interval>, figures: &[Interval]) -> Costs {
        if let Some(ns) = added {
            let name = "create + start + end + join of each life";
            return Costs { ns, name };
        }
        let costs: Vec<Interval> = figures
            .iter()
            .enumerate()
            .filter(|&(part, _)| part != PROCEDURE)
            .map(|(_, ns)| *ns)
            .collect();
        Costs {
            ns: sum(&costs),
            name: "medians of create + start + end + join",
        }
    }
}

/// Median of the procedure run inline, ns: the first stamp of each operation
/// of /overhead.
fn inline_ns(run: &Run) -> Option<f64> {
    let id = format!("{PROBE}/overhead");
    let cell = run.cells.iter().find(|cell| cell.row == id)?;
    let ticks = cell.samples.first_ticks.iter().map(|&t| t as f64);
    Some(stats::median(ticks)? * run.clock.ns_per_tick)
}

/// What the two sides of the check are known to differ by.
fn procedures(threaded: &Interval, inline_ns: Option<f64>) -> String {
    let (threaded, inline) = match inline_ns {
        Some(ns) => (
            format!(" ({})", time(threaded.value)),
            format!(" ({})", time(ns)),
        ),
        None => (String::new(), String::new()),
    };
    format!(
        "The first leaves out the procedure as it ran in the thread{threaded}, the second takes \
         off the one run inline{inline}."
    )
}

/// Whether create, start, end and join come to what the whole costs more than
/// the procedure run inline, which was measured on its own.
fn check(costs: &Costs, whole: &Interval) -> String {
    let parts = costs.ns;
    let apart = difference(&parts, whole);
    let set = Precise::over(&[&parts, whole]);
    let beside = format!(
        "{} = {}; total minus the procedure run inline = {}",
        costs.name,
        set.text(parts.value, parts.half_width()),
        set.text(whole.value, whole.half_width())
    );
    let half = apart.half_width();
    if differs_from_nothing(&apart) {
        let apart = set.text(apart.value.abs(), half);
        return format!("{beside}: they differ by {apart}: more than both intervals allow.");
    }
    // Wide intervals agree with anything.
    if half > CANNOT_TELL_ABOVE * whole.value.abs() {
        return format!("{beside}: too wide to tell whether they agree.");
    }
    format!("{beside}: they agree.")
}

/// Figures to be held beside each other: in one unit, with one more digit than
/// usual, so that what they differ by is seen.
struct Precise {
    scale: f64,
    unit: &'static str,
    places: usize,
}

impl Precise {
    fn over(figures: &[&Interval]) -> Precise {
        let most = figures.iter().map(|i| i.value.abs()).fold(0.0, f64::max);
        let (scale, unit) = time_scale(most);
        let half = figures.iter().map(|i| i.half_width() / scale);
        let narrowest = half.fold(f64::INFINITY, f64::min);
        let places = match narrowest.is_finite() && narrowest > 0.0 {
            true => (1 - narrowest.log10().floor() as i32).clamp(0, 2),
            false => 2,
        };
        Precise {
            scale,
            unit,
            places: places as usize,
        }
    }

    fn text(&self, value: f64, half: f64) -> String {
        let places = self.places;
        // Rounded up: ±0 would claim too much.
        let step = 10_f64.powi(-(places as i32));
        let half = (half / self.scale / step - 1e-9).ceil().max(0.0) * step;
        let value = value / self.scale;
        format!("{value:.places$} {} ±{half:.places$}", self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::layout::width;
    use crate::render::synthetic::{self, stamped_figure};
    use model::run::Outcome;

    fn interval(value: f64, half: f64) -> Interval {
        Interval {
            value,
            low: value - half,
            high: value + half,
        }
    }

    /// 40 - 4 + 20 + 10 = 66 µs beside the procedure's 100.
    fn figures() -> [Interval; 5] {
        [
            interval(40e3, 1.2e3),
            interval(-4e3, 0.3e3),
            interval(100e3, 9e3),
            interval(20e3, 1.6e3),
            interval(10e3, 0.1e3),
        ]
    }

    #[test]
    fn parts_and_whole_agree_within_both_intervals() {
        // Half of the sum: the root of 1.2² + 0.3² + 1.6² + 0.1² is 2.02; with
        // 1.5 of the whole, 2.52.
        let text = check(&costs(&figures()), &interval(68.4e3, 1.5e3));
        assert_eq!(
            text,
            "medians of create + start + end + join = 66.0 µs ±2.1; total minus the procedure run \
             inline = 68.4 µs ±1.5: they agree."
        );
        let text = check(&costs(&figures()), &interval(68.6e3, 1.5e3));
        assert!(
            text.ends_with("they differ by 2.6 µs ±2.6: more than both intervals allow."),
            "{text}"
        );
        let text = check(&costs(&figures()), &interval(60e3, 1.5e3));
        assert!(text.contains("they differ by 6.0 µs ±2.6"), "{text}");
    }

    /// As they are without a row of their sums.
    fn costs(figures: &[Interval]) -> Costs {
        Costs::of(None, figures)
    }

    #[test]
    fn lives_added_up_one_by_one_stand_before_the_sum_of_medians() {
        let added = Costs::of(Some(interval(75e3, 1e3)), &figures());
        let text = check(&added, &interval(68.4e3, 1.5e3));
        assert!(
            text.starts_with("create + start + end + join of each life = 75.0 µs ±1.0;"),
            "{text}"
        );
        assert!(text.contains("they differ by 6.6 µs ±1.9"), "{text}");
        let run = synthetic::run();
        let text = lifecycle(&run);
        assert!(text.contains("of each life = 54.9 µs"), "{text}");
        let mut without = run;
        without
            .rows
            .retain(|row| row.id != "thread.lifecycle/parts");
        let text = lifecycle(&without);
        assert!(text.contains("medians of create"), "{text}");
    }

    #[test]
    fn both_times_of_the_procedure_are_named() {
        let mut run = synthetic::run();
        let text = lifecycle(&run).replace("\n ", "");
        assert!(text.contains("in the thread (121 µs)"), "{text}");
        assert!(text.contains("inline (118 µs)."), "{text}");
        run.cells.clear();
        let text = lifecycle(&run).replace("\n ", "");
        assert!(text.contains("run inline."), "{text}");
    }

    #[test]
    fn the_procedure_is_no_part_of_the_sum() {
        let mut long = figures();
        long[PROCEDURE] = interval(5e6, 1e6);
        assert!(check(&costs(&long), &interval(66e3, 1.5e3)).ends_with("they agree."));
    }

    #[test]
    fn wide_intervals_agree_with_nothing() {
        let text = check(&costs(&figures()), &interval(60e3, 30e3));
        assert!(
            text.ends_with("too wide to tell whether they agree."),
            "{text}"
        );
    }

    #[test]
    fn each_part_begins_where_the_one_before_ended() {
        let spans = spans(&figures());
        assert_eq!(spans[0], (0.0, 40e3));
        assert_eq!(spans[1], (40e3, 36e3));
        assert_eq!(spans[2], (36e3, 136e3));
        assert_eq!(spans[4], (156e3, 166e3));
        // To scale: the procedure has 100 of 166 parts of the width.
        let of = |span| bar(span, 0.0, 166e3);
        let long = of(spans[2]);
        assert_eq!(long.matches('█').count(), 52 - 14, "{long}");
        assert_eq!(long.matches(' ').count(), 14);
        assert!(of(spans[1]).contains('▒') && !of(spans[1]).contains('█'));
        assert_eq!(width(&of(spans[4])), WIDE);
        // Never less than a cell, and within the picture.
        assert_eq!(width(&of((166e3, 166e3))), WIDE);
    }

    #[test]
    fn a_negative_start_is_said_in_words() {
        let text = lifecycle(&synthetic::run());
        assert!(
            text.contains("start is negative: typically the thread ran"),
            "{text}"
        );
        assert!(text.contains("they agree."), "{text}");
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        assert!(early(&interval(-100.0, 200.0)).contains("holds 0"));
    }

    #[test]
    fn what_is_invalid_proves_nothing() {
        for name in ["end", "parts", "overhead"] {
            let mut run = synthetic::run();
            let id = format!("{PROBE}/{name}");
            let row = run.rows.iter_mut().find(|row| row.id == id);
            row.expect("the row").outcome = Outcome::Figure(Estimate {
                verdict: Verdict::Invalid,
                ..stamped_figure(1.0, 0.1)
            });
            let text = lifecycle(&run);
            let said = format!("Not checked: {name} is invalid.");
            assert!(text.contains(&said), "{text}");
        }
    }

    #[test]
    fn a_part_that_is_missing_leaves_no_block() {
        let mut run = synthetic::run();
        run.rows.retain(|row| row.id != "thread.lifecycle/join");
        assert_eq!(lifecycle(&run), "");
        let mut run = synthetic::run();
        run.rows.retain(|row| row.id != "thread.lifecycle/overhead");
        let text = lifecycle(&run);
        assert!(
            text.contains("procedure") && !text.contains("inline"),
            "{text}"
        );
    }
}
