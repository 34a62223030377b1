//! Any bytes as an upload: refused with a reason, or kept and shown. The fuzz
//! target does the same.

use crate::common::{Atlas, ID, document};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

#[path = "../anything/invariants.rs"]
mod invariants;

use invariants::upload_anything;

/// Puts something else somewhere in a document.
fn mutated(value: &mut Value, way: &[u16], new: &Value) {
    let Some((&step, rest)) = way.split_first() else {
        *value = new.clone();
        return;
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            let at = usize::from(step) % items.len();
            mutated(&mut items[at], rest, new);
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = usize::from(step) % fields.len();
            if let Some(field) = fields.values_mut().nth(at) {
                mutated(field, rest, new);
            }
        }
        other => *other = new.clone(),
    }
}

fn check_response(bytes: &[u8]) -> Result<(), TestCaseError> {
    upload_anything(&Atlas::empty().router, bytes);
    Ok(())
}

#[test]
fn random_bytes_are_refused() {
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    let bytes = proptest::collection::vec(any::<u8>(), 0..2000);
    runner.run(&bytes, |bytes| check_response(&bytes)).expect("refused");
    // With the beginning of a zstd frame.
    runner
        .run(&bytes, |bytes| {
            check_response(&[&[0x28, 0xb5, 0x2f, 0xfd], bytes.as_slice()].concat())
        })
        .expect("refused");
}

#[test]
fn a_document_that_was_cut_or_damaged_leaves_nothing_behind() {
    let whole = document(ID, 0, "lab");
    let packed = zstd::bulk::compress(&whole, 1).expect("packed");
    let mut runner = TestRunner::new(ProptestConfig::with_cases(48));
    let damage = (any::<bool>(), 0.0..1.0, any::<u8>(), any::<bool>());
    runner
        .run(&damage, |(use_packed, share, byte, cut)| {
            let mut bytes = if use_packed { packed.clone() } else { whole.clone() };
            let at = (share * bytes.len() as f64) as usize;
            if cut {
                bytes.truncate(at)
            } else {
                bytes[at] = byte
            }
            check_response(&bytes)
        })
        .expect("refused or kept");
}

#[test]
fn a_document_that_lies_is_refused_or_shown() {
    let whole: Value = serde_json::from_slice(&document(ID, 0, "lab")).expect("JSON");
    let odd = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("JSON has no such number", |f| {
            serde_json::Number::from_f64(f).map(Value::Number)
        }),
        Just(Value::from(f64::MAX)),
        Just(Value::from(f64::MIN_POSITIVE)),
        Just(Value::from(0.0)),
        ".{0,20}".prop_map(Value::from),
        Just(Value::Array(vec![])),
        Just(serde_json::json!({})),
    ];
    let way = proptest::collection::vec(any::<u16>(), 1..7);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(96));
    let kept = std::cell::Cell::new(0);
    runner
        .run(&(way, odd), |(way, odd)| {
            let mut lying = whole.clone();
            mutated(&mut lying, &way, &odd);
            // Mutations of the many samples are mostly the same: look at rows.
            if let Some(cells) = lying["cells"].as_array_mut() {
                cells.truncate(2);
            }
            let was_kept = upload_anything(&Atlas::empty().router, lying.to_string().as_bytes());
            kept.set(kept.get() + u32::from(was_kept));
            Ok(())
        })
        .expect("refused or shown");
    assert!(kept.get() > 0, "no mutation was kept: nothing was shown");
}
