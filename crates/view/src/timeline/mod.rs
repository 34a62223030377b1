//! A trace as one self-contained page: its threads and CPUs over time, drawn on a
//! canvas by a script that is part of the page, and the figures that a terminal
//! shows of it, which lead to slices of the timeline. Without a script there is the
//! picture of its lanes.

mod bytes;
mod cpus;
mod lanes;
mod pack;
#[cfg(test)]
mod tests;

use crate::chart::MOST_THREADS;
use crate::chart::lanes::in_columns;
use crate::chart::svg::{Theme, to_svg};
use crate::html::policy::meta;
use crate::html::{PageContext, finished, paint, style};
use crate::render::trace::drawn;
use crate::render::{TraceOptions, trace_parts};
use crate::shade::{self, CALL, MEMORY, shade_class, state_shade};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::phrases::counted;
use model::story::{Block, Link};
use model::trace::summary::Slice;
use model::trace::{StateKind, Thread, Trace};
use pack::pack;
use std::collections::BTreeSet;

/// The script of the page.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../html/browser/shared.js"),
    // Their names are their own.
    "{\n",
    include_str!("../html/browser/address.js"),
    include_str!("../html/browser/sort.js"),
    "}\n",
    include_str!("browser/data.js"),
    include_str!("browser/unpack.js"),
    include_str!("browser/lanes.js"),
    include_str!("browser/paint.js"),
    include_str!("browser/calls.js"),
    include_str!("browser/text.js"),
    include_str!("browser/draw.js"),
    include_str!("browser/overlay.js"),
    include_str!("browser/slice.js"),
    include_str!("browser/figures.js"),
    include_str!("browser/tables.js"),
    include_str!("browser/range.js"),
    include_str!("browser/find.js"),
    include_str!("browser/address.js"),
    include_str!("browser/input.js"),
    include_str!("browser/start.js"),
    "})();\n"
);

/// The page of a trace. It opens on a stretch, in ns, if one is asked for, else on a
/// typical operation of a row, else on the whole.
pub fn timeline_html(trace: &Trace, stretch: Option<(u64, u64)>) -> String {
    // The lanes of a terminal are left out.
    let options = TraceOptions { all: true, columns: 0, stretch: None };
    let parts = trace_parts(trace, options);
    let recorded = [("What was recorded", parts.recorded)];
    let figures = parts.figures.into_iter().chain(recorded);
    let figures: Vec<Block> = figures
        .flat_map(|(name, blocks)| [Block::Heading(name.into())].into_iter().chain(blocks))
        .collect();
    let title = format!("Trace of {}", parts.heading);
    let packed = pack(trace, drawn(trace, stretch));
    let style = style() + &shade::classes() + include_str!("browser/timeline.css");
    finished(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta("latlas trace export", SCRIPT))
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body.workbench {
                a.skip href="#figures" { "Skip to the figures" }
                nav.bar aria-label="Parts of this page" {
                    p.brand { "latlas" }
                    div.links { a href="#timeline" { "Timeline" } a href="#figures" { "Figures" } }
                    button.theme #theme type="button" hidden { "Dark" }
                }
                main.trace #main tabindex="-1" {
                    h1 { (title) }
                    (timeline(trace, stretch))
                    section #figures aria-labelledby="h-figures" {
                        h2 #h-figures { "Figures" }
                        (paint(&figures, PageContext { heading: 3, href: &address }))
                    }
                }
                script #head type="application/json" { (PreEscaped(packed.head)) }
                script #data type="text/plain" { (PreEscaped(packed.data)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    })
}

/// The address of what a figure is about: the timeline shows that part.
fn address(link: &Link) -> Option<String> {
    match link {
        Link::Slice(Slice { thread, from_ns, to_ns }) => {
            Some(format!("#from={from_ns}&to={to_ns}&thread={thread}"))
        }
        _ => None,
    }
}

/// Places of a lane in the picture that stands in for the script: most readers never see it.
const COLUMNS: usize = 500;

