//! A small dictionary in three formats: Ash's.

use super::blank;
use crate::engine::reason::{Doing, Reason};
use crate::engine::repeated::{PLAIN, calls};
use meter::probe::{Make, Probe, Work, WorkError};
use std::hint::black_box;
use std::io::{self, Cursor};

const ASH: &str = "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: the same dictionary 1e6 times by Foundation's classes, with an autorelease pool around each inside the time. Those are the rows objc.*, which run other code than this row, so there is no ratio.";

const FOUND: &str = "The decoder detects the format from the data, as Foundation's does.";

fn property_list() -> plist::Value {
    let mut dictionary = plist::Dictionary::new();
    dictionary.insert("one".into(), "won".into());
    dictionary.insert("two".into(), 2.into());
    dictionary.insert("three".into(), "free".into());
    plist::Value::Dictionary(dictionary)
}

fn encode_json(value: &serde_json::Value) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}

fn decode_json(bytes: &[u8]) -> io::Result<serde_json::Value> {
    Ok(serde_json::from_slice(bytes)?)
}

fn encode_xml(value: &plist::Value) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let written = value.to_writer_xml(&mut bytes);
    written.map_err(io::Error::other)?;
    Ok(bytes)
}

fn encode_binary(value: &plist::Value) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let written = value.to_writer_binary(&mut bytes);
    written.map_err(io::Error::other)?;
    Ok(bytes)
}

fn decode_plist(bytes: &[u8]) -> io::Result<plist::Value> {
    plist::Value::from_reader(Cursor::new(bytes)).map_err(io::Error::other)
}

struct DictionaryFormat {
    /// Of the rows that encode and decode.
    ids: [&'static str; 2],
    name: &'static str,
    /// Whose time it is.
    library: &'static str,
    remark: &'static str,
}

const PLIST: &str = "plist, whose dictionary is an IndexMap";

pub(super) fn dictionary_probes() -> Vec<Probe> {
    let json = || serde_json::json!({"one": "won", "two": 2, "three": "free"});
    [
        both(
            DictionaryFormat {
                ids: ["codec.json_encode", "codec.json_decode"],
                name: "JSON",
                library: "serde_json, whose dictionary is a BTreeMap",
                remark: "Written without white space.",
            },
            json,
            encode_json,
            decode_json,
        ),
        both(
            DictionaryFormat {
                ids: ["codec.plist_xml_encode", "codec.plist_xml_decode"],
                name: "an XML property list",
                library: PLIST,
                remark: FOUND,
            },
            property_list,
            encode_xml,
            decode_plist,
        ),
        both(
            DictionaryFormat {
                ids: ["codec.plist_binary_encode", "codec.plist_binary_decode"],
                name: "a binary property list",
                library: PLIST,
                remark: FOUND,
            },
            property_list,
            encode_binary,
            decode_plist,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The two rows of a format: how it encodes {"one": "won", "two": 2, "three":
/// "free"}, and decodes it into a value whose shape is only known when it is
/// there.
fn both<V: PartialEq + 'static>(
    format: DictionaryFormat,
    dictionary: fn() -> V,
    encode: impl Fn(&V) -> io::Result<Vec<u8>> + Copy + 'static,
    decode: impl Fn(&[u8]) -> io::Result<V> + Copy + 'static,
) -> [Probe; 2] {
    let DictionaryFormat { ids, name, library, remark } = format;
    let make = |back: bool| -> Make {
        Box::new(move |_, _| dictionary_work(dictionary(), encode, decode, back))
    };
    [
        Probe {
            title: format!("a small dictionary, encoded as {name}").into(),
            operation: format!("One dictionary {{\"one\": \"won\", \"two\": 2, \"three\": \"free\"}} encoded as {name} into fresh bytes.").into(),
            method: format!("{PLAIN} The dictionary exists before; by {library}. {remark} The allocation of the bytes and their release are inside the time; before the first sample they are decoded again and must give the dictionary.").into(),
            source: ASH.into(),
            make: make(false),
            ..blank(ids[0])
        },
        Probe {
            title: format!("a small dictionary, decoded from {name}").into(),
            operation: format!("One dictionary {{\"one\": \"won\", \"two\": 2, \"three\": \"free\"}} decoded from {name} in memory into a value whose shape only the data defines.").into(),
            method: format!("{PLAIN} By {library}. {remark} The allocations of dictionary, keys and strings, and their release, are inside the time; before the first sample the result must be the dictionary.").into(),
            source: ASH.into(),
            make: make(true),
            ..blank(ids[1])
        },
    ]
}

/// Encoding or decoding, once the dictionary went both ways.
fn dictionary_work<'w, V: PartialEq + 'static>(
    dictionary: V,
    encode: impl Fn(&V) -> io::Result<Vec<u8>> + 'static,
    decode: impl Fn(&[u8]) -> io::Result<V> + 'static,
    back: bool,
) -> Result<Box<dyn Work + 'w>, WorkError> {
    let bytes = encode(&dictionary).doing("encoding failed")?;
    if decode(&bytes).doing("decoding failed")? != dictionary {
        return Err(Reason::wrong("decoding gives another dictionary than was encoded").into());
    }
    let size = format!("the encoded dictionary: {} bytes", bytes.len());
    if back {
        let call = move || {
            black_box(decode(black_box(&bytes))?);
            Ok(())
        };
        return calls("decoding", call).tried()?.note(size).boxed();
    }
    let call = move || {
        black_box(encode(black_box(&dictionary))?);
        Ok(())
    };
    calls("encoding", call).tried()?.note(size).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_of_the_format_that_is_named() {
        let json = encode_json(&serde_json::json!({"one": "won", "two": 2, "three": "free"}));
        assert_eq!(json.expect("JSON"), br#"{"one":"won","three":"free","two":2}"#);
        let xml = String::from_utf8(encode_xml(&property_list()).expect("XML")).expect("text");
        for text in
            ["<?xml ", "<plist", "<key>two</key>", "<integer>2</integer>", "<string>free</string>"]
        {
            assert!(xml.contains(text), "{xml}");
        }
        let binary = encode_binary(&property_list()).expect("binary");
        assert!(binary.starts_with(b"bplist00"));
    }

    #[test]
    fn a_result_that_is_wrong_is_no_row() {
        let copy = |value: &Vec<u8>| Ok(value.clone());
        let decode = |bytes: &[u8]| Ok(bytes.to_vec());
        let lossy = |value: &Vec<u8>| Ok(value[1..].to_vec());
        for back in [false, true] {
            assert!(dictionary_work(vec![1, 2, 3], copy, decode, back).is_ok());
            let why = dictionary_work(vec![1, 2, 3], lossy, decode, back).err();
            let wrong = "decoding gives another dictionary than was encoded";
            assert_eq!(why, Some(Reason::wrong(wrong).into()));
        }
    }
}
