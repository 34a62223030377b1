//! How to connect: the URL, with the password of `PGPASSWORD` where it has none.

use super::tls::{self, Verify};
use crate::place::UrlParts;
use crate::{Place, StoreError};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Parameters of the URL that are read here, and not by the library.
const TLS: [&str; 4] = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Variables of libpq that ask for a safer connection. They are not read; ignored, they would leave the
/// connection less safe than was asked for.
const REFUSED: [&str; 3] = ["PGSSL", "PGREQUIRE", "PGCHANNELBINDING"];

/// Where Unix-domain sockets lie by default: Debian and Red Hat, PostgreSQL itself.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// How to connect.
pub(super) struct Settings {
    /// As messages name the database.
    pub(super) place: String,
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    /// Hosts, ports and database: the same for every user of it.
    pub(super) identity: String,
}

impl Settings {
    /// All that is known of a URL's database, with variables of the environment.
    pub(super) fn of(url: &str, variables: &[(String, String)]) -> Result<Settings, StoreError> {
        let place = Place::Database(url.to_owned()).to_string();
        let wrong = |why: String| StoreError::Settings { place: place.clone(), why };
        let mut set = variables.iter().filter(|(_, value)| !value.is_empty());
        let refused = |(name, _): &&(String, String)| REFUSED.iter().any(|r| name.starts_with(r));
        if let Some((name, _)) = set.clone().find(refused) {
            let why = format!(
                "{name} is set, which latlas does not read: write sslmode and sslrootcert into the URL"
            );
            return Err(wrong(why));
        }
        let (mut config, own) = parsed(url).map_err(&wrong)?;
        if config.get_password().is_none()
            && let Some((_, password)) = set.find(|(name, _)| name == "PGPASSWORD")
        {
            config.password(password);
        }
        complete(&mut config).map_err(&wrong)?;
        let is_socket = matches!(config.get_hosts(), [Host::Unix(_), ..]);
        let (mode, tls) = encryption(&own, is_socket).map_err(&wrong)?;
        config.ssl_mode(mode);
        let host = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        let mut hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
        hosts.extend(config.get_hostaddrs().iter().map(ToString::to_string));
        let ports: Vec<String> = config.get_ports().iter().map(u16::to_string).collect();
        let database = config.get_dbname().unwrap_or_default();
        let identity = format!("{}:{}/{database}", hosts.join(","), ports.join(","));
        Ok(Settings { identity, config, tls, place })
    }
}

/// What the library reads of a URL, and the parameters that are read here.
fn parsed(url: &str) -> Result<(Config, BTreeMap<String, String>), String> {
    let parts = UrlParts::of(url).ok_or("write it as postgres://USER@HOST:PORT/DATABASE")?;
    let mut own = BTreeMap::new();
    let mut others = Vec::new();
    if parts.parameters.contains('@') {
        return Err("write an at sign in a parameter of the URL as %40".into());
    }
    let (mut hosts, mut port) = (parts.hosts, None);
    for pair in parts.parameters.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or("a parameter of the URL has no value")?;
        match TLS.contains(&key) {
            true => drop(own.insert(key.to_owned(), decoded(value)?)),
            // These replace what stands before.
            false if key == "host" => hosts = value,
            false if key == "port" => port = Some(value),
            false => others.push(pair),
        }
    }
    let database = parts.database;
    if let Some(port) = port {
        let name = |host: &str| match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => name.to_owned(),
            _ => host.to_owned(),
        };
        let port = decoded(port)?;
        let ports = port.split(',').cycle();
        let named =
            hosts.split(',').zip(ports).map(|(host, port)| format!("{}:{port}", name(host)));
        let named: Vec<String> = named.collect();
        let text = format!("postgres://{}/{database}?{}", named.join(","), others.join("&"));
        return with_credentials(&text, &parts, own);
    }
    let text = format!("postgres://{hosts}/{database}?{}", others.join("&"));
    with_credentials(&text, &parts, own)
}

fn with_credentials(
    text: &str,
    parts: &UrlParts,
    own: BTreeMap<String, String>,
) -> Result<(Config, BTreeMap<String, String>), String> {
    let mut config = Config::from_str(text).map_err(|error| causes(&error))?;
    // Not by the library: a password may contain a slash or an at sign.
    if !parts.user.is_empty() && config.get_user().is_none() {
        config.user(decoded(parts.user)?);
    }
    if !parts.password.is_empty() && config.get_password().is_none() {
        config.password(decoded(parts.password)?);
    }
    Ok((config, own))
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(Cow::into_owned).map_err(|_| "the URL is not UTF-8".to_owned())
}

/// What a URL may leave out. A server that is gone must not hang a command.
fn complete(config: &mut Config) -> Result<(), String> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let socket = |dir: &&&str| Path::new(dir).join(format!(".s.PGSQL.{port}")).exists();
        match SOCKETS.iter().find(socket) {
            Some(directory) => config.host_path(directory),
            None => config.host("localhost"),
        };
    }
    if config.get_ports().is_empty() {
        config.port(5432);
    }
    if config.get_user().is_none() {
        let user =
            whoami::username().map_err(|_| "no user is given: postgres://USER@HOST/DATABASE")?;
        config.user(user);
    }
    if config.get_dbname().is_none() {
        let user = config.get_user().unwrap_or_default().to_owned();
        config.dbname(user);
    }
    if config.get_application_name().is_none() {
        config.application_name("latlas");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
    config.keepalives_idle(Duration::from_secs(30));
    Ok(())
}

