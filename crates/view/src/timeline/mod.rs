//! A trace as one self-contained page: its threads and CPUs over time, drawn on a
//! canvas by a script that is part of the page, and the figures that a terminal
//! shows of it.

mod bytes;
mod cpus;
mod lanes;
mod pack;
#[cfg(test)]
mod tests;

use crate::html::policy::meta;
use crate::html::{Place, finished, paint, style};
use crate::render::{TraceOptions, trace_parts};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::story::Block;
use model::text::counted;
use model::trace::{Kind, Thread, Trace};
use pack::pack;
use std::collections::BTreeSet;

/// The script of the page.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../html/browser/shared.js"),
    include_str!("browser/data.js"),
    include_str!("browser/unpack.js"),
    include_str!("browser/lanes.js"),
    include_str!("browser/paint.js"),
    include_str!("browser/text.js"),
    include_str!("browser/draw.js"),
    include_str!("browser/find.js"),
    include_str!("browser/input.js"),
    include_str!("browser/start.js"),
    "})();\n"
);

pub fn page(trace: &Trace) -> String {
    // The lanes of a terminal are left out.
    let options = TraceOptions { all: true, columns: 0, stretch: None };
    let parts = trace_parts(trace, options);
    let recorded = [("What was recorded", parts.recorded)];
    let figures = parts.figures.into_iter().chain(recorded);
    let figures: Vec<Block> = figures
        .flat_map(|(name, blocks)| [Block::Heading(name.into())].into_iter().chain(blocks))
        .collect();
    let title = format!("Trace of {}", parts.heading);
    let packed = pack(trace);
    let style = style() + include_str!("browser/timeline.css");
    finished(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta("latlas trace export", SCRIPT))
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                a.skip href="#figures" { "Skip to the figures" }
                nav.bar aria-label="Parts of this page" {
                    p.brand { "latlas" }
                    div.links { a href="#timeline" { "Timeline" } a href="#figures" { "Figures" } }
                    button.theme #theme type="button" hidden { "Dark" }
                }
                main.trace #main tabindex="-1" {
                    h1 { (title) }
                    (timeline(trace))
                    section #figures aria-labelledby="h-figures" {
                        h2 #h-figures { "Figures" }
                        (paint(&figures, Place::CHAPTER))
                    }
                }
                script #head type="application/json" { (PreEscaped(packed.head)) }
                script #data type="text/plain" { (PreEscaped(packed.data)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    })
}

/// Shades of the timeline in the order of their numbers in the script: those of
/// states by [`Kind::ALL`], then these. Each with its name, if it is shown to
/// readers.
const SHADES: [(&str, &str); 9] = [
    ("traced-0", ""),
    ("traced-1", ""),
    ("other", "another program"),
    ("idle", ""),
    ("not-traced striped", "no traced thread"),
    ("call", "system call"),
    ("moment", "page fault"),
    ("post", "signpost"),
    ("wakeup", "wake-up"),
];

fn timeline(trace: &Trace) -> Markup {
    let label = format!(
        "Timeline of {} and {}",
        counted(trace.threads.len(), "thread"),
        counted(trace.cpu_count as usize, "CPU")
    );
    html! {
        section #timeline aria-labelledby="h-timeline" {
            h2.hidden #h-timeline { "Timeline" }
            div.tools {
                form #search role="search" {
                    input #find type="search" aria-label="Thread, call or signpost" placeholder="Thread, call or signpost";
                    button type="submit" { "Next" }
                }
                button #in type="button" { "Zoom in" }
                button #out type="button" { "Zoom out" }
                button #whole type="button" disabled { "Whole trace" }
                label { input #sparse type="checkbox" autocomplete="off"; " Hide threads that are not alive in the visible range" }
            }
            p #status role="status" {}
            noscript { p { "The timeline is drawn by a script; the figures below need none." } }
            div #lanes tabindex="0" role="group" aria-label=(label) aria-describedby="keys" {
                div.room { canvas role="img" aria-label={ (label) ". Its figures stand below." } {} }
            }
            (key(trace))
            p.help #keys {
                "Drag to zoom into a stretch, with Shift to move; Ctrl and the wheel zoom, Shift and the wheel move. "
                "Keys: arrows step from stretch to stretch and from lane to lane, with Shift they move; "
                "plus and minus zoom, Enter zooms to what is chosen, Home and End go to the ends, Escape shows the whole trace. "
                "Where stretches are shorter than a pixel, heights are shares of time."
            }
        }
    }
}

/// What the shades stand for: of states those that occur.
fn key(trace: &Trace) -> Markup {
    let segments = trace.threads.iter().flat_map(|thread| &thread.segments);
    let mut occurring: BTreeSet<Kind> = segments.map(|segment| segment.state.kind()).collect();
    if trace.threads.iter().any(|thread| !thread.samples.is_empty()) {
        occurring.extend([Kind::Running, Kind::BlockedOrRunnable]);
    }
    if trace.cpus.iter().any(|cpu| !cpu.lost.is_empty()) {
        occurring.insert(Kind::Lost);
    }
    let any = |is: fn(&Thread) -> bool| trace.threads.iter().any(is);
    let is_shown = |class: &str| match class {
        "other" => !trace.cpus.is_empty(),
        "not-traced striped" => trace.cpus.is_empty() && any(|thread| !thread.segments.is_empty()),
        "call" => any(|thread| !thread.calls.is_empty()),
        "moment" => any(|thread| !thread.faults.is_empty()),
        "post" => any(|thread| !thread.signposts.is_empty()),
        "wakeup" => !trace.wakeups.is_empty(),
        _ => false,
    };
    html! {
        ul.shades aria-label="Key" {
            @for kind in Kind::ALL {
                li hidden[!occurring.contains(&kind)] {
                    i data-shade class=(class(kind)) {} " " (kind.name())
                }
            }
            @for (class, name) in SHADES {
                li hidden[!is_shown(class)] { i data-shade class=(class) {} " " (name) }
            }
        }
    }
}

fn class(kind: Kind) -> String {
    let name = kind.name().replace(' ', "-");
    match kind {
        Kind::PreemptedOrYielded | Kind::BlockedOrRunnable | Kind::Lost | Kind::Unknown => {
            name + " striped"
        }
        _ => name,
    }
}
