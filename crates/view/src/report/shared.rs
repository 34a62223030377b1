//! The page that people send each other: what things cost on a machine, each in the time of another, and where it
//! stands among others. Made of a run without personal details.

use super::content::Link;
use super::{GENERATOR, first};
use crate::chart::svg::{self, Card};
use crate::chart::{PLACE, one};
use crate::html::policy::meta;
use crate::html::{PageContext, finished, keys, paint, script, style};
use crate::render::warning_blocks;
use compare::references::References;
use maud::{DOCTYPE, PreEscaped, html};
use model::run::Run;
use model::story::Block;
use model::story::exchange_rate::{ExchangeRate, count_text, story};
use model::tally::tally;

/// What the page shows.
#[derive(Clone, Copy, Debug)]
pub struct SharedContent<'a> {
    /// The run, without personal details.
    pub run: &'a Run,
    /// What it does not hold of the stored one, a line each.
    pub left_out: &'a [String],
    /// The published tables.
    pub references: &'a References,
    /// Where the page will be, if that is known.
    pub link: Option<&'a Link>,
}

/// The page.
pub fn shared_html(content: &SharedContent) -> String {
    let SharedContent { run, left_out, references, link } = *content;
    let title = format!("What things cost on {}", run.machine.name());
    let place = one(run, references, PLACE).map(Block::chart);
    let rate = story(run);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(GENERATOR, script()))
                title { (title) }
                (super::head::preview(&title, &super::head::ratios_text(run), link))
                style { (PreEscaped(style())) }
            }
            body {
                a.skip href="#main" { "Skip to the figures" }
                nav.bar aria-label="Parts of this page" {
                    p.brand { "latlas" }
                    div.links {
                        a href="#rate" { "Exchange rate" }
                        @if place.is_some() { a href="#place" { "Among other machines" } }
                        a href="#left-out" { "Left out" }
                    }
                    button.theme #theme type="button" hidden { "Dark" }
                }
                header.top {
                    div.head {
                        div {
                            h1 { "What things cost " span { "on " (run.machine.name()) } }
                            p.sub { (first::description(run)) }
                        }
                        (first::trust(run))
                    }
                    (paint(&warning_blocks(Some(run)), PageContext::CHAPTER))
                    (paint(&first::mostly_doubtful(run), PageContext::CHAPTER))
                }
                main #main tabindex="-1" data-source=(source(run)) {
                    (keys())
                    section.rate #rate aria-labelledby="h-rate" {
                        h2 #h-rate { "The exchange rate" }
                        p.lead { "Every operation in the time of one of them. Click an operation to make it the unit; the address keeps it." }
                        (paint(&rate, PageContext::CHAPTER))
                    }
                    @if let Some(place) = place {
                        section #place aria-labelledby="h-place" {
                            h2 #h-place { "Among other machines" }
                            (paint(&[place], PageContext::CHAPTER))
                        }
                    }
                    section #left-out aria-labelledby="h-left-out" {
                        h2 #h-left-out { "Left out" }
                        p.lead { "This page names no person, host, path or address. Of the stored run it does not hold:" }
                        ul.notes { @for line in left_out { li { (line) } } }
                    }
                }
                footer { p { "Made by " (GENERATOR) " " (env!("CARGO_PKG_VERSION")) ". This page loads nothing from the network." } }
                script { (PreEscaped(script())) }
            }
        }
    };
    finished(markup)
}

/// Of which machine and run a copy is; no host.
fn source(run: &Run) -> String {
    format!(
        "{}; {}; {} {}",
        run.machine.name(),
        first::description(run),
        run.program.name,
        run.program.version
    )
}

/// Operations of the card, in the order of preference.
const ON_CARD: [&str; 9] = [
    "file.write_durable/16B",
    "process.fork_exec",
    "thread.create_join",
    "net.round_trip/tcp",
    "call.syscall",
    "memory.latency/DRAM",
    "sync.mutex_uncontended",
    "cpu.div_i64",
    "cpu.branch_mispredict",
];

/// The picture that stands for a page of the run where it is linked, as SVG of exactly [`svg::CARD`] px.
pub fn card(run: &Run) -> String {
    let rate = ExchangeRate::of_run(run);
    let mut lines = Vec::new();
    if let Some(unit) = rate.unit.map(|unit| &rate.lines[unit]) {
        let of =
            |id: &&str| rate.lines.iter().find(|line| line.key == **id && line.key != unit.key);
        let counted =
            ON_CARD.iter().filter_map(of).filter_map(|line| Some((line, rate.count(line)?)));
        lines = counted
            .map(|(line, count)| {
                let mark = if line.is_uncertain() { "~" } else { "" };
                [
                    line.words.clone(),
                    format!("{mark}{}", count_text(&count)),
                    format!("× {}", unit.words),
                ]
            })
            .collect();
    }
    svg::card(&Card {
        title: format!("What things cost on {}", run.machine.name()),
        subtitle: run.machine.configuration().join(", "),
        lines,
        footer: format!("latlas: {}, {}", tally(run).rows.ok_text(), first::when(run)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::png;
    use crate::chart::svg::{SCREEN_DPI, Unit};
    use model::estimate::Verdict;
    use model::machine::Fact;
    use model::run::Outcome;
    use model::synthetic;

    fn page(run: &Run) -> String {
        let references = References::embedded().expect("references");
        let left_out = ["the name of the host".to_owned()];
        shared_html(&SharedContent {
            run,
            left_out: &left_out,
            references: &references,
            link: None,
        })
    }

    /// Width and height as the file says.
    fn size(run: &Run) -> [u32; 2] {
        let png = png(&card(run), Unit::Pixel, SCREEN_DPI).expect("a picture");
        [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes")))
    }

    #[test]
    fn the_page_holds_every_time_and_is_small() {
        let run = synthetic::run();
        let page = page(&run);
        assert!(page.len() <= 500_000, "{}", page.len());
        let rate = ExchangeRate::of_run(&run);
        for line in rate.lines.iter().filter(|line| line.usable().is_some()) {
            let ns = line.usable().expect("usable").value;
            assert!(
                page.contains(&format!("data-key=\"{}\" data-ns=\"{ns}\"", line.key)),
                "{}",
                line.key
            );
        }
        assert!(
            page.contains("the name of the host")
                && !page.contains(run.machine.hostname.get().expect("known"))
        );
        assert_eq!(size(&run), [1200, 630]);
    }

    #[test]
    fn names_are_no_markup_however_long() {
        let mut run = synthetic::run();
        let name = format!("<script>alert(1)</script>\u{202e}{}", "long ".repeat(60));
        run.machine.cpu_model = Fact::known(name.clone());
        run.rows[0].id = name;
        let page = page(&run);
        assert!(!page.contains("<script>alert") && !page.contains('\u{202e}'));
        assert_eq!(size(&run), [1200, 630]);
    }

    #[test]
    fn a_run_without_a_figure_says_so() {
        let mut run = synthetic::run();
        for row in run.rows.iter_mut() {
            if let Outcome::Figure(estimate) | Outcome::Level { estimate, .. } = &mut row.outcome {
                estimate.verdict = Verdict::Invalid;
            }
        }
        let page = page(&run);
        assert!(page.contains("there is no exchange rate") && !page.contains("id=\"unit\""));
        assert!(page.contains("LESS THAN HALF OF THE RESULTS HOLD: 0 of "));
        assert_eq!(size(&run), [1200, 630]);
    }
}
