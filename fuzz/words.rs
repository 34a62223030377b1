//! How a line may speak that refuses an input.

/// The words of a parser that no user should read.
const WORDS: [&str; 5] =
    ["expected struct", "invalid type", "invalid value", "missing field", " at line "];

/// Checks a line that refuses an input: one line, not in the parser's words. What the input itself has may be
/// quoted.
pub(crate) fn check(line: &str, input: &str) {
    assert!(!line.contains('\n') && line.len() < 20_000, "{line:?}");
    let words = WORDS.iter().find(|&&words| line.contains(words) && !input.contains(words));
    assert_eq!(words, None, "{line:?}");
}
