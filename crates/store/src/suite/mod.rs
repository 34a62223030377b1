//! One set of cases for both stores: a directory with SQLite, and PostgreSQL.
//!
//! `LATLAS_TEST_POSTGRES` is the URL of a server on which databases may be made; without it the
//! second half is skipped.

mod cases;

use crate::index::tests::numbered;
use crate::index::{Index, keep};
use crate::{Place, Store};

/// A store of a test's own, which goes with it.
pub(crate) struct Home {
    pub(crate) store: Store,
    kept: Kept,
}

/// What goes with the test.
enum Kept {
    Directory(#[expect(dead_code, reason = "removed when dropped")] tempfile::TempDir),
    #[cfg(feature = "postgres")]
    Database(database::Database),
}

impl Home {
    pub(crate) fn in_directory() -> Home {
        let dir = tempfile::tempdir().expect("tempdir");
        Home {
            store: Store::at(&Place::Directory(dir.path().to_owned())).expect("a store"),
            kept: Kept::Directory(dir),
        }
    }

    /// With runs 1 and 3 of the host `one` and run 2 of `two`.
    pub(crate) fn keep_three(&self) {
        for (n, host) in [(1, "one"), (2, "two"), (3, "one")] {
            let kept = keep(&self.store, &numbered(n, host)).expect("kept");
            assert!(kept.1.is_empty(), "{:?}", kept.1);
        }
    }

    pub(crate) fn open(&self) -> Index {
        Index::open(self.store.clone()).expect("opened")
    }

    /// Opened, with nothing to tell.
    pub(crate) fn quiet(&self) -> Index {
        let index = self.open();
        assert_eq!(index.messages(), [""; 0]);
        assert!(!index.in_memory());
        index
    }
}

macro_rules! on_both {
    ($($case:ident)*) => {
        mod in_directory {
            $(#[test]
            fn $case() {
                super::cases::$case(&super::Home::in_directory());
            })*
        }

        #[cfg(feature = "postgres")]
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

on_both! {
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

#[cfg(feature = "postgres")]
pub(crate) mod database {
    //! A database of a test's own.

    use super::{Home, Kept};
    use crate::{Place, Store};
    use postgres::{Client, NoTls};
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    pub(crate) struct Database {
        server: String,
        name: String,
        copies: PathBuf,
    }

    /// The URL of the server of the tests.
    pub(crate) fn server() -> Option<String> {
        let url = std::env::var("LATLAS_TEST_POSTGRES").ok();
        if url.is_none() {
            println!(
                "SKIPPED: no PostgreSQL server (LATLAS_TEST_POSTGRES; .ci/postgres starts one)"
            );
        }
        url
    }

    /// A store in a database of its own; `None` without a server.
    pub(crate) fn home() -> Option<Home> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = server()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("latlas_test_{}_{number}", std::process::id());
        let mut client = Client::connect(&server, NoTls).expect("the server of the tests");
        let made = client.batch_execute(&format!("CREATE DATABASE {name}"));
        made.expect("a database");
        let store = Store::at(&Place::Database(url_of(&server, &name))).expect("a store");
        let copies = store.data_dir().to_owned();
        Some(Home { store, kept: Kept::Database(Database { server, name, copies }) })
    }

    impl Home {
        fn database(&self) -> &Database {
            match &self.kept {
                Kept::Database(database) => database,
                Kept::Directory(_) => panic!("a directory has no SQL"),
            }
        }

        pub(crate) fn url(&self) -> String {
            let Database { server, name, .. } = self.database();
            url_of(server, name)
        }

        pub(crate) fn sql(&self, sql: &str) {
            let Database { server, name, .. } = self.database();
            let mut client = Client::connect(&url_of(server, name), NoTls).expect("connected");
            client.batch_execute(sql).expect(sql);
        }

        pub(crate) fn text(&self, sql: &str) -> String {
            let mut client = Client::connect(&self.url(), NoTls).expect("connected");
            client.query_one(sql, &[]).expect(sql).get(0)
        }

        /// Does something while nobody else can use a table.
        pub(crate) fn while_locked(&self, table: &str, work: impl FnOnce()) {
            let mut client = Client::connect(&self.url(), NoTls).expect("connected");
            let mut change = client.transaction().expect("begun");
            change.batch_execute(&format!("LOCK TABLE {table}")).expect("locked");
            work();
        }

        /// The same database for another process.
        pub(crate) fn reopened(&self) -> Store {
            let Database { server, name, .. } = self.database();
            let url = url_of(server, name) + "&application_name=again";
            Store::at(&Place::Database(url)).expect("a store")
        }

        /// The same database behind a pooler in transaction mode; `None` without one.
        pub(crate) fn pooled(&self) -> Option<Store> {
            let Ok(pooler) = std::env::var("LATLAS_TEST_POOLER") else {
                println!("SKIPPED: no pooler (LATLAS_TEST_POOLER; .ci/postgres starts one)");
                return None;
            };
            let place = Place::Database(url_of(&pooler, &self.database().name));
            Some(Store::at(&place).expect("a store"))
        }

        /// The same database for another role.
        pub(crate) fn store_as(&self, role: &str) -> Store {
            let Database { server, name, .. } = self.database();
            let url = format!("{}&user={role}", url_of(server, name));
            Store::at(&Place::Database(url)).expect("a store")
        }
    }

    /// The URL of another database of the server.
    fn url_of(server: &str, database: &str) -> String {
        let separator = if server.contains('?') { '&' } else { '?' };
        format!("{server}{separator}dbname={database}")
    }

    impl Drop for Database {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.copies);
            let dropped = format!("DROP DATABASE {} WITH (FORCE)", self.name);
            if let Ok(mut client) = Client::connect(&self.server, NoTls) {
                let _ = client.batch_execute(&dropped);
            }
        }
    }
}
