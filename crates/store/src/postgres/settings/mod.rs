//! How to connect: the URL, the service file, the environment and the password file, in this
//! order, as libpq has them
//! (<https://www.postgresql.org/docs/current/libpq-connect.html>).

mod encryption;
mod files;
mod from_files;
mod names;
mod system;
#[cfg(test)]
mod tests;
mod url;

pub(super) use system::System;

use crate::{Place, StoreError};
use encryption::tls;
use from_files::{password, service};
use names::{DEFAULTS, IGNORED, REFUSED, SOCKETS, VARIABLES};
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;
use url::parameters;

/// How to connect.
pub(super) struct Settings {
    /// As messages name the database.
    pub(super) place: String,
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    /// What a failed connection may be due to.
    pub(super) note: Option<String>,
    /// Hosts, ports and database: the same for every user of it.
    pub(super) identity: String,
}

impl Settings {
    /// All that is known of a URL's database.
    pub(super) fn of(url: &str, system: &System) -> Result<Settings, StoreError> {
        let place = Place::Database(url.to_owned()).to_string();
        let wrong = |why: String| StoreError::Settings { place: place.clone(), why };
        if let Some(name) = REFUSED.iter().find(|name| system.variable(name).is_some()) {
            return Err(wrong(format!("{name} is set, which latlas does not support")));
        }
        let mut all = parameters(url).map_err(wrong)?;
        let variable = |name: &str| system.variable(name).map(str::to_owned);
        if let Some(name) = all.get("service").cloned().or_else(|| variable("PGSERVICE")) {
            for (key, value) in service(&name, system).map_err(wrong)? {
                all.entry(key).or_insert(value);
            }
        }
        for (name, key) in VARIABLES {
            if let Some(value) = variable(name) {
                all.entry((*key).to_owned()).or_insert(value);
            }
        }
        for (key, value) in DEFAULTS {
            all.entry((*key).to_owned()).or_insert((*value).to_owned());
        }
        if !all.contains_key("host") && !all.contains_key("hostaddr") {
            let socket =
                |dir: &&str| Path::new(dir).join(format!(".s.PGSQL.{}", all["port"])).exists();
            let host = SOCKETS.iter().copied().find(socket).unwrap_or("localhost");
            all.insert("host".into(), host.into());
        }
        let user = all.get("user").cloned().or_else(|| whoami::username().ok());
        let user = user.ok_or_else(|| wrong("no user is given (PGUSER)".into()))?;
        all.entry("dbname".into()).or_insert_with(|| user.clone());
        all.insert("user".into(), user);
        let note = password(&mut all, system);
        let tls = tls(&mut all, system).map_err(wrong)?;
        all.retain(|key, _| !IGNORED.contains(&key.as_str()) && key != "passfile");
        let host = all.get("host").or(all.get("hostaddr")).cloned().unwrap_or_default();
        Ok(Settings {
            identity: format!("{host}:{}/{}", all["port"], all["dbname"]),
            config: Config::from_str(&conninfo(&all)).map_err(|e| wrong(causes(&e)))?,
            tls,
            note,
            place,
        })
    }
}

/// An error with its causes, in one line.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text.replace('\n', " ")
}

/// The settings as `key='value'`, which the library parses.
fn conninfo(all: &BTreeMap<String, String>) -> String {
    let quoted = |value: &str| value.replace('\\', "\\\\").replace('\'', "\\'");
    let pairs = all.iter().map(|(key, value)| format!("{key}='{}'", quoted(value)));
    pairs.collect::<Vec<_>>().join(" ")
}
