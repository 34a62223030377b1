//! What a file must be before anything parses it.

use super::ImportFault;
use model::misfit::without_mark;

/// No result file is near as large; whatever is larger is something else.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
/// Brackets within brackets. Real files have six.
const MAX_DEPTH: usize = 64;

/// The text of a JSON file, which is not nested too deeply.
pub(super) fn json(bytes: &[u8]) -> Result<&str, ImportFault> {
    let text = text(bytes)?;
    match too_deep(text.as_bytes()) {
        None => Ok(text),
        Some(at) => {
            let reason = format!("it is nested more than {MAX_DEPTH} levels deep");
            Err(ImportFault::at(line_and_column(text.as_bytes(), at), reason))
        }
    }
}

/// The text of a file: UTF-8, not too large. A byte order mark is left out.
pub(super) fn text(bytes: &[u8]) -> Result<&str, ImportFault> {
    let bytes = without_mark(bytes);
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    if bytes.is_empty() {
        return Err(ImportFault::of_file("it is empty"));
    }
    let start = |reason: &str| Err(ImportFault::at((1, 1), reason));
    let utf_16 = "it is UTF-16, and results are UTF-8 (a shell that redirects in UTF-16 does \
                  this: let the tool write the file itself, or convert it)";
    match bytes {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0, _, ..] | [_, 0, ..] => return start(utf_16),
        _ => {}
    }
    std::str::from_utf8(bytes)
        .map_err(|e| ImportFault::at(line_and_column(bytes, e.valid_up_to()), "it is not UTF-8"))
}

/// What is said of a file beyond the limit, however it is noticed.
pub(super) fn too_large() -> ImportFault {
    ImportFault::of_file(format!(
        "it is larger than {} MiB, which no such file is",
        MAX_FILE_BYTES >> 20
    ))
}

/// Line and column of a byte, from 1; columns count bytes, as serde's do.
pub(super) fn line_and_column(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
    (line, before.len() - start + 1)
}

/// Where the nesting first exceeds the limit. Looks at brackets outside of
/// strings only: whether they match is the parser's to say.
fn too_deep(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(at);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
