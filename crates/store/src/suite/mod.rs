//! One set of cases for all stores: a directory, the helpers that keep documents in a directory (Rust, Python), and
//! PostgreSQL.
//!
//! `LATLAS_TEST_POSTGRES` is the URL of a server on which databases may be made; without it the
//! last part is skipped.

mod cases;
pub(crate) mod database;
mod kills;
mod postgres;

use crate::index::tests::numbered;
use crate::index::{Index, keep};
use crate::remote::tests::{DirectoryHelper, SILENCE, store_with};
use crate::{Place, Store};
use std::path::{Path, PathBuf};

/// A store of a test's own, which goes with it.
pub(crate) struct Home {
    pub(crate) store: Store,
    kept: Kept,
}

/// What goes with the test.
enum Kept {
    Directory(#[expect(dead_code, reason = "removed when dropped")] tempfile::TempDir),
    Database(database::Database),
    /// What the helper keeps, and the copies.
    Helped([Removed; 2]),
}

/// A directory that is removed when this is dropped.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Home {
    /// By a helper that keeps documents in a directory; `None` where that can't run.
    pub(crate) fn by_helper(helper: DirectoryHelper) -> Option<Home> {
        let program = helper.program()?;
        let directory = tempfile::tempdir().expect("tempdir").keep();
        let store = store_with(&format!("dir://{}", directory.display()), &program, SILENCE);
        let kept = Kept::Helped([Removed(directory), Removed(store.data_dir().to_owned())]);
        Some(Home { store, kept })
    }

    pub(crate) fn in_directory() -> Home {
        let dir = tempfile::tempdir().expect("tempdir");
        Home {
            store: Store::at(&Place::Directory(dir.path().to_owned())).expect("a store"),
            kept: Kept::Directory(dir),
        }
    }

    /// Where its helper keeps documents.
    pub(crate) fn helped(&self) -> &Path {
        match &self.kept {
            Kept::Helped([kept, _]) => &kept.0,
            Kept::Directory(_) | Kept::Database(_) => panic!("there is no such helper"),
        }
    }

    /// With runs 1 and 3 of the host `one` and run 2 of `two`.
    pub(crate) fn keep_three(&self) {
        for (n, host) in [(1, "one"), (2, "two"), (3, "one")] {
            let kept = keep(&self.store, &numbered(n, host)).expect("kept");
            assert!(kept.1.is_empty(), "{:?}", kept.1);
        }
    }

    pub(crate) fn open_index(&self) -> Index {
        Index::open(self.store.clone()).expect("opened")
    }

    /// Opened, with nothing to tell.
    pub(crate) fn quiet(&self) -> Index {
        let index = self.open_index();
        assert_eq!(index.messages(), [""; 0]);
        assert!(!index.in_memory());
        index
    }
}

macro_rules! on_all {
    ($($case:ident)*) => {
        mod in_directory {
            $(#[test]
            fn $case() {
                super::cases::$case(&super::Home::in_directory());
            })*
        }

        mod by_helper {
            $(#[test]
            fn $case() {
                if let Some(home) = super::Home::by_helper(super::DirectoryHelper::Rust) {
                    super::cases::$case(&home);
                }
            })*
        }

        mod by_python_helper {
            $(#[test]
            fn $case() {
                if let Some(home) = super::Home::by_helper(super::DirectoryHelper::Python) {
                    super::cases::$case(&home);
                }
            })*
        }

        mod in_postgres {
            $(#[test]
            fn $case() {
                if let Some(home) = super::database::home() {
                    super::cases::$case(&home);
                }
            })*
        }
    };
}

on_all! {
    every_answer_is_what_the_documents_say
    a_run_of_the_future_is_not_the_newest
    single_figures_of_several_runs_come_with_the_places_of_their_runs
    all_moves_to_a_directory_and_back
    an_index_that_was_opened_before_the_first_run_takes_it_up
    figures_of_two_modes_are_never_set_against_each_other
    percentiles_count_reliable_figures_of_all_machines
    tags_outlive_a_rebuild_and_are_deleted_with_their_run
    a_run_is_kept_once_and_by_one
    a_kept_run_comes_back_as_it_was
    runs_are_found_by_time_and_by_id
    an_id_that_would_leave_the_directory_is_refused
    what_is_not_whole_is_kept_and_never_the_last
    a_tag_is_given_moved_and_taken_away
    several_runs_share_a_tag_and_the_newest_is_meant
    one_run_says_the_same_to_every_question_after_a_rebuild
    several_writers_lose_and_double_nothing
}