/// What is encrypted, and what is verified of the server: with a root certificate at least that the server's
/// is of it.
fn encryption(
    own: &BTreeMap<String, String>,
    is_socket: bool,
) -> Result<(SslMode, MakeRustlsConnect), String> {
    let of = |key: &str| own.get(key).map(String::as_str);
    let file = |key: &str| of(key).map(PathBuf::from);
    let (mode, verify) = match of("sslmode").unwrap_or("prefer") {
        "disable" => (SslMode::Disable, Verify::Nothing),
        "prefer" => (SslMode::Prefer, Verify::Chain),
        "require" | "verify-ca" => (SslMode::Require, Verify::Chain),
        "verify-full" => (SslMode::Require, Verify::ChainAndName),
        other => return Err(format!("no sslmode {other:?}")),
    };
    let root = file("sslrootcert");
    if of("sslmode").is_some_and(|mode| mode.starts_with("verify")) && root.is_none() {
        return Err(
            "sslmode verifies the server's certificate, and there is no root certificate: add \
                    sslrootcert=FILE to the URL"
                .into(),
        );
    }
    // A Unix-domain socket has no TLS.
    if is_socket || mode == SslMode::Disable {
        return Ok((SslMode::Disable, tls::connector(None, None, Verify::Nothing)?));
    }
    let verify = if root.is_none() { Verify::Nothing } else { verify };
    let client = file("sslcert").zip(file("sslkey"));
    Ok((mode, tls::connector(root.as_deref(), client, verify)?))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn made(url: &str, set: &[(&str, &str)]) -> Result<Settings, String> {
        let pair = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
        let set: Vec<_> = set.iter().map(pair).collect();
        Settings::of(url, &set).map_err(|error| error.to_string())
    }

    fn of(url: &str) -> Config {
        made(url, &[]).expect(url).config
    }

    fn password(config: &Config) -> Option<&str> {
        config.get_password().map(|bytes| std::str::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn every_part_of_a_url_may_be_missing_or_quoted() {
        let all = of("postgres://me:p%40w@[::1]:5433,lab/at%20las?options=-c%20x%3D1");
        assert_eq!((all.get_user(), password(&all)), (Some("me"), Some("p@w")));
        assert_eq!((all.get_dbname(), all.get_ports()), (Some("at las"), &[5433, 5432][..]));
        assert_eq!(all.get_hosts(), [Host::Tcp("::1".into()), Host::Tcp("lab".into())]);
        assert_eq!(all.get_options(), Some("-c x=1"));
        assert_eq!(password(&of("postgres://me:p@/w@lab/x")), Some("p@/w"));
        let question = of("POSTGRES://me:p?w@lab/atlas?port=1");
        assert_eq!((password(&question), question.get_dbname()), (Some("p?w"), Some("atlas")));
        for empty in ["postgres:", "postgres://", "postgresql://?application_name=x"] {
            let none = of(empty);
            assert_eq!((none.get_dbname(), none.get_ports()), (none.get_user(), &[5432][..]));
            assert_eq!(none.get_hosts().len(), 1);
        }
        assert_eq!(made("postgres://b:5432/x", &[]).expect("good").identity, "b:5432/x");
        for bad in [
            "postgres:lab",
            "postgre://lab",
            "host=lab user=me",
            "postgres://h/?x",
            "postgres://h?sslmode=no",
            "postgres://h?nonsense=1",
        ] {
            assert!(made(bad, &[]).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_password_of_the_environment_is_for_a_url_without_one() {
        let set = [("PGPASSWORD", "s3cret"), ("PGUSER", "not read")];
        let by = |url: &str| made(url, &set).expect(url).config;
        assert_eq!(password(&by("postgres://me@lab/x")), Some("s3cret"));
        assert_eq!(password(&by("postgres://me:own@lab/x")), Some("own"));
        assert_eq!(by("postgres://me@lab/x").get_user(), Some("me"));
        assert_eq!(password(&of("postgres://me@lab/x")), None);
    }

    #[test]
    fn tls_is_wanted_as_sslmode_says() {
        let mode = |url: &str| of(url).get_ssl_mode();
        assert_eq!(mode("postgres://lab"), SslMode::Prefer);
        assert_eq!(mode("postgres://lab?sslmode=require"), SslMode::Require);
        assert_eq!(mode("postgres://lab?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://%2Ftmp/x?sslmode=require"), SslMode::Disable);
        for variable in ["PGSSLMODE", "PGREQUIREAUTH", "PGCHANNELBINDING"] {
            let why = made("postgres://lab", &[(variable, "x")]).err().expect(variable);
            assert!(why.contains("does not read"), "{why}");
        }
        let why = made("postgres://lab?sslmode=verify-full", &[]).err().expect("no root");
        assert!(why.contains("root certificate"), "{why}");
        let why = made("postgres://lab?sslrootcert=/no/such", &[]).err().expect("no file");
        assert!(why.contains("/no/such"), "{why}");
    }
}
