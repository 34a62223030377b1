//! The connection to a server.

use crate::client::{ANSWER_S, Client};
use crate::fault::Fault;
use crate::schema;
use crate::settings::{Settings, causes};
use std::time::Duration;
use store_protocol::{Failure, FailureKind};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

pub(crate) struct Server {
    settings: Settings,
    client: Option<Client>,
}

impl Server {
    pub(crate) fn new(settings: Settings) -> Server {
        Server { settings, client: None }
    }

    /// Does something on a connection. One that was idle may have been lost since: then it is done
    /// once more on a new one, with `again` set.
    pub(crate) fn with<T>(
        &mut self,
        work: impl Fn(&Client, bool) -> Result<T, Fault>,
    ) -> Result<T, Failure> {
        let idle = self.client.take();
        let was_idle = idle.is_some();
        let mut client = match idle {
            Some(client) => client,
            None => self.connect()?,
        };
        let mut done = work(&client, false);
        if was_idle && is_lost(&client, &done) && !client.is_silent() {
            client = self.connect()?;
            done = work(&client, true);
        }
        let closed = is_lost(&client, &done);
        self.client = Some(client).filter(|_| !closed);
        done.map_err(|fault| in_words(fault, closed))
    }

    fn connect(&self) -> Result<Client, Failure> {
        let Settings { config, tls } = &self.settings;
        let limit = Duration::from_secs(ANSWER_S);
        let mut client =
            Client::connect(config, tls.clone(), limit).map_err(|fault| match fault {
                Fault::Sql(error) => not_let_in(&error),
                Fault::Failed(failure) => failure,
            })?;
        schema::begin(&mut client).map_err(|fault| in_words(fault, client.is_closed()))?;
        Ok(client)
    }
}

fn in_words(fault: Fault, closed: bool) -> Failure {
    match fault {
        Fault::Failed(failure) => failure,
        Fault::Sql(error) => failure(&error, closed),
    }
}

/// Whether a question has no answer because the connection was lost.
fn is_lost<T>(client: &Client, done: &Result<T, Fault>) -> bool {
    let ends = |error: &Error| error.code().is_some_and(is_ending);
    client.is_closed() || matches!(done, Err(Fault::Sql(error)) if ends(error))
}

fn not_let_in(error: &Error) -> Failure {
    let text = text(error);
    let of_password =
        error.code() == Some(&SqlState::INVALID_PASSWORD) || text.contains("password missing");
    let advice = if of_password { " (the password is taken from PGPASSWORD)" } else { "" };
    match error.code() {
        Some(code) if !is_ending(code) => Failure::new(FailureKind::Refused, text + advice),
        _ if of_password => {
            Failure::new(FailureKind::Refused, "a password is needed".to_owned() + advice)
        }
        _ => Failure::new(FailureKind::Unreachable, text + advice),
    }
}

fn failure(error: &Error, closed: bool) -> Failure {
    let text = text(error);
    match error.code() {
        Some(code) if is_ending(code) => Failure::new(FailureKind::WentAway, text),
        Some(_) => Failure::new(FailureKind::Refused, text),
        None if closed || error.is_closed() => Failure::new(FailureKind::WentAway, text),
        None => Failure::new(FailureKind::Damaged, text),
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
