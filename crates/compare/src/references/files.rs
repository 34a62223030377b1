//! The reference files as they are written, and the JSON that the program holds of them. Unknown keys are
//! refused: a misspelt `doubtful` would turn a wrong figure into a ratio.

use super::References;
use super::layout::LayoutFile;
use super::tables::Reference;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// A file of several machines by one author.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManyTables {
    source: String,
    method: Option<String>,
    #[serde(alias = "device")]
    machine: Vec<Reference>,
}

/// Parses one file and adds what it holds.
fn parse_into(all: &mut References, text: &str) -> Result<(), toml::de::Error> {
    // Which shape it is shows in keys that only that shape has.
    let keys: toml::Table = toml::from_str(text)?;
    if keys.contains_key("published") {
        let file: LayoutFile = toml::from_str(text)?;
        all.layouts.extend(file.published);
    } else if keys.contains_key("effect") {
        all.noise_effects.push(toml::from_str(text)?);
    } else if keys.contains_key("found") {
        all.found_controls.push(toml::from_str(text)?);
    } else if keys.contains_key("workload") {
        all.qos.push(toml::from_str(text)?);
    } else if keys.contains_key("key") {
        all.tables.push(toml::from_str(text)?);
    } else {
        let file: ManyTables = toml::from_str(text)?;
        all.tables.extend(file.machine.into_iter().map(|table| Reference {
            source: file.source.clone(),
            method: file.method.clone(),
            ..table
        }));
    }
    Ok(())
}

/// Files in the order in which `--vs` lists their tables.
const FILES: [&str; 9] = [
    "latency-numbers-2012",
    "mac-pro-2013",
    "iphone-6s",
    "kurkin-iphones",
    "ash-2008",
    "noise-effects",
    "noise-controls",
    "oakley-qos",
    "tables",
];

/// What is not there is left out, not written as null.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

#[test]
fn the_embedded_references_are_those_of_the_files() {
    let crate_directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = crate_directory.join("../../references");
    let mut all = References::default();
    for name in FILES {
        let text = std::fs::read_to_string(directory.join(name).with_extension("toml"));
        parse_into(&mut all, &text.expect(name)).expect(name);
    }
    let files = std::fs::read_dir(directory).expect("references").count();
    assert_eq!(files, FILES.len(), "a file of references/ is not listed");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let mut json = serde_json::to_value(&all).expect("JSON");
        without_nulls(&mut json);
        let json = serde_json::to_string_pretty(&json).expect("JSON") + "\n";
        let path = crate_directory.join("src/references/embedded.json");
        std::fs::write(path, json).expect("embedded.json is writable");
    }
    assert!(
        References::embedded().expect("readable") == all,
        "embedded.json differs from references/*.toml: UPDATE_DOCS=1 cargo test -p latlas-compare (twice)"
    );
}

#[test]
fn a_file_with_an_unknown_key_is_refused_by_name() {
    let text = "key='k'\ntitle='t'\nsource='s'\n[[row]]\nid='a.b'\nnanos=1\n";
    let error = parse_into(&mut References::default(), text).expect_err("nanos");
    assert!(error.message().contains("nanos"), "{error}");
}
