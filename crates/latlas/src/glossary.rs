//! The terms of `docs/glossary.md`, for `latlas explain`.

const PAGE: &str = include_str!("../../../docs/glossary.md");

/// What a term means: its names, and the text without marks.
pub(crate) fn meaning(term: &str) -> Option<String> {
    let term = term.trim().replace('_', " ");
    entries().find_map(|(names, text)| {
        let is_same = |name: &str| name.eq_ignore_ascii_case(&term);
        names.split(", ").any(is_same).then(|| format!("{names}: {text}"))
    })
}

/// Names, apart by commas, with their text.
fn entries() -> impl Iterator<Item = (String, String)> {
    PAGE.split("\n- **").skip(1).filter_map(|entry| {
        let (names, text) = entry.split_once("**: ")?;
        let entry = text.split("\n\n").next().unwrap_or(text);
        let words: Vec<&str> = entry.split_whitespace().collect();
        Some((names.to_owned(), without_marks(&words.join(" "))))
    })
}

/// Without emphasis, and of a link its text.
fn without_marks(text: &str) -> String {
    let mut plain = text.replace("**", "").replace('*', "");
    while let Some((before, rest)) = plain.split_once("](") {
        let (link, text) = (before.rfind('['), rest.split_once(')'));
        let (Some(link), Some((_, after))) = (link, text) else { break };
        plain = format!("{}{}{after}", &before[..link], &before[link + 1..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_has_its_text_in_one_line() {
        let cycle = meaning("cycle").expect("a term");
        assert_eq!(
            cycle,
            "cycle: one tick of the core clock; the time of one dependent integer addition."
        );
        let affinity = meaning("Affinity").expect("a term");
        assert!(affinity.contains("pinning sets it") && !affinity.contains('*'), "{affinity}");
        let canary = meaning("canary").expect("one of several lines");
        assert!(canary.contains("L1 and one through") && !canary.contains('\n'), "{canary}");
        let clock = meaning("clock's movement between runs").expect("one with a link");
        assert!(clock.ends_with("(method.md)."), "{clock}");
        assert_eq!(meaning("level"), meaning("plateau"));
        assert_eq!(meaning("xyzzy"), None);
        assert!(entries().count() > 50, "{}", entries().count());
    }
}
