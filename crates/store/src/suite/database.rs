//! A database of a test's own, changed by psql behind the back of the helper.

use super::{Home, Kept};
use crate::{Place, Store};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
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
        println!("SKIPPED: no PostgreSQL server (LATLAS_TEST_POSTGRES; .ci/postgres starts one)");
    }
    url
}

fn psql(url: &str) -> Command {
    let mut psql = Command::new("psql");
    psql.args([url, "-qAtX", "-v", "ON_ERROR_STOP=1"]);
    psql
}

fn answer(url: &str, sql: &str) -> String {
    let done = psql(url).args(["-c", sql]).output().expect("psql");
    assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8").trim_end().to_owned()
}

/// A store in a database of its own; `None` without a server.
pub(crate) fn home() -> Option<Home> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let server = server()?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("latlas_test_{}_{number}", std::process::id());
    answer(&server, &format!("CREATE DATABASE {name}"));
    let store = Store::at(&Place::Database(url_of(&server, &name))).expect("a store");
    let copies = store.data_dir().to_owned();
    Some(Home { store, kept: Kept::Database(Database { server, name, copies }) })
}

impl Home {
    fn database(&self) -> &Database {
        match &self.kept {
            Kept::Database(database) => database,
            Kept::Directory(_) | Kept::Helped(_) => panic!("a directory has no SQL"),
        }
    }

    pub(crate) fn url(&self) -> String {
        let Database { server, name, .. } = self.database();
        url_of(server, name)
    }

    pub(crate) fn sql(&self, sql: &str) {
        self.query_text(sql);
    }

    pub(crate) fn query_text(&self, sql: &str) -> String {
        answer(&self.url(), sql)
    }

    /// Does something while nobody else can use a table.
    pub(crate) fn while_locked(&self, table: &str, work: impl FnOnce()) {
        let mut psql = psql(&self.url());
        let mut psql = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("psql");
        let mut sql = psql.stdin.take().expect("a pipe");
        writeln!(sql, "BEGIN; LOCK TABLE {table};\n\\echo locked").expect("written");
        let mut said = BufReader::new(psql.stdout.take().expect("a pipe")).lines();
        assert_eq!(said.next().expect("a line").expect("read"), "locked");
        work();
        drop(sql);
        psql.wait().expect("ended");
    }

    /// The same database for another process.
    pub(crate) fn reopened(&self) -> Store {
        let url = self.url();
        let remote = crate::remote::fresh(&url).expect("a store");
        assert_eq!(remote.data_dir(), self.store.data_dir());
        remote
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
        let url = format!("{}&user={role}", self.url());
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
        let _ = psql(&self.server).args(["-c", &dropped]).output();
    }
}
