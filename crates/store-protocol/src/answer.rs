//! What a helper answers.

use crate::failure::{Failure, FailureKind};
use crate::stored::{Document, Listed, Named};
use crate::wire::{invalid, mark, name, number, read_bytes, read_line};
use std::io::{self, BufRead, Write};

/// Items in one answer: documents in a list.
const MOST_ITEMS: usize = 1 << 20;

/// One of the things asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Listed(Listed),
    Document(Document),
    Missing,
    Tag(Named),
    Entry(Named),
}

/// How an answer ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Carried out. After `open`: the version, and capabilities.
    Ok(Vec<String>),
    Exists,
    None,
    Error(Failure),
}

/// The whole answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// In the order of what was asked for.
    pub items: Vec<Item>,
    /// How it ends.
    pub end: End,
}

impl Item {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let bytes: &[u8] = match self {
            Item::Listed(Listed { name, mark, kept_ms }) => {
                writeln!(to, "document {name} {mark} {kept_ms}")?;
                b""
            }
            Item::Document(Document { mark, bytes }) => {
                writeln!(to, "bytes {mark} {}", bytes.len())?;
                bytes
            }
            Item::Missing => {
                writeln!(to, "missing")?;
                b""
            }
            Item::Tag(Named { name, bytes }) => {
                writeln!(to, "tag {name} {}", bytes.len())?;
                bytes
            }
            Item::Entry(Named { name, bytes }) => {
                writeln!(to, "entry {name} {}", bytes.len())?;
                bytes
            }
        };
        to.write_all(bytes)
    }
}

impl End {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            End::Ok(words) if words.is_empty() => writeln!(to, "ok"),
            End::Ok(words) => writeln!(to, "ok {}", words.join(" ")),
            End::Exists => writeln!(to, "exists"),
            End::None => writeln!(to, "none"),
            End::Error(Failure { kind, message }) => {
                writeln!(to, "error {} {message}", kind.word())
            }
        }?;
        to.flush()
    }
}

impl Answer {
    /// The answer to a request.
    pub fn read(from: &mut impl BufRead) -> io::Result<Answer> {
        let mut items = Vec::new();
        loop {
            let line = read_line(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            if let Some((kind, message)) =
                line.strip_prefix("error ").and_then(|rest| rest.split_once(' '))
            {
                let kind = FailureKind::of_word(kind).ok_or_else(|| unknown(&line))?;
                return Ok(Answer { items, end: End::Error(Failure::new(kind, message)) });
            }
            let words: Vec<&str> = line.split(' ').collect();
            let mut named = |word: &str, count: &str| {
                Ok::<_, io::Error>(Named { name: name(word)?, bytes: read_bytes(from, count)? })
            };
            let end = match words[..] {
                ["ok", ref words @ ..] => {
                    End::Ok(words.iter().map(|&word| word.to_owned()).collect())
                }
                ["exists"] => End::Exists,
                ["none"] => End::None,
                _ => {
                    items.push(match words[..] {
                        ["document", word, of, kept] => Item::Listed(Listed {
                            name: name(word)?,
                            mark: mark(of)?,
                            kept_ms: number(kept)?,
                        }),
                        ["bytes", of, count] => Item::Document(Document {
                            mark: mark(of)?,
                            bytes: read_bytes(from, count)?,
                        }),
                        ["missing"] => Item::Missing,
                        ["tag", word, count] => Item::Tag(named(word, count)?),
                        ["entry", word, count] => Item::Entry(named(word, count)?),
                        _ => return Err(unknown(&line)),
                    });
                    if items.len() > MOST_ITEMS {
                        return Err(invalid(format!("it sent more than {MOST_ITEMS} items")));
                    }
                    continue;
                }
            };
            return Ok(Answer { items, end });
        }
    }
}

fn unknown(line: &str) -> io::Error {
    let short: String = line.chars().take(60).collect();
    invalid(format!("it sent {short:?}"))
}
