//! Documents as older versions of this program wrote them, each the one that
//! its tests kept when its schema was new (of schema 1: when it had come to
//! its last shape, the first days changed it without a new number).

use super::*;
use model::run::SCHEMA_VERSION;
use serde_json::Value;

/// The document of a schema, under an id of its own.
fn written_by(schema: u32) -> (String, Value) {
    let path =
        format!("{}/tests/fixtures/documents/schema-{schema}.json.zst", env!("CARGO_MANIFEST_DIR"));
    let packed = std::fs::read(&path).expect("the fixture");
    let json = zstd::decode_all(packed.as_slice()).expect("unpacked");
    let mut document: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(document["schema"], schema);
    let id = numbered(schema, "any").id;
    document["id"] = id.clone().into();
    let began = document["started_unix_ms"].as_u64().expect("a time");
    document["started_unix_ms"] = (began + 1000 * u64::from(schema)).into();
    (id, document)
}

/// A row's figure, by the text alone.
fn row_figure(document: &Value, row: &str) -> f64 {
    let rows = document["rows"].as_array().expect("rows");
    let found = rows.iter().find(|r| r["id"] == row).expect("the row");
    let figure = &found["outcome"]["figure"];
    figure["quiet"]["ns"]["value"].as_f64().expect("a figure")
}

#[test]
fn documents_of_every_schema_are_read_and_indexed() {
    let home = Home::new();
    let dir = home.store.runs_dir();
    std::fs::create_dir_all(dir).expect("made");
    let mut expected = Vec::new();
    for schema in 1..=SCHEMA_VERSION {
        let (id, document) = written_by(schema);
        // The first versions gave names without thousandths.
        let name = format!("20260101T00000{schema}Z-{id}.json.zst");
        let packed = zstd::bulk::compress(document.to_string().as_bytes(), 3).expect("packed");
        std::fs::write(dir.join(name), packed).expect("written");
        expected.push(row_figure(&document, "cpu.add_i32"));
    }
    let index = home.open_index();
    let verified = index.verify().expect("verified");
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!(index.messages(), [""; 0]);
    assert_eq!(verified.documents as u32, SCHEMA_VERSION);
    let machine = &index.machines().expect("machines")[0];
    let history = index.history(&machine.key, "cpu.add_i32", &[]).expect("history");
    let held: Vec<f64> =
        history.iter().filter_map(|(_, result)| Some(result.value_ns?.value)).collect();
    assert_eq!(held, expected);
    index.rebuild().expect("rebuilt");
    assert!(index.verify().expect("verified").is_whole());
    let store = Ok(home.store.clone());
    for schema in 1..=SCHEMA_VERSION {
        let back = format!("last~{}", SCHEMA_VERSION - schema);
        let path = crate::path_named(&back, &store).expect("kept");
        let run = crate::read_run(&path).expect("read");
        assert_eq!(run.schema, schema);
    }
}

#[test]
fn a_rebuild_removes_old_files_of_killed_writers() {
    let home = Home::with_three();
    let left = |name: &str, age_s: u64| {
        let path = home.store.runs_dir().join(name);
        let file = std::fs::File::create(&path).expect("made");
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(age_s);
        file.set_modified(then).expect("aged");
        path
    };
    let old = left(".20260101T000000.000Z-x.json.zst.12-0.incomplete", 7200);
    let being_written = left(".20260101T000000.000Z-y.json.zst.13-0.incomplete", 5);
    let index = home.quiet();
    let verified = index.verify().expect("verified");
    assert!(verified.is_whole(), "no damage: {verified:?}");
    assert_eq!(verified.left_over, std::slice::from_ref(&old));
    assert_eq!(index.rebuild().expect("rebuilt").left_over, 1);
    assert!(!old.exists() && being_written.exists());
    // Of tags too.
    let run = numbered(1, "one").id;
    index.tag(&run, "base", Taken::Refused).expect("tagged");
    let of_tag = left("../tags/.base.12-0.incomplete", 7200);
    assert_eq!(index.verify().expect("verified").left_over.len(), 1);
    assert_eq!(index.rebuild().expect("rebuilt").left_over, 1);
    assert!(!of_tag.exists());
    assert_eq!(home.store.tags().expect("tags").len(), 1);
}

