//! The head of the page: its title, and the title, sentence and picture of links
//! to it (the Open Graph protocol, <https://ogp.me>).

use super::content::{Content, Link};
use super::{GENERATOR, first};
use crate::chart::svg::CARD;
use crate::html::{policy::meta, script};
use maud::{Markup, PreEscaped, html};
use model::overview::ratios;
use model::run::Run;

pub(super) fn head(content: &Content, style: &str) -> Markup {
    let run = content.first().run;
    let title = format!("{}: what operations cost", run.machine.name());
    html! {
        head {
            (meta(GENERATOR, script()))
            title { (title) }
            (preview(&title, &ratios_text(run), content.link))
            style { (PreEscaped(style)) }
        }
    }
}

/// What a link to the page shows.
pub(super) fn preview(title: &str, description: &str, link: Option<&Link>) -> Markup {
    html! {
        meta name="description" content=(description);
        meta property="og:type" content="website";
        meta property="og:title" content=(title);
        meta property="og:description" content=(description);
        @if let Some(Link { page, image }) = link {
            meta property="og:url" content=(page);
            @if let Some(image) = image {
                meta property="og:image" content=(image);
                meta property="og:image:width" content=(CARD.0);
                meta property="og:image:height" content=(CARD.1);
                meta property="og:image:alt" content=(title);
                meta name="twitter:card" content="summary_large_image";
            }
        }
    }
}

/// The ratios of the first screen and what was measured on.
pub(super) fn ratios_text(run: &Run) -> String {
    let ratios = ratios(run);
    let ratios = ratios
        .iter()
        .filter(|ratio| ratio.count.is_some())
        .map(|ratio| format!("{} {}. ", ratio.amount(), ratio.time()));
    ratios.collect::<String>() + &first::description(run)
}
