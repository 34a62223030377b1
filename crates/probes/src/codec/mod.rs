//! Rows of encoding: `dictionary.rs` encodes and decodes a small dictionary in three formats,
//! `compression.rs` compresses a kibibyte of text (`text.txt`), `digest.rs` hashes it.

mod compression;
mod dictionary;
mod digest;

use meter::probe::{Effort, Probe, Text};

/// A kibibyte of plain English: compressible as such texts are.
const TEXT: &[u8; 1024] = include_bytes!("text.txt");

pub(crate) fn codec_probes() -> Vec<Probe> {
    let mut probes = dictionary::dictionary_probes();
    probes.extend(compression::compression_probes());
    probes.push(digest::digest_probe());
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
