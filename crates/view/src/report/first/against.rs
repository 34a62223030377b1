//! What the operations are set against: published tables and other runs.

use super::super::content::Content;
use crate::against::Against;
use crate::axis::Scale;
use crate::render::figures::{faster_or_slower, published_time};
use crate::render::overview_ratio;
use compare::references::DEFAULT_KEY;
use maud::{Markup, html};
use model::figure::time;
use model::overview::{OverviewLine, overview_lines};

/// Shapes of marks around 0, 0, one after the other.
const SHAPES: [&str; 10] = [
    "M0-8V8",
    "M0-6 6 0 0 6-6 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-6 5.5 4.5h-11z",
    "M0 6 5.5-4.5h-11z",
    "M-4.5-4.5 4.5 4.5M4.5-4.5-4.5 4.5",
    "M0-6V6M-6 0H6",
    "M-3-5.2h6l3 5.2-3 5.2h-6l-3-5.2z",
    "M-6 3 0-3 6 3",
    "M-6-3 0 3 6-3",
];

/// What the operations are set against: everything that has a time of one of these.
pub(super) fn all_against<'a>(content: &Content<'a>, ours: &[OverviewLine]) -> Vec<Against<'a>> {
    let tables = content.references.tables.iter().map(Against::Table);
    let runs = content.others.iter().map(|other| Against::Run(other.name, other.run));
    let has_time = |one: &Against| ours.iter().any(|line| one.of_line(line).is_some());
    tables.chain(runs).filter(has_time).collect()
}

/// Its name where there is little room.
fn short_name(one: &Against) -> String {
    match one {
        Against::Table(table) if table.key != DEFAULT_KEY => device(&table.title),
        _ => one.legend_name().into(),
    }
}

/// What stands beside our figure: a ratio to a table, but only the figure of a run, as one run is no
/// comparison.
fn against_text(one: &Against, line: &OverviewLine) -> Option<String> {
    match one {
        Against::Table(table) => overview_ratio(line, table).map(faster_or_slower),
        Against::Run(..) => one.of_line(line).map(|ns| format!("{} there", time(ns))),
    }
}

/// A mark at the head of a group of shapes: `0, 0` is the place.
fn shape(at: usize) -> Markup {
    html! { path d=(SHAPES[at % SHAPES.len()]) {} }
}

/// All marks on an operation's line, of which the chosen one is shown.
pub(super) fn marks(all: &[Against], line: &OverviewLine, axis: &Scale) -> Markup {
    let mark = |(at, one): (usize, &Against)| {
        let ns = one.of_line(line)?;
        let x = axis.percent_at(ns)?;
        let figure = match one {
            Against::Table(_) => published_time(ns),
            Against::Run(..) => time(ns),
        };
        Some(html! {
            svg.{ "with w" (at) } x=(x) y="50%" { title { (short_name(one)) ": " (figure) } (shape(at)) }
        })
    };
    html! { @for mark in all.iter().enumerate().filter_map(mark) { (mark) } }
}

/// A device and its year without what ran on it: `Mac (2008)` of `Mac, OS X 10.5
/// (2008)`.
fn device(title: &str) -> String {
    let (name, rest) = title.split_once(',').unwrap_or((title, ""));
    match rest.rsplit_once(" (") {
        Some((_, year)) => format!("{name} ({year}"),
        None => name.into(),
    }
}

/// The choice of what the figures are set against.
pub(super) fn choice(all: &[Against]) -> Markup {
    html! {
        @if !all.is_empty() {
            label.against {
                "against "
                select #against {
                    @for (at, one) in all.iter().enumerate() { option value=(at) { (short_name(one)) } }
                }
            }
        }
    }
}

/// All texts of a line, of which the chosen one is shown.
pub(super) fn texts(all: &[Against], line: &OverviewLine) -> Markup {
    html! {
        span.versus {
            @for (at, one) in all.iter().enumerate() {
                @if let Some(text) = against_text(one, line) { span.{ "a" (at) } { (text) } }
            }
        }
    }
}

/// What the marks mean.
pub(super) fn key(all: &[Against]) -> Markup {
    html! {
        @for (at, one) in all.iter().enumerate() {
            span {
                svg aria-hidden="true" viewBox="-8 -8 16 16" { g.{ "with w" (at) } { (shape(at)) } }
                " " (short_name(one))
            }
        }
    }
}

/// Styles that show what is chosen. Needs no script.
pub(in super::super) fn style(content: &Content) -> String {
    let count = all_against(content, &overview_lines(content.first().run)).len();
    let one = |at: usize| {
        let chosen = format!("body:has(#against option[value=\"{at}\"]:checked)");
        format!(
            "{chosen} .a{at}{{display:inline}}{chosen} .w{at}{{stroke:var(--published);opacity:1}}\n"
        )
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::device;

    #[test]
    fn a_device_is_named_without_what_ran_on_it() {
        let titles = ["Mac Pro (2013), Xeon E5", "Mac, OS X 10.5 (2008)", "iPhone X"];
        assert_eq!(titles.map(device), ["Mac Pro (2013)", "Mac (2008)", "iPhone X"]);
    }
}
