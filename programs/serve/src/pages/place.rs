//! Where the links of blocks lead on these pages.

use maud::{Markup, html};
use model::story::{Block, Link};
use view::html::{PageContext, paint};

/// Blocks on a page, with links to the pages of what they name.
pub(super) fn painted(blocks: &[Block]) -> Markup {
    let place = PageContext { heading: 2, href: &page_path };
    paint(blocks, place)
}

fn page_path(link: &Link) -> Option<String> {
    match link {
        Link::Row { id, at } => Some(row_path(id, at)),
        Link::Run(id) => Some(format!("/runs/{}", in_query(id))),
        Link::Report(id) => Some(format!("/runs/{}/report", in_query(id))),
        Link::Machine(key) => Some(format!("/machines/{}", in_query(key))),
        Link::Slice(_) => None,
    }
}

pub(super) fn row_path(row: &str, at: &[u64]) -> String {
    match at.is_empty() {
        true => format!("/row?row={}", in_query(row)),
        false => format!("/row?row={}&at={}", in_query(row), point(at)),
    }
}

pub(super) fn point(at: &[u64]) -> String {
    at.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// A value behind the `?` of an address.
pub(super) fn in_query(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

pub(super) fn link(to: impl AsRef<str>, text: impl AsRef<str>) -> Markup {
    html! { a href=(to.as_ref()) { (text.as_ref()) } }
}

/// What is long, folded.
pub(super) fn folded(summary: &str, content: &Markup) -> Markup {
    html! { details.folded { summary { (summary) } (content) } }
}
