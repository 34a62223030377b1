//! What the operations are set against: published tables and other runs.

use super::super::content::{Content, Shown};
use crate::render::figures::{faster_or_slower, published_time as published};
use crate::render::{overview_ratio, short_title};
use compare::references::{DEFAULT_KEY, Reference};
use maud::{Markup, html};
use model::figure::time;
use model::overview::{Line, lines};
use model::unit::Unit;

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

/// A published table or another run.
pub(super) enum Against<'a> {
    /// A table.
    Table(&'a Reference),
    /// A run under its name, with its operations.
    Run(&'a str, Vec<Line<'a>>),
}

impl<'a> Against<'a> {
    /// Everything that has a time of one of these operations.
    pub(super) fn all(content: &Content<'a>, ours: &[Line]) -> Vec<Against<'a>> {
        let tables = content.references.tables.iter().map(Against::Table);
        let of_run = |other: &Shown<'a>| Against::Run(other.name, lines(other.run));
        let all = tables.chain(content.others.iter().map(of_run));
        all.filter(|one| ours.iter().any(|line| one.ns(line).is_some())).collect()
    }

    fn name(&self) -> String {
        match self {
            Against::Table(table) if table.key == DEFAULT_KEY => short_title(&table.key).into(),
            Against::Table(table) => device(&table.title),
            Against::Run(name, _) => (*name).into(),
        }
    }

    /// Its time of an operation, where the two can be drawn on one line.
    pub(super) fn ns(&self, line: &Line) -> Option<f64> {
        match self {
            Against::Table(table) => {
                let is_time = line.row.unit == Unit::Time && line.is_of_row();
                table.comparable_ns(&line.row.id).filter(|_| is_time)
            }
            Against::Run(_, theirs) => {
                let same =
                    |other: &&Line| other.operation == line.operation && other.mode == line.mode;
                theirs.iter().find(same)?.ns.map(|ns| ns.value)
            }
        }
    }

    /// What stands beside our figure: a ratio to a table, but only the figure
    /// of a run, as one run is no comparison.
    fn text(&self, line: &Line) -> Option<String> {
        match self {
            Against::Table(table) => overview_ratio(line, table).map(faster_or_slower),
            Against::Run(..) => self.ns(line).map(|ns| format!("{} there", time(ns))),
        }
    }

    fn figure(&self, ns: f64) -> String {
        match self {
            Against::Table(_) => published(ns),
            Against::Run(..) => time(ns),
        }
    }

    /// Its mark at the head of a group of shapes: `0, 0` is the place.
    fn shape(at: usize) -> Markup {
        html! { path d=(SHAPES[at % SHAPES.len()]) {} }
    }

    /// Its mark on an operation's line, at this many percent.
    pub(super) fn mark(&self, at: usize, line: &Line, percent: f64) -> Markup {
        let figure = self.figure(self.ns(line).unwrap_or_default());
        html! {
            svg.{ "with w" (at) } x=(format!("{percent:.2}%")) y="50%" {
                title { (self.name()) ": " (figure) }
                (Against::shape(at))
            }
        }
    }
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
                    @for (at, one) in all.iter().enumerate() { option value=(at) { (one.name()) } }
                }
            }
        }
    }
}

/// All texts of a line, of which the chosen one is shown.
pub(super) fn texts(all: &[Against], line: &Line) -> Markup {
    html! {
        span.versus {
            @for (at, one) in all.iter().enumerate() {
                @if let Some(text) = one.text(line) { span.{ "a" (at) } { (text) } }
            }
        }
    }
}

/// What the marks mean.
pub(super) fn key(all: &[Against]) -> Markup {
    html! {
        @for (at, one) in all.iter().enumerate() {
            span {
                svg aria-hidden="true" viewBox="-8 -8 16 16" { g.{ "with w" (at) } { (Against::shape(at)) } }
                " " (one.name())
            }
        }
    }
}

/// Styles that show what is chosen. Needs no script.
pub(in super::super) fn style(content: &Content) -> String {
    let count = Against::all(content, &lines(content.first().run)).len();
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
