//! How to connect: the URL, the service file, the environment and the password file, in this
//! order, as libpq has them
//! (<https://www.postgresql.org/docs/current/libpq-connect.html>).

use super::files;
use super::tls::{self, Verify};
use crate::place::UrlParts;
use crate::{Place, StoreError};
use percent_encoding::percent_decode_str;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Variables of libpq with the settings that they are.
const VARIABLES: &[(&str, &str)] = &[
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGDATABASE", "dbname"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGOPTIONS", "options"),
    ("PGAPPNAME", "application_name"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGSSLNEGOTIATION", "sslnegotiation"),
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
    ("PGLOADBALANCEHOSTS", "load_balance_hosts"),
];

/// Variables of libpq that make a connection safer, which can't be done here: nobody may believe it is.
const REFUSED: [&str; 7] = [
    "PGREQUIREAUTH",
    "PGREQUIREPEER",
    "PGREQUIRESSL",
    "PGSSLCRL",
    "PGSSLCRLDIR",
    "PGSSLMINPROTOCOLVERSION",
    "PGSSLMAXPROTOCOLVERSION",
];

/// Settings that are used where none are given: a server that is gone must not hang a command.
const DEFAULTS: &[(&str, &str)] = &[
    ("application_name", "latlas"),
    ("connect_timeout", "10"),
    ("tcp_user_timeout", "30"),
    ("keepalives_idle", "30"),
    ("port", "5432"),
    ("sslmode", "prefer"),
];

/// Settings of libpq that make no difference here.
const IGNORED: &[&str] = &[
    "client_encoding",
    "fallback_application_name",
    "gssencmode",
    "gsslib",
    "krbsrvname",
    "service",
    "sslcompression",
    "sslsni",
];

/// Where Unix-domain sockets lie by default: Debian and Red Hat, PostgreSQL itself.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// The environment.
pub(super) struct System {
    variables: HashMap<String, String>,
}

impl System {
    pub(super) fn this() -> System {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        System {
            variables: std::env::vars_os().filter_map(text).collect(),
        }
    }

    /// A variable; an empty one is as good as none.
    fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// A file, named by a setting or else in the home directory.
    fn file(&self, given: Option<&str>, in_home: &str) -> Option<PathBuf> {
        let in_home = || Some(Path::new(self.variable("HOME")?).join(in_home));
        given.map(PathBuf::from).or_else(in_home)
    }
}

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
        let wrong = |why: String| StoreError::Settings {
            place: place.clone(),
            why,
        };
        if let Some(name) = REFUSED.iter().find(|name| system.variable(name).is_some()) {
            return Err(wrong(format!(
                "{name} is set, which latlas does not support"
            )));
        }
        let mut all = parameters(url).map_err(wrong)?;
        let variable = |name: &str| system.variable(name).map(str::to_owned);
        if let Some(name) = all
            .get("service")
            .cloned()
            .or_else(|| variable("PGSERVICE"))
        {
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
            let socket = |dir: &&str| {
                Path::new(dir)
                    .join(format!(".s.PGSQL.{}", all["port"]))
                    .exists()
            };
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
        let host = all
            .get("host")
            .or(all.get("hostaddr"))
            .cloned()
            .unwrap_or_default();
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

/// The settings in a URL, `postgres://USER:PASSWORD@HOST:PORT,.../DATABASE?KEY=VALUE&...`, all of
/// whose parts may be missing.
fn parameters(url: &str) -> Result<BTreeMap<String, String>, String> {
    let decoded = |text: &str| {
        let text = percent_decode_str(text).decode_utf8();
        text.map(std::borrow::Cow::into_owned)
            .map_err(|_| "the URL is not UTF-8".to_owned())
    };
    let mut all = BTreeMap::new();
    let parts = UrlParts::of(url).ok_or("write it as postgres://USER@HOST:PORT/DATABASE")?;
    let (user, password, hosts) = (parts.user, parts.password, parts.hosts);
    let mut names = Vec::new();
    let mut ports = Vec::new();
    for host in hosts.split(',').filter(|_| !hosts.is_empty()) {
        // An IPv6 address stands in brackets.
        let end = host.rfind(']').map_or(0, |end| end + 1);
        let (name, port) = match host[end..].split_once(':') {
            Some((name, port)) => (format!("{}{name}", &host[..end]), port),
            None => (host.to_owned(), ""),
        };
        let name = name
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        names.push(decoded(&name)?);
        ports.push(port);
    }
    let mut add = |key: &str, value: String| {
        if !value.is_empty() {
            all.insert(key.to_owned(), value);
        }
    };
    add("user", decoded(user)?);
    add("password", decoded(password)?);
    add("host", names.join(","));
    if ports.iter().any(|port| !port.is_empty()) {
        let port = |port: &&str| if port.is_empty() { "5432" } else { port }.to_owned();
        add("port", ports.iter().map(port).collect::<Vec<_>>().join(","));
    }
    add("dbname", decoded(parts.database)?);
    for pair in parts.parameters.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair
            .split_once('=')
            .ok_or("a parameter of the URL has no value")?;
        add(&decoded(key)?, decoded(value)?);
    }
    Ok(all)
}

