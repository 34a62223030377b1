//! Connections to a server, a few of which are kept open.

use super::client::{ANSWER_S, Client};
use super::fault::Fault;
use super::schema;
use super::settings::{Settings, causes};
use crate::{DatabaseFailure, StoreError};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Connections that are kept open for the next question.
const IDLE: usize = 8;

pub(crate) struct Server {
    settings: Settings,
    idle: Mutex<Vec<Client>>,
}

impl Server {
    pub(super) fn new(settings: Settings) -> Server {
        Server { settings, idle: Mutex::default() }
    }

    /// As messages name the database.
    pub(super) fn place(&self) -> &str {
        &self.settings.place
    }

    /// As messages name a document in it: a copy need not be there.
    pub(super) fn document(&self, file: &str) -> PathBuf {
        format!("{}: {file}", self.place()).into()
    }

    /// Does something on a connection. One that was idle may have been lost since: then it is done
    /// once more on a new one, with `again` set.
    pub(super) fn with<T>(
        &self,
        work: impl Fn(&mut Client, bool) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let idle = self.idle().pop();
        let was_idle = idle.is_some();
        let mut client = match idle {
            Some(client) => client,
            None => self.connect()?,
        };
        let mut done = work(&mut client, false);
        if was_idle && is_lost(&client, &done) && !client.is_silent() {
            client = self.connect()?;
            done = work(&mut client, true);
        }
        let closed = is_lost(&client, &done);
        if !closed {
            let mut idle = self.idle();
            if idle.len() < IDLE {
                idle.push(client);
            }
        }
        done.map_err(|fault| self.error(fault, closed))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self) -> Result<Client, StoreError> {
        let Settings { config, tls, .. } = &self.settings;
        let limit = Duration::from_secs(ANSWER_S);
        let mut client =
            Client::connect(config, tls.clone(), limit).map_err(|fault| match fault {
                Fault::Sql(error) => self.failed(not_let_in(&error)),
                other => self.error(other, true),
            })?;
        schema::begin(&mut client).map_err(|fault| {
            let closed = client.is_closed();
            self.error(fault, closed)
        })?;
        Ok(client)
    }

    fn failed(&self, failure: DatabaseFailure) -> StoreError {
        StoreError::Database { place: self.place().to_owned(), failure }
    }

    fn error(&self, fault: Fault, closed: bool) -> StoreError {
        match fault {
            Fault::Store(error) => error,
            Fault::Failed(failure) => self.failed(failure),
            Fault::Sql(error) => self.failed(failure(&error, closed)),
        }
    }
}

/// Whether a question has no answer because the connection was lost.
fn is_lost<T>(client: &Client, done: &Result<T, Fault>) -> bool {
    let ends = |error: &Error| error.code().is_some_and(is_ending);
    client.is_closed() || matches!(done, Err(Fault::Sql(error)) if ends(error))
}

fn not_let_in(error: &Error) -> DatabaseFailure {
    let text = text(error);
    let of_password =
        error.code() == Some(&SqlState::INVALID_PASSWORD) || text.contains("password missing");
    let advice = if of_password { " (the password is taken from PGPASSWORD)" } else { "" };
    match error.code() {
        Some(code) if !is_ending(code) => DatabaseFailure::Refused(text + advice),
        _ if of_password => DatabaseFailure::Refused("a password is needed".to_owned() + advice),
        _ => DatabaseFailure::Unreachable(text + advice),
    }
}

fn failure(error: &Error, closed: bool) -> DatabaseFailure {
    let text = text(error);
    match error.code() {
        Some(code) if is_ending(code) => DatabaseFailure::WentAway(text),
        Some(_) => DatabaseFailure::Refused(text),
        None if closed || error.is_closed() => DatabaseFailure::WentAway(text),
        None => DatabaseFailure::Damaged(text),
    }
}

/// Whether the server ends, or is not there yet.
fn is_ending(code: &SqlState) -> bool {
    [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW]
        .contains(code)
}

/// An error in one line: of a refusal what the server says.
fn text(error: &Error) -> String {
    match error.as_db_error() {
        Some(refusal) => {
            let more = [refusal.detail(), refusal.hint()].into_iter().flatten();
            let more: String = more.map(|more| format!(" ({more})")).collect();
            (refusal.message().to_owned() + &more).replace('\n', " ")
        }
        None => causes(error),
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("place", &self.place()).finish_non_exhaustive()
    }
}
