//! What it costs to encode data and decode it, to compress and to hash it.

mod compression;
mod dictionary;
mod digest;

use meter::probe::{Effort, Probe, Text};

/// A kibibyte of plain English: compressible as such texts are.
const TEXT: &[u8; 1024] = include_bytes!("text.txt");

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = dictionary::probes();
    probes.extend(compression::probes());
    probes.push(digest::probe());
    probes
}

/// A row of the group without its texts.
fn blank(id: impl Into<Text>) -> Probe {
    Probe { effort: Effort::visits(8), ..Probe::blank(id) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_text_is_plain_and_does_not_repeat_itself() {
        assert!(TEXT.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')));
        let text = std::str::from_utf8(TEXT).expect("plain");
        let sentences: Vec<&str> = text.split(". ").map(str::trim).collect();
        let different: BTreeSet<&str> = sentences.iter().copied().collect();
        assert!(sentences.len() > 8);
        assert_eq!(different.len(), sentences.len());
    }
}