fn picture(trace: &Trace, stretch: Option<(u64, u64)>) -> Markup {
    let picture = in_columns(trace, stretch, MOST_THREADS, COLUMNS);
    html! {
        (PreEscaped(to_svg(&picture, Theme::Page)))
        @if trace.threads.len() > MOST_THREADS {
            p { "The picture has no more than " (MOST_THREADS) " of " (trace.threads.len()) " threads." }
        }
    }
}

/// Hues of processes on the lanes of CPUs, each of two lightnesses, and greys of other
/// programs.
const HUES: usize = 7;
const GREYS: usize = 3;

/// Shades of the timeline after those of states and of what is on CPUs, in the order of
/// their numbers in the script. Each with its name, if it is shown to readers.
const SHADES: [(&str, &str); 7] = [
    ("idle", ""),
    ("not-traced", "no traced thread"),
    ("system-call", CALL.name),
    ("memory-operation", MEMORY.name),
    ("post", "signpost"),
    ("wakeup", "wake-up"),
    ("found", "found by the search"),
];

fn timeline(trace: &Trace, stretch: Option<(u64, u64)>) -> Markup {
    let label = format!(
        "Timeline of {} and {}",
        counted(trace.threads.len(), "thread"),
        counted(trace.cpu_count as usize, "CPU")
    );
    let not_known = if trace.cpus.is_empty() { "no traced thread" } else { "not known" };
    html! {
        section #timeline aria-labelledby="h-timeline" {
            h2.hidden #h-timeline { "Timeline" }
            div.tools {
                form #search role="search" {
                    input #find type="search" autocomplete="off" aria-label="Search: names, states and durations" placeholder="read > 1 ms, preempted, rustc";
                    button #previous type="button" { "Previous" }
                    button #next type="button" { "Next" }
                    output #found for="find" {}
                }
                button #in type="button" { "Zoom in" }
                button #out type="button" { "Zoom out" }
                button #whole type="button" disabled { "Whole trace" }
                label {
                    "Threads by "
                    select #order autocomplete="off" {
                        option value="activity" { "CPU time" }
                        option value="appearance" { "first appearance" }
                    }
                }
                button #fold type="button" { "Fold processes" }
                label { input #sparse type="checkbox" autocomplete="off"; " Only threads alive in the visible range" }
            }
            @if trace.threads.is_empty() { p { "No thread was recorded." } }
            p #status role="status" {}
            noscript { (picture(trace, stretch)) }
            div #lanes tabindex="0" role="group" aria-label=(label) aria-describedby="keys" {
                div.room {
                    div.sheet {
                        canvas role="img" aria-label={ (label) ". Its figures stand below." } {}
                        svg aria-hidden="true" {}
                        div.ruler hidden { span {} }
                    }
                }
            }
            div #paper {}
            div.panel #slice role="region" aria-label="Pinned slice" hidden {
                h3 {}
                p.tools {
                    button #closer type="button" { "Zoom to it" }
                    button #span type="button" { "Measure it" }
                    button #raise type="button" { "Lane to the top" }
                    button #copy type="button" { "Copy link" }
                    button #unpin type="button" { "Close" }
                }
                dl.facts {}
            }
            div.panel #range role="region" aria-label="Range" hidden {
                h3 {}
                p.tools {
                    button #range-in type="button" { "Zoom to it" }
                    button #range-off type="button" { "Close" }
                }
                p.states {}
                div.scroll tabindex="0" role="region" aria-label="Time on CPUs" {
                    table.plain.sorted {
                        caption { "Time on CPUs" }
                        thead { tr.titles {
                            @for title in ["CPU", "traced threads", "other programs", "idle", not_known, "most"] {
                                th class=[(!["CPU", "most"].contains(&title)).then_some("n")] scope="col" { (title) }
                            }
                        } }
                        tbody.n {}
                    }
                }
            }
            (key(trace))
            details.help {
                summary { "Mouse and keys" }
                p #keys {
                    "Click a slice to pin it, a name to keep its lane at the top, a process to fold it. "
                    "Drag over the ruler to measure a range, over the lanes to zoom, with Shift to move; Ctrl and the wheel or two fingers zoom, Shift and the wheel move. "
                    "Keys: arrows step from slice to slice and from lane to lane, with Shift they move; "
                    "plus and minus zoom, Enter zooms to the pinned slice, m measures it, p keeps its lane at the top, f folds its process, slash goes to the search, Home and End go to the ends, Escape closes what is open, then shows the whole trace. "
                    "In the search, Enter goes to the next hit, Shift and Enter to the one before. "
                    "Where slices are narrower than a pixel, heights are shares of time."
                }
            }
        }
    }
}