#[test]
fn an_empty_atlas_is_rebuilt_as_it_is() {
    let home = Home::new();
    let index = home.open_index();
    let nothing = Rebuilt::default();
    assert_eq!(index.rebuild().expect("nothing to do"), nothing);
    assert_eq!(std::fs::read_dir(home.dir.path()).expect("home").count(), 0);
    // The first run came since it was opened.
    home.store.save(&numbered(1, "one")).expect("saved");
    assert_eq!(index.rebuild().expect("rebuilt").documents, 1);
    index.delete(&numbered(1, "one").id).expect("deleted");
    assert_eq!(index.rebuild().expect("rebuilt"), nothing);
}

#[test]
fn a_document_that_can_not_be_read_can_be_deleted_and_replaced() {
    for damage in [&b""[..], b"{\"schema\":1}", b"\x28\xb5\x2f\xfdx"] {
        let home = Home::with_three();
        let run = numbered(2, "two");
        let broken = home.store.find(&run.id).expect("kept");
        std::fs::write(&broken, damage).expect("broken");
        // By a process that has it in the index as it was, and one that has not.
        let (with, without) = (home.quiet(), home.open_index());
        without.rebuild().expect("rebuilt");
        assert_eq!(ids(&without), ["00000003", "00000001"]);
        let mut again = run.clone();
        again.started_unix_ms += 7;
        let path = without.keep(&again).expect("a place of its own");
        assert_eq!(crate::read_run(&path).expect("read"), again);
        assert!(!broken.exists());
        assert_eq!(ids(&with).len(), 3);
        let verified = home.quiet().verify().expect("verified");
        assert!(verified.is_whole(), "{verified:?}");
        let kept = with.keep(&run).expect_err("what can be read stays");
        assert!(kept.to_string().contains("already kept"), "{kept}");

        std::fs::write(&path, damage).expect("broken");
        let refused = home.store.save(&numbered(3, "one")).expect_err("kept");
        assert!(refused.to_string().contains("already kept"), "{refused}");
        home.open_index().delete(&run.id).expect("deleted");
        assert!(!path.exists());
        let files = home.store.files().expect("files");
        assert_eq!(files.len(), 2, "nothing is left: {files:?}");
    }
}

#[test]
fn a_newer_latlas_may_read_what_this_one_can_not() {
    let home = Home::with_three();
    let run = numbered(2, "two");
    let newer = home.store.find(&run.id).expect("kept");
    std::fs::write(&newer, b"{\"schema\":99}").expect("written");
    let refused = home.store.save(&run).expect_err("kept");
    assert!(refused.to_string().contains("already kept"), "{refused}");
    assert_eq!(std::fs::read(&newer).expect("there"), b"{\"schema\":99}");
}

#[test]
fn of_two_files_with_one_id_the_index_keeps_one() {
    let home = Home::with_three();
    let run = numbered(2, "two");
    let index = home.quiet();
    let own = index.document_path(&run.id).expect("one");
    let other = home.store.runs_dir().join(format!("20200101T000000.000Z-{}.json.zst", run.id));
    std::fs::copy(&own, &other).expect("copied");
    assert_eq!(index.document_path(&run.id).expect("the index has it"), own);
    for prefix in [&run.id[..], "00000002"] {
        let twice = home.store.find(prefix).expect_err("two").to_string();
        for path in [&own, &other] {
            assert!(twice.contains(&path.display().to_string()), "{twice}");
        }
    }
    assert_eq!(index.delete(&run.id).expect("deleted").path, own);
    assert_eq!(home.open_index().document_path(&run.id).expect("the other"), other);
}

#[test]
fn an_index_that_was_opened_without_locks_is_left_when_it_changes() {
    let home = Home::with_three();
    drop(home.quiet());
    let opened = file::open_frozen(&home.store).expect("as it is");
    let state = IndexState { opened, in_memory: false, why: Some("the disk is full".into()) };
    let index = Index::from_state(home.store.clone(), state, Vec::new());
    assert_eq!(ids(&index).len(), 3);
    keep(&home.store, &numbered(4, "one")).expect("kept");
    assert_eq!(ids(&index).len(), 4);
    // What the log of the last keeper holds is there, too.
    let log = file::newest(home.store.data_dir()).with_extension("sqlite-wal");
    assert!(std::fs::metadata(&log).is_ok_and(|log| log.len() > 0));
    assert!(file::open_frozen(&home.store).is_ok());
    // With one document more than it knows it is not opened so.
    home.store.save(&numbered(5, "one")).expect("saved");
    assert!(matches!(file::open_frozen(&home.store), Err(IndexFault::Stale)));
    // A rebuild tries again whether it can be written.
    assert_eq!(index.rebuild().expect("it can").documents, 5);
}
