//! `docs/run-schema.json`: the JSON Schema of the Run document is what its types say.

use model::run::Run;
use model::synthetic;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run-schema.json");

fn run_schema() -> serde_json::Value {
    schemars::schema_for!(Run).to_value()
}

#[test]
fn the_page_in_docs_is_up_to_date() {
    let mut generated = serde_json::to_string_pretty(&run_schema()).expect("schema");
    generated.push('\n');
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PATH, &generated).expect("docs/run-schema.json is writable");
    }
    let kept = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(
        kept == generated,
        "docs/run-schema.json differs from the types: UPDATE_DOCS=1 cargo test -p latlas-store"
    );
}

#[test]
fn recordings_validate_and_broken_ones_do_not() {
    let validator = jsonschema::validator_for(&run_schema()).expect("a valid schema");
    let mut document = serde_json::to_value(synthetic::osnoise::osnoise_run()).expect("document");
    assert!(validator.is_valid(&document));
    let cpus = &mut document["recordings"][0]["interruptions"]["cpus"];
    cpus[0]["causes"][0]["cause"] = "weather".into();
    assert!(!validator.is_valid(&document));
}

#[test]
fn a_run_validates_and_a_broken_one_does_not() {
    let validator = jsonschema::validator_for(&run_schema()).expect("a valid schema");
    let mut document = serde_json::to_value(synthetic::run()).expect("document");
    if let Some(error) = validator.iter_errors(&document).next() {
        panic!("{error} at {}", error.instance_path);
    }
    document["rows"][0]["outcome"] = serde_json::json!({ "guess": 1 });
    assert!(!validator.is_valid(&document));
}
