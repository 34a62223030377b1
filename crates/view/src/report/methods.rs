//! How each row was measured: what the catalogue says of its probe, what this
//! run has to add, and what was published.

use super::content::Content;
use crate::html::{PageContext, paint};
use crate::render::{ProbeText, bound_of, explained_facts, group_of, sampling_of};
use maud::{Markup, html};
use model::phrases::counted;
use model::run::{Bound, Regime, Row};
use model::story::Block;
use std::collections::{HashMap, HashSet};

/// The probes that the catalogue knows of the run's rows.
fn probes<'c>(content: &'c Content) -> Vec<&'c ProbeText> {
    let rows = &content.first().run.rows;
    let own: HashSet<&str> =
        rows.iter().filter_map(|row| Some(content.probe_of(&row.id)?.own_name())).collect();
    content.probes.iter().filter(|probe| own.contains(probe.own_name())).collect()
}

/// Whether there is such a section.
pub(super) fn is_there(content: &Content) -> bool {
    !probes(content).is_empty()
}

pub(super) fn section(content: &Content) -> Markup {
    let mut rows_of: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in &content.first().run.rows {
        if let Some(probe) = content.probe_of(&row.id) {
            rows_of.entry(probe.own_name()).or_default().push(row);
        }
    }
    let probes = probes(content);
    html! {
        @if !probes.is_empty() {
            section #methods aria-labelledby="h-methods" {
                h2 #h-methods { "What each row is, and how it was measured" }
                p.lead { "`latlas help method` describes how figures, intervals and verdicts are computed."
                    // Nothing can be unfolded there.
                    span.on-paper { " What was measured, and how, is folded for " (counted(probes.len(), "operation")) ": `latlas explain ROW` prints it." }
                }
                (paint(&terms(&probes), PageContext::CHAPTER))
                @for (at, probe) in probes.iter().enumerate() {
                    @let group = group_of(&probe.id);
                    @if at == 0 || group_of(&probes[at - 1].id) != group { h3 { (group) } }
                    details.method id={ "m-" (probe.own_name()) } {
                        summary { code { (probe.title_id()) } " " span { (probe.title) } }
                        (paint(&method_facts(&rows_of[probe.own_name()], probe), PageContext::CHAPTER))
                    }
                }
            }
        }
    }
}

/// Texts that many probes share, by the names that stand for them in each.
fn shared() -> [(&'static str, &'static str); 5] {
    [
        ("gated samples", sampling_of(Regime::Gated)),
        ("distributions", sampling_of(Regime::Distribution)),
        ("stamped operations", sampling_of(Regime::Stamped)),
        ("the core clock", bound_of(Bound::Core)),
        ("memory or the kernel", bound_of(Bound::Memory)),
    ]
}

/// The shared texts that the probes need.
fn terms(probes: &[&ProbeText]) -> Vec<Block> {
    let facts: Vec<String> =
        probes.iter().flat_map(|probe| explained_facts(probe)).map(|(_, text)| text).collect();
    let needed =
        shared().into_iter().filter(|(_, text)| facts.iter().any(|fact| fact.contains(text)));
    needed.map(|(name, text)| Block::fact(name, text)).collect()
}

/// What the catalogue and this run's rows say of a probe.
fn method_facts(rows: &[&Row], probe: &ProbeText) -> Vec<Block> {
    let catalogue = explained_facts(probe).into_iter();
    let catalogue = catalogue.map(|(label, text)| Block::fact(label, shorter(text)));
    let notes = rows.iter().flat_map(|row| {
        let notes = row.notes.iter();
        notes.map(|note| Block::fact("in this run", format!("{}: {note}", row.id)))
    });
    catalogue.chain(notes).collect()
}

/// What many probes share stands once on the page, not in every probe.
fn shorter(text: String) -> String {
    let name = |text: String, (name, shared)| text.replace(shared, name);
    shared().into_iter().fold(text, name)
}
