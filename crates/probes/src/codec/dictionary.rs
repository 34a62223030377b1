//! A small dictionary in three formats: Ash's.

use super::blank;
use crate::repeated::{PLAIN, Repeated};
use meter::probe::{Probe, Work};
use std::hint::black_box;
use std::io::{self, Cursor};

/// A format, by a library: how it encodes and decodes, into and from a value
/// whose shape is only known when it is there.
trait Format: 'static {
    type Value: PartialEq;

    /// Whom the time belongs to.
    const LIBRARY: &'static str;

    /// {"one": "won", "two": 2, "three": "free"}.
    fn dictionary() -> Self::Value;

    fn encode(value: &Self::Value) -> io::Result<Vec<u8>>;

    fn decode(bytes: &[u8]) -> io::Result<Self::Value>;
}

struct Json;

impl Format for Json {
    type Value = serde_json::Value;
    const LIBRARY: &'static str = "serde_json, whose dictionary is a BTreeMap";

    fn dictionary() -> serde_json::Value {
        serde_json::json!({"one": "won", "two": 2, "three": "free"})
    }
    fn encode(value: &serde_json::Value) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(value)?)
    }
    fn decode(bytes: &[u8]) -> io::Result<serde_json::Value> {
        Ok(serde_json::from_slice(bytes)?)
    }
}

fn property_list() -> plist::Value {
    let mut dictionary = plist::Dictionary::new();
    dictionary.insert("one".into(), "won".into());
    dictionary.insert("two".into(), 2.into());
    dictionary.insert("three".into(), "free".into());
    plist::Value::Dictionary(dictionary)
}

const PLIST: &str = "plist, whose dictionary is an IndexMap";

struct XmlPlist;

impl Format for XmlPlist {
    type Value = plist::Value;
    const LIBRARY: &'static str = PLIST;

    fn dictionary() -> plist::Value {
        property_list()
    }
    fn encode(value: &plist::Value) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        value.to_writer_xml(&mut bytes).map_err(io::Error::other)?;
        Ok(bytes)
    }
    fn decode(bytes: &[u8]) -> io::Result<plist::Value> {
        plist::Value::from_reader(Cursor::new(bytes)).map_err(io::Error::other)
    }
}

struct BinaryPlist;

impl Format for BinaryPlist {
    type Value = plist::Value;
    const LIBRARY: &'static str = PLIST;

    fn dictionary() -> plist::Value {
        property_list()
    }
    fn encode(value: &plist::Value) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let written = value.to_writer_binary(&mut bytes);
        written.map_err(io::Error::other)?;
        Ok(bytes)
    }
    fn decode(bytes: &[u8]) -> io::Result<plist::Value> {
        plist::Value::from_reader(Cursor::new(bytes)).map_err(io::Error::other)
    }
}

