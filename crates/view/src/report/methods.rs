//! How each row was measured: what the catalogue says of its probe, what this
//! run has to add, and what was published.

use super::content::Content;
use crate::html::{Place, paint};
use crate::render::{ProbeText, explained_facts, group_of, sampling_of};
use maud::{Markup, html};
use model::run::Regime;
use model::story::Block;

/// The section.
pub(super) fn section(content: &Content) -> Markup {
    let rows = &content.first().run.rows;
    let of = |probe: &&ProbeText| {
        let is =
            |row: &&model::run::Row| content.probe_of(&row.id).is_some_and(|p| p.id == probe.id);
        rows.iter().any(|row| is(&row))
    };
    let probes: Vec<&ProbeText> = content.probes.iter().filter(of).collect();
    html! {
        @if !probes.is_empty() {
            section #methods aria-labelledby="h-methods" {
                h2 #h-methods { "What each row is, and how it was measured" }
                p.lead { "docs/method.md describes how figures, intervals and verdicts are computed." }
                (paint(&regimes(&probes), Place::CHAPTER))
                @for (at, probe) in probes.iter().enumerate() {
                    @let group = group_of(&probe.id);
                    @if at == 0 || group_of(&probes[at - 1].id) != group { h3 { (group) } }
                    details.method id={ "m-" (probe.id) } {
                        summary { code { (probe.id) } " " span { (probe.title) } }
                        (paint(&facts(content, probe), Place::CHAPTER))
                    }
                }
            }
        }
    }
}

/// The ways of sampling, by the names that stand for their texts.
const REGIMES: [(Regime, &str); 3] = [
    (Regime::Gated, "gated samples"),
    (Regime::Distribution, "distributions"),
    (Regime::Stamped, "stamped operations"),
];

fn regimes(probes: &[&ProbeText]) -> Vec<Block> {
    let own = REGIMES
        .iter()
        .filter(|(regime, _)| probes.iter().any(|p| p.regime == *regime));
    own.map(|(regime, name)| Block::fact(name, sampling_of(*regime)))
        .collect()
}

/// What the catalogue and this run say of a probe.
fn facts(content: &Content, probe: &ProbeText) -> Vec<Block> {
    let catalogue = explained_facts(probe).into_iter();
    let catalogue = catalogue.map(|(label, text)| Block::fact(label, shorter(text)));
    let notes = notes(content, probe).into_iter();
    let notes = notes.map(|(row, note)| Block::fact("in this run", format!("{row}: {note}")));
    catalogue.chain(notes).collect()
}

/// The text of a way of sampling stands once on the page, not in every probe.
fn shorter(text: String) -> String {
    let name =
        |text: String, (regime, name): &(Regime, &str)| text.replace(sampling_of(*regime), name);
    REGIMES.iter().fold(text, name)
}

/// What this run says beside the figures of a probe's rows.
fn notes<'a>(content: &Content<'a>, probe: &ProbeText) -> Vec<(&'a str, &'a str)> {
    let rows = content.first().run.rows.iter();
    let of = rows.filter(|row| content.probe_of(&row.id).is_some_and(|p| p.id == probe.id));
    of.flat_map(|row| {
        row.notes
            .iter()
            .map(|note| (row.id.as_str(), note.as_str()))
    })
    .collect()
}