fn service(name: &str, system: &System) -> Result<Vec<(String, String)>, String> {
    let of_user = system.file(system.variable("PGSERVICEFILE"), ".pg_service.conf");
    let directory = system
        .variable("PGSYSCONFDIR")
        .unwrap_or("/etc/postgresql-common");
    let of_system = Path::new(directory).join("pg_service.conf");
    let files: Vec<PathBuf> = of_user.into_iter().chain([of_system]).collect();
    for file in &files {
        match std::fs::read_to_string(file) {
            Ok(text) => {
                if let Some(found) = files::service(&text, name) {
                    return Ok(found);
                }
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(format!("can't read {}: {e}", file.display())),
        }
    }
    let files: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    Err(format!("no service {name:?} in {}", files.join(" or ")))
}

/// Takes the password of the password file where none is given; says why one was not taken.
fn password(all: &mut BTreeMap<String, String>, system: &System) -> Option<String> {
    if all.contains_key("password") {
        return None;
    }
    let file = system.file(all.get("passfile").map(String::as_str), ".pgpass")?;
    let mode = std::fs::metadata(&file).ok()?.permissions().mode();
    if mode & 0o077 != 0 {
        let file = file.display();
        return Some(format!(
            "{file} is ignored: others may read it (chmod 600 {file})"
        ));
    }
    let text = std::fs::read_to_string(&file).ok()?;
    let first = |key: &str| {
        all.get(key)
            .and_then(|hosts| hosts.split(',').next())
            .unwrap_or_default()
    };
    let host = match first("host") {
        "" => first("hostaddr"),
        host if SOCKETS.contains(&host) => "localhost",
        host => host,
    };
    let found = files::password(&text, [host, first("port"), &all["dbname"], &all["user"]]);
    all.extend(found.map(|password| ("password".to_owned(), password)));
    None
}

/// What is verified of the server, as libpq has it: with a root certificate at least that the
/// server's is of it.
fn tls(all: &mut BTreeMap<String, String>, system: &System) -> Result<MakeRustlsConnect, String> {
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
    let verify = if root.is_none() {
        Verify::Nothing
    } else {
        verify
    };
    // A Unix-domain socket has no TLS.
    let is_socket = all.get("host").is_some_and(|host| host.starts_with('/'));
    let mode = if is_socket { "disable" } else { mode };
    all.insert("sslmode".into(), mode.into());
    let client = cert.zip(key).filter(|_| mode != "disable");
    let root = root.filter(|_| mode != "disable");
    let verify = if root.is_none() {
        Verify::Nothing
    } else {
        verify
    };
    tls::connector(root.as_deref(), client, verify)
}

/// The settings as `key='value'`, which the library parses.
fn conninfo(all: &BTreeMap<String, String>) -> String {
    let quoted = |value: &str| value.replace('\\', "\\\\").replace('\'', "\\'");
    let pairs = all
        .iter()
        .map(|(key, value)| format!("{key}='{}'", quoted(value)));
    pairs.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_postgres::config::{Host, SslMode};

    fn system(set: &[(&str, &str)]) -> System {
        let pair = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
        System {
            variables: set.iter().map(pair).collect(),
        }
    }

    fn of(url: &str, set: &[(&str, &str)]) -> Config {
        let settings = Settings::of(url, &system(set)).map_err(|e| e.to_string());
        settings.map(|settings| settings.config).expect(url)
    }

    fn password(config: &Config) -> Option<&str> {
        config
            .get_password()
            .map(|bytes| std::str::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn every_part_of_a_url_may_be_missing_or_quoted() {
        let all = of(
            "postgres://me:p%40w@[::1]:5433,lab/at%20las?options=-c%20x%3D1",
            &[],
        );
        assert_eq!(all.get_user(), Some("me"));
        assert_eq!(password(&all), Some("p@w"));
        assert_eq!(all.get_dbname(), Some("at las"));
        assert_eq!(all.get_ports(), [5433, 5432]);
        let hosts = [Host::Tcp("::1".into()), Host::Tcp("lab".into())];
        assert_eq!(all.get_hosts(), hosts);
        assert_eq!(all.get_options(), Some("-c x=1"));
        let question = of("POSTGRES://me:p?w@lab/atlas?port=1", &[]);
        assert_eq!(password(&question), Some("p?w"));
        assert_eq!(question.get_dbname(), Some("atlas"));
        for empty in [
            "postgres:",
            "postgres://",
            "postgresql://?application_name=x",
        ] {
            let none = of(empty, &[("PGUSER", "me"), ("PGPORT", "1")]);
            assert_eq!(
                (none.get_dbname(), none.get_user()),
                (Some("me"), Some("me"))
            );
            assert_eq!(none.get_hosts(), [Host::Tcp("localhost".into())]);
        }
        for bad in [
            "postgres:lab",
            "postgre://lab",
            "host=lab user=me",
            "postgres://h/?x",
            "postgres://h?sslmode=no",
            "postgres://h?nonsense=1",
        ] {
            let error = Settings::of(bad, &system(&[])).map(|_| ());
            assert!(matches!(error, Err(StoreError::Settings { .. })), "{bad}");
        }
    }

    #[test]
    fn a_url_precedes_a_service_and_that_the_environment() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("services");
        std::fs::write(&file, "[lab]\nhost=db.lab\nuser=bench\ndbname=atlas\n").expect("written");
        let file = file.to_str().expect("UTF-8");
        let set = [
            ("PGSERVICEFILE", file),
            ("PGUSER", "me"),
            ("PGPORT", "6000"),
        ];
        let config = of("postgres://?service=lab&user=you", &set);
        assert_eq!(
            (config.get_user(), config.get_ports()),
            (Some("you"), &[6000][..])
        );
        assert_eq!(config.get_dbname(), Some("atlas"));
        let by_variable = of("postgres:", &[set[0], ("PGSERVICE", "lab")]);
        assert_eq!(by_variable.get_user(), Some("bench"));
        let none = Settings::of("postgres://?service=no", &system(&set)).map(|_| ());
        assert!(
            none.expect_err("none")
                .to_string()
                .contains("no service \"no\"")
        );
    }

    #[test]
    fn a_password_file_is_taken_if_nobody_else_can_read_it() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join(".pgpass");
        std::fs::write(&file, "lab:*:atlas:me:s3cret\nlocalhost:*:*:me:l0cal\n").expect("written");
        let allow = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
        };
        let home = [("HOME", dir.path().to_str().expect("UTF-8"))];
        allow(0o600);
        assert_eq!(
            password(&of("postgres://me@lab/atlas", &home)),
            Some("s3cret")
        );
        assert_eq!(password(&of("postgres://me@lab/other", &home)), None);
        let socket = of("postgres://me@%2Fvar%2Frun%2Fpostgresql/x", &home);
        assert_eq!(password(&socket), Some("l0cal"));
        assert_eq!(
            password(&of("postgres://me:own@lab/atlas", &home)),
            Some("own")
        );
        allow(0o644);
        let open = Settings::of("postgres://me@lab/atlas", &system(&home));
        let open = open.map_err(|e| e.to_string()).expect("settings");
        assert_eq!(password(&open.config), None);
        let note = open.note.expect("a note");
        assert!(
            note.contains("chmod 600") && !note.contains("s3cret"),
            "{note}"
        );
    }

    #[test]
    fn tls_is_wanted_as_sslmode_says() {
        let mode = |url: &str| of(url, &[]).get_ssl_mode();
        assert_eq!(mode("postgres://lab"), SslMode::Prefer);
        assert_eq!(mode("postgres://lab?sslmode=require"), SslMode::Require);
        assert_eq!(mode("postgres://lab?sslmode=disable"), SslMode::Disable);
        assert_eq!(
            mode("postgres://%2Ftmp/x?sslmode=require"),
            SslMode::Disable
        );
        for (url, set) in [
            ("postgres://lab", &[("PGREQUIREAUTH", "scram-sha-256")][..]),
            ("postgres://lab?sslrootcert=system", &[]),
        ] {
            let refused = Settings::of(url, &system(set)).map(|_| ());
            let why = refused.expect_err(url).to_string();
            assert!(why.contains("support"), "{why}");
        }
        let unverified = Settings::of("postgres://lab?sslmode=verify-full", &system(&[]));
        let why = unverified.map(|_| ()).expect_err("no root").to_string();
        assert!(why.contains("root certificate"), "{why}");
    }
}
