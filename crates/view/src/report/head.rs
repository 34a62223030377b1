//! The head of the page: its title, and the title, sentence and picture of links
//! to it (the Open Graph protocol, <https://ogp.me>).

use super::content::{Content, Link};
use super::{GENERATOR, first};
use crate::html::{policy::meta, script};
use maud::{Markup, PreEscaped, html};
use model::overview::ratios;

pub(super) fn head(content: &Content, style: &str) -> Markup {
    let title = format!("{}: what operations cost", content.first().run.machine.name());
    let description = description(content);
    html! {
        head {
            (meta(GENERATOR, script()))
            title { (title) }
            meta name="description" content=(description);
            meta property="og:type" content="website";
            meta property="og:title" content=(title);
            meta property="og:description" content=(description);
            @if let Some(Link { page, image }) = &content.link {
                meta property="og:url" content=(page);
                @if let Some(image) = image {
                    meta property="og:image" content=(image);
                    meta name="twitter:card" content="summary_large_image";
                }
            }
            style { (PreEscaped(style)) }
        }
    }
}

/// The ratios of the first screen and what was measured on.
fn description(content: &Content) -> String {
    let run = content.first().run;
    let ratios = ratios(run);
    let ratios = ratios.iter().map(|ratio| format!("{} {}. ", ratio.amount(), ratio.time()));
    ratios.collect::<String>() + &first::description(run)
}
