//! A connection that waits for no answer longer than it may: a server that was stopped, or that the
//! network lost, never says that it won't answer.

use crate::fault::Fault;
use crate::fault::failed;
use crate::values::Values;
use std::cell::Cell;
use std::ops::Deref;
use std::time::Duration;
use store_protocol::FailureKind;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long a statement may take: that of a large atlas, and a large document over a slow line. The
/// server itself gives up before ([`BEGIN`]).
pub(crate) const ANSWER_S: u64 = 60;

/// What begins each transaction, and with it the settings of each statement: behind a pooler in transaction
/// mode (PgBouncer) the next one may be carried out by another server process, and what is set for a
/// session would be set for strangers. So nothing here rests on a session.
///
/// A server that answers before it has written would lose what was acknowledged; it gives up a statement
/// before the client does ([`ANSWER_S`]), so that nothing is done that nobody waits for.
const BEGIN: &str = "
BEGIN;
SET LOCAL search_path TO latlas;
SET LOCAL client_min_messages TO warning;
SELECT set_config('synchronous_commit', 'on', true)
WHERE current_setting('synchronous_commit') = 'off';
SELECT set_config('statement_timeout', '55 s', true)
WHERE current_setting('statement_timeout') = '0';
";

pub(crate) struct Client {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    client: tokio_postgres::Client,
    limit: Duration,
    /// It did not answer in time, or no longer had to: what comes next from it could be of before.
    silent: Cell<bool>,
    in_transaction: Cell<bool>,
}

fn typed<'a>(values: Values<'a>) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    values.iter().map(|value| value.typed()).collect()
}

impl Client {
    /// Connects; `limit` is what a statement may take later.
    pub(crate) fn connect(
        config: &Config,
        tls: MakeRustlsConnect,
        limit: Duration,
    ) -> Result<Client, Fault> {
        // The look-up of a host's name has a thread, without which the runtime panics.
        let runtime = sys::thread::can_start(1)
            .and_then(|()| Builder::new_current_thread().enable_all().build());
        let runtime = runtime.map_err(|e| failed(FailureKind::Unreachable, e.to_string()))?;
        let within = config.get_connect_timeout().copied().unwrap_or(limit);
        let made = within_time(&runtime, within, config.connect(tls));
        let (client, connection) =
            made.ok_or_else(|| failed(FailureKind::Unreachable, no_answer(within)))??;
        runtime.spawn(connection);
        Ok(Client {
            runtime: Some(runtime),
            client,
            limit,
            silent: Cell::new(false),
            in_transaction: Cell::new(false),
        })
    }

    fn wait<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        let runtime = self.runtime.as_ref().filter(|_| !self.silent.get());
        let answer = runtime.and_then(|runtime| within_time(runtime, self.limit, answer));
        match answer {
            Some(answer) => Ok(answer?),
            None => {
                self.silent.set(true);
                Err(failed(FailureKind::WentAway, no_answer(self.limit)))
            }
        }
    }

    /// Whether nothing more can be asked.
    pub(crate) fn is_closed(&self) -> bool {
        self.silent.get() || self.client.is_closed()
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.silent.get()
    }

    /// The answer of a statement, which is a transaction of its own if it is in none. What begins and ends
    /// it is sent along and costs no further round trip.
    fn answer<T>(&self, statement: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        if self.in_transaction.get() {
            return self.wait(statement);
        }
        self.wait(async {
            let begin = self.client.batch_execute(BEGIN);
            let commit = self.client.batch_execute("COMMIT");
            let (begun, done, ended) = tokio::join!(begin, statement, commit);
            begun?;
            let done = done?;
            ended.map(|()| done)
        })
    }

    pub(crate) fn query(&self, sql: &str, values: Values) -> Result<Vec<Row>, Fault> {
        self.answer(self.client.query_typed(sql, &typed(values)))
    }

    pub(crate) fn query_opt(&self, sql: &str, values: Values) -> Result<Option<Row>, Fault> {
        self.answer(self.client.query_typed_opt(sql, &typed(values)))
    }

    pub(crate) fn query_one(&self, sql: &str, values: Values) -> Result<Row, Fault> {
        self.answer(self.client.query_typed_one(sql, &typed(values)))
    }

    pub(crate) fn execute(&self, sql: &str, values: Values) -> Result<u64, Fault> {
        self.answer(self.client.execute_typed(sql, &typed(values)))
    }

    pub(crate) fn batch_execute(&self, sql: &str) -> Result<(), Fault> {
        self.answer(self.client.batch_execute(sql))
    }

    /// Begins a transaction; within one that is begun, what is done is a part of it.
    pub(crate) fn transaction(&mut self) -> Result<Transaction<'_>, Fault> {
        let is_open = !self.in_transaction.get();
        if is_open {
            self.begin()?;
        }
        Ok(Transaction { client: self, is_open })
    }

    /// Begins a transaction that [`Client::end`] ends.
    pub(crate) fn begin(&self) -> Result<(), Fault> {
        self.wait(self.client.batch_execute(BEGIN))?;
        self.in_transaction.set(true);
        Ok(())
    }

    /// Commits a transaction, or undoes it.
    pub(crate) fn end(&self, commits: bool) -> Result<(), Fault> {
        self.in_transaction.set(false);
        let how = if commits { "COMMIT" } else { "ROLLBACK" };
        self.wait(self.client.batch_execute(how))
    }
}

/// What comes of it in this time. latlas ends this program when its user no longer waits.
fn within_time<T>(runtime: &Runtime, limit: Duration, what: impl Future<Output = T>) -> Option<T> {
    runtime.block_on(async { tokio::time::timeout(limit, what).await.ok() })
}

fn no_answer(limit: Duration) -> String {
    format!("no answer for {} s", limit.as_secs())
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
pub(crate) struct Transaction<'a> {
    client: &'a Client,
    is_open: bool,
}

impl Transaction<'_> {
    pub(crate) fn commit(mut self) -> Result<(), Fault> {
        if std::mem::take(&mut self.is_open) { self.client.end(true) } else { Ok(()) }
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
            let _ = self.client.end(false);
        }
    }
}
