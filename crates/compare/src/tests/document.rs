//! What the document says of the sides, and that its page describes it.

use super::*;

#[test]
fn an_import_shows_its_own_time_and_not_its_build() {
    let mut run = synthetic::run();
    run.program.profile = "unknown".into();
    let facts = |run: &Run| {
        let facts = set(run, run, &USUAL).a.runs[0].clone();
        format!("{:?} {:?} {:?}\n", facts.started_unix_ms, facts.imported, facts.warnings)
    };
    let mut text = facts(&run);
    run.imported = Some(synthetic::imported());
    text += &facts(&run);
    if let Some(origin) = &mut run.imported {
        origin.measured_at = Some("2021-05-06".into());
    }
    text += &facts(&run);
    insta::assert_snapshot!(text);
}

#[test]
fn rows_of_one_side_are_named() {
    const ABSENT: [&str; 2] = ["memory.latency", "cpu.add_i32"];
    let a = synthetic::run();
    let mut b = a.clone();
    b.rows.retain(|row| !ABSENT.contains(&row.id.as_str()));
    let c = set(&a, &b, &USUAL);
    assert_eq!((&c.only_in_a[..], c.only_in_b.len()), (&ABSENT.map(String::from)[..], 0));
    assert_eq!(set(&b, &a, &USUAL).only_in_b, ABSENT);
    b.rows.clear();
    assert!(refused(&a, &b, &[], &USUAL).contains("no row in common"));
}

#[test]
fn the_page_shows_every_key_of_the_document() {
    let page = include_str!("../../../../docs/compare.md");
    let run = with_bandwidth(1.0);
    let mut other = slower(&run, "cpu.add_i32", 2.0);
    other.program.emulated = Some("qemu".into());
    let document = serde_json::to_value(set(&run, &other, &USUAL)).expect("JSON");
    let mut missing = Vec::new();
    keys_of(&document, &mut |key| {
        if !page.contains(&format!("`{key}`")) && !missing.contains(&key.to_owned()) {
            missing.push(key.to_owned());
        }
    });
    assert!(missing.is_empty(), "docs/compare.md does not tell {missing:?}");
}

fn keys_of(value: &serde_json::Value, each: &mut dyn FnMut(&str)) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                each(key);
                keys_of(value, each);
            }
        }
        serde_json::Value::Array(all) => all.iter().for_each(|value| keys_of(value, each)),
        _ => {}
    }
}
