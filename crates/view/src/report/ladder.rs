//! The ladder: every row of the run, with its figure, its interval and its
//! verdict, and all of them on one axis with what others have.

use super::charts_of;
use super::content::{Content, TitledRun as ShownRun};
use super::marks::{Marks, ends, points};
use crate::against::{Against, estimate_of};
use crate::axis::Scale;
use crate::chart::Section;
use crate::html::{PageContext, paint, verdict_class};
use crate::render::curves::axis_text;
use crate::render::figures::{
    Shown, cycles, faster_or_slower, frames, human, published, quiet_half, shown_figure, typical,
    typical_half,
};
use crate::render::{group_of, short_title};
use compare::references::{ComparisonRule, Counterpart, DEFAULT_KEY, Reference};
use maud::{Markup, html};
use model::estimate::{Estimate, Verdict};
use model::run::{Outcome, Row};
use model::share::half;
use model::stats::Interval;
use model::story::tail::notes_of_row;
use model::unit::Unit;
use std::collections::HashMap;

/// Columns that a line without figures leaves empty, besides those of others:
/// all but the name.
const COLUMNS: usize = 8;

/// What stands beside the run in its lines, runs and tables each in a column of their own.
struct Others<'a> {
    runs: &'a [ShownRun<'a>],
    tables: Vec<&'a Reference>,
    /// The first picture of each row.
    picture_of: HashMap<&'a str, &'a str>,
}

impl Others<'_> {
    fn columns(&self) -> usize {
        self.runs.len() + self.tables.len()
    }

    /// What is drawn beside a row: runs, then tables.
    fn against(&self) -> impl Iterator<Item = Against<'_>> {
        let runs = self.runs.iter().map(|other| Against::Run(other.name, other.run));
        runs.chain(self.tables.iter().map(|table| Against::Table(table)))
    }
}

pub(super) fn section(content: &Content) -> Markup {
    let others =
        Others { runs: content.others, tables: tables(content), picture_of: content.picture_of() };
    let rows = &content.first().run.rows[..];
    let of_others = |row: &Row| others.against().filter_map(|one| one.of_row(row)).collect();
    let times = rows.iter().filter(|row| row.unit == Unit::Time);
    let times = times.flat_map(|row| [Marks::of_row(row).times_ns(), of_others(row)]).flatten();
    let axis = Scale::of_decades(times);
    if rows.is_empty() {
        return html! {
            section #ladder aria-labelledby="h-ladder" {
                h2 #h-ladder { "All rows" }
                p.lead { "This run has no row." }
            }
        };
    }
    html! {
        section #ladder aria-labelledby="h-ladder" {
            h2 #h-ladder { "All rows" }
            p.lead {
                "Every row of this run on one logarithmic axis: "
                span.key.measured aria-hidden="true" {} " measured here, hollow: uncertain; "
                span.key.published aria-hidden="true" {} " published figures of the same operation; the line is the 95 % interval, the pale bar spans the middle 80 % of samples. "
                "Where a row has no quiet figure, its mark is the typical one. "
                @if !others.runs.is_empty() { span.key.of-run aria-hidden="true" {} " other runs. " }
                "Click a heading to sort."
            }
            (controls(rows, &others.tables))
            div.scroll tabindex="0" role="region" aria-label="Table of the ladder" {
                table.ladder style={ "--decades:" (axis.decade_count()) } {
                    (heading(&axis, &others))
                    tbody {
                        @for (at, row) in rows.iter().enumerate() {
                            @let first = at == 0 || group_of(&rows[at - 1].id) != group_of(&row.id);
                            @if first {
                                tr.group data-group=(group_of(&row.id)) {
                                    th scope="rowgroup" colspan=(1 + COLUMNS + others.columns()) { (group_of(&row.id)) }
                                }
                            }
                            (ladder_line(content, row, at, &axis, &others))
                        }
                    }
                }
            }
            p.empty #nothing hidden { "No row matches." }
            (paint(&charts_of(content, Section::Ladder), PageContext::CHAPTER))
        }
    }
}

