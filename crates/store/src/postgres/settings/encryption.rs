//! TLS, as the settings want it.

use super::system::System;
use crate::postgres::tls::{self, Verify};
use std::collections::BTreeMap;
use tokio_postgres_rustls::MakeRustlsConnect;

/// What is verified of the server, as libpq has it: with a root certificate at least that the
/// server's is of it.
pub(super) fn tls(
    all: &mut BTreeMap<String, String>,
    system: &System,
) -> Result<MakeRustlsConnect, String> {
    if all.get("sslrootcert").is_some_and(|root| root == "system") {
        return Err("sslrootcert=system is not supported: name a file".into());
    }
    let mut file = |key: &str, in_home: &str| {
        let given = all.remove(key);
        let is_given = given.is_some();
        let path = system.file(given.as_deref(), in_home);
        path.filter(|path| is_given || path.exists())
    };
    let root = file("sslrootcert", ".postgresql/root.crt");
    let cert = file("sslcert", ".postgresql/postgresql.crt");
    let key = file("sslkey", ".postgresql/postgresql.key");
    let mode = all["sslmode"].clone();
    let (mode, verify) = match mode.as_str() {
        "disable" => ("disable", Verify::Nothing),
        "allow" | "prefer" => ("prefer", Verify::Chain),
        "require" => ("require", Verify::Chain),
        "verify-ca" => ("require", Verify::Chain),
        "verify-full" => ("require", Verify::ChainAndName),
        other => return Err(format!("no sslmode {other:?}")),
    };
    if all["sslmode"].starts_with("verify") && root.is_none() {
        return Err("sslmode verifies the server's certificate, and there is no root certificate (sslrootcert, or ~/.postgresql/root.crt)".into());
    }
    let verify = if root.is_none() { Verify::Nothing } else { verify };
    // A Unix-domain socket has no TLS.
    let is_socket = all.get("host").is_some_and(|host| host.starts_with('/'));
    let mode = if is_socket { "disable" } else { mode };
    all.insert("sslmode".into(), mode.into());
    let client = cert.zip(key).filter(|_| mode != "disable");
    let root = root.filter(|_| mode != "disable");
    let verify = if root.is_none() { Verify::Nothing } else { verify };
    tls::connector(root.as_deref(), client, verify)
}
