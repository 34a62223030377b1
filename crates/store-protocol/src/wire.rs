//! Lines of words, some of which are followed by bytes whose count is the line's last word.

use std::io::{self, BufRead, Read};

/// Longest line, with its end.
const MOST_LINE: u64 = 8 << 10;

/// Largest document, index entry or tag.
pub const MOST_BYTES: u64 = 1 << 30;

/// Names in one request.
pub const MOST_NAMES: usize = 50;

const LONGEST_NAME: usize = 128;

pub(crate) fn invalid(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// The next line, without its end; `None` at the end of the stream.
pub(crate) fn read_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    from.take(MOST_LINE).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => return Ok(None),
        Some(b'\n') => {}
        Some(_) if line.len() as u64 + 1 == MOST_LINE => {
            return Err(invalid(format!("it sent a line of more than {MOST_LINE} bytes")));
        }
        Some(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
    }
    let line = String::from_utf8(line).map_err(|_| invalid("it sent a line that is not UTF-8"))?;
    match line.contains(char::is_control) {
        true => Err(invalid(format!("it sent {line:?}"))),
        false => Ok(Some(line)),
    }
}

/// The bytes after a line.
pub(crate) fn read_bytes(from: &mut impl Read, count: &str) -> io::Result<Vec<u8>> {
    let count: u64 = number(count)?;
    if count > MOST_BYTES {
        return Err(invalid(format!("it sent {count} bytes at once, of at most {MOST_BYTES}")));
    }
    // What a line claims is believed as it comes.
    let mut bytes = Vec::new();
    from.take(count).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == count {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

pub(crate) fn number<T: std::str::FromStr>(word: &str) -> io::Result<T> {
    word.parse().map_err(|_| invalid(format!("it sent {word:?} for a number")))
}

/// A document's or tag's name: letters, digits and `._+-`, the first a letter or digit, so that it
/// can be the name of a file.
pub(crate) fn name(word: &str) -> io::Result<String> {
    let begins = word.starts_with(|c: char| c.is_ascii_alphanumeric());
    let fits = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    match begins && word.len() <= LONGEST_NAME && word.chars().all(fits) {
        true => Ok(word.to_owned()),
        false => Err(invalid(format!("it sent {word:?} for a name"))),
    }
}

/// The SHA-256 of a document, 64 lower-case hexadecimal digits.
pub(crate) fn mark(word: &str) -> io::Result<String> {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    match word.len() == 64 && word.chars().all(is_digit) {
        true => Ok(word.to_owned()),
        false => Err(invalid(format!("it sent {word:?} for a SHA-256"))),
    }
}