pub(super) fn probes() -> Vec<Probe> {
    [
        both::<Json>(
            ["codec.json_encode", "codec.json_decode"],
            "JSON",
            "Written without white space.",
        ),
        both::<XmlPlist>(
            ["codec.plist_xml_encode", "codec.plist_xml_decode"],
            "an XML property list",
            "The decoder is not told the format but finds it, as Foundation's does.",
        ),
        both::<BinaryPlist>(
            ["codec.plist_binary_encode", "codec.plist_binary_decode"],
            "a binary property list",
            "The decoder is not told the format but finds it, as Foundation's does.",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The two rows of a format.
fn both<F: Format>(ids: [&'static str; 2], name: &str, remark: &str) -> [Probe; 2] {
    let library = F::LIBRARY;
    let source = "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: the same dictionary 1e6 times by Foundation's classes, with an autorelease pool around each inside the time; those are the rows objc.*, which other code than ours would have to run, so there is no ratio.";
    let [encode, decode] = ids;
    [
        Probe {
            title: format!("a small dictionary, encoded as {name}").into(),
            operation: format!("One dictionary {{\"one\": \"won\", \"two\": 2, \"three\": \"free\"}} encoded as {name} into fresh bytes.").into(),
            method: format!("{PLAIN} The dictionary was prepared; by {library}. {remark} The bytes' allocation and their end are inside the time; before the first sample they are decoded again and must give the dictionary.").into(),
            source: source.into(),
            make: Box::new(|_, _| encoding::<F>()),
            ..blank(encode)
        },
        Probe {
            title: format!("a small dictionary, decoded from {name}").into(),
            operation: format!("One dictionary {{\"one\": \"won\", \"two\": 2, \"three\": \"free\"}} decoded from {name} in memory into a value whose shape only the data tells.").into(),
            method: format!("{PLAIN} By {library}. {remark} The allocations of dictionary, keys and strings, and their end, are inside the time; before the first sample the result must be the dictionary.").into(),
            source: source.into(),
            make: Box::new(|_, _| decoding::<F>()),
            ..blank(decode)
        },
    ]
}

/// The dictionary and its bytes, which go both ways.
fn checked<F: Format>() -> Result<(F::Value, Vec<u8>), String> {
    let dictionary = F::dictionary();
    let bytes = F::encode(&dictionary).map_err(|e| format!("encoding failed: {e}"))?;
    match F::decode(&bytes) {
        Ok(decoded) if decoded == dictionary => Ok((dictionary, bytes)),
        Ok(_) => Err("decoding gives another dictionary than was encoded".into()),
        Err(e) => Err(format!("decoding failed: {e}")),
    }
}

fn size(bytes: &[u8]) -> String {
    format!("the encoded dictionary: {} bytes", bytes.len())
}

fn encoding<F: Format>() -> Result<Box<dyn Work>, String> {
    let (dictionary, bytes) = checked::<F>()?;
    let work = Repeated::new("encoding", move || {
        black_box(F::encode(black_box(&dictionary))?);
        Ok(())
    })?;
    Ok(Box::new(work.with_note(size(&bytes))))
}

fn decoding<F: Format>() -> Result<Box<dyn Work>, String> {
    let (_, bytes) = checked::<F>()?;
    let note = size(&bytes);
    let work = Repeated::new("decoding", move || {
        black_box(F::decode(black_box(&bytes))?);
        Ok(())
    })?;
    Ok(Box::new(work.with_note(note)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn the_bytes_are_of_the_format_that_is_named() {
        let (_, json) = checked::<Json>().expect("JSON");
        assert_eq!(json, br#"{"one":"won","three":"free","two":2}"#);
        let (_, xml) = checked::<XmlPlist>().expect("XML");
        let xml = String::from_utf8(xml).expect("text");
        assert!(xml.starts_with("<?xml ") && xml.contains("<plist"), "{xml}");
        for part in [
            "<key>two</key>",
            "<integer>2</integer>",
            "<string>free</string>",
        ] {
            assert!(xml.contains(part), "{xml}");
        }
        let (_, binary) = checked::<BinaryPlist>().expect("binary");
        assert!(binary.starts_with(b"bplist00"));
    }

    /// Counts its calls.
    struct Counting;
    static CALLS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

    impl Format for Counting {
        type Value = Vec<u8>;
        const LIBRARY: &'static str = "none";
        fn dictionary() -> Vec<u8> {
            vec![1, 2, 3]
        }
        fn encode(value: &Vec<u8>) -> io::Result<Vec<u8>> {
            CALLS[0].fetch_add(1, Ordering::SeqCst);
            Ok(value.clone())
        }
        fn decode(bytes: &[u8]) -> io::Result<Vec<u8>> {
            CALLS[1].fetch_add(1, Ordering::SeqCst);
            Ok(bytes.to_vec())
        }
    }

    #[test]
    fn each_row_does_what_it_says() {
        let ids = ["codec.none_encode", "codec.none_decode"];
        let probes = both::<Counting>(ids, "nothing", "None.");
        for (own, row) in ids.into_iter().enumerate() {
            CALLS
                .iter()
                .for_each(|calls| calls.store(0, Ordering::SeqCst));
            crate::smoke::run(&probes, row).expect("it runs");
            assert!(CALLS[own].load(Ordering::SeqCst) > 2, "{row}");
            // The check before the first sample.
            assert_eq!(CALLS[1 - own].load(Ordering::SeqCst), 1, "{row}");
        }
    }

    /// A library that loses an entry on the way.
    struct Lossy;

    impl Format for Lossy {
        type Value = Vec<u8>;
        const LIBRARY: &'static str = "none";
        fn dictionary() -> Vec<u8> {
            vec![1, 2, 3]
        }
        fn encode(value: &Vec<u8>) -> io::Result<Vec<u8>> {
            Ok(value[1..].to_vec())
        }
        fn decode(bytes: &[u8]) -> io::Result<Vec<u8>> {
            match bytes {
                [] => Err(io::ErrorKind::UnexpectedEof.into()),
                _ => Ok(bytes.to_vec()),
            }
        }
    }

    #[test]
    fn a_result_that_is_wrong_is_no_row() {
        let works = [encoding::<Lossy>(), decoding::<Lossy>()];
        for work in works {
            let reason = work.err().expect("wrong");
            assert_eq!(reason, "decoding gives another dictionary than was encoded");
        }
    }
}