/// Styles that depend on which tables are there: a column is shown, and its
/// marks are coloured, where its box is ticked. Needs no script.
pub(super) fn style(content: &Content) -> String {
    let one = |(at, table): (usize, &&Reference)| {
        let key = &table.key;
        format!(
            "body:has(#ref-{key}:checked) .ladder .t{at}{{display:table-cell}}\
             body:has(#ref-{key}:checked) .m{at}{{fill:var(--published);opacity:1}}\n"
        )
    };
    tables(content).iter().enumerate().map(one).collect()
}

/// The published tables that have a figure of a row that is here.
fn tables<'a>(content: &Content<'a>) -> Vec<&'a Reference> {
    let rows = &content.first().run.rows;
    let here = |table: &&Reference| rows.iter().any(|row| table.counterpart(&row.id).is_some());
    content.references.tables.iter().filter(here).collect()
}

fn controls(rows: &[Row], tables: &[&Reference]) -> Markup {
    let mut groups: Vec<&str> = rows.iter().map(|row| group_of(&row.id)).collect();
    groups.dedup();
    let is_missing = |row: &&Row| matches!(row.outcome, Outcome::Unavailable { .. });
    let missing = rows.iter().filter(is_missing).count();
    html! {
        div.controls role="group" aria-label="What the ladder shows" {
            label { "Find " input #find type="search" placeholder="row or word" autocomplete="off"; }
            label { "Group " select #group {
                option value="" { "all" }
                @for group in groups { option value=(group) { (group) } }
            } }
            label { "Verdict " select #verdict {
                option value="" { "all" }
                @for verdict in Verdict::ALL {
                    option value=(verdict.text()) { (verdict.text()) }
                }
                option value="curve" { "curves" }
                option value="gone" { "not available" }
            } }
            label.switch { input #human type="checkbox" role="switch"; " Human scale: 1 ns as 1 s" }
            label.switch { input #frames type="checkbox" role="switch"; " Per 60 Hz frame" }
            @if missing > 0 {
                label.switch { input #gone type="checkbox" role="switch"; " " (missing) " not available here" }
            }
            @if !tables.is_empty() {
                fieldset {
                    legend { "Compare with" }
                    @for table in tables {
                        label title=(table.title) {
                            input id={ "ref-" (table.key) } type="checkbox" checked[table.key == DEFAULT_KEY];
                            " " (short_title(&table.key))
                        }
                    }
                }
            }
            p.count #count role="status" {}
        }
    }
}

fn heading(axis: &Scale, others: &Others) -> Markup {
    let sorted = |class: &str, key: &str, name: &str| {
        html! {
            th.(class) scope="col" aria-sort="none" data-key=(key) {
                button type="button" { (name) }
            }
        }
    };
    html! {
        thead { tr {
            (sorted("c-row", "id", "row"))
            (sorted("n c-value", "value", "quiet"))
            (sorted("n c-half", "half", "±"))
            (sorted("c-verdict", "verdict", "verdict"))
            (sorted("n c-cycles", "cycles", "cycles"))
            (sorted("n c-human", "in-seconds", "1 ns = 1 s"))
            (sorted("n c-frames", "per-frame", "per frame"))
            (sorted("c-typical", "typical", "typical"))
            th.c-axis scope="col" {
                span.hidden { "drawing" }
                span.axis aria-hidden="true" {
                    @for (share, name) in axis.units() { span style=(format!("left:{:.2}%", share * 100.0)) { (name) } }
                }
            }
            @for (at, other) in others.runs.iter().enumerate() {
                (sorted("n run", &format!("run-{at}"), other.name))
            }
            @for (at, table) in others.tables.iter().enumerate() {
                (sorted(&format!("n ref t{at}"), &table.key, short_title(&table.key)))
            }
        } }
    }
}

fn ladder_line(content: &Content, row: &Row, at: usize, axis: &Scale, others: &Others) -> Markup {
    let state = match (&row.outcome, row.estimate()) {
        (Outcome::Unavailable { .. }, _) => "gone",
        (_, Some(estimate)) => estimate.verdict.text(),
        _ => "curve",
    };
    html! {
        tr data-at=(at) id={ "row-" (row.id) } data-group=(group_of(&row.id)) data-state=(state) {
            @match (&row.outcome, row.estimate()) {
                (_, Some(estimate)) => {
                    th.c-row scope="row" {
                        (row_link(content, row))
                        @for text in notes_of_row(&row.id, estimate, &row.unit) { span.why { (text) } }
                    }
                    (ladder_marks(row, estimate, axis, others))
                },
                (Outcome::Unavailable { reason }, _) => {
                    th.c-row scope="row" { (row_link(content, row)) }
                    td.gone colspan=(COLUMNS + others.columns()) { "not available here: " (reason) }
                },
                _ => (curve(content, row, axis, others)),
            }
        }
    }
}

/// A row's name, which leads to how it is measured.
fn row_link(content: &Content, row: &Row) -> Markup {
    html! {
        @match content.probe_of(&row.id) {
            Some(probe) => a href={ "#m-" (probe.own_name()) } title=(probe.title) { (row.id) },
            None => (row.id),
        }
    }
}

fn ladder_marks(row: &Row, estimate: &Estimate, axis: &Scale, others: &Others) -> Markup {
    let above = estimate.below_ns.is_none();
    let quiet = estimate.quiet.map(|quiet| quiet.ns).filter(|_| above);
    let typical_ns = estimate.headline().map(|(t, _)| t.ns).filter(|_| above);
    // Either will do for the feel of it.
    let of_time = quiet.or(typical_ns).map(|ns| ns.value);
    let of_time = of_time.filter(|_| row.unit == Unit::Time);
    let cycle_count = estimate.quiet.and_then(|q| q.cycles).map(|c| c.value);
    let in_unit = |ns: &Interval| row.unit.of_ns(ns.value);
    html! {
        td.n.c-value data-sort=[quiet.or(typical_ns).as_ref().map(in_unit).map(sort_key)] data-class=[class(&row.unit)] {
            (value(row, estimate))
        }
        td.n.c-half data-sort=[quiet.map(|ns| sort_key(ns.relative_half_width()))] {
            @if let Some(ns) = quiet { (half(ns.relative_half_width())) }
        }
        td.c-verdict data-sort=(estimate.verdict as u8) { span.(verdict_class(estimate.verdict).unwrap_or_default()) { (estimate.verdict.text()) } }
        td.n.c-cycles data-sort=[cycle_count.map(sort_key)] { (cycles(estimate)) }
        td.n.c-human { (of_time.map_or(String::new(), human)) }
        td.n.c-frames { (of_time.map_or(String::new(), frames)) }
        td.c-typical data-sort=[typical_ns.as_ref().map(in_unit).map(sort_key)] data-class=[class(&row.unit)] {
            (typical(estimate, &row.unit))
            @let half = typical_half(estimate, &row.unit);
            @if !half.is_empty() { " " span.half { (half) } }
        }
        (drawing(row, axis, others))
        @for other in others.runs { (of_run(row, other)) }
        (published_figures(row, estimate, others))
    }
}

/// The quiet figure. A typical one has its own column, and stands here only
/// where that is not shown.
fn value(row: &Row, estimate: &Estimate) -> Markup {
    let figure = match shown_figure(estimate, &row.unit) {
        Shown::Below(text) => return html! { (text) },
        Shown::Nothing => return html! { "-" },
        Shown::Figure(figure) => figure,
    };
    let [text, half] = [figure.text(), quiet_half(estimate, &figure.half_width)];
    html! {
        @if estimate.quiet.is_some() {
            (text) " " span.half { (half) }
        } @else {
            span.none { "-" }
            span.instead { "typical " (text) " " (half) }
        }
    }
}

/// Another run's figure beside ours.
fn of_run(row: &Row, other: &ShownRun) -> Markup {
    let estimate = estimate_of(other.run, row);
    let ns = estimate.and_then(Estimate::ns);
    let figure = estimate.map(|estimate| shown_figure(estimate, &row.unit));
    html! {
        td.n.run data-sort=[ns.map(|ns| sort_key(row.unit.of_ns(ns.value)))] data-class=[class(&row.unit)] {
            @if let Some(Shown::Figure(figure)) = figure {
                (figure.text())
                @if estimate.is_some_and(|e| e.quiet.is_none()) { " " span.half { "typical" } }
            }
        }
    }
}

/// What can be sorted by size together: times first.
fn class(unit: &Unit) -> Option<u8> {
    match unit {
        Unit::Time => None,
        Unit::Bandwidth { .. } => Some(1),
        Unit::Frequency => Some(2),
        Unit::Count => Some(3),
        Unit::Bytes => Some(4),
    }
}

/// What a cell is sorted by; more digits would only make the page longer.
fn sort_key(value: f64) -> String {
    format!("{value:.5e}")
}

/// The published figures of a row, up to the last table that has one, each with its ratio where
/// there can be one.
fn published_figures(row: &Row, estimate: &Estimate, others: &Others) -> Markup {
    let figures = others.tables.iter().map(|table| table.counterpart(&row.id));
    let figures: Vec<Option<Counterpart>> = figures.collect();
    let count = figures.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    let mark = |theirs: &Counterpart| match theirs.ratio(estimate, &row.unit) {
        _ if theirs.row.doubtful.is_some() => "doubtful".into(),
        _ if theirs.rule == ComparisonRule::Near => "other code".into(),
        ratio => ratio.map_or(String::new(), faster_or_slower),
    };
    html! {
        @for (at, theirs) in figures.iter().take(count).enumerate() {
            @match theirs {
                Some(theirs) => {
                    td.{ "n ref t" (at) } data-sort=[theirs.row.ns.map(sort_key)] title=[&theirs.row.doubtful] {
                        (published(theirs.row))
                        @let mark = mark(theirs);
                        @if !mark.is_empty() { " " span.half { (mark) } }
                    }
                },
                None => td.{ "ref t" (at) } {},
            }
        }
    }
}

fn drawing(row: &Row, axis: &Scale, others: &Others) -> Markup {
    if row.unit != Unit::Time {
        return html! { td.c-axis.none {} };
    }
    let mark = |(at, one): (usize, Against)| {
        let x = one.of_row(row).and_then(|ns| axis.percent_at(ns))?;
        let title = html! { title { (one.legend_name()) } };
        Some(match one {
            Against::Run(..) => html! { circle.of-run cx=(x) { (title) } },
            Against::Table(_) => {
                html! { rect.ref.{ "m" (at - others.runs.len()) } x=(x) { (title) } }
            }
        })
    };
    let marks = html! { @for mark in others.against().enumerate().filter_map(mark) { (mark) } };
    html! { td.c-axis { (Marks::of_row(row).draw(axis, &marks)) } }
}

/// A curve or a map: how many points, between what, and where it is drawn.
fn curve(content: &Content, row: &Row, axis: &Scale, others: &Others) -> Markup {
    let over = match &row.outcome {
        Outcome::Curve { axis, .. } => axis_text(*axis).to_string(),
        Outcome::Map { y_axis, x_axis, .. } => {
            format!("{} and {}", axis_text(*y_axis), axis_text(*x_axis))
        }
        _ => String::new(),
    };
    let count = points(&row.outcome).len();
    let text = ends(row).map(|(low, high)| {
        // Of a speed the shortest time is the most.
        let mut ends = [low, high].map(|ns| row.unit.of_ns(ns));
        ends.sort_by(f64::total_cmp);
        ends.map(|v| model::figure::value_text(&row.unit, v)).join(" to ")
    });
    html! {
        th.c-row scope="row" {
            (row_link(content, row))
            span.why {
                (count) @if count == 1 { " point over " } @else { " points over " } (over)
                @if let Some(text) = text { ": " (text) }
                @if let Some(id) = others.picture_of.get(row.id.as_str()) { ", " a href={ "#p-" (id) } { "drawn" } }
            }
        }
        td.n.c-value {} td.n.c-half {} td.c-verdict { "curve" } td.n.c-cycles {} td.n.c-human {} td.n.c-frames {} td.c-typical {}
        (drawing(row, axis, others))
    }
}
