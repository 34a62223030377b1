//! A connection that waits for no answer longer than it may: a server that was stopped, or that the
//! network lost, never says that it won't answer.

use super::server::Fault;
use crate::DatabaseFailure;
use std::cell::Cell;
use std::ops::Deref;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Error, Row, Statement, ToStatement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long a statement may take: that of a large atlas, and a large document over a slow line. The
/// server itself gives up before ([`super::schema`]).
pub(super) const ANSWER_S: u64 = 60;

/// How often it is looked whether an answer is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// Values of a statement.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(super) struct Client {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    client: tokio_postgres::Client,
    limit: Duration,
    /// It did not answer in time, or no longer had to: what comes next from it could be of before.
    silent: Cell<bool>,
}

impl Client {
    /// Connects; `limit` is what a statement may take later.
    pub(super) fn connect(
        config: &Config,
        tls: MakeRustlsConnect,
        limit: Duration,
    ) -> Result<Client, Fault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| DatabaseFailure::Unreachable(e.to_string()))?;
        let within = config.get_connect_timeout().copied().unwrap_or(limit);
        let made = within_time(&runtime, within, config.connect(tls));
        let (client, connection) = made.ok_or_else(|| {
            DatabaseFailure::Unreachable(format!("no answer {}", after(within)))
        })??;
        runtime.spawn(connection);
        Ok(Client {
            runtime: Some(runtime),
            client,
            limit,
            silent: Cell::new(false),
        })
    }

    fn wait<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        let runtime = self.runtime.as_ref().filter(|_| !self.silent.get());
        let answer = runtime.and_then(|runtime| within_time(runtime, self.limit, answer));
        match answer {
            Some(answer) => Ok(answer?),
            None => {
                self.silent.set(true);
                let why = format!("no answer {}", after(self.limit));
                Err(DatabaseFailure::WentAway(why).into())
            }
        }
    }

    /// Whether nothing more can be asked.
    pub(super) fn is_closed(&self) -> bool {
        self.silent.get() || self.client.is_closed()
    }

    /// Whether it did not answer.
    pub(super) fn is_silent(&self) -> bool {
        self.silent.get()
    }

    pub(super) fn prepare(&self, sql: &str) -> Result<Statement, Fault> {
        self.wait(self.client.prepare(sql))
    }

    pub(super) fn query<T: ?Sized + ToStatement>(
        &self,
        sql: &T,
        values: Values,
    ) -> Result<Vec<Row>, Fault> {
        self.wait(self.client.query(sql, values))
    }

    pub(super) fn query_opt<T: ?Sized + ToStatement>(
        &self,
        sql: &T,
        values: Values,
    ) -> Result<Option<Row>, Fault> {
        self.wait(self.client.query_opt(sql, values))
    }

    pub(super) fn query_one<T: ?Sized + ToStatement>(
        &self,
        sql: &T,
        values: Values,
    ) -> Result<Row, Fault> {
        self.wait(self.client.query_one(sql, values))
    }

    pub(super) fn execute<T: ?Sized + ToStatement>(
        &self,
        sql: &T,
        values: Values,
    ) -> Result<u64, Fault> {
        self.wait(self.client.execute(sql, values))
    }

    pub(super) fn batch_execute(&self, sql: &str) -> Result<(), Fault> {
        self.wait(self.client.batch_execute(sql))
    }

    pub(super) fn transaction(&mut self) -> Result<Transaction<'_>, Fault> {
        self.batch_execute("BEGIN")?;
        Ok(Transaction {
            client: self,
            is_open: true,
        })
    }
}

/// What comes of it in this time, unless the user no longer waits.
fn within_time<T>(runtime: &Runtime, limit: Duration, what: impl Future<Output = T>) -> Option<T> {
    runtime.block_on(async {
        let before = crate::is_given_up();
        let left = async {
            while before || !crate::is_given_up() {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            biased;
            done = what => Some(done),
            () = left => None,
            () = tokio::time::sleep(limit) => None,
        }
    })
}

fn after(limit: Duration) -> String {
    match crate::is_given_up() {
        true => "before it was interrupted".into(),
        false => format!("for {} s", limit.as_secs()),
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Dropping one waits, and must not within another.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What is undone unless it is committed.
pub(super) struct Transaction<'a> {
    client: &'a Client,
    is_open: bool,
}

impl Transaction<'_> {
    pub(super) fn commit(mut self) -> Result<(), Fault> {
        self.is_open = false;
        self.client.batch_execute("COMMIT")
    }
}

impl Deref for Transaction<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            let _ = self.client.batch_execute("ROLLBACK");
        }
    }
}
