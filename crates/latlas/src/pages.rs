//! The pages of `docs/`, which the program holds so that every page that it names can be read where nothing else is:
//! `latlas help TOPIC`. build.rs packs them.

mod plain;

pub(crate) use plain::plain_page;

/// Name and length in bytes of each page, in the order in which they are packed.
const PAGES: &[(&str, usize)] = &include!(concat!(env!("OUT_DIR"), "/pages.rs"));
/// The texts of the pages after each other, deflated.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pages.deflate"));

/// A page of the documentation: the name that `latlas help` takes, and its Markdown.
pub(crate) struct Page {
    pub(crate) topic: &'static str,
    pub(crate) markdown: String,
}

impl Page {
    /// Its first heading.
    pub(crate) fn title(&self) -> &str {
        self.markdown.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// All pages, by their names.
pub(crate) fn all_pages() -> Vec<Page> {
    let unpacked = miniz_oxide::inflate::decompress_to_vec(PACKED).unwrap_or_default();
    let text = String::from_utf8(unpacked).unwrap_or_default();
    let mut rest = &text[..];
    let mut pages = Vec::new();
    for (topic, length) in PAGES {
        let Some((page, others)) = rest.split_at_checked(*length) else { break };
        pages.push(Page { topic, markdown: page.to_owned() });
        rest = others;
    }
    pages
}

/// Whether there is such a page.
pub(crate) fn is_topic(name: &str) -> bool {
    PAGES.iter().any(|(topic, _)| *topic == name)
}

/// The page of this name.
pub(crate) fn page_named(name: &str) -> Option<Page> {
    all_pages().into_iter().find(|page| page.topic == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_packed_whole_and_has_a_title() {
        let pages = all_pages();
        assert_eq!(pages.len(), PAGES.len());
        for page in &pages {
            let file = match page.topic.strip_prefix("noise-") {
                Some(name) => format!("noise/{name}.md"),
                None => format!("{}.md", page.topic),
            };
            let path = format!("{}/../../docs/{file}", env!("CARGO_MANIFEST_DIR"));
            assert_eq!(page.markdown, std::fs::read_to_string(&path).expect(&path));
            assert!(!page.title().is_empty(), "{path} has no title");
        }
    }

    #[test]
    fn the_topics_that_the_screen_names_are_there() {
        for topic in [
            "tutorial", "guide", "trust", "noise", "trace", "qos", "ci", "fleet", "packs",
            "formats",
        ] {
            assert!(is_topic(topic), "no page {topic}");
        }
    }
}
