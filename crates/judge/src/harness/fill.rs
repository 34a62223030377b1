//! Places in words: `{name}` and the others.

use std::collections::BTreeMap;

/// What can be filled in, and what it stands for.
const PLACES: [&str; 22] = [
    "root",       // the folder of the side
    "target",     // where it is built
    "scratch",    // an empty folder for files of this run
    "python",     // the interpreter
    "package",    // what `each` lists
    "directory",  // and where it lies
    "exe",        // the executable
    "keep_links", // keeps the words of links, in place of the linker or before it
    "link",       // the words of the link that made it
    "seed",       // of a layout
    "name",       // the benchmark
    "command",    // the same, with the folder of the side for {}
    "regex",      // the benchmark, as a regular expression
    "go_pattern", // the same, anchored part by part
    "colons",     // the benchmark, with :: for /
    "params",     // -p KEY=VALUE for each of JMH's parameters
    "n",          // iterations of a sample
    "k",          // samples
    "sample_s",   // length of a sample, in seconds
    "sample_ms",  // in ms, at least 1
    "total_s",    // length of all samples
    "warm_s",     // length of a warm-up
];

/// Values of places. One that holds several words stands alone in its word.
#[derive(Clone, Debug, Default)]
pub(super) struct Filling {
    values: BTreeMap<&'static str, Vec<String>>,
}

impl Filling {
    pub(super) fn put(mut self, place: &'static str, value: impl Into<String>) -> Filling {
        self.values.insert(place, vec![value.into()]);
        self
    }

    pub(super) fn with_words(mut self, place: &'static str, words: Vec<String>) -> Filling {
        self.values.insert(place, words);
        self
    }

    /// The words with what is known; other places stay as they are.
    pub(super) fn filled(&self, words: &[String]) -> Vec<String> {
        let mut filled = Vec::new();
        for word in words {
            let alone = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            match alone.and_then(|place| self.values.get(place)) {
                Some(values) => filled.extend(values.iter().cloned()),
                None => filled.push(self.text(word)),
            }
        }
        filled
    }

    pub(super) fn text(&self, word: &str) -> String {
        let mut text = String::new();
        for piece in pieces(word) {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Place(place) => match self.values.get(place) {
                    Some(values) => text.push_str(&values.join(" ")),
                    None => text.push_str(&format!("{{{place}}}")),
                },
            }
        }
        text
    }
}

/// The first place of a word that nothing fills.
pub(super) fn unknown_place(word: &str) -> Option<&str> {
    let mut places = pieces(word).into_iter().filter_map(|piece| match piece {
        Piece::Place(place) => Some(place),
        Piece::Text(_) => None,
    });
    places.find(|place| !PLACES.contains(place))
}

/// A part of a word or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'w> {
    Text(&'w str),
    Place(&'w str),
}

/// Parts of a word: a place is `{` letters `}`, and not after another `{` or a `$`, which are of others.
pub(super) fn pieces(word: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(open) = word[at..].find('{').map(|found| at + found) {
        let place = word[open + 1..].split_once('}').map(|(place, _)| place).filter(|place| {
            !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        });
        let is_of_others = word[..open].ends_with(['{', '$']);
        match place.filter(|_| !is_of_others) {
            Some(place) => {
                pieces.extend((from < open).then_some(Piece::Text(&word[from..open])));
                pieces.push(Piece::Place(place));
                at = open + place.len() + 2;
                from = at;
            }
            None => at = open + 1,
        }
    }
    pieces.extend((from < word.len()).then_some(Piece::Text(&word[from..])));
    pieces
}

/// A name as a regular expression for itself: only these characters, which every dialect reads so.
pub(super) fn escaped(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if ".+*?()|[]{}^$\\".contains(character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// go test splits a pattern at `/` and matches part by part.
pub(super) fn go_pattern(name: &str) -> String {
    let parts = name.split('/').map(|part| format!("^{}$", escaped(part)));
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_others_stay() {
        let words = ["{{.Dir}} ${HOME} {} {name}{n}x {{x}}".to_owned(), "{params}".into()];
        let filling = Filling::default().put("name", "a b").put("n", "7");
        let filling = filling.with_words("params", vec!["-p".into(), "k=1".into()]);
        assert_eq!(filling.filled(&words), ["{{.Dir}} ${HOME} {} a b7x {{x}}", "-p", "k=1"]);
        assert_eq!(unknown_place("{nam}"), Some("nam"));
        assert_eq!(unknown_place("{{nam}} {}"), None);
    }

    #[test]
    fn names_as_patterns() {
        assert_eq!(go_pattern("BenchmarkA/p(1)*"), r"^BenchmarkA$/^p\(1\)\*$");
        assert_eq!(escaped("BM_Sum<int>/8"), "BM_Sum<int>/8");
    }
}
