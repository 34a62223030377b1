//! How far to trust the figures: how many hold, which don't, and what disturbed
//! the run.

use crate::render::{disturbances, group_of};
use maud::{Markup, html};
use model::estimate::Verdict;
use model::overview::{Cause, cause_of, causes};
use model::phrases::{capitalized, counted};
use model::run::{Row, Run};
use model::tally::tally;

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "v-ok",
        Verdict::Noisy | Verdict::Biased => "v-noisy",
        Verdict::TwoStates => "v-two",
        Verdict::CannotTell => "v-unknown",
        Verdict::Invalid => "v-invalid",
    }
}

/// How many figures hold, in a few words.
pub(in super::super) fn summary(run: &Run) -> Markup {
    let rows = tally(run).rows;
    let uncertain = rows.uncertain().tally_text();
    html! {
        @if rows.total() > 0 {
            div.trust {
                p { b { (rows.ok_text()) } }
                div.share aria-hidden="true" {
                    @for (count, verdict) in rows.by_verdict() {
                        i.(class(verdict)) style={ "flex:" (count) } {}
                    }
                }
                p.sub {
                    (uncertain)
                    @if let Some(cause) = cause_of(run) { @if !uncertain.is_empty() { "; " } (cause) }
                }
            }
        }
    }
}

/// A square for each figure, and what disturbed the run.
pub(super) fn card(run: &Run) -> Markup {
    let tally = tally(run);
    let rows: Vec<&Row> = run.rows.iter().filter(|row| row.estimate().is_some()).collect();
    // The time that was lost stands among the disturbances, with its source.
    let causes = causes(run).into_iter();
    let causes = causes.filter(|cause| !matches!(cause, Cause::Lost(_)));
    let causes: Vec<String> = causes.map(|cause| cause.to_string()).collect();
    let disturbances = disturbances(run);
    let kinds: Vec<_> = tally.rows.by_verdict().collect();
    html! {
        section.card aria-labelledby="h-trust" {
            h2 #h-trust { "Reliability" }
            p.lead {
                "A square is a figure: "
                @for (at, (_, verdict)) in kinds.iter().enumerate() {
                    @let end = if at + 1 == kinds.len() { "." } else { "," };
                    span.kind { i.square.(class(*verdict)) {} " " (verdict.text()) (end) } " "
                }
                @if tally.unavailable > 0 { "Not available here: " (counted(tally.unavailable as usize, "row")) "." }
            }
            dl.squares {
                @for group in rows.chunk_by(|a, b| group_of(&a.id) == group_of(&b.id)) {
                    dt { (group_of(&group[0].id)) }
                    dd { (squares(group)) }
                }
            }
            h3 { "What disturbed it" }
            p.sub {
                @if causes.is_empty() && disturbances.is_empty() { "Nothing is known." }
                @else { (sentence(&causes)) " " (sentence(&disturbances)) }
            }
        }
    }
}

/// The squares of a group, the best first, and their number in words.
fn squares(group: &[&Row]) -> Markup {
    let of = |verdict| {
        let has = move |row: &&&Row| row.estimate().is_some_and(|e| e.verdict == verdict);
        group.iter().filter(has)
    };
    html! {
        @for verdict in Verdict::ALL {
            @for row in of(verdict) {
                i.(class(verdict)) title={ (row.id) ": " (verdict.text()) } {}
            }
        }
        span.hidden {
            @for verdict in Verdict::ALL {
                @let count = of(verdict).count();
                @if count > 0 { (count) " " (verdict.text()) ", " }
            }
        }
    }
}

/// `Something shared the core; steal 0.5 s.`
fn sentence(parts: &[String]) -> String {
    let text = capitalized(&parts.join("; "));
    if text.is_empty() { text } else { text + "." }
}