/// What the shades stand for: of states those that occur.
fn key(trace: &Trace) -> Markup {
    let segments = trace.threads.iter().flat_map(|thread| &thread.segments);
    let mut occurring: BTreeSet<StateKind> = segments.map(|segment| segment.state.kind()).collect();
    if trace.threads.iter().any(|thread| !thread.samples.is_empty()) {
        occurring.extend([StateKind::Running, StateKind::BlockedOrRunnable]);
    }
    if trace.cpus.iter().any(|cpu| !cpu.lost.is_empty()) {
        occurring.insert(StateKind::Lost);
    }
    // Until its first switch no record says what a CPU does.
    if trace.cpus.iter().any(|cpu| cpu.switches.first().is_none_or(|first| first.at_ns > 0)) {
        occurring.insert(StateKind::Unknown);
    }
    let any = |is: fn(&Thread) -> bool| trace.threads.iter().any(is);
    let has_lanes = any(|thread| !thread.segments.is_empty());
    let is_shown = |class: &str| match class {
        "not-traced" => trace.cpus.is_empty() && has_lanes,
        "system-call" => any(|thread| !thread.calls.is_empty()),
        "memory-operation" => trace.memory_spans().any(|(_, spans)| !spans.is_empty()),
        "post" => any(|thread| !thread.signposts.is_empty()),
        "wakeup" => !trace.wakeups.is_empty(),
        "found" => has_lanes,
        _ => false,
    };
    let processes: BTreeSet<u32> = trace.threads.iter().map(|thread| thread.process).collect();
    let of_whom = if processes.len() > 1 { "process" } else { "thread" };
    html! {
        ul.shades aria-label="Key" {
            @for kind in StateKind::ALL {
                li hidden[!occurring.contains(&kind)] {
                    i data-shade data-pattern=[pattern(kind)] class=(class(kind)) {} " " (kind.name())
                }
            }
            @for hue in 0..HUES { @for lightness in ["strong", "pale"] {
                // The first few stand for all.
                li.hue hidden[!has_lanes || hue > 2 || lightness == "pale"] { i data-shade class={ "hue-" (hue) " " (lightness) } {} }
            } }
            li hidden[!has_lanes] { "on CPUs: a colour for each traced " (of_whom) }
            @for grey in 0..GREYS {
                li hidden[trace.cpus.is_empty() || grey > 0] { i data-shade class={ "other-" (grey) } {} " another program" }
            }
            @for (class, name) in SHADES {
                @let pattern = (class == "not-traced").then_some("up");
                li hidden[!is_shown(class)] { i data-shade data-pattern=[pattern] class=(class) {} " " (name) }
            }
        }
    }
}

/// The pattern that tells a state from others where colours don't: one of `paint.js`.
fn pattern(kind: StateKind) -> Option<&'static str> {
    match kind {
        StateKind::Runnable => Some("across"),
        StateKind::Preempted | StateKind::Yielded | StateKind::PreemptedOrYielded => Some("down"),
        StateKind::Unknown => Some("dots"),
        StateKind::Lost | StateKind::BlockedOrRunnable => Some("up"),
        StateKind::Running | StateKind::Blocked | StateKind::Stopped => None,
    }
}

fn class(kind: StateKind) -> String {
    shade_class(state_shade(kind))
}
