//! The page of a fleet, self-contained as the report of a run: what deviates, groups, every row over hosts, and a
//! table of the hosts.

use crate::figures::Fleet;
use crate::render::{
    Hosts, Length, StripAxis, apart, groups, host_facts, hosts_table, method, missing_hosts,
    row_tables, summary,
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::phrases::counted;
use model::story::{Block, Link};
use std::collections::HashMap;
use view::html::policy::meta;
use view::html::{PageContext, finished, paint, script, style};
use view::report::GENERATOR;

pub fn fleet_page(fleet: &Fleet) -> String {
    let places: HashMap<&str, usize> =
        fleet.hosts.iter().enumerate().map(|(place, host)| (host.name.as_str(), place)).collect();
    let href = |link: &Link| match link {
        Link::Machine(name) => Some(format!("#host-{}", places.get(name.as_str())? + 1)),
        Link::Row { .. } | Link::Run(_) | Link::Report(_) | Link::Slice(_) => None,
    };
    let place = PageContext { heading: 3, href: &href };
    let title = format!("{}: {}", fleet.campaign, counted(fleet.hosts.len(), "host"));
    let mut first = summary(fleet);
    first.extend(missing_hosts(fleet));
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
                    }
                    button.theme #theme type="button" hidden { "Dark" }
                }
                header.top { h1 { (title) } (paint(&first, place)) }
                main.fleet #main tabindex="-1" {
                    @for part in &PARTS { (section(part, &(part.blocks)(fleet), place)) }
                }
                footer { p { "Made by " (GENERATOR) " " (env!("CARGO_PKG_VERSION")) ". This page loads nothing from the network." } }
                script { (PreEscaped(script())) }
            }
        }
    })
}

struct FleetSection {
    anchor: &'static str,
    title: &'static str,
    lead: &'static str,
    blocks: fn(&Fleet) -> Vec<Block>,
}

const PARTS: [FleetSection; 5] = [
    FleetSection {
        anchor: "outliers",
        title: "Outliers",
        lead: "Groups of hosts that share a fact and deviate in the same rows; then hosts that are outliers by themselves.",
        blocks: |fleet| {
            let mut blocks = apart(&Hosts::from_fleet(fleet), Length::Whole);
            blocks.extend(method(fleet));
            blocks
        },
    },
    FleetSection {
        anchor: "groups",
        title: "Groups",
        lead: "Hosts grouped by their differences, and the rows that differ between groups. All strips have one axis: time over the median of the largest group.",
        blocks: |fleet| groups(fleet, StripAxis::of_fleet(fleet), Length::Whole),
    },
    FleetSection {
        anchor: "rows",
        title: "Rows",
        lead: "A dot for each host: its time over the row's median, on one axis in all rows; outliers are larger and red.",
        blocks: |fleet| row_tables(fleet, StripAxis::of_fleet(fleet)),
    },
    FleetSection {
        anchor: "hosts",
        title: "Hosts",
        lead: "Those with most to say first.",
        blocks: |fleet| hosts_table(&Hosts::from_fleet(fleet)),
    },
    FleetSection {
        anchor: "facts",
        title: "Facts",
        lead: "What the hosts are. Where a value is not that of more than half of them, its hosts are named.",
        blocks: host_facts,
    },
];

fn section(part: &FleetSection, blocks: &[Block], place: PageContext) -> Markup {
    html! {
        section id=(part.anchor) aria-labelledby={ "h-" (part.anchor) } {
            h2 id={ "h-" (part.anchor) } { (part.title) }
            p.lead { (part.lead) }
            (paint(blocks, place))
        }
    }
}
