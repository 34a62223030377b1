//! What latlas asks a helper for.

use crate::stored::{Named, NewDocument};
use crate::wire::{MOST_NAMES, invalid, mark, name, number, read_bytes, read_line};
use std::io::{self, BufRead};

/// What latlas asks a helper for, one at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Open { version: u32, url: String },
    Check,
    List { prefix: String },
    Get { names: Vec<String> },
    Put(NewDocument),
    Delete { name: String },
    Tags { name: Option<String> },
    CreateTag(Named),
    SetTag(Named),
    DeleteTag { name: String },
    Entries { version: u32, names: Vec<String> },
    PutEntry { mark: String, version: u32, entry: Named },
}

impl Request {
    /// As it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (line, after): (String, [&[u8]; 2]) = match self {
            Request::Open { version, url } => (format!("open {version} {url}"), [b"", b""]),
            Request::Check => ("check".into(), [b"", b""]),
            Request::List { prefix } if prefix.is_empty() => ("list".into(), [b"", b""]),
            Request::List { prefix } => (format!("list {prefix}"), [b"", b""]),
            Request::Get { names } => (format!("get {}", names.join(" ")), [b"", b""]),
            Request::Put(NewDocument { name, mark, bytes, entry }) => {
                let line = format!("put {name} {mark} {}", bytes.len());
                match entry {
                    None => (line, [bytes, b""]),
                    Some((version, entry)) => {
                        (format!("{line} {version} {}", entry.len()), [bytes, entry])
                    }
                }
            }
            Request::Delete { name } => (format!("delete {name}"), [b"", b""]),
            Request::Tags { name: None } => ("tags".into(), [b"", b""]),
            Request::Tags { name: Some(name) } => (format!("tags {name}"), [b"", b""]),
            Request::CreateTag(Named { name, bytes }) => {
                (format!("create-tag {name} {}", bytes.len()), [bytes, b""])
            }
            Request::SetTag(Named { name, bytes }) => {
                (format!("set-tag {name} {}", bytes.len()), [bytes, b""])
            }
            Request::DeleteTag { name } => (format!("delete-tag {name}"), [b"", b""]),
            Request::Entries { version, names } => {
                (format!("entries {version} {}", names.join(" ")), [b"", b""])
            }
            Request::PutEntry { mark, version, entry: Named { name, bytes } } => {
                (format!("put-entry {name} {mark} {version} {}", bytes.len()), [bytes, b""])
            }
        };
        [line.as_bytes(), b"\n", after[0], after[1]].concat()
    }

    /// The next request; `None` when latlas has ended.
    pub fn read(from: &mut impl BufRead) -> io::Result<Option<Request>> {
        let Some(line) = read_line(from)? else {
            return Ok(None);
        };
        if let Some((version, url)) =
            line.strip_prefix("open ").and_then(|rest| rest.split_once(' '))
        {
            return Ok(Some(Request::Open { version: number(version)?, url: url.to_owned() }));
        }
        let words: Vec<&str> = line.split(' ').collect();
        let names = |words: &[&str]| match words.len() {
            0..=MOST_NAMES => words.iter().map(|word| name(word)).collect(),
            _ => Err(invalid(format!("it sent more than {MOST_NAMES} names"))),
        };
        let mut named = |word: &str, count: &str| {
            Ok::<_, io::Error>(Named { name: name(word)?, bytes: read_bytes(from, count)? })
        };
        Ok(Some(match words[..] {
            ["check"] => Request::Check,
            ["list"] => Request::List { prefix: String::new() },
            ["list", prefix] => Request::List { prefix: name(prefix)? },
            ["get", ref rest @ ..] => Request::Get { names: names(rest)? },
            ["put", word, of, count, ref entry @ ..] => {
                let Named { name, bytes } = named(word, count)?;
                let entry = match *entry {
                    [] => None,
                    [version, count] => Some((number(version)?, named(word, count)?.bytes)),
                    _ => return Err(invalid(format!("it sent {line:?}"))),
                };
                Request::Put(NewDocument { name, mark: mark(of)?, bytes, entry })
            }
            ["delete", word] => Request::Delete { name: name(word)? },
            ["tags"] => Request::Tags { name: None },
            ["tags", word] => Request::Tags { name: Some(name(word)?) },
            ["create-tag", word, count] => Request::CreateTag(named(word, count)?),
            ["set-tag", word, count] => Request::SetTag(named(word, count)?),
            ["delete-tag", word] => Request::DeleteTag { name: name(word)? },
            ["entries", version, ref rest @ ..] => {
                Request::Entries { version: number(version)?, names: names(rest)? }
            }
            ["put-entry", word, of, version, count] => Request::PutEntry {
                mark: mark(of)?,
                version: number(version)?,
                entry: named(word, count)?,
            },
            _ => return Err(invalid(format!("it sent {line:?}"))),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Document, End, Failure, FailureKind, Item, Listed};

    fn named(bytes: &[u8]) -> Named {
        Named { name: "base".into(), bytes: bytes.into() }
    }

    #[test]
    fn what_is_sent_is_what_is_read() {
        let (name, mark) = ("20200101T000000Z-5e.json.zst".to_owned(), "a".repeat(64));
        let (names, bytes) = (vec![name.clone(), "b".into()], b"x\ny".to_vec());
        let put = |entry| {
            let (name, mark, bytes) = (name.clone(), mark.clone(), bytes.clone());
            Request::Put(NewDocument { name, mark, bytes, entry })
        };
        let requests = [
            Request::Open { version: 1, url: "s3://a b".into() },
            Request::Check,
            Request::List { prefix: String::new() },
            Request::List { prefix: "5e".into() },
            Request::Get { names: names.clone() },
            put(None),
            put(Some((10, b"{}".to_vec()))),
            Request::Delete { name: name.clone() },
            Request::Tags { name: None },
            Request::Tags { name: Some("base".into()) },
            Request::CreateTag(named(b"")),
            Request::SetTag(named(b"\n\n")),
            Request::DeleteTag { name: "base".into() },
            Request::Entries { version: 10, names },
            Request::PutEntry { mark: mark.clone(), version: 10, entry: named(b"{}") },
        ];
        let sent = requests.iter().flat_map(Request::to_bytes).collect::<Vec<u8>>();
        let mut from = &sent[..];
        for request in &requests {
            assert_eq!(Request::read(&mut from).expect("read").as_ref(), Some(request));
        }
        assert_eq!(Request::read(&mut from).expect("the end"), None);
        // Half of a request is none.
        assert!(Request::read(&mut &put(None).to_bytes()[..100]).is_err());
        for wrong in
            ["get a/b\n", "put ..\n", "list -x\n", "delete x y\n", "check \n", "put a b 1\nx"]
        {
            assert!(Request::read(&mut wrong.as_bytes()).is_err(), "{wrong}");
        }
        let items = vec![
            Item::Listed(Listed { name, mark: mark.clone(), kept_ms: 7 }),
            Item::Document(Document { mark, bytes }),
            Item::Missing,
            Item::Tag(named(b"1\n")),
            Item::Entry(named(b"")),
        ];
        for end in [
            End::Ok(vec!["1".into(), "entries".into()]),
            End::Exists,
            End::None,
            End::Error(Failure::new(FailureKind::WentAway, "two\nlines")),
        ] {
            let mut sent = Vec::new();
            items.iter().try_for_each(|item| item.write(&mut sent)).expect("written");
            end.write(&mut sent).expect("written");
            let answer = Answer { items: items.clone(), end };
            assert_eq!(Answer::read(&mut &sent[..]).expect("read"), answer);
        }
    }
}
