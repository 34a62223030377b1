//! The index on stores of synthetic runs: this file makes the stores and tests what is indexed and dropped.
//! `crash.rs`: killed at any step; `damage.rs`: broken indexes; `documents.rs`: documents of each schema;
//! `system.rs`: read errors. What also holds on databases is in `suite/`.

use super::fault::IndexFault;
use super::open::IndexState;
use super::*;
use crate::{Store, Taken};
use model::machine::Fact;
use model::run::Run;
use model::summary::MachineKey;
use model::synthetic;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

mod crash;
mod damage;
mod documents;
#[cfg(target_os = "linux")]
mod system;

/// The synthetic run as number `n`, so many seconds later, of a host.
pub(crate) fn numbered(n: u32, host: &str) -> Run {
    let mut run = synthetic::run();
    run.id = format!("{n:08x}-0000-4000-8000-000000000001");
    run.started_unix_ms += u64::from(n) * 1000;
    run.machine.hostname = Fact::known(host.to_owned());
    run
}

pub(super) struct Home {
    pub(super) dir: tempfile::TempDir,
    pub(super) store: Store,
}

impl Home {
    pub(super) fn new() -> Home {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        Home { dir, store }
    }

    /// With runs 1 and 3 of the host `one` and run 2 of `two`.
    pub(super) fn with_three() -> Home {
        let home = Home::new();
        for (n, host) in [(1, "one"), (2, "two"), (3, "one")] {
            let kept = keep(&home.store, &numbered(n, host)).expect("kept");
            assert!(kept.1.is_empty(), "{:?}", kept.1);
        }
        home
    }

    pub(super) fn open_index(&self) -> Index {
        Index::open(self.store.clone()).expect("opened")
    }

    /// Opened, with nothing to tell.
    pub(super) fn quiet(&self) -> Index {
        let index = self.open_index();
        assert_eq!(index.messages(), [""; 0]);
        assert!(!index.in_memory());
        index
    }
}

pub(crate) fn ids(index: &Index) -> Vec<String> {
    let runs = index.runs().expect("runs").into_iter();
    runs.map(|run| run.id[..8].to_owned()).collect()
}

#[test]
fn nothing_is_made_where_nothing_is_kept() {
    let home = Home::new();
    let index = home.open_index();
    assert!(index.runs().expect("none").is_empty());
    assert!(index.machines().expect("none").is_empty());
    assert!(index.messages().is_empty());
    assert_eq!(std::fs::read_dir(home.dir.path()).expect("home").count(), 0);
}

#[test]
fn each_document_that_is_read_is_heard_of() {
    use std::cell::RefCell;
    thread_local! {
        static HEARD: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
    }
    watch_reading(|ReadingProgress { done, of }| HEARD.with_borrow_mut(|all| all.push((done, of))));
    let home = Home::with_three();
    let index = home.quiet();
    HEARD.take();
    index.rebuild().expect("rebuilt");
    assert_eq!(HEARD.take(), [(1, 3), (2, 3), (3, 3)]);
}

#[test]
fn copied_documents_are_indexed_and_removed_ones_dropped() {
    let home = Home::with_three();
    drop(home.quiet());
    let fourth = home.store.save(&numbered(4, "two")).expect("saved");
    let kept_open = home.quiet();
    assert_eq!(ids(&kept_open)[0], "00000004");
    std::fs::remove_file(&fourth).expect("removed");
    assert_eq!(ids(&home.quiet()).len(), 3);
    home.store.save(&numbered(5, "two")).expect("saved");
    assert_eq!(ids(&kept_open).len(), 3, "it sees what the other did");
    kept_open.refresh().expect("looked again");
    assert_eq!(ids(&kept_open)[0], "00000005");
}

#[test]
fn the_log_that_each_opening_reads_stays_short() {
    let home = Home::with_three();
    let log = file::newest(home.store.data_dir()).with_extension("sqlite-wal");
    let kept = (4..64).map(|number| {
        keep(&home.store, &numbered(number, "one")).expect("kept");
        std::fs::metadata(&log).map_or(0, |log| log.len())
    });
    let bytes: Vec<u64> = kept.collect();
    assert!(bytes.iter().all(|&bytes| bytes < 2 * super::change::SHORT_LOG_BYTES), "{bytes:?}");
    assert!(bytes.windows(2).any(|pair| pair[1] < pair[0]), "never moved: {bytes:?}");
    // Nor is it moved after each, with two syncs.
    assert!(bytes.windows(2).filter(|pair| pair[1] > pair[0]).count() > 40, "{bytes:?}");
    assert_eq!(ids(&home.open_index()).len(), 63);
}
