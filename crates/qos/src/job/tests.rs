use super::*;
use crate::file;
use model::qos::{Codec, Outcome, Setting};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

const FILE_BYTES: u64 = 300_001;

fn order(file: PathBuf, codec: Codec) -> JobOrder {
    JobOrder {
        file,
        block_bytes: 65_536,
        blocks: 10,
        for_ns: None,
        codec,
        operations: 3,
        settings: vec![Setting::Nice(19), Setting::BATCH],
        verify: true,
    }
}

fn made(directory: &tempfile::TempDir) -> PathBuf {
    let path = directory.path().join("file");
    file::make(&path, FILE_BYTES, &AtomicBool::new(false)).expect("room");
    path
}

#[test]
fn all_blocks_are_compressed_once_and_come_back() {
    let directory = tempfile::tempdir().expect("a directory");
    for codec in [Codec::Zstd(3), Codec::Lz4] {
        let order = order(made(&directory), codec);
        let mut said = Vec::new();
        let done = work(&order, |parts| {
            said = parts;
            Ok(true)
        });
        let (report, done) = done.expect("it works").expect("it went");
        assert_eq!(report.failed, None);
        // Five blocks, twice.
        assert_eq!(report.bytes, 2 * FILE_BYTES);
        assert!(report.compressed_bytes < report.bytes);
        let blocks: usize = done.iter().map(|done| done.records.len()).sum();
        assert_eq!(blocks, 10);
        for record in done.iter().flat_map(|done| done.records.iter()) {
            assert!(record.begin_ns <= record.end_ns && record.thread < 3);
        }
        assert_eq!(said.len(), 2);
        if cfg!(target_os = "linux") {
            assert!(said.iter().all(Part::holds), "{said:?}");
            assert_eq!(report.changed, []);
        }
    }
}

#[test]
fn without_a_go_nothing_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let order = order(made(&directory), Codec::Zstd(3));
    assert!(work(&order, |_| Ok(false)).expect("no error").is_none());
}

#[test]
fn what_goes_wrong_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let none = order(directory.path().join("none"), Codec::Zstd(3));
    assert!(work(&none, |_| Ok(true)).is_err());
    // Cut while the job runs.
    let path = made(&directory);
    let cut = order(path.clone(), Codec::Zstd(3));
    let done = work(&cut, |_| {
        std::fs::File::options().write(true).open(&path)?.set_len(7)?;
        Ok(true)
    });
    let (report, _) = done.expect("it works").expect("it went");
    assert!(report.failed.is_some(), "{report:?}");
}

#[test]
fn the_worse_outcome_of_two_threads_stands() {
    let part = |outcome| Part { setting: Setting::BATCH, outcome };
    let mut parts = vec![part(Outcome::ReadBack)];
    let refused = part(Outcome::Refused("no".into()));
    merge(&mut parts, vec![refused.clone()]);
    merge(&mut parts, vec![part(Outcome::ReadBack)]);
    assert_eq!(parts, [refused]);
}
