// Threads of tests may panic where there are none.
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![forbid(unsafe_code)]
//! Stores runs of latlas in PostgreSQL: `latlas --store postgres://...` runs this program and talks to it over its
//! standard input and output (docs/store-protocol.md).

mod client;
mod fault;
mod schema;
mod server;
mod settings;
mod shelf;
#[cfg(test)]
mod tests;
mod tls;
mod values;

use server::Server;
use settings::Settings;
use shelf::Database;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

const HELP: &str = concat!(
    "latlas-store-postgres ",
    env!("CARGO_PKG_VERSION"),
    ": stores runs of latlas in PostgreSQL. latlas runs it where --store is postgres://...\n"
);

fn main() -> ExitCode {
    if std::env::args_os().len() > 1 || std::io::stdin().is_terminal() {
        let _ = std::io::stdout().write_all(HELP.as_bytes());
        return ExitCode::SUCCESS;
    }
    let open = |url: &str| {
        let settings = Settings::of(url, &variables())?;
        Ok(Database { server: Server::new(settings) })
    };
    match store_protocol::serve(open) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "latlas-store-postgres: {error}");
            ExitCode::from(2)
        }
    }
}

/// The environment, as far as it is text.
fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}
