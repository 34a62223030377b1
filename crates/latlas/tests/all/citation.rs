//! `CITATION.cff` names this version, this licence and what the format asks for
//! (Citation File Format 1.2.0). CI has cffconvert read it too.

use std::collections::BTreeMap;

/// The keys of the first level with what stands behind them, and the items of
/// lists below them.
fn citation() -> BTreeMap<String, Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CITATION.cff");
    let text = std::fs::read_to_string(path).expect("CITATION.cff");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        match line.split_once(':') {
            Some((key, value)) if !line.starts_with([' ', '-', '#']) => {
                current = key.to_owned();
                let value = value.trim().trim_matches('"').to_owned();
                let values = Some(value).filter(|value| !value.is_empty());
                let known = found.insert(current.clone(), values.into_iter().collect());
                assert!(known.is_none(), "{key} stands twice");
            }
            _ => {
                let item = line.trim().trim_start_matches("- ").to_owned();
                found.entry(current.clone()).or_default().push(item);
            }
        }
    }
    found
}

#[test]
fn the_citation_is_whole_and_of_this_version() {
    let citation = citation();
    let of = |key: &str| -> Vec<&str> {
        let values = citation.get(key);
        let values = values.unwrap_or_else(|| panic!("no {key} in CITATION.cff"));
        values.iter().map(String::as_str).collect()
    };
    assert_eq!(of("cff-version"), ["1.2.0"]);
    assert_eq!(of("type"), ["software"]);
    for key in ["message", "title", "authors"] {
        assert!(!of(key).is_empty() && !of(key)[0].is_empty(), "{key}");
    }
    assert_eq!(of("version"), [env!("CARGO_PKG_VERSION")]);
    assert_eq!(of("license").join(" OR "), env!("CARGO_PKG_LICENSE"));
}
