//! The page of a fleet, self-contained as the report of a run: every row over hosts, outliers, groups, and a
//! section for each host.

use super::GENERATOR;
use crate::html::policy::meta;
use crate::html::{Place, finished, paint, script, style};
use crate::render::fleet::{
    Hosts, Length, apart, facts, groups, host, method, missing, rows, summary,
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::fleet::Fleet;
use model::story::{Block, Link};
use std::collections::HashMap;

pub fn fleet_page(fleet: &Fleet) -> String {
    let places: HashMap<&str, usize> =
        fleet.hosts.iter().enumerate().map(|(place, host)| (host.name.as_str(), place)).collect();
    let href = |link: &Link| match link {
        Link::Machine(name) => Some(format!("#host-{}", places.get(name.as_str())? + 1)),
        Link::Row { .. } | Link::Run(_) => None,
    };
    let place = Place { heading: 3, href: &href };
    let title = format!("{}: {} hosts", fleet.campaign, fleet.hosts.len());
    let hosts = Hosts::of(fleet);
    let mut first = summary(fleet);
    first.extend(missing(fleet));
    finished(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(GENERATOR, script()))
                title { (title) }
                style { (PreEscaped(style())) }
            }
            body {
                a.skip href="#main" { "Skip to the figures" }
                nav.bar aria-label="Parts of this page" {
                    p.brand { "latlas" }
                    div.links {
                        @for part in &PARTS { a href={ "#" (part.anchor) } { (part.title) } }
                        a href="#hosts" { "Hosts" }
                    }
                    button.theme #theme type="button" hidden { "Dark" }
                }
                header.top { h1 { (title) } (paint(&first, place)) }
                main.fleet #main tabindex="-1" {
                    @for part in &PARTS { (section(part, &(part.blocks)(fleet), place)) }
                    section #hosts aria-labelledby="h-hosts" {
                        h2 #h-hosts { "Hosts" }
                        p.lead { "Each with its facts and runs; the commands show a run where its document is stored." }
                        @for (at, own) in fleet.hosts.iter().enumerate() {
                            article #{ "host-" (at + 1) } { h3 { (own.name) } (paint(&host(&hosts, at), place)) }
                        }
                    }
                }
                footer { p { "Made by " (GENERATOR) " " (env!("CARGO_PKG_VERSION")) ". This page loads nothing from the network." } }
                script { (PreEscaped(script())) }
            }
        }
    })
}

struct Part {
    anchor: &'static str,
    title: &'static str,
    lead: &'static str,
    blocks: fn(&Fleet) -> Vec<Block>,
}

const PARTS: [Part; 4] = [
    Part {
        anchor: "outliers",
        title: "Outliers",
        lead: "Hosts further from the median than the spread of hosts and their own interval, those of most rows first.",
        blocks: |fleet| {
            let mut blocks = apart(&Hosts::of(fleet), Length::Whole);
            blocks.extend(method(fleet));
            blocks
        },
    },
    Part {
        anchor: "groups",
        title: "Groups",
        lead: "Hosts by what they differ in, and the rows that differ with it. Each row has its own scale.",
        blocks: |fleet| groups(fleet, Length::Whole),
    },
    Part {
        anchor: "rows",
        title: "Rows",
        lead: "A dot for each host, from the fastest to the slowest of the row on a logarithmic scale; outliers in red.",
        blocks: rows,
    },
    Part {
        anchor: "facts",
        title: "Facts",
        lead: "What the hosts are. Where a value is not that of more than half of them, its hosts are named.",
        blocks: facts,
    },
];

fn section(part: &Part, blocks: &[Block], place: Place) -> Markup {
    html! {
        section id=(part.anchor) aria-labelledby={ "h-" (part.anchor) } {
            h2 id={ "h-" (part.anchor) } { (part.title) }
            p.lead { (part.lead) }
            (paint(blocks, place))
        }
    }
}
