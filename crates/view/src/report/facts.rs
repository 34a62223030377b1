//! What was measured on, when and in what conditions; and every fact of the
//! machine, or why it is not known.

use super::content::Content;
use crate::html::{PageContext, paint};
use crate::render::{facts_for_others, machine_facts};
use maud::{Markup, html};

/// In what conditions the run was made, and what belongs to the page.
pub(super) fn conditions(content: &Content) -> Markup {
    html! {
        section #conditions aria-labelledby="h-conditions" {
            h2 #h-conditions { "Conditions" }
            (paint(&facts_for_others(content.first().run), PageContext::CHAPTER))
            @if !(content.others.is_empty() && content.offered.is_empty()) { dl.facts {
                @if !content.others.is_empty() {
                    dt { "compared with" }
                    dd { @for (at, other) in content.others.iter().enumerate() {
                        @if at > 0 { ", " } (other.name)
                    } }
                }
                @if !content.offered.is_empty() {
                    dt { "documents" }
                    dd { @for (at, offered) in content.offered.iter().enumerate() {
                        @if at > 0 { ", " }
                        a href=(link(&offered.file)) { (offered.what) } " (" (model::size::about(offered.bytes)) ")"
                    } " with every sample, next to this page" }
                }
            } }
        }
    }
}

/// A file's name as a link to it: no part of it can be taken for a scheme, a
/// query or a fragment (RFC 3986, section 2.3 names what stays as it is).
pub fn link(file: &str) -> String {
    let mut link = String::from("./");
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                link.push(byte as char)
            }
            other => link.push_str(&format!("%{other:02X}")),
        }
    }
    link
}

pub(super) fn section(content: &Content) -> Markup {
    let run = content.first().run;
    html! {
        section #machine aria-labelledby="h-machine" {
            h2 #h-machine { "The machine" }
            p.lead { "System facts; where one is missing, why." }
            (paint(&machine_facts(&run.machine), PageContext::CHAPTER))
        }
    }
}

/// Who made the page, and with what.
pub(super) fn footer(content: &Content) -> Markup {
    html! {
        footer {
            @if !content.left_out.is_empty() {
                details {
                    summary { "Pictures that this run has nothing for" }
                    ul { @for left in content.left_out { li { code { (left.id) } ": " (left.why) } } }
                }
            }
            p {
                "Made by " (super::GENERATOR) " " (env!("CARGO_PKG_VERSION")) ". This page loads nothing from the network."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::link;

    #[test]
    fn a_file_name_is_a_path_and_nothing_else() {
        assert_eq!(link("a-b.run.json.zst"), "./a-b.run.json.zst");
        assert_eq!(link("javascript:x?y#z"), "./javascript%3Ax%3Fy%23z");
        assert_eq!(link("ä\"<"), "./%C3%A4%22%3C");
    }
}
